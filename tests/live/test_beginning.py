# SPDX-License-Identifier: GPL-2.0-only
"""Threads and children that begin while kaa records are walked from their first sample, whatever the event."""
import collections
import os
import re
import signal
import subprocess

import pytest

from harness import pythons, script_output
from harness.bpf_stats import process_map
from harness.machine import TRACEFS
from harness.process import HANG, TOP, run
from harness.waiting import until, until_busy, until_recorded, while_busy

pytestmark = pytest.mark.usefixtures("bpf", "root")

COMM = "kaa-beginning"
# A thread or a child in no time, again and again; argument 2: as `record` starts it, the file, in which it is noticed.
PROGRAM = f"""
import mmap, os, subprocess, sys, threading, time
open("/proc/self/comm", "w").write("{COMM}")

def touch():
    with mmap.mmap(-1, 4 * mmap.PAGESIZE) as pages:
        for at in range(0, len(pages), mmap.PAGESIZE):
            pages[at] = 1

def work():
    sum(range(3000))
    touch()
    time.sleep(0.0001)

def threads():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

def forks():
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    os.waitpid(pid, 0)

def commands():
    subprocess.run(["true"])
    touch()

def until_noticed(path):
    # The first round may be one that began before this program did.
    for _ in range(3):
        size = os.path.getsize(path)
        while os.path.getsize(path) == size:
            touch()
            time.sleep(0.001)

begin = globals()[sys.argv[1]]
if len(sys.argv) > 2:
    until_noticed(sys.argv[2])
    print(time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
    end = time.process_time() + 0.1
    while time.process_time() < end:
        begin()
while len(sys.argv) == 2:
    begin()
"""
SOFTWARE = ["cpu-clock", "context-switches", "page-faults"]
TRACEPOINTS = ["sched:sched_switch", "sched:sched_wakeup", "sched:sched_process_fork", "sched:sched_process_exit",
               "raw_syscalls:sys_enter", "exceptions:page_fault_user"]
UNREADABLE = "[unreadable Python frames]"
# Evaluation calls have no frame in their first and last instructions, at which pages are touched, too. And the kernel runs no
# BPF program at a tracepoint in an interrupt that interrupts one: the more recorders there are, the more such wakeups.
MAY_BE_WITHOUT = 0.15


def families():
    """The newest interpreter outside the chroot, and the newest whose frames hang on the C stack (before 3.12)."""
    outside = [python for python in pythons.find() if not python.prefix]
    return sorted({[*family][-1] for family in (outside, [python for python in outside if python.version < (3, 12)])
                   if family}, key=lambda python: python.version)


@pytest.fixture(params=families(), ids=lambda python: python.id)
def either_python(request):
    return request.param


@pytest.fixture(scope="module")
def events():
    """Those that this kernel has."""
    return SOFTWARE + [event for event in TRACEPOINTS
                       if not run([*TRACEFS, "test", "-d", f"/sys/kernel/tracing/events/{event.replace(':', '/')}"],
                                  status=None).status]


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(params=["threads", "forks", "commands"])
def kind(request):
    return request.param


def check(kaa, data, events, since=0):
    """Python frames wherever there is an evaluation call."""
    text = kaa("script", "--no-inline", "-c", COMM, "-i", data).stdout
    samples = [sample for sample in script_output.parse(text) if sample.time > since]
    seen, without = collections.Counter(), collections.defaultdict(list)
    for sample in samples:
        unreadable = UNREADABLE in sample.markers
        # A stripped interpreter has no symbol where it evaluates.
        if unreadable or sample.python or "_PyEval_EvalFrameDefault" in sample.symbols:
            seen[sample.event] += 1
            if unreadable or not sample.python:
                without[sample.event].append(sample)
    assert sum(seen.values()) > 100, seen
    assert len(seen) > len(events) / 2, seen
    shares = {event: len(found) / seen[event] for event, found in without.items()}
    # And what chance adds to a few samples; without the program at the tracepoint nearly all are so.
    few = [event for event, found in without.items() if len(found) > MAY_BE_WITHOUT * seen[event] + 5]
    assert not few, (shares, seen, [without[event][:3] for event in few])


def recording(events, data):
    return ["record", "-g", "-k", "monotonic", "-e", ",".join(events), "-o", data]


def test_attached(kaa, either_python, program, kind, events, tmp_path):
    data = tmp_path / "perf.data"
    with either_python.running(program, kind) as (_, pid):
        kaa.inside(TRACEFS)(*recording(events, data), "-p", str(pid), "--", *while_busy(pid, 0.1))
    check(kaa, data, events)


def test_whole_system(kaa, newest_python, program, events, tmp_path):
    # Events that other programs have in great numbers, too, are left out.
    data, few = tmp_path / "perf.data", [event for event in events if event.startswith(("cpu-clock", "sched:"))]
    with newest_python.running(program, "forks") as (_, pid):
        kaa.inside(TRACEFS)(*recording(few, data), "-a", "--", *while_busy(pid, 0.1))
    check(kaa, data, few)


def test_command(kaa, either_python, program, kind, events, tmp_path):
    """Of a program behind others that call exec: a version manager's shim is two shells."""
    data = tmp_path / "perf.data"
    shim, inner = tmp_path / "shim", tmp_path / "inner"
    shim.write_text(f'#!/bin/sh\nexec {inner} "$@"\n')
    inner.write_text('#!/bin/sh\ntrue\ntrue | cat\nexec "$@"\n')
    for path in (shim, inner):
        path.chmod(0o755)
    result = kaa.inside(TRACEFS)(*recording(events, data), "--", shim, *either_python.command, program, kind, data)
    check(kaa, data, events, since=float(result.stdout))


def test_the_same_tracepoint_twice(kaa, newest_python, program, tmp_path):
    """Each hit has two samples and one stack."""
    data = tmp_path / "perf.data"
    twice = ["sched:sched_switch", "sched:sched_switch"]
    with newest_python.running(program, "threads") as (_, pid):
        kaa.inside(TRACEFS)(*recording(twice, data), "-p", str(pid), "--", *while_busy(pid, 0.1))
    check(kaa, data, twice[:1])


def test_python_that_the_walker_forgot(kaa, newest_python, tmp_path):
    """As it forgets one whose program is read from disk for so long that kaa tells of it before exec is over."""
    bpftool = run([TOP / "tests" / "tools" / "deps", "bpftool"]).stdout.strip()
    script, data = tmp_path / "spin.py", tmp_path / "perf.data"
    script.write_text("import os\nprint(os.getpid(), flush=True)\ndef spin():\n    while True: pass\nspin()\n")
    with kaa.start("record", "-q", "-D", "3000", "-F", "999", "-o", data, *newest_python.command, script,
                   stdout=subprocess.PIPE) as recorder:
        pid = int(recorder.stdout.readline())
        key = ["key", "hex", *(f"{byte:02x}" for byte in pid.to_bytes(4, "little"))]
        number = process_map(recorder, bpftool)
        until(lambda: not run([bpftool, "map", "delete", "id", number, *key], status=None).status, "that it is noticed")
        # Events begin after three seconds.
        until_busy(pid, 3)
        # Long enough for a recorder that gets no CPU for a while.
        until_recorded(recorder, data, 2)
        recorder.send_signal(signal.SIGTERM)
        os.kill(pid, signal.SIGKILL)
        recorder.wait(HANG)
    samples = [sample for sample in script_output.parse(kaa("script", "--no-inline", "-i", data).stdout)
               if "_PyEval_EvalFrameDefault" in sample.symbols or sample.python]
    named = [sample for sample in samples if any(name == "spin" for name, _, _ in sample.python)]
    assert len(named) > 0.5 * len(samples) > 10, (len(named), len(samples))
