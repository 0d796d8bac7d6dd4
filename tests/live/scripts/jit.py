# SPDX-License-Identifier: GPL-2.0-only
"""A small JIT compiler that writes a jitdump: jit.py FOLDER HOW [COUNT]

Machine code is made in a mapping and run, each piece for SPAN seconds of CPU time; what it is, where and when is told in
FOLDER/jit-PID.dump as Linux's tools/perf/Documentation/jitdump-specification.txt has it, and printed as JSON:
[[name, address of the loop, from, to], ...], times in ns of CLOCK_MONOTONIC.

HOW  reuse   two pieces of code, one after the other at one address
     move    one that is moved
     lines   one with lines: 10, in the loop 11, then 12 in /src/b.x
     many    COUNT pieces, of which three run
     fork    one, then a fork of which the child runs it, too
     plain   one
     serve   one that runs until standard input ends
"""
import ctypes
import json
import mmap
import os
import pathlib
import select
import struct
import sys
import time

SPAN = 0.15
# push %rbp; mov %rsp,%rbp; mov %rdi,%rax; 1: dec %rax; jnz 1b; pop %rbp; ret
CODE = bytes.fromhex("55 4889e5 4889f8 48ffc8 75fb 5d c3")
LOOP, AFTER = 7, 12
SLOT = 64
LOAD, MOVE, DEBUG_INFO, CLOSE = range(4)

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def memory(size):
    address = libc.mmap(None, size, 7, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert address not in (None, ctypes.c_void_p(-1).value), "no executable memory"
    return address


class Dump:
    def __init__(self, folder, machine):
        path = pathlib.Path(folder, f"jit-{os.getpid()}.dump")
        self.file = open(path, "wb+", buffering=0)
        self.file.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, machine, 0, os.getpid(), now(), 0))
        # What readers look for.
        self.marker = mmap.mmap(self.file.fileno(), 40, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
        self.index = 0

    def record(self, kind, body):
        self.file.write(struct.pack("<IIQ", kind, len(body) + 16, now()) + body)

    def load(self, name, address):
        self.index += 1
        head = struct.pack("<IIQQQQ", os.getpid(), os.getpid(), address, address, len(CODE), self.index)
        self.record(LOAD, head + name.encode() + b"\0" + CODE)
        return self.index

    def move(self, index, old, new):
        self.record(MOVE, struct.pack("<IIQQQQQ", os.getpid(), os.getpid(), new, old, new, len(CODE), index))

    def lines(self, address, entries):
        body = struct.pack("<QQ", address, len(entries))
        for offset, line, file in entries:
            body += struct.pack("<Qii", address + offset, line, 0) + file + b"\0"
        self.record(DEBUG_INFO, body)


def run(name, address):
    spin = ctypes.CFUNCTYPE(None, ctypes.c_long)(address)
    begin, end = now(), time.process_time() + SPAN
    while time.process_time() < end:
        spin(2000000)
    return [name, address + LOOP, begin, now()]


def write(address):
    ctypes.memmove(address, CODE, len(CODE))
    return address


def reuse(dump):
    address, done = write(memory(4096)), []
    for name in ("first code", "second code"):
        dump.load(name, address)
        done.append(run(name, address))
    return done


def move(dump):
    old, new = write(memory(4096)), write(memory(4096))
    index = dump.load("moving code", old)
    done = [run("moving code", old)]
    dump.move(index, old, new)
    return done + [run("moving code", new)]


def lines(dump):
    address = write(memory(4096))
    dump.lines(address, [(0, 10, b"/src/a.x"), (LOOP, 11, b"\xff"), (AFTER, 12, b"/src/b.x")])
    dump.load("code with lines", address)
    return [run("code with lines", address)]


def many(dump, count):
    start, done = memory(count * SLOT), []
    for number in range(count):
        dump.load(f"code {number}", write(start + number * SLOT))
    for number in (0, count // 2, count - 1):
        done.append(run(f"code {number}", start + number * SLOT))
    return done


def fork(dump):
    address = write(memory(4096))
    dump.load("inherited code", address)
    done = [run("inherited code", address)]
    begin, child = now(), os.fork()
    if not child:
        run("inherited code", address)
        os._exit(0)
    os.waitpid(child, 0)
    return done + [["inherited code", address + LOOP, begin, now()]]


def plain(dump):
    address = write(memory(4096))
    dump.load("plain code", address)
    return [run("plain code", address)]


def serve(dump):
    address = write(memory(4096))
    dump.load("serving code", address)
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        run("serving code", address)
    return []


def main():
    # CPython 3.13.0 does not say for which machine the code is.
    dump = Dump(sys.argv[1], 0 if sys.argv[2] == "plain" else 62)
    how = {"reuse": reuse, "move": move, "lines": lines, "many": many, "fork": fork, "plain": plain,
           "serve": serve}[sys.argv[2]]
    print(json.dumps(how(dump, *map(int, sys.argv[3:]))))


main()
