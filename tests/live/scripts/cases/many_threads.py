# SPDX-License-Identifier: GPL-2.0-only
"""Many threads, each with a stack of another depth, beside threads that live for a moment.

    many_threads.py THREADS [SECONDS]     0 seconds: one round
"""
import sys
import threading
import time

THREADS = int(sys.argv[1])
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0


def spin(count):
    total = 0
    for number in range(count):
        total += number
    return total


def work(number):
    while True:
        spin(3000 + number)
        time.sleep(0.0005)
        if time.process_time() >= SECONDS:
            return


def descend(depth, number):
    return work(number) if depth == 0 else descend(depth - 1, number)


def moment():
    spin(5000)


def start_moments():
    while True:
        thread = threading.Thread(target=moment)
        thread.start()
        thread.join()
        if time.process_time() >= SECONDS:
            return


THREAD = [threading.Thread(target=descend, args=(number % 30, number)) for number in range(THREADS)]
for thread in THREAD:
    thread.start()
start_moments()
for thread in THREAD:
    thread.join()
