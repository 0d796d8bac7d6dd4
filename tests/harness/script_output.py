# SPDX-License-Identifier: GPL-2.0-only
"""The text of `kaa script` and `perf script` as samples.

A sample is a line `comm tid time: period event:`, its stack on the lines below, leaf first, and an empty line. With
the field srcline a line `  file:line` follows each frame.
"""
import functools
import re

HEAD = re.compile(r"^ *(?P<comm>\S.*?) +(?:(?P<pid>-?\d+)/)?(?P<tid>-?\d+) +(?:\[(?P<cpu>\d+)\] +)?(?P<time>\d+\.\d+): +"
                  r"(?:(?P<period>\d+) +)?(?P<event>\S+):(?: +(?P<rest>.*))?$")
# A name may itself hold a blank and a bracket: it ends before its offset, if it has one.
# What Python calls a C function that has no symbol: "list.sort", "_io.Buffered*.read", "sorted"; or two names of it:
# "range.tp_vectorcall/__new__".
METHOD_NAME = r"[A-Za-z_]\w*\*?(?:\.\w+\*?)*"
METHOD = f"{METHOD_NAME}(?:/{METHOD_NAME})?"
FRAME = re.compile(r"^\s+(?P<ip>[0-9a-f]+) (?P<symbol>.*?(?=\+0x[0-9a-f]+ \()|(?!.*\+0x[0-9a-f]+ \().*?)(?:\+0x(?P<offset>[0-9a-f]+))? \((?P<dso>.*)\)(?: *\(inlined\))?$")
# Where no line is known, perf prints dso[offset], ??:0 or :0.
SRCLINE = re.compile(r"^\s+(?:(?P<file>\S.*)?:(?P<line>\d+)|(?:\[JIT\] tid \d+|\S+)\[[0-9a-f]+\])(?P<inlined> \(inlined\))?$")
# A function that is inlined into the next frame's has no dso; with a source line "(inlined)" stands behind that.
INLINED = re.compile(r"^\s+(?P<ip>[0-9a-f]+) (?P<symbol>.*)\+0x(?P<offset>[0-9a-f]+)(?: \((?P<dso>inlined)\))?$")
PYTHON = "py::"
# The address and the line of a C function, and the address of a Python frame.
PLACES = re.compile(r"^\t *[0-9a-f]+ (?:(?!py::)(.*)\n  .*$)?", re.M)

# The address of every Python frame is in here; see docs/ARCHITECTURE.md.
PYTHON_RANGE = range(0x6b6100000000, 0x6b6200000000)


class Frame:
    """One of a stack, or of many: it does not change. python_name: (qualified name, filename) of a Python frame."""
    __slots__ = ("ip", "symbol", "dso", "offset", "file", "line", "is_python", "is_inlined", "is_marker", "python_name")

    def __init__(self, ip, symbol, dso, offset, file=None, line=None):
        self.ip, self.symbol, self.dso, self.offset = ip, symbol, dso, offset
        self.file, self.line = file, line
        self.is_inlined = dso == "inlined"
        # It is named py::<qualname>:<filename>.
        self.is_python = symbol.startswith(PYTHON)
        self.python_name = symbol[len(PYTHON):].partition(":")[::2] if self.is_python else None
        self.is_marker = ip in PYTHON_RANGE and not self.is_python and symbol.startswith("[")

    def __repr__(self):
        return f"{self.symbol} ({self.dso})" + (f" {self.file}:{self.line}" if self.line else "")


class Sample:
    """comm, tid, time (s), cpu (None: not printed), period, event, and frames, the leaf first."""

    def __init__(self, match):
        self.comm, self.event = match["comm"], match["event"]
        self.tid, self.time = int(match["tid"]), float(match["time"])
        self.period = int(match["period"] or "1")
        self.cpu = match["cpu"] and int(match["cpu"])
        self.frames = []

    def __repr__(self):
        return f"{self.comm} {self.tid} {self.time} {self.event}: " + " < ".join(map(repr, self.frames))

    @property
    def symbols(self):
        return [frame.symbol for frame in self.frames]

    @property
    def user_symbols(self):
        """Without the kernel's, whose addresses have the highest bit."""
        return [frame.symbol for frame in self.frames if not frame.ip >> 63]

    @property
    def python(self):
        """The Python frames, outermost first, as (function, filename, line)."""
        return [(*frame.python_name, frame.line) for frame in reversed(self.frames) if frame.is_python]

    @property
    def markers(self):
        """What kaa says in the stack about the stack."""
        return [frame.symbol for frame in self.frames if frame.is_marker]


# The same frames stand in many stacks, so most lines are known.
@functools.lru_cache(maxsize=1 << 16)
def frame_fields(line):
    """The arguments of Frame, or None if the line is no frame."""
    match = FRAME.match(line) or INLINED.match(line)
    return match and (int(match["ip"], 16), match["symbol"], match["dso"] or "inlined", int(match["offset"] or "0", 16))


@functools.lru_cache(maxsize=1 << 16)
def source_fields(line):
    """File and line, each None where it is not known; None if the line is no source line."""
    match = SRCLINE.match(line)
    return match and (match["file"] if match["file"] != "??" else None, int(match["line"] or 0) or None)


def parse(text, inlined=False):
    """All samples. A line that is none of the three kinds is an error: nothing may be overlooked. Functions that are inlined
    into others, which have the same address, are kept only if asked for."""
    samples, known = [], {}
    frame_of = lambda *fields: known.get(fields) or known.setdefault(fields, Frame(*fields))
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        # A head comes first: a command's name may look like an address (cc1).
        head = HEAD.match(line) if ": " in line else None
        if head:
            samples.append(Sample(head))
            fields = frame_fields(" " + (head["rest"] or ""))
        else:
            fields = frame_fields(line)
        source = None if head or fields else source_fields(line)
        assert head or samples and (fields or source and samples[-1].frames), \
            f"line {number} is no sample, no frame and no source line: {line!r}"
        if fields:
            samples[-1].frames.append(frame_of(*fields))
        elif source:
            last = samples[-1].frames[-1]
            samples[-1].frames[-1] = frame_of(last.ip, last.symbol, last.dso, last.offset, *source)
    for sample in samples:
        sample.frames = [frame for frame in sample.frames if inlined or not frame.is_inlined]
    return samples


def alike(text):
    """(stack, text of a sample) for each sample, in order, of a text with source lines. Stacks are equal where the functions are, and
    the lines of the Python frames, whatever the addresses: most samples then have the stack of another one."""
    for block in text.split("\n\n"):
        _, _, stack = block.partition("\n")
        if stack:
            yield PLACES.sub(r"\1", stack), block


def relation(theirs, ours):
    """How kaa's unwound chain stands to perf's: equal, longer, shorter or other.

    What perf has where the dump ends, in no mapping, is no frame; there kaa says that the stack goes on. Addresses are
    compared by their place in the page, since perf 6.1 prints where in the file they are.
    """
    frames = list(theirs.frames)
    while frames and frames[-1].dso == "[unknown]" and ours.markers:
        frames.pop()
    a, b = [[frame.ip & 0xfff for frame in chain] for chain in
            (frames, [frame for frame in ours.frames if frame.symbol not in ours.markers])]
    if a == b:
        return "equal"
    if b[:len(a)] == a:
        return "longer"
    return "shorter" if a[:len(b)] == b else "other"


def worse(pairs):
    """The pairs (perf's sample, kaa's) in which kaa's unwound stack goes less far than perf's."""
    return [pair for pair in pairs if relation(*pair) not in ("equal", "longer")]


def most_worse(pairs):
    """How many may be: libdw takes another word for the return address in epilogues that the compiler did not describe, and at
    the dump's end. Most of them are in the start of an interpreter, which on a busy machine is a large part of its time."""
    work = [number for number, (_, ours) in enumerate(pairs) if "Py_RunMain" in ours.symbols]
    start = work[0] if work else 0
    return max(3, 0.02 * (len(pairs) - start)) + 0.1 * start
