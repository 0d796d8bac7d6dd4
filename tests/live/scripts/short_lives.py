# SPDX-License-Identifier: GPL-2.0-only
"""Starts one thread after the other for some seconds, each of which works for 1.5 ms. Prints the CPU time of these threads
and that of the process."""
import sys
import threading
import time

taken = []


def piece():
    start = time.thread_time()
    while time.thread_time() < start + 0.0015:
        pass
    taken.append(time.thread_time() - start)


def main(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        thread = threading.Thread(target=piece)
        thread.start()
        thread.join()
    print(sum(taken), time.process_time())


main(float(sys.argv[1]))
