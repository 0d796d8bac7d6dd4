# SPDX-License-Identifier: GPL-2.0-only
"""The walker's functions have room on the stack of a BPF program: 512 bytes for all that are active at a time, and eight of
them. Before Linux 6.13 the verifier refuses more; from then on x86-64 counts otherwise, so that a new kernel does not tell.
Older kernels round each function up to 32 bytes. Functions that bpf_loop() calls count like others.
"""
import pathlib
import struct

STACK_SIZE, ACTIVE, ROUND = 512, 8, 32
CALL, LOAD_64, PSEUDO_CALL, STACK_REGISTER = 0x85, 0x18, 1, 10
STT_FUNC, STT_SECTION, SHT_SYMTAB, SHT_REL, SHF_EXECINSTR = 2, 3, 2, 9, 4


class Object:
    """A BPF object's functions: {(section, offset): (size in bytes, name)}, and what they call."""

    def __init__(self, data):
        at, = struct.unpack_from("<Q", data, 0x28)
        count, = struct.unpack_from("<H", data, 0x3c)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * 64) for i in range(count)]
        self.code = {i: data[h[4]:h[4] + h[5]] for i, h in enumerate(headers) if h[1] == 1 and h[2] & SHF_EXECINSTR}
        table = next(h for h in headers if h[1] == SHT_SYMTAB)
        self.symbols = [struct.unpack_from("<IBBHQQ", data, table[4] + i * 24) for i in range(table[5] // 24)]
        names = headers[table[6]][4]
        self.functions = {(s[3], s[4]): (s[5], data[names + s[0]:data.index(b"\0", names + s[0])].decode())
                          for s in self.symbols if s[1] & 15 == STT_FUNC}
        self.relocations = {}
        for h in headers:
            for i in range(h[5] // 16 if h[1] == SHT_REL else 0):
                offset, info = struct.unpack_from("<QQ", data, h[4] + i * 16)
                self.relocations[h[7], offset] = self.symbols[info >> 32]

    def instructions(self, section, start, size):
        for at in range(start, start + size, 8):
            code, registers, offset, immediate = struct.unpack_from("<BBhi", self.code[section], at)
            yield at, code, registers & 15, registers >> 4, offset, immediate

    def depth(self, function):
        """The lowest byte of its stack that it uses: by an offset from the stack's register, or from a copy of it."""
        lowest, copies = 0, set()
        for _, code, to, source, offset, immediate in self.instructions(*function, self.functions[function][0]):
            memory = code & 7 in (1, 2, 3)
            if memory and (to if code & 7 != 1 else source) == STACK_REGISTER:
                lowest = min(lowest, offset)
            if code == 0xbf:
                (copies.add if source == STACK_REGISTER else copies.discard)(to)
            elif code == 0x07 and to in copies:
                lowest = min(lowest, immediate)
                copies.discard(to)
        return -lowest

    def calls(self, function):
        section, start = function
        for at, code, _, source, _, immediate in self.instructions(section, start, self.functions[function][0]):
            symbol = self.relocations.get((section, at))
            if code == CALL and source == PSEUDO_CALL:
                if not symbol:
                    yield section, at + 8 + immediate * 8
                else:
                    yield symbol[3], symbol[4] + (8 * (immediate + 1) if symbol[1] & 15 == STT_SECTION else 0)
            elif code == LOAD_64 and symbol and symbol[3] in self.code:
                yield symbol[3], symbol[4] + (immediate if symbol[1] & 15 == STT_SECTION else 0)


def deepest(program, function):
    """(bytes, functions) of the chain of calls that needs most of each."""
    below = [deepest(program, called) for called in program.calls(function)]
    size = max(1, -(-program.depth(function) // ROUND)) * ROUND
    return size + max((b for b, _ in below), default=0), 1 + max((n for _, n in below), default=0)


def test_room(kaa):
    build = pathlib.Path(kaa.command[0]).parent
    program = Object(next(build.glob("src/bpf/walker.bpf.o")).read_bytes())
    needs = {name: deepest(program, function) for function, (_, name) in program.functions.items()}
    assert any(name == "kaa_sample" for name in needs) and any(n > 3 for _, n in needs.values())
    assert all(size <= STACK_SIZE and active <= ACTIVE for size, active in needs.values()), needs
