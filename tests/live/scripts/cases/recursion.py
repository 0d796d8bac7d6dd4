# SPDX-License-Identifier: GPL-2.0-only
"""Recursion of many depths, straight and through C.

    recursion.py [SECONDS]     0: one round
"""
import functools
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0
sys.setrecursionlimit(3000)


def spin(count=60):
    total = 0
    for number in range(count):
        total += number
    return total


def straight(depth):
    if depth == 0:
        return spin()
    return straight(depth - 1) + 1


def by_turns(depth, other):
    return other(depth - 1, by_turns_too) if depth else spin()


def by_turns_too(depth, other):
    return other(depth - 1, by_turns) if depth else spin()


def with_names(depth, **names):
    return with_names(depth=depth - 1, **names) if depth else spin()


def through_map(depth):
    return list(map(through_map, [depth - 1])) if depth else spin()


def through_partial(depth):
    return functools.partial(through_partial, depth - 1)() if depth else spin()


def through_generators(depth):
    if depth:
        yield from through_generators(depth - 1)
    yield spin(5)


def key(depth):
    if depth:
        sorted([depth - 1], key=key)
    return spin()


class Thing:
    def __init__(self, depth):
        self.inner = Thing(depth - 1) if depth else spin()


def go_round():
    for depth in (1, 7, 60, 400):
        straight(depth)
    by_turns(80, by_turns_too)
    with_names(60, one=1, other=2)
    for depth in (3, 40):
        through_map(depth)
        through_partial(depth)
        key(depth)
        Thing(depth)
    for _ in through_generators(20):
        pass


while True:
    go_round()
    if time.process_time() >= SECONDS:
        break
