# SPDX-License-Identifier: GPL-2.0-only
"""`kaa report` on a terminal, beside `kaa report --stdio` and `kaa script` of the same recording.

The terminal is a pseudo-terminal that pyte draws (harness/terminal.py): what is compared is what a user would see.
"""
import collections
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest

from harness import script_output
from harness.process import TOP
from harness.image import image_of
from harness.terminal import Terminal

ENTRY = re.compile(r"^([+-]| ) ( {0,4}\d{1,3}\.\d\d%(?<=^.{10})  .*)$")
TEXT_STEP = re.compile(r"^[ |]*(?:--(\d+\.\d\d)%--|---)?(.*)$")
STEP = re.compile(r"^ +(?:[+-] )? *(?:(\d+\.\d\d)% )?(.*)$")


@pytest.fixture(scope="module")
def recording(tmp_path_factory, root, bpf, kaa):
    folder = tmp_path_factory.mktemp("tui")
    script = folder / "two_threads.py"
    shutil.copy(TOP / "tests" / "live" / "scripts" / "two_threads.py", script)
    data = folder / "perf.data"
    kaa("record", "-c", "1001001", "-g", "-o", data, sys.executable, script, "1.5")
    # A source that is older than the recording, by more than a file system's clock is coarse.
    os.utime(script, (time.time() - 60, time.time() - 60))
    return data


def report(kaa, data, *options, **settings):
    """The table; what else a report opens with is in test_answer_tui.py."""
    settings.setdefault("columns", 220)
    return Terminal([*kaa.command, "report", "--native", "-i", data, *options], **settings)


# What a terminal always shows of a name that has no room in its column: one sample may be in a program of BPF, in an extension
# module or in a module of the kernel, all of which may have long names.
ALWAYS_SHOWN = 26


def cells(line):
    """Those that are not the last, which has all the room that is left, by as much as is always shown."""
    *others, last = re.split(r" {2,}", line.strip())
    return [*(cell[:ALWAYS_SHOWN] for cell in others), last]


def text_entries(kaa, data, *options):
    """The entries of the text report: [cells], and of each its chain: [(percent or None, name)]."""
    entries, chains = [], []
    # With the call graph of each entry, as on the terminal.
    every = ["--percent-limit", "0", "-g", "graph,0.5"]
    for line in kaa("report", "--stdio", "--native", *every, "-i", data, *options).stdout.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if re.match(r"^ +\d+\.\d+%  ", line):
            entries.append(cells(line))
            chains.append([])
            continue
        percent, name = TEXT_STEP.match(line).groups()
        if name.strip() and name != "[...]":
            chains[-1].append((percent, name.strip()))
    return entries, chains


def split_rows(lines):
    """The same of rows of the terminal."""
    entries, chains = [], []
    for line in lines:
        entry = ENTRY.match(line)
        if entry:
            entries.append(cells(entry[2]))
            chains.append([])
            continue
        percent, name = STEP.match(line).groups()
        if name != "[...]":
            chains[-1].append((percent, name))
    return entries, chains


def shown(terminal):
    """Entries on the screen, between the titles and the last line."""
    return [cells(line[2:]) for line in terminal.lines()[2:-1] if ENTRY.match(line)]


def printed(terminal, folder):
    """All rows, by way of P."""
    terminal.press("P")
    name = re.search(r"rows to '(kaa\.hist\.\d+)'", terminal.lines()[-1])[1]
    rows, _, _ = (folder / name).read_text().partition("\n\n")
    return [line for line in rows.splitlines() if not line.startswith("#")]


def test_entries_are_those_of_the_text(kaa, recording, tmp_path):
    entries, _ = text_entries(kaa, recording)
    assert len(entries) > 20
    with report(kaa, recording, rows=30, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        assert shown(terminal) == entries[:27]
        assert split_rows(printed(terminal, tmp_path))[0] == entries
        terminal.press("end")
        assert shown(terminal) == entries[-27:]
        assert f"{len(entries)}/{len(entries)}" in terminal.lines()[0]
        terminal.press("q")
        assert terminal.wait() == 0


@pytest.mark.parametrize("options", [(), ("-g", "callee"), ("--no-children",), ("-g", "fractal,0.5,caller"), ("-G",),
                                     ("-n", "-g", "graph,5,caller,srcline"), ("--interpreter-frames", "-g", "caller,count"),
                                     ("--sort", "dso,comm"), ("-F", "+cpu", "--percent-limit", "2"), ("-g", "none")], ids=" ".join)
def test_chains_are_those_of_the_text(kaa, recording, tmp_path, options):
    """All that is below all entries, opened, is what the text has, in its order."""
    entries, chains = text_entries(kaa, recording, *options)
    with report(kaa, recording, *options, cwd=tmp_path) as terminal:
        terminal.wait_for("Samples")
        terminal.press("E")
        rows = printed(terminal, tmp_path)
    ours, theirs = split_rows(rows), (entries, chains)
    assert ours[0] == theirs[0]
    # "count" is a number without a percent sign: names tell as much.
    if "caller,count" in options:
        strip = [[re.sub(r"^(--)?\d+(--| )", "", name) for _, name in chain] for chain in theirs[1]]
        mine = [[re.sub(r"^\d+ ", "", name) for _, name in chain if "[...]" not in name] for chain in ours[1]]
        assert mine == strip
    else:
        assert ours[1] == theirs[1]
    assert any(chains) == ("none" not in options)


def test_opening_and_closing(kaa, recording):
    _, chains = text_entries(kaa, recording)
    with report(kaa, recording, rows=50) as terminal:
        terminal.wait_for("Children")
        closed = terminal.lines()[1:-1]
        terminal.press("+")
        assert terminal.lines()[2].startswith("-")
        assert STEP.match(terminal.lines()[3])[2] == chains[0][0][1]
        terminal.press("left")
        assert terminal.lines()[1:-1] == closed
        terminal.press("e", "E", "C")
        assert terminal.lines()[1:-1] == closed
        terminal.press("right", "right")
        assert terminal.lines()[2].startswith("-")


def tids(kaa, recording):
    samples = script_output.parse(kaa("script", "-i", recording).stdout)
    return collections.Counter((sample.comm, sample.tid) for sample in samples)


def test_zooms_equal_the_filters_of_the_command_line(kaa, recording, tmp_path):
    """The same rows; which of equal weight is first depends on what else there is."""
    worker = next(tid for comm, tid in tids(kaa, recording) if comm == "worker")

    def rows(terminal, elided=None):
        return sorted(row[:elided] + row[elided + 1:] if elided else row for row in split_rows(printed(terminal, tmp_path))[0])

    def text(*options):
        return sorted(text_entries(kaa, recording, *options)[0])

    with report(kaa, recording, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        everything = rows(terminal)
        # The thread, of a list; percentages are of what it has.
        terminal.press("t", "s", str(worker), "enter", "enter")
        assert f"in thread {worker}" in terminal.lines()[0]
        in_thread = text("--tid", worker)
        assert in_thread and in_thread != everything
        assert rows(terminal) == in_thread
        # And of that the functions with a name.
        terminal.press("/", "py::", "enter")
        assert shown(terminal) and all("py::" in row[-1] for row in shown(terminal))
        terminal.press("F", "F", "esc")
        assert rows(terminal) == in_thread
        terminal.press("esc")
        assert rows(terminal) == everything
        # With the percentages of everything, as these options have them.
        terminal.press("F", "/", "leaf", "enter")
        assert rows(terminal) == text("--symbol-filter", "leaf")
        terminal.press("esc", "s", "worker", "enter", "c")
        assert "in command worker" in terminal.lines()[0]
        # A column of one name is left out of the text.
        assert rows(terminal, 2) == text("--comms", "worker")
        terminal.press("c", "home", "s", "py::leaf", "enter", "d")
        dso = re.search(r"in file (\S+)", terminal.lines()[0])[1]
        assert rows(terminal, 3) == text("--dsos", dso)


def test_a_zoom_counts_its_samples(kaa, recording):
    """Without the percentages of everything, a filter is 100 % of the samples that it keeps."""
    samples = script_output.parse(kaa("script", "-i", recording).stdout)
    through = [sample for sample in samples if any(name.startswith("py::right:") for name in sample.symbols)]
    with report(kaa, recording) as terminal:
        terminal.wait_for("Children")
        terminal.press("/", "py::right:", "enter")
        title = terminal.lines()[0]
        assert f"Samples: {len(through)} of" in title
        share = 100 * sum(sample.period for sample in through) / sum(sample.period for sample in samples)
        assert abs(float(re.search(r"\((\d+\.\d+)% of all\)", title)[1]) - share) < 0.01
        comms = collections.Counter()
        for sample in through:
            comms[sample.comm] += sample.period
        assert len(shown(terminal)) == len(comms) == 2
        for row in shown(terminal):
            assert abs(float(row[0].rstrip("%")) - 100 * comms[row[2]] / sum(comms.values())) < 0.01


def line_counts(samples, name):
    """Of a function: samples that have a line of it on the stack, and that hit it, by line, as the report counts."""
    total, own, whole = collections.Counter(), collections.Counter(), 0
    for sample in samples:
        lines = {line for function, _, line in sample.python if function == name}
        total.update(lines)
        whole += bool(lines)
        # The interpreter's own frames, and nothing else, stand before what it runs.
        first = next((frame for frame in sample.frames if frame.is_python), None)
        native = sample.frames[:sample.frames.index(first)] if first else []
        if first and first.python_name[0] == name and all("_PyEval_EvalFrameDefault" in f.symbol for f in native):
            own[first.line] += 1
    return total, own, whole


def annotated(terminal):
    """{line: (total, self)} of the lines that have a number."""
    found = {}
    for line in terminal.lines()[2:-1]:
        total, own, number = re.match(r"^(.{14})(.{14})  (.{6})", line.ljust(40)).groups()
        if total.strip() or own.strip():
            found[int(number)] = (int(total.strip() or 0), int(own.strip() or 0))
    return found


@pytest.mark.parametrize("function", ["leaf", "right", "work"])
def test_python_lines_have_the_samples_of_the_script(kaa, recording, function):
    samples = script_output.parse(kaa("script", "-i", recording, "-F", "+srcline").stdout)
    total, own, whole = line_counts(samples, function)
    source = (recording.parent / "two_threads.py").read_text().splitlines()
    with report(kaa, recording, rows=60) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", f"py::{function}:", "enter", "a")
        text = terminal.lines()
        # Where the whole name has no room, the function's own stands there.
        assert f"{function}:" in text[0] and f", total {whole}" in text[0]
        # The source, line by line.
        for number, line in enumerate(source, 1):
            assert text[1 + number].rstrip().endswith(f"{number:6}  {line}".rstrip()), (number, text[1 + number])
        # Percentages of the function ...
        heaviest = max(total, key=total.get)
        assert f"{100 * total[heaviest] / whole:.2f}%" in text[1 + heaviest]
        # ... and the numbers of samples.
        terminal.press("t", "t")
        found = annotated(terminal)
        assert {line: counts[0] for line, counts in found.items()} == total
        assert sum(own.values()) <= sum(counts[1] for counts in found.values()) <= whole
        for line, count in own.items():
            assert found[line][1] >= count
        terminal.press("esc")
        assert "Children" in terminal.lines()[1]


def test_annotation_says_what_is_wrong_with_a_source(kaa, recording, tmp_path):
    script = recording.parent / "two_threads.py"
    text, times = script.read_text(), script.stat()
    try:
        script.write_text(text + "# edited\n")
        with report(kaa, recording) as terminal:
            terminal.wait_for("Children")
            terminal.press("s", "py::leaf:", "enter", "a")
            assert "was changed after the recording" in terminal.lines()[2]
            terminal.press("esc")
            script.write_text("gone = True\n")
            terminal.press("a")
            assert "has 1 line, but samples are on line" in terminal.text()
            terminal.press("esc")
            script.unlink()
            os.mkfifo(script)
            terminal.press("a")
            assert "is not a regular file" in terminal.text()
            terminal.press("esc")
            script.unlink()
            terminal.press("a")
            assert "No such file" in terminal.lines()[2]
            # The lines that have samples are told all the same.
            assert [line for line in terminal.lines()[3:-1] if re.match(r"^ +\d+\.\d\d%", line)]
    finally:
        script.unlink(missing_ok=True)
        script.write_text(text)
        os.utime(script, ns=(times.st_atime_ns, times.st_mtime_ns))


NATIVE = """
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline)) void burn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		burn(1000000);
	return 0;
}
"""


def instructions(terminal):
    """{address: (samples, instruction)} of an annotation that shows numbers of samples."""
    found = {}
    for line in terminal.lines()[2:-1]:
        match = re.match(r"^([ \d]{14}) *([0-9a-f]+)  (\S.*)$", line)
        if match:
            found[int(match[2], 16)] = (int(match[1].strip() or 0), match[3])
    return found


def test_native_instructions_have_the_samples_of_the_script(kaa, root, tmp_path):
    (tmp_path / "burn.c").write_text(NATIVE)
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-o", "burn", "burn.c"], cwd=tmp_path, check=True)
    data = tmp_path / "perf.data"
    kaa("record", "-c", "1001001", "-g", "-o", data, tmp_path / "burn", cwd=tmp_path)
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    counts = collections.Counter(sample.frames[0].ip for sample in samples if sample.symbols[0] == "burn")
    assert sum(counts.values()) > 20
    with report(kaa, data, rows=60, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", "[.] burn", "enter", "a", "t", "t")
        assert {address: count for address, (count, _) in instructions(terminal).items() if count} == counts
        # Instructions and source.
        assert "sink += i * i;" in terminal.text() and re.search(r"\b(imul|add)\b", terminal.text())


def test_a_function_without_a_name_is_annotated_from_its_start_to_its_end(kaa, root, tmp_path):
    (tmp_path / "burn.c").write_text(NATIVE)
    subprocess.run(["gcc", "-O1", "-no-pie", "-o", "full", "burn.c"], cwd=tmp_path, check=True)
    subprocess.run(["strip", "-o", "burn", "full"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["readelf", "-sW", "full"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    start, size = (int(word, base) for word, base in zip(re.search(r"([0-9a-f]+) +(\d+) FUNC .* burn$", symbols, re.M).groups(), (16, 10)))
    data = tmp_path / "perf.data"
    kaa("record", "-c", "1001001", "-g", "-o", data, tmp_path / "burn", cwd=tmp_path)
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    counts = collections.Counter(sample.frames[0].ip for sample in samples if sample.symbols[0] == f"burn+{start:#x}")
    assert sum(counts.values()) > 20
    with report(kaa, data, rows=60, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", f"[.] burn+{start:#x}", "enter", "a", "t", "t")
        found = instructions(terminal)
        assert {address: count for address, (count, _) in found.items() if count} == counts
        assert min(found) == start and max(found) == start + size - 1 and found[max(found)][1].startswith("ret")


@pytest.mark.parametrize("injected", [False, True], ids=["jitdump", "image"])
def test_jitted_code_has_the_samples_of_the_script(kaa, root, tmp_path, injected):
    """Of the bytes of a jitdump, and of the ELF file that inject makes of them."""
    data = tmp_path / "perf.data"
    jit = TOP / "tests" / "live" / "scripts" / "jit.py"
    kaa("record", "-k", "1", "-F", "999", "-g", "-o", data, sys.executable, jit, tmp_path, "lines", cwd=tmp_path)
    if injected:
        kaa("inject", "--jit", "-i", data, "-o", tmp_path / "injected.data", cwd=tmp_path)
        data = tmp_path / "injected.data"
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    counts = collections.Counter(sample.frames[0].ip for sample in samples if sample.symbols[:1] == ["code with lines"])
    assert sum(counts.values()) > 5
    with report(kaa, data, rows=30, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", "[.] code with lines", "enter", "a", "t", "t")
        found = instructions(terminal)
        # Of the image the addresses are its own.
        shift = min(counts) - min(address for address, (count, _) in found.items() if count)
        assert injected or not shift
        assert {address + shift: count for address, (count, _) in found.items() if count} == counts
        # All of it, as jit.py has it.
        assert [text.split()[0] for _, (_, text) in sorted(found.items())] == ["push", "mov", "mov", "dec", "jne", "pop", "ret"]


def test_an_objdump_that_takes_long(kaa, recording, tmp_path):
    """Escape ends it, and leaves the report as it was."""
    (tmp_path / "objdump").write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 1000\n")
    (tmp_path / "objdump").chmod(0o755)
    native = next(entry[-1] for entry in text_entries(kaa, recording)[0] if re.fullmatch(r"\[\.\] [A-Za-z_]\w+", entry[-1]))
    with report(kaa, recording, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", native, "enter")
        assert "no visible row contains" not in terminal.text()
        before = terminal.lines()[:-1]
        # No press(): that waits for the end.
        terminal.write(b"a")
        pid = tmp_path / "pid"
        while not (re.match(r"objdump: +\d+%  \(Esc: stop\)", terminal.lines()[-1]) and pid.exists() and pid.read_text().endswith("\n")):
            assert not terminal.ended() and "Instruction" not in terminal.text()
            terminal._read(0.05)
        terminal.write(b"\x1b")
        terminal.wait_for("stopped")
        assert terminal.lines()[:-1] == before
        assert not os.path.exists(f"/proc/{pid.read_text().strip()}/status")
        terminal.press("q")
        assert terminal.wait() == 0


def test_code_that_is_not_there(kaa, recording, tmp_path, perf_map):
    """A perf map has none, and the kernel's may not be read here: it is said, and addresses stand for it."""
    perf_map([b"plain"])
    data = tmp_path / "perf.data"
    make_data(data, b"map", [[0], [0]], 1)
    with report(kaa, data, rows=20) as terminal:
        terminal.wait_for("Children")
        terminal.press("a")
        assert f"/tmp/perf-{PID}.map' has names, but no code (a jitdump has both)" in terminal.lines()[2]
        assert re.search(r"100\.00% +7e0000000005", terminal.lines()[3])
    # Not a program of BPF, which /proc/kcore may not have any more.
    kernel = next(name for *_, dso, name in text_entries(kaa, recording, "--no-children")[0]
                  if dso == "[kernel.kallsyms]" and re.fullmatch(r"\[k\] [a-z_]\w+(\.\w+)*", name))
    with report(kaa, recording, rows=40) as terminal:
        terminal.wait_for("Children")
        terminal.press("o", "s", kernel, "enter", "a", "t", "t")
        assert ": own " in terminal.lines()[0]
        if os.path.exists("/proc/kcore"):
            assert len(instructions(terminal)) > 1
        else:
            assert "'/proc/kcore': cannot open: No such file" in terminal.lines()[2]
            assert re.match(r"^ +\d+ +[0-9a-f]{16}", terminal.lines()[3])


def test_search(kaa, recording):
    entries, _ = text_entries(kaa, recording)
    having = [i for i, row in enumerate(entries) if "threading.py" in " ".join(row)]
    # Three functions of the library start each thread.
    assert len(having) > 2

    def place(terminal):
        return int(re.search(r"(\d+)/\d+$", terminal.lines()[0])[1]) - 1

    with report(kaa, recording) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", "thread")
        assert place(terminal) == min(i for i, row in enumerate(entries) if "thread" in " ".join(row).lower())
        terminal.press("ing.py", "enter")
        assert place(terminal) == having[0]
        terminal.press("n")
        assert place(terminal) == having[1]
        terminal.press("N", "N")
        assert place(terminal) == having[-1] and "continued beyond the" in terminal.lines()[-1]
        terminal.press("s", "no such name", "enter")
        assert "no visible row contains" in terminal.lines()[-1]
        terminal.press("home", "s", "threading.py", "esc")
        assert place(terminal) == 0


def test_search_for_a_line_key_by_key(kaa, recording):
    """No row has "two_threads.py:" in it, before the number is there."""
    lines = kaa("report", "--stdio", "-g", "none", "--sort", "sym,srcline", "-i", recording).stdout
    line = re.search(r"py::right:\S+ +(two_threads\.py:\d+)", lines)[1]
    with report(kaa, recording) as terminal:
        terminal.wait_for("Children")
        terminal.press("s", *line, "enter")
        assert "no visible row" not in terminal.lines()[-1]
        terminal.press("a")
        terminal.wait_until(lambda: re.search(r"\bright:.* own .*, total", terminal.lines()[0]), "source of right")


def test_other_forms(kaa, recording, tmp_path):
    with report(kaa, recording, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        terminal.press("o")
        assert split_rows(printed(terminal, tmp_path))[0] == text_entries(kaa, recording, "--no-children")[0]
        terminal.press("o", "l")
        # The lines of native code are only read if the command line asks for them; that changes the order of equals.
        theirs = text_entries(kaa, recording, "--sort", "comm,dso,srcline,sym", "-g", "srcline")[0]
        ours = split_rows(printed(terminal, tmp_path))[0]
        ours, theirs = (sorted([*row[:4], row[4][:24], row[5]] for row in rows if "py::" in row[-1]) for rows in (ours, theirs))
        assert ours == theirs
        assert any(re.match(r"two_threads\.py:\d+$", row[4]) for row in ours)
        terminal.press("home", "s", "py::right:", "enter", "l")
        selected = int(re.search(r" (\d+)/\d+$", terminal.lines()[0])[1]) - 1
        assert "py::right:" in " ".join(split_rows(printed(terminal, tmp_path))[0][selected])
        terminal.press("l")
        selected = int(re.search(r" (\d+)/\d+$", terminal.lines()[0])[1]) - 1
        assert "py::right:" in " ".join(split_rows(printed(terminal, tmp_path))[0][selected])
        terminal.press("l", "L", "3", "enter", "E")
        entries, chains = text_entries(kaa, recording, "--percent-limit", "3")
        assert split_rows(printed(terminal, tmp_path)) == (entries, chains)
        terminal.press("L", "x", "enter")
        assert "'x' is not a percentage" in terminal.lines()[-1]
        terminal.press("L", "0", "enter")
        assert split_rows(printed(terminal, tmp_path))[0] == text_entries(kaa, recording)[0]


def test_rows_that_are_no_functions(kaa, recording, tmp_path):
    with report(kaa, recording, "--sort", "dso", cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        terminal.press("a")
        assert "this row is not a function" in terminal.lines()[-1]
        first = shown(terminal)[0][2]
        terminal.press("d")
        assert f"in file {first}" in terminal.lines()[0]
        assert [row[2] for row in shown(terminal)] == [first] and shown(terminal)[0][0] == "100.00%"
        # A row of a chain is one.
        terminal.press("+", "down", "a")
        assert ": own " in terminal.lines()[0]


def test_the_menu_of_a_row(kaa, recording, tmp_path):
    """What it offers does what its key does, by Enter or by the key; and it knows what there is."""
    def menu(terminal):
        terminal.press("enter")
        box = [line.split("│")[1].strip() for line in terminal.lines() if line.count("│") == 2]
        return [(line.split()[0], line.split(maxsplit=1)[1]) for line in box]

    def choose(terminal, key):
        place = [name for name, _ in menu(terminal)].index(key)
        terminal.press(*["down"] * place, "enter")

    with report(kaa, recording, rows=40, cwd=tmp_path) as terminal:
        terminal.wait_for("Children")
        before = terminal.text()
        items = dict(menu(terminal))
        first = shown(terminal)[0][-1].split()[-1]
        # A menu names as much of it as fits.
        assert items["a"].startswith("Annotate py::") and f"Annotate {first}".startswith(items["a"].rstrip("."))
        assert items["+"].startswith("Expand py::")
        assert items["c"] == "Zoom into command python3" and items["t"] == "Zoom into a thread" and items["q"] == "Go back, or exit"
        assert "Esc" not in items
        terminal.press("esc")
        assert terminal.text() == before
        choose(terminal, "+")
        assert terminal.lines()[2].startswith("-")
        assert dict(menu(terminal))["+"].startswith("Collapse py::")
        terminal.press("+")
        assert terminal.text() == before
        choose(terminal, "c")
        assert "in command python3" in terminal.lines()[0]
        items = dict(menu(terminal))
        assert items["c"] == "Zoom out of the command" and items["Esc"] == "Leave the last zoom"
        terminal.press("up", "down", "esc")
        choose(terminal, "Esc")
        assert terminal.text() == before
        terminal.press("s", "py::leaf:", "enter")
        choose(terminal, "a")
        assert "py::leaf:" in terminal.lines()[0] and ", total " in terminal.lines()[0]
        terminal.press("esc")
        choose(terminal, "D")
        for line in ("function      : py::leaf:", "kind          : Python", f"source        : {recording.parent}/two_threads.py"):
            assert line in terminal.text()
        terminal.press("esc")
        # Of what has no function there is nothing to annotate, and where there is no room there is no border.
        terminal.resize(5, 30)
        terminal.press("enter")
        assert terminal.lines()[0].startswith("a    Annotate")
        terminal.press("end")
        assert terminal.lines()[4].startswith("q    Go back, or exit")
        terminal.press("enter")
        assert terminal.wait() == 0
    with report(kaa, recording, "--sort", "dso") as terminal:
        terminal.wait_for("Children")
        assert "a" not in dict(menu(terminal))


def test_files_with_folders_and_no_titles(kaa, recording):
    with report(kaa, recording) as terminal:
        terminal.wait_for("Children")
        titles, first = terminal.lines()[1:3]
        terminal.press("H")
        assert terminal.lines()[1] == first
        terminal.press("H", "V", "s", "[.] py::leaf:", "enter", "+")
        assert terminal.lines()[1].split() == titles.split()
        image = str(image_of(recording))
        assert image in next(line for line in terminal.lines() if "py::leaf:" in line)
        assert any(line.startswith("   ") and line.endswith(f"  {image}") for line in terminal.lines())


def test_help_and_notes(kaa, recording):
    notes = [line[2:] for line in kaa("report", "--stdio", "--native", "-g", "none", "-i", recording).stdout.splitlines()
             if re.match(r"# (\d+ |recorder: )", line)]
    header = kaa("report", "--header-only", "-i", recording).stdout
    with report(kaa, recording, rows=100) as terminal:
        terminal.wait_for("Children")
        terminal.press("h")
        for key in ("annotate", "zoom", "search", "quit"):
            assert key in terminal.text()
        keys = [line for line in terminal.lines()[1:-1] if line]
        # Nor is any of it cut on a narrow terminal.
        terminal.resize(100, 60)
        assert [line for line in terminal.lines()[1:-1] if line] == keys
        terminal.resize(100, 220)
        terminal.press("q", "i")
        assert notes
        for note in notes:
            assert note in terminal.text()
        for line in header.splitlines():
            if "hostname" in line or "sample duration" in line:
                assert line[2:].strip() in terminal.text()
        terminal.press("esc")
        assert "Children" in terminal.lines()[1]


@pytest.mark.parametrize("size", [(3, 10), (1, 1), (2, 40), (5, 20), (100, 400)], ids=str)
def test_any_size_of_terminal(kaa, recording, size):
    keys = ["E", "end", "pageup", "home", "a", "H", "esc", "m", "down", "esc", "D", "esc", "h", "esc", "i", "esc", "s", "leaf", "enter", "/", "le", "enter", ">", "C", "l"]
    with report(kaa, recording, rows=size[0], columns=size[1]) as terminal:
        terminal.wait_until(lambda: terminal.text().strip(), "anything")
        terminal.press(*keys)
        assert not terminal.ended()
        terminal.resize(24, 100)
        terminal.wait_for("Children")
        terminal.press("esc", "q")
        assert terminal.wait() == 0


def test_resize(kaa, recording):
    entries, _ = text_entries(kaa, recording)
    with report(kaa, recording, rows=10, columns=80) as terminal:
        terminal.wait_for("Children")
        terminal.press("end")
        for rows, columns in ((40, 200), (12, 60), (24, 200)):
            terminal.resize(rows, columns)
            assert f"{len(entries)}/{len(entries)}" in terminal.lines()[0]
            last = [row for row in terminal.lines()[2:-1] if row][-1]
            *shown, dso = cells(last[2:])[:4]
            # A narrow window leaves less of a file's name.
            assert shown == entries[-1][:3] and entries[-1][3].startswith(dso.removesuffix(".."))
            assert dso == entries[-1][3] or columns < 80
            assert terminal.lines()[-1].startswith("h: keys")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_leave_the_terminal_as_it_was(kaa, recording, number):
    with report(kaa, recording) as terminal:
        before = terminal.initial_modes
        terminal.wait_for("Children")
        assert terminal.modes() != before
        os.kill(terminal.pid, number)
        assert terminal.wait() == -number
        assert terminal.modes() == before
        # The cursor is seen again.
        assert terminal.raw.rstrip().rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l")


def test_ctrl_c_ends_it(kaa, recording):
    with report(kaa, recording) as terminal:
        before = terminal.initial_modes
        terminal.wait_for("Children")
        terminal.press("\x03")
        assert terminal.wait() == -signal.SIGINT
        assert terminal.modes() == before


def test_stopped_and_continued(kaa, recording):
    """Ctrl-Z and fg, with a shell that has job control."""
    with Terminal(["bash", "--norc", "-i"], columns=120, rows=30, env={"PS1": "ready> "}) as terminal:
        terminal.wait_for("ready>")
        terminal.write(f"{' '.join(map(str, kaa.command))} report --native -i {recording}\r".encode())
        terminal.wait_for("Children")
        terminal.press("down", "down")
        terminal.write(b"\x1a")
        terminal.wait_for("Stopped")
        terminal.write(b"echo a$((1 + 1))b\r")
        terminal.wait_for("a2b")
        terminal.resize(20, 100)
        terminal.write(b"fg\r")
        terminal.wait_until(lambda: re.search(r" 3/\d+$", terminal.lines()[0]) and terminal.lines()[-1].startswith("h: keys"),
                            "table")
        terminal.press("q")
        # What is typed before that is kaa's.
        terminal.wait_for("ready>")
        terminal.write(b"echo a$((2 + 1))b\r")
        terminal.wait_for("a3b")


@pytest.mark.parametrize("env", [{"TERM": "vt100"}, {"NO_COLOR": "1"}, {"TERM": "linux"}], ids=str)
def test_colours_where_they_are_wanted(kaa, recording, env):
    with report(kaa, recording, columns=100, env=env) as terminal:
        terminal.wait_for("Children")
        terminal.press("down")
        assert shown(terminal)
        colours = re.findall(rb"\x1b\[[0-9;]*3[0-7][0-9;]*m", terminal.raw)
        assert bool(colours) == (env == {"TERM": "linux"})


def test_where_it_is_text(kaa, recording):
    """Wherever there is no terminal to move on, and where text was asked for."""
    expected = kaa("report", "--stdio", "-i", recording).stdout
    assert kaa("report", "-i", recording).stdout == expected
    for env, options in (({"TERM": "dumb"}, ()), ({"TERM": None}, ()), ({}, ("--stdio",)), ({}, ("-g", "folded")),
                         ({}, ("-q",)), ({}, ("--header-only",)), ({}, ("-t", ","))):
        with report(kaa, recording, *options, env={"PAGER": "cat", **env}, draw=False) as terminal:
            assert terminal.wait() == 0
            assert b"\x1b" not in terminal.raw and len(terminal.raw) > 100
    # No keys could come.
    with Terminal(["sh", "-c", f"{kaa.command[0]} report -i {recording} </dev/null"], env={"PAGER": "cat"}, draw=False) as terminal:
        assert terminal.wait() == 0
        assert b"\x1b" not in terminal.raw and b"own   total" in terminal.raw
    refused = kaa("report", "--tui", "-i", recording, status=1)
    assert "--tui needs a terminal" in refused.stderr
    for options in (["--stdio"], ["-g", "folded"], ["--stats"], ["-t", ","]):
        assert "cannot be used with" in kaa("report", "--tui", *options, "-i", recording, status=129).stderr


# --- Files made for the purpose

PID = 4200001
CODE = 0x7e0000000000


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def make_data(path, comm, chains, functions):
    """perf.data of an event of task-clock; an address is CODE + 64 * function."""
    out = bytearray(record(3, 0, struct.pack("<II", PID, PID) + comm.ljust(16, b"\0")))
    out += record(1, 2, struct.pack("<IIQQQ", PID, PID, CODE, 64 * functions, 0) + b"//anon\0\0")
    for time_of, chain in enumerate(chains, 1000):
        ips = [0xFFFFFFFFFFFFFE00, *(CODE + 64 * function + 5 for function in reversed(chain))]
        out += record(9, 2, struct.pack("<QIIQQQ", ips[1], PID, PID, time_of, 1000, len(ips)) + struct.pack(f"<{len(ips)}Q", *ips))
    out += record(68, 0, b"")
    flags = 1 << 5 | 1 << 8 | 1 << 9 | 1 << 13
    attribute = struct.pack("<IIQQQQQ", 1, 128, 1, 1000, 0x127, 0, flags).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, 104, 144, 248, len(out), 0, 0) + b"\0" * 32
    path.write_bytes(head + attribute + bytes(out))
    path.chmod(0o600)


@pytest.fixture
def perf_map():
    path = f"/tmp/perf-{PID}.map"
    # No process has the number: it is beyond the kernel's greatest.
    yield lambda names: open(path, "wb").write(
        b"".join(b"%x 40 %s\n" % (CODE + 64 * i, name) for i, name in enumerate(names)))
    if os.path.exists(path):
        os.unlink(path)


HOSTILE = [
    b"plain", b"\x1b]0;owned\x07title", b"\x1b[2Jclear", b"c1\xc2\x9b31mred", b"raw\x9b31mred", b"bidi\xe2\x80\xaeesrever",
    b"\xc3\xa9t\xc3\xa9", "日本語の名前".encode(), "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301x".encode(),
    "\u0301first".encode(), b"\xff\xfe invalid \xc0\x80", "\U0001f40d\u200d\U0001f525 zwj".encode(), b"x" * 3000,
    "\ufeffbom\u2028line".encode(),
]


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_hostile_names_never_reach_the_terminal(kaa, tmp_path, perf_map, locale):
    perf_map(HOSTILE)
    data = tmp_path / "perf.data"
    make_data(data, b"\x1b[31mevil\x07\r", [[0, i] for i in range(len(HOSTILE)) for _ in range(i + 1)], len(HOSTILE))
    with report(kaa, data, rows=40, columns=120, env={"LC_ALL": locale}) as terminal:
        terminal.wait_for("Children")
        terminal.press("E", ">", ">", "<", "<", "s", "clear", "enter", "a", "esc", "i", "esc", "home")
        rows = terminal.lines()
        assert rows[0].startswith("Samples: ") and rows[-1].startswith("h: keys")
        assert terminal.screen.title == ""
        # Each escape sequence is one of a terminal's own few: moving, erasing, attributes, modes.
        known = rb"\x1b(\[[0-9;?]*[A-HJKPXLMSTbcdfghlmnr@]|[()][A-Z0-9]|[=>78MDEcH]|\]R|\[\][0-9]*)"
        rest = re.sub(known, b"", terminal.raw)
        assert b"\x1b" not in rest and b"\x9b31m" not in terminal.raw.replace(b"\xc2\x9b", b"\x9b")
        assert b"owned\x07" not in terminal.raw and b"[31mevil" not in re.sub(rb"\?\[31mevil", b"", terminal.raw)
        assert "\u202e".encode() not in terminal.raw and b"\xff" not in terminal.raw
        text = terminal.text()
        assert "?[31mevil" in text and "plain" in text
        assert ("日 本" in text or "日本" in text) == (locale == "C.UTF-8")


def test_a_large_recording(kaa, tmp_path, perf_map):
    """20,000 entries, chains of a tree of 100,000 nodes and one that is 2,000 deep."""
    functions = 20000
    perf_map([b"function_%d" % i for i in range(functions)])
    chains = [[0, *((i * 7919 + level * 31) % functions for level in range(1, 8))] for i in range(20000)]
    chains.append([i % functions for i in range(2000)])
    data = tmp_path / "perf.data"
    make_data(data, b"large", chains, functions)
    with report(kaa, data, rows=40, columns=120) as terminal:
        terminal.wait_for("Children")
        assert "/20000" in terminal.lines()[0]
        terminal.press("end")
        assert "20000/20000" in terminal.lines()[0]
        drawn = len(terminal.raw)
        terminal.press("up", "up", "pageup", "pagedown")
        # What is drawn is a screen at most, each time.
        assert len(terminal.raw) - drawn < 4 * 40 * 120 * 2
        terminal.press("home", "s", "function_19999", "enter")
        assert "no visible row contains" not in terminal.text()
        terminal.press("E")
        terminal.wait_until(lambda: int(re.search(r"/(\d+)", terminal.lines()[0])[1]) > 30000, "opened rows")
        terminal.press("end", "C")
        terminal.wait_until(lambda: "/20000" in terminal.lines()[0], "closed rows")


def test_long_work_can_be_stopped(kaa, tmp_path, perf_map):
    """By Escape, while the report of 50,000 functions is made anew; and Ctrl-C ends more than the work."""
    functions = 50000
    perf_map([b"function_%d" % i for i in range(functions)])
    data = tmp_path / "perf.data"
    make_data(data, b"large", [[i // 1000, i // 100, i // 10, i] for i in range(functions)], functions)
    with report(kaa, data, rows=20, columns=100) as terminal:
        terminal.wait_for("Children")
        shown_before = terminal.lines()[:-1]

        def stopped_after(delay):
            """A moment after the key the process stands still, until it is long that it works."""
            before = terminal._bytes_read()
            terminal.write(b"F")
            time.sleep(delay)
            os.kill(terminal.pid, signal.SIGSTOP)
            time.sleep(0.4)
            terminal.write(b"\x1b")
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.settle(before + 3)
            # Without a zoom, the percentages are of everything in any case.
            assert terminal.lines()[:-1] == shown_before
            return terminal.lines()[-1].startswith("stopped")

        # Too early it has not begun, too late it is done.
        assert any(map(stopped_after, [0.02, 0.05, 0.1, 0.2, 0.4] * 5))
        terminal.write(b"F\x03")
        assert terminal.wait() == -signal.SIGINT
        assert terminal.modes() == terminal.initial_modes


def test_a_recording_of_perf(kaa, perf_sid, scripts, tmp_path):
    data = tmp_path / "perf.data"
    perf_sid("record", "-q", "-e", "cpu-clock,task-clock", "-F", "499", "-g", "-o", data, "--",
             "/usr/bin/python3.14", scripts / "two_threads.py", "1", status=None, cwd=tmp_path)

    def without_bpf(entries):
        """A recorder beside this one may have BPF programs, whose names are wider than the column of the terminal."""
        return [entry for entry in entries if "bpf_prog_" not in entry[-1]]

    entries, _ = text_entries(kaa, data)
    with report(kaa, data, cwd=tmp_path, rows=30) as terminal:
        terminal.wait_for("[1 of 2]")
        first = split_rows(printed(terminal, tmp_path))[0]
        terminal.press("tab")
        assert "[2 of 2]" in terminal.lines()[0] and "task-clock" in terminal.lines()[0]
        second = split_rows(printed(terminal, tmp_path))[0]
        assert without_bpf(first + second) == without_bpf(entries)
        terminal.press("backtab")
        assert "[1 of 2]" in terminal.lines()[0]
        terminal.press("enter")
        assert "Tab  The next event" in terminal.text()
        terminal.press("tab")
        assert "[2 of 2]" in terminal.lines()[0]


def test_a_file_without_samples(kaa, tmp_path):
    data = tmp_path / "perf.data"
    make_data(data, b"none", [], 1)
    with report(kaa, data) as terminal:
        before = terminal.initial_modes
        assert terminal.wait() == 1
        assert "has no samples to show" in terminal.text()
        assert terminal.modes() == before
