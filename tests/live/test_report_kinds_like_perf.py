# SPDX-License-Identifier: GPL-2.0-only
"""`kaa report --like-perf` beside `perf report --stdio` of perf 7 over every kind of recording: whole outputs, the tip aside.

Each kind is recorded here and now. Both programs run in the chroot, so that both see the same files, with a /tmp of the
kind's own, where CPython leaves its dumps. More options over a few
kinds are in test_report_like_perf.py and test_report_options_like_perf.py.
"""
import collections
import difflib
import pathlib
import re
import shlex
import shutil

import pytest

from harness.agent import Private
from harness.machine import SAME_PLACES
from harness.nameless import recorded_in_order
from harness.process import run

PROGRAMS = pathlib.Path(__file__).parent / "programs"
SCRIPTS = pathlib.Path(__file__).parent / "scripts"
FRAMES = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"]


class Kind:
    """One kind of recording: a C or C++ program that a compiler makes with some flags, or an interpreter's command."""

    def __init__(self, source, flags=(), arguments=(), record=("-F", "1999", "-g", "-e", "cpu-clock"), inject=False):
        self.source, self.flags, self.arguments = source, flags, arguments
        self.record, self.inject = record, inject

    def command(self, folder):
        """Words to be run where the folder is /tmp."""
        if self.source.startswith("python"):
            shutil.copy(SCRIPTS / "doc_script.py", folder)
            return [self.source, *self.arguments, "doc_script.py", "0.1"]
        program = folder / pathlib.Path(self.source).stem
        run(["g++" if self.source.endswith(".cc") else "gcc", "-g", *self.flags, "-o", program, PROGRAMS / self.source])
        return [f"./{program.name}", *self.arguments]


KINDS = {
    # A thread, almost nothing of libc, no kernel.
    "single thread": Kind("forks.c", ["-O1", "-static", *FRAMES], ["plain"], ["-F", "4999", "-g", "-e", "cpu-clock:u"]),
    # libc has no symbols for much of itself: unresolved addresses. System calls and page faults: kernel frames.
    "threads": Kind("many_calls.c", ["-O1", "-pthread", *FRAMES]),
    "forks": Kind("forks.c", ["-O1", *FRAMES]),
    # Recursion beyond the 127 frames of a chain, names that change, exec.
    "deep, names, exec": Kind("deep.c", ["-O1", *FRAMES], (), ["-F", "2999", "-g", "-e", "cpu-clock"]),
    "several events": Kind("many_calls.c", ["-O1", "-pthread", *FRAMES], (),
                           ["-F", "1999", "-g", "-e", "cpu-clock,page-faults,context-switches"]),
    "a group": Kind("many_calls.c", ["-O1", "-pthread", *FRAMES], (),
                    ["-F", "1999", "-g", "-e", "{cpu-clock,page-faults},context-switches"]),
    "no chains": Kind("many_calls.c", ["-O1", "-pthread"], (), ["-F", "1999", "-e", "cpu-clock"]),
    "dwarf": Kind("deep.c", ["-O1", "-static"], (), ["-F", "499", "--call-graph", "dwarf,4096", "-e", "cpu-clock:u"]),
    "inlined functions": Kind("inlined.c", ["-O2", *FRAMES]),
    "C++ names": Kind("templates.cc", ["-O2", *FRAMES]),
    "Rust names": Kind("rust_names.c", ["-O1", *FRAMES]),
    # perf says nothing of the kernel there, and has no build-id of its vdso.
    "vdso, user space": Kind("clock.c", ["-O1", *FRAMES], (), ["-F", "1999", "-g", "-e", "cpu-clock:u"]),
    "perf map": Kind("python3.14", (), ["-X", "perf"]),
    "jitdump": Kind("python3.14", (), ["-X", "perf_jit"], ["-k", "1", "-F", "1999", "-g", "-e", "cpu-clock"], inject=True),
}

EVERYWHERE = [
    "--no-inline -n -g",
    "--no-inline --no-children -g caller",
    "--no-inline -g folded,0.1,callee,count",
    "--no-children --percent-limit 1",
]

# Of each option a few kinds, where it has something to do.
OPTIONS = {
    "--no-inline -g fractal,0.5,callee": ["threads", "deep, names, exec", "Rust names"],
    "--no-inline -g flat --no-children": ["forks", "several events"],
    "--no-inline --sort pid,dso,sym": ["forks", "deep, names, exec"],
    "--no-inline --sort pid,sym --no-children": ["deep, names, exec"],
    "--no-inline --sort tgid,dso": ["forks", "single thread", "deep, names, exec"],
    "--no-inline --sort comm,dso": ["single thread", "C++ names"],
    "--no-inline --dsos libc.so.6 --no-children -g none": ["several events", "threads"],
    "--no-inline -U": ["threads", "forks"],
    "--no-inline -U --no-children": ["threads"],
    "-g none --sort srcline": ["forks"],
    "--no-inline -g none --sort srcline": ["forks", "inlined functions", "a group"],
    "--no-children -g none --sort srcline,sym": ["forks", "inlined functions"],
    "--no-children -g none --sort srcline --full-source-path": ["inlined functions"],
    "--no-children -g none --sort comm,srcfile": ["forks", "deep, names, exec"],
    "--no-inline --sort parent -p even|odd": ["single thread", "forks"],
    "--no-inline --sort parent -p even|odd -x": ["forks"],
    "--no-inline -p even|odd --no-children": ["forks"],
    "--no-inline --sort time,dso --no-children": ["threads"],
    "--no-inline --sort comm,time --time-quantum 10ms --no-children": ["forks"],
    "--no-inline -g none --sort symbol,dso --no-children": ["single thread", "no chains"],
    "--no-inline --percentage relative --comms less,forks": ["deep, names, exec", "forks"],
    "--no-inline --percentage relative --no-children --symbol-filter burn": ["forks"],
    # Rows of equal weight stand where the hidden ones leave them.
    "--no-inline --comms true,less --symbol-filter do -g none": ["forks"],
    "--no-inline --percentage relative --symbol-filter sys -g none": ["forks"],
    # perf hides nothing there: only keys that are merged by text make it look.
    "--no-inline --sort dso,sym --symbol-filter burn --no-children": ["forks"],
    "--no-inline --ignore-callees even|extend --no-children": ["forks", "Rust names"],
    "--no-inline --ignore-callees even|extend": ["forks", "deep, names, exec", "Rust names", "dwarf"],
    "--no-inline --ignore-callees ^_|^do_ --no-children -g folded,caller": ["threads", "single thread"],
    "--no-inline --ignore-callees main --no-children -g none": ["forks"],
    "--no-inline --max-stack 3": ["single thread", "threads", "dwarf", "C++ names"],
    "--no-inline --max-stack 2 --no-children -g caller": ["forks", "several events"],
    "--no-inline --max-stack 20 -g folded,callee": ["deep, names, exec", "dwarf"],
    "--no-children --max-stack 2 -g caller": ["inlined functions"],
    "--no-inline --max-stack 2 -p even|main": ["forks", "dwarf"],
    "--no-inline -w 10,0,25 --no-children": ["threads"],
    "--no-inline -w 3,4,5,6 --no-children -n": ["forks"],
    "--no-inline -w 3,3,3,9,3 -g none": ["forks", "Rust names"],
    "--no-inline -x": ["single thread"],
    # From the first sample on: a machine may stand still at any time behind it.
    "--no-inline --time 0%-60%": ["threads", "several events"],
    "--no-inline --symfs /nowhere -g none": ["forks", "threads", "vdso, user space"],
    "--no-inline -g address": ["forks", "several events"],
    "--no-inline --no-children -g srcline": ["forks", "several events", "C++ names"],
    "--no-inline -s +symbol,tgid -g none": ["forks"],
    "--no-inline --sort dso,overhead,sym,sample -g none": ["threads"],
    "--no-inline -F dso -d libc.so.6 -g none": ["threads"],
    "--percent-limit 200": ["single thread"],
    "--no-inline -n --show-total-period -g none": ["a group"],
    "--no-inline --sort dso,overhead,sym -g none": ["a group"],
    "--no-inline --no-group": ["a group", "several events"],
    "--no-inline --group": ["several events"],
    "--no-inline --comms worker-1 --percentage relative -t ,": ["a group"],
    "--no-inline --sort pid,sample --no-children -w 10,20": ["a group"],
    "--stats": ["several events", "forks"],
    "--tasks": ["threads", "forks", "deep, names, exec"],
    "--header-only": ["several events", "dwarf", "jitdump"],
    "--header -g none --no-inline": ["single thread"],
}

# perf and kaa each unwind a few stacks that the other does not.
LINES_OF_CHANCE = {"dwarf": 0.05, "perf map": 0.02, "jitdump": 0.02}


def options_of(kind):
    chains = EVERYWHERE if kind != "no chains" else ["--no-inline -n", "--no-inline --sort comm,dso"]
    return chains + [options for options, kinds in OPTIONS.items() if kind in kinds]


def record(kind, private):
    """The file's name."""
    how, perf = KINDS[kind], private.program("perf")
    words = ["record", "-q", *how.record, "-o", "perf.data", *how.command(private.folder)]

    def record_once():
        perf.inside(SAME_PLACES)(*words)
        return private.kaa("script", "--like-perf", "-i", "perf.data", "-F", "ip,sym,dso").stdout

    # Lines of these are of chance anyway, and some have no order of nameless addresses ever.
    if kind in LINES_OF_CHANCE:
        record_once()
    else:
        recorded_in_order(record_once)
    if not how.inject:
        return "perf.data"
    perf("inject", "--jit", "-i", "perf.data", "-o", "jitted.data")
    return "jitted.data"


def report(data, private, all_options):
    """All at once: entering the chroot takes longer than a report."""
    lines = []
    for i, options in enumerate(all_options):
        words = shlex.join(["report", "--stdio", "-i", data, *options.split()])
        lines.append(f"perf {words} >perf.{i} 2>errors")
        lines.append(f"/tmp/.build/kaa {words} --like-perf >kaa.{i}")
    private.program("env", "HOME=/nonexistent", "sh", "-ec", "\n".join(lines))()


@pytest.fixture(scope="module")
def outputs(chroot, build_dir, perf_sid, tmp_path_factory):
    """outputs(kind): by options, what perf and what kaa print."""
    made = {}

    def output(kind):
        if kind in made:
            return made[kind]
        private = Private(tmp_path_factory.mktemp("kind"), build_dir, *chroot.command)
        report(record(kind, private), private, options_of(kind))
        made[kind] = {options: [(private.folder / f"{program}.{i}").read_text(errors="backslashreplace")
                                for program in ("perf", "kaa")]
                      for i, options in enumerate(options_of(kind))}
        return made[kind]

    return output


def lines(text):
    """Without perf's tip, and a bit that it forgets to set behind "[...]"."""
    text = re.sub(r"#\n# \([Tt]ip: .*\n#\n\Z", "", text)
    # Of BPF programs that ran, if any did, kaa tells the number.
    text = re.sub(r"^# (bpf_prog_info|bpf programs|\tsub_prog) .*\n", "", text, flags=re.M)
    return text.replace("[...] (inlined)", "[...]").rstrip("\n").splitlines()


def table(lines):
    """Headers and rows, without call graphs."""
    return [line for line in lines if line.startswith("#") or re.match(r" {1,6}\d+\.\d\d%", line)]


def of_any_order(lines):
    """The same, but rows of equal weight in any order: weights as they stand, and rows sorted."""
    rows = table(lines)
    return [re.findall(r"\d+\.\d\d%", row) for row in rows], sorted(rows)


def steps(lines):
    """The lines of call graphs, apart from where in a graph they stand."""
    return collections.Counter(line.replace("|", " ").strip() for line in lines if line not in table([line]))


def unlike(perfs, kaas):
    """Lines that only one of the two has."""
    ours, theirs = steps(kaas), steps(perfs)
    ours[""] = theirs[""] = 0
    return sum((ours - theirs).values()) + sum((theirs - ours).values())


@pytest.mark.one_of(4)
@pytest.mark.parametrize("kind, options", [pytest.param(kind, options, id=f"{kind}: {options}")
                                           for kind in KINDS for options in options_of(kind)])
def test_report_is_perfs(kind, options, outputs):
    """Equal; but where two steps of different files weigh the same, perf shows that first whose record of its file has the
    higher address in its memory. So the order within a graph may be another, of few samples on a slow machine. So may that
    of rows of one weight with --comms: perf orders them by depth within a thread, else by name, and so a may stand before b,
    b before c and c before a. What its tree makes of this depends on all that is in it, the rows that it hides included."""
    perfs, kaas = map(lines, outputs(kind)[options])
    assert len(perfs) > (2 if options == "--tasks" else 10), perfs
    if kind in LINES_OF_CHANCE:
        assert unlike(perfs, kaas) <= max(4, LINES_OF_CHANCE[kind] * len(perfs))
    elif kaas != perfs:
        rows = of_any_order if "--comms" in options else table
        assert rows(kaas) == rows(perfs), "\n".join(difflib.unified_diff(perfs, kaas, "perf", "kaa", lineterm=""))
        assert unlike(perfs, kaas) == 0, (steps(kaas) - steps(perfs), steps(perfs) - steps(kaas))
