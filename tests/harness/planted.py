# SPDX-License-Identifier: GPL-2.0-only
"""A perf.data whose stacks a test writes down, with Python functions that a perf map names. No program is behind it."""
import contextlib
import os
import pathlib
import struct

CODE, SPAN, PERIOD = 0x7E0000000000, 64, 1000000
USER = 0xFFFFFFFFFFFFFE00


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


# PERF_RECORD_FINISHED_ROUND
ROUND = record(68, 0, b"")


def comm(pid, tid, name):
    return record(3, 0, struct.pack("<II", pid, tid) + name[:15].ljust(16, b"\0"))


def code_map(pid, functions):
    """Where the functions are, one SPAN after the other from CODE on."""
    return record(1, 2, struct.pack("<IIQQQ", pid, pid, CODE, functions * SPAN, 0) + b"//anon\0\0")


def attribute():
    # task-clock; IP, TID, TIME, CALLCHAIN, PERIOD; of user space.
    flags = 1 << 5 | 1 << 8 | 1 << 9 | 1 << 13
    return struct.pack("<IIQQQQQ", 1, 128, 1, PERIOD, 0x127, 0, flags).ljust(128, b"\0")


def sample(pid, tid, time, addresses):
    ips = [USER, *reversed(addresses)]
    return record(9, 2, struct.pack("<QIIQQQ", ips[1], pid, tid, time, PERIOD, len(ips)) + struct.pack(f"<{len(ips)}Q", *ips))


def file(records):
    """A whole file; the samples are those of attribute()."""
    data = b"".join([*records, ROUND])
    head = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144, 248, len(data), 0, 0) + b"\0" * 32
    return head + attribute() + struct.pack("<QQ", 0, 0) + data


def write(path, records):
    path.write_bytes(file(records))


@contextlib.contextmanager
def recording(path, threads, count=1):
    """threads: {name: {stack: samples}}; a stack is a tuple of names of symbols (bytes), the outermost first.

    The perf map, which names them, is in /tmp as long as the block lasts.
    """
    # No process has it: the number is beyond the kernel's greatest.
    pid = 4194304 + os.getpid() * 8 + count
    names = sorted({name for stacks in threads.values() for stack in stacks for name in stack})
    address = {name: CODE + i * SPAN for i, name in enumerate(names)}
    records = [code_map(pid, len(names))]
    time = 1000000
    for tid, (name, stacks) in enumerate(threads.items(), pid):
        records.append(comm(pid, tid, name))
        for stack, samples in stacks.items():
            for _ in range(samples):
                time += 1000
                records.append(sample(pid, tid, time, [address[name] + 5 for name in stack]))
    write(path, records)
    symbols = pathlib.Path(f"/tmp/perf-{pid}.map")
    symbols.write_bytes(b"".join(b"%x %x %s\n" % (address[name], SPAN, name) for name in names))
    try:
        yield path
    finally:
        symbols.unlink()
