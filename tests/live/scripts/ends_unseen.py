# SPDX-License-Identifier: GPL-2.0-only
"""Works, waits for a line of standard input, changes its executable mappings, works on, and ends."""
import mmap
import sys
import time


def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))


def main():
    print("ready", flush=True)
    spin(0.4)
    print("waits", flush=True)
    sys.stdin.readline()
    mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    spin(0.4)


main()
