# SPDX-License-Identifier: GPL-2.0-only
"""The C API for embedders: through ctypes in each interpreter, with the agent active and with the interpreter's own support,
and from a C program that embeds Python."""
import json
import os
import pathlib
import stat
import subprocess

import pytest

from harness import pythons
from harness.agent import Way, find_library
from harness.process import HANG, TOP, run

HERE = pathlib.Path(__file__).parent
COMPILER = os.environ.get("CC", "cc")


@pytest.fixture
def library(build_dir):
    return find_library(build_dir)


def entries(text):
    return [line.split(" ", 2) for line in text.splitlines()]


def check_perf_map(got):
    assert got["init"] == [0, None] and stat.S_IMODE(int(got["mode"], 8)) == 0o600
    assert got["write"] == [0] * 5 and got["null"] == [-1, "EINVAL"]
    assert got["lines"][:3] == ["1234 162e entry1", "3456 200000000 big", "0 0 "]
    assert got["lines"][3] == r"10 1 a\nb\tc\x1b\x7fnaïve"
    assert got["lines"][4].startswith("10 1 xxxx") and len(got["lines"]) == 5
    assert got["refused"] == [-1, "EEXIST", False]
    assert got["again"] == [0, "99 1 again"]
    copied, written, text = got["fork"]
    assert copied == written == 0
    assert entries(text)[-1] == ["7000", "7", "child"]
    assert text.count("1234 162e entry1\n") == 1 and "child" not in got["parent"]
    assert got["missing"] == [-1, "ENOENT"] and got["folder"] == [-1, "EINVAL"]
    assert got["inactive"] == [0, False] and "code object" in got["no code"]


def ways(python):
    """The agent's trampolines, and the interpreter's own if it has such."""
    return [False, True] if python.perf_trampoline else [False]


def test_in_an_interpreter(python, library):
    """Whosever the trampolines are: the perf map is one and the same."""
    for own in ways(python):
        check_interpreter(python, library, own)


def check_interpreter(python, library, own):
    way = Way(python, None if own else library)
    result = way.run([HERE / "embed_api.py", library])
    result.map.unlink()
    got = json.loads(result.stdout)
    check_perf_map(got)
    # CPython 3.12 has no function to compile a trampoline.
    if not own or python.version >= (3, 13):
        assert got["active"] == [0, 1, 0] and got["once"] == 1
        assert got["persist"] == [1, 1, 0]
    else:
        assert got["active"] == [0, 0, 0] and got["once"] == 1


def embedding(python, library, folder):
    """The program, linked with that interpreter's libpython, or None if there is none."""
    ask = "import sysconfig as s; print(s.get_config_var('LIBDIR')); print(s.get_config_var('LDLIBRARY'))"
    where, name = run([*python.command, "-c", ask]).stdout.splitlines()
    if python.prefix or not name.endswith(".so") or not pathlib.Path(where, name).exists():
        return None
    program = folder / f"embed-{python.id}"
    run([COMPILER, "-Wall", "-Werror", f"-I{TOP / 'include'}", TOP / "tests" / "live" / "programs" / "embed.c", "-o", program,
         f"-L{where}", f"-l:{name}", f"-Wl,-rpath,{where}", f"-L{library.parent}", "-l:libkaa_agent.so",
         f"-Wl,-rpath,{library.parent}"])
    return program


def test_in_a_program(library, tmp_path):
    """With each shared libpython that is here; those of the chroot cannot be linked with from outside."""
    programs = [(python, embedding(python, library, tmp_path)) for python in pythons.find()]
    assert any(program for _, program in programs), "the distribution's Python has a shared libpython"
    for python, program in programs:
        if program:
            check_program(python, program)


def check_program(python, program):
    home = run([*python.command, "-c", "import sys; print(sys.base_prefix)"]).stdout.strip()
    with subprocess.Popen([program], env={**os.environ, "PYTHONHOME": home}, stdout=subprocess.PIPE, text=True) as process:
        child = int(process.communicate(timeout=HANG)[0])
    assert process.returncode == 0
    parents, childs = (pathlib.Path(f"/tmp/perf-{pid}.map") for pid in (process.pid, child))
    names = [name for _, _, name in entries(parents.read_text())]
    # Whatever ends with the interpreter runs behind that.
    names = names[:names.index("after") + 1]
    assert names[0] == "before"
    assert sum(name.startswith("py::called:") for name in names) == 1
    # CPython 3.12 has no function for it.
    assert sum(name.startswith("py::never_called:") for name in names) == (python.version[:2] != (3, 12))
    assert [name for _, _, name in entries(childs.read_text())] == names + ["child"]
    parents.unlink()
    childs.unlink()
