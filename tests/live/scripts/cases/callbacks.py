# SPDX-License-Identifier: GPL-2.0-only
"""C that calls Python that calls C, also in threads that C started.

    callbacks.py [SECONDS]     0: one round
"""
import ctypes
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0
# That of oracle.py: threads that C starts do not have it by themselves.
PROFILE = sys.getprofile()
LIBC = ctypes.CDLL(None)
LENGTH = 12
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
START = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def spin(count):
    total = 0
    for number in range(count):
        total += number
    return total


def sort(compare):
    array = (ctypes.c_int * LENGTH)(*[number * 7 % LENGTH for number in range(LENGTH)])
    LIBC.qsort(array, LENGTH, ctypes.sizeof(ctypes.c_int), compare)


def compare_plainly(a, b):
    spin(20)
    return a[0] - b[0]


def compare_nested(a, b):
    """One of all comparisons sorts within the sort."""
    if a[0] == 0 and DEPTH[0] < 4:
        DEPTH[0] += 1
        sort(NESTED)
        DEPTH[0] -= 1
    spin(20)
    return a[0] - b[0]


def in_thread(argument):
    sys.setprofile(PROFILE)
    for _ in range(20):
        spin(50)
    sort(PLAIN)
    return 0


def start_thread():
    thread = ctypes.c_ulong()
    LIBC.pthread_create(ctypes.byref(thread), None, THREAD, None)
    LIBC.pthread_join(thread, None)


DEPTH = [0]
PLAIN, NESTED, THREAD = COMPARE(compare_plainly), COMPARE(compare_nested), START(in_thread)


def go_round():
    sort(PLAIN)
    sort(NESTED)
    start_thread()


while True:
    go_round()
    if time.process_time() >= SECONDS:
        break
