# SPDX-License-Identifier: GPL-2.0-only
"""Functions that call each other all the time, each call on a line of its own, so that a line says who was called.

Usage: call_pairs.py SECONDS [THREADS]. Ends after so much CPU time, and prints how much that was.
For CPython 2.7 and later.
"""
from __future__ import print_function

import resource
import sys
import threading
import time

FUNCTIONS = 7


def source():
    """f0 to f6: each calls all of them, one line each."""
    for number in range(FUNCTIONS):
        yield "def f%d(depth):" % number
        yield "    if not depth:"
        yield "        return"
        for callee in range(FUNCTIONS):
            yield "    f%d(depth - 1)" % callee


process_time = getattr(time, "process_time", None) or time.clock


def work(seconds):
    while process_time() < seconds:
        # Who asks for CPU time is met there more often than by chance (docs/poll.md).
        for _ in range(20):
            NAMES["f0"](4)


NAMES = {}

if __name__ == "__main__":
    exec(compile("\n".join(source()) + "\n", "pairs", "exec"), NAMES)
    threads = [threading.Thread(target=work, args=(float(sys.argv[1]),)) for _ in range(int((sys.argv[2:] or ["0"])[0]))]
    for thread in threads:
        thread.start()
    work(float(sys.argv[1]))
    for thread in threads:
        thread.join()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(usage.ru_utime + usage.ru_stime)
    sys.stdout.flush()
