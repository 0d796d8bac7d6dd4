# SPDX-License-Identifier: GPL-2.0-only
"""Prints, as JSON, what this process knows of itself inside outer() > middle() > inner(), the last one in a forked child
too: pid, return addresses on the stack, memory map.

    arm64_stack.py LIBRARY          LIBRARY: programs/frame_pointers.c
"""
import ctypes
import json
import os
import sys

frame_pointers = ctypes.CDLL(sys.argv[1]).frame_pointers
addresses = (ctypes.c_void_p * 200)()


def inner():
    count = frame_pointers(addresses, len(addresses))
    with open("/proc/self/maps") as maps:
        print(json.dumps({"pid": os.getpid(), "active": sys.is_stack_trampoline_active(),
                          "stack": addresses[:count], "maps": maps.read()}), flush=True)


def middle():
    inner()


def outer():
    middle()
    child = os.fork()
    if not child:
        middle()
        os._exit(0)
    os.waitpid(child, 0)


outer()
