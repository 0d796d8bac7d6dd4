# SPDX-License-Identifier: GPL-2.0-only
"""Python functions that call each other through C, for CPython 3.8 and later.

    call_ways.py [SECONDS]     goes round for so many seconds of CPU time

A function glue_x calls in_x in a way in which the interpreter only passes the call on: nothing of it is work. A function
work_x calls in_x from within C code that does work of its own.
"""
import functools
import re
import sys
import time


class Thing:
    def in_method(self):
        total = 0
        for i in range(2000):
            total += i & 3
        return total

    def __call__(self):
        total = 0
        for i in range(2000):
            total += i & 3
        return total


def in_arguments(*values, **names):
    total = 0
    for i in range(2000):
        total += i & 3
    return total


def in_generator():
    while True:
        total = 0
        for i in range(2000):
            total += i & 3
        yield total


def in_key(value):
    total = 0
    for i in range(2000):
        total += i & 3
    return -value


def in_reduce(a, b):
    total = 0
    for i in range(2000):
        total += i & 3
    return a + b


def in_map(value):
    total = 0
    for i in range(2000):
        total += i & 3
    return value


def in_replace(match):
    total = 0
    for i in range(2000):
        total += i & 3
    return "x"


def in_direct():
    total = 0
    for i in range(2000):
        total += i & 3
    return total


THING = Thing()
CALLS = [THING.in_method]
PATTERN = re.compile("a")
GENERATOR = in_generator()
next(GENERATOR)


def glue_direct():
    return in_direct()


def glue_method():
    return CALLS[0]()


def glue_object():
    return THING()


def glue_arguments():
    return in_arguments(*CALLS, **{"a": 1})


def glue_generator():
    return GENERATOR.send(None)


def work_sort():
    return sorted([1, 2], key=in_key)


def work_reduce():
    return functools.reduce(in_reduce, (1, 2, 3))


def work_map():
    return tuple(map(in_map, (1, 2)))


def work_replace():
    return PATTERN.sub(in_replace, "aa")


ALL = [value for name, value in sorted(globals().items()) if name.startswith(("glue_", "work_"))]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    end = time.process_time() + seconds
    while time.process_time() < end:
        for call in ALL:
            call()


main()
