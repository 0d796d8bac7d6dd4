# SPDX-License-Identifier: GPL-2.0-only
"""Programs that write down what their functions take (live/scripts/real/account.py), under several profilers.

All profilers are asked the same: what a function has of the samples in all functions of the account, with what these
call (total), and without the Python functions that they call (own). What chance does to such a share is known from the
number of samples, so shares are held to that, and to nothing that depends on the machine.
"""
import collections
import json
import math
import os
import pathlib
import re

from harness import answer, script_output
from harness.calls import Calls
from harness.process import TOP, run

FOLDER = TOP / "tests" / "live" / "scripts" / "real"
STANDARD = ["orders", "service", "tasks", "processes", "threads", "logs", "suite", "ledger", "documents"]
PACKAGES = ["shop", "frames", "library", "formulas", "geometry", "pictures", "routes", "pages", "forum", "colours"]
# What a block of the account does not have of its function.
BESIDE = 0.006


class Taken:
    """One run under a profiler: what the program says, {name: seconds}, and the profiler, {stack: samples}.

    A stack is (function, file name) of its Python frames, the outermost first. screen: the text of kaa's first screen,
    and own_time: {the last of a stack, or None: what its samples stand for}, which is what it shows.
    """

    def __init__(self, program, account, stacks, screen=None, own_time=None):
        self.file, self.stacks, self.screen, self.own_time = f"{program}.py", stacks, screen, own_time
        seconds = collections.Counter()
        for line in account.read_text().splitlines():
            seconds.update(json.loads(line))
        self.hot = max(seconds, key=seconds.get)
        self.truth = {name: took / sum(seconds.values()) for name, took in seconds.items()}
        totals = {name: sum(count for stack, count in stacks.items() if (name, self.file) in stack) for name in self.truth}
        self.samples = sum(totals.values())
        self.totals = {name: count / max(self.samples, 1) for name, count in totals.items()}
        self.own = collections.Counter()
        for stack, count in stacks.items():
            self.own[stack[-1] if stack else None] += count

    def allowed(self, share, samples=None):
        """How far a share may be off: five times what chance does."""
        return 5 * math.sqrt(share * (1 - share) / max(samples or self.samples, 1)) + BESIDE

    def sigmas(self, name):
        share = self.truth[name]
        beyond = max(abs(self.totals[name] - share) - BESIDE, 0)
        return beyond / math.sqrt(max(share * (1 - share), 1e-9) / max(self.samples, 1))

    def wrong(self):
        """What of the account the profiler has otherwise, as text."""
        return [f"{name}: {self.totals[name]:.1%} of {self.samples} samples, {share:.1%} by the program's account"
                for name, share in self.truth.items() if abs(self.totals[name] - share) > self.allowed(share)]


def hot_line(program):
    """The number of the line that is marked, or None: there the hot function calls a library, whose code is hot."""
    lines = (FOLDER / f"{program}.py").read_text().splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.endswith("# hot")), None)


def leads(taken, first, second):
    """Whether the share of what stands first, in percent, is more than the other's by more than chance does to two that are alike.
    Samples are worth two fifths of their number at the least (docs/clock.md)."""
    return first - second > 100 * 3 * math.sqrt((first + second) / 100 / max(0.39 * sum(taken.stacks.values()), 1))


def screen_problems(taken, program):
    """What the first screen does not tell of the hot spot: the first function, the first line, and their shares."""
    functions, lines = answer.functions_of(taken.screen), answer.lines_of(taken.screen)
    (name, file), (own, _) = next(iter(functions.items()))
    line, problems = hot_line(program), []
    if line is None:
        # Of that library the heaviest function, which the samples alone tell.
        heaviest = max(filter(None, taken.own_time), key=taken.own_time.get)
        right = name.rpartition(".")[2] == heaviest[0] and file.endswith(heaviest[1])
        return [] if right else [f"the first function is {name} in {file}, not {heaviest}"]
    of_hot = next((own for (name, file), (own, _) in functions.items()
                   if name.rpartition(".")[2] == taken.hot and file.endswith(taken.file)), 0)
    if leads(taken, own, of_hot):
        problems.append(f"the first function is {name} in {file}, not {taken.hot} in {taken.file}")
    of_line = next((own for (file, number), own in lines.items() if number == line and file.endswith(taken.file)), 0)
    (file, number), first = next(iter(lines.items()))
    if leads(taken, first, of_line):
        problems.append(f"the first line is {file}:{number}, not {taken.file}:{line}")
    counted = 100 * taken.own_time[taken.hot, taken.file] / sum(taken.own_time.values())
    if not problems and abs(of_hot - counted) > 0.051:
        problems.append(f"{taken.hot} has {of_hot} %, its samples are {counted:.2f} %")
    return problems


# --- Profilers ---------------------------------------------------------------


def program_words(program, seconds):
    return [FOLDER / f"{program}.py", str(seconds)]


def surroundings(account):
    return {**os.environ, "ACCOUNT": str(account), "PYTHONDONTWRITEBYTECODE": "1"}


def stacks_of(text, frame):
    """Collapsed stacks, of the frames for which the pattern has a function and a file."""
    stacks = collections.Counter()
    for line in text.splitlines():
        steps, _, count = line.rpartition(" ")
        found = filter(None, map(frame.fullmatch, steps.split(";")))
        stacks[tuple((step["function"].rpartition(".")[2], step["file"].rpartition("/")[2]) for step in found)] += int(count)
    return stacks


KAA_FRAME = re.compile(r"(?P<function>.+) \((?P<file>.+)\)")
PY_SPY_FRAME = re.compile(r"(?P<function>.+) \((?P<file>.+):\d+\)")
SAMPLING_FRAME = re.compile(r"(?P<file>.+):(?P<function>[^:]+):\d+")


def own_time_of(text):
    """Of `kaa script -F pysym,period`: a line is a period, and py::FUNCTION:FILE or -."""
    own = collections.Counter()
    for period, name in (line.split(maxsplit=1) for line in text.splitlines()):
        function, _, file = name.strip().removeprefix("py::").rpartition(":")
        own[(function.rpartition(".")[2], file.rpartition("/")[2]) if function else None] += int(period)
    return own


def with_kaa(kaa, python, program, seconds, folder):
    """kaa: of tests; python: words that run the interpreter where that kaa runs."""
    data, account = folder / "perf.data", folder / "account"
    kaa("record", "-F", "999", "-g", "-o", data, "--", *python, *program_words(program, seconds), env=surroundings(account))
    stacks = stacks_of(kaa("export", "--python-only", "-i", data).stdout, KAA_FRAME)
    own_time = own_time_of(kaa("script", "-F", "pysym,period", "-i", data).stdout)
    return Taken(program, account, stacks, kaa("report", "--stdio", "-i", data, env=answer.WIDE).stdout, own_time)


def calls_and_stacks(kaa, folder):
    """The calls that a program wrote down; {the Python stack of a sample that is not marked as incomplete: how many have it}; and
    {mark: how many samples have it}."""
    samples, known, marks = collections.Counter(), {}, collections.Counter()
    for same, block in script_output.alike(kaa("script", "--no-inline", "-F", "+srcline", "-i", folder / "perf.data").stdout):
        samples[same] += 1
        known.setdefault(same, block)
    stacks = collections.Counter()
    for same, count in samples.items():
        sample, = script_output.parse(known[same])
        marked = sample.markers or ["[truncated stack]"] * ("[truncated stack]" in sample.symbols)
        (marks if marked else stacks)[", ".join(marked) or tuple(sample.python)] += count
    return Calls.load(folder / "calls.json"), stacks, marks


class Asked:
    """Of a recording: how many samples there are, how many are marked ({mark: samples}) and lost, how many callers and lines of the
    others were asked, and {what is wrong: samples}."""

    def __init__(self, calls, stacks, marks, lost):
        self.samples, self.marks, self.lost = stacks.total() + marks.total(), marks, lost
        self.asked, self.wrong = 0, collections.Counter()
        for stack, count in stacks.items():
            asked, problems = calls.check(stack)
            self.asked += asked * count
            self.wrong.update(problems * count)


def calls_asked(kaa, prefix, python, program, seconds, folder, rate=999):
    """The program runs twice, the first time to write down its calls (live/scripts/calls.py): then it is several times slower, and works
    for so much longer. What SymPy calls depends on the order of sets. prefix: words that go where the interpreter is; kaa, python: as
    for with_kaa()."""
    env = {**surroundings(folder / "account"), "PYTHONHASHSEED": "0"}
    run([*prefix, *python, TOP / "tests" / "live" / "scripts" / "calls.py", folder / "calls.json", *program_words(program, 4 * seconds)],
        env=env)
    recorded = kaa("record", "-F", str(rate), "-g", "-o", folder / "perf.data", "--", *python, *program_words(program, seconds), env=env)
    lost = int(re.search(r", (\d+) lost", recorded.stderr)[1])
    return Asked(*calls_and_stacks(kaa, folder), lost)


def with_py_spy(py_spy, python, program, seconds, folder):
    """It counts the threads that the kernel says to run, by the wall clock; it stops the program for each sample."""
    account, out = folder / "account", folder / "py-spy"
    run([*py_spy, "record", "-s", "-r", "999", "-f", "raw", "-o", out, "--", *python, *program_words(program, seconds)],
        env=surroundings(account))
    return Taken(program, account, stacks_of(out.read_text(), PY_SPY_FRAME))


def with_sampling(prefix, python, program, seconds, folder):
    """CPython 3.15's own, of threads that are on a CPU. Of child processes it writes files of their own."""
    account, out = folder / "account", folder / "sampling"
    words = ["-m", "profiling.sampling", "run", "-a", "--subprocesses", "--mode", "cpu", "--collapsed", "-r", "999", "-o", out]
    run([*prefix, *python, *words, *program_words(program, seconds)], env=surroundings(account), cwd=folder)
    text = "".join(file.read_text() for file in pathlib.Path(folder).iterdir() if file != account and file.is_file())
    return Taken(program, account, stacks_of(text, SAMPLING_FRAME))
