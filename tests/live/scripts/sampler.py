# SPDX-License-Identifier: GPL-2.0-only
"""Samples a program's Python stacks from a thread inside it: slow, and right by construction.

    sampler.py COUNT OUT.txt SCRIPT [ARG...]

The script runs again and again, until there are so many samples: where other programs have the processors, they are few.

faulthandler writes the stacks of all threads without giving up the GIL, as text:

    Thread 0x... (most recent call first):
      File "/x/shapes.py", line 33 in spin

It stops at 100 frames.
"""
import faulthandler
import runpy
import sys
import threading


taken = 0


def sample(stop, out):
    global taken
    while not stop.wait(0.001):
        faulthandler.dump_traceback(out, all_threads=True)
        taken += 1


def main():
    count, out, script = sys.argv[1:4]
    sys.argv = sys.argv[3:]
    stop = threading.Event()
    sys.setswitchinterval(0.0005)
    with open(out, "w") as file:
        sampler = threading.Thread(target=sample, args=(stop, file))
        sampler.start()
        try:
            while taken < int(count):
                runpy.run_path(script, run_name="__main__")
        finally:
            stop.set()
            sampler.join()


if __name__ == "__main__":
    main()
