# SPDX-License-Identifier: GPL-2.0-only
"""A thread, a forked child and the main thread, each busy in a function of its own, for that much CPU time.

    spread.py SECONDS
"""
import os
import sys
import threading
import time

SECONDS = float(sys.argv[1])


def in_thread():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass


def in_child():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass


def in_main():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        pass


if __name__ == "__main__":
    thread = threading.Thread(target=in_thread)
    thread.start()
    pid = os.fork()
    if not pid:
        in_child()
        os._exit(0)
    in_main()
    thread.join()
    os.waitpid(pid, 0)
