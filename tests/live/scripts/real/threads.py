# SPDX-License-Identifier: GPL-2.0-only
"""A thread pool whose work is in C, without the GIL for most of it: threads.py SECONDS."""
import concurrent.futures
import hashlib
import sys
import zlib

from account import spent, turns, write

BLOCK = b"".join(b"%d %d\n" % (i, i * i) for i in range(20000))


def pack(data):
    with spent("pack"):
        return zlib.compress(data, 6)  # hot


def digest(data):
    with spent("digest"):
        return hashlib.sha256(data * 20).digest()


def work(seconds):
    for turn in turns(seconds):
        digest(pack(BLOCK))


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    list(pool.map(work, [float(sys.argv[1])] * 3))
write()
