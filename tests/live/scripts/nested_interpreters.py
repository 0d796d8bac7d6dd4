# SPDX-License-Identifier: GPL-2.0-only
"""A thread inside three interpreters at once: main, MIDDLE in it, and in that INNER, which is the newer one of the two, and
then the older one."""
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

INNER = """
import time
def inside():
    end = time.process_time() + 0.3
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
outside(first, second)
outside(second, first)
