# SPDX-License-Identifier: GPL-2.0-only
"""What both stock perfs record, in kaa: it opens without a complaint, stacks of frame pointers are perf's, and those that
kaa unwinds from stack dumps go at least as far as perf's. kaa runs where the perf does, so that both see the same files.
Text that is perf's to the byte is the matter of test_script_like_perf.py."""
import os
import pathlib
import re

import pytest

from harness import script_output
from harness.machine import LARGE_RINGS
from harness.process import run
from harness.waiting import until_busy, while_busy

PROGRAMS = pathlib.Path(__file__).parent / "programs"
SCRIPTS = pathlib.Path(__file__).parent / "scripts"

STARTS = {"_start", "clone", "__clone", "clone3", "__clone3", "_dl_start_user"}

# name: options of perf record.
RECORDINGS = {
    "frame-pointers": ["-g"],
    "dwarf": ["--call-graph", "dwarf"],
    "dwarf-large": ["--call-graph", "dwarf,32768"],
    "events": ["-g", "-e", "cpu-clock,page-faults"],
    "dwarf-events": ["--call-graph", "dwarf", "-e", "cpu-clock:u,page-faults"],
    "system": ["-g", "-a"],
    "attach": ["-g"],
    "dwarf-attach": ["--call-graph", "dwarf,16384"],
    "compressed": ["-g", "-z"],
    "dwarf-compressed": ["--call-graph", "dwarf", "-z"],
}
# (name, program): a running process is a Python, and what the name adds is the same for a program of C.
CASES = [(name, program) for name in RECORDINGS for program in ("native", "python")
         if program == "python" or name in ("frame-pointers", "dwarf", "system")]
# Neither perf reads what it wrote with these: "Couldn't decompress data". Where the last record of a file is a full one,
# 65,535 bytes, perf left the rest of its data in the compressor: up to all that one CPU's ring had. So the program runs on one
# CPU, where its exec and its forks are the first records and not the last.
UNREADABLE = "dwarf-compressed"
DWARF = [case for case in CASES if case[0].startswith("dwarf") and case[0] != UNREADABLE]
OTHERS = [case for case in CASES if not case[0].startswith("dwarf")]


class World:
    """A perf, with the kaa and the interpreter that see the same files."""

    def __init__(self, perf, kaa, python):
        self.perf, self.kaa, self.python = perf, kaa, python


# Along frame pointers that are none the kernel may take any word of a stack for an address, a context number too.
# And in a recording of the whole system there may be processes whose jitdump is gone by now, and 32-bit programs, for
# which perf looks for a program of its own.
JUNK = re.compile(r"^kaa (report|script): warning: \d+ (callchains? (is|are) damaged|jitdumps? could not be used: .*|"
                  r"(records?|samples?) (was|were) lost while recording)$|"
                  r"^sh: .*perf-read-vdsox?32: not found$")


CUT = re.compile(r"^kaa (report|script): warning: \d+ bytes at the end of the file are not a complete record$")


def unexpected(stderr, name=""):
    return [line for line in stderr.splitlines()
            if not JUNK.match(line) and not (name == UNREADABLE and CUT.match(line))]


@pytest.fixture(scope="module", params=["perf_system", "perf_sid"])
def world(request, root, kaa):
    perf = request.getfixturevalue(request.param)
    python = request.getfixturevalue("newest_python" if request.param == "perf_system" else "sid_python")
    return World(perf, python.kaa(kaa), python)


@pytest.fixture(scope="module")
def recordings(world, tmp_path_factory):
    """recordings(name, program): the file."""
    folder = tmp_path_factory.mktemp("stock-recordings")
    native = folder / "many_calls"
    run(["gcc", "-g", "-O1", "-static", "-pthread", "-o", native, PROGRAMS / "many_calls.c"])
    programs = {"native": [native], "python": [world.python.path, SCRIPTS / "doc_script.py", "0.5"]}
    made = {}

    def record(name, program):
        key = name, program
        if key not in made:
            made[key] = folder / f"{name}-{program}.data"
            options = ["record", "-q", *LARGE_RINGS, "-F", "499", "-o", made[key], *RECORDINGS[name]]
            if name.endswith("attach"):
                with world.python.running(SCRIPTS / "doc_script.py", "1000") as (_, pid):
                    until_busy(pid, 0.3)
                    world.perf(*options, "-p", pid, "--", *while_busy(pid, 0.4))
            else:
                alone = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if name == UNREADABLE else []
                world.perf(*options, "--", *alone, *programs[program])
        return made[key]

    return record


def read(program, data, *options, name=""):
    result = program("script", "--ns", "-i", data, *options)
    assert unexpected(result.stderr, name) == [], result
    return script_output.parse(result.stdout)


def addresses(sample):
    """Places in pages: perf 6.1 prints where in the file an address is."""
    return [frame.ip & 0xfff for frame in sample.frames]


def both(world, data, *options):
    """The samples of perf and of kaa, in pairs."""
    perfs = read(world.perf, data, "--no-inline", "--max-stack", "1000")
    kaas = read(world.kaa, data, "--no-inline", "--max-stack", "0", *options)
    assert len(perfs) == len(kaas) > 3
    for theirs, ours in zip(perfs, kaas):
        assert (theirs.tid, theirs.time, theirs.event, theirs.period) == (ours.tid, ours.time, ours.event, ours.period)
    return list(zip(perfs, kaas))


@pytest.mark.parametrize("name, program", CASES)
def test_kaa_opens_it_without_a_word(world, recordings, name, program):
    data = recordings(name, program)
    for command in (["report", "--stdio", "-n", "-g"], ["report", "--stdio", "--no-children"], ["script"],
                    ["report", "--header-only"]):
        result = world.kaa(*command, "-i", data)
        assert unexpected(result.stderr, name) == [] and result.stdout, result


@pytest.mark.parametrize("name, program", OTHERS)
def test_recorded_chains_are_perfs(world, recordings, name, program):
    for theirs, ours in both(world, recordings(name, program), "--like-perf"):
        assert addresses(theirs) == addresses(ours), (theirs, ours)


@pytest.mark.parametrize("name, program", DWARF)
def test_unwound_stacks_go_as_far_as_perfs(world, recordings, name, program):
    pairs = both(world, recordings(name, program))
    worse, most = script_output.worse(pairs), script_output.most_worse(pairs)
    assert len(worse) <= most, f"{len(worse)} of {len(pairs)}: {worse[:3]}"


@pytest.mark.parametrize("program", ["native", "python"])
def test_what_perf_cannot_decompress(world, recordings, program):
    data = recordings(UNREADABLE, program)
    samples = read(world.kaa, data, name=UNREADABLE)
    whole = [sample for sample in samples if sample.frames and sample.frames[-1].symbol in STARTS]
    assert len(whole) > 0.9 * len(samples) - 3 > 0
