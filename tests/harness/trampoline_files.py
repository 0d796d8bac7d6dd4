# SPDX-License-Identifier: GPL-2.0-only
"""Readers of the files that tell profilers of generated code, which let nothing pass.

    read_map(path)      {symbol: [(address, size), ...]} of a perf map
    read_dump(path)     the records of a jitdump (tools/perf/Documentation/jitdump-specification.txt in Linux)

Malformed raises an error that says where: a line that is none, code that overlaps other code, a record that does not
end where its size says, a file that does not end where a record does.
"""
import collections
import pathlib
import re
import struct

MAP_LINE = re.compile(rb"([0-9a-f]+) ([0-9a-f]+) ([^\x00-\x1f\x7f]+)")

MAGIC, VERSION, HEADER_SIZE = 0x4A695444, 1, 40
LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO = range(5)
EM_X86_64, EM_AARCH64 = 62, 183

Code = collections.namedtuple("Code", "pid tid time address size index name code lines unwinding")
Dump = collections.namedtuple("Dump", "pid machine codes closed")
Unwinding = collections.namedtuple("Unwinding", "eh_frame eh_frame_hdr mapped_size")


class Malformed(Exception):
    pass


def check_ranges(path, ranges):
    ranges = sorted(ranges)
    for (start, size), (after, _) in zip(ranges, ranges[1:]):
        if start + size > after:
            raise Malformed(f"{path}: code at {start:#x} and {after:#x} overlaps")


def read_map(path):
    symbols = collections.defaultdict(list)
    data = pathlib.Path(path).read_bytes()
    if data and not data.endswith(b"\n"):
        raise Malformed(f"{path}: the last line has no end")
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        match = MAP_LINE.fullmatch(line)
        if not match:
            raise Malformed(f"{path}:{number}: {line!r}")
        symbols[match[3].decode("utf-8")].append((int(match[1], 16), int(match[2], 16)))
    check_ranges(path, [code for codes in symbols.values() for code in codes])
    return dict(symbols)


class Reader:
    """Bytes of a file, taken one after the other."""

    def __init__(self, path, data, offset=0):
        self.path, self.data, self.offset = path, data, offset

    def fail(self, what):
        raise Malformed(f"{self.path}: at {self.offset:#x}: {what}")

    def take(self, size):
        if size > len(self.data) - self.offset:
            self.fail(f"{size} bytes wanted, {len(self.data) - self.offset} there")
        self.offset += size
        return self.data[self.offset - size:self.offset]

    def fields(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def string(self):
        end = self.data.find(b"\0", self.offset)
        if end < 0:
            self.fail("a string without an end")
        return self.take(end + 1 - self.offset)[:-1]

    @property
    def left(self):
        return len(self.data) - self.offset


def read_header(reader):
    magic, version, size, machine, _, pid, _, flags = reader.fields("IIIIIIQQ")
    if (magic, version, size) != (MAGIC, VERSION, HEADER_SIZE):
        reader.fail(f"header has magic {magic:#x}, version {version}, size {size}")
    if machine not in (EM_X86_64, EM_AARCH64) or flags not in (0, 1):
        reader.fail(f"header has machine {machine}, flags {flags:#x}")
    return pid, machine


def read_load(body, time, lines, unwinding):
    pid, tid, vma, address, size, index = body.fields("IIQQQQ")
    name = body.string().decode("utf-8")
    code = body.take(size)
    if vma != address:
        body.fail(f"{name}: virtual address {vma:#x}, code address {address:#x}")
    if body.left:
        body.fail(f"{name}: {body.left} bytes behind the code")
    # The last may stand at the end, where the line before it ends.
    if lines and not all(address <= line[0] <= address + size for line in lines):
        body.fail(f"{name}: lines outside the code")
    return Code(pid, tid, time, address, size, index, name, code, lines, unwinding)


def read_debug_info(body):
    address, count = body.fields("QQ")
    lines, name = [], None
    for _ in range(count):
        where, line, _ = body.fields("Qii")
        given = body.string()
        # One byte 0xff stands for the name of the entry before.
        # A file's name is bytes, and may be in no encoding.
        name = name if given == b"\xff" and name is not None else given.decode("utf-8", "surrogateescape")
        lines.append((where, line, name))
    # Records may be padded.
    if body.left >= 8 or any(body.take(body.left)):
        body.fail("bytes behind the lines")
    return address, lines


def read_unwinding(body):
    size, header_size, mapped = body.fields("QQQ")
    data = body.take(size)
    if not 0 < header_size < size or mapped < size:
        body.fail(f"unwinding information of {size} bytes has a header of {header_size}, {mapped} mapped")
    if body.left >= 16 or any(body.take(body.left)):
        body.fail("bytes behind the unwinding information")
    return Unwinding(data[:size - header_size], data[size - header_size:], mapped)


def read_dump(path):
    reader = Reader(path, pathlib.Path(path).read_bytes())
    pid, machine = read_header(reader)
    codes, lines, unwinding, closed, last = [], None, None, False, 0
    while reader.left:
        if closed:
            reader.fail("records behind the one that closes")
        kind, size, time = reader.fields("IIQ")
        if size < 16:
            reader.fail(f"a record of {size} bytes")
        if time < last:
            reader.fail(f"time goes back from {last} to {time}")
        last = time
        body = Reader(path, reader.data[:reader.offset + size - 16], reader.offset)
        reader.take(size - 16)
        if kind == LOAD:
            code = read_load(body, time, lines and lines[1], unwinding)
            if lines is not None and lines[0] != code.address:
                body.fail(f"{code.name} at {code.address:#x} follows lines of {lines[0]:#x}")
            codes.append(code)
            lines = unwinding = None
        elif kind == DEBUG_INFO:
            lines = read_debug_info(body)
        elif kind == UNWINDING_INFO:
            unwinding = read_unwinding(body)
        elif kind == CLOSE:
            closed = True
        else:
            reader.fail(f"a record of kind {kind}")
    if lines or unwinding:
        reader.fail("ends before the code that its last record is about")
    if any(code.pid != pid for code in codes):
        reader.fail(f"a dump of {pid} has code of {({code.pid for code in codes} - {pid})}")
    if len({code.index for code in codes}) != len(codes):
        reader.fail("two codes have one number")
    check_ranges(path, [(code.address, code.size) for code in codes])
    return Dump(pid, machine, codes, closed)
