# SPDX-License-Identifier: GPL-2.0-only
"""Threads that run the same functions at the same time, each in lines of its own, and generators that they hand over.

Usage: at_once.py SECONDS. So much CPU time each thread takes; then it prints a JSON object of thread numbers to the
threads' functions. Lines that end in a comment are those of the thread with that number alone.
"""
import json
import sys
import threading
import time

THREADS = 4
SEEN = {}
LOCK = threading.Lock()


def spin(which):
    total = 0
    if which == 0:
        for i in range(2000):  # 0
            total += i  # 0
    elif which == 1:
        for i in range(2000):  # 1
            total += i  # 1
    elif which == 2:
        for i in range(2000):  # 2
            total += i  # 2
    else:
        for i in range(2000):  # 3
            total += i  # 3
    return total


def handed():
    """Whoever has it next goes on with it, in another copy of its instructions."""
    while True:
        yield sum(range(300))
        for _ in range(30):
            sum(range(30))
        yield max(range(300))


def take(which, generators):
    for generator in generators:
        with LOCK:
            next(generator)


def work(which, seconds, generators):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        spin(which)
        take(which, generators)


def run(which, *rest):
    SEEN[threading.get_native_id()] = f"run_{which}"
    globals()[f"run_{which}"](which, *rest)


for number in range(THREADS):
    exec(f"def run_{number}(*rest):\n    work(*rest)\n")

if __name__ == "__main__":
    shared = [handed() for _ in range(20)]
    threads = [threading.Thread(target=run, args=(which, float(sys.argv[1]), shared)) for which in range(1, THREADS)]
    for thread in threads:
        thread.start()
    run(0, float(sys.argv[1]), shared)
    for thread in threads:
        thread.join()
    json.dump(SEEN, sys.stdout)
