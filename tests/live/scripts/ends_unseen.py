# SPDX-License-Identifier: GPL-2.0-only
"""Works, waits for a line of standard input, changes its executable mappings, works on, and ends.

    ends_unseen.py FILE     works at first until FILE, its recording, has grown three times
"""
import mmap
import os
import sys
import time


def spin(seconds, file=None):
    end, size, grown = time.process_time() + seconds, 0, 0
    while time.process_time() < end or file and grown < 4:
        sum(range(1000))
        if file and os.stat(file).st_size != size:
            size, grown = os.stat(file).st_size, grown + 1


def main():
    print("ready", flush=True)
    spin(0.4, sys.argv[1])
    print("waits", flush=True)
    sys.stdin.readline()
    mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
    spin(0.4)


main()
