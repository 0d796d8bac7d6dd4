# SPDX-License-Identifier: GPL-2.0-only
"""Threads that live for half a millisecond, in turn with the main thread.

    short_threads.py [SECONDS]     0: one round
"""
import sys
import threading
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0


def in_thread():
    end = time.thread_time() + 0.0005
    while time.thread_time() < end:
        pass


def in_main():
    end = time.thread_time() + 0.0005
    while time.thread_time() < end:
        pass


def go_round():
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    in_main()


# The first thread of all makes what later ones find.
turn = 0
while turn < 20 or time.process_time() < SECONDS:
    go_round()
    turn += 1
