# SPDX-License-Identifier: GPL-2.0-only
"""kaa where processes have other numbers than the kernel's own, as in a container."""
import re
import subprocess

import pytest

from harness import machine
from harness.chance import most
from harness.noticed import noticed_in
from harness.process import HANG, run, started
from harness.script_output import parse
from harness.waiting import until, until_busy

PID_NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]


@pytest.mark.parametrize("depth", [1, 2])
def test_python_frames_inside_pid_namespaces(bpf, kaa, newest_python, scripts, tmp_path, depth):
    data = tmp_path / "perf.data"
    inside = kaa.inside([*noticed_in(data), *PID_NAMESPACE * depth])
    inside("record", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", newest_python.path,
           scripts / "doc_script.py", "0.6")
    samples = parse(kaa("script", "-i", data).stdout)
    # What could not be read to its end says so.
    stacks = [[name for name, _, _ in sample.python] if not sample.markers else [] for sample in samples]
    inner = [stack for stack in stacks if "foo" in stack]
    assert len(inner) > 20
    assert all(stack[-4:] == ["<module>", "baz", "bar", "foo"] for stack in inner)
    # Without the interpreter's start and end.
    has = ["foo" in stack for stack in stacks]
    between = len(has) - has[::-1].index(True) - has.index(True)
    assert between - len(inner) <= most(0.02, between), (len(inner), between)


def test_neighbours_with_the_same_numbers(bpf, kaa, newest_python, tmp_path):
    """The processes of another namespace, whatever they do, leave those that have their numbers here alone."""
    ready, done, data = tmp_path / "ready", tmp_path / "done", tmp_path / "perf.data"
    script = tmp_path / "waits.py"
    script.write_text(f"""
import pathlib, time
def after():
    end = time.thread_time() + 0.5
    while time.thread_time() < end:
        pass
pathlib.Path({str(ready)!r}).touch()
while not pathlib.Path({str(done)!r}).exists():
    time.sleep(0.01)
after()
""")
    words = ["record", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", newest_python.path, script]
    with kaa.inside([*noticed_in(data), *PID_NAMESPACE]).start(*words) as recorder:
        until(ready.exists, "that the program waits")
        run([*PID_NAMESPACE, "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do /bin/true; done"])
        done.touch()
        assert recorder.wait(timeout=HANG) == 0
    samples = parse(kaa("script", "-i", data).stdout)
    named = [sample for sample in samples if any(name == "after" for name, _, _ in sample.python)]
    assert len(named) > 15, f"{len(named)} of {len(samples)}"


@pytest.mark.parametrize("inside", [PID_NAMESPACE, []], ids=["container", "machine"])
def test_processes_outside_are_said(bpf, kaa, newest_python, tmp_path, inside):
    """Most of the machine has no number in a container: kaa says why those stacks are short. Outside nobody is told that."""
    if not inside and machine.is_container():
        pytest.skip("these tests run in a PID namespace, where kaa says it of the machine outside, too")
    data, ready, done = (tmp_path / name for name in ("perf.data", "ready", "done"))
    waits = ["sh", "-c", 'until [ -e "$1" ]; do sleep 0.05; done', "sh", done]
    words = ["record", "-a", "-e", "cpu-clock", "-F", "499", "-g", "-o", data, "--", "sh", "-c",
             'touch "$1"; shift; exec "$@"', "sh", ready, *waits]
    with started([newest_python.path, "-c", "while True: sum(range(1000))"]) as process:
        with kaa.inside(inside).start(*words, stderr=subprocess.PIPE, text=True) as recorder:
            until(ready.exists, "that kaa records")
            until_busy(process.pid, 0.5)
            done.touch()
            said = recorder.communicate(timeout=HANG)[1]
    assert recorder.returncode == 0, said
    found = re.search(r"(\d+) samples? \([\d.]+ %\) (is of a process|are of processes) outside this container", said)
    assert bool(found) == bool(inside), said
