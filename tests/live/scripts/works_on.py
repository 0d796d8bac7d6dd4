# SPDX-License-Identifier: GPL-2.0-only
"""Two threads that share the CPU time, one with light() and heavy() as 1 to 3, and one that only sleeps: until it is ended."""
import random
import threading
import time


def light(seconds, clock=time.thread_time):
    end = clock() + seconds
    while clock() < end:
        pass


def heavy(seconds, clock=time.thread_time):
    end = clock() + seconds
    while clock() < end:
        pass


def work():
    while True:
        turn = random.uniform(0.001, 0.02)
        light(turn / 4)
        heavy(turn * 3 / 4)


def sleep():
    time.sleep(100000)


threading.Thread(target=sleep, name="sleeper").start()
threading.Thread(target=work, name="worker").start()
print("ready", flush=True)
work()
