# SPDX-License-Identifier: GPL-2.0-only
"""Files that a program removes while it runs, as one that unpacks itself does: their functions have the names that they have
where the file is still there. The oracle is the same recording, read again when the file has been put back."""
import re
import shutil
import subprocess

import pytest

from harness.chance import most
from harness.process import run, started
from harness.script_output import METHOD, parse
from harness.waiting import until, while_busy

pytestmark = pytest.mark.usefixtures("bpf")

PROGRAM = """
import os, sys, time
removed, seconds = sys.argv[1], float(sys.argv[2])
os.unlink(removed)
def work():
    end = time.process_time() + seconds
    while time.process_time() < end:
        sorted([str(number) for number in range(300)])
work()
"""
UNKNOWN = "[unknown]"


@pytest.fixture
def copied(python, tmp_path):
    """(words that run a copy of the interpreter, which removes itself, and the file with its code)."""
    if python.prefix:
        pytest.skip("the file is one of the chroot")
    file = tmp_path / python.file.name
    script = tmp_path / "remove.py"
    shutil.copy(python.file, file)
    script.write_text(PROGRAM)
    if python.shared:
        return ["env", f"LD_LIBRARY_PATH={tmp_path}", python.path, script, file], file
    home = run([python.path, "-c", "import sys; print(sys.base_prefix)"]).stdout.strip()
    return ["env", f"PYTHONHOME={home}", file, script, file], file


def samples_of(kaa, data):
    return parse(kaa("script", "--no-inline", "-i", data).stdout)


@pytest.mark.few_versions
def test_names_are_those_of_the_file(kaa, python, copied, tmp_path):
    words, file = copied
    data = tmp_path / "perf.data"
    kaa("record", "-q", "-F", "1999", "-g", "-o", data, "--", *words, "0.5")
    assert not file.exists()
    gone = samples_of(kaa, data)
    shutil.copy(python.file, file)
    back = samples_of(kaa, data)
    assert len(gone) == len(back)
    pairs = [(one, other) for a, b in zip(gone, back) for one, other in zip(a.frames, b.frames) if other.dso == str(file)]
    assert len(pairs) > 200
    # Of code that no symbol covers only the file tells where it begins, or what Python calls it.
    other = {(one.symbol, same.symbol) for one, same in pairs if one.symbol != same.symbol}
    assert all(one == UNKNOWN and (same.startswith(file.name) or re.fullmatch(METHOD, same)) for one, same in other), other
    assert all((one.ip, one.dso) == (same.ip, same.dso) for one, same in pairs)
    if python.unstripped:
        assert len([one for one, _ in pairs if one.symbol == UNKNOWN]) <= most(0.02, len(pairs)), other


@pytest.mark.few_versions
def test_removed_before_the_recording(kaa, python, copied, tmp_path):
    words, file = copied
    data = tmp_path / "perf.data"
    with started([*words, "100"], stderr=subprocess.DEVNULL) as process:
        until(lambda: not file.exists(), "that the program has removed its file")
        kaa("record", "-q", "-F", "1999", "-g", "-o", data, "-p", str(process.pid), "--", *while_busy(process.pid, 0.4))
    frames = [frame for sample in samples_of(kaa, data) for frame in sample.frames if frame.dso.startswith(str(file))]
    assert len(frames) > 100
    symbols = {frame.symbol for frame in frames}
    assert "list_sort" in symbols or not python.unstripped, symbols
    unknown = [frame for frame in frames if frame.symbol == UNKNOWN]
    assert len(unknown) <= most(0.02 if python.unstripped else 0.9, len(frames)), (len(unknown), len(frames))
