# SPDX-License-Identifier: GPL-2.0-only
"""Works on one CPU, which it has to share with another program, and then sleeps. Prints how long it could not run for want of
the CPU while it worked, by the kernel's account, and how long that took."""
import os
import subprocess
import sys
import time

CPU = min(os.sched_getaffinity(0))


def waited():
    with open(f"/proc/self/task/{os.getpid()}/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


def rest(seconds):
    time.sleep(seconds)


def main():
    os.sched_setaffinity(0, {CPU})
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        start, before = time.monotonic(), waited()
        work(2)
        print(waited() - before, time.monotonic() - start)
        rest(0.5)
        other.kill()


main()
