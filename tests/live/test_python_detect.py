# SPDX-License-Identifier: GPL-2.0-only
"""What src/python finds in an interpreter's file, against what the dynamic linker has in a live one."""
import json
import pathlib
import shutil

import pytest

from harness import machine
from harness.probe import path
from harness.process import Program, run

# Prints where things are, and the file that holds the interpreter.
ASK = """
import ctypes, json, sys, types
def address(name): return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))
evaluates = "_PyEval_EvalFrameDefault" if sys.version_info > (3,) else "PyEval_EvalFrameEx"
runtime = "_PyRuntime" if sys.version_info > (3, 7) else "_PyThreadState_Current"
found = {"_PyRuntime": address(runtime), "PyCode_Type": address("PyCode_Type"), "_PyEval_EvalFrameDefault": address(evaluates)}
assert found["PyCode_Type"] == id(types.CodeType)
for line in open("/proc/self/maps"):
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    if start <= found["_PyEval_EvalFrameDefault"] < end:
        found["file"] = line.split()[5]
print(json.dumps(found))
"""


@pytest.fixture
def probe(request):
    return Program(path(request.config))


@pytest.fixture
def interpreter(python):
    """Addresses in a live process, and "file" as it is called from here."""
    found = json.loads(run([*python.command, "-c", ASK]).stdout)
    root = machine.chroot_path() if python.prefix else pathlib.Path("/")
    found["file"] = root / found["file"].lstrip("/")
    return found


def parse(output):
    """Fields by name; "eval" is a list of ranges."""
    fields = {"eval": []}
    for line in output.splitlines():
        name, *values = line.split()
        if name == "eval":
            fields["eval"].append([int(value, 16) for value in values])
        else:
            fields[name] = int(values[0], 16)
    return fields


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
def test_addresses_are_those_of_the_dynamic_linker(python, interpreter, probe):
    found = parse(probe("detect", interpreter["file"]).stdout)
    assert found["version"] == python.hexversion
    assert found["has_layout"] == 1
    bias = interpreter["_PyRuntime"] - found["runtime" if python.version >= (3, 7) else "current"]
    assert bias % 4096 == 0
    assert found["code_type"] + bias == interpreter["PyCode_Type"]
    entry = interpreter["_PyEval_EvalFrameDefault"] - bias
    assert any(start == entry for start, end in found["eval"])
    # All instructions are in these ranges.
    assert found["tail_calls"] or sum(end - start for start, end in found["eval"]) > 25000


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
def test_stripping_changes_nothing(interpreter, probe, tmp_path):
    stripped = tmp_path / "stripped"
    run(["strip", "-o", stripped, interpreter["file"]])
    before = parse(probe("detect", interpreter["file"]).stdout)
    after = parse(probe("detect", stripped).stdout)
    # Parts of some bytes that only end the process have nothing but their name.
    before["eval"] = [part for part in before["eval"] if part[1] - part[0] > 16]
    # What stands for the runtime of 3.6 begins with the lock, whose name is gone.
    if before["version"] >> 16 == 0x306:
        before["runtime"] = after["runtime"]
    assert after == before


def test_other_programs_are_no_interpreters(probe):
    for name in "sh", "ls":
        assert "not a CPython interpreter" in probe("detect", shutil.which(name), status=1).stderr
