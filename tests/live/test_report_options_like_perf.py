# SPDX-License-Identifier: GPL-2.0-only
"""`kaa report --like-perf` beside `perf report` of perf 7, on recordings made here and now: the options of the table, and
inlined functions, which perf shows by default.

What perf leaves to chance is left out, as in test_report_like_perf.py. Where functions are inlined, some lines may
differ: perf compares inlined functions by name and others by address, in a tree, so that which of two it takes for one
depends on the order in which it met them; and when it finds at last that two entries are one, which with children is
often so, it forgets the names in the chains of one of them.
"""
import collections
import pathlib
import re

import pytest

from harness.machine import SAME_PLACES
from harness.nameless import recorded_in_order
from harness.process import Program, run

PROGRAMS = pathlib.Path(__file__).parent / "programs"

FRAMES = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]
# name: compiler, its options, source, arguments, options of perf record.
RECORDINGS = {
    "plain": ("gcc", ["-O1", "-static", *FRAMES], "forks.c", ["plain"], ["-F", "9999", "-g", "-e", "cpu-clock:u"]),
    "threads": ("gcc", ["-O1", "-pthread", *FRAMES], "many_calls.c", [], ["-F", "1999", "-g", "-e", "cpu-clock,page-faults"]),
    "inlined C": ("gcc", ["-O2", "-gdwarf-4", *FRAMES], "inlined.c", [], ["-F", "2999", "-g", "-e", "cpu-clock"]),
    "inlined C++": ("g++", ["-O2", *FRAMES], "templates.cc", [], ["-F", "2999", "-g", "-e", "cpu-clock"]),
    "unwound": ("gcc", ["-O2", "-static"], "inlined.c", [], ["-F", "499", "--call-graph", "dwarf,16384", "-e", "cpu-clock:u"]),
}

TABLES = [
    "-F overhead,sym",
    "-F sym,overhead",
    "-F sample,dso,sym -s sym",
    "-F overhead_children,overhead,comm",
    "-F +sample",
    "-s +pid",
    "--sort period,sym",
    "-t , --sort overhead,period",
    "--sort overhead,dso,sym",
    "--sort sample,comm --no-children",
    "-q",
    "--dsos libc.so.6",
    "--symbols leaf_a,even",
    "-n --show-total-period --dsos plain",
]
INLINED = ["-g none", "--no-children", "--no-children -n -g caller", "--no-children -g folded", "--no-children -g fractal"]


@pytest.fixture(scope="session")
def inside(chroot):
    return [*chroot.command, "env", "HOME=/nonexistent"]


@pytest.fixture(scope="session")
def beside(kaa, inside):
    """beside(data, words): what perf and what kaa print, as lines."""
    perf_inside, kaa_inside = Program(*inside, "perf"), kaa.inside(inside)

    def report(data, words):
        perfs = perf_inside("report", "--stdio", "-i", data, *words).stdout
        kaas = kaa_inside("report", "--stdio", "--like-perf", "-i", data, *words).stdout
        return lines(perfs), lines(kaas)

    return report


# Entries of a sample or two without a name: perf's order among them is not transitive, and it may list one twice.
NAMELESS = re.compile(r"^ +0\.0\d%.* \[\.\] (0x)?[0-9a-f]{16} *\n", re.M)


def lines(text):
    """Without perf's tip, a bit that it forgets to set behind "[...]", and the order that it has by chance."""
    text = NAMELESS.sub("", re.sub(r"#\n# \([Tt]ip: .*\n#\n\Z", "", text))
    return text.replace("[...] (inlined)", "[...]").rstrip("\n").splitlines()


@pytest.fixture(scope="module")
def recordings(perf_sid, kaa, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report-options")
    made = {}

    def record_once(data, words):
        perf_sid.inside(SAME_PLACES)("record", "-q", *words)
        return kaa("script", "--like-perf", "-i", data, "-F", "ip,sym,dso").stdout

    def record(name):
        if name not in made:
            compiler, flags, source, arguments, options = RECORDINGS[name]
            program = folder / name.replace(" ", "-")
            made[name] = program.with_suffix(".data")
            run([compiler, "-g", *flags, "-o", program, PROGRAMS / source])
            recorded_in_order(lambda: record_once(made[name], [*options, "-o", made[name], program, *arguments]))
        return made[name]

    return record


# Several DSOs have addresses without a symbol there: perf has no order of them unless the DSO is a key.
BY_DSO = ["-s +pid", "--sort overhead,dso,sym", "-q -n", "--dsos libc.so.6"]


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name, words", [("plain", words) for words in TABLES] + [("threads", words) for words in BY_DSO])
def test_tables_are_perfs(name, words, recordings, beside):
    """Without call graphs: those are test_report_like_perf.py's."""
    perfs, kaas = beside(recordings(name), [*words.split(), "--no-inline", "-g", "none"])
    assert len(perfs) > 2
    assert kaas == perfs


@pytest.mark.parametrize("option, column", [("--pid", 0), ("--tid", 1)])
def test_threads_keep_their_part_of_all(option, column, recordings, beside, kaa):
    data = recordings("threads")
    ids = {line.split("/")[column] for line in kaa("script", "-i", data, "-F", "pid,tid").stdout.replace(" ", "").split()}
    one = sorted(ids)[-1]
    perfs, kaas = beside(data, [option, one, "--no-inline", "-g", "none", "--sort", "comm,dso"])
    assert len(perfs) > 10 and sorted(kaas) == sorted(perfs)


def test_cpus_that_are_not_recorded_are_refused(recordings, kaa):
    refused = kaa("report", "-i", recordings("plain"), "--cpu", "0", status=129)
    assert "without their CPU" in refused.stderr


def unlike(perfs, kaas):
    """Lines that only one of the two has."""
    ours, theirs = collections.Counter(kaas), collections.Counter(perfs)
    return sum((ours - theirs).values()) + sum((theirs - ours).values())


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name, words", [(name, words) for name in ("inlined C", "inlined C++") for words in INLINED] +
                         [("unwound", words) for words in INLINED[:2]])
def test_inlined_functions_are_perfs(name, words, recordings, beside):
    perfs, kaas = beside(recordings(name), words.split())
    assert any("(inlined)" in line for line in perfs)
    assert unlike(perfs, kaas) <= max(4, len(perfs) / 10)


def test_inlined_functions_have_names_without_the_flag(recordings, kaa):
    """What is on the stack in the source, with the time where it is spent."""
    data = recordings("inlined C")
    text = kaa("report", "--stdio", "--no-children", "-i", data, "-g", "callee").stdout
    hottest = next(line for line in text.splitlines() if "%" in line and "inlined" in line)
    assert hottest.split()[-2:] == ["innermost", "(inlined)"]
    chains = kaa("report", "--stdio", "--no-children", "-i", data, "-g", "folded,0,callee").stdout
    assert "innermost (inlined);between (inlined);outermost;recurse" in chains


def test_statistics_are_perfs(recordings, beside):
    perfs, kaas = beside(recordings("threads"), ["--stats"])
    assert sum(line.endswith(" stats:") for line in perfs) == 3
    assert kaas == perfs
