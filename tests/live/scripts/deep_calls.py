# SPDX-License-Identifier: GPL-2.0-only
"""Calls itself in several ways, so deep that the C stack is larger than what the kernel copies of it.

    deep_calls.py SECONDS [thread] WAY:DEPTH ...

Each way has its SECONDS of CPU time, and a number of turns, in the main thread, or in one with a large stack: where a
hypervisor takes the processor away, its time counts as the program's, and has no samples. In a sample in work() stand as many
frames of the way as DEPTH says, and one more.
"""
import functools
import sys
import threading
import time

sys.setrecursionlimit(20000)
TURNS = 500


def work():
    """Longer than what leads here: in the deepest calls, too, most samples are in here."""
    total = 0
    for i in range(80000):
        total += i
    return total


def plain(n):
    return plain(n - 1) if n else work()


def through_partial(n):
    return functools.partial(through_partial, n - 1)() if n else work()


def through_map(n):
    return list(map(through_map, [n - 1])) if n else [work()]


def through_sort(n):
    return len(sorted([n - 1], key=through_sort)) if n else work()


class Caller:
    def __call__(self, n):
        return CALLER(n - 1) if n else work()


CALLER = Caller()
WAYS = {"plain": plain, "partial": through_partial, "map": through_map, "sort": through_sort, "call": CALLER}


def spend(seconds, cases):
    for case in cases:
        way, depth = case.split(":")
        end, turns = time.process_time() + seconds, 0
        while time.process_time() < end or turns < TURNS * seconds:
            WAYS[way](int(depth))
            turns += 1


if __name__ == "__main__":
    if sys.argv[2] == "thread":
        threading.stack_size(64 << 20)
        thread = threading.Thread(target=spend, args=(float(sys.argv[1]), sys.argv[3:]))
        thread.start()
        thread.join()
    else:
        spend(float(sys.argv[1]), sys.argv[2:])
