# SPDX-License-Identifier: GPL-2.0-only
"""Samples a program's Python stacks from a thread inside it: slow, and right by construction.

    sampler.py OUT.txt SCRIPT [ARG...]

faulthandler writes the stacks of all threads without giving up the GIL, as text:

    Thread 0x... (most recent call first):
      File "/x/shapes.py", line 33 in spin

It stops at 100 frames.
"""
import faulthandler
import runpy
import sys
import threading


def sample(stop, out):
    while not stop.wait(0.001):
        faulthandler.dump_traceback(out, all_threads=True)


def main():
    out, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    stop = threading.Event()
    sys.setswitchinterval(0.0005)
    with open(out, "w") as file:
        sampler = threading.Thread(target=sample, args=(stop, file))
        sampler.start()
        try:
            runpy.run_path(script, run_name="__main__")
        finally:
            stop.set()
            sampler.join()


if __name__ == "__main__":
    main()
