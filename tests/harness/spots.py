# SPDX-License-Identifier: GPL-2.0-only
"""A library with a function of many instructions, for recordings whose samples hit those that a test wants."""
import re
import subprocess

COUNT = 200
# All of one size, so that offsets are those of instructions on every machine.
SOURCE = f"""\
.text
.globl %(name)s
.type %(name)s, %%function
%(name)s:
.rept {COUNT}
nop
.endr
ret
.size %(name)s, .-%(name)s
.section .note.GNU-stack,"",%%progbits
"""

# Of Library(..., "outer", INLINED): the first 150 are of inner(), the others of last().
INLINED = f"""\
static inline __attribute__((always_inline)) void inner(void) {{ __asm__ volatile(".rept 150\\nnop\\n.endr"); }}
static inline __attribute__((always_inline)) void last(void) {{ __asm__ volatile(".rept {COUNT - 150}\\nnop\\n.endr"); }}
void outer(void) {{ inner(); last(); }}
"""


class Library:
    """source: C instead, whose function has that name, and few instructions beside the nops."""

    def __init__(self, folder, name="spotted", source=None):
        self.path, self.name = folder / "libspotted.so", name
        code = folder / ("spotted.c" if source else "spotted.s")
        code.write_text(source or SOURCE % {"name": name})
        subprocess.run(["cc", "-g", "-O2", "-fpic", "-shared", "-nostdlib", "-o", self.path, code], check=True)
        table = subprocess.run(["readelf", "-sW", self.path], check=True, capture_output=True, text=True).stdout
        address, size = re.search(rf" ([0-9a-f]+) +(\d+) FUNC .* {re.escape(name)}$", table, re.M).groups()
        self.begin = int(address, 16)
        # The last one is the return, and may have another size.
        self.step = int(size) // (COUNT + 1) or 1

    def address(self, number):
        """Of an instruction, as the file numbers it: in this file that is where it is, too."""
        return self.begin + number * self.step

    def mapped(self, numbers):
        """{symbol: place} for planted.recording(): a sample in spot(number) hits that instruction."""
        return {self.spot(number): (self.path, self.address(number) - 5) for number in numbers}

    def spot(self, number):
        return b"%s+%d" % (self.name.encode(), number)
