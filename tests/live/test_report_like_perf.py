# SPDX-License-Identifier: GPL-2.0-only
"""The report's layout, order and arithmetic against stock perf's, byte for byte.

Native programs are recorded with stock perf. Its `perf script` text fills kaa's model (tests/unit/report_from_script.c),
so that nothing but the report can differ from `perf report --no-inline` of the same file. What perf leaves to chance is
left out: the tip, and a bit that it forgets to set behind "[...]".
"""
import pathlib
import re

import pytest

from harness.machine import SAME_PLACES
from harness.nameless import recorded_in_order
from harness.process import run

PROGRAMS = pathlib.Path(__file__).parent / "programs"

FIELDS = "comm,pid,tid,time,event,ip,sym,symoff,dso,period"

# name: compiler flags, program, its arguments, those of perf record, events in the file's order.
RECORDINGS = {
    "threads": (["-pthread"], "many_calls.c", [], ["-F", "2999", "-g"], []),
    "forks": ([], "forks.c", [], ["-F", "4999", "-g"], []),
    "user": (["-static"], "forks.c", ["plain"], ["-F", "9999", "-g", "-e", "cpu-clock:u"], ["cpu-clock:u"]),
    "events": (["-pthread"], "many_calls.c", [], ["-F", "1999", "-g", "-e", "cpu-clock,page-faults"],
               ["cpu-clock", "page-faults"]),
    "flat": (["-pthread"], "many_calls.c", [], ["-F", "1999"], []),
}

OPTIONS = [
    "",
    "-n",
    "-n --no-children",
    "-n -g --no-children",
    "--call-graph=none",
    "--call-graph=callee",
    "--call-graph=folded",
    "--call-graph=folded,period",
    "--call-graph=folded,count,caller --no-children",
    "--call-graph=flat",
    "--call-graph=flat,count,3,5",
    "--call-graph=flat --no-children",
    "--call-graph=graph,0.5,3",
    "--call-graph=graph,0",
    "--call-graph=period",
    "--call-graph=fractal,0.5,callee",
    "--call-graph=fractal,0.5,callee --no-children",
    "--call-graph=fractal,10,2,count",
    "--call-graph=fractal,20,period,caller",
    "--percent-limit=2",
    "--percent-limit=2 -n --no-children",
    "--sort=comm,dso",
    "--sort=comm,dso --no-children",
    "--sort=comm",
    "--sort=dso",
    "--sort=tgid,dso",
    "-n --field-separator=,",
    "--comms=worker-1",
    "--comms=forks --no-children",
    "--dsos=libc.so.6 --no-children",
    "--symbols=leaf_a --no-children -n",
    "--symbol-filter=leaf --no-children",
]

# Unresolved addresses have no consistent order in perf's tables, so that it may list one address twice. Most keys hide
# that; for the others, a recording that has few of them.
MORE_OPTIONS = {
    "user": ["--sort=sym --no-children", "-g --sort=sym,dso --no-children"],
    "threads": ["--sort=pid,dso,sym"],
}


@pytest.fixture(scope="module")
def recordings(chroot, perf_sid, tmp_path_factory):
    folder = tmp_path_factory.mktemp("like-perf")
    made = {}

    def record_once(data, words):
        perf_sid.inside(SAME_PLACES)("record", "-q", *words)
        return perf_sid("script", "-i", data, "--no-inline", "--show-mmap-events", "-F", FIELDS, "--max-stack", "127").stdout

    def record(name):
        if name not in made:
            flags, source, arguments, options, _ = RECORDINGS[name]
            program = folder / source.removesuffix(".c") if name != "user" else folder / "static"
            run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", *flags,
                 "-o", program, PROGRAMS / source])
            data = folder / f"{name}.data"
            made[name] = data, recorded_in_order(lambda: record_once(data, [*options, "-o", data, program, *arguments]))
        return made[name]

    return record


@pytest.fixture(scope="session")
def report_from_script(build_dir):
    program = build_dir / "tests" / "unit" / "report_from_script"
    assert program.exists(), f"no {program}: run 'ninja -C {build_dir}'"
    return program


def without_chance(text):
    text = re.sub(r"#\n# \([Tt]ip: .*\n#\n\Z", "", text)
    return text.replace("[...] (inlined)", "[...]").rstrip("\n")


# Now and then perf gives the names of the second event's commands less room than the longest takes, and cuts it.
NOT_COMPARED = [("events", "--dsos=libc.so.6 --no-children")]
# A process has the name that it took last, of which its samples need not tell: compared in test_report_kinds_like_perf.py.
NOT_COMPARED += [("forks", "--sort=tgid,dso"), ("user", "--sort=tgid,dso")]


def cases():
    for name in RECORDINGS:
        for options in OPTIONS + MORE_OPTIONS.get(name, []):
            if (name, options) in NOT_COMPARED:
                continue
            if name != "flat" or "-g" not in options and "call-graph" not in options:
                yield pytest.param(name, options.split(), id=f"{name} {options}".strip())


@pytest.mark.one_of(4)
@pytest.mark.parametrize("name, options", cases())
def test_report_is_perfs(name, options, recordings, perf_sid, report_from_script):
    data, script = recordings(name)
    events = ",".join(RECORDINGS[name][4])
    expected = perf_sid("report", "--stdio", "--no-inline", "-i", data, *options).stdout
    actual = run([report_from_script, f"--events={events}", *options], data=script.encode()).stdout
    assert "Samples:" in expected
    assert without_chance(actual).splitlines() == without_chance(expected).splitlines()


def test_aggregated_rows_report_the_same(recordings, report_from_script):
    """One row for equal samples, or a row each: the report is the same."""
    for name in RECORDINGS:
        script = recordings(name)[1].encode()
        one_by_one = run([report_from_script, "--right", "-n"], data=script).stdout
        assert run([report_from_script, "--right", "-n", "--aggregate"], data=script).stdout == one_by_one
