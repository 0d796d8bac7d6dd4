# SPDX-License-Identifier: GPL-2.0-only
"""Interpreters within a thread: one, one inside another, and in threads that did not make them.

    interpreters.py SECONDS

No profile function sees all of them: harness/cases.py has all their call paths.
"""
import sys
import threading
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

INSIDE = """
import time
def in_key(value):
    total = 0
    for number in range(2000):
        total += number
    return -value
def inside(depth):
    return inside(depth - 1) if depth else sorted(range(5), key=in_key)
end = time.process_time() + %f
while time.process_time() < end:
    inside(3)
"""
BETWEEN = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
def between(number, code):
    getattr(interpreters, "exec", interpreters.run_string)(number, code)
between(%d, %r)
"""


def spin(count=3000):
    total = 0
    for number in range(count):
        total += number
    return total


def outside(depth, number, code):
    if depth:
        return outside(depth - 1, number, code)
    # 3.13 has both, and 3.15 the first alone.
    getattr(interpreters, "exec", interpreters.run_string)(number, code)


def in_thread(number, code):
    spin()
    outside(1, number, code)
    spin()


inside = INSIDE % (float(sys.argv[1]) / 4)
one, other = interpreters.create(), interpreters.create()
outside(2, one, inside)
outside(2, one, BETWEEN % (int(other), inside))
made = [interpreters.create() for _ in range(2)]
threads = [threading.Thread(target=in_thread, args=(number, inside)) for number in made]
for thread in threads:
    thread.start()
spin(100000)
for thread in threads:
    thread.join()
