# SPDX-License-Identifier: GPL-2.0-only
"""`kaa import`: what was exported comes back with the totals that it had, and files of other tools have those that they say."""
import gzip
import json
import re
import subprocess

import pytest

from harness import difficult, exports, planted, script_output
from harness.collapsed import counts, differing

# Those that hold lines, threads and weights. speedscope writes samples in a row with one stack as one.
WHOLE = ["json", "speedscope", "pprof", "firefox", "script"]
FORMATS = ["pprof", "speedscope", "firefox", "json", "script", "collapsed"]
THREADS = {
    b"main": {(b"py::<module>:/srv/a.py", b"py::f:/srv/a.py"): 3, (b"py::<module>:/srv/a.py", b"work"): 2},
    b"worker": {(b"py::run:/srv/b.py", b"py::f:/srv/a.py", b"work"): 4,
                (b"py::run:/srv/b.py", b"py::f:/srv/a.py", b"py::run:/srv/b.py", b"work", b"py::run:/srv/b.py"): 2,
                (b"py::main:/usr/bin/tool.py", b"py::x:<string>", b"std::sort(int*, int*)"): 3},
}


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    with planted.recording(tmp_path_factory.mktemp("threads") / "perf.data", THREADS, count=5) as path:
        yield path


def samples_of(kaa, recording):
    return script_output.parse(kaa("script", "-i", recording, "-F", "+srcline").stdout)


def export(kaa, recording, name, path):
    if name == "script":
        path.write_text(kaa("script", "-i", recording, "-F", "+pid,+srcline").stdout)
    else:
        kaa("export", "-q", "-i", recording, "--format", name, "--lines", "-o", path)
    return path


def imported(kaa, path, *options):
    kaa("import", path, "-o", path.with_suffix(".data"), *options)
    return path.with_suffix(".data")


def there_and_back(kaa, recording, name, tmp_path):
    return imported(kaa, export(kaa, recording, name, tmp_path / name))


def totals(kaa, recording):
    """What a report says of functions, threads and lines. Functions without a name have addresses in one and not in the other."""
    found = {}
    for key, options in {"function": ["--children", "--sort", "symbol"], "thread": ["--no-children", "--sort", "tid"],
                         "line": ["--no-children", "--sort", "srcline"]}.items():
        rows = kaa("report", "--stdio", "-g", "none", "--percent-limit", "0", "-i", recording, *options).stdout.splitlines()
        found[key] = sorted(re.sub(r" +", " ", re.sub(r":.*", "", row) if key == "thread" else row).strip()
                            for row in rows if re.match(r" +\d", row) and not re.search(r"0x0|\[[0-9a-f]+\]|\[\[|\[make_perfdata\]", row)
                            and (key != "line" or re.search(r"\S:\d+ *$", row)))
    return found


def functions_of(kaa, recording, tid=None):
    """{function with line: weight} of the leaves."""
    found = {}
    for sample in samples_of(kaa, recording):
        if tid in (None, sample.tid):
            leaf = sample.frames[0]
            name = f"{leaf.python_name[0]}:{leaf.line}" if leaf.is_python else leaf.symbol
            found[name] = found.get(name, 0) + sample.period
    return found


# --- there and back ---

def test_help_lists_the_formats(kaa):
    assert re.findall(r"^--format (\w+) ", kaa("help", "import").stdout, re.M) == FORMATS


@pytest.mark.parametrize("name", WHOLE)
def test_the_stacks_come_back(kaa, recording, threads, name, tmp_path):
    """All stacks with lines, threads and weights, and so all totals."""
    for path in recording, threads:
        back = there_and_back(kaa, path, name, tmp_path)
        wanted = exports.expected(samples_of(kaa, path))
        assert wanted and not differing(exports.expected(samples_of(kaa, back)), wanted)


@pytest.mark.parametrize("name", WHOLE)
def test_the_report_is_the_same(kaa, recording, threads, name, tmp_path):
    (tmp_path / "raw").write_text(PY_SPY.replace("tool (/usr/bin/tool) 5\n", ""))
    lines = imported(kaa, tmp_path / "raw")
    for path in recording, threads, lines:
        wanted, found = totals(kaa, path), totals(kaa, there_and_back(kaa, path, name, tmp_path))
        assert found["function"] and found["thread"] and found == wanted
    assert len(found["line"]) == 3


def test_collapsed_comes_back(kaa, recording, threads, tmp_path):
    """Numbers of samples, names of threads and lines; where native functions were is not in it."""
    for path in recording, threads:
        back = there_and_back(kaa, path, "collapsed", tmp_path)
        for options in [], ["--lines"]:
            wanted, found = (counts(kaa("export", "-i", which, *options).stdout) for which in (path, back))
            assert not differing(found, wanted)


def sums_of_events(kaa, recording):
    """{event: rows of function, own period and total share}"""
    text = kaa("report", "--stdio", "--children", "--show-total-period", "-g", "none", "--percent-limit", "0", "--sort", "symbol",
               "-t", "\x01", "-i", recording).stdout
    parts = re.split(r"^# Samples: .* of event '(.*)'$", text, flags=re.M)
    # What must not be shown is U+FFFD in most formats.
    return {event: sorted(re.sub("[\u202e\ufffd]", "?", row) for row in rows.splitlines() if row and row[0] != "#")
            for event, rows in zip(parts[1::2], parts[2::2])}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_hard_to_write_comes_back(kaa, name, tmp_path):
    """Several events and processes, names that end what they stand in, recursion, marks."""
    path = difficult.recording(kaa, tmp_path / "perf.data")
    wanted = sums_of_events(kaa, path)
    assert set(wanted) == {event for event, _, _ in difficult.EVENTS} and all(len(rows) > 30 for rows in wanted.values())
    assert sums_of_events(kaa, there_and_back(kaa, path, name, tmp_path)) == wanted


@pytest.mark.parametrize("name", FORMATS)
def test_all_views_show_it(kaa, threads, name, tmp_path):
    back = there_and_back(kaa, threads, name, tmp_path)
    assert re.search(r"\bf +/srv/a\.py", kaa("report", "-i", back).stdout)
    assert "own" in kaa("annotate", "-i", back, "f").stdout
    kaa("flamegraph", "-i", back, "-o", tmp_path / "flame.svg")
    assert "<svg" in (tmp_path / "flame.svg").read_text()
    assert "no function changed" in kaa("diff", back, back).stdout


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_found_out(kaa, recording, name, tmp_path):
    path = export(kaa, recording, name, tmp_path / "file")
    said = kaa("import", path, "-o", tmp_path / "data").stderr
    assert f"wrote '{tmp_path / 'data'}': 300 samples of 1 thread, from '{path}' ({name})" in said
    assert kaa("import", path, "-q", "-o", tmp_path / "data").stderr == ""
    assert f"({name})" in kaa("import", path, "--format", name, "-o", tmp_path / "data").stderr


@pytest.mark.parametrize("event", ["async-clock", "wall-clock", "gil-clock"])
def test_time_of_another_kind_comes_back(kaa, event, tmp_path):
    """Time of tasks is none of a CPU, though it is the one event that there is."""
    stack = (("task", "<asyncio>", 1, 1), ("f", "/srv/a.py", 1, 2))
    path = planted.sampled(kaa, tmp_path / "perf.data", {stack: 2}, event=event)
    title = re.search(r"  (2 ms .*?)(?: in |  )", kaa("report", "-i", path).stdout.splitlines()[0])[1]
    assert event != "async-clock" or "of tasks" in title, title
    for name in WHOLE:
        back = there_and_back(kaa, path, name, tmp_path)
        assert f"  {title} " in kaa("report", "-i", back).stdout.splitlines()[0], name
        assert {sample.event.partition(":")[0] for sample in samples_of(kaa, back)} == {event}, name


def test_markers_come_back(kaa, recording, tmp_path):
    for name in FORMATS:
        assert "could not be read" in kaa("report", "-i", there_and_back(kaa, recording, name, tmp_path)).stdout


def test_threads_that_were_ending_come_back(kaa, tmp_path):
    """The kernel has no number for them in their last moment: it says -1. So do files of all formats."""
    path, nobody = tmp_path / "perf.data", 0xffffffff
    path.write_bytes(planted.file([
        planted.comm(70, 70, b"app"), planted.code_map(70, 2), planted.sample(70, 70, 1000, [planted.CODE, planted.CODE + 70]),
        planted.sample(70, nobody, 2000, [planted.CODE, planted.CODE + 70]),
        planted.sample(nobody, nobody, 3000, [planted.CODE, planted.CODE + 70]),
        planted.sample(70, 70, 4000, [planted.CODE, planted.CODE + 70])]))
    for name in WHOLE:
        found = samples_of(kaa, there_and_back(kaa, path, name, tmp_path))
        assert sorted(sample.tid for sample in found for _ in range(sample.period // planted.PERIOD)) == [-1, -1, 70, 70], name


def test_names_with_anything_in_them(kaa, tmp_path):
    names = [b'a"b\\c</script>&\'', b"\x1b[31m\xff\xfe", b"semi;colon fn=(1) {}[] 7", b"py::x\"\t:/srv/\xc3\x28.py", b"n" * 900]
    stacks = {(name, b"py::leaf:/srv/a.py"): 2 for name in names}
    with planted.recording(tmp_path / "perf.data", {b'x";\n\xff\x1b': stacks}, count=6) as path:
        for name in set(FORMATS) - {"script"}:
            samples = samples_of(kaa, there_and_back(kaa, path, name, tmp_path))
            assert len(samples) == 2 * len(names) or name == "speedscope"
            found = {sample.frames[-1].symbol for sample in samples}
            assert len(found) == len(names) and {names[0].decode(), "n" * 900} < found


WRITTEN_ONLY = ["pstats", "callgrind", "chrome", "otlp", "perfetto", "html"]


@pytest.mark.parametrize("name", [*WRITTEN_ONLY, "svg", "html of flamegraph"])
def test_what_kaa_writes_and_does_not_read(kaa, recording, name, tmp_path):
    path = tmp_path / f"flame.{name[:4].strip()}"
    if name in WRITTEN_ONLY:
        kaa("export", "-q", "-i", recording, "--format", name, "-o", path)
    else:
        kaa("flamegraph", "-i", recording, "-o", path)
    said = kaa("import", path, "-o", tmp_path / "data", status=1).stderr
    assert said == (f"kaa import: '{path}' is a file of {name.split()[0]}, which kaa writes but does not read; "
                    "it reads pprof, speedscope, firefox, json, script and collapsed\n")


def test_the_recording_before_is_kept(kaa, tmp_path):
    """As `kaa record` keeps it; where nothing is written all stays as it was."""
    data, old = tmp_path / "perf.data", tmp_path / "perf.data.old"
    (tmp_path / "a").write_text("a;b 5\n")
    said = kaa("import", tmp_path / "a", "-o", data).stderr
    assert "is kept" not in said and not old.exists()
    first = data.read_bytes()
    (tmp_path / "b").write_text("a;c 7\n")
    assert f"the recording that was there is kept as '{old}'\n" in kaa("import", tmp_path / "b", "-o", data).stderr
    assert old.read_bytes() == first and functions_of(kaa, data) == {"c": 7}
    (tmp_path / "none").write_text("nothing\n")
    kaa("import", tmp_path / "none", "-o", data, status=1)
    assert old.read_bytes() == first and functions_of(kaa, data) == {"c": 7}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "none", "perf.data", "perf.data.old"]


# --- files of other tools ---

PY_SPY = """\
<module> (app.py:20);main (app.py:12);work (lib/w.py:7) 30
<module> (app.py:20);main (app.py:13);<lambda> (<string>:1) 8
<module> (app.py:20);main (app.py:13);_PyObject_Call (libpython3.11.so.1.0) 2
tool (/usr/bin/tool) 5
"""


def test_raw_of_py_spy(kaa, tmp_path):
    """Files in brackets, with lines where they are known; processes and threads as steps in front."""
    (tmp_path / "raw").write_text(PY_SPY)
    assert functions_of(kaa, imported(kaa, tmp_path / "raw")) == {
        "work:7": 30, "<lambda>:1": 8, "_PyObject_Call": 2, "tool:None": 5}
    (tmp_path / "subprocesses").write_text('process 77:"python app.py";thread (88): main;a (a.py:1) 3\n'
                                           'process 77:"python app.py";thread (88): main 1\n'
                                           'process 78:"python b.py";thread (0x7f13): pool;b (b.py:2) 4\n')
    samples = samples_of(kaa, imported(kaa, tmp_path / "subprocesses"))
    assert {sample.frames[-1].symbol for sample in samples} == {"py::a:a.py", "py::b:b.py", "[unknown]"}
    assert len({sample.tid for sample in samples}) == 2
    assert {(sample.comm, sample.tid) for sample in samples if sample.tid == 88} == {("python app.py", 88)}
    threads = json.loads(kaa("export", "-q", "-i", tmp_path / "subprocesses.data", "--format", "json").stdout)["threads"]
    assert {(thread["pid"], thread["name"]) for thread in threads} == {(77, "main"), (78, "pool")}


def test_samples_without_frames(kaa, tmp_path):
    """py-spy has a line for them, a blank and a number, which may be the first one. A number alone is none."""
    for name, text in ("first", " 16\n<module> (app.py:3) 4\n"), ("last", "thread (7): main;<module> (app.py:3) 4\n 16\n"):
        (tmp_path / name).write_text(text)
        back = imported(kaa, tmp_path / name)
        assert functions_of(kaa, back) == {"[unknown]": 16, "<module>:3": 4}
        text = kaa("report", "-i", back).stdout
        assert "   20 samples, none lost\n" in text and "Spent in" not in text
        assert re.search(r"80\.0% +80\.0% +\[no Python code\]", text), text
    (tmp_path / "number").write_text("16\n")
    assert "no format that kaa knows" in kaa("import", tmp_path / "number", "-o", tmp_path / "data", status=1).stderr


def test_any_file_with_a_line_is_python(kaa, tmp_path):
    """Templates, and whatever a program calls its code; but not what compilers read, of which py-spy has lines, too."""
    (tmp_path / "raw").write_text("f (app.py:1);root (page.html:50) 3\nf (app.py:1);block (mail.txt.j2:4) 2\nf (app.py:1);<module> (<frozen os>:7) 1\n"
                                  "f (app.py:1);list_sort (Objects/listobject.c:2100) 4\nf (app.py:1);read (libc.so.6:0) 5\n"
                                  "f (app.py:1);go (src/lib.rs:8) 6\nf (app.py:1);start (page.html) 7\n")
    assert functions_of(kaa, imported(kaa, tmp_path / "raw")) == {
        "root:50": 3, "block:4": 2, "<module>:7": 1, "list_sort": 4, "read": 5, "go": 6, "start": 7}


def test_collapsed_stacks_of_anything(kaa, tmp_path):
    (tmp_path / "folded").write_text("# a comment\nmain;operator new(unsigned long);f(int, char) 5\r\n\nmain 2\n")
    assert functions_of(kaa, imported(kaa, tmp_path / "folded")) == {"f(int, char)": 5, "main": 2}


def test_more_samples_than_are_written_one_by_one(kaa, tmp_path):
    """Numbers that are microseconds, as kaa's own of polled recordings: few samples with weights, and the totals are the same."""
    (tmp_path / "folded").write_text("a;b 300007\na;c 100000\na;d 1\n")
    said = kaa("import", tmp_path / "folded", "-o", tmp_path / "data").stderr
    assert f"'{tmp_path / 'folded'}' counts 400008, which are too many samples to write" in said
    written = int(re.search(r": (\d+) samples of 1 thread", said).group(1))
    assert 50000 < written <= 100003 and (tmp_path / "data").stat().st_size < 10 << 20
    samples = samples_of(kaa, tmp_path / "data")
    assert len(samples) == written
    assert functions_of(kaa, tmp_path / "data") == {"b": 300007, "c": 100000, "d": 1}
    # However much it counts.
    (tmp_path / "folded").write_text("a;b 3000000000000\na;c 1000000000000\n")
    assert functions_of(kaa, imported(kaa, tmp_path / "folded")) == {"b": 3000000000000, "c": 1000000000000}


PERF_SCRIPT = """\
# ========
# captured on    : Fri Nov 20 10:00:00 2026
# ========
#
my prog  4242/4243  [001] 12345.678901:     250000 cpu-clock:ppp:\x20
\tffffffff81000010 do_syscall_64+0x10 ([kernel.kallsyms])
\t    7f0000001234 __read+0x14 (/usr/lib/libc(old).so.6)
\t    7f0000002345 py::work:/srv/a.py+0x5 (/tmp/perf-4242.map)
\t    7f0000003456 [unknown] (/usr/bin/tool)

python3  4242/4242  [000] 12345.679901:     500000 cpu-clock:ppp:       7f0000001234 __read+0x14 (/usr/lib/libc(old).so.6)
swapper     0 [000] 12345.680001:          1 sched:sched_switch: prev_comm=a ==> next_comm=b
\tffffffff81000020 schedule+0x10 ([kernel.kallsyms])

"""


def test_text_of_perf_script(kaa, tmp_path):
    path = tmp_path / "script"
    path.write_text(PERF_SCRIPT.replace("swapper     0 [000] 12345.680001:          1 sched:sched_switch: prev_comm=a ==> next_comm=b\n"
                                        "\tffffffff81000020 schedule+0x10 ([kernel.kallsyms])\n\n", ""))
    first, second = samples_of(kaa, imported(kaa, path))
    assert (first.comm, first.tid, first.period, first.event) == ("my prog", 4243, 250000, "cpu-clock:ppp")
    assert [frame.symbol for frame in first.frames] == ["do_syscall_64", "__read", "py::work:/srv/a.py", "[tool]"]
    assert [frame.dso for frame in first.frames] == ["[kernel.kallsyms]", "/usr/lib/libc(old).so.6", "[python]", "/usr/bin/tool"]
    assert (second.tid, second.period, second.symbols) == (4242, 500000, ["__read"])
    assert abs(second.time - first.time - 0.001) < 1e-9


def test_the_interpreter_is_folded(kaa, tmp_path):
    """As in a recording: its functions are those of a file that is Python's."""
    path = tmp_path / "script"
    path.write_text("python3 7/7 1.0: 1 cycles: \n\t 1000 long_add+0x1 (/usr/bin/python3.11)\n\t 2000 _PyEval_EvalFrameDefault+0x2 "
                    "(/usr/bin/python3.11)\n\t 3000 py::f:/a.py+0x3 (/tmp/perf-7.map)\n\t 4000 main+0x4 (/usr/bin/python3.11)\n\n")
    back = imported(kaa, path)
    assert "_PyEval" in kaa("script", "-i", back).stdout
    assert counts(kaa("export", "-i", back).stdout) == {"python3;f (/a.py);long_add": 1}


def test_speedscope_of_other_tools(kaa, tmp_path):
    frames = [{"name": "main", "file": "app.py", "line": 3}, {"name": "work", "file": "app.py", "line": 9}, {"name": "gc"}]
    sampled = {"type": "sampled", "name": "Thread 1", "unit": "seconds", "startValue": 0, "endValue": 0.5,
               "samples": [[0, 1], [0], [0, 2]], "weights": [0.25, 0.125, 0.125]}
    evented = {"type": "evented", "name": "Thread 2", "unit": "milliseconds", "startValue": 10, "endValue": 40, "events": [
        {"type": "O", "frame": 0, "at": 10}, {"type": "O", "frame": 1, "at": 15}, {"type": "C", "frame": 1, "at": 35},
        {"type": "C", "frame": 0, "at": 40}]}
    (tmp_path / "s").write_text(json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                                            "shared": {"frames": frames}, "profiles": [sampled, evented]}))
    back = imported(kaa, tmp_path / "s")
    assert functions_of(kaa, back, tid=1) == {"work:9": 250000000, "main:3": 125000000, "gc": 125000000}
    assert functions_of(kaa, back, tid=2) == {"work:9": 20000000, "main:3": 10000000}


def test_speedscope_with_defs_alone(kaa, tmp_path):
    """Without --lines a frame of kaa's has the line of its def, which is not where it called."""
    path = planted.sampled(kaa, tmp_path / "perf.data", {(("f", "/srv/app.py", 3, 7), ("g", "/srv/app.py", 11, 12)): 4})
    for words, of_f, of_g in ((), "app.py:3", "app.py:11"), (("--lines",), "app.py:7", "app.py:12"):
        kaa("export", "-q", "-i", path, "--format", "speedscope", *words, "-o", tmp_path / "s")
        back = imported(kaa, tmp_path / "s")
        text = kaa("report", "-i", back).stdout
        assert re.search(rf"^ *100\.0%  100\.0%  \S*{of_g}$", text, re.M) and ("each stands at its def" in text) == (not words), text
        callers = kaa("report", "-i", back, "--callers", "g").stdout
        assert re.search(rf"^ *100\.0% .*\b{of_f}", callers, re.M), callers


def test_speedscope_of_py_spy(kaa, tmp_path):
    """What stands in front of its stacks for threads is no function."""
    frames = [{"name": "thread (4243)"}, {"name": "work", "file": "app.py", "line": 9}, {"name": "thread (4242): MainThread"}]
    profiles = [{"type": "sampled", "name": name, "unit": "seconds", "startValue": 0, "endValue": 1, "samples": [[first, 1], [first]],
                 "weights": [0.25, 0.75]} for first, name in ((2, 'Thread 4242 "MainThread"'), (0, 'Thread 4243 "a pool"'))]
    (tmp_path / "s").write_text(json.dumps({"exporter": "py-spy@0.4.3", "shared": {"frames": frames}, "profiles": profiles}))
    back = imported(kaa, tmp_path / "s")
    assert functions_of(kaa, back, tid=4243) == {"work:9": 250000000, "[unknown]": 750000000}
    assert "4243:a pool" in kaa("report", "-i", back, "--stdio", "--sort", "tid", "-g", "none").stdout


def test_files_without_native_functions_say_nothing_of_them(kaa, tmp_path):
    """What ran below Python code is not known then, nor whether time by a clock was CPU time."""
    frames = [{"name": "thread (7)"}, {"name": "<module>", "file": "app.py", "line": 3}, {"name": "work", "file": "app.py", "line": 9}]
    profile = {"type": "sampled", "name": 'Thread 7 "MainThread"', "unit": "seconds", "startValue": 0, "endValue": 2,
               "samples": [[0, 1, 2]] * 200, "weights": [0.01] * 200}
    (tmp_path / "s").write_text(json.dumps({"exporter": "py-spy@0.4.3", "shared": {"frames": frames}, "profiles": [profile]}))
    (tmp_path / "raw").write_text("<module> (app.py:3);work (app.py:9) 200\n")
    for name, title in ("s", "app.py   2.00 s   200 samples, none lost"), ("raw", "app.py   samples   200 samples, none lost"):
        text = kaa("report", "-i", imported(kaa, tmp_path / name)).stdout
        assert text.splitlines()[0] == title
        assert not re.search("interpreter|native|[Ss]pent in|CPU", text.partition("With the source:")[0]) and "C functions" not in text, text
    # Two times may be compared, and what is exported says the same.
    assert "CPU" not in kaa("diff", tmp_path / "s.data", tmp_path / "s.data").stdout
    for form in "json", "speedscope", "pprof":
        back = there_and_back(kaa, tmp_path / "s.data", form, tmp_path)
        text = kaa("report", "-i", back).stdout
        assert text.startswith("app.py   2.00 s ") and "Spent in" not in text and "So few" not in text, (form, text)
    # One native function is enough to tell what others were, and a clock of CPU time is one.
    (tmp_path / "raw").write_text("main (app.py:3);work (app.py:9) 200\nmain (app.py:3);sort (libsort.so) 100\n")
    assert "Spent in: interpreter 67 %, native 33 %" in kaa("report", "-i", imported(kaa, tmp_path / "raw")).stdout
    profile["name"] = "app (7)"
    (tmp_path / "s").write_text(json.dumps({"exporter": "kaa", "shared": {"frames": frames}, "profiles": [profile]}))
    assert "   2.00 s CPU   200" in kaa("report", "-i", imported(kaa, tmp_path / "s")).stdout


def test_what_functions_call_in_c_is_as_the_file_has_it(kaa, tmp_path):
    """Which is said; and without the files that hold functions, nothing is told of what is the interpreter's."""
    said = "This was imported: what Python functions call in C is as that file has it.\n"
    step, python = ("f", "app.py", 1, 2), "/usr/bin/python3.11"
    path = planted.sampled(kaa, tmp_path / "perf.data", {
        (step, ("list_sort", python)): 2, (step, ("python3.11+0x1a0", python), ("int.__pow__", python)): 4,
        (step, ("python3.11+0x1a0", python)): 1, (step,): 3})
    for name in WHOLE:
        text = kaa("report", "-i", there_and_back(kaa, path, name, tmp_path)).stdout
        assert f"Spent in: native 70 % (10 % without names), interpreter 30 %\n{said}" in text, (name, text)
        assert "int.__pow__ 40, interpreter 30, list_sort 20" in text and "apt" not in text, (name, text)
    text = kaa("report", "-i", there_and_back(kaa, path, "collapsed", tmp_path)).stdout
    assert "Spent in" not in text and said not in text
    python = planted.sampled(kaa, tmp_path / "python.data", {(("f", "app.py", 1, 2),): 2})
    assert said not in kaa("report", "-i", python).stdout


def test_firefox_with_tables_of_each_thread(kaa, tmp_path):
    """As samply writes them, of an older version."""
    thread = {"name": "worker", "pid": "7", "tid": "8", "processName": "tool", "stringArray": ["read", "py::run:/srv/b.py", "libc.so.6"],
              "stackTable": {"frame": [1, 0], "prefix": [None, 0], "length": 2},
              "frameTable": {"func": [0, 1], "line": [None, None], "category": [0, 0], "length": 2},
              "funcTable": {"name": [0, 1], "fileName": [None, None], "lineNumber": [None, None], "resource": [0, -1], "length": 2},
              "resourceTable": {"lib": [0], "name": [2], "length": 1},
              "samples": {"stack": [1, None, 0], "timeDeltas": [1, 2, 0.5], "weight": None, "weightType": "samples", "length": 3}}
    (tmp_path / "f").write_text(json.dumps({
        "meta": {"preprocessedProfileVersion": 49, "categories": [{"name": "Other"}], "startTime": 1e12, "interval": 1},
        "libs": [{"name": "libc.so.6", "path": "/usr/lib/libc.so.6"}], "threads": [thread]}))
    samples = samples_of(kaa, imported(kaa, tmp_path / "f"))
    assert [(s.tid, s.symbols) for s in samples] == [(8, ["read", "py::run:/srv/b.py"]), (8, ["[unknown]"]), (8, ["py::run:/srv/b.py"])]
    assert samples[0].frames[0].dso == "/usr/lib/libc.so.6" and abs(samples[2].time - samples[0].time - 0.0025) < 1e-9


def varint(value):
    out = b""
    while value > 0x7f:
        out, value = out + bytes([value & 0x7f | 0x80]), value >> 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof_file(strings, *rows):
    return b"".join([*rows, *(field(6, text.encode()) for text in strings)])


STRINGS = ["", "alloc_space", "bytes", "inner", "a.py", "outer", "cpu", "nanoseconds", "thread_id"]
TYPES = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 6) + field(2, 7))
FUNCTIONS = field(5, field(1, 31) + field(2, 3) + field(4, 4)) + field(5, field(1, 32) + field(2, 5) + field(4, 4) + field(5, 10))
LOCATION = field(4, field(1, 900) + field(4, field(1, 31) + field(2, 5)) + field(4, field(1, 32) + field(2, 12)))


def test_pprof_of_other_tools(kaa, tmp_path):
    """Several values without counts, ids in no order, an inlined function, numbers in fields of their own, and not gzipped."""
    sample = field(2, field(1, 900) + field(2, 4096) + field(2, 70) + field(3, field(1, 8) + field(3, 44)))
    (tmp_path / "p").write_bytes(pprof_file(STRINGS, sample, LOCATION, FUNCTIONS, TYPES))
    samples = samples_of(kaa, imported(kaa, tmp_path / "p"))
    assert sorted((s.event, s.period, s.tid) for s in samples) == [("alloc_space", 4096, 44), ("cpu-clock", 70, 44)]
    assert samples[0].python == [("outer", "a.py", 12), ("inner", "a.py", 5)]


# --- files that are broken ---

def test_what_is_wrong_and_where(kaa, recording, tmp_path):
    path = tmp_path / "file"

    def said(content, *options):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        text = kaa("import", *options, path, "-o", tmp_path / "data", status=1).stderr
        assert str(path) in text and not (tmp_path / "data").exists()
        return text

    whole = json.loads(export(kaa, recording, "json", tmp_path / "j").read_text())
    assert "line 2, column" in said('{"format": "kaa",\n nonsense}')
    assert "samples is missing" in said(json.dumps({**whole, "samples": None}))
    assert "stack[1] is 999, but there are only" in said(json.dumps({**whole, "samples": {**whole["samples"], "stack": [0, 999]}}))
    assert "version 1" in said(json.dumps({**whole, "version": 2}))
    assert "no format that kaa knows" in said("what is this?\n") and "no format that kaa knows" in said("")
    assert "no format that kaa knows" in said('{"some": "JSON"}')
    assert "line 2: a stack ends in a blank and a number" in said("a;b 1\na;b\n")
    assert "line 2: a frame begins with an address" in said("p 1 1.0: 1 cycles: \n\tnonsense here\n")
    assert "the gzipped file ends too soon" in said(gzip.compress(b"x" * 5000)[:30])
    packed = bytearray(export(kaa, recording, "pprof", tmp_path / "p").read_bytes())
    assert "ends too soon" in said(bytes(packed[:len(packed) // 2]))
    packed[30:40] = b"\xff" * 10
    assert "damaged" in said(bytes(packed))
    location = field(2, field(1, 901) + field(2, 1) + field(2, 1))
    assert "location is missing" in said(pprof_file(STRINGS, TYPES, FUNCTIONS, LOCATION, location))
    assert "too many or too few values" in said(pprof_file(STRINGS, TYPES, LOCATION, field(2, field(1, 900) + field(2, 1))))
    assert "has no samples" in said(pprof_file(STRINGS, TYPES, FUNCTIONS, LOCATION))
    assert "weigh more than 2^62" in said("a 999999999999999999\n" * 6)
    cyclic = json.loads(export(kaa, recording, "firefox", tmp_path / "f").read_text())
    cyclic["shared"]["stackTable"]["prefixOffset"][1] = -1
    assert "prefixOffset[1]" in said(json.dumps(cyclic))
    assert "is a recording already" in said(recording.read_bytes())


def test_depth_that_no_record_holds(kaa, tmp_path):
    (tmp_path / "deep").write_text(";".join(f"f{i} (a.py:{i})" for i in range(1, 20001)) + " 2\n")
    said = kaa("import", tmp_path / "deep", "-o", tmp_path / "data").stderr
    assert "too deep: the outer frames are left out" in said
    first = samples_of(kaa, tmp_path / "data")[0]
    assert first.frames[0].symbol == "py::f20000:a.py" and first.markers == ["[truncated stack]"]


def test_a_function_with_more_lines_than_a_record(kaa, tmp_path):
    (tmp_path / "long").write_text("".join(f"f (a.py:{i}) 1\n" for i in range(1, 70002)))
    lines = functions_of(kaa, imported(kaa, tmp_path / "long"))
    assert lines == {f"f:{i}": 1 for i in range(1, 70002)}


def test_through_pipes(kaa, build_dir, tmp_path):
    piped = subprocess.run([build_dir / "kaa", "import", "-q", "-", "-o", "-"], input=PY_SPY.encode(), stdout=subprocess.PIPE,
                           check=True).stdout
    (tmp_path / "data").write_bytes(piped)
    assert functions_of(kaa, tmp_path / "data")["work:7"] == 30


def test_mistakes(kaa, tmp_path):
    (tmp_path / "raw").write_text(PY_SPY)
    assert "name the file to import" in kaa("import", status=129).stderr
    assert "did you mean 'collapsed'" in kaa("import", "--format", "colapsed", tmp_path / "raw", status=129).stderr
    assert "one file is imported at a time" in kaa("import", tmp_path / "raw", tmp_path / "raw", status=129).stderr
    assert str(tmp_path / "none") in kaa("import", tmp_path / "none", status=1).stderr


def test_a_file_without_lines_says_so(kaa, tmp_path):
    """Functions stand at their def then, and nothing was recorded wrongly."""
    file = str(tmp_path / "app.py")
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("<module>", file, 1, 9), ("work", file, 1, 5)): 30})
    kaa("export", "-q", "-i", data, "--format", "collapsed", "-o", tmp_path / "plain")
    text = kaa("report", "-i", imported(kaa, tmp_path / "plain"), env={"COLUMNS": "400"}).stdout
    assert "the imported file does not have them" in text and "export --lines'" in text and "trampolines" not in text, text
    text = kaa("report", "-i", there_and_back(kaa, data, "collapsed", tmp_path)).stdout
    assert "does not have them" not in text and "app.py:5" in text, text
