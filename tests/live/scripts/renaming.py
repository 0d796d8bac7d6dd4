# SPDX-License-Identifier: GPL-2.0-only
"""Threads that are renamed all the time, beside others that come and go; each name tells its own length.

    renaming.py [SECONDS]       of CPU time; without end if it is not given
"""
import itertools
import sys
import threading
import time

end = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")


def name(number):
    """"12:" and twelve times one letter."""
    n = number * 7 % 300
    return f"{n}:" + chr(ord("a") + number % 26) * n


def rename():
    me = threading.current_thread()
    for number in itertools.count():
        me.name = name(number)
        if time.process_time() > end:
            return


def come_and_go():
    for number in itertools.count():
        thread = threading.Thread(target=int, name=name(number))
        thread.start()
        thread.join()
        if time.process_time() > end:
            return


threads = [threading.Thread(target=rename, name=name(i)) for i in range(3)]
threads.append(threading.Thread(target=come_and_go, name=name(5)))
for thread in threads:
    thread.start()
while time.process_time() < end:
    # Takes the place of what was freed.
    junk = ["?" * n for n in range(1, 300)]
