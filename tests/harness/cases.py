# SPDX-License-Identifier: GPL-2.0-only
"""Programs whose stacks are hard to read (live/scripts/cases), and what of their samples is right.

Of each sample without a mark is asked:

- its Python stack, whole and in order, with all lines, is one that the program can have: scripts/oracle.py has the list of these;
- its native stack ends where a thread or a greenlet begins;
- each evaluation function runs Python frames. The innermost may run none: its frame is not there yet, or not any more. So
  may one that frees the local variables of a function that has returned, which may call Python again
  (docs/python-frames.md). This is asked of interpreters that name all their functions.
"""
import collections
import os
import re
import subprocess

from harness import script_output
from harness.process import TOP, run, started
from harness.pythons import RUN
from harness.stacks import Oracle, plain
from harness.waiting import until_busy, while_busy

FOLDER = TOP / "tests" / "live" / "scripts" / "cases"
RATE = 9999
# Where a thread begins, as far as libraries name it, and a greenlet.
STARTS = {"_start", "clone", "__clone", "clone3", "__clone3", "_dl_start_user", "start_thread", "[unknown]"}
GREENLET_STARTS = ("greenlet::UserGreenlet::inner_bootstrap", "_ZN8greenlet12UserGreenlet15inner_bootstrap", "g_initialstub")
EVALUATION = re.compile(r"_PyEval_EvalFrameDefault\b")
# What frees local variables: _PyEval_FrameClearAndPop, _PyEvalFrameClearAndPop, _PyFrame_ClearExceptCode, clear_thread_frame.
FREES = re.compile(r"_PyEval_?FrameClearAndPop|_PyFrame_Clear|clear_(thread|gen)_frame")


class Case:
    """name; words: the script and its arguments but the seconds; needs: a package; module: one that not every build of CPython has;
    attach: it runs already when it is recorded; seconds: CPU time of one recording, whose text is read as a whole."""

    def __init__(self, name, words, needs=None, module=None, attach=False, seconds=4):
        self.name, self.words, self.needs, self.module, self.attach, self.seconds = name, words, needs, module, attach, seconds

    def command(self, python, seconds):
        return [*python, FOLDER / self.words[0], *self.words[1:], str(seconds)]

    def truth(self, prefix, python, folder):
        out = folder / f"{self.name}.json"
        oracle = TOP / "tests" / "live" / "scripts" / "oracle.py"
        run([*prefix, *python, oracle, out, *self.command([], 0)])
        return Oracle.load(out)


INLINED = ("plain", "named", "names-alone", "defaults", "gathered", "spread", "spread-names", "cell", "method", "bound", "property",
           "item", "made", "generator")
CASES = [Case(f"inlined-{kind}", ["inlined.py", kind]) for kind in INLINED] + [
    Case("asyncgens", ["asyncgens.py"]),
    Case("generators", ["generators.py"]),
    Case("callbacks", ["callbacks.py"], module="_ctypes"),
    Case("interpreters", ["interpreters.py"]),
    Case("recursion", ["recursion.py"], seconds=1),
    Case("shapes", ["../shapes.py"]),
    Case("pool", ["pool.py"]),
    Case("short-threads", ["short_threads.py"]),
    Case("many-threads", ["many_threads.py", "220"], attach=True),
    Case("greenlets", ["greenlets.py"], needs="greenlet"),
    Case("events", ["events.py"], needs="gevent"),
]


class Counted:
    """How many samples are `right`, `wrong`, `marked` and `other`, which have no function of the program; and what is wrong.

    lost: those that the recorder says to lack; problems, marks: {text: samples}; examples: {text: a sample}.
    """

    NUMBERS = ("right", "wrong", "marked", "other", "lost")

    def __init__(self):
        self.right = self.wrong = self.marked = self.other = self.lost = 0
        self.problems, self.marks = collections.Counter(), collections.Counter()
        self.examples = {}
        self.waiting = None

    @property
    def asked(self):
        return self.right + self.wrong + self.marked

    def told(self):
        """For a file."""
        return {name: getattr(self, name) for name in (*self.NUMBERS, "problems", "marks")}

    @classmethod
    def of(cls, told):
        counted = cls()
        for name in cls.NUMBERS:
            setattr(counted, name, told[name])
        counted.problems.update(told["problems"])
        counted.marks.update(told["marks"])
        return counted

    def add(self, what, text, sample):
        """One sample more. Before the first that is right, and after the last, the interpreter starts and ends."""
        if what == "right":
            for earlier in self.waiting or []:
                self.note(*earlier)
            self.waiting = []
        if what == "right" or what == "wrong" and sample.python:
            self.note(what, text, sample)
        elif self.waiting is not None:
            self.waiting.append((what, text, sample))

    def end(self):
        assert self.waiting is not None, "no stack of the program"
        self.waiting = None

    def note(self, what, text, sample):
        setattr(self, what, getattr(self, what) + 1)
        if text:
            (self.problems if what == "wrong" else self.marks)[text] += 1
            self.examples.setdefault(text, sample)


def evaluation_problem(frames):
    """frames: the user's, the leaf first."""
    inner = False
    for callee, frame, caller in zip([None, *frames], frames, [*frames[1:], None]):
        if frame.is_python:
            inner = True
        elif EVALUATION.match(frame.symbol):
            if inner and not (caller and caller.is_python) and not FREES.match(callee.symbol):
                return "an evaluation function within others runs no Python frame"
            inner = True
    return None


def python_problem(frames):
    for callee, frame in zip([None, *frames], frames):
        if frame.is_python and not (callee and (callee.is_python or EVALUATION.match(callee.symbol))):
            return "a Python frame that no evaluation function runs"
    return None


def native_problem(frames, names_all):
    last = frames[-1].symbol
    # Of a libc without symbols kaa says where the function begins: libc.so.6+0x8d1c0.
    if last not in STARTS and last != "libc.so.6" and not last.startswith(GREENLET_STARTS):
        return f"the native stack ends with {last}"
    return (evaluation_problem(frames) or python_problem(frames)) if names_all else None


def before_imports(stack):
    """A module is imported once, by whoever is first: in another run that is another."""
    frozen = next((depth for depth, (_, file, _) in enumerate(stack) if file.startswith("<frozen importlib")), len(stack))
    return stack[:frozen]


def from_script(stack, script):
    """Without `python -c` and runpy, by which a case runs that is attached to: they are not in the truth."""
    first = next((depth for depth, (name, file, _) in enumerate(stack) if name == "<module>" and os.path.basename(file) == script), 0)
    return stack[first:] if any("runpy" in file for _, file, _ in stack[:first]) else stack


def judge(truth, names_all, sample):
    """(what the sample is: an attribute of Counted, what is wrong with it or what its mark is)."""
    if sample.markers:
        return "marked", ", ".join(sample.markers)
    user = [frame for frame in sample.frames if not frame.ip >> 63]
    problem = None
    stack = from_script(before_imports(sample.python), truth.script)
    if truth.concerns(stack):
        problem, good = truth.problem(stack), "right"
    else:
        # The interpreter's start and end, imports, threads that begin or end, the library's own work.
        problem, good = truth.problem_of_lines(stack), "other"
    if sample.python:
        problem = problem or native_problem(user, names_all)
    elif user and names_all:
        problem = evaluation_problem(user)
    return ("wrong", problem) if problem else (good, None)


def count(counted, truth, names_all, text):
    """Adds the samples of a recording's text, from the first that has a function of the program to the last."""
    known = {}
    for stack, block in script_output.alike(text):
        if stack not in known:
            sample, = script_output.parse(block)
            known[stack] = (*judge(truth, names_all, sample), sample)
        counted.add(*known[stack])
    counted.end()


def record(kaa, prefix, case, python, seconds, data):
    """kaa: of tests; prefix, python: words that go where the interpreter is, and that run it there. How many samples were lost."""
    options = ["record", "-F", str(RATE), "-g", "-o", data]
    if not case.attach:
        return lost_of(kaa(*options, "--", *case.command(python, seconds)))
    words = [*prefix, *python, "-c", RUN, *case.command([], seconds)]
    with started(words, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        until_busy(pid, 0.3)
        return lost_of(kaa(*options, "-p", str(pid), "--", *while_busy(pid, seconds - 1)))


def lost_of(recorded):
    return int(re.search(r", (\d+) lost", recorded.stderr)[1])


def text_of(kaa, data):
    return kaa("script", "--no-inline", "-F", "comm,tid,time,event,ip,sym,dso,srcline", "-i", data).stdout
