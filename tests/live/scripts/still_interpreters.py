# SPDX-License-Identifier: GPL-2.0-only
"""A thread that holds still inside two interpreters, one inside the other; says where as still.py does."""
import json
import os
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

TELL = """
import json, os, sys
def stack_of(frame):
    code = frame and frame.f_code
    return frame and [[getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno],
                      *(stack_of(frame.f_back) or [])]
"""
INNER = TELL + """
pid, ident, outer = json.loads(%r)
def tell(frame):
    print(json.dumps({"pid": pid, "threads": {ident: stack_of(frame) + outer}}), flush=True)
def inside():
    tell(sys._getframe()); os.read(0, 1)
    os._exit(0)
inside()
"""
exec(TELL)


def outside(interpreter):
    here = sys._getframe()
    # The line of the call is that of the frame while it runs.
    interpreters.run_string(interpreter, INNER % json.dumps([os.getpid(), threading.get_ident(), stack_of(here)]))


outside(interpreters.create())
