# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record --native` while polling: native functions without any right, from threads that are stopped for a moment.

What the program notices of that is the other half: nothing but the time."""
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from harness.call_pairs import pairs_of, stacks, wrong_pairs
from harness.nobody import NOBODY, WITHOUT_RIGHTS
from harness.chance import deviations, most
from harness.summary import without_samples
from harness.process import traced
from harness.waiting import until, while_busy

# Where the stack of a program and of a thread begins, with or without symbols for that.
BEGINNINGS = re.compile(r"^(_start|__libc_start\w*|(__)?clone3?|start_thread|libc\.so\.6(\+0x\w+)?|.*libc-2\.\d+\.so\+0x\w+)$")

# What a sleep of Python is called in, by its version and C library.
CALLED = r"nanosleep|select|futex|cond_\w*wait|libc\.so"


def record(kaa, data, *words, **options):
    return kaa("record", "--native", "-o", data, *words, **options)


def native(sample):
    return [frame.symbol for frame in sample.frames if not frame.is_python and not frame.symbol.startswith("[")]


def incomplete(samples):
    return [sample for sample in samples if set(sample.markers) - {"[idle]", "[CPU wait]"}]


@pytest.mark.few_versions
@pytest.mark.and_free_threaded
@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_stacks_are_whole_and_not_torn(kaa, python, scripts, tmp_path, mode):
    data, kaa = tmp_path / "perf.data", python.kaa(kaa)
    result = record(kaa, data, "--python=poll", "--mode", mode, "-F", "999", "--", python.path, scripts / "call_pairs.py", "2", "2")
    samples = list(stacks(kaa, data))
    pairs = [sample for sample in samples if any(file == "pairs" for _, file, _ in pairs_of(sample))]
    assert len(pairs) >= 20, result.stderr
    assert not [sample for sample in pairs if list(wrong_pairs(pairs_of(sample)))]
    # On a busy machine more are marked, and where the other threads run on while one is stopped.
    late = re.search(r"came too late to take .*\(([\d.]+) %\)", result.stderr)
    part = 15 if python.free_threaded or late and float(late[1]) > 5 else 50
    # One that has no CPU to stop on for 20 ms has none, and that is said.
    said = re.search(r"(\d+) samples? ha(?:s|ve) no native functions", result.stderr)
    left_out = int(said[1]) if said else 0
    assert len(incomplete(pairs)) <= left_out + most(1 / part, len(pairs)), result.stderr
    whole = [sample for sample in pairs if not incomplete([sample])]
    assert len(whole) >= 20, result.stderr
    # The calls of the interpreter are folded into the Python functions that they run; what begins the thread is not.
    assert all(BEGINNINGS.match(native(sample)[-1]) for sample in whole), [native(sample)[-1:] for sample in whole][:5]
    stops = re.search(r"threads were stopped ([\d,]+) times? for native functions, for \d+ us", result.stderr)
    # Those of threads that wait, which have not run since, may be as they were.
    assert int(stops[1].replace(",", "")) >= (len(pairs) - left_out) / 3, result.stderr


WORK = """
import json, sys, threading, time, zlib
data, took, seconds = bytes(range(256)) * 8192, {}, float(sys.argv[1])
def crunch():
    while time.thread_time() < seconds: zlib.compress(data, 9)
def plain():
    while time.thread_time() < seconds:
        for i in range(1000): pass
def nap():
    while len(took) < 2: time.sleep(0.03)
def clocks():
    # What is left of a thread's time when it neither ran nor waited for a CPU is sleep.
    with open("/proc/thread-self/schedstat") as file:
        return time.monotonic() - sum(map(int, file.read().split()[:2])) / 1e9, time.thread_time()
def timed(function):
    began = clocks()
    function()
    took[function.__name__] = [now - then for now, then in zip(clocks(), began)]
threads = [threading.Thread(target=timed, args=(function,)) for function in (crunch, plain, nap)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(took))
"""


def test_native_functions_are_those_that_run(kaa, tmp_path):
    """CPU time by the thread's own clock; and what a library does is below the line that calls it, which was loaded late."""
    data, script = tmp_path / "perf.data", tmp_path / "work.py"
    script.write_text(WORK)
    result = record(kaa, data, "--python=poll", "--", sys.executable, script, "1")
    took, by_function, of_library, stopped = json.loads(result.stdout), *(collections.Counter() for _ in range(3))
    periods, untold = collections.defaultdict(list), without_samples(data)
    for sample in stacks(kaa, data):
        inner = sample.python[-1][0] if sample.python else None
        by_function[inner] += sample.period / 1e9
        periods[inner].append(sample.period / 1e9)
        # The others could not be stopped.
        stopped[inner] += sample.period / 1e9 * (not incomplete([sample]))
        of_library[inner] += sample.period / 1e9 * any("deflate" in name or re.match(r"libz\.|zlib|python3\S*\+0x", name)
                                                        for name in native(sample))
    late = re.search(r"kaa came too late to take \d+ samples? \(([\d.]+) %\)", result.stderr)
    allowed = 0.1 if not late or float(late[1]) < 10 else 0.2
    for name in ("crunch", "plain"):
        off = by_function[name] - took[name][1]
        assert -untold < off + allowed * took[name][1] + 0.1 and off < allowed * took[name][1] + 0.1, (name, by_function, took, untold, result.stderr)
    for name, low, high in ("crunch", 0.85, 1), ("plain", 0, 0.1):
        # It may be that none could be stopped.
        whole, chance = stopped[name], deviations(periods[name], 0.1)
        assert (low - chance) * whole <= of_library[name] <= (high + chance) * whole, (name, whole, chance, of_library, by_function)
    assert "native" in re.search(r"^Spent in: .*", kaa("report", "-i", data).stdout, re.M)[0]


def test_sleeps_have_their_native_stack(kaa, tmp_path):
    data, script = tmp_path / "perf.data", tmp_path / "work.py"
    script.write_text(WORK)
    result = record(kaa, data, "--mode", "wall", "--", sys.executable, script, "0.5")
    slept, untold = json.loads(result.stdout)["nap"][0], without_samples(data, "wall")
    asleep = [sample for sample in stacks(kaa, data) if "[idle]" in sample.markers and sample.python and sample.python[-1][0] == "nap"]
    # By the kernel's account; what it waits for a CPU is none of it.
    periods = [sample.period / 1e9 for sample in asleep]
    seen, chance = sum(periods), deviations(periods, 0.1) * slept
    assert 0.5 * slept - untold - chance < seen < slept + 0.1 + chance, (seen, slept, untold, chance, result.stderr)
    whole = [sample for sample in asleep if not incomplete([sample])]
    stopped = [sample.period / 1e9 for sample in whole]
    called = sum(sample.period for sample in whole if re.search(CALLED, " ".join(native(sample)))) / 1e9
    # One that wakes up in the moment before it stops is somewhere else by then, more often so on a busy machine.
    elsewhere = [native(sample)[:3] for sample in whole if not re.search(CALLED, " ".join(native(sample)))]
    assert called >= (0.75 - deviations(stopped, 0.1)) * sum(stopped), (called, stopped, elsewhere)
    # One that has no CPU to stop on for 20 ms has none, and that is said.
    left_out = re.search(r"(\d+) samples? ha(s|ve) no native functions", result.stderr)
    assert len(incomplete(asleep)) <= (int(left_out[1]) if left_out else 0), result.stderr
    text = kaa("report", "-i", data).stdout
    assert "has no native functions" not in text and "idle" in text


# A stop ends the first wait (signal(7): epoll_wait() is not called again), and the second begins at once.
ENDED_BY_STOPS = """
import ctypes, json, sys, time
libc, took = ctypes.CDLL(None), {"ended": 0, "whole": 0}
epoll, events = libc.epoll_create1(0), ctypes.create_string_buffer(12)
def ended(): return libc.epoll_wait(epoll, events, 1, 60000)
def whole(): time.sleep(0.2)
def timed(function):
    began = time.monotonic()
    function()
    took[function.__name__] += time.monotonic() - began
for i in range(10):
    timed(ended)
    timed(whole)
print(json.dumps(took))
"""


def test_a_wait_that_a_stop_ended_does_not_get_the_next_ones_time(kaa, tmp_path):
    data, script = tmp_path / "perf.data", tmp_path / "waits.py"
    script.write_text(ENDED_BY_STOPS)
    result = record(kaa, data, "--mode", "wall", "--", sys.executable, script)
    took, untold, seen = json.loads(result.stdout), without_samples(data, "wall"), collections.Counter()
    for sample in stacks(kaa, data):
        seen.update({name: sample.period / 1e9 for name in took if any(frame[0] == name for frame in sample.python)})
    assert seen["whole"] > took["whole"] / 2 - untold, (seen, took, untold, result.stderr)


# It counts what a stop may spoil: signals, system calls that C code does not repeat, ends of children, its own end.
UNHARMED = """
import ctypes, json, os, signal, subprocess, sys, threading, time
seen = {"signals": 0, "sent": 0, "broken": 0, "reads": 0, "codes": [], "slept": []}
def count(number, frame): seen["signals"] += 1
signal.signal(signal.SIGUSR1, count)
libc = ctypes.CDLL(None, use_errno=True)
inner, outer = os.pipe()
def read():
    one = ctypes.create_string_buffer(1)
    while not seen["reads"] or one.raw != b"x":
        got = libc.read(inner, one, 1)
        seen["reads"] += got == 1
        seen["broken"] += got != 1
def run():
    for i in range(12):
        seen["codes"].append(subprocess.call([sys.executable, "-S", "-c", "raise SystemExit(%d)" % i]))
def nap():
    for i in range(40):
        began = time.monotonic()
        time.sleep(0.02)
        seen["slept"].append(time.monotonic() - began)
threads = [threading.Thread(target=function) for function in (read, run, nap)]
for thread in threads: thread.start()
end = time.monotonic() + 2
while time.monotonic() < end or seen["sent"] < 150 or any(thread.is_alive() for thread in threads[1:]):
    seen["sent"] += 1
    signal.raise_signal(signal.SIGUSR1) if hasattr(signal, "raise_signal") else os.kill(os.getpid(), signal.SIGUSR1)
    os.write(outer, b".")
    time.sleep(0.001)
os.write(outer, b"x")
for thread in threads: thread.join()
json.dump(seen, open(sys.argv[1], "w"))
sys.exit(5)
"""


@pytest.mark.few_versions
@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_a_program_notices_nothing(kaa, python, tmp_path, mode):
    data, script, out = tmp_path / "perf.data", tmp_path / "unharmed.py", tmp_path / "seen.json"
    script.write_text(UNHARMED)
    result = record(python.kaa(kaa), data, "--python=poll", "--mode", mode, "-F", "2000", "--", python.path, script, out, status=5)
    seen = json.loads(out.read_text())
    assert "threads were stopped" in result.stderr
    assert seen["signals"] == seen["sent"] and seen["signals"] > 100
    assert seen["broken"] == 0 and seen["reads"] > 100
    assert seen["codes"] == list(range(12))
    assert min(seen["slept"]) >= 0.02


def status_of(pid):
    with open(f"/proc/{pid}/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def test_nothing_is_left_of_it(kaa, newest_python, tmp_path):
    """A process that was attached to goes on, untraced; one that its user has stopped stays so."""
    data, program = tmp_path / "perf.data", tmp_path / "loop.py"
    program.write_text("while True: sum(range(1000))\n")
    with newest_python.running(program) as (_, pid):
        said = record(kaa, data, "--python=poll", "-p", pid, "--", *while_busy(pid, 0.5)).stderr
        assert "threads were stopped" in said
        status = status_of(pid)
        assert status["TracerPid"] == "0" and status["State"][0] in "RS", status
        os.kill(pid, signal.SIGSTOP)
        until(lambda: status_of(pid)["State"][0] == "T", "it has stopped")
        record(kaa, data, "--mode", "wall", "-p", pid, "--duration", "1")
        status = status_of(pid)
        assert status["TracerPid"] == "0" and status["State"][0] == "T", status
        os.kill(pid, signal.SIGCONT)
        until(lambda: status_of(pid)["State"][0] in "RS", "it goes on")


def test_another_tracer_keeps_it(kaa, newest_python, tmp_path):
    """Who is being debugged is not stopped: its samples have no native frames, and this is said."""
    data, program = tmp_path / "perf.data", tmp_path / "loop.py"
    program.write_text("while True: sum(range(1000))\n")
    with newest_python.running(program) as (_, pid), traced(pid) as tracer:
        said = record(kaa, data, "--python=poll", "-p", pid, "--", *while_busy(pid, 0.5)).stderr
        assert status_of(pid)["TracerPid"] == str(tracer)
    assert re.search(r"\d+ samples? ha(s|ve) no native functions, because the thread could not be stopped", said), said
    samples = list(stacks(kaa, data))
    assert samples and all("[missing native frames]" in sample.markers for sample in samples)
    # It may be met between two of the interpreter's frames.
    assert sum(not sample.python for sample in samples) <= most(0.01, len(samples))


@pytest.fixture
def place():
    with tempfile.TemporaryDirectory(prefix="kaa-poll-", dir="/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield pathlib.Path(folder)


def test_without_rights(root, kaa, place):
    """Where BPF cannot be had `--native` is enough: no --python, no --mode."""
    own, data, script = place / "kaa", place / "perf.data", place / "work.py"
    shutil.copy(kaa.command[-1], own)
    script.write_text("import time\nend = time.process_time() + 1\nwhile time.process_time() < end: sorted(range(2000), key=str)\n")
    script.chmod(0o644)
    result = record(type(kaa)(*WITHOUT_RIGHTS, own), data, "/usr/bin/python3", script, cwd=place)
    assert "polling: functions and lines of CPU time, and native functions" in result.stderr
    text = kaa("report", "-f", "-i", data).stdout
    assert re.search(r"^Spent in: .*native [<>]?\d", text, re.M), text
