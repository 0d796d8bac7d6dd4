# SPDX-License-Identifier: GPL-2.0-only
"""Where instructions end, as objdump has it; what they do to the stack, as the compiler's CFI has it."""
import pathlib
import re

import pytest

from harness.process import run

LIBC = pathlib.Path("/lib/x86_64-linux-gnu/libc.so.6")
LINE = re.compile(r"\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(.*)")
# A part of the code is enough: this many instructions.
ENOUGH = 100000


@pytest.fixture
def insns(build_dir):
    return build_dir / "tests" / "live" / "insns"


def disassemble(file):
    """Address and size of each instruction of .text, and whether it is one."""
    for line in run(["objdump", "-d", "-z", "-j", ".text", "--insn-width=16", file]).stdout.splitlines():
        match = LINE.match(line)
        if match:
            yield int(match[1], 16), len(match[2].split()), not match[3].startswith("(bad)")


def test_sizes(insns):
    expected = list(disassemble(LIBC))[:ENOUGH]
    assert len(expected) == ENOUGH and all(is_one for _, _, is_one in expected)
    start, end = expected[0][0], expected[-1][0] + expected[-1][1]
    lines = run([insns, "sizes", LIBC, hex(start), hex(end - start)]).stdout.splitlines()
    seen = [(int(address, 16), int(size)) for address, size in map(str.split, lines)]
    assert seen == [(address, size) for address, size, _ in expected]


def test_frames(insns):
    """Compilers mix paths that return with others; assembly does so less. A return address has to follow a call, too."""
    words = run([insns, "frames", LIBC]).stdout.split()
    counts = dict(zip(words[::2], map(int, words[1::2])))
    total = sum(counts.values())
    assert total > 20000 and counts["equal"] > 0.7 * total and counts["different"] < 0.05 * total, counts
