# SPDX-License-Identifier: GPL-2.0-only
"""A perf.data whose stacks a test writes down, with Python functions that a perf map names. No program is behind it."""
import contextlib
import ctypes
import json
import os
import pathlib
import struct

CODE, SPAN, PERIOD = 0x7E0000000000, 64, 1000000
FILES, FILE_SPAN = 0x7D0000000000, 1 << 30
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


# Of perf_event_attr: type, config, config1. Events that a recording may have besides task-clock.
EVENTS = {
    b"task-clock": (1, 1, 0),
    # Its samples are waits, as long as their period.
    b"sched:sched_stat_sleep": (2, 1, 0),
    # KAA_POLLED_NATIVE of src/perfdata/kaa_stream.h: a moment in which the thread had the GIL.
    b"gil-clock": (1, 0, 0x6B616120706F6C6E),
    b"page-faults": (1, 2, 0),
}


def file_map(pid, begin, path):
    name = os.fsencode(path)
    name = name.ljust(len(name) // 8 * 8 + 8, b"\0")
    return record(1, 2, struct.pack("<IIQQQ", pid, pid, begin, FILE_SPAN, 0) + name)


def place_of_this_python(function):
    """(file, where it is in the file) of a C function that this interpreter exports: one of CPython's."""
    at = ctypes.cast(getattr(ctypes.pythonapi, function), ctypes.c_void_p).value
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        span, _, offset, _, _, *name = line.split(maxsplit=5)
        begin, end = (int(number, 16) for number in span.split("-"))
        if begin <= at < end and name:
            return name[0], at - begin + int(offset, 16)
    raise LookupError(function)


def attribute(event=b"task-clock", identified=False):
    # IP, TID, TIME, CALLCHAIN, PERIOD, and IDENTIFIER; of user space.
    flags = 1 << 5 | 1 << 8 | 1 << 9 | 1 << 13
    kind, config, config1 = EVENTS[event]
    fixed = struct.pack("<IIQQQQQII", kind, 128, config, PERIOD, 0x127 | identified << 16, 0, flags, 0, 0)
    return (fixed + struct.pack("<Q", config1)).ljust(128, b"\0")


def sample(pid, tid, time, addresses, period=PERIOD, identifier=None):
    ips = [USER, *reversed(addresses)]
    first = b"" if identifier is None else struct.pack("<Q", identifier)
    return record(9, 2, first + struct.pack("<QIIQQQ", ips[1], pid, tid, time, period, len(ips)) +
                  struct.pack(f"<{len(ips)}Q", *ips))


def file(records):
    """A whole file; the samples are those of attribute()."""
    data = b"".join([*records, ROUND])
    head = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144, 248, len(data), 0, 0) + b"\0" * 32
    return head + attribute() + struct.pack("<QQ", 0, 0) + data


def described(events):
    """HEADER_EVENT_DESC: the names of events, whose identifiers are 1, 2 and so on."""
    parts = [struct.pack("<II", len(events), 128)]
    for number, event in enumerate(events, 1):
        name = event.ljust(len(event) // 8 * 8 + 8, b"\0")
        parts.append(attribute(event, True) + struct.pack("<II", 1, len(name)) + name + struct.pack("<Q", number))
    return b"".join(parts)


def file_of_events(records, events):
    """A whole file; samples say by their identifiers, 1 and so on, of which event they are."""
    data, names = b"".join([*records, ROUND]), described(events)
    attributes, ids = 144 * len(events), 8 * len(events)
    begin = 104 + attributes + ids
    head = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, attributes, begin, len(data), 0, 0)
    # The bit of HEADER_EVENT_DESC.
    head += struct.pack("<4Q", 1 << 12, 0, 0, 0)
    table = b"".join(attribute(event, True) + struct.pack("<QQ", 104 + attributes + 8 * i, 8) for i, event in enumerate(events))
    numbers = struct.pack(f"<{len(events)}Q", *range(1, len(events) + 1))
    return head + table + numbers + data + struct.pack("<QQ", begin + len(data) + 16, len(names)) + names


def write(path, records):
    path.write_bytes(file(records))


@contextlib.contextmanager
def recording(path, threads, count=1, more=(), mapped=None):
    """threads: {name: {stack: samples}}; a stack is a tuple of names of symbols (bytes), the outermost first.

    more: [(event, thread, stack, nanoseconds from the first sample, period)], samples of other EVENTS.
    mapped: {name: (file, where it is in the file)}, symbols that are not in the perf map.

    The perf map, which names them, is in /tmp as long as the block lasts.
    """
    # No process has it: the number is beyond the kernel's greatest.
    pid = 4194304 + os.getpid() * 8 + count
    names = sorted({name for stacks in threads.values() for stack in stacks for name in stack} |
                   {name for _, _, stack, _, _ in more for name in stack})
    events = [b"task-clock", *dict.fromkeys(event for event, *_ in more)]
    address = {name: CODE + i * SPAN for i, name in enumerate(names)}
    records = [code_map(pid, len(names))]
    for i, (name, (file_path, offset)) in enumerate((mapped or {}).items()):
        begin = FILES + i * FILE_SPAN
        records.append(file_map(pid, begin, file_path))
        address[name] = begin + offset
    time = 1000000
    for tid, (name, stacks) in enumerate(threads.items(), pid):
        records.append(comm(pid, tid, name))
        for stack, samples in stacks.items():
            for _ in range(samples):
                time += 1000
                records.append(sample(pid, tid, time, [address[name] + 5 for name in stack], PERIOD, 1 if more else None))
    for event, thread, stack, since, period in more:
        records.append(sample(pid, pid + list(threads).index(thread), 1001000 + since,
                              [address[name] + 5 for name in stack], period, events.index(event) + 1))
    path.write_bytes(file_of_events(records, events) if more else file(records))
    symbols = pathlib.Path(f"/tmp/perf-{pid}.map")
    symbols.write_bytes(b"".join(b"%x %x %s\n" % (address[name], SPAN, name) for name in names if address[name] >= CODE))
    try:
        yield path
    finally:
        symbols.unlink()


def sampled(kaa, path, stacks, period=PERIOD, event="cpu-clock", command="python3 app.py", threads=("main",),
            pids=(), processes=()):
    """A recording at `path` whose Python functions have lines: {stack: samples}, in each of the threads (of one process, or
    of those pids, and names of processes).

    A stack is a tuple of (name, file, line of the def, line), the outermost first. (name, object) is
    a function in C. It goes through `kaa import`, so a span of code has as many lines as are sampled in it.
    """
    functions, table, parents = {}, {}, {"function": [], "line": [], "parent": []}

    def function(step):
        native = len(step) == 2
        row = (step[0], "native" if native else "python", "" if native else str(step[1]), str(step[1]) if native else "",
               0 if native else step[2])
        return functions.setdefault(row, len(functions))

    def stack_of(stack):
        parent = -1
        for step in stack:
            key = (parent, function(step), 0 if len(step) == 2 else step[3])
            if key not in table:
                table[key] = len(table)
                for name, value in zip(("parent", "function", "line"), key):
                    parents[name].append(value)
            parent = table[key]
        return parent

    samples = {"event": [], "thread": [], "stack": [], "time": [], "weight": []}
    for thread in range(len(threads)):
        time = 0
        for stack, count in stacks.items():
            for _ in range(count):
                time += period
                for name, value in zip(samples, (0, thread, stack_of(stack), time, period)):
                    samples[name].append(value)
    kind = {"cpu-clock": "cpu", "wall-clock": "wall", "async-clock": "wall"}.get(event, "occurrence")
    unit = "nanoseconds" if event.endswith("-clock") else "count"
    document = {
        "format": "kaa", "version": 1, "start": 0, "recordings": [{"command": command, "hostname": "host"}],
        "events": [{"name": event, "kind": kind, "unit": unit, "frequency": 1000, "lost": 0}],
        "threads": [{"recording": 0, "pid": pids[i] if pids else 70, "tid": 70 + i, "name": name,
                     "process": processes[i] if processes else "python3"}
                    for i, name in enumerate(threads)],
        "functions": [dict(zip(("name", "kind", "file", "object", "line"), row)) for row in functions],
        "stacks": parents, "samples": samples,
    }
    json_path = path.with_suffix(".json")
    json_path.write_text(json.dumps(document))
    kaa("import", json_path, "-o", path)
    return path


def with_payload(path, kind, body):
    """The recording of sampled() has one more record of the kaa stream (docs/formats/kaa-stream.md), before all others."""
    data = path.read_bytes()
    payload = struct.pack("<4sHH", b"kaa1", kind, 0) + body
    payload += bytes(-(len(payload) + 4) % 8)
    # Before the first record of kaa's own event, and with its id: IDENTIFIER, IP, TID, TIME, CPU, PERIOD, RAW.
    at = data.index(b"kaa1") - 60
    new = record(9, 2, data[at + 8:at + 56] + struct.pack("<I", len(payload)) + payload)
    begin, size = struct.unpack_from("<QQ", data, 40)
    features = sum(bin(byte).count("1") for byte in data[72:104])
    moved = bytearray(data[:at] + new + data[at:])
    struct.pack_into("<Q", moved, 48, size + len(new))
    for i in range(features):
        place = begin + size + len(new) + 16 * i
        struct.pack_into("<Q", moved, place, struct.unpack_from("<Q", moved, place)[0] + len(new))
    path.write_bytes(moved)
    return path


def with_python(path, pid=70, version=0x030D00F0):
    """The recording of sampled() says what Python ran, as those of `kaa record` do: then it has all lines of its code."""
    python = b"/usr/bin/python3"
    return with_payload(path, 3, struct.pack("<IIQQQH", pid, version, 0, 0, 0, len(python)) + python)


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def content_hash(data):
    """XXH3 of 128 bits, by the library itself."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_128bits.restype = Hash128
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    found = library.XXH3_128bits(data, len(data))
    return struct.pack(">QQ", found.high, found.low)


def with_source(path, file, data):
    """The recording of sampled() says that these bytes were in the source file, as those of `kaa record` do."""
    name = os.fsencode(file)
    return with_payload(path, 8, struct.pack("<Qq16sH", len(data), 0, content_hash(data), len(name)) + name)
