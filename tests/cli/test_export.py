# SPDX-License-Identifier: GPL-2.0-only
"""`kaa export`: each format of its help, held against `kaa script`."""
import collections
import os
import re
import resource
import signal
import subprocess

import pytest

from harness import answer, difficult, exports, planted, script_output
from harness.collapsed import collapsed, counts, differing
from harness.nobody import NO_CAPABILITIES
from harness.terminal import Terminal

FORMATS = ["collapsed", "speedscope", "pprof", "otlp", "firefox", "callgrind", "pstats", "chrome", "perfetto", "json",
           "html"]
UNREADABLE = "[unreadable Python frames]"
BINARY = ["pprof", "otlp", "pstats", "perfetto"]
# Those whose files hold whole stacks.
STACKS = {"speedscope": exports.speedscope, "pprof": exports.pprof, "otlp": exports.otlp, "firefox": exports.firefox,
          "chrome": exports.chrome, "perfetto": exports.perfetto, "json": exports.kaa_json, "html": exports.page}
THREADS = {
    b"main": {(b"py::<module>:/srv/a.py", b"py::f:/srv/a.py"): 3, (b"py::<module>:/srv/a.py", b"work"): 2},
    b"worker": {(b"py::run:/srv/b.py", b"py::f:/srv/a.py", b"work"): 4,
                (b"py::run:/srv/b.py", b"py::f:/srv/a.py", b"py::run:/srv/b.py", b"work", b"py::run:/srv/b.py"): 2,
                (b"py::run:/srv/b.py", b"py::run:/srv/b.py", b"py::f:/srv/a.py", b"py::run:/srv/b.py", b"work"): 3},
}
# What somebody may call a function: quotes, controls, no UTF-8, what ends a line or a script, and more than a buffer.
HOSTILE = [b'a"b\\c</script>&\'', b"\x1b[31m\xff\xfe", b"semi;colon fn=(1) {}[]", b"py::x\"\t:/srv/\xc3\x28.py", b"n" * 900]


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    with planted.recording(tmp_path_factory.mktemp("threads") / "perf.data", THREADS, count=2) as path:
        yield path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    stacks = {(name, b"py::leaf:/srv/a.py"): 2 for name in HOSTILE}
    with planted.recording(tmp_path_factory.mktemp("hostile") / "perf.data", {b'x";\n\xff\x1b': stacks}, count=3) as path:
        yield path


def export(kaa, recording, name, tmp_path, *options):
    path = tmp_path / "out"
    kaa("export", "-i", recording, "--format", name, "-o", path, *options)
    return path.read_bytes()


def samples_of(kaa, recording, *options):
    return script_output.parse(kaa("script", "-i", recording, *options, "-F", "+srcline").stdout)


def test_help_lists_the_formats(kaa):
    assert re.findall(r"^--format (\w+) ", kaa("help", "export").stdout, re.M) == FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_to_a_file_or_standard_output(kaa, recording, build_dir, name, tmp_path):
    """And the same bytes each time."""
    found = export(kaa, recording, name, tmp_path)
    assert found
    for where in ([], ["-o", "-"]):
        done = subprocess.run([build_dir / "kaa", "export", "-i", recording, "--format", name, *where], check=True,
                              capture_output=True)
        assert done.stdout == found


@pytest.mark.parametrize("options", [[], ["--max-stack", "2"], ["--time", "10%/2"], ["--tid", "1"]], ids=" ".join)
def test_collapsed_is_what_script_prints(kaa, recording, options):
    samples = samples_of(kaa, recording, *options)
    assert samples or options == ["--tid", "1"]
    assert not differing(counts(kaa("export", "-i", recording, *options).stdout), collapsed(samples))
    lines = counts(kaa("export", "-i", recording, *options, "--lines").stdout)
    assert not differing(lines, collapsed(samples, with_lines=True))


@pytest.mark.parametrize("name", STACKS)
def test_stacks_are_what_script_prints(kaa, recording, threads, name, tmp_path):
    """All stacks, and so the totals of functions, lines and threads."""
    for path, options in (recording, []), (recording, ["--time", "10%/2"]), (threads, []):
        samples = samples_of(kaa, path, *options)
        found = STACKS[name](export(kaa, path, name, tmp_path, "--lines", *options))
        assert samples and not differing(found, exports.expected(samples))
    assert len({tid for tid, _ in found}) == len(THREADS)


def test_speedscope_without_lines_has_functions(kaa, recording, tmp_path):
    found = exports.speedscope(export(kaa, recording, "speedscope", tmp_path), with_lines=False)
    assert not differing(found, exports.expected(samples_of(kaa, recording), with_lines=False))


@pytest.mark.parametrize("name", STACKS)
def test_python_only(kaa, threads, name, tmp_path):
    """The weight of native code is that of the Python function that calls it."""
    samples = samples_of(kaa, threads)
    for sample in samples:
        sample.frames = [frame for frame in sample.frames if frame.is_python]
    found = STACKS[name](export(kaa, threads, name, tmp_path, "--python-only", "--lines"))
    assert not differing(found, exports.expected(samples))


def test_chrome_has_no_slices_for_what_is_no_time(kaa, build_dir, tmp_path):
    """Ten samples of page-faults: the first field of the attribute is the type, the third the number of the event."""
    data = bytearray(planted.file([planted.sample(1, 1, 1000 * i, [planted.CODE]) for i in range(1, 11)]))
    at = data.index(planted.attribute())
    data[at + 8:at + 16] = (2).to_bytes(8, "little")
    (tmp_path / "perf.data").write_bytes(data)
    said = kaa("export", "-i", tmp_path / "perf.data", "--format", "chrome", "-o", tmp_path / "out", status=1).stderr
    assert "stand for no time" in said


def test_chrome_has_a_thread_that_had_no_number_any_more(kaa, tmp_path):
    """The kernel says -1 of a thread that has just ended. Perfetto takes negative numbers for the main thread."""
    records = [planted.code_map(7, 1), planted.comm(7, 7, b"main")]
    records += [planted.sample(7, tid, 1000 * i, [planted.CODE + 5]) for i, tid in enumerate([7, 0xFFFFFFFF, 7], 1)]
    planted.write(tmp_path / "perf.data", records)
    found = exports.chrome(export(kaa, tmp_path / "perf.data", "chrome", tmp_path))
    assert {tid: weight for (tid, _), weight in found.items()} == {7: 2 * planted.PERIOD, 0xFFFFFFFF: planted.PERIOD}


@pytest.mark.parametrize("name", STACKS)
def test_hostile_names(kaa, hostile, name, tmp_path):
    """A name ends nothing, and no stack is lost."""
    found = STACKS[name](export(kaa, hostile, name, tmp_path))
    assert sorted(found.values()) == [2 * planted.PERIOD] * len(HOSTILE)
    assert {stack[-1][0] for _, stack in found} == {"leaf"}
    names = {stack[0][0] for _, stack in found}
    assert {HOSTILE[0].decode(), HOSTILE[2].decode(), HOSTILE[4].decode()} < names


def expected_of(document, event):
    """The stacks that a document of kaa's JSON has of an event: {(tid, ((function, file, line), ...)): weight}"""
    stacks, samples, paths, found = document["stacks"], document["samples"], [], collections.Counter()
    for parent, function, line in zip(stacks["parent"], stacks["function"], stacks["line"]):
        row = document["functions"][function]
        paths.append((*(paths[parent] if parent >= 0 else ()), (row["name"], row["file"] or row["object"], line or None)))
    for number, thread, stack, weight in zip(*(samples[name] for name in ("event", "thread", "stack", "weight"))):
        if document["events"][number]["name"] == event:
            found[document["threads"][thread]["tid"], paths[stack]] += weight
    return found


def beginnings(stacks):
    """The page cuts long names; what must not be shown is U+FFFD, or a newline."""
    found = collections.Counter()
    for (tid, stack), weight in stacks.items():
        found[tid, tuple((re.sub("[\x00-\x1f\u202e]", "\ufffd", name[:100]), file, line) for name, file, line in stack)] += weight
    return found


@pytest.mark.parametrize("name", STACKS)
def test_what_is_hard_to_write(kaa, name, tmp_path):
    """Names that end what they stand in, functions and threads that are called alike, recursion, marks, several events."""
    recording = difficult.recording(kaa, tmp_path / "perf.data")
    found = STACKS[name](export(kaa, recording, name, tmp_path, "--lines", "--event", "cpu-clock"))
    wanted = beginnings(expected_of(difficult.document(), "cpu-clock"))
    assert len(wanted) > 300 and not differing(beginnings(found), wanted)


def test_callgrind_has_lines_and_calls(kaa, recording, threads, hostile, tmp_path):
    for path in recording, threads, hostile:
        stacks = exports.with_levels(exports.without_threads(exports.expected(samples_of(kaa, path))))
        found = exports.callgrind(export(kaa, path, "callgrind", tmp_path))
        assert found["total"] == sum(stacks.values())
        if path != hostile:
            assert not differing(found["lines"], exports.own_lines(stacks))
            assert not differing(found["calls"], exports.calls(stacks, levels=True))
            # So what calls into a function cost is its total, as callgrind_annotate has it.
            into = collections.Counter()
            for (_, _, callee), weight in found["calls"].items():
                into[callee] += weight
            assert {name: weight for name, weight in exports.totals(stacks).items()
                    if not name[0].endswith("'2") and name[0] != "(below main)"}.items() <= into.items()
    names = [name for name, _, _ in found["calls"]]
    assert {HOSTILE[0].decode(), HOSTILE[2].decode(), HOSTILE[4].decode()} < {name for name, _ in names}


def test_pstats_has_functions_and_callers(kaa, recording, threads, hostile, tmp_path):
    for path, native in (recording, True), (threads, True), (recording, False), (threads, False):
        samples = samples_of(kaa, path)
        for sample in [] if native else samples:
            # Native code counts as the Python function that calls it. A marker that frames are missing stays.
            sample.frames = [frame for frame in sample.frames if frame.is_python or frame.symbol == UNREADABLE] or sample.frames
        stacks = exports.without_threads(exports.expected(samples, with_lines=False))
        own, total, callers = exports.pstats_file(export(kaa, path, "pstats", tmp_path, *["--native"] * native))
        assert not differing(own, exports.own_functions(stacks))
        assert not differing(total, exports.totals(stacks))
        assert not differing(callers, exports.edges(stacks))
    own, _, _ = exports.pstats_file(export(kaa, hostile, "pstats", tmp_path))
    assert own["leaf", "/srv/a.py"] == 2 * planted.PERIOD * len(HOSTILE)


def test_pstats_has_each_function_once(kaa, tmp_path):
    """However many it calls: marshal itself writes what it has written before as a number."""
    stacks = {(("caller", "/srv/app.py", 1, 40), (f"callee_{i}", "/srv/app.py", 7, 8)): 10 for i in range(20)}
    data = planted.sampled(kaa, tmp_path / "perf.data", stacks)
    written = export(kaa, data, "pstats", tmp_path)
    _, total, callers = exports.pstats_file(written)
    assert len(total) == 21 and len(callers) == 20
    assert written.count(b"caller") == 1 and written.count(b"callee_7") == 1


def test_pstats_own_times_are_those_of_the_report(kaa, tmp_path):
    """As users of snakeviz read tottime: what a function took itself, in C or not."""
    body, work = ("<module>", "/srv/app.py", 1, 40), ("work", "/srv/app.py", 7, 8)
    stacks = {(body, work): 10, (body, work, ("memcpy", "libc.so.6")): 50, (body, ("malloc", "libc.so.6")): 20, (("main", "python3"),): 20}
    data = planted.sampled(kaa, tmp_path / "perf.data", stacks)
    own, _, _ = exports.pstats_file(export(kaa, data, "pstats", tmp_path))
    shown = {name: share for (name, _), (share, _) in answer.functions_of(kaa("report", "-i", data, env=answer.WIDE).stdout).items()}
    assert {name: 100 * weight / own.total() for (name, _), weight in own.items()} == {"work": 60, "<module>": 20, "main": 20}
    assert (shown["work"], shown["<module>"]) == (60, 20)
    # With C code apart it has what Python frames were on top of.
    own, _, _ = exports.pstats_file(export(kaa, data, "pstats", tmp_path, "--native"))
    assert {name: 100 * weight / own.total() for (name, _), weight in own.items()} == {"work": 10, "memcpy": 50, "malloc": 20, "main": 20}


def test_what_a_format_leaves_out_is_said(kaa, recording, tmp_path):
    for name in FORMATS:
        said = kaa("export", "-i", recording, "--format", name, "-o", tmp_path / "out").stderr
        assert said.startswith(f"kaa export: wrote '{tmp_path / 'out'}'; {name} files do not hold ") and said.count("\n") == 1
        # One clause that is read at once, also by who does not know the format.
        assert said.count(";") == 1 and "which" not in said
        assert not kaa("export", "-i", recording, "--format", name, "-o", tmp_path / "out", "-q").stderr


@pytest.mark.parametrize("words", [["export", "-o", "OUT"], ["export", "--format", "json", "-o", "OUT"], ["flamegraph", "-o", "OUT"],
                                   ["inject", "-o", "OUT"], ["record", "-o", "OUT", "true"], ["import", "IN", "-o", "OUT"]])
def test_where_no_file_can_be_written(kaa, recording, words, tmp_path):
    """A folder that is not there, one that is another's, and a file that is: each is said, by all commands alike."""
    weak = kaa if os.geteuid() else kaa.inside(NO_CAPABILITIES)
    (tmp_path / "in").write_text("main;f 3\n")
    (tmp_path / "forbidden").mkdir(mode=0o555)
    command, *words = [word.replace("IN", str(tmp_path / "in")) for word in words]
    words = words if command in ("record", "import") else [*words, "-i", str(recording)]

    def fails(path):
        lines = weak(command, *(word.replace("OUT", path) for word in words), cwd=tmp_path, status=1).stderr.splitlines()
        return [line for line in lines if "cannot be written" in line]

    assert fails("none/x.html") == [f"kaa {command}: 'none/x.html' cannot be written: there is no folder 'none'"]
    assert fails("forbidden/x.html") == [f"kaa {command}: 'forbidden/x.html' cannot be written: "
                                         "you may not make files in the folder 'forbidden'"]
    if command in ("export", "flamegraph"):
        (tmp_path / "x.html").write_text("")
        (tmp_path / "x.html").chmod(0o444)
        assert fails("x.html") == [f"kaa {command}: 'x.html' cannot be written: it is there, and you may not change it"]


def little_room():
    """What a Popen calls in a program for which the disk is full after a few bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("words", [["export", "-o", "out"], ["export", "--format", "json", "-o", "out"],
                                   ["export", "--format", "html", "-o", "out.html"], ["flamegraph", "-o", "out.html"],
                                   ["flamegraph", "-o", "out.svg"]])
@pytest.mark.parametrize("is_there", [False, True], ids=["new", "there"])
def test_nothing_is_left_on_a_full_disk(kaa, recording, words, is_there, tmp_path):
    """What is cut off is of no use, and who reads the message looks for the file."""
    if is_there:
        kaa(*words, "-i", recording, cwd=tmp_path)
    said = kaa(*words, "-i", recording, cwd=tmp_path, preexec_fn=little_room, status=1).stderr
    assert said == f"kaa {words[0]}: '{words[-1]}': cannot write the file: File too large\n"
    assert not (tmp_path / words[-1]).exists()


def test_mistakes(kaa, recording, tmp_path):
    assert "did you mean 'collapsed'" in kaa("export", "--format", "colapsed", status=129).stderr
    assert "no format 'x'" in kaa("export", "--format", "x", status=129).stderr
    assert "no format 'KCachegrind': it reads files of '--format callgrind'" in kaa("export", "--format", "KCachegrind", status=129).stderr
    said = kaa("export", "-i", recording, "-o", tmp_path / "none" / "out", status=1).stderr
    assert said == f"kaa export: '{tmp_path}/none/out' cannot be written: there is no folder '{tmp_path}/none'\n"
    said = kaa("export", "-i", recording, "-o", "/dev/full", status=1).stderr
    assert "/dev/full" in said and "No space left" in said
    assert "does not exist" in kaa("export", "-i", tmp_path / "none", status=1).stderr


@pytest.mark.parametrize("name, format", [
    ("x.speedscope.json", "speedscope"), ("x.html", "html"), ("x.pb.gz", "pprof"), ("x.prof", "pstats"), ("callgrind.out.7", "callgrind"),
    ("x.pb", "pprof"), ("x.pftrace", "perfetto"), ("x.txt", "collapsed"), ("x", "collapsed"), ("html", "collapsed")])
def test_a_file_is_what_it_is_called(kaa, recording, tmp_path, name, format):
    """Where no format is asked for."""
    said = kaa("export", "-i", recording, "-o", tmp_path / name).stderr
    assert said.startswith(f"kaa export: wrote '{tmp_path / name}'; {format} files do not hold ")
    assert "; collapsed files" in kaa("export", "--format", "collapsed", "-i", recording, "-o", tmp_path / name).stderr


def test_a_file_that_may_be_several(kaa, recording, tmp_path):
    said = kaa("export", "-i", recording, "-o", tmp_path / "x.json", status=129).stderr
    assert "'--format'" in said and not (tmp_path / "x.json").exists()
    assert "kaa flamegraph' writes pictures" in kaa("export", "-i", recording, "-o", tmp_path / "x.svg", status=129).stderr
    for name in "x.json.gz", "x.txt.gz":
        assert "kaa compresses pprof" in kaa("export", "-i", recording, "-o", tmp_path / name, status=129).stderr
        assert not (tmp_path / name).exists()


def test_the_help_says_what_numbers_are(kaa):
    said = " ".join(kaa("help", "export").stdout.split())
    assert re.search(r"--format collapsed [^-]*number of samples\. For polled recordings and for off-cpu, .* microseconds\.", said)
    assert "In all formats but collapsed a sample weighs what it stands for: time, bytes, or how often" in said


def test_collapsed_weighs_what_was_polled_and_waits(kaa, tmp_path):
    """With and without native frames: samples that stand for different lengths of time are microseconds, others their number."""
    f, work = b"py::f:/srv/a.py", b"work"
    more = [(event, b"main", (f, work), 500 + 1000 * i, period) for event in (b"gil-clock", b"sched:sched_stat_sleep", b"page-faults")
            for i, period in enumerate((2000, 40000))]
    with planted.recording(tmp_path / "perf.data", {b"main": {(f,): 1}}, count=5, more=more) as path:
        found = {event: kaa("export", "-q", "-i", path, "--event", event).stdout for event in ("gil-clock", "sched:sched_stat_sleep", "page-faults")}
    assert found == {"gil-clock": "main;f (/srv/a.py);work 42\n", "sched:sched_stat_sleep": "main;f (/srv/a.py);work 42\n",
                     "page-faults": "main;f (/srv/a.py);work 2\n"}


def test_collapsed_has_no_line_of_nothing(kaa, tmp_path):
    """flamegraph.pl takes a stack for another whose number is 0: what is below half a microsecond has no line."""
    f, g = b"py::f:/srv/a.py", b"py::g:/srv/b.py"
    more = [(b"gil-clock", b"main", stack, since, period) for stack, since, period in
            (((f,), 100, 0), ((f, g), 200, 499), ((g,), 300, 500), ((g, f), 400, 7000))]
    with planted.recording(tmp_path / "perf.data", {b"main": {(f,): 1}}, count=6, more=more) as path:
        found = counts(kaa("export", "-q", "-i", path, "--event", "gil-clock").stdout)
    assert found == {"main;g (/srv/b.py)": 1, "main;g (/srv/b.py);f (/srv/a.py)": 7}


def test_a_terminal_gets_text_if_it_is_asked_for(build_dir, recording):
    with Terminal([build_dir / "kaa", "export", "-i", recording], columns=200) as terminal:
        terminal.wait_for("add '-o FILE', or '| less' to read it")
        assert terminal.wait() == 129
    with Terminal([build_dir / "kaa", "export", "-i", recording, "-o", "-"], columns=200) as terminal:
        terminal.wait_for("Worker.middle (/srv/app/work.py)")
        assert terminal.wait() == 0


@pytest.mark.parametrize("name", BINARY)
def test_a_terminal_gets_no_binary_format(build_dir, recording, name):
    with Terminal([build_dir / "kaa", "export", "-i", recording, "--format", name], columns=200) as terminal:
        terminal.wait_for("add '-o FILE'")
        assert terminal.wait() == 129


def test_nothing_to_export(kaa, recording, tmp_path):
    for name in FORMATS[1:]:
        said = kaa("export", "-i", recording, "--format", name, "--tid", "1", "-o", tmp_path / "out", status=1).stderr
        assert "there is no sample to be exported" in said


def test_words_that_find_nothing_are_said(kaa, recording):
    assert "nobody" in kaa("export", "-i", recording, "--comms", "nobody").stderr
