# SPDX-License-Identifier: GPL-2.0-only
"""The periods of samples beside the CPU time that the kernel says there was, as docs/clock.md has it.

Where samples are few, chance decides more than the clock: limits are several times what chance makes of 1,000 samples.
"""
import re

import pytest

from harness.chance import deviations
from harness.summary import without_samples
from harness.waiting import cpu_seconds, until_busy, while_busy

pytestmark = pytest.mark.usefixtures("bpf")

SECONDS = 1.0


def record(kaa, python, scripts, data, program, *options, seconds=SECONDS):
    """What kaa said, the CPU time in seconds, that of the program's function, and the number of its threads."""
    result = kaa("record", "-F", "999", *options, "-o", data, "--", *python.command, scripts / "cpu_time.py", program, seconds)
    used, function, threads = map(float, result.stdout.splitlines()[-1].split())
    return result, used, function, threads


def samples(kaa, data, field="pysym"):
    """For each sample its period in seconds, and a field; only the Python function's name stands behind the period."""
    lines = kaa("script", "-i", data, "-F", f"{field},period").stdout.splitlines()
    words = [line.split(maxsplit=1) if field == "pysym" else reversed(line.rsplit(maxsplit=1)) for line in lines]
    return [(int(period) / 1e9, value.strip()) for period, value in words]


def share_of(function, found):
    """Since the Python was noticed, which on a busy machine may be late."""
    found = found[next(i for i, (_, name) in enumerate(found) if name.startswith("py::")):]
    return total(sample for sample in found if sample[1].startswith(f"py::{function}:")) / total(found)


def total(of):
    return sum(period for period, _ in of)


def is_late(data, kaa):
    """The last ticks before the end have not come: what they would have stood for is in no sample."""
    times = sorted(float(line.rstrip(": \n").split()[-1]) for line in kaa("script", "-i", data, "-F", "time").stdout.splitlines())[-64:]
    return any(then - now > 0.02 for now, then in zip(times, times[1:]))


@pytest.mark.parametrize("program", ["threads", "processes", "pool"])
def test_sum_of_periods(kaa, newest_python, scripts, tmp_path, program):
    """All of the CPU time has samples; of half of the threads' and a fourth of the processes' a clock for each thread has
    none. Where the time of short threads goes is theirs."""
    result, used, function, threads = record(kaa, newest_python, scripts, tmp_path / "data", program)
    found = samples(kaa, tmp_path / "data")
    # getrusage() lacks the end of each thread, which takes some 10 us, and the program has ended when its last one comes.
    missing = without_samples(tmp_path / "data")
    assert 0.97 * used < total(found) + missing and total(found) < 1.03 * used + threads * 40e-6 + 0.02, \
        (total(found), missing, used, threads)
    # Where ticks were lost: a sample stands for four times its period at most, and 32 have to follow (docs/clock.md).
    assert missing < 0.01 * used + 0.02 or len(found) < 0.5 * 999 * used or is_late(tmp_path / "data", kaa), (missing, used, len(found))
    if program == "threads":
        share, chance = share_of("short", found), deviations([period for period, _ in found], function / used)
        assert abs(share - function / used) < 0.02 + chance, (share, function / used, chance)


OTHER_CLOCKS = [("--clock", "thread"), ("--no-inherit",), ("-e", "{cpu-clock,page-faults}"), ("-a",)]
CLOCKS_OF_CPUS = [("--no-freq", "-c", "1001001"), ("-e", "cpu-clock:u")]


@pytest.mark.parametrize("options", OTHER_CLOCKS + CLOCKS_OF_CPUS, ids=" ".join)
def test_ways_to_record(kaa, newest_python, scripts, tmp_path, options):
    """All ways to record have samples of the program, and say how its clock ticks."""
    result, used, *_ = record(kaa, newest_python, scripts, tmp_path / "data", "pool", "-v", *options, seconds=0.5)
    assert ("the clock ticks for each CPU" in result.stderr) == (options in CLOCKS_OF_CPUS), result.stderr
    found = samples(kaa, tmp_path / "data", "comm")
    assert any("python" in name for _, name in found)
    if options[-1] in ("thread", "1001001"):
        missing = without_samples(tmp_path / "data")
        assert 0.3 * used < total(found) + missing and total(found) < 1.3 * used, (total(found), missing, used)
    if "-c" in options:
        assert {period for period, _ in found} == {0.001001001}


def test_names_after_the_end(kaa, perf, newest_python, scripts, tmp_path):
    """While the kernel releases the memory of a process, which comes after its EXIT record, it has samples: perf shows them
    under its name, and finds the record behind them."""
    data = tmp_path / "data"
    record(kaa, newest_python, scripts, data, "processes", seconds=0.5)
    found = perf("script", "-i", data, "-F", "comm,tid,time,event", "--show-task-events").stdout.splitlines()
    gone, nameless, late, samples_seen = set(), [], [], 0
    for line in found:
        task = re.search(r"PERF_RECORD_(EXIT|FORK)\(\d+:(\d+)\)", line)
        sample = re.match(r"\s*(.*?)\s+(\d+)\s+[\d.]+:\s+cpu-clock:", line)
        if task:
            (gone.add if task[1] == "EXIT" else gone.discard)(task[2])
        elif sample:
            samples_seen += 1
            nameless += [line] * sample[1].startswith(":")
            late += [line] * (sample[2] in gone)
    assert samples_seen > 20 and len(gone) > 20, (samples_seen, len(gone))
    assert not nameless, nameless[:5]
    assert not late, late[:5]


def test_without_clocks_of_cpus(kaa, newest_python, scripts, tmp_path):
    """A clock for each thread misses short ones: that is said, and how much it is."""
    # A tick in 2 ms: where a thread takes twice as long as here, it is still a short one.
    result, used, *_ = record(kaa, newest_python, scripts, tmp_path / "data", "threads", "--python", "none", "-F", "499", seconds=2)
    assert "'--clock" not in result.stderr
    asked, *_ = record(kaa, newest_python, scripts, tmp_path / "asked", "threads", "--python", "none", "--clock", "cpu", seconds=0.1)
    assert "the clock ticks for each thread" in asked.stderr
    missing, ran = map(float, re.search(r"record: (\S+) s of (\S+) s of CPU time have no samples", result.stderr).groups())
    assert abs(ran - used) < 0.1 * used
    assert abs(total(samples(kaa, tmp_path / "data", "tid")) + missing - ran) < 0.02 * ran
    assert missing > 0.1 * used


def test_rhythm(kaa, newest_python, scripts, tmp_path):
    """A program that does the same thing with each tick of an even clock: then one of the two functions has all samples."""
    _, used, function, _ = record(kaa, newest_python, scripts, tmp_path / "data", "rhythm", "-F", "1000")
    found = samples(kaa, tmp_path / "data")
    share, chance = share_of("even", found), deviations([period for period, _ in found], function / used)
    assert abs(share - function / used) < 0.12 + chance, (share, function / used, chance)


def test_nobody_else(kaa, newest_python, scripts, tmp_path):
    """Other programs run on the same CPUs, such as the recorder and what this process starts beside it: the samples are the
    recorded process's alone, from its exec on, and there are some of each thread that it has and of those to come."""
    data = tmp_path / "data"
    with newest_python.running(scripts / "cpu_time.py", "threads", 600) as (_, other), \
            newest_python.running(scripts / "cpu_time.py", "threads", 600) as (_, pid):
        before = cpu_seconds(pid)
        kaa("record", "-F", "999", "-o", data, "-p", pid, "--", *while_busy(pid, 0.5))
        used = cpu_seconds(pid) - before + 0.05
        record(kaa, newest_python, scripts, tmp_path / "command", "processes", seconds=0.3)
    attached = samples(kaa, data, "pid")
    assert {value for _, value in attached} == {str(pid)} != {str(other)}
    assert len({value for _, value in samples(kaa, data, "tid")}) > 10
    assert 0.3 < total(attached) + without_samples(data) and 0.02 < total(attached) < used
    names = {value for _, value in samples(kaa, tmp_path / "command", "comm")}
    assert len(names) == 1 and names != {"kaa"}, names


def test_ends_with_the_process(kaa, newest_python, scripts, tmp_path):
    """Clocks of CPUs tick on when the process has ended; the recording does not."""
    data = tmp_path / "data"
    with newest_python.running(scripts / "cpu_time.py", "pool", 600) as (process, pid):
        with kaa.start("record", "-F", "999", "-p", pid, "-o", data) as recorder:
            while not kaa("script", "-i", data, status=None).stdout:
                until_busy(pid, 0.1)
            process.kill()
            assert recorder.wait() == 0
    assert {value for _, value in samples(kaa, data, "pid")} == {str(pid)}
