# SPDX-License-Identifier: GPL-2.0-only
"""`kaa flamegraph` of real recordings, held against `kaa script`."""
import collections
import re

import pytest

from harness import script_output
from harness.flame_data import MARKER, PYTHON, THREAD, Page

pytestmark = pytest.mark.usefixtures("bpf")

# A function that works in two threads, and one that calls itself.
MODULE = """\
import sys
import threading
import time

def leaf(n):
    return sum([i & 3 for i in range(n)])

def down(depth):
    return down(depth - 1) + leaf(200) if depth else leaf(2000)

def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        down(20)

def main():
    thread = threading.Thread(target=work, args=(0.5,))
    thread.start()
    work(0.5)
    thread.join()

if __name__ == "__main__":
    main()
"""


def page_of(kaa, data, *options):
    return Page(kaa("flamegraph", "-i", data, "-o", "-", *options).stdout)


def test_from_a_function_on(bpf, kaa, newest_python, tmp_path):
    """Stacks begin at its outermost call, and those without one are left out."""
    data = tmp_path / "perf.data"
    (tmp_path / "mod.py").write_text(MODULE)
    kaa = newest_python.kaa(kaa)
    kaa("record", "-c", "1001001", "-g", "-o", data, "--", newest_python.path, "-m", "mod", cwd=tmp_path)
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    for word, name in (("down", "down"), ("mod.py:9", "down"), ("leaf:mod.py", "leaf"), ("work", "work")):
        expected = collections.Counter()
        for sample in samples:
            names = [function[0] for function in sample.python]
            if name in names:
                expected[tuple(names[names.index(name):])] += 1
        page, found = page_of(kaa, data, "--from", word), collections.Counter()
        for stack, count in page.stacks().items():
            found[tuple(f.name for f in stack if f.kind in PYTHON)] += count
            assert stack[0].kind == THREAD and stack[1].name == name, stack
        assert found == expected and found
        share = 100 * sum(expected.values()) / len(samples)
        told = re.search(f"Only {re.escape(word)} and what it calls: ([\\d.]+) % of the samples", page.text)
        assert abs(float(told[1]) - share) <= 0.5, (told[0], share)
    said = kaa("flamegraph", "-i", data, "-o", "-", "--from", "dwon", status=1).stderr
    assert "no sample is in a function called 'dwon': did you mean 'down:mod.py'" in said


@pytest.mark.few_versions
def test_counts_are_those_of_script(kaa, python, tmp_path):
    data = tmp_path / "perf.data"
    (tmp_path / "mod.py").write_text(MODULE)
    kaa = python.kaa(kaa)
    kaa("record", "-c", "1001001", "-g", "-o", data, "--", python.path, "-m", "mod", cwd=tmp_path)
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    own, total = collections.Counter(), collections.Counter()
    for sample in samples:
        functions = [function[:2] for function in sample.python]
        own[functions[-1] if functions else None] += 1
        total.update(set(functions))
    page = page_of(kaa, data)
    assert len(samples) > 20
    found_own, found_total = page.python()
    assert found_own == own
    # What only starts the program is left out of what it starts.
    started = {key: count for key, count in total.items() if "runpy" not in key[1]}
    assert {key: count for key, count in found_total.items() if "runpy" not in key[1]} == started
    stacks = [stack for stack in page.stacks() if any(f.name == "main" and f.place.endswith("mod.py") for f in stack)]
    assert stacks and all(stack[0].kind == THREAD and stack[1].name == "<module>" for stack in stacks)
    by_thread = collections.Counter(sample.tid for sample in samples)
    threads = collections.Counter()
    for stack, count in page.stacks().items():
        threads[int(stack[0].place.split()[-1])] += count
    assert threads == by_thread and len(threads) == 2


def test_native_code_below_python(kaa, newest_python, tmp_path):
    """Without what the interpreter itself does, unless that is asked for."""
    data = tmp_path / "perf.data"
    (tmp_path / "mod.py").write_text(MODULE)
    kaa("record", "-c", "1001001", "-g", "-o", data, "--", *newest_python.command, tmp_path / "mod.py")

    def steps(*options):
        # Where Python frames could not be read, as of one sample of thousands, the interpreter's own are left.
        whole = [stack for stack in page_of(kaa, data, *options).stacks() if not any(f.kind == MARKER for f in stack)]
        return {f.name for stack in whole if any(f.name == "down" for f in stack)
                for f in stack if f.kind not in PYTHON and f.kind != THREAD}

    start = {"_start", "__libc_start_main", "_PyEval_EvalFrameDefault"}
    assert not start & steps() and steps()
    assert steps("--interpreter-frames") > steps()


def test_several_events(kaa, newest_python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-e", "cpu-clock,page-faults", "-F", "999", "-g", "-o", data, "--", *newest_python.command,
        scripts / "shapes.py", "0.2")
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    of_event = collections.Counter(sample.event.partition(":")[0] for sample in samples)
    first = kaa("flamegraph", "-i", data, "-o", tmp_path / "out.html").stderr
    assert "only samples of cpu-clock are drawn" in first and "page-faults" in first
    for event, count in of_event.items():
        assert sum(page_of(kaa, data, "--event", event).python()[0].values()) == count
