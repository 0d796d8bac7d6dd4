# SPDX-License-Identifier: GPL-2.0-only
"""Two threads of different names, of which one works about three times as much; what calls what does not change.

    two_threads.py SECONDS          of CPU time, of both
"""
import sys
import threading
import time


def leaf(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def left(n):
    return leaf(n) + len(sorted(str(i) for i in range(n // 10)))


def right(n):
    return sum([leaf(n), leaf(n // 2)])


def work(until):
    while time.process_time() < until:
        left(2000)
        right(2000)


def other(until, least):
    """Also where it seldom has a processor."""
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as comm:
        comm.write("worker")
    while time.process_time() < until or time.thread_time() < least:
        right(1000)
        time.sleep(0.001)


def main(seconds):
    until = time.process_time() + seconds
    thread = threading.Thread(target=other, args=(until, seconds / 3))
    thread.start()
    work(until)
    thread.join()


main(float(sys.argv[1]))
