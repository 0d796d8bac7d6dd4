# SPDX-License-Identifier: GPL-2.0-only
"""Does one kind of work alone: spent.py KIND SECONDS."""
import collections
import gc
import itertools
import os
import random
import sys
import time


def until_done(seconds, work, clock=time.process_time):
    """And so long that what came before, which others on the machine make slower, is little of it."""
    end = clock() + max(seconds, 40 * clock())
    while clock() < end:
        work()


def interpreter(seconds):
    """Byte code that calls nothing."""
    scope = {}
    exec("def moves(a, b):\n  for _ in (0,) * 200:\n" + "    a, b = b, a\n" * 500, scope)
    moves = scope["moves"]
    until_done(seconds, lambda: moves(1, 2))


def native(seconds):
    """A function in C that calls no Python code."""
    numbers = [random.random() for _ in range(100000)]
    until_done(seconds, lambda: sorted(numbers))


def collection(seconds):
    kept = [[i] for i in range(100000)]
    until_done(seconds, gc.collect)
    return kept


def allocation(seconds):
    """Of pages that are never touched; with little byte code, for where the kernel is quick that counts."""
    until_done(seconds, lambda: collections.deque(map(bytes, itertools.repeat(1 << 22, 1000)), 0))


def kernel(seconds):
    file = os.open("/dev/zero", os.O_RDONLY)
    buffers = [bytearray(1 << 25)]
    until_done(seconds, lambda: os.readv(file, buffers))


def imports(seconds):
    folder = sys.argv[3]
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = False
    with open(os.path.join(folder, "imported.py"), "w") as out:
        out.write("".join("v%d = %d\n" % (i, i) for i in range(100)))

    # To free the modules that others have replaced is no import.
    gc.disable()
    kept = []

    def work():
        for _ in range(10):
            sys.modules.pop("imported", None)
            import imported
            kept.append(imported)
    until_done(seconds, work)
    os._exit(0)


{"interpreter": interpreter, "native": native, "collection": collection, "allocation": allocation, "kernel": kernel,
 "imports": imports}[sys.argv[1]](float(sys.argv[2]))
