# SPDX-License-Identifier: GPL-2.0-only
"""A thread inside three interpreters at once: main, MIDDLE in it, and in that INNER.

    nested_interpreters.py newer|older      INNER is the newer, or the older, one of the two
"""
import sys

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

INNER = """
import time
def inside():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
inside()
"""
MIDDLE = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
def between():
    interpreters.run_string(%d, %r)
between()
"""


def outside(middle, inner):
    interpreters.run_string(middle, MIDDLE % (int(inner), INNER))


first, second = interpreters.create(), interpreters.create()
outside(*((first, second) if sys.argv[1] == "newer" else (second, first)))
