# SPDX-License-Identifier: GPL-2.0-only
"""What `kaa record` writes, in the tools that others have: both stock perfs and samply open it without a word of
complaint, and show the Python names and lines that kaa shows."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import samply_profile, script_output
from harness.image import image_of, images_in
from harness.losses import without_losses
from harness.noticed import noticed_in
from harness.process import run, started
from harness.waiting import until_busy, while_busy

pytestmark = pytest.mark.usefixtures("bpf")

PROGRAMS = pathlib.Path(__file__).parent / "programs"
IMAGE_BASE = script_output.PYTHON_RANGE.start
# Frames that perf shows of a stack unless it is told otherwise.
PERF_MAX_STACK = 127
# perf reads a file in the mount namespace of the last process that has mapped it, or of who has its number by now: here nobody.
ALONE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
# What samply's paths have and the lines of perf and kaa have not: the folders.
BASENAME = re.compile("^/.*/")

# name: options of kaa record; words of the command, where PYTHON and NATIVE stand for programs and *.py for scripts.
RECORDINGS = {
    "doc": (["-g"], ["PYTHON", "doc_script.py", "0.5"]),
    "spread": (["-g"], ["PYTHON", "spread.py", "0.4"]),
    "events": (["-g", "-e", "cpu-clock,page-faults"], ["PYTHON", "doc_script.py", "0.5"]),
    # All that runs on a busy machine meanwhile is much.
    "system": (["-g", "-a", "-F", "299"], ["PYTHON", "doc_script.py", "0.5"]),
    "attach": (["-g"], ["PYTHON", "doc_script.py", "1000"]),
    "native": (["-g"], ["NATIVE"]),
    "deep": (["-g"], ["PYTHON", "deep.py", "300", "0.5"]),
    "trampolines": (["-g"], ["PYTHON", "-X", "perf", "doc_script.py", "0.5"]),
    "dwarf": (["--call-graph", "dwarf"], ["PYTHON", "doc_script.py", "0.5"]),
    "dwarf-attach": (["--call-graph", "dwarf,16384"], ["PYTHON", "doc_script.py", "1000"]),
    "frame-pointers": (["--call-graph", "fp"], ["PYTHON", "doc_script.py", "0.5"]),
}
PYTHONS = [name for name in RECORDINGS if name not in ("native", "dwarf", "dwarf-attach")]

COMMANDS = [["report", "--stdio", "-n", "-g"], ["report", "--stdio", "--no-children"], ["script"],
            ["report", "--header-only"], ["evlist"], ["buildid-list"]]


@pytest.fixture(scope="module")
def recordings(kaa, newest_python, tmp_path_factory):
    """recordings(name): the file."""
    folder = tmp_path_factory.mktemp("stock-tools")
    scripts = PROGRAMS.parent / "scripts"
    made = {}

    def build():
        program = folder / "many_calls"
        run(["gcc", "-g", "-O1", "-pthread", "-o", program, PROGRAMS / "many_calls.c"])
        return program

    def command(words):
        for word in words:
            if word == "PYTHON":
                yield from newest_python.command
            else:
                yield build() if word == "NATIVE" else scripts / word if word.endswith(".py") else word

    def record(name):
        if name not in made:
            options, words = RECORDINGS[name]
            made[name] = folder / f"{name}.data"
            options = ["record", "-q", "-F", "999", "-o", made[name], *options]
            if name.endswith("attach"):
                with started(command(words), stdout=subprocess.DEVNULL) as target:
                    until_busy(target.pid, 0.5)
                    kaa(*options, "-p", str(target.pid), "--", *while_busy(target.pid, 0.5))
            else:
                kaa.inside(noticed_in(made[name]))(*options, "--", *command(words))
        return made[name]

    return record


def kaas_samples(kaa, data, *options):
    return script_output.parse(kaa("script", "--ns", "--no-inline", "--max-stack", "0", "-i", data, *options).stdout)


def perfs_samples(perf, data, *options, fields=""):
    """Without those of the event that carries the Python names."""
    fields = "comm,tid,time,period,event,ip,sym,symoff,dso" + fields
    text = perf.inside(ALONE)("script", "--ns", "--no-inline", "-F", fields, "-i", data, *options).stdout
    return [sample for sample in script_output.parse(text) if sample.event != "kaa"]


def is_python(frame):
    return frame.ip in script_output.PYTHON_RANGE


def same_address(theirs, ours):
    """perf 6.1 prints where in the file an address is, which keeps the place in the page."""
    return theirs.ip in (ours.ip, ours.ip - IMAGE_BASE) or (not is_python(ours) and (theirs.ip ^ ours.ip) & 0xfff == 0)


def same_name(theirs, ours):
    return (theirs.symbol, theirs.offset) == (ours.symbol, ours.offset) or not is_python(ours)


def in_perf_map(sample):
    return any(frame.dso.endswith(".map") for frame in sample.frames)


def are_of_this_test(pair):
    """Who else runs in the system may be in a mount namespace with other files, where perf looks for the recording's names; and
    may write or remove a perf map at any time."""
    script = str(PROGRAMS.parent / "scripts" / "doc_script.py")
    return not any(map(in_perf_map, pair)) and any(file == script for _, file, _ in pair[1].python)


def compare(theirs, ours, has_others=False):
    """Sample by sample; returns the number of Python frames. has_others: samples of who else runs in the system are among them."""
    assert len(theirs) == len(ours)
    for a, b in zip(theirs, ours):
        assert (a.tid, a.time, a.event, a.period) == (b.tid, b.time, b.event, b.period)
        # perf forgets a process when it exits, before its last samples, and has none for processes outside the pid
        # namespace, all of which are number 0: it names nothing in them.
        if not a.tid or a.comm == f":{a.tid}":
            continue
        assert a.comm == b.comm
        assert len(a.frames) == len(b.frames), (a, b)
        is_named = not has_others or are_of_this_test((a, b))
        for x, y in zip(a.frames, b.frames):
            assert same_address(x, y) and (same_name(x, y) or not is_named), (x, y, a, b)
    return sum(frame.is_python and is_python(frame) for sample in ours for frame in sample.frames)


@pytest.mark.one_of(3)
@pytest.mark.parametrize("name", RECORDINGS)
def test_perf_opens_it_without_a_word(perf, recordings, name):
    data = recordings(name)
    for command in COMMANDS:
        result = perf(*command, "-i", data)
        assert not without_losses(result.stderr).strip() and result.stdout, result


@pytest.mark.parametrize("name", PYTHONS)
def test_perf_shows_the_same_python_names(perf, kaa, recordings, name):
    data = recordings(name)
    theirs = perfs_samples(perf, data, "--max-stack", "8000")
    # Along frame pointers kaa leaves out what it has seen to be no frame, unless it is told not to.
    ours = kaas_samples(kaa, data, *(["--like-perf", "--max-stack", "8000"] if name == "frame-pointers" else []))
    assert len(ours) > 20
    assert compare(theirs, ours, name == "system") > 60
    pairs = [pair for pair in zip(theirs, kaas_samples(kaa, data)) if name != "system" or are_of_this_test(pair)]
    assert [ours.python for _, ours in pairs] == [theirs.python for theirs, _ in pairs]


def test_perf_shows_the_same_native_stacks(perf, kaa, recordings):
    data = recordings("native")
    ours, theirs = kaas_samples(kaa, data), perfs_samples(perf, data)
    assert len(ours) > 10
    assert compare(theirs, ours) == 0


@pytest.mark.parametrize("name", ["dwarf", "dwarf-attach"])
def test_perf_unwinds_kaas_stack_dumps(perf_system, kaa, recordings, name):
    data = recordings(name)
    ours, theirs = kaas_samples(kaa, data), perfs_samples(perf_system, data, "--max-stack", "1000")
    assert len(ours) == len(theirs) > 20
    pairs = list(zip(theirs, ours))
    worse, most = script_output.worse(pairs), script_output.most_worse(pairs)
    assert len(worse) <= most, f"{len(worse)} of {len(pairs)}: {worse[:3]}"
    deep = [theirs for theirs, ours in pairs if len(ours.frames) > 10]
    assert len(deep) > 10 and sum(len(sample.frames) > 10 for sample in deep) > 0.9 * len(deep)


def test_perf_cuts_deep_stacks_and_no_others(perf, kaa, recordings):
    data = recordings("deep")
    whole, cut = kaas_samples(kaa, data), perfs_samples(perf, data)
    assert len(whole) == len(cut)
    assert sum(len(sample.frames) > 300 for sample in whole) > 20
    for ours, theirs in zip(whole, cut):
        assert len(theirs.frames) == min(len(ours.frames), PERF_MAX_STACK)
        assert all(same_address(a, b) and same_name(a, b) for a, b in zip(theirs.frames, ours.frames))


def test_perf_shows_the_lines(perf, kaa, recordings):
    data = recordings("doc")
    ours, theirs = kaas_samples(kaa, data, "-F", "+srcline"), perfs_samples(perf, data, fields=",srcline")
    compare(theirs, ours)
    lines = [((a.file, a.line), (b.file, b.line)) for x, y in zip(theirs, ours) for a, b in zip(x.frames, y.frames)
             if b.is_python]
    assert len(lines) > 60 and all(line for _, (_, line) in lines)
    assert [theirs for theirs, _ in lines] == [ours for _, ours in lines]


def test_perfs_report_has_the_lines(perf, recordings):
    data = recordings("doc")
    result = perf("report", "--stdio", "--no-children", "-g", "caller,0.5,callee,srcline", "-i", data)
    for name, line in (("foo", "[45]"), ("bar", "10"), ("baz", "14"), ("<module>", "23")):
        assert re.search(rf"py::{name}:\S*doc_script.py doc_script.py:{line}$", result.stdout, re.M), name
    result = perf("report", "--stdio", "--sort", "srcline", "-i", data)
    assert not without_losses(result.stderr).strip() and "# Samples:" in result.stdout


# A function's row in a report: Children, Self and its symbol.
REPORT_ROW = re.compile(r"^ +([0-9.]+)% +([0-9.]+)% .*\[[.k]\] (\S.*?) *$", re.M)


def test_perfs_report_as_it_is_typed_first(perf, kaa, recordings):
    """perf report -g, with no further word: a row for each Python function, with its share as kaa's samples have it."""
    data = recordings("doc")
    result = perf("report", "--stdio", "-g", "-i", data)
    # Behind it come the rows of the event that carries the Python names.
    table = result.stdout.split("# Samples:")[1]
    rows = {symbol: (float(children), float(own)) for children, own, symbol in REPORT_ROW.findall(table)}
    samples = kaas_samples(kaa, data)
    shares, whole = collections.Counter(), sum(sample.period for sample in samples)
    for sample in samples:
        shares.update({frame.symbol: sample.period for frame in sample.frames if frame.is_python})
    expected = {name: 100 * period / whole for name, period in shares.items() if period > 0.02 * whole}
    assert len(expected) >= 4
    for name, share in expected.items():
        children, own = rows[name]
        assert abs(children - share) < 0.02 and own == 0, name


def test_perfs_diff_has_native_functions_alone(perf, recordings):
    """It compares what functions run themselves; above each Python function stands the interpreter's, which runs it."""
    result = perf("diff", recordings("doc"), recordings("spread"))
    assert not without_losses(result.stderr).strip(), result
    rows = [line for line in result.stdout.splitlines() if re.search(r" \[[.k]\] ", line)]
    assert len(rows) > 10 and any(re.match(r" +[0-9.]+% +[+-][0-9.]+%", row) for row in rows)
    assert "py::" not in result.stdout


def functions_in(samples, script):
    return {frame.python_name[0] for sample in samples for frame in sample.frames
            if frame.is_python and frame.symbol.endswith(str(script))} - {"<module>"}


def test_names_stay_with_a_recording(perf, kaa, newest_python, tmp_path):
    """perf.data, perf.data.old and a recording that was put aside: each has the names of its own program, and no others."""
    script, data = tmp_path / "program.py", tmp_path / "perf.data"
    old, aside = tmp_path / "perf.data.old", tmp_path / "aside.data"
    for name in ("one", "two", "three", "four"):
        script.write_text(f"import time\ndef {name}():\n    end = time.process_time() + 0.2\n"
                          f"    while time.process_time() < end: pass\n{name}()\n")
        kaa.inside(noticed_in(data))("record", "-q", "-F", "999", "-g", "-o", data, *newest_python.command, script)
        if name == "one":
            data.rename(aside)
    for path, name in ((aside, "one"), (old, "three"), (data, "four")):
        assert functions_in(perfs_samples(perf, path), script) == {name}, path
    assert len(images_in(tmp_path)) == 3


@pytest.fixture(scope="module")
def sid_recording(kaa, sid_python, tmp_path_factory):
    """Recorded where samply is, so that it sees the files that were mapped."""
    data = tmp_path_factory.mktemp("samply") / "perf.data"
    inside = sid_python.kaa(kaa)
    inside.inside(noticed_in(data))("record", "-q", "-F", "999", "-g", "-o", data, sid_python.path,
                                    PROGRAMS.parent / "scripts" / "doc_script.py", "0.5")
    return data, inside


def test_samply_shows_a_short_program_once(kaa, samply, sid_python, tmp_path):
    """Its exec and its first Python frames come in one round; what kaa writes about these does not stand before the exec."""
    data, saved = tmp_path / "perf.data", tmp_path / "profile.json"
    inside = sid_python.kaa(kaa)
    for _ in range(5):
        inside("record", "-q", "-F", "9999", "-g", "-o", data, sid_python.path, "-I", "-S", "-c", "sum(range(300_000))")
        samply("import", "-s", "-n", "-o", saved, data)
        threads = json.loads(saved.read_text())["threads"]
        assert [(thread["isMainThread"], thread["processName"]) for thread in threads] == [(True, sid_python.path.rpartition("/")[2])]


def test_samply_shows_the_same_names_and_lines(samply, sid_recording, tmp_path):
    data, kaa = sid_recording
    saved = tmp_path / "profile.json"
    result = samply("import", "-s", "-n", "-o", saved, data)
    assert re.fullmatch(r"(cmd line: .*\n|event \S+\n)*", result.stdout + result.stderr), result
    # The profile holds addresses; names come when it is opened, from the image.
    assert "py::" not in saved.read_text()
    profile = json.loads(saved.read_text())
    assert [thread["isMainThread"] for thread in profile["threads"]] == [True], "the stream makes processes of its own"
    stacks, libs = samply_profile.stacks_in(profile, image_of(data).name)
    ours = kaas_samples(kaa, data, "-F", "+srcline")
    expected = [[(frame.symbol, frame.file, frame.line) for frame in sample.frames if is_python(frame)]
                for sample in ours]
    assert sum(map(len, expected)) > 60
    shown = [[(function, file and BASENAME.sub("", file), line) for function, file, line in stack]
             for stack in samply_profile.symbolicated(samply, saved, stacks, libs)]
    assert shown == expected


def test_build_ids_of_the_whole_system(kaa, perf_system, tmp_path):
    """They are not the kernel's, which would mark the maps in other profilers' records, too (machine.SystemPerf)."""
    # Elsewhere on the machine, in a container, another file may have the name of the distribution's Python.
    python, data = tmp_path / "python-alone", tmp_path / "perf.data"
    shutil.copyfile(os.path.realpath("/usr/bin/python3"), python)
    python.chmod(0o755)
    kaa("record", "-q", "-a", "-F", "99", "-o", data, "--", python, "-c", "import time; time.sleep(0.5)")
    assert "build_id" not in perf_system("evlist", "-v", "-i", data).stdout
    shown = kaa("script", "--show-mmap-events", "-i", data).stdout
    built = re.search(r"Build ID: (\w+)", run(["readelf", "-n", python]).stdout)[1]
    of_it = re.findall(rf"^ *python-alone .* PERF_RECORD_MMAP2 .* (\S+)\]: r-xp {re.escape(str(python))}$", shown, re.M)
    assert of_it and set(of_it) == {f"<{built}>"}, shown
