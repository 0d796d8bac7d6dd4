# SPDX-License-Identifier: GPL-2.0-only
"""Clocks that show anything: `kaa report` and `kaa script --like-perf` beside perf 7, whole outputs, over one recording whose
times are made those of machines that have run for a second, for months, and in between; and over one by the wall clock.
"""
import collections
import difflib
import shlex
import struct

import pytest

from harness.agent import Private
from harness.aliases import drop_aliases
from harness.process import TOP, run
from harness.retimed import retimed, times_of_header, times_of_samples
from test_report_kinds_like_perf import lines

SECOND = 1000000000

OPTIONS = [
    "report --sort time,dso --no-children",
    "report --sort comm,time --time-quantum 10ms --no-children",
    "report --sort time,sym -t ,",
    "report --sort dso,time --no-children -w 9,20,14",
    "report --sort time,dso --no-children -w 9,5 --time {early},{late}",
    "report --header-only",
    "script --show-task-events --show-mmap-events",
    "script --ns --reltime",
    "script --ns --deltatime -F comm,time,event",
    "script --ns --time {early},{late}",
    "script --time 10%/{tenth}",
]


def made(private):
    """A recording without call graphs, of processes that begin and end, and of several events. Without the kernel: a BPF program
    of another recorder may run there, which perf names or does not."""
    program = private.folder / "forks"
    run(["gcc", "-g", "-O1", "-static", "-o", program, TOP / "tests" / "live" / "programs" / "forks.c"])
    drop_aliases(program)
    return private.program("perf"), ["-q", "-F", "1999", "-e", "cpu-clock:u,page-faults:u", "./forks"]


def in_seconds(ns):
    return f"{ns // SECOND}.{ns % SECOND:09}"


def times_with_samples(private, data, first, last):
    """A machine may stand still at any time: what holds the middle half of the samples, and the tenth that most are in.
    Not the first and the last one: perf takes the ends of a recording from its header, where the earliest sample need not be the
    first one."""
    content = (private.folder / data).read_bytes()
    times = sorted(struct.unpack_from("<Q", content, at)[0] for at in times_of_samples(content))
    tenths = collections.Counter(10 * (time - first) // (last - first + 1) + 1 for time in times)
    return {"early": in_seconds(times[len(times) // 4]), "late": in_seconds(times[-len(times) // 4]),
            "tenth": max(range(2, 10), key=tenths.__getitem__)}


def compare(private, data, first, last):
    chosen = times_with_samples(private, data, first, last)
    options = [words.format(**chosen) for words in OPTIONS]
    commands = []
    for i, words in enumerate(options):
        command, *words = words.split()
        words = shlex.join([command, "--stdio", *words] if command == "report" else [command, *words])
        commands.append(f"perf {words} -i {data} >perf.{i} 2>errors; /tmp/.build/kaa {words} -i {data} --like-perf >kaa.{i}")
    private.program("env", "HOME=/nonexistent", "sh", "-ec", "\n".join(commands))()
    for i, words in enumerate(options):
        perfs, kaas = [lines((private.folder / f"{program}.{i}").read_text()) for program in ("perf", "kaa")]
        assert len(perfs) > 10, (words, perfs)
        assert kaas == perfs, "\n".join([words, *difflib.unified_diff(perfs, kaas, "perf", "kaa", n=1, lineterm="")])


@pytest.fixture(scope="module")
def private(chroot, build_dir, tmp_path_factory):
    private = Private(tmp_path_factory.mktemp("clocks"), build_dir, *chroot.command)
    perf, words = made(private)
    perf("record", "-o", "perf.data", *words)
    return private


@pytest.mark.parametrize("digits", [1, 4, 5, 7, 10])
def test_seconds_of_any_number_of_digits(private, digits):
    """The clock gets another digit in the middle."""
    first, last = retimed(private.folder / "perf.data", private.folder / "retimed.data", 10 ** (digits - 1) * SECOND)
    # On a machine that is held up ten seconds may be too short for it.
    assert len(str(first // SECOND)) <= digits <= len(str(last // SECOND))
    compare(private, "retimed.data", first, last)


@pytest.mark.parametrize("clock", ["realtime", "monotonic_raw", "boottime"])
def test_clocks_of_perf(private, clock):
    perf, words = made(private)
    perf("record", "-k", clock, "-o", "clock.data", *words)
    data = (private.folder / "clock.data").read_bytes()
    compare(private, "clock.data", *[int.from_bytes(data[at:at + 8], "little") for at in times_of_header(data)])
