# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record -e` beside `perf record -e`: the same words make the same events, as stock perf reads both files."""
import re

import pytest

from harness.process import started
from harness.waiting import while_busy

# What a machine without hardware counters has too; tracepoints need tracefs.
EVENTS = [
    "cpu-clock", "faults", "page-faults:u", "minor-faults:k", "task-clock:uk", "cpu-clock:ku", "cs", "migrations:u",
    "cs,faults:u", "cpu-clock:h", "cpu-clock:I", "cpu-clock:D",
    "cpu-clock/period=100000/", "cpu-clock/freq=500,name=foo/u", "software/config=0x2/", "software/config=1,name=bar/k",
    "{cs,faults}:u", "{cs:k,faults}:u",
]
FIELDS = ["config", "sample_period, sample_freq }", "freq", "exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle",
          "pinned", "exclusive"]


def events(perf, path):
    """Each event's name and what matters of its attributes."""
    found = []
    for line in perf("evlist", "-v", "-i", path).stdout.splitlines():
        if line.startswith("#"):
            continue
        name, type_number, rest = re.fullmatch(r"(.*?): type: (\d+)(.*)", line).groups()
        if name != "kaa":
            found.append((name, type_number, {field: value(rest, field) for field in FIELDS}))
    return found


def value(text, field):
    match = re.search(rf"{re.escape(field)}: ([^ ,]+)", text)
    return match[1] if match else "0"


@pytest.mark.one_of(3)
@pytest.mark.parametrize("words", EVENTS)
def test_like_perf(kaa, perf, root, tmp_path, words):
    ours, theirs = tmp_path / "kaa.data", tmp_path / "perf.data"
    kaa("record", "-q", "-e", words, "-o", ours, "true")
    perf("record", "-q", "-e", words, "-o", theirs, "true")
    assert events(perf, ours) == events(perf, theirs)


@pytest.mark.parametrize("words", ["{cs,faults}", "cs,{faults,cpu-clock,cs}", "{cs,faults},{cpu-clock,migrations}", "cs,faults"])
def test_groups_like_perf(kaa, perf, root, tmp_path, words):
    ours, theirs = tmp_path / "kaa.data", tmp_path / "perf.data"
    kaa("record", "-q", "-e", words, "-o", ours, "true")
    perf("record", "-q", "-e", words, "-o", theirs, "true")

    def groups(path):
        found = perf("evlist", "-g", "-i", path).stdout.split("\n")
        return [line for line in found if line and line != "kaa" and "dummy" not in line and line[0] != "#"]

    assert groups(ours) == groups(theirs)


# The leader's events and those of its group, of a command and of a process that runs already; with the walker and without.
# No other test records minor-faults of all: the kernel mixes up samples of two recorders.
@pytest.mark.parametrize("way", ["command", "process", "everything"])
@pytest.mark.parametrize("source", ["auto", "none"])
def test_all_of_a_group_count(kaa, root, tmp_path, way, source):
    faults = ("import mmap, time; end = time.process_time() + {}\n"
              "while time.process_time() < end:\n m = mmap.mmap(-1, 1 << 20)\n for i in range(0, 1 << 20, 4096): m[i] = 1")
    data = tmp_path / "perf.data"
    words = ["record", "-q", "--python", source, "-e", "{cpu-clock/freq=999/,minor-faults/freq=999/}", "-o", data]
    if way == "command":
        kaa(*words, "/usr/bin/python3", "-c", faults.format(0.3))
    else:
        with started(["/usr/bin/python3", "-c", faults.format(60)]) as process:
            target = ["-a"] if way == "everything" else ["-p", str(process.pid)]
            kaa(*words, *target, "--", *while_busy(process.pid, 0.3))
    samples = dict(re.findall(r"^(\S+) stats:\n +SAMPLE events: +(\d+)", kaa("report", "-i", data, "--stats").stdout, re.M))
    assert int(samples["cpu-clock/freq=999/"]) > 10 and int(samples["minor-faults/freq=999/"]) > 5
    report = kaa("report", "-i", data, "--stdio", "-g", "none").stdout
    assert "of events 'anon group { cpu-clock/freq=999/, minor-faults/freq=999/ }'" in report


@pytest.mark.parametrize("words", ["cylces", "cycles:z", "nosuch/config=1/", "cs,,faults", ""])
def test_refused_like_perf(kaa, perf, tmp_path, words):
    result = kaa("record", "-e", words, "-o", tmp_path / "kaa.data", "true", status=129)
    assert result.stderr.startswith("kaa record: ") and result.stderr.count("\n") == 1
    assert not (tmp_path / "kaa.data").exists()
    perf("record", "-e", words, "-o", tmp_path / "perf.data", "true", status=129)
