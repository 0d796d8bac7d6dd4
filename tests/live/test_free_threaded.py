# SPDX-License-Identifier: GPL-2.0-only
"""Free-threaded CPythons: threads that run Python at the same time, and no GIL. Other modules have cases of theirs, too
(the mark and_free_threaded)."""
import json
import re
import subprocess

import pytest

from harness import parameters, pythons, script_output
from harness.chance import most
from harness.noticed import noticed_in
from harness.process import started

# What a frame of these may be called by, in at_once.py; a thread's own function is under `run`.
CALLERS = {"spin": {"work"}, "take": {"work"}, "handed": {"take"}, "work": {f"run_{which}" for which in range(4)}}
NO_GIL = "is a free-threaded build: there is no GIL that a thread could have"


def pytest_generate_tests(metafunc):
    if "free_threaded" in metafunc.fixturenames:
        found = pythons.chosen(pythons.free_threaded()[0], metafunc.config.getoption("--python"))
        metafunc.parametrize("free_threaded", parameters.of_pythons(found))


def own_lines(script):
    """Line to the number of the thread that alone is ever there."""
    texts = enumerate(script.read_text().splitlines(), 1)
    return {number: found[1] for number, text in texts for found in [re.search(r"# (\d)$", text)] if found}


def function_lines(script):
    """Function to the lines between its `def` and the next one."""
    found, name = {}, None
    for number, text in enumerate(script.read_text().splitlines(), 1):
        if not text.startswith((" ", "#")) and text:
            start = re.match(r"def (\w+)\(", text)
            name = start and start[1]
        if name:
            found.setdefault(name, set()).add(number)
    return found


def problem(stack, tid, told, own, lines):
    """What is wrong with a stack of at_once.py, outermost first; None: nothing."""
    names = [name for name, _, _ in stack]
    ran = [name for name in names if name.startswith("run_")]
    if ran and ran != [told.get(str(tid))]:
        return f"that of another thread: {ran}"
    for caller, name in zip(names, names[1:]):
        if name in CALLERS and caller not in CALLERS[name]:
            return f"{name} called by {caller}"
    for name, file, line in stack:
        if not file.endswith("at_once.py") or name not in lines:
            continue
        if line not in lines[name]:
            return f"line {line} is none of {name}"
        if line in own and ran and own[line] != ran[0][-1]:
            return f"line {line} is another thread's"
    return None


@pytest.mark.parametrize("source", ["bpf", "poll"])
def test_each_stack_is_of_its_own_thread(request, kaa, free_threaded, scripts, tmp_path, source):
    """Functions, callers and lines, though all threads run the same code, each a copy of its instructions."""
    if source == "bpf":
        request.getfixturevalue("bpf")
    data, script = tmp_path / "perf.data", scripts / "at_once.py"
    told = json.loads(kaa.inside(noticed_in(data))("record", f"--python={source}", "-F", "1999", "-o", data, "--", free_threaded.path, script, "0.5").stdout)
    assert sorted(told.values()) == [f"run_{which}" for which in range(4)]
    own, lines, seen = own_lines(script), function_lines(script), {}
    samples = script_output.parse(kaa("script", "--no-inline", "-F", "+srcline", "-i", data).stdout)
    # On a busy machine kaa notices late that a Python has started.
    samples = samples[[bool(sample.python) for sample in samples].index(True):]
    for sample in samples:
        if not sample.markers:
            assert not (wrong := problem(sample.python, sample.tid, told, own, lines)), (wrong, sample)
        for name, _, line in sample.python:
            seen.setdefault(name, set()).add(own.get(line))
    marked = [sample for sample in samples if {"[unreadable Python frames]", "[Python stack not aligned]"} & set(sample.markers)]
    assert len(marked) <= most(0.02, len(samples)), marked[:3]
    # The oracle was asked: of each thread its own lines, and of the generators.
    assert seen["spin"] >= {"0", "1", "2", "3"} and "handed" in seen, seen


def test_there_is_no_gil(kaa, free_threaded, tmp_path):
    """--mode gil says so, where the threads have not been told to take it."""
    program, data = "end = __import__('time').process_time() + 1.5\nwhile __import__('time').process_time() < end: pass", tmp_path / "data"

    def said_of(*options):
        said = kaa("record", "--mode", "gil", "-o", data, "--", free_threaded.path, *options, "-c", program, status=None).stderr
        found = re.search(r": [\d.]+ KiB, (\d+) samples?, ", said)
        return said, int(found[1]) if found else 0

    said, few = said_of()
    with_gil, many = said_of("-X", "gil=1")
    # While a module is imported that does not say that it needs none, there is one, also if no look finds a thread with it.
    assert NO_GIL in said or few < many / 4, (said, with_gil)
    assert NO_GIL not in with_gil and many > 50, with_gil
    assert " with the GIL" in kaa("report", "--stdio", "-i", data).stdout


@pytest.mark.parametrize("gil", [False, True])
def test_dump_says_whether_there_is_one(kaa, free_threaded, scripts, gil):
    command = [*free_threaded.command, *["-X", "gil=1"] * gil, scripts / "parked.py"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        told = json.loads(process.stdout.readline())
        assert json.loads(kaa("dump", "--json", told["pid"]).stdout)["gil"] == gil
        text = kaa("dump", told["pid"]).stdout
    assert ("none held the GIL" if gil else "there is no GIL") in text


def test_doctor_says_what_it_is(kaa, free_threaded):
    said = kaa("doctor", free_threaded.path, status=None).stdout
    assert "GIL: no, a free-threaded build" in said
    assert re.search(r"Python frames: from source (bpf|poll)", said), said
