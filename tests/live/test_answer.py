# SPDX-License-Identifier: GPL-2.0-only
"""The first screen of `kaa report`, held against what programs know of themselves and against `kaa script`."""
import collections
import os
import re
import subprocess
import sys

import pytest

from harness import script_output
from harness.answer import WIDE, functions_of, kinds_of, lines_of, rows_of, sections
from harness.chance import deviations
from harness.noticed import noticed_in
from harness.process import started
from harness.terminal import Terminal
from harness.waiting import until_busy, while_busy

pytestmark = pytest.mark.usefixtures("bpf")


def record(kaa, python, data, *words):
    # With a count, each sample weighs the same.
    python.kaa(kaa).inside(noticed_in(data))("record", "-c", "1001001", "-g", "-o", data, "--", python.path, *words)


def screen(kaa, python, data):
    return python.kaa(kaa)("report", "-i", data, env=WIDE).stdout


@pytest.mark.few_versions
@pytest.mark.parametrize("share", [30, 5])
def test_planted_shares(kaa, python, scripts, tmp_path, share):
    data = tmp_path / "perf.data"
    took = python.kaa(kaa).inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "--", python.path,
                                                    scripts / "planted.py", str(share), "1.2").stdout
    light, heavy = map(float, took.split())
    text = screen(kaa, python, data)
    found = {name: own for (name, file), (own, total) in functions_of(text).items() if file.endswith("planted.py")}
    planted = light / (light + heavy)
    # Of few samples it may have none.
    measured = found.get("light", 0) / (found.get("light", 0) + found["heavy"])
    periods = [sample.period for sample in script_output.parse(python.kaa(kaa)("script", "-i", data).stdout)
               if any(name in found for name, _, _ in sample.python)]
    # What chance does, and what a row is rounded by.
    allowed = deviations(periods, planted) + 0.002
    assert len(periods) > 30 and abs(measured - planted) < allowed, (planted, measured, len(periods))
    assert list(functions_of(text))[0][0] == "heavy"
    # What to type next is of that function.
    assert re.search(r"^Who calls it: +\S*kaa report --callers heavy", text, re.M), text
    # They call no Python code.
    assert all(own == total for (name, _), (own, total) in functions_of(text).items() if name in ("light", "heavy"))


KINDS = {"interpreter": "interpreter", "native": "native", "collection": "garbage collection",
         "allocation": "allocation", "kernel": "kernel", "imports": "import"}


def check_kind(kaa, python, data, kind):
    """Of the samples in the work; how much the interpreter's start is beside it depends on the machine."""
    found = kinds_of(screen(kaa, python, data))
    samples = script_output.parse(python.kaa(kaa)("script", "-i", data).stdout)
    work = [sample for sample in samples if any(name == "until_done" for name, _, _ in sample.python)]
    # What calls the allocator is beside it, the more the quicker the kernel gives pages.
    least = (0.94 if kind == "allocation" else 0.97) - deviations([1] * len(work), 0.02)
    # A recorder that waits for a CPU notices the Python late.
    noticed = samples[samples.index(work[0]):] if work else []
    assert len(work) > max(30, len(noticed) / 2)
    assert found.get(KINDS[kind], 0) > least * percent(len(work), samples), (found, len(work), len(samples))


@pytest.mark.few_versions
@pytest.mark.unstripped
@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kaa, python, scripts, tmp_path, kind):
    data = tmp_path / "perf.data"
    # What site brings along finds modules, too.
    record(kaa, python, data, "-S", scripts / "spent.py", kind, "1", tmp_path)
    check_kind(kaa, python, data, kind)


@pytest.mark.parametrize("kind", ["interpreter", "kernel", "imports"])
def test_kinds_that_need_no_names(kaa, newest_python, scripts, tmp_path, kind):
    """Of a stripped interpreter, too."""
    data = tmp_path / "perf.data"
    record(kaa, newest_python, data, "-S", scripts / "spent.py", kind, "1", tmp_path)
    check_kind(kaa, newest_python, data, kind)


@pytest.mark.few_versions
def test_the_end_of_python(kaa, python, tmp_path):
    """What the interpreter does in the end is known by its outermost function, whatever that calls."""
    script, data = tmp_path / "ending.py", tmp_path / "perf.data"
    script.write_text("kept = [{i: [i]} for i in range(300000)]\n")
    record(kaa, python, data, script)
    program = python.kaa(kaa)
    samples = script_output.parse(program("script", "-i", data).stdout)
    spent = [line.strip() for line in program("script", "-F", "spent", "-i", data).stdout.splitlines()]
    assert len(spent) == len(samples)
    ends = [kind for sample, kind in zip(samples, spent) if not sample.python and
            {"Py_FinalizeEx", "Py_Finalize", "_Py_Finalize"} & {symbol.partition(".")[0] for symbol in sample.symbols}]
    assert ends and set(ends) - {"GIL wait:take_gil"} == {"end of Python"}
    assert spent.count("end of Python") == ends.count("end of Python")
    share = kinds_of(screen(kaa, python, data))["end of Python"]
    assert abs(share - percent(ends.count("end of Python"), samples)) < 0.5


def python_frames(sample):
    """(function, file, line) of each, the innermost first."""
    return [(*frame.python_name, frame.line) for frame in sample.frames if frame.is_python]


def percent(count, samples):
    return 100 * count / len(samples)


# Callers, recursion, a generator, two functions in one line.
MIX = """\
import time

def leaf(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total

def down(depth):
    if depth:
        return down(depth - 1) + leaf(300)
    return leaf(3000)

def numbers(n):
    for i in range(n):
        yield i * 3

def use(n):
    return sum(numbers(n)) + sum([i * 7 for i in range(n)])

def main():
    end = time.process_time() + 0.8
    while time.process_time() < end:
        down(20)
        use(3000)
        sorted(numbers(3000), key=lambda x: -x)

main()
"""


@pytest.mark.few_versions
def test_it_counts_what_script_shows(kaa, python, tmp_path):
    data = tmp_path / "perf.data"
    script = tmp_path / "mix.py"
    script.write_text(MIX)
    record(kaa, python, data, script)
    samples = script_output.parse(python.kaa(kaa)("script", "-F", "+srcline", "-i", data).stdout)
    own, total, lines = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in samples:
        frames = python_frames(sample)
        own[frames[0][:2] if frames else None] += 1
        total.update({frame[:2] for frame in frames})
        lines[frames[0][1:] if frames else None] += 1
    text = screen(kaa, python, data)
    near = 0.0501
    # CPython before 3.11 calls many functions by one name, such as __init__.
    rows = {key: shares for key, shares in functions_of(text).items() if not key[0].startswith(("<", "__"))}
    assert len(samples) > 20 and len(rows) >= 3 <= len(lines_of(text)), text
    for (name, place), (row_own, row_total) in rows.items():
        keys = [key for key in total if key[0] == name and key[1].endswith(place)]
        assert len(keys) == 1, keys
        assert abs(percent(own[keys[0]], samples) - row_own) < near, (keys, text)
        assert abs(percent(total[keys[0]], samples) - row_total) < near, (keys, text)
    for (file, line), row_own in lines_of(text).items():
        counted = sum(count for key, count in lines.items() if key and key[0].endswith(file) and key[1] == line)
        assert abs(percent(counted, samples) - row_own) < near, (file, line, text)
    shares = [float(row.split("%")[0]) for row in sections(text)[1]]
    assert abs(sum(shares) - 100) < 0.06 * len(shares)
    check_python_only(python.kaa(kaa), data, samples)
    check_own_fields(python.kaa(kaa), data, samples, kinds_of(text))


def check_own_fields(kaa, data, samples, kinds):
    """-F pysym, pyline and spent are of the innermost Python frame, and as many of each kind as the report says."""
    def field(name):
        return collections.Counter(line.strip() for line in kaa("script", "-F", name, "-i", data).stdout.splitlines())
    frames = [python_frames(sample)[:1] for sample in samples]
    assert field("pysym") == collections.Counter(f"py::{frame[0][0]}:{frame[0][1]}" if frame else "-" for frame in frames)
    assert field("pyline") == collections.Counter(
        ":".join(map(str, [frame[0][1], *[frame[0][2]] * bool(frame[0][2])])) if frame else "-" for frame in frames)
    spent = collections.Counter()
    for value, count in field("spent").items():
        spent[value.partition(":")[0]] += count
    assert spent.total() == len(samples)
    for kind, count in spent.items():
        assert abs(kinds[kind] - percent(count, samples)) < 0.5 + 0.01 * kinds[kind], (kind, kinds, spent)


def check_python_only(kaa, data, samples):
    """perf's table, with all that is below a Python frame counted as that frame's, by function and by line."""
    def table(*keys):
        rows = kaa("report", "--python-only", "-n", "-t", ";", "-g", "none", "-i", data, "--sort", ",".join(keys)).stdout
        rows = [row.split(";") for row in rows.splitlines() if row and not row.startswith("#")]
        return {row[3].strip().removeprefix("[.] "): (int(row[2]), float(row[0].strip(" %"))) for row in rows}
    names = [[f"py::{frame.python_name[0]}:{frame.python_name[1]}" for frame in sample.frames if frame.is_python]
             for sample in samples]
    own = collections.Counter(stack[0] for stack in names if stack)
    total = collections.Counter(name for stack in names for name in set(stack))
    found = {name: row for name, row in table("symbol").items() if name.startswith("py::")}
    assert {name: count for name, (count, _) in found.items()} == {name: own[name] for name in total}
    for name, (_, share) in found.items():
        assert abs(share - percent(total[name], samples)) < 0.0051
    lines = collections.Counter(f"{os.path.basename(file)}:{line}" for (_, file, line) in
                                (python_frames(sample)[0] for sample in samples if python_frames(sample)) if line)
    found = {line: count for line, (count, _) in table("srcline").items() if line in lines}
    assert found == lines


@pytest.mark.parametrize("words", [["report", "--stdio", "--python-only"], ["export", "--python-only"]])
def test_python_only_shows_no_more(kaa, newest_python, scripts, tmp_path, words):
    """Of a stack with Python frames; what has none stays as it is, and nothing is lost."""
    data = tmp_path / "perf.data"
    record(kaa, newest_python, data, scripts / "spent.py", "native", "0.5", tmp_path)
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    text = kaa("export", "--python-only", "-i", data).stdout if words[0] == "export" else None
    if text is None:
        # A sample whose Python frames could not be read has no others.
        unread = any("list_sort" in symbol for sample in samples if not sample.python for symbol in sample.symbols)
        assert ("list_sort" in kaa(*words, "--percent-limit", "0", "-i", data).stdout) == unread
        return
    lines = [line.rsplit(" ", 1) for line in text.splitlines()]
    assert sum(int(count) for _, count in lines) == len(samples)
    with_python = [stack for stack, _ in lines if ".py)" in stack]
    assert with_python and all(step.endswith(")") or step.startswith("[") for stack in with_python
                               for step in stack.split(";")[1:])


def test_what_asks_for_perfs_table(kaa, newest_python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    record(kaa, newest_python, data, scripts / "doc_script.py", "0.6")
    assert "Spent in:" in kaa("report", "-i", data).stdout
    assert "Spent in:" in kaa("report", "--stdio", "-i", data).stdout
    for words in (["--native"], ["-g"], ["-n"], ["--sort", "dso"], ["--fields", "sample"], ["--like-perf"], ["--no-children"],
                  ["-q"], ["--header"], ["-t", ","], ["--stdio", "-S", "foo"]):
        text = kaa("report", *words, "-i", data).stdout
        assert "Spent in:" not in text and text, words


def test_what_the_screen_leaves_out_is_said(kaa, newest_python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-e", "cpu-clock,page-faults", "-F", "999", "-g", "-o", data, "--",
                                 *newest_python.command, scripts / "shapes.py", "0.3")
    text = kaa("report", "-i", data).stdout
    samples = collections.Counter(sample.event.partition(":")[0]
                                  for sample in script_output.parse(kaa("script", "-i", data).stdout))
    assert f"Not shown here: {samples['page-faults']:,} samples of page-faults" in text
    assert f"{samples['cpu-clock']:,} samples" in text


def test_source_that_has_changed(kaa, newest_python, tmp_path):
    script = tmp_path / "changes.py"
    script.write_text("def spin(n):\n    while n:\n        n -= 1\n\n\nimport time\nend = time.process_time() + 0.6\n"
                      "while time.process_time() < end:\n    spin(100000)\n")
    data = tmp_path / "perf.data"
    record(kaa, newest_python, data, script)
    before = kaa("report", "-i", data, env=WIDE).stdout
    assert "n -= 1" in before and "has changed" not in before
    script.write_text("# a line more\n" + script.read_text())
    for words in ("report",), ("report", "--callers", "spin"):
        after = kaa(*words, "-i", data, env=WIDE).stdout
        assert "changes.py:" in after and not re.search(r"while n:|n -= 1|def spin", after), after
        assert "changes.py has changed since the recording, so its lines have no text" in after
    script.unlink()
    assert "changes.py:3" in kaa("report", "-i", data, env=WIDE).stdout


def ending_of(text):
    """The rows of functions and of lines that record ends with, and the line after them; None: there are none."""
    if "   own " not in text:
        return None
    functions, lines, *after = text[text.index("\n\n   own") + 2:].split("\n\n")
    # What there is to doubt may stand before it.
    return rows_of(functions), rows_of(lines), next(part.strip() for part in after if part.startswith("All of it:"))


def is_same_row(row, other):
    """Own and total time, and the name or the line, of which either may be cut: how much of a name and how many folders of a
    place there is room for depends on the rows beside it."""
    name, other_name = (words[2].rpartition("/")[2] for words in (row, other))
    return row[:2] == other[:2] and (name == other_name or "..." in name + other_name and name[-3:] == other_name[-3:])


def test_record_ends_with_the_answer(kaa, newest_python, scripts, tmp_path):
    """On a terminal the rows that the report begins with, each of one percent at least, and the command for the rest."""
    data = "with a blank.data"
    command = ["record", "-F", "999", "-g", "-o", data, "--", *newest_python.command, scripts / "planted.py", "30", "0.8"]
    # By a short name: the command for the rest is one line of the terminal.
    (tmp_path / "kaa").symlink_to(kaa.command[0])
    with Terminal([*noticed_in(tmp_path / data), "./kaa", *command], rows=60, columns=80, cwd=tmp_path) as terminal:
        assert terminal.wait() == 0
        text = terminal.text()
    assert all(len(line) <= 80 for line in text.splitlines())
    ending, whole = ending_of(text), kaa("report", "-i", tmp_path / data, env={**os.environ, "COLUMNS": "80"}).stdout
    for rows, all_rows in zip(ending, sections(whole)[1:]):
        rows = [row.split() for row in rows if " other " not in row]
        assert 1 <= len(rows) <= 5 and all(float(row[0][:-1]) >= 1 for row in rows[1:])
        assert len(rows) <= len(all_rows) and all(is_same_row(row, other.split()) for row, other in zip(rows, all_rows)), (rows, all_rows)
    assert ending[2].startswith("All of it:  ") and ending[2].endswith(f"report -i '{data}'")
    again = subprocess.run(ending[2].removeprefix("All of it:"), shell=True, cwd=tmp_path, capture_output=True,
                           check=True, text=True)
    assert "Spent in:" in again.stdout


@pytest.mark.few_versions
def test_the_ending_says_what_the_report_says(kaa, python, tmp_path):
    """What the time of a function was spent in, by the functions that are inlined into others, too."""
    data, program = tmp_path / "perf.data", tmp_path / "numbers.py"
    program.write_text("def add(n):\n    return [i * 1.5 + n for i in range(n)]\nimport time\n"
                       "end = time.process_time() + 0.8\nwhile time.process_time() < end:\n    add(60000)\n")
    kaa, wide = python.kaa(kaa), {**os.environ, "COLUMNS": "200"}
    said = kaa.inside(noticed_in(data))("record", "-v", "-F", "999", "-g", "-o", data, "--", python.path, program, env=wide).stderr
    whole = kaa("report", "-i", data, env=wide).stdout
    row, row_of_report = (rows[0].split() for rows in (ending_of(said)[0], sections(whole)[1]))
    # The columns beside it differ, and with them how many parts there is room for.
    assert len(row) > 8 and (row[2], row[4:8]) == (row_of_report[2], row_of_report[4:8])


WAITS = """
import time
def work():
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
work()
# For longer than it works, however slow it began.
time.sleep(1 + 3 * time.process_time())
"""


@pytest.mark.parametrize("rate, few", [("29", True), ("9999", False)])
def test_the_ending_doubts_what_the_report_doubts(kaa, newest_python, tmp_path, rate, few):
    """Few samples, and a program that hardly ran: a line each, between the rows and the command for the rest."""
    data, program = tmp_path / "perf.data", tmp_path / "waits.py"
    program.write_text(WAITS)
    said = kaa.inside(noticed_in(data))("record", "-v", "-F", rate, "-g", "-o", data, "--", newest_python.path, program,
                                        env={**os.environ, "COLUMNS": "80"}).stderr
    lines = said[said.index("\n\n   own"):].splitlines()
    doubts = lines[:next(i for i, line in enumerate(lines) if line.startswith("All of it:"))]
    whole = kaa("report", "-i", data, env={**os.environ, "COLUMNS": "200"}).stdout.splitlines()
    about_few = [line for line in whole if line.startswith("So few samples: ")]
    assert bool(about_few) == few
    assert [line for line in doubts if line.startswith("So few samples: ")] == about_few
    # On a busy machine it waited for a processor rather than that it slept.
    about_waits = re.search(r"It had a processor for .*?(?:shows where|had the processors)\.", " ".join(" ".join(whole).split()))[0]
    assert about_waits in " ".join(said.split()), (about_waits, said)


WORKER = """
import threading, time
def work():
    while True:
        sum(range(1000))
thread = threading.Thread(target=work, name="the worker")
thread.start()
thread.join()
"""


def test_a_process_of_which_one_thread_ran(kaa, newest_python, tmp_path):
    """It is headed by its script, which no stack tells, and not by the thread; that names what is of it alone."""
    data, script = tmp_path / "perf.data", tmp_path / "app.py"
    script.write_text(WORKER)
    with started([newest_python.path, script]) as process:
        until_busy(process.pid, 0.5)
        kaa("record", "-F", "999", "-g", "-o", data, "-p", process.pid, "--", *while_busy(process.pid, 0.3))
    # It has a third of the line, however long its path is.
    wide = {**os.environ, "COLUMNS": "2000"}
    text = kaa("report", "-i", data, env=wide).stdout
    assert text.startswith(f"{script}   ") and "work " in text, text
    assert kaa("report", "-i", data, "--time", "0,", env=wide).stdout.startswith("the worker   ")


def test_who_had_no_processor_did_not_sleep(kaa, newest_python, tmp_path):
    """Two others want the one that it may use: the kernel says what it waited for, and so does the report."""
    data, program = tmp_path / "perf.data", tmp_path / "loop.py"
    program.write_text("import time\nwhile time.process_time() < 1: pass\n")
    bound = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    hogs = [subprocess.Popen([*bound, sys.executable, "-c", "while True: pass"], start_new_session=True) for _ in range(2)]
    try:
        kaa("record", "-F", "999", "-g", "-o", data, "--", *bound, newest_python.path, program)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    text = kaa("report", "-i", data, env=WIDE).stdout
    assert re.search(r"^It had a processor for [\d.]+ % of the time, and waited for one for \S+ s: other programs", text, re.M), text
    assert "--mode wall" not in text


@pytest.mark.parametrize("words, there", [([], False), (["-v"], True), (["-q"], False), (["-q", "-v"], False)])
def test_the_ending_is_for_people(kaa, newest_python, scripts, tmp_path, words, there):
    data = tmp_path / "perf.data"
    result = kaa.inside(noticed_in(data))("record", *words, "-F", "999", "-g", "-o", data, "--", *newest_python.command,
                                          scripts / "planted.py", "30", "0.6")
    assert (ending_of(result.stderr) is not None) == there


def test_no_ending_without_python(kaa, tmp_path):
    result = kaa("record", "-v", "-F", "999", "-g", "-o", tmp_path / "perf.data", "--", "sh", "-c",
                 "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
    assert ending_of(result.stderr) is None and "wrote" in result.stderr


PROGRAM = """\
import multiprocessing, sys, threading, time

def work(n):
    end = time.process_time() + 0.2
    while time.process_time() < end:
        sum(i * i for i in range(n))

def run():
    if sys.argv[1] == "threads":
        threads = [threading.Thread(target=work, args=(1000,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif sys.argv[1] == "plain":
        work(1000)
    else:
        with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
            pool.map(work, [1000, 1000])

if __name__ == "__main__":
    run()
"""


@pytest.mark.parametrize("how", ["plain", "threads", "fork", "spawn"])
@pytest.mark.parametrize("module", [False, True])
def test_the_program_is_named(kaa, newest_python, tmp_path, monkeypatch, how, module):
    """Also where most of its work is done by threads and children, and where -m runs it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "the_program.py").write_text(PROGRAM)
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "--", *newest_python.command,
                                 *(["-m", "the_program"] if module else ["the_program.py"]), how)
    assert kaa("report", "-i", data, env=WIDE).stdout.startswith("the_program.py   Python 3.")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_too_long(kaa, newest_python, scripts, tmp_path, columns):
    """But for what is to be typed."""
    data = tmp_path / "perf.data"
    record(kaa, newest_python, data, scripts / "spent.py", "native", "0.3", tmp_path)
    text = kaa("report", "-i", data, env={**os.environ, "COLUMNS": str(columns)}).stdout
    lines = text.rstrip("\n").rpartition("\n\n")[0].splitlines()
    # Of a program that waited for a processor it is said what shows that.
    assert len(lines) > 8 and [line for line in lines if len(line) > columns and not re.match(r" *'\S*kaa record ", line)] == []


GIL = """\
import resource, threading

def spin():
    # It has waited that often, which may take long where other programs have the processors.
    while resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw < 400:
        sum(range(2000))

threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


SPINS = """\
import threading, time

def spin():
    # Long enough for kaa to read its name, however busy the machine.
    while time.thread_time() < 0.5:
        sum(range(2000))

threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_threads_of_several_processes(kaa, newest_python, tmp_path):
    """Processes do not hide the names of threads; those of one thread each have a row each."""
    script, data = tmp_path / "spins.py", tmp_path / "perf.data"
    script.write_text(SPINS)
    kaa("record", "-F", "999", "-g", "-o", data, "--", "sh", "-c", f"{newest_python.command[-1]} {script}; " * 2)
    rows = kaa("report", "-i", data, env=WIDE).stdout.split(" total          process  thread   name\n")[1].split("\n\n")[0]
    assert re.search(r"^ *\d+\.\d%  +\d+ +\d+ +Thread-1 \(spin\)$", rows, re.M), rows
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "--", "sh", "-c",
                                 f"{newest_python.command[-1]} -c 'sum(range(20000000))'; " * 2)
    rows = kaa("report", "-i", data, env=WIDE).stdout.split(" total          process  name\n")[1].split("\n\n")[0]
    assert len(re.findall(r"^ *\d+\.\d%  +\d+ +python", rows, re.M)) == 2, rows


@pytest.mark.unstripped
def test_waiting_for_the_gil(kaa, python, tmp_path):
    """Two threads that only compute: whenever one gives the processor up by itself, it waits for the GIL."""
    script, data = tmp_path / "gil.py", tmp_path / "perf.data"
    script.write_text(GIL)
    program = python.kaa(kaa)
    program("record", "-e", "sched:sched_switch", "-g", "-o", data, "--", python.path, "-S", script)
    lines = program("script", "-F", "trace,pysym,spent", "-i", data).stdout.splitlines()
    waits = collections.Counter(line.rpartition(f"{script} ")[2] for line in lines
                                if "prev_state=S" in line and f"py::spin:{script} " in line)
    assert waits.total() > 100 and waits["GIL wait"] > 0.95 * waits.total(), waits


DECORATED = """\
import time

def plain(f):
    return f

@plain
@plain
def hot(n,
        m=2):
    end = time.process_time() + 0.3
    while time.process_time() < end:
        for _ in range(1000):
            n += 1

hot(1)
"""


def test_lines_of_a_decorated_def(kaa, python, tmp_path):
    """The first line of its code object is its first decorator's; people name the line of the def."""
    script, data = tmp_path / "decorated.py", tmp_path / "perf.data"
    script.write_text(DECORATED)
    python.kaa(kaa).inside(noticed_in(data))("record", "-c", "1001001", "-g", "-o", data, "--", python.path, script)
    for line in (6, 7, 8, 9):
        word = f"decorated.py:{line}"
        assert "Callers of hot:" in kaa("report", "--callers", word, "-i", data, env=WIDE).stdout
        assert kaa("annotate", word, "-i", data, env=WIDE).stdout.startswith("hot  ")
        assert "py::hot:" in kaa("report", "--stdio", "-g", "none", "-S", word, "-i", data).stdout
        assert "py::hot:" in kaa("script", "-S", word, "-i", data).stdout
    said = kaa("report", "--callers", "decorated.py:5", "-i", data, status=1).stderr
    assert "no sample is at" in said
