# SPDX-License-Identifier: GPL-2.0-only
"""Works on one CPU, which it has to share with another program, and then sleeps. Prints for each of the two how long it could
not run for want of the CPU, by the kernel's account, and how long that took."""
import json
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
        told = {}
        for function, seconds in ((work, 2), (rest, 0.5)):
            start, before = time.monotonic(), waited()
            function(seconds)
            told[function.__name__] = [waited() - before, time.monotonic() - start]
        other.kill()
        print(json.dumps(told))


main()
