# SPDX-License-Identifier: GPL-2.0-only
"""What `kaa record` sees of each CPython, against what the recorded program knows of itself."""
import bisect
import collections
import pathlib
import re
import signal
import subprocess

import pytest

from harness import script_output
from harness.chance import most
from harness.noticed import noticed_in
from harness.process import HANG
from harness.waiting import innermost_child, process_state, until, until_busy, while_busy

pytestmark = pytest.mark.usefixtures("bpf")

# Where a thread begins, as far as libraries name it.
STARTS = {"_start", "clone", "__clone", "clone3", "__clone3", "_dl_start_user", "start_thread"}
TRUNCATED = "[truncated stack]"


def record(kaa, path, *words, frequency=999, options=()):
    return kaa.inside(noticed_in(path))("record", "-F", str(frequency), "-g", "-o", path, *options, "--", *words)


def samples_of(kaa, path, comm=None):
    """The samples of a recording, with lines; of the threads with that name only."""
    text = kaa("script", "--no-inline", "-F", "+srcline", "-i", path).stdout
    return [sample for sample in script_output.parse(text) if not comm or sample.comm.startswith(comm)]


def after_start(samples, function):
    """The samples between the first and the last that have the function."""
    has = [any(frame.python_name[0] == function for frame in sample.frames if frame.is_python) for sample in samples]
    assert any(has), f"no sample has {function}: {samples[:3]}"
    return samples[has.index(True):len(has) - has[::-1].index(True)]


def python_part(samples, script):
    """From the first sample that has a function of the script to the last, without the threads of others."""
    has = [any(frame.is_python and frame.python_name[1].endswith(script) for frame in sample.frames)
           for sample in samples]
    assert any(has), f"no sample of {script}"
    return samples[has.index(True):len(has) - has[::-1].index(True)]


def is_complete(sample):
    return sample.markers == [] and bool(sample.frames) and sample.frames[-1].symbol in STARTS | {"[unknown]"}


def test_documentation_script(kaa, python, scripts, tmp_path):
    """<module> -> baz -> bar -> foo, with the right lines, in at least 99.5 % of the samples after start-up, but for chance."""
    script = scripts / "doc_script.py"
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, script, "1.2", frequency=1999)
    samples = after_start(samples_of(kaa, data), "foo")
    assert len(samples) > 100, f"only {len(samples)} samples"
    lines = {"<module>": {23}, "baz": {14}, "bar": {10}, "foo": {2, 3, 4, 5, 6}}

    def is_right(sample):
        names = [name for name, _, _ in sample.python]
        return names == ["<module>", "baz", "bar", "foo"] and all(
            line in lines[name] and file.endswith("doc_script.py") for name, file, line in sample.python)

    wrong = [sample for sample in samples if not is_right(sample)]
    assert len(wrong) <= most(0.005, len(samples)), f"{len(wrong)} of {len(samples)}: {wrong[:3]}"
    hot = collections.Counter(sample.python[-1][2] for sample in samples if is_right(sample))
    assert set(line for line, _ in hot.most_common(2)) == {4, 5}, hot


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_shapes(kaa, python, scripts, oracle_of, tmp_path):
    """Every stack, whole and in order, is one that the script can have; 99.9 % are complete."""
    script = python.script(scripts / "shapes.py")
    # One round has all of its stacks.
    oracle = oracle_of(python, script, "0")
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, script, "1.5", frequency=1999)
    samples = python_part(samples_of(kaa, data), script.name)
    concerned = [sample for sample in samples if oracle.concerns(sample.python)]
    assert len(concerned) > 100
    problems = [(problem, sample.python[-6:]) for sample in concerned
                for problem in [oracle.problem(sample.python)] if problem and not sample.markers]
    assert not problems, f"{len(problems)} of {len(concerned)}: {problems[:5]}"
    incomplete = [sample for sample in concerned
                  if "[unreadable Python frames]" in sample.markers or "[Python stack not aligned]" in sample.markers]
    assert len(incomplete) <= most(0.001, len(concerned)), f"{len(incomplete)} of {len(concerned)}: {incomplete[:2]}"


def test_raw_stacks_have_no_python_and_it_is_said(kaa, newest_python, scripts, tmp_path):
    """They are for other tools."""
    data, command = tmp_path / "perf.data", [*newest_python.command, scripts / "doc_script.py", "0.3"]
    said = kaa("record", "--call-graph", "dwarf", "-o", data, "--", *command).stderr
    assert "no sample has Python frames: '--call-graph dwarf' keeps raw stacks for other tools, and '-g' has" in said
    said = kaa("report", "--stdio", "-i", data).stdout
    assert re.search("No stack has Python frames: '--call-graph dwarf' .* record -g' records Python frames", said) and "doctor" not in said
    # Nothing of Python ran; trampolines are frames in raw stacks, too.
    assert "raw stacks" not in kaa("record", "--call-graph", "dwarf", "-o", tmp_path / "true", "--", "true").stderr
    assert "raw stacks" not in kaa("record", "--call-graph", "dwarf", "--python=trampoline", "-o", data, "--", *command).stderr


@pytest.mark.few_versions
def test_recursion_60_is_complete(kaa, python, scripts, tmp_path):
    """60 deep, both stacks are whole, down to _start, also where C recurses with Python."""
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, scripts / "deep.py", "60", "1.5")
    samples = python_part(samples_of(kaa, data), "deep.py")
    assert len(samples) > 50
    incomplete = [sample for sample in samples if not is_complete(sample)]
    assert len(incomplete) <= most(0.001, len(samples)), f"{len(incomplete)} of {len(samples)}: {incomplete[:2]}"
    deep = [sample for sample in samples if is_complete(sample) and sample.python and sample.python[-1][0] == "work"]
    assert deep
    for sample in deep:
        assert [name for name, _, _ in sample.python] == ["<module>"] + ["descend"] * 61 + ["work"]


@pytest.mark.few_versions
@pytest.mark.parametrize("depth", [500, 1000])
def test_deep_recursion_has_the_whole_python_stack(kaa, python, scripts, tmp_path, depth):
    """Python frames are all there, and a native stack that goes beyond what was copied says so."""
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, scripts / "deep.py", str(depth), "1", frequency=499)
    samples = python_part(samples_of(kaa, data), "deep.py")
    deep = [sample for sample in samples if sample.python and sample.python[-1][0] == "work"]
    assert len(deep) > 20
    expected = ["<module>"] + ["descend"] * (depth + 1) + ["work"]
    wrong = [sample for sample in deep if [name for name, _, _ in sample.python] != expected]
    assert len(wrong) <= most(0.001, len(deep)), f"{len(wrong)} of {len(deep)}: {[len(s.python) for s in wrong[:5]]}"
    unmarked = [sample for sample in samples if not is_complete(sample) and TRUNCATED not in sample.markers]
    assert all(sample.markers for sample in unmarked) and len(unmarked) <= most(0.001, len(samples)), unmarked


@pytest.mark.few_versions
def test_cpythons_own_switch(kaa, python, scripts, tmp_path):
    """With -X perf the perf map's names stand in the stacks, on builds without frame pointers too.

    A CPython that does not know the switch ignores it: then its frames are seen as ever."""
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, "-X", "perf", scripts / "doc_script.py", "0.5", frequency=9999)
    text = kaa("script", "-i", data).stdout
    samples = after_start(script_output.parse(text), "foo")
    if not python.perf_trampoline:
        right = [sample for sample in samples
                 if [name for name, _, _ in sample.python] == ["<module>", "baz", "bar", "foo"]]
        assert len(samples) - len(right) <= most(0.01, len(samples)), f"{len(right)} of {len(samples)}"
        assert not any(frame.dso.endswith(".map") for sample in samples for frame in sample.frames)
        return

    def map_names(sample):
        return [frame.python_name[0] for frame in sample.frames if frame.is_python and frame.dso.endswith(".map")]

    wrong = [sample for sample in samples if map_names(sample)[-4:] != ["foo", "bar", "baz", "<module>"]]
    assert len(samples) > 200
    assert len(wrong) <= most(0.01, len(samples)), f"{len(wrong)} of {len(samples)}: {[wrong[0], wrong[len(wrong) // 2], wrong[-1]]}"
    # What leads from one Python function to the next is folded. The evaluator has work of its own too, the first time that
    # it sees a function, but this one's samples are of the time after that.
    report = kaa("report", "--stdio", "--no-children", "--symbol-filter=py::foo:", "-g", "caller", "-i", data).stdout
    assert report.count("py::bar:") and "py_trampoline_evaluator" not in report


def test_code_that_is_gone_when_its_samples_are_unwound(kaa, python, scripts, tmp_path):
    """The recorder comes to samples late, when the process has ended: trampolines of -X perf are remembered.

    A CPython that does not know the switch ignores it."""
    data = tmp_path / "perf.data"
    with kaa.inside(noticed_in(data)).start("record", "-F", "999", "-g", "-o", data, "--", *python.command, "-X", "perf",
                                            scripts / "ends_unseen.py", data, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
        assert recorder.stdout.readline() == b"ready\n"
        program = innermost_child(recorder.pid)
        assert recorder.stdout.readline() == b"waits\n"
        until(lambda: process_state(program) == "S", "that the program waits")
        recorder.send_signal(signal.SIGSTOP)
        try:
            recorder.stdin.write(b"\n")
            recorder.stdin.close()
            recorder.stdin = None
            until(lambda: process_state(program) == "Z", "that the program ends")
        finally:
            recorder.send_signal(signal.SIGCONT)
        recorder.communicate(timeout=HANG)
    samples = after_start(script_output.parse(kaa("script", "-i", data).stdout), "spin")
    names = [[frame.python_name[0] for frame in sample.frames
              if frame.is_python and frame.dso.endswith(".map") == python.perf_trampoline] for sample in samples]
    assert len(samples) > 30
    right = [some for some in names if some == ["spin", "main", "<module>"]]
    assert len(samples) - len(right) <= most(0.01, len(samples)), (len(right), len(samples), [sample for sample in samples if TRUNCATED in sample.markers][:2])


@pytest.mark.few_versions
@pytest.mark.and_free_threaded
def test_threads_and_forks(kaa, python, scripts, tmp_path):
    """Threads and forked children are followed; each has its own stack."""
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, scripts / "spread.py", "0.4")
    seen = collections.defaultdict(set)
    for sample in samples_of(kaa, data):
        for name, _, _ in sample.python:
            if name.startswith("in_"):
                seen[name].add(sample.tid)
    assert {name: len(tids) for name, tids in seen.items()} == {"in_thread": 1, "in_child": 1, "in_main": 1}
    assert len(set.union(*seen.values())) == 3


@pytest.mark.few_versions
def test_attach(kaa, python, scripts, tmp_path):
    """A running process is seen from the first sample on, and runs on."""
    data = tmp_path / "perf.data"
    with python.running(scripts / "shapes.py", "1000") as (target, pid):
        # Python's own modules are read by then.
        until_busy(pid, 0.5)
        recorder = kaa("record", "-F", "999", "-g", "-o", data, "-p", pid, "--", *while_busy(pid, 0.8))
        assert target.poll() is None
        until_busy(pid, 0.1)
        assert target.poll() is None
    samples = samples_of(kaa, data)
    unread = [sample for sample in samples if not sample.python]
    assert len(samples) > 20
    assert len(unread) <= most(0.05, len(samples)), (
        recorder.stderr, [round(sample.time - samples[0].time, 4) for sample in unread], unread[:3])


@pytest.mark.few_versions
@pytest.mark.parametrize("mode", ["file", "lines"])
def test_memory_of_code_is_used_again(kaa, python, scripts, tmp_path, mode):
    """A function that lies where another one lay never gets the other's name or lines."""
    data, log = tmp_path / "perf.data", tmp_path / "log"
    record(kaa, data, *python.command, scripts / "generated.py", mode, "1", log, frequency=1999,
           options=["-k", "monotonic"])
    made = []
    for entry in log.read_text().splitlines():
        began, ended, filename, line = entry.split()
        made.append((float(began), float(ended), filename, int(line)))
    starts = [began for began, _, _, _ in made]
    checked, in_loop, wrong = 0, 0, []
    for sample in samples_of(kaa, data):
        began, ended, filename, loop = made[max(0, bisect.bisect(starts, sample.time) - 1)]
        if not sample.python or sample.python[-1][0] != "work" or not began + 1e-4 < sample.time < ended - 1e-4:
            continue
        checked += 1
        _, file, line = sample.python[-1]
        # The statements around the loop take next to no time, but some, and a call begins in the line of the def.
        if file != filename or not 1 <= line <= loop + 1:
            wrong.append((sample.time, file, line, filename, loop))
        in_loop += line == loop
    assert checked > 20
    assert not wrong, f"{len(wrong)} of {checked}: {wrong[:3]}"
    assert checked - in_loop <= most(0.1, checked)


def made_functions(log):
    """(began, ended, name, file, line of the loop) of each function that a program made, in order."""
    entries = [entry.split() for entry in log.read_text().splitlines()]
    return [(float(began), float(ended), name, file, int(line)) for began, ended, name, file, line in entries]


def check_made_functions(samples, made, least):
    """Each sample within a function has its name, file and lines; at least so many have one."""
    starts = [began for began, *_ in made]
    checked, wrong = 0, []
    for sample in samples:
        began, ended, *told, loop = made[max(0, bisect.bisect(starts, sample.time) - 1)]
        leaf = sample.python[-1] if sample.python else ("", "", 0)
        if not leaf[0].startswith("work_") or not began + 1e-4 < sample.time < ended - 1e-4:
            continue
        checked += 1
        # The loop has two lines; a call begins in the line of the def.
        if list(leaf[:2]) != told or leaf[2] not in (1, loop - 1, loop, loop + 1):
            wrong.append((sample.time, leaf, told, loop))
    assert checked >= least, f"{checked} of {len(samples)}"
    assert not wrong, f"{len(wrong)} of {checked}: {wrong[:3]}"


@pytest.mark.few_versions
@pytest.mark.parametrize("mode", ["exec", "replace", "reload", "programs", "interpreters"])
def test_functions_of_one_shape(kaa, python, scripts, tmp_path, mode):
    """However code comes and goes, with the same addresses and numbers: it never has the name of what was there before."""
    data, log = tmp_path / "perf.data", tmp_path / "log"
    record(kaa, data, *python.command, "-S", scripts / "churn.py", mode, "1", log, frequency=1999, options=["-k", "monotonic"])
    check_made_functions(samples_of(kaa, data), made_functions(log), 20)


RUNTIME = """
import time
name = "work_%06d" % number
made = {}
exec(compile("def " + name + "(end, now):\\n  while now() < end:\\n    pass\\n", "/tmp/" + name + ".py", "exec"), made)
began = time.monotonic()
made[name](time.process_time() + 0.01, time.process_time)
with open(LOG, "a") as log:
    log.write("%.6f %.6f %s /tmp/%s.py 2\\n" % (began, time.monotonic(), name, name))
"""


def test_functions_of_one_shape_in_one_runtime_after_the_other(kaa, python, tmp_path):
    """A program with Python in it may end it and begin again: versions are counted anew, the addresses are the same."""
    data, log, program = tmp_path / "perf.data", tmp_path / "log", tmp_path / "host"
    if not python.shared or python.prefix:
        pytest.skip("it has no library, or one for another C library")
    source = pathlib.Path(__file__).parent / "programs" / "runtimes.c"
    subprocess.run(["cc", "-o", program, source, python.file, f"-Wl,-rpath,{python.file.parent}"], check=True)
    prefix = subprocess.run([python.path, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True,
                            check=True).stdout.strip()
    record(kaa, data, "env", f"PYTHONHOME={prefix}", program, "20", RUNTIME.replace("LOG", repr(str(log))), frequency=1999,
           options=["-k", "monotonic"])
    check_made_functions(samples_of(kaa, data), made_functions(log), 20)


def test_children_with_code_at_the_same_place(kaa, python, tmp_path):
    """Children of one process lay different functions where it had nothing yet: each has its own names."""
    data, script = tmp_path / "perf.data", tmp_path / "siblings.py"
    script.write_text('''
import os
SOURCE = """
import time
def of_child_%d():
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
of_child_%d()
"""
for number in range(4):
    pid = os.fork()
    if not pid:
        exec(compile(SOURCE % (number, number), "child_%d.py" % number, "exec"))
        os._exit(0)
    os.waitpid(pid, 0)
''')
    record(kaa, data, *python.command, script, frequency=1999)
    names = collections.defaultdict(set)
    for sample in samples_of(kaa, data):
        names[sample.tid] |= {(name, file) for name, file, _ in sample.python if name.startswith("of_child_")}
    found = sorted(sorted(of_child) for of_child in names.values() if of_child)
    assert found == [[(f"of_child_{number}", f"child_{number}.py")] for number in range(4)]


@pytest.mark.few_versions
def test_thread_with_two_states(kaa, python, scripts, tmp_path):
    """A thread that runs code in another interpreter is seen there, and afterwards in its own."""
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, scripts / "subinterpreter.py")
    leaves = [sample.python[-1][0] for sample in samples_of(kaa, data) if sample.python]
    first, last = leaves.index("inside"), len(leaves) - leaves[::-1].index("outside")
    between = leaves[first:last]
    assert between.count("inside") > 10 and between.count("outside") > 10
    wrong = [leaf for leaf in between if leaf not in ("inside", "outside", "<module>")]
    assert len(wrong) <= most(0.01, len(between)), collections.Counter(between)
    switch = between.index("outside")
    assert "outside" not in between[:switch] and "inside" not in between[switch:]


def test_interpreters_inside_each_other(kaa, python, scripts, tmp_path):
    """From 3.10 on the frames of all of them, as they lie on the C stack. Before, those of the innermost, and a mark."""
    data = tmp_path / "perf.data"
    record(kaa, data, *python.command, scripts / "nested_interpreters.py")
    samples = [sample for sample in samples_of(kaa, data) if sample.python and sample.python[-1][0] == "inside"]
    assert len(samples) > 10
    own = ["<module>", "inside"]
    whole = ["<module>", "outside", "<module>", "between", *own]
    wrong = [sample for sample in samples
             if [name for name, _, _ in sample.python] != (whole if python.version >= (3, 10) else own)
             or ("[Python stack not aligned]" in sample.markers) != (python.version < (3, 10))]
    assert len(wrong) <= most(0.01, len(samples)), wrong[:2]
