# SPDX-License-Identifier: GPL-2.0-only
"""Work between moments at which the scheduler likes to take the CPU away, or has nothing to take.

Usage: by_chance.py asks|sleeps|bursts SECONDS. Ends after so much CPU time. `asks` wants to know its CPU time all the time, and
a kernel whose slice is over takes the CPU at such a call. `sleeps` gives the CPU up between short pieces of work. `bursts`
sleeps, then does one thing for some milliseconds, and then another.
"""
import sys
import time


def many():
    total = 0
    for i in range(3000):
        total += i * i


def few():
    total = 0
    for i in range(1000):
        total += i


def ask():
    return time.process_time()


def sleep():
    time.sleep(0.0003)


def asks(seconds):
    while ask() < seconds:
        many()
        few()


def bursts(seconds):
    while ask() < seconds:
        for _ in range(30):
            few()
        for _ in range(12):
            many()
        time.sleep(0.02)


def sleeps(seconds):
    while ask() < seconds:
        few()
        sleep()
        many()
        sleep()


if __name__ == "__main__":
    {"asks": asks, "bursts": bursts, "sleeps": sleeps}[sys.argv[1]](float(sys.argv[2]))
