# SPDX-License-Identifier: GPL-2.0-only
"""Runs a program that writes its stack at each SIGUSR1, wherever that hits it.

    signalled.py OUT SCRIPT [ARG...]

Prints a line "PID IDENT" first: the process, and pthread_self() of its first thread. faulthandler writes from within the
signal handler, before the program goes on by one instruction.

It leaves errno as it was only if another handler comes behind it. The program may be about to read errno: a lock that it
failed to get it would otherwise take for its own.
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
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        faulthandler.register(signal.SIGUSR1, file, all_threads=False, chain=True)
        print(os.getpid(), threading.get_ident(), flush=True)
        runpy.run_path(script, run_name="__main__")


main()
