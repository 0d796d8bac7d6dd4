# SPDX-License-Identifier: GPL-2.0-only
"""Stacks that are deeper than what the kernel copies of them (docs/deep-stacks.md), against the depths that the programs
know: from where the thread begins to the leaf nothing is cut."""
import collections
import pathlib
import re
import subprocess

import pytest

from harness.machine import TRACEFS
from harness.chance import most
from harness.noticed import noticed_in
from harness.process import run
from harness.script_output import parse

pytestmark = pytest.mark.usefixtures("bpf")

# Where a thread begins, as far as libraries name it.
STARTS = {"_start", "clone", "__clone", "clone3", "__clone3", "_dl_start_user", "start_thread", "[unknown]"}
# Its functions have no names where libc is stripped.
LIBC = re.compile(r"libc\.so\.6\+0x[0-9a-f]+")
TRUNCATED, UNREADABLE = "[truncated stack]", "[unreadable Python frames]"
SCRIPT = "deep_calls.py"
# On a busy machine a Python that has just started is noticed late.
WARM_UP, WARM_UP_CASE = "plain:5", ("plain", 5)
FUNCTIONS = {"plain": "plain", "partial": "through_partial", "map": "through_map", "sort": "through_sort",
             "call": "__call__"}


def is_start(symbol):
    return symbol in STARTS or LIBC.fullmatch(symbol)


def record(kaa, path, *words, options=("-F", "499")):
    kaa.inside(noticed_in(path))("record", "-q", "-g", "-o", path, *options, "--", *words)
    return parse(kaa("script", "--no-inline", "-i", path).stdout)


def case_of(sample):
    """(function, depth) of a sample in work(); None: it is elsewhere."""
    names = [name.rpartition(".")[2] for name, file, _ in sample.python if file.endswith(SCRIPT)]
    if names[-1:] != ["work"]:
        return None
    counts = collections.Counter(names)
    assert counts["spend"] == 1, sample
    (function, count), = [(f, counts[f]) for f in FUNCTIONS.values() if counts[f]]
    return function, count - 1


def cut_by_chance(samples):
    """A page may be out of memory, or another program have the ring."""
    return most(0.005, sum(1 for _ in samples))


def noticed(samples):
    """Without the first ones, of before kaa had noticed the Python."""
    first = next((i for i, sample in enumerate(samples) if sample.python), 0)
    return samples[first:]


def check(samples, cases):
    """Each sample in work() is of one of the cases, of each are some, and next to none is incomplete."""
    expected = {(FUNCTIONS[way], int(depth)) for way, depth in (case.split(":") for case in cases)}
    seen, cut = collections.Counter(), []
    for sample in samples:
        if UNREADABLE in sample.markers:
            continue
        case = case_of(sample)
        if case and case != WARM_UP_CASE:
            assert case in expected, (case, sample)
            seen[case] += 1
            cut += [sample] * (sample.markers != [] or not is_start(sample.frames[-1].symbol))
    assert seen.keys() == expected and min(seen.values()) > 2, seen
    assert len(cut) <= cut_by_chance(seen.elements()), (len(cut), seen, cut[0])


def deepest_calls(python):
    """CPython 3.12 has a limit of its own for calls through C, whatever the program sets; 1,000 in Debian's 3.14 take more
    than the 1 MiB that is read."""
    return "call:400" if python.version[:2] in ((3, 12), (3, 14)) else "call:1000"


@pytest.mark.few_versions
def test_whole_from_start_to_leaf(kaa, python, scripts, tmp_path):
    cases = ["plain:1000", "partial:300", "map:300", "sort:110", "call:110", "call:300", deepest_calls(python)]
    samples = record(python.kaa(kaa), tmp_path / "perf.data", python.path, scripts / SCRIPT, "0.2", WARM_UP, *cases)
    check(samples, cases)


@pytest.mark.few_versions
def test_whole_in_a_thread(kaa, python, scripts, tmp_path):
    """The stack of a thread ends elsewhere than that of the program."""
    cases = ["plain:1000", "sort:110", deepest_calls(python)]
    samples = record(python.kaa(kaa), tmp_path / "perf.data", python.path, scripts / SCRIPT, "0.2", "thread",
                     WARM_UP, *cases)
    check(samples, cases)


def natives_between(sample, function):
    """For each call of the function by itself the native frames between, innermost first."""
    groups = []
    for frame in sample.frames:
        if frame.is_python:
            calls_itself = frame.python_name[0].rpartition(".")[2] == function
            groups.append([] if calls_itself else None)
        elif groups and groups[-1] is not None:
            groups[-1].append(frame.symbol)
    return [group for group in groups if group is not None][:-1]


def test_native_frames_between(kaa, newest_python, scripts, tmp_path):
    """Each call through C has its C function, 300 of them, by name where the Python is not stripped."""
    samples = record(kaa, tmp_path / "perf.data", *newest_python.command, scripts / SCRIPT, "0.3", WARM_UP,
                     "partial:300", "map:300")
    for function, native in ("through_partial", "partial"), ("through_map", "map_next"):
        concerned = [sample for sample in samples if not sample.markers and case_of(sample) == (function, 300)]
        assert len(concerned) > 2
        for sample in concerned:
            between = natives_between(sample, function)
            assert len(between) == 300 and all(between), (len(between), sample)
            if newest_python.unstripped:
                assert all(any(symbol.startswith(native) for symbol in symbols) for symbols in between), sample


def test_beyond_the_limit_is_marked(kaa, newest_python, scripts, tmp_path):
    """A sort has 5 KiB of stack; 1,000 of them are more than is read. The Python frames are all there."""
    samples = record(kaa, tmp_path / "perf.data", *newest_python.command, scripts / SCRIPT, "1", WARM_UP, "sort:1000")
    concerned = [sample for sample in samples if UNREADABLE not in sample.markers and case_of(sample) == ("through_sort", 1000)]
    assert len(concerned) > 15
    for sample in concerned:
        assert TRUNCATED in sample.markers, sample


def test_at_tracepoints(kaa, newest_python, tmp_path):
    """The events of a hit share what was read of its stack; the next hit of the thread, not deep, does not."""
    if run([*TRACEFS, "test", "-r", "/sys/kernel/tracing/events/sched/sched_switch/format"], status=None).status:
        pytest.skip("tracefs cannot be mounted here, or the kernel has no sched:sched_switch")
    script = tmp_path / "sleeps.py"
    script.write_text("""
import functools, sys, time
sys.setrecursionlimit(10000)
def deep(n):
    return functools.partial(deep, n - 1)() if n else time.sleep(0.0005)
def shallow():
    time.sleep(0.0005)
for _ in range(600):
    deep(300)
    shallow()
""")
    event = "sched:sched_switch"
    samples = record(kaa.inside(TRACEFS), tmp_path / "perf.data", *newest_python.command, script,
                     options=["-e", event, "-e", event])
    depths, cut = collections.Counter(), []
    for sample in samples:
        names = [name for name, file, _ in sample.python if file == str(script)]
        if names:
            assert sample.markers or sample.frames[-1].symbol in STARTS, sample
            depths[names.count("deep")] += 1
            cut += [sample] * bool(sample.markers)
    assert len(cut) <= cut_by_chance(depths.elements()), cut
    # Of 1,200 each: of those that come while kaa has no CPU there is room for few.
    assert depths[301] >= 100 and depths[0] >= 100, depths


@pytest.mark.parametrize("function", ["filled", "unused"])
def test_large_frame(kaa, newest_python, tmp_path, function):
    """200 KiB of local variables, in memory or not, hide no caller."""
    source = pathlib.Path(__file__).parent / "programs" / "large_frame.c"
    library = tmp_path / "large_frame.so"
    subprocess.run(["cc", "-O1", "-g", "-shared", "-fPIC", "-o", library, source], check=True)
    script = tmp_path / "script.py"
    script.write_text(f"""
import ctypes
library = ctypes.PyDLL({str(library)!r})
library.{function}.argtypes = [ctypes.c_double]
def outer():
    library.{function}(0.7)
outer()
""")
    samples = record(kaa, tmp_path / "perf.data", *newest_python.command, script)
    samples = noticed([sample for sample in samples if "innermost" in sample.symbols])
    cut = [sample for sample in samples if sample.markers]
    assert len(samples) > 20 and len(cut) <= cut_by_chance(samples), cut
    for sample in samples:
        if sample.markers:
            continue
        assert sample.frames[-1].symbol in STARTS, sample
        assert function in sample.symbols and [name for name, _, _ in sample.python] == ["<module>", "outer"], sample
