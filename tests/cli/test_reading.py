# SPDX-License-Identifier: GPL-2.0-only
"""`kaa report` and `kaa script` on files that are none, are broken, or belong to others, and their options' mistakes."""
import os
import pathlib
import pwd
import re
import shlex
import struct
import subprocess

import pytest

from harness import answer, drawn, planted
from harness.process import run
from harness.terminal import Terminal

BOTH = pytest.mark.parametrize("command", ["report", "script"])
# What prints the names of symbols.
SYMBOLS = {"report": ["report", "--native"], "script": ["script"]}


@BOTH
@pytest.mark.parametrize("path, text", [
    ("nowhere.data", "does not exist"),
    (".", "neither a file nor a pipe"),
    ("/dev/null", "neither a file nor a pipe"),
    ("/etc/passwd", "not a perf.data file"),
])
def test_no_recording(kaa, command, path, text, tmp_path):
    result = kaa(command, "-i", path, status=1, cwd=tmp_path)
    assert not result.stdout
    assert result.stderr.startswith(f"kaa {command}: '{path}'") and text in result.stderr
    assert result.stderr.count("\n") == 1


@BOTH
def test_perf_data_is_the_default(kaa, command, recording, tmp_path):
    assert "'perf.data'" in kaa(command, status=1, cwd=tmp_path).stderr
    # What to type next names a file that is not the default.
    named = kaa(command, "-i", recording).stdout.replace(f" -i {recording}", "")
    assert kaa(command, cwd=recording.parent).stdout == named


@BOTH
def test_a_pipe_that_nobody_named(kaa, command, recording, tmp_path):
    """It is read, as perf reads it; where it has no recording, as in a loop of a shell, kaa says why it looked there."""
    (tmp_path / "perf.data").write_bytes(recording.read_bytes())
    for data in b"", b"a line\n":
        said = kaa(command, data=data, status=1, cwd=tmp_path).stderr
        assert "standard input is a pipe, so the recording is read from there; -i FILE names another" in said, said
        assert "standard input is a pipe" not in kaa(command, "-i", "-", data=data, status=1, cwd=tmp_path).stderr
    assert kaa(command, "-i", "perf.data", data=b"", cwd=tmp_path).stdout


def test_filters_that_nothing_passes_are_no_empty_recording(kaa, recording):
    words = ["-i", recording, "--time", "1000000,2000000"]
    assert kaa("report", "--stdio", *words).stdout == "No sample of the recording passes the filters.\n"
    table = kaa("report", "--no-children", *words).stdout
    assert "\n# No sample of the recording passes the filters.\n" in table and "has no samples" not in table


def test_a_recorder_that_was_killed_at_once(kaa, recording, tmp_path):
    """No sample is there: that is said, and why, and not in the comments of an empty table."""
    data, path = bytearray(recording.read_bytes()), tmp_path / "killed.data"
    begin, = struct.unpack_from("<Q", data, 40)
    data[48:56] = bytes(8)
    data[72:104] = bytes(32)
    path.write_bytes(data[:begin])
    result = kaa("report", "-i", path, env={**os.environ, "COLUMNS": "200"})
    assert result.stdout.startswith("The recording has no samples: its end is missing") and result.stdout.count("\n") == 1, result
    table = kaa("report", "--no-children", "-i", path).stdout
    assert table.startswith("# ") and "\n# The recording has no samples: its end is missing" in table, table


def test_what_to_type_next_is_of_the_same_samples(kaa, tmp_path):
    """With the words of this report that say which, so that they can be pasted."""
    filters = ["--comms", "first", "--time", "0,100", "--event", "task-clock"]
    with planted.recording(tmp_path / "no word.data", drawn.THREADS) as data:
        text = kaa("report", "--stdio", "-i", data, *filters).stdout
        typed = [shlex.split(line) for line in re.findall(r"^(?:With|Who|As|C fun)[^:]*: +(.*)$", text, re.M)]
        assert [words[1] for words in typed] == ["annotate", "report", "flamegraph", "report"], text
        for words in typed:
            # As a shell takes them, and as kaa does.
            assert words[-8:] == ["-i", str(data), *filters], words
            assert kaa(*words[1:], *(["-o", "-"] if words[1] == "flamegraph" else [])).stdout


@pytest.mark.parametrize("words", [["report", "--stdio"], ["script"], ["export"], ["annotate"], ["annotate", "middle"]])
def test_a_recording_may_stand_there_without_i(kaa, recording, words, tmp_path):
    """As many type it: it is the input then, wherever it stands, if it is a recording at all."""
    named = kaa(*words, "-i", recording).stdout
    assert kaa(*words, recording).stdout == named and kaa(words[0], recording, *words[1:]).stdout == named
    if words[0] != "annotate":
        assert "unexpected argument '/etc/passwd'" in kaa(*words, "/etc/passwd", status=129).stderr
        assert "a recording is named twice" in kaa(*words, "-i", recording, recording, status=129).stderr


@pytest.mark.parametrize("words, said", [
    (["report", "--stdout"], "unknown option '--stdout': '--stdio' prints"),
    (["report", "-o", "x"], "' report --stdio >FILE'"),
    (["report", "--output=x"], " report --stdio >FILE'"),
    (["report", "--mode", "wall"], " record --mode wall COMMAND'"),
    (["flamegraph", "--mode", "wall"], " record --mode wall COMMAND'"),
    (["flamegraph", "--format", "svg"], "'-o FILE.svg'"),
    (["record", "-m", "tool"], " record python3 -m NAME'"),
    (["record", "--wall", "true"], "unknown option '--wall': '--mode wall' "),
])
def test_options_that_people_look_for(kaa, words, said):
    line = kaa(*words, status=129).stderr.splitlines()[0]
    assert said.lstrip("'") in line, line
    # They are shown nowhere, and are in nobody's way.
    assert "--stdout" not in kaa("help", "report").stdout and "unknown" not in kaa("report", "--std", "-h").stderr


def cut_off(recording, folder, part):
    whole = recording.read_bytes()
    (folder / "cut.data").write_bytes(whole[:len(whole) // part])
    return folder / "cut.data"


@BOTH
@pytest.mark.parametrize("keep", [0, 8, 103, 104, 200])
def test_cut_in_the_header(kaa, command, keep, recording, tmp_path):
    cut = tmp_path / "cut.data"
    cut.write_bytes(recording.read_bytes()[:keep])
    result = kaa(command, "-i", cut, status=None)
    assert result.status in (0, 1)
    assert result.status == 0 or str(cut) in result.stderr


@BOTH
def test_cut_in_the_data(kaa, command, recording, tmp_path):
    cut = cut_off(recording, tmp_path, 2)
    result = kaa(*SYMBOLS[command], "-i", cut, status=1)
    assert "py::leaf" in result.stdout
    assert "the file was cut off" in result.stderr
    result = kaa(command, "-i", cut, status=1)
    assert "leaf" in result.stdout
    assert "the file was cut off" in result.stderr


@pytest.mark.parametrize("words", [["report"], ["report", "--callers", "<lambda>"], ["report", "--sort", "symbol"], ["annotate", "<lambda>"], ["annotate", "nosuch"],
                                   ["script"], ["export"], ["flamegraph", "-o", "OUT.html"], ["inject", "-o", "OUT"], ["diff", "WHOLE"]])
def test_what_was_cut_off_is_shown_and_fails(kaa, words, recording, tmp_path):
    """As perf script fails: half a recording that looks like a whole one misleads whoever compares it."""
    words = [word.replace("OUT", str(tmp_path / "out")).replace("WHOLE", str(recording)) for word in words]
    cut = cut_off(recording, tmp_path, 2)
    at = [cut] if words[0] == "diff" else ["-i", cut]
    result = kaa(*words, *at, status=1)
    assert re.search(r"warning: .*\d+ bytes are missing: the file was cut off", result.stderr)
    shown = b"".join(path.read_bytes() for path in tmp_path.glob("out*")).decode("latin-1") or result.stdout
    assert ("lambda" in shown or words[0] == "diff" and shown) if "nosuch" not in words else "function or file called" in result.stderr


def test_a_pipe_that_was_cut_off(build_dir, kaa):
    """It says nowhere how long it should have been."""
    whole = subprocess.run([build_dir / "kaa", "import", "-q", "-", "-o", "-"], input=b"main (app.py:3) 100\n" * 50,
                           stdout=subprocess.PIPE, check=True).stdout
    assert "cut off" not in kaa("report", "-i", "-", data=whole).stdout
    result = kaa("report", "-i", "-", data=whole[:-3], status=1)
    assert ", cut off: the end is missing" in result.stdout and "warning: 3 bytes are missing: the file was cut off" in result.stderr, result


def test_a_file_in_a_pipe(kaa, recording):
    """It says where its features are, behind all that comes before."""
    said = kaa("report", "-i", "-", data=recording.read_bytes(), status=1).stderr
    assert "'-': a recording that was written to a file can be read from that file, not from a pipe" in said


def test_cut_before_the_first_sample(kaa, recording, tmp_path):
    """It is not said to have none."""
    whole = recording.read_bytes()
    start = struct.unpack_from("<Q", whole, 40)[0]
    (tmp_path / "cut.data").write_bytes(whole[:start + 8])
    result = kaa("report", "-i", tmp_path / "cut.data", status=1)
    assert "its end is missing" in result.stdout and "--mode wall" not in result.stdout
    assert "the file was cut off" in result.stderr
    for words in ["script"], ["export"], ["flamegraph", "-o", tmp_path / "out.svg"]:
        assert "the file was cut off" in kaa(*words, "-i", tmp_path / "cut.data", status=1).stderr


@BOTH
def test_every_byte_may_be_wrong(kaa, command, recording, tmp_path):
    whole = bytearray(recording.read_bytes())
    for at in range(0, len(whole), len(whole) // 40):
        bad = bytearray(whole)
        bad[at:at + 8] = b"\xff" * 8
        path = tmp_path / "bad.data"
        path.write_bytes(bad)
        result = kaa(command, "-i", path, status=None)
        assert result.status in (0, 1), at


@BOTH
def test_python_frames_need_no_file_but_the_recording(kaa, command, recording):
    text = kaa(*SYMBOLS[command], "-i", recording).stdout
    assert "py::Worker.middle:/srv/app/work.py" in text
    assert "[unreadable Python frames]" in text


@BOTH
def test_strangers_files_need_force(kaa, command, root, recording, tmp_path):
    path = tmp_path / "perf.data"
    path.write_bytes(recording.read_bytes())
    os.chown(path, 65534, 65534)
    assert "-f" in kaa(command, "-i", path, status=1).stderr
    # Who typed sudo reads the own file.
    user = pwd.getpwuid(65534)
    sudo = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": str(user.pw_gid), "SUDO_USER": user.pw_name}
    assert "py::leaf" in kaa(*SYMBOLS[command], "-i", path, env=sudo).stdout
    os.chown(path, 1, 1)
    assert "-f" in kaa(command, "-i", path, env=sudo, status=1).stderr
    assert "py::leaf" in kaa(*SYMBOLS[command], "-f", "-i", path).stdout


@BOTH
@pytest.mark.parametrize("words", [
    ["word"], ["--pid", "x"], ["--tid", "y,1"], ["--cpu", "3-1"], ["--cpu", "1-99999999999"], ["--time", "5"],
    ["--time", "x,1.5"], ["--time", "99999999999999999999,"], ["--max-stack", "-3"],
])
def test_mistakes(kaa, command, words, recording):
    result = kaa(command, "-i", recording, *words, status=129)
    assert words[-1].split(",")[0] in result.stderr and not result.stdout


@pytest.mark.parametrize("words", [["--callers", "middle"], ["-g"], ["--sort", "pid"], ["-S", "middle"]])
def test_without_libraries_there_is_one_report(kaa, words, recording):
    message = kaa("report", "--no-libraries", "-i", recording, *words, status=129).stderr
    assert "--no-libraries" in message


def test_libraries_count_for_who_calls_them(kaa, tmp_path):
    """In the report that the first one names; the command of a package that calls the program is no function of it."""
    venv = "/srv/venv/lib/python3.12/site-packages"
    command, main = ("<module>", "/srv/venv/bin/pytest", 1, 8), ("main", "/srv/app/main.py", 10, 14)
    frozen = ("_run_code", "<frozen runpy>", 60, 88)
    run, get = ("run", f"{venv}/pytest/main.py", 20, 21), ("get", f"{venv}/requests/api.py", 30, 31)
    data = planted.sampled(kaa, tmp_path / "perf.data", {(frozen, run): 20, (command, run, main, get): 70, (command, run, main): 10})
    words = ["--stdio", "-i", data]
    first = kaa("report", *words, env=answer.WIDE).stdout
    assert f"report --no-libraries -i {data}' counts it for the functions of your own files" in first
    second = kaa("report", "--no-libraries", *words, env=answer.WIDE).stdout
    assert "--no-libraries" not in second
    assert re.search(r"^ 80\.0% +80\.0%  main +/srv/app/main\.py:10 +requests 70", second, re.M)
    assert re.search(r"^ 20\.0% +20\.0%  \[not in your files\] +pytest 20$", second, re.M)
    assert re.search(r"^ 80\.0% +80\.0%  /srv/app/main\.py:14$", second, re.M)
    for own in "get", "run":
        assert re.search(rf"^ +[0-9.]+% +[0-9.]+%  {own} ", first, re.M) and not re.search(rf" {own} ", second)


@BOTH
def test_full_disk(kaa, command, recording):
    with open("/dev/full", "w") as full:
        result = subprocess.run([*kaa.command, command, "-i", recording], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1
    assert "No space left" in result.stderr


def test_a_reader_that_has_seen_enough(kaa, recording):
    """`kaa script | head -1` ends without a word."""
    script = subprocess.Popen([*kaa.command, "script", "-i", recording], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    script.stdout.readline()
    script.stdout.close()
    errors = script.stderr.read()
    script.stderr.close()
    script.wait()
    assert errors == b""


def test_lines_of_python_frames(kaa, recording):
    text = kaa("script", "-i", recording, "-F", "+srcline").stdout
    assert "(" in text and "\n  work.py:2000\n" in text
    assert "\n  work.py:" not in kaa("script", "-i", recording).stdout


def test_header(kaa, recording):
    text = kaa("report", "--header-only", "-i", recording).stdout
    assert "# event : name = task-clock" in text and "py::" not in text
    assert "# event : name = task-clock" in kaa("report", "--header", "-i", recording).stdout


def test_stats_count_every_record(kaa, recording):
    records, *events = re.split(r"^(\S.*) stats:$", kaa("report", "--stats", "-i", recording).stdout, flags=re.M)[2:]
    counts = {line.split()[0]: int(line.split()[2]) for line in records.splitlines() if "events:" in line}
    assert counts["SAMPLE"] == 300 + 4
    assert counts.pop("TOTAL") == sum(counts.values())
    samples = {name: int(text.split()[2]) for name, text in zip(events[::2], events[1::2])}
    assert samples == {"task-clock": 300, "kaa": 4}


def test_pager_on_a_terminal(kaa, recording):
    """Only there, and what $PAGER says."""
    def on_terminal(pager):
        env = dict(os.environ, PAGER=pager)
        env.pop("KAA_PAGER", None)
        command = " ".join(map(str, [*kaa.command, "script", "-i", recording]))
        return run(["script", "-qec", command, "/dev/null"], env=env).stdout

    assert "PAGED" in on_terminal("sed -n '1s/^/PAGED /p'")
    assert "PAGED" not in on_terminal("cat")
    assert "PAGED" not in kaa("script", "-i", recording, env=dict(os.environ, PAGER="sed s/^/PAGED/")).stdout


def test_headers_stand_before_the_samples(kaa, recording):
    header = kaa("report", "--header-only", "-i", recording).stdout
    assert header.startswith("# ========\n")
    assert kaa("script", "--header-only", "-i", recording).stdout == header
    assert kaa("script", "--header", "-i", recording).stdout == header + kaa("script", "-i", recording).stdout


@pytest.mark.parametrize("fields, text", [
    ("nope", "unknown field 'nope'"), ("comm,+tid", "either fields"), ("xx:comm", "'xx' is not a kind"), ("sw:trace", "not valid"),
    ("", "nothing to print"), ("insn", "perf script"), ("ip,symoff", "add sym"), ("addr", "ADDR"),
])
def test_fields_that_cannot_be_printed(kaa, recording, fields, text):
    result = kaa("script", "-F", fields, "-i", recording, status=None)
    assert result.status in (1, 129) and not result.stdout and text in result.stderr


def test_the_fields_there_are_fit_a_terminal(kaa, recording):
    """A list without blanks would be one word of 250 columns."""
    with Terminal([*kaa.command, "script", "-F", "nope", "-i", recording], columns=80) as terminal:
        terminal.wait_for("callindent")
        text = terminal.raw.decode()
    lines = text[:text.index("callindent")].splitlines()
    assert "comm, tid, pid" in lines[0] and max(map(len, lines)) <= 80, lines


def test_fields_are_those_asked_for(kaa, recording):
    usual = kaa("script", "-i", recording).stdout.splitlines()
    times = kaa("script", "-F", "time", "-i", recording).stdout.splitlines()
    assert len(times) == sum(1 for line in usual if line and not line.startswith("\t")) == 300
    assert all(re.fullmatch(r" *\d+\.\d{6}: ", line) for line in times)
    without = kaa("script", "-F", "-comm,-time", "-F", "+pid", "-i", recording).stdout
    assert not any(re.search(r"\d\.\d{6}:", line) for line in without.splitlines())
    assert re.match(r" +\d+/\d+ ", without)


def test_parts_of_a_recording(kaa, recording):
    """A tenth after the other is the whole; the times of the samples are in the file's head or the option is refused."""
    whole = kaa("script", "-F", "time", "-i", recording).stdout
    first, last = (line.strip(" :") for line in (whole.splitlines()[0], whole.splitlines()[-1]))
    assert kaa("script", "-F", "time", "--time", f"{first},{float(last) + 1:.6f}", "-i", recording).stdout == whole
    tenths = [kaa("script", "-F", "time", "--time", f"10%/{i}", "-i", recording, status=None) for i in range(1, 11)]
    if tenths[0].status:
        assert "does not contain the times of its first and last sample" in tenths[0].stderr
    else:
        assert "".join(tenth.stdout for tenth in tenths) == whole


@pytest.mark.parametrize("words", [["report"], ["annotate"], ["annotate", "leaf"], ["script"], ["export"], ["flamegraph"], ["view"],
                                   ["inject", "-o", "OUT"]])
def test_a_second_recording_is_refused_alike(kaa, words, recording, tmp_path):
    """Neither -i nor the word is passed over."""
    other = tmp_path / "other.data"
    other.write_bytes(recording.read_bytes())
    for named in ["-i", recording, other], [other, "-i", recording]:
        said = kaa(*words, *named, status=129, cwd=tmp_path).stderr.splitlines()[0]
        assert said == f"kaa {words[0]}: a recording is named twice, as '{recording}' and '{other}': name one, with -i or without"


def test_workers_are_told_from_their_parent(kaa, tmp_path):
    """The record of a fork says who started a process; that it is a worker of multiprocessing is in its stacks."""
    parent = 4194304 + os.getpid() * 8
    symbols = [b"py::<module>:/srv/app.py", b"py::BaseProcess._bootstrap:/usr/lib/python3.13/multiprocessing/process.py"]
    body, bootstrap = (planted.CODE + i * planted.SPAN + 5 for i in range(2))
    records = [planted.code_map(parent, 2), planted.comm(parent, parent, b"python3")]
    records += [planted.sample(parent, parent, time, [body]) for time in (1000, 2000, 3000)]
    for child, stack, time in (parent + 1, [body, bootstrap], 4000), (parent + 2, [body], 6000):
        # PERF_RECORD_FORK: of the child and its parent, processes and threads.
        records += [planted.record(7, 0, struct.pack("<IIIIQ", child, parent, child, parent, time)),
                    planted.sample(child, child, time + 1000, stack)]
    planted.write(tmp_path / "perf.data", records)
    maps = [pathlib.Path(f"/tmp/perf-{parent + i}.map") for i in range(3)]
    for path in maps:
        path.write_bytes(b"".join(b"%x %x %s\n" % (planted.CODE + i * planted.SPAN, planted.SPAN, name)
                                  for i, name in enumerate(symbols)))
    try:
        shown = kaa("report", "-i", tmp_path / "perf.data", env=answer.WIDE).stdout
    finally:
        for path in maps:
            path.unlink()
    found = dict(re.findall(r"^ *[\d.]+% +(\d+) +(python3.*)$", shown, re.M))
    assert found == {str(parent): "python3 (/srv/app.py)", str(parent + 1): f"python3 (/srv/app.py), worker of {parent}",
                     str(parent + 2): f"python3 (/srv/app.py), child of {parent}"}, shown


def test_a_wait_counts_with_its_part_of_the_time(kaa, tmp_path):
    """A sample of a wait is at its end. perf counts it there whole; a listing of samples has it there, too."""
    stacks = {end: (b"py::%s:/srv/a.py" % name,) for end, name in ((9, b"long"), (5, b"short"))}
    seconds = 1000000000
    more = [(b"sched:sched_stat_sleep", b"main", stacks[end], end * seconds, length * seconds) for end, length in ((9, 8), (5, 1))]
    with planted.recording(tmp_path / "perf.data", {b"main": {stacks[9]: 1}}, count=7, more=more) as path:
        def waited(span):
            text = kaa("export", "-q", "-i", path, "--event", "sched:sched_stat_sleep", "--time", span).stdout
            return {name: int(length) / 1e6 for name, length in re.findall(r"main;(\w+) \S+ (\d+)$", text, re.M)}

        # The first sample is at 0.001001 s.
        assert waited("0,") == {"long": 8, "short": 1}
        assert waited("2.001001,3.001001") == {"long": 1}
        assert waited("4.501001,") == {"long": 4.5, "short": 0.5}
        assert waited("0,2.001001 4.251001,4.501001 8.001001,8.501001") == {"long": 1.75, "short": 0.25}
        span = ["-i", path, "--time", "2.001001,3.001001"]
        shown = kaa("report", "--event", "sched:sched_stat_sleep", *span).stdout
        assert re.search(r"^100\.0% +100\.0% +1\.00  long ", shown, re.M) and re.search(r"\b1\.00 s off the CPU", shown), shown
        assert "long" not in kaa("script", *span).stdout
        like_perf = kaa("report", "--like-perf", "--stdio", *span, status=None)
        assert "long" not in like_perf.stdout, like_perf
