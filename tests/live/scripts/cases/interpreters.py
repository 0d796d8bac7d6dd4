# SPDX-License-Identifier: GPL-2.0-only
"""Interpreters within a thread: one, one inside another, and in threads that did not make them.

    interpreters.py [SECONDS]     0: one round, within one interpreter

No profile function sees what other interpreters call. So with 0 the texts that they run are run by exec(): the Python functions,
their callers and lines are the same.
"""
import functools
import sys
import threading
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0
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
while True:
    inside(3)
    if time.process_time() >= end:
        break
""" % (SECONDS / 4)
BETWEEN = """
%s
def between(call):
    call()
between(%s)
"""
# Which has which of them depends on the version: 3.13 has both functions, and 3.15 the first alone.
IMPORT = """
import functools
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
"""
RUN = "functools.partial(getattr(interpreters, 'exec', None) or interpreters.run_string, %d, %r)"
# That of the file, if the text is run by an interpreter.
NAME = "<script>" if sys.version_info >= (3, 14) else "<string>"
exec(IMPORT)
# An interpreter ends with the last that names it.
KEPT, MADE = [], []
while SECONDS and len(MADE) < 4:
    KEPT.append(interpreters.create())
    MADE.append(int(KEPT[-1]))


def runs(text):
    """(call that runs the text in another interpreter, the same as text)"""
    words = RUN % (MADE.pop(), text) if SECONDS else "functools.partial(exec, compile(%r, %r, 'exec'), {})" % (text, NAME)
    return eval(words), words


def spin(count=3000):
    total = 0
    for number in range(count):
        total += number
    return total


def outside(depth, call):
    if depth:
        return outside(depth - 1, call)
    call()


def in_thread(call):
    spin()
    outside(1, call)
    spin()


one, words = runs(INSIDE)
outside(2, one)
outside(2, runs(BETWEEN % (IMPORT, words))[0])
threads = [threading.Thread(target=in_thread, args=(runs(INSIDE)[0],)) for _ in range(2)]
for thread in threads:
    thread.start()
spin(100000)
for thread in threads:
    thread.join()
