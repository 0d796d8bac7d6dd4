# SPDX-License-Identifier: GPL-2.0-only
"""Greenlets that switch all the time, from deep and shallow stacks, from Python and from within C. Needs greenlet.

    greenlets.py [SECONDS]     0: one round
"""
import functools
import sys
import time

import greenlet

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0


def spin(count):
    total = 0
    for number in range(count):
        total += number
    return total


def deep(depth):
    if depth == 0:
        spin(100)
        THROUGH_C.switch()
        return spin(100)
    return deep(depth - 1) + 1


def through_c(depth):
    if depth == 0:
        spin(50)
        DEEP.switch()
        return spin(50)
    return functools.reduce(lambda a, b: through_c(depth - 1), [1, 2])


def key(value):
    deepen(value)
    return -value


def deepen(depth):
    if depth == 0:
        spin(60)
        TICKER.switch()
        return spin(60)
    return deepen(depth - 1)


def of_deep():
    while True:
        deep(20)
        spin(50)
        MAIN.switch()


def of_through_c():
    while True:
        through_c(3)
        spin(50)


def of_ticker():
    while True:
        spin(50)
        SORTER.switch()


def of_sorter():
    while True:
        sorted(range(5), key=key)
        MAIN.switch()


def start(depth):
    """The greenlets begin, and are switched to, from within some calls."""
    if depth == 0:
        SORTER.switch()
        return DEEP.switch()
    return start(depth - 1)


MAIN = greenlet.getcurrent()
DEEP, THROUGH_C, TICKER, SORTER = map(greenlet.greenlet, (of_deep, of_through_c, of_ticker, of_sorter))
# What a greenlet is in the middle of differs from turn to turn for some turns.
turn = 0
while turn < 30 or time.process_time() < SECONDS:
    start(7)
    turn += 1
