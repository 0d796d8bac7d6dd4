# SPDX-License-Identifier: GPL-2.0-only
"""Runs a command under a seccomp filter that denies perf_event_open and bpf. Usage: without_events.py COMMAND..."""
import ctypes
import os
import struct
import sys

NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
PERF_EVENT_OPEN, BPF, EPERM = 298, 321, 1
ALLOW, DENY = 0x7fff0000, 0x00050000 | EPERM

# Load the call's number; equal to one of the two: deny.
PROGRAM = [(0x20, 0, 0, 0), (0x15, 2, 0, PERF_EVENT_OPEN), (0x15, 1, 0, BPF), (0x06, 0, 0, ALLOW), (0x06, 0, 0, DENY)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    program = Program(len(PROGRAM), b"".join(struct.pack("HBBI", *line) for line in PROGRAM))
    if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, ctypes.byref(program), 0, 0):
        sys.exit(f"no seccomp filter: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[1], sys.argv[1:])


main()
