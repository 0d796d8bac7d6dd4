# SPDX-License-Identifier: GPL-2.0-only
"""Two functions that take known shares of CPU time: planted.py SHARE SECONDS.

light() takes SHARE percent, heavy() the rest; a third calls both. What each took by the thread's own clock is printed, in
seconds. Turns have lengths by chance: equal ones would keep step with a sampler. A machine that stands still takes no samples,
but the clock may go on: of a step that is longer than a millisecond the rest is no time of anybody.
"""
import random
import sys
import time


def light(seconds, clock=time.thread_time):
    took, last = 0.0, clock()
    while took < seconds:
        now = clock()
        took += min(now - last, 0.001)
        last = now
    return took


def heavy(seconds, clock=time.thread_time):
    took, last = 0.0, clock()
    while took < seconds:
        now = clock()
        took += min(now - last, 0.001)
        last = now
    return took


def both(share, seconds):
    took = [0.0, 0.0]
    while sum(took) < seconds:
        turn = random.uniform(0.001, 0.02)
        took[0] += light(turn * share)
        took[1] += heavy(turn * (1 - share))
    return took


print(*both(float(sys.argv[1]) / 100, float(sys.argv[2])))
