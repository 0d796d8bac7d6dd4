# SPDX-License-Identifier: GPL-2.0-only
"""What others read out of `kaa script`: FlameGraph's stackcollapse-perf.pl (inferno reads alike) and the perf import of the
Firefox Profiler.

Both take a line for what it is by a few regular expressions. The readers here hold to the same ones, and let nothing pass that the
tools would drop: FlameGraph warns of a line that it does not recognize, the Profiler loses it silently. What is right comes from
harness/script_output.py, whose own reader is held against both stock perfs.
"""
import collections
import pathlib
import re

import pytest

from harness.noticed import noticed_in
from harness.script_output import parse

SCRIPTS = pathlib.Path(__file__).parent / "scripts"
SECONDS = "0.25"


def flamegraph(text):
    """stackcollapse-perf.pl: folded stacks, outermost first, and how many samples each has."""
    stacks, stack, name = collections.Counter(), None, None
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        start = re.match(r"(\S+\s*?\S*?)\s+(\d+)(?:/\d+)?\s", line)
        frame = re.match(r"\s*(\w+)\s*(.+) \((\S*)\)", line)
        if not line:
            stacks[";".join([name, *stack])] += 1
            stack = name = None
        elif start:
            assert stack is None, line
            stack, name = [], start[1].replace(" ", "_")
        else:
            assert frame and stack is not None, f"not recognized: {line!r}"
            if not frame[2].startswith("("):
                stack.insert(0, re.sub(r"\+0x[\da-f]+$", "", frame[2]).replace(";", ":"))
    assert stack is None
    return stacks


def profiler(text):
    """The Firefox Profiler's import: (thread, tid, ms, stack), the stack outermost first as "function (in module)"."""
    lines = iter(text.split("\n"))
    for line in lines:
        if not line or line.startswith("#"):
            continue
        start = re.match(r"(.*)\s+([\d.]+):", line)
        task = start and re.match(r"(.*)\s+(?:(\d+)/)?(\d+)\b", start[1])
        assert task, f"no sample starts so: {line!r}"
        stack = []
        for frame in lines:
            if not frame.strip():
                break
            match = re.match(r"\s*(\w+)\s*(.+) \(([^)]*)\)", frame)
            assert match and not match[2].startswith("("), f"lost: {frame!r}"
            function = re.sub(r"\+0x[\da-f]+$", "", match[2])
            stack.insert(0, f"{function} (in {match[3]})")
        yield task[1].strip(), int(task[3]), float(start[2]) * 1000, stack


@pytest.fixture(scope="module")
def text(bpf, kaa, newest_python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers")
    kaa.inside(noticed_in(folder / "perf.data"))(
        "record", "-q", "-F", "2999", "-g", "-e", "cpu-clock,page-faults", "-o", folder / "perf.data",
        *newest_python.command, SCRIPTS / "odd_names.py", SECONDS)
    return kaa("script", "-i", folder / "perf.data").stdout


# The functions from the thread's entry to the leaf that spins.
CHAINS = [("work", "Odd.method", "spin"), ("work", "<lambda>", "spin"), ("work", "odd", "spin")]


def has_chain(functions, chain):
    """The Python functions of a stack, outermost first, hold the chain, each directly under the one before."""
    names = [re.match(r"py::(.*?):", function)[1] for function in functions if function.startswith("py::")]
    return any(tuple(names[i:i + len(chain)]) == chain for i in range(len(names)))


def is_kernels(function):
    return "[kernel.kallsyms]" in function


def test_first_line_tells_what_it_is(text):
    """How the Profiler knows the format of a file without a header."""
    assert re.match(r"\S.*?\s+(?:\d+/)?\d+\s+(?:\[\d+\]\s+)?[\d.]+:", text[:text.index("\n")])


def test_profiler_reads_every_sample(text):
    theirs, truth = list(profiler(text)), parse(text, inlined=True)
    assert len(theirs) == len(truth) > 100
    for (thread, tid, time, stack), sample in zip(theirs, truth):
        assert (thread, tid) == (sample.comm, sample.tid)
        assert abs(time / 1000 - sample.time) < 1e-5
        assert [function.rsplit(" (in ", 1)[0] for function in stack] == sample.symbols[::-1]
    for thread in ("two words", "a (b) c"):
        for chain in CHAINS:
            found = sum(has_chain(stack, chain) for name, _, _, stack in theirs if name == thread)
            assert found >= 5, (thread, chain, found)
    assert any(is_kernels(stack[-1]) for _, _, _, stack in theirs)


def test_flamegraph_folds_every_sample(text):
    """It takes a thread's name for one if it has two words at most, with whatever recorder."""
    text = text.replace("a (b) c ", "a_(b)_c ")
    folded, truth = flamegraph(text), parse(text, inlined=True)
    assert sum(folded.values()) == len(truth)
    expected = collections.Counter()
    for sample in truth:
        functions = [symbol.replace(";", ":") for symbol in reversed(sample.symbols)]
        expected[";".join([sample.comm.replace(" ", "_"), *functions])] += 1
    assert folded == expected
    for thread in ("two_words", "a_(b)_c"):
        for chain in CHAINS:
            found = sum(n for stack, n in folded.items()
                        if stack.startswith(thread + ";") and has_chain(stack.split(";"), chain))
            assert found >= 5, (thread, chain, found)


def test_fields_that_the_readers_ask_for(bpf, kaa, newest_python, tmp_path):
    """With -F +pid and with CPUs they find process and thread; only the thread with the name that nothing else here has is looked at."""
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))(
        "record", "-q", "-a", "-F", "2999", "-g", "-e", "cpu-clock,page-faults", "-o", data, *newest_python.command,
        SCRIPTS / "odd_names.py", SECONDS)
    for options in (["-F", "+pid"], ["-F", "comm,pid,tid,cpu,time,event,ip,sym,dso,trace"]):
        text = kaa("script", "-c", "two words", "-i", data, *options).stdout
        samples = list(profiler(text))
        assert len(samples) == sum(flamegraph(text).values()) > 20
        assert {thread for thread, *_ in samples} == {"two words"}
        assert sum(has_chain(stack, ("work", "Odd.method", "spin")) for *_, stack in samples) >= 5
