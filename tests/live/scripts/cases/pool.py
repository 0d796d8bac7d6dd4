# SPDX-License-Identifier: GPL-2.0-only
"""A pool of threads that share short tasks, of which some start others.

    pool.py [SECONDS]     0: some rounds
"""
import concurrent.futures
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0


def spin(count):
    total = 0
    for number in range(count):
        total += number
    return total


def task(number):
    return spin(100 + number % 7)


def descend(depth, number):
    return task(number) if depth == 0 else descend(depth - 1, number)


def key(number):
    return descend(3, number)


def sort_task(number):
    return sorted(range(number % 10), key=key)


def asks(pool, number):
    return pool.submit(task, number)


def go_round(pool):
    for kind in (task, sort_task):
        list(pool.map(kind, range(40)))
    asked = [pool.submit(asks, pool, number) for number in range(40)]
    for future in concurrent.futures.as_completed(asked):
        future.result().result()


# What a thread waits in differs from turn to turn.
turn = 0
with concurrent.futures.ThreadPoolExecutor(4) as POOL:
    while turn < 20 or time.process_time() < SECONDS:
        go_round(POOL)
        turn += 1
