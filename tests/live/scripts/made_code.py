# SPDX-License-Identifier: GPL-2.0-only
"""Runs code that is in no file: made_code.py LIBRARY OBJECT HOW SECONDS (of CPU time) FILE

Then it goes on until FILE, its recording, has grown by more than what was recorded before: what it registers can be read only
as long as it runs, and the recorder may be late.

HOW  bare        code that registers nothing, and does not keep frame pointers
     registered  the same, registered with the GDB JIT interface
     moved       the same again, begun on the last CPU and soon moved to the first one
     nested      bare code that calls Python, which calls bare code
     framed      code that keeps frame pointers
     frameless   code that leaves the frame pointer to its caller, made_call(), which made_call_twice() calls by pointer
"""
import ctypes
import os
import sys
import time

ROUNDS = 300000
GROWN = 200000
MOVED = 0.02
SPIN = ctypes.CFUNCTYPE(None, ctypes.c_long)
CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
BACK = ctypes.CFUNCTYPE(None)

library = ctypes.CDLL(sys.argv[1])
library.made_function.restype = ctypes.c_void_p
library.made_load(sys.argv[2].encode())


def function(name, kind=SPIN):
    return kind(library.made_function(name))


bare, bare_call = function(b"bare_outer"), function(b"bare_call", CALL)
framed, frameless = function(b"framed_outer"), function(b"frameless")


def innermost():
    bare(ROUNDS)


def back():
    innermost()


back_pointer = BACK(back)


def run_bare():
    innermost()


def run_nested():
    bare_call(ctypes.cast(back_pointer, ctypes.c_void_p))


def run_framed():
    framed(ROUNDS)


def run_frameless():
    library.made_call_twice(library.made_call, frameless, ctypes.c_long(ROUNDS))


def main(how, seconds, file):
    if how in ("registered", "moved"):
        library.made_register()
    run = {"bare": run_bare, "registered": run_bare, "moved": run_bare, "nested": run_nested, "framed": run_framed,
           "frameless": run_frameless}[how]
    cpus = sorted(os.sched_getaffinity(0))
    if how == "moved":
        os.sched_setaffinity(0, cpus[-1:])
    begin = time.process_time()
    while time.process_time() < begin + MOVED:
        run()
    os.sched_setaffinity(0, cpus[:1] if how == "moved" else cpus)
    while time.process_time() < begin + seconds:
        run()
    size = os.path.getsize(file)
    while os.path.getsize(file) < size + GROWN and time.process_time() < begin + 60 * seconds:
        run()


main(sys.argv[3], float(sys.argv[4]), sys.argv[5])
