# SPDX-License-Identifier: GPL-2.0-only
"""Interpreters without symbols, as distributions have them: their functions have bounds, their evaluation function and
call glue are folded, C code that works is not.

The oracle is scripts/call_ways.py, which says by its names what lies between two Python functions; for interpreters that
have symbols, also the interpreter itself, beside a copy that was stripped."""
import collections
import re

import pytest

from harness.chance import most
from harness.noticed import noticed_in
from harness.process import run

RATE = "1999"
SECONDS = "2"
# Fewer samples than this say nothing.
ENOUGH = 10

GLUE = {"glue_direct", "glue_method", "glue_object", "glue_arguments", "glue_generator"}
WORK = {"work_sort", "work_reduce", "work_map", "work_replace"}


def record(python, kaa, command, scripts, data):
    python.kaa(kaa).inside(noticed_in(data))("record", "-q", "-F", RATE, "-g", "-o", data, *command, scripts / "call_ways.py", SECONDS)


def report(python, kaa, data, *options):
    return python.kaa(kaa)("report", "--stdio", "--no-children", "--no-inline", "-i", data, *options).stdout


def stacks(python, kaa, data, *options):
    """Each stack of the report with the number of its samples: names from the outermost function on."""
    text = report(python, kaa, data, "--sort", "comm", "-g", "caller,folded,0,count", *options)
    for line in text.splitlines():
        match = re.match(r"(\d+) (\S.*;.*)$", line)
        if match:
            yield int(match[1]), match[2].split(";")


def between(python, kaa, data, name=lambda name: name):
    """Of each glue_x and work_x: what lies between it and the Python function that it calls, with how many samples."""
    found = collections.defaultdict(collections.Counter)
    for count, names in stacks(python, kaa, data):
        caller, natives = None, []
        for frame in names:
            match = re.match(r"py::([^:]*):", frame)
            if not match:
                natives.append(name(frame))
                continue
            if caller and caller in GLUE | WORK:
                found[caller][tuple(natives)] += count
            caller, natives = match[1], []
    return found


def check_ways(found):
    for way in GLUE | WORK:
        assert sum(found[way].values()) >= ENOUGH, f"{way}: {found[way]}"
    # The first calls of a function may take other ways than the thousands after them.
    for way in GLUE | WORK:
        count, folded = sum(found[way].values()), found[way][()]
        assert (count - folded if way in GLUE else folded) <= most(0.05, count), f"{way}: {found[way]}"


def addresses(python, kaa, data):
    """The entries of the interpreter's file that are bare addresses."""
    text = report(python, kaa, data, "--sort", "symbol,dso", "-g", "none")
    return re.findall(r"\[\.\] (0x[0-9a-f]+) +\S*python\S*", text)


def test_glue_is_folded_and_work_is_not(root, bpf, python, kaa, scripts, tmp_path):
    data = tmp_path / "perf.data"
    record(python, kaa, [python.path], scripts, data)
    assert not addresses(python, kaa, data)
    check_ways(between(python, kaa, data))
    evaluating = sum(count for count, names in stacks(python, kaa, data, "--interpreter-frames")
                     if any(name.startswith("_PyEval_EvalFrameDefault") for name in names))
    assert evaluating >= 10 * ENOUGH


def test_c_code_without_a_name_is_no_interpreter(root, bpf, python, kaa, tmp_path):
    """str.replace() ends in a call of replace(), which in some builds has no name and stands behind Python code itself."""
    script, data = tmp_path / "replaces.py", tmp_path / "perf.data"
    script.write_text("import time\ntext = '1,2' * 100000\nend = time.process_time() + 1\n"
                      "while time.process_time() < end:\n    text.replace('1', 'two')\n")
    python.kaa(kaa).inside(noticed_in(data))("record", "-q", "-F", RATE, "-g", "-o", data, "--", python.path, "-S", script)
    lines = python.kaa(kaa)("script", "-F", "spent", "-i", data).stdout.splitlines()
    kinds = collections.Counter(line.strip().partition(":")[0] for line in lines)
    assert kinds["native"] > 5 * kinds["interpreter"] + ENOUGH, kinds


ENDS = """
import heapq, time
TEXT = "1,2" * 100000
NUMBERS = [float(i * 7919 % 10007) for i in range(10007)]
KEYS = [str(i) for i in range(20000)]

def spends(work):
    end = time.process_time() + 0.5
    while time.process_time() < end:
        work()

def replace():
    TEXT.replace("1", "two")

def heappop():
    heap = NUMBERS[:]
    while heap:
        heapq.heappop(heap)

def fromkeys():
    dict.fromkeys(KEYS)

for work in replace, heappop, fromkeys:
    spends(work)
"""


@pytest.mark.stripped
@pytest.mark.every_version
def test_what_a_method_ends_with_has_its_name(root, bpf, python, kaa, tmp_path):
    """Many methods end with a jump to the function that does the work; which of them, every compiler decides anew."""
    script, data = tmp_path / "ends.py", tmp_path / "perf.data"
    script.write_text(ENDS)
    python.kaa(kaa).inside(noticed_in(data))("record", "-q", "-F", RATE, "-g", "-o", data, "--", python.path, "-S", script)
    spent = collections.defaultdict(collections.Counter)
    for sample in python.kaa(kaa)("script", "-F", "spent,ip,sym", "-i", data).stdout.split("\n\n"):
        line, _, stack = sample.strip().partition("\n")
        kind, _, name = line.strip().partition(":")
        caller = re.search(r"py::(replace|heappop|fromkeys):", stack)
        if caller and kind == "native":
            spent[caller[1]]["" if "+0x" in name else caller[1] if caller[1] in name.lower() else name] += 1
    for caller, names in spent.items():
        assert names[caller] > 0.5 * names.total() and names[""] < 0.1 * names.total(), spent
    assert len(spent) == 3 and all(names.total() > ENOUGH for names in spent.values()), spent


def methods(build_dir, copy, names):
    """{symbol: name} of those functions that have none in the copy but Python's."""
    program = build_dir / "tests" / "unit" / "dump_symbols"
    text = "".join(f"{start:x}\n" for start in names)
    lines = run([program, "--functions", copy, "/nonexistent"], data=text.encode()).stdout.splitlines()
    told = {symbol: line.split("\t")[0].partition(" ")[2] for symbol, line in zip(names.values(), lines)}
    return {symbol: name for symbol, name in told.items() if name not in names.values() and "+0x" not in name}


@pytest.fixture
def twin(build_dir, python, tmp_path):
    """How to run the interpreter from a stripped copy of its file, and the names of that file's functions by their starts, and
    what Python calls them."""
    real = python.file
    copy = tmp_path / real.name
    run(["strip", "-o", copy, real])
    names = {}
    for line in run(["readelf", "-sW", real]).stdout.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC":
            names.setdefault(int(words[1], 16), words[7].split("@")[0].split(".")[0])
    prefix = run([python.path, "-c", "import sys; print(sys.base_prefix)"]).stdout.strip()
    command = ["env", f"LD_PRELOAD={copy}", python.path] if python.shared else ["env", f"PYTHONHOME={prefix}", copy]
    return command, copy.name, names, methods(build_dir, copy, names)


@pytest.mark.unstripped
def test_a_stripped_copy_is_reported_like_its_original(root, bpf, python, twin, kaa, scripts, tmp_path):
    command, file, names, methods = twin
    record(python, kaa, [python.path], scripts, tmp_path / "full.data")
    record(python, kaa, command, scripts, tmp_path / "stripped.data")

    def true_name(name):
        match = re.match(re.escape(file) + r"\+0x([0-9a-f]+)$", name)
        symbol = names.get(int(match[1], 16), name) if match else name.split(".")[0]
        return name if name in methods.values() else methods.get(symbol, symbol)

    full = between(python, kaa, tmp_path / "full.data", true_name)
    stripped = between(python, kaa, tmp_path / "stripped.data", true_name)
    check_ways(full)
    check_ways(stripped)
    for way in GLUE | WORK:
        # So many that the other recording, which may have fewer samples, has some of them, too.
        least = max(ENOUGH, 20 * sum(stripped[way].values()) / sum(full[way].values()))
        often = {natives for natives, count in stripped[way].items() if count >= least}
        assert often or sum(full[way].values()) < 200, f"{way}: {stripped[way]}"
        assert often <= set(full[way]), f"{way}: {often} beside {full[way]}"
    entries = report(python, kaa, tmp_path / "stripped.data", "--sort", "symbol", "-g", "none")
    assert f"{file}+0x" in entries, "nothing was stripped"
    assert not addresses(python, kaa, tmp_path / "stripped.data")
