# SPDX-License-Identifier: GPL-2.0-only
"""The agent on aarch64, emulated: its unit tests, and each kind of file in a real Python, whose stack, walked by frame
pointers, has to show the functions that run. `tests/tools/arm64 setup` makes what this needs."""
import json
import pathlib
import re
import struct

import pytest

from harness.process import TOP, Program, run

HERE = pathlib.Path(__file__).parent
TOOL = TOP / "tests" / "tools" / "arm64"
EM_AARCH64 = 183
# Bytes of a trampoline, and what the jitdump has of it.
TRAMPOLINE = bytes.fromhex("5f2403d5 fd7bbfa9 fd030091 60003fd6 fd7bc1a8 c0035fd6")


@pytest.fixture(scope="module")
def arm64():
    """A program that runs its words on aarch64."""
    found = run([TOOL, "path"], status=None)
    if found.status:
        pytest.skip(found.stderr.strip())
    run([TOOL, "build"])
    return Program(TOOL, "run")


def test_units(arm64):
    run([TOOL, "test"])


@pytest.fixture
def states(arm64, tmp_path):
    """states(backend): what arm64_stack.py printed, of the process and of its child."""
    root, built = (pathlib.Path(run([TOOL, word]).stdout.strip()) for word in ("path", "built"))
    library = tmp_path / "frame_pointers.so"
    run(["aarch64-linux-gnu-gcc", "-shared", "-nostdlib", "-fPIC", "-fno-omit-frame-pointer", "-o", library,
         TOP / "tests" / "live" / "programs" / "frame_pointers.c"])

    def states(backend):
        out = arm64("-E", f"LD_PRELOAD={built / 'src' / 'agent' / 'libkaa_agent.so'}", "-E", f"KAA_TRAMPOLINE_DIR={tmp_path}",
                    "-E", f"KAA_TRAMPOLINE_BACKEND={backend}", root / "usr" / "bin" / "python3.11", HERE / "arm64_stack.py", library)
        made = [json.loads(line) for line in out.stdout.splitlines()]
        assert len(made) == 2 and all(state["active"] for state in made)
        assert made[0]["pid"] != made[1]["pid"]
        return made
    return states


def own_functions(state, name_at):
    """The functions of arm64_stack.py on the stack, outermost first. Those that were running at the fork say so."""
    names = [name_at(address - 1) for address in reversed(state["stack"]) if address]
    return [re.match(r"py::(.*?)(?: \[forked\])?:", name)[1] for name in names if name and name.endswith("/arm64_stack.py")]


def lookup(entries):
    def name_at(address):
        return next((name for start, size, name in entries if start <= address < start + size), None)
    return name_at


def check(made, entries_of):
    for state in made:
        name_at = lookup(entries_of(state))
        assert own_functions(state, name_at) == ["<module>", "outer", "middle", "inner"]


def test_perf_map(states, tmp_path):
    def entries(state):
        for line in (tmp_path / f"perf-{state['pid']}.map").read_text().splitlines():
            start, size, name = line.split(" ", 2)
            yield int(start, 16), int(size, 16), name
    check(states("perf"), lambda state: list(entries(state)))


def jitdump_loads(data):
    """(address, size, name, code) of each JIT_CODE_LOAD."""
    magic, version, size, machine = struct.unpack_from("<4I", data)
    assert (magic, version, size, machine) == (0x4A695444, 1, 40, EM_AARCH64)
    at = size
    while at < len(data):
        kind, size = struct.unpack_from("<2I", data, at)
        if kind == 0:
            address, code_size = struct.unpack_from("<2Q", data, at + 32)
            end = data.index(b"\0", at + 56)
            yield address, code_size, data[at + 56:end].decode(), data[end + 1:end + 1 + code_size]
        at += size
    assert at == len(data)


def test_jitdump(states, tmp_path):
    def entries(state):
        loads = list(jitdump_loads((tmp_path / f"jit-{state['pid']}.dump").read_bytes()))
        assert all(code.startswith(TRAMPOLINE) for *_, code in loads)
        assert len({code for *_, code in loads}) == len(loads)
        return [load[:3] for load in loads]
    check(states("perf_jit"), entries)


def image_symbols(path, base):
    read = run(["readelf", "-W", "-h", "-S", "-s", "--debug-dump=frames", path])
    assert read.stderr == "" and re.search(r"Machine: +AArch64", read.stdout)
    for value, size, name in re.findall(r"^ *\d+: ([0-9a-f]{16}) +(\d+) FUNC .* (py::.*)$", read.stdout, re.M):
        yield base + int(value, 16), int(size), name


def test_elf_image(states):
    """The child's stack has functions of both, those from before the fork in the parent's image."""
    def entries(state):
        mapped = re.findall(r"^([0-9a-f]+)-\S+ r-xp 00000000 .* (/\S*/kaa-\d+-\d+-[0-9a-f]+\.elf)$", state["maps"], re.M)
        assert mapped
        return [entry for base, path in mapped for entry in image_symbols(path, int(base, 16))]
    check(states("perf_elf"), entries)
