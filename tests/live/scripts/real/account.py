# SPDX-License-Identifier: GPL-2.0-only
"""What parts of a program take, by the clock of their thread: the account that profilers are held against.

    with spent("parse"):        # all CPU time in here
        ...

A block holds nearly all of a function that has its name; blocks are not inside each other. write() adds what was
counted since the last time to the file that ACCOUNT in the environment names, as a line of JSON, {name: seconds}.
Each process of a program does so.
"""
import contextlib
import json
import os
import threading
import time

lock = threading.Lock()
counted = {}


@contextlib.contextmanager
def spent(name, clock=time.thread_time):
    begin = clock()
    yield
    seconds = clock() - begin
    with lock:
        counted[name] = counted.get(name, 0) + seconds


def turns(seconds):
    """Numbers until the process has run for so long from now on.

    Between two turns is some work of any length: turns that are all of one length beat with a profiler's clock
    (docs/clock.md), and their shares then depend on who began when.
    """
    end, turn, number = time.process_time() + seconds, 0, os.getpid()
    while time.process_time() < end:
        yield turn
        turn += 1
        number = (number * 1103515245 + 12345) % (1 << 31)
        for _ in range((number >> 15) % 25000):
            pass


def write():
    with lock:
        line = json.dumps(counted) + "\n"
        counted.clear()
    with open(os.environ.get("ACCOUNT", os.devnull), "a") as file:
        file.write(line)
