# SPDX-License-Identifier: GPL-2.0-only
"""A thread that makes an interpreter and runs code in it, and then goes on in its own: it has two thread states."""
import time

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import time
def inside():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass
inside()
"""


def outside():
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass


made = interpreters.create()
interpreters.run_string(made, CODE)
outside()
