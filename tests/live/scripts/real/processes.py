# SPDX-License-Identifier: GPL-2.0-only
"""A process pool: processes.py SECONDS."""
import concurrent.futures
import sys

from account import spent, turns, write


def primes(limit):
    found = []
    with spent("primes"):
        for n in range(2, limit):
            if all(map(n.__mod__, found)):  # hot
                found.append(n)
    return found


def histogram(numbers):
    counts = {}
    with spent("histogram"):
        for _ in range(20):
            for n in numbers:
                counts[n % 10] = counts.get(n % 10, 0) + 1
    return counts


def work(seconds):
    for turn in turns(seconds):
        histogram(primes(3000))
    write()


if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(work, [float(sys.argv[1]) / 4] * 4))
