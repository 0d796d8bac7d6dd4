# SPDX-License-Identifier: GPL-2.0-only
"""Spends its time in a recursion of a given depth.

    deep.py DEPTH SECONDS
"""
import sys
import time

sys.setrecursionlimit(20000)


def work():
    total = 0
    for i in range(200000):
        total += i
    return total


def descend(n):
    if n:
        return descend(n - 1)
    return work()


if __name__ == "__main__":
    end = time.process_time() + float(sys.argv[2])
    while time.process_time() < end:
        descend(int(sys.argv[1]))
