# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program that writes its stack at each SIGUSR1, wherever that hits it.

    signalled.py OUT SCRIPT [ARG...]

Prints a line "PID IDENT" first: the process, and pthread_self() of its first thread. faulthandler writes from within the
signal handler, before the program goes on by one instruction.
"""
import faulthandler
import os
import runpy
import signal
import sys
import threading


def main():
    out, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    with open(out, "w") as file:
        faulthandler.register(signal.SIGUSR1, file, all_threads=False)
        print(os.getpid(), threading.get_ident(), flush=True)
        runpy.run_path(script, run_name="__main__")


main()
