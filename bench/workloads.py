# SPDX-License-Identifier: GPL-2.0-only
"""Programs to measure: workloads.py NAME ROUNDS. Prints how many seconds the rounds took: wall clock and processor time; and the
processor time of the whole process so far."""
import sys
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def calls(rounds):
    """Little else than calls of Python functions, up to 18 deep."""
    for _ in range(rounds):
        fib(16)


def loop(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


def descend(depth, n):
    return loop(n) if depth == 0 else descend(depth - 1, n) + 1


def deep(rounds):
    """Loops, 60 Python calls below the module."""
    for _ in range(rounds):
        descend(57, 2000)


def main():
    work, rounds = {"calls": calls, "deep": deep}[sys.argv[1]], int(sys.argv[2])
    wall, cpu = time.perf_counter(), time.process_time()
    work(rounds)
    print("took", time.perf_counter() - wall, time.process_time() - cpu, time.process_time())


if __name__ == "__main__":
    main()
