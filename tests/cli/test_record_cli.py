# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record` on command lines that make no sense or cannot be done, and the exit statuses; records nothing of note."""
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import time

import pytest

from harness import machine
from harness.process import HANG, started
from harness.waiting import until, until_busy

USAGE = 129
NOT_FOUND, NOT_EXECUTABLE = 127, 126


@pytest.fixture
def may_record(kaa):
    """Skips where this user may not record at all."""
    result = kaa("record", "-q", "-o", "/dev/null", "true", status=None)
    if result.status:
        assert machine.no_bpf(), result
        pytest.skip(f"this user may not record: {result.stderr.strip()}")


def fails(kaa, tmp_path, *words, status, **options):
    """The one line that is said; nothing is left in the folder that was not there."""
    before = sorted(tmp_path.iterdir())
    result = kaa("record", *words, status=status, cwd=tmp_path, **options)
    assert sorted(tmp_path.iterdir()) == before
    assert not result.stdout
    lines = [line for line in result.stderr.splitlines() if not line.endswith("samples cpu-clock")]
    assert len(lines) == 1, result
    assert lines[0].startswith("kaa record: ")
    return lines[0]


def test_nothing_to_record(kaa, tmp_path):
    assert "name a command, or use -p PID" in fails(kaa, tmp_path, status=USAGE)


@pytest.mark.parametrize("words", [["no-such-command"], [""], ["./no-such-command"], ["/nowhere/at/all"], ["nosuch.py"]])
def test_missing_command(kaa, tmp_path, words):
    """A path is a file, any other word a command, as shells have it; a file of an earlier recording stays."""
    (tmp_path / "perf.data").write_text("precious")
    (tmp_path / "perf.data.old").write_text("older")
    said = fails(kaa, tmp_path, *words, status=NOT_FOUND)
    assert f"'{words[0]}': {'there is no such file' if re.search('/|[.]py$', words[0]) else 'command not found'}" in said
    assert (tmp_path / "perf.data").read_text() == "precious"
    assert (tmp_path / "perf.data.old").read_text() == "older"


@pytest.mark.parametrize("command", ["record", "run", "top"])
@pytest.mark.parametrize("installed", [True, False])
def test_missing_python(kaa, tmp_path, command, installed):
    """Debian has only python3."""
    if installed:
        (tmp_path / "python3").symlink_to("/bin/true")
    said = kaa(command, "python", "x.py", status=NOT_FOUND, env={**os.environ, "PATH": str(tmp_path)}).stderr
    assert said == f"kaa {command}: 'python': command not found{'; type ' + repr('python3') + ' instead' if installed else ''}\n"


@pytest.mark.parametrize("command", ["record", "top"])
def test_a_number_is_no_command(kaa, tmp_path, command):
    said = kaa(command, "4321", status=NOT_FOUND, cwd=tmp_path).stderr
    assert said == f"kaa {command}: '4321': command not found; type '-p 4321' for the process of that number\n"


def test_missing_command_says_nothing_else(kaa, tmp_path):
    assert kaa("record", "no-such-command", status=NOT_FOUND, cwd=tmp_path).stderr.count("\n") == 1


def test_commands_that_cannot_be_run(kaa, tmp_path):
    (tmp_path / "plain").write_text("no program")
    (tmp_path / "folder").mkdir()
    assert "'./plain': cannot run the command: Permission denied" in fails(
        kaa, tmp_path, "./plain", status=NOT_EXECUTABLE)
    assert "'./folder': cannot run the command: Is a directory" in fails(
        kaa, tmp_path, "./folder", status=NOT_EXECUTABLE)
    env = {**os.environ, "PATH": f"{tmp_path}:/nowhere"}
    assert "Permission denied" in fails(kaa, tmp_path, "plain", status=NOT_EXECUTABLE, env=env)
    assert "not found" in fails(kaa, tmp_path, "other", status=NOT_FOUND, env=env)


# Seconds of time and CPU time that a command may take to fail at once.
AT_ONCE, WORK = 5, 1


def cpu_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


COMMANDS_THAT_DO_NOT_START = {
    "an interpreter that is not there": (["./script"], NOT_FOUND),
    "no command of a wrapper": (["env", "no-such-command"], NOT_FOUND),
    "a wrapper may not run it": (["env", "./plain"], NOT_EXECUTABLE),
    "a wrong option": (["/usr/bin/python3", "--no-such"], 2),
}


@pytest.mark.parametrize("name", COMMANDS_THAT_DO_NOT_START)
def test_earlier_recordings_stay(kaa, may_record, tmp_path, name):
    """Both of them, whatever a command that does not start has been given."""
    command, status = COMMANDS_THAT_DO_NOT_START[name]
    (tmp_path / "plain").write_text("no program")
    (tmp_path / "script").write_text("#!/no/such/python\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "perf.data").write_text("precious")
    (tmp_path / "perf.data.old").write_text("older")
    before = sorted(tmp_path.iterdir())
    began, used = time.monotonic(), cpu_seconds_of_children()
    said = kaa("record", *command, status=status, cwd=tmp_path).stderr
    if time.monotonic() - began > AT_ONCE or cpu_seconds_of_children() - used > WORK:
        # The machine stood still: kaa may take it for one that has worked.
        return
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "perf.data").read_text() == "precious" and (tmp_path / "perf.data.old").read_text() == "older"
    if command[0] != "./script":
        assert f"exit code {status}: nothing was written, 'perf.data' is the recording before" in said


def test_what_has_worked_is_kept(kaa, may_record, tmp_path):
    """A command that fails after more than a second of CPU time, or some of waiting; and one that has no recording before
    it. A file that only looks as if it were kaa's stays."""
    work = "import sys, time\nwhile time.process_time() < 1.5: pass\nsys.exit(2)"
    (tmp_path / "perf.data.older").write_text("kept by hand")
    # With some samples, but far less than a second of CPU time.
    wait = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; sleep 5.5; exit 2"
    for command in (["/usr/bin/python3", "-c", work], ["sh", "-c", wait]):
        (tmp_path / "perf.data").write_text("before")
        (tmp_path / "perf.data.old").write_text("older")
        said = kaa("record", *command, status=2, cwd=tmp_path).stderr
        assert "the recording before is 'perf.data.old'" in said
        assert (tmp_path / "perf.data.old").read_text() == "before"
        assert kaa("report", "--stdio", cwd=tmp_path).stdout
    assert (tmp_path / "perf.data.older").read_text() == "kept by hand"
    assert not list(tmp_path.glob(".perf*"))
    kaa("record", "-o", "first.data", "sh", "-c", "exit 2", status=2, cwd=tmp_path)
    assert (tmp_path / "first.data").exists()


def test_an_option_that_is_written_out_is_near_the_short_one(kaa):
    said = kaa("record", "--frequency", "99", "true", status=None).stderr
    assert "unknown option '--frequency': did you mean '--freq'?" in said


def test_statuses_are_those_of_the_shell(kaa, tmp_path):
    (tmp_path / "plain").write_text("no program")
    for command in ("no-such-command", "./plain", "./no-such", "/"):
        shell = subprocess.run(["sh", "-c", f"exec {command}"], cwd=tmp_path, stderr=subprocess.DEVNULL, timeout=HANG)
        kaa("record", command, status=shell.returncode, cwd=tmp_path)


# --- Python scripts that are no command by themselves ---

TELL = "import json, sys\nprint(json.dumps([sys.prefix, sys.argv]))\n"


@pytest.fixture
def venv(newest_python, tmp_path):
    """The folder of a virtual environment, and an environment in which it is active."""
    path = tmp_path / "venv"
    subprocess.run([*newest_python.command, "-m", "venv", "--without-pip", path], check=True, timeout=HANG)
    return path, {**os.environ, "PATH": f"{path}/bin:/usr/bin:/bin"}


@pytest.fixture(params=["record", "run"])
def started_by(request, kaa, tmp_path):
    """`kaa record` and `kaa run` alike; in a folder of its own."""
    (tmp_path / "work").mkdir()
    if request.param == "run":
        return lambda *words, **options: kaa("run", *words, cwd=tmp_path / "work", **options)
    request.getfixturevalue("may_record")
    record = "record", "-o", tmp_path / "perf.data"
    return lambda *words, **options: kaa(*record, *words, cwd=tmp_path / "work", **options)


def said_about_scripts(result):
    return [line for line in result.stderr.splitlines() if re.search("is not (executable|on the PATH)", line)]


@pytest.mark.parametrize("first, runs", [
    ("", "python3"), ("#!/usr/bin/env python3\n", "/usr/bin/env python3"),
    ("#! VENV/bin/python -u\n", "VENV/bin/python -u"),
    ("#!/usr/bin/env -S A=b python3 -u\n", "/usr/bin/env -S A=b python3 -u")])
@pytest.mark.parametrize("name", ["orders.py", "./orders.py", "sub/orders.py"])
def test_python_script(started_by, venv, tmp_path, first, runs, name):
    """By the Python of its first line, else python3 of the PATH; that is said, and its arguments are its own."""
    path, env = venv
    script = tmp_path / "work" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(first.replace("VENV", str(path)) + TELL)
    result = started_by(name, "-x", "a b", env=env)
    assert json.loads(result.stdout) == [str(path), [name, "-x", "a b"]]
    runs = runs.replace("VENV", str(path))
    state = "executable" if "/" in name else "on the PATH"
    assert said_about_scripts(result)[0].endswith(f"running '{runs} {name} -x 'a b'', since '{name}' is not {state}")
    assert len(said_about_scripts(result)) == 1


def test_python_script_with_another_name(started_by, venv, tmp_path):
    """Its first line tells."""
    path, env = venv
    (tmp_path / "work" / "orders").write_text("#!/usr/bin/env python3\n" + TELL)
    assert json.loads(started_by("./orders", env=env).stdout) == [str(path), ["./orders"]]


def test_python_script_that_is_a_command(started_by, venv, tmp_path):
    path, env = venv
    script = tmp_path / "work" / "orders.py"
    script.write_text("#!/usr/bin/env python3\n" + TELL)
    script.chmod(0o755)
    result = started_by("./orders.py", env=env)
    assert json.loads(result.stdout) == [str(path), ["./orders.py"]] and not said_about_scripts(result)
    # The current folder is not on the PATH.
    result = started_by("orders.py", env=env)
    assert json.loads(result.stdout) == [str(path), ["orders.py"]] and said_about_scripts(result)


def test_executable_script_without_a_first_line(started_by, venv, tmp_path):
    """A shell would read it: execvp() has one run what the kernel cannot."""
    path, env = venv
    script = tmp_path / "work" / "orders.py"
    script.write_text(TELL)
    script.chmod(0o755)
    result = started_by("./orders.py", "-x", env=env)
    assert json.loads(result.stdout) == [str(path), ["./orders.py", "-x"]]
    assert "running 'python3 ./orders.py -x', since './orders.py' has no first line (#!)" in result.stderr


@pytest.mark.parametrize("name, text, said", [
    ("orders.py", "#!/bin/sh\ntouch ran\n", "asks for '/bin/sh', which is not a Python: type 'python3 orders.py'"),
    ("orders.py", "#!/usr/bin/env perl\ntouch ran\n", "asks for 'perl', which is not a Python"),
    ("orders.py", "#!/usr/bin/env\n", "asks for '/usr/bin/env', which is not a Python"),
    ("orders.py", "#!/usr/bin/env python3\r\n",
     "first line asks for 'python3' followed by a carriage return: type 'python3 orders.py'"),
    ("orders", "#!/usr/bin/python3\r\n", "asks for '/usr/bin/python3' followed by a carriage return"),
    ("orders.py", "#!/nowhere/python3\n", "'/nowhere/python3', which cannot be run: type 'python3 orders.py'"),
    ("orders.py", "#!/usr/bin/env python3.99\n", "'python3.99', which cannot be run: type 'python3 orders.py'"),
    ("orders.py", "\x7fELF\0", "command not found"), ("orders", "print()\n", "command not found"),
    ("orders", "#!/bin/sh\ntouch ran\n", "command not found"), ("orders.sh", "touch ran\n", "command not found"),
])
def test_scripts_that_are_not_run(started_by, tmp_path, name, text, said):
    """Only what certainly is Python."""
    (tmp_path / "work" / name).write_text(text)
    result = started_by(name, status=NOT_FOUND)
    assert said in result.stderr and result.stderr.count("\n") == 1, result
    assert os.listdir(tmp_path / "work") == [name]
    assert "asks for" not in said or f"'{name}' is not on the PATH, and its first line" in result.stderr
    result = started_by(f"./{name}", status=NOT_EXECUTABLE if "cannot be run" not in said else NOT_FOUND)
    assert "asks for" not in said or f"'./{name}' is not executable, and its first line" in result.stderr
    assert os.listdir(tmp_path / "work") == [name]


def test_name_on_the_path_without_rights(started_by, venv, tmp_path):
    """What is on the PATH cannot be run; the script of that name in the current folder is another file."""
    path, env = venv
    (tmp_path / "on_path").mkdir()
    (tmp_path / "on_path" / "orders.py").write_text("")
    script = tmp_path / "work" / "orders.py"
    script.write_text(TELL)
    env["PATH"] += f":{tmp_path}/on_path"
    for mode, state in (0o644, "executable"), (0o755, "on the PATH"):
        script.chmod(mode)
        said = f"running 'python3 orders.py', since 'orders.py' is not {state}"
        assert said in started_by("orders.py", env=env).stderr


def test_python_script_without_a_python(started_by, tmp_path):
    (tmp_path / "work" / "orders.py").write_text(TELL)
    result = started_by("orders.py", status=NOT_FOUND, env={**os.environ, "PATH": "/nowhere"})
    assert "'orders.py' is a Python script, but there is no python3 on the PATH" in result.stderr


def test_script_without_its_interpreter(kaa, may_record, tmp_path):
    """Only exec finds that out, when everything is open; the earlier recording is there again."""
    script = tmp_path / "script"
    script.write_text("#!/nowhere/interpreter\n")
    script.chmod(0o755)
    data = tmp_path / "perf.data"
    data.write_text("precious")
    result = kaa("record", "-o", data, script, status=NOT_FOUND, cwd=tmp_path)
    assert f"'{script}' or the interpreter in its first line was not found" in result.stderr
    assert data.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["perf.data", "script"]
    data.unlink()
    kaa("record", "-o", data, script, status=NOT_FOUND, cwd=tmp_path)
    assert not data.exists()


def test_a_device_as_output_stays_a_device(kaa, may_record, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/nowhere/interpreter\n")
    script.chmod(0o755)
    kaa("record", "-q", "-o", "/dev/null", "true")
    kaa("record", "-q", "-o", "/dev/null", script, status=NOT_FOUND)
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")
    assert not os.path.exists("/dev/null.python") and not os.path.exists("/dev/null.old")


def test_outputs_that_cannot_be(kaa, may_record, tmp_path):
    (tmp_path / "target").write_text("precious")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "folder").mkdir()
    mark = tmp_path / "ran"
    command = ["touch", str(mark)]
    assert "'nowhere/" in fails(kaa, tmp_path, "-o", "nowhere/perf.data", *command, status=1)
    assert "'folder' is a directory" in fails(kaa, tmp_path, "-o", "folder", *command, status=USAGE)
    assert "'link' is a link" in fails(kaa, tmp_path, "-o", "link", *command, status=USAGE)
    assert (tmp_path / "target").read_text() == "precious"
    assert not mark.exists()


@pytest.mark.parametrize("words, said", [
    (["-F", "0"], "not a positive number"), (["-c", "0"], "not a positive number"), (["-c", "-5"], "not a number"),
    (["-F", "often"], "not a number"), (["-D", "soon"], "not a number"),
    (["--duration", "long"], "'long' is not a number of seconds such as 10 or 2.5"),
    (["--duration", "0"], "not a number of seconds"),
    (["--duration", "-1"], "not a number of seconds"), (["--duration", "nan"], "not a number of seconds"),
    (["--duration", "2.5s"], "not a number of seconds"), (["--duration", ""], "not a number of seconds"),
    (["--call-graph", "magic"], "unwind"), (["--call-graph", "dwarf,4"], "stack size"), (["--pid"], "pid"),
    (["-z23"], "level 23 is not between 1 and 22"), (["-z0"], "level 0"), (["--compression-level=fast"], "not a number"),
])
def test_options_that_make_no_sense(kaa, tmp_path, words, said):
    result = kaa("record", *words, *([] if words == ["--pid"] else ["true"]), status=USAGE, cwd=tmp_path)
    assert said in result.stderr and "usage: kaa record" in result.stderr
    assert not list(tmp_path.iterdir())


def test_numbers_behind_a_pid(kaa, tmp_path):
    """Of `-p $(pgrep python)` all but the first are words of the command."""
    assert "several processes stand behind -p with commas ('-p 1,2')" in fails(kaa, tmp_path, "-p", "1", "4711", status=USAGE)


@pytest.mark.parametrize("words, said", [
    (["-F", "1000000000"], "use a lower -F"), (["-F", "99", "-c", "7"], "either -c or -F"),
    (["-C", "x"], "'x' is not a list of CPUs"), (["-C", "1-"], "not a list of CPUs"), (["-k", "sundial"], "unknown clock 'sundial'"),
    (["--python", "magic"], "auto, bpf, "), (["-p", "abc"], "'abc' is not a pid; '"), (["-t", "-3"], "'-3' is not a tid"),
    (["-e", "cpu-clok"], "did you mean 'cpu-clock'?"), (["-e", "page-fault"], "page-faults"),
    (["-e", "cpu-clock:q"], "cpu-clock:q"),
])
def test_values_that_make_no_sense(kaa, tmp_path, words, said):
    assert said in fails(kaa, tmp_path, *words, "true", status=USAGE)


@pytest.mark.parametrize("installed, lists", [(True, "pgrep -af python"), (False, "grep python /proc/*/comm")])
def test_what_lists_processes(kaa, tmp_path, installed, lists):
    """A minimal Debian has no pgrep."""
    if installed:
        (tmp_path / "pgrep").symlink_to("/bin/true")
    env = {**os.environ, "PATH": str(tmp_path)}
    assert fails(kaa, tmp_path, "-p", "abc", status=USAGE, env=env).endswith(f"'abc' is not a pid; '{lists}' lists them")
    assert f"; '{lists}' lists processes" in kaa("dump", tmp_path / "orders.py", status=1, env=env).stderr


@pytest.mark.parametrize("words", [["--native"], ["--off-cpu"], ["--mode", "gil"], ["--mode", "cpu"], ["--python", "bpf"], ["--event", "cycles"]])
def test_what_does_not_go_with_async(kaa, tmp_path, words):
    said = fails(kaa, tmp_path, "--async", *words, "touch", tmp_path / "ran", status=USAGE)
    assert said.rstrip().endswith(f"leave out {words[0]}") and not (tmp_path / "ran").exists(), said


@pytest.mark.parametrize("words", [[], ["-a"], ["-p", "1"]])
def test_duration_of_a_command(kaa, tmp_path, words):
    said = fails(kaa, tmp_path, *words, "--duration", "1", "touch", tmp_path / "ran", status=USAGE)
    assert ("leave out one" if words else f"--duration goes with -p, -t or -a; to end a command after 1 s, put timeout before it: 'timeout 1 touch {tmp_path / 'ran'}'") in said


def gone_pid():
    child = subprocess.Popen(["true"])
    child.wait()
    return str(child.pid)


def test_targets_that_are_gone(kaa, tmp_path):
    pid = gone_pid()
    assert f"no process has pid {pid}" in fails(kaa, tmp_path, "-p", pid, status=1)
    assert f"no thread has tid {pid}" in fails(kaa, tmp_path, "-t", pid, status=1)
    assert "no process" in fails(kaa, tmp_path, "-p", f"{os.getpid()},{pid}", "--", "true", status=1)


def test_a_cpu_that_is_not_there(kaa, may_record, tmp_path):
    assert "CPU 60000 is not online" in fails(kaa, tmp_path, "-C", "60000", "true", status=1)


@pytest.mark.parametrize("script, status", [
    ("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("kill -TERM $$", 128 + signal.SIGTERM),
    ("kill -SEGV $$", 128 + signal.SIGSEGV), ("kill -KILL $$", 128 + signal.SIGKILL),
    ("kill -INT $$", -signal.SIGINT), ("exit 130", 130),
])
def test_exit_status(kaa, may_record, tmp_path, script, status):
    # A shell leaves SIGINT ignored in what it starts in the background, as these tests may have been.
    kaa("record", "-o", tmp_path / "perf.data", "env", "--default-signal=INT", "sh", "-c", script, status=status)


def test_streams_pass_untouched(kaa, may_record, tmp_path):
    data = bytes(range(256)) * 400
    result = subprocess.run([*kaa.command, "record", "-q", "-o", tmp_path / "perf.data", "sh", "-c", "cat; echo err >&2"],
                            input=data, capture_output=True, timeout=HANG)
    assert (result.returncode, result.stdout, result.stderr) == (0, data, b"err\n")


def test_options_behind_the_command_are_the_commands(kaa, may_record, tmp_path):
    data = tmp_path / "perf.data"
    for dashes in ([], ["--"]):
        result = kaa("record", "-q", "-o", data, *dashes, "echo", "-o", "x", "--no-such", "--", "-F")
        assert result.stdout == "-o x --no-such -- -F\n"
    assert not (tmp_path / "x").exists()


def test_quiet_and_verbose(kaa, may_record, tmp_path):
    # A file each: what has no samples would replace none.
    data = tmp_path / "perf.data"
    assert kaa("record", "-q", "-o", tmp_path / "quiet", "true").stderr == ""
    plain = kaa("record", "-o", data, "true").stderr
    verbose = kaa("record", "-v", "-o", tmp_path / "verbose", "true").stderr
    assert f"wrote '{data}': " in plain and re.search(r" \d+ samples?, ", plain) and " lost" in plain
    assert ("Python frames by BPF: each sample copies" in verbose and "each sample copies" not in plain) or os.geteuid()
    # Errors are no remarks.
    assert kaa("record", "-q", "no-such-command", status=NOT_FOUND).stderr


BUSY = ["/usr/bin/python3", "-c", "import time\nwhile time.process_time() < 0.3: pass"]


def test_existing_file_becomes_old(kaa, may_record, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-q", *BUSY, cwd=tmp_path)
    first = data.read_bytes()
    kaa("record", "-q", *BUSY, cwd=tmp_path)
    assert (tmp_path / "perf.data.old").read_bytes() == first
    assert data.read_bytes() != first
    assert data.stat().st_mode & 0o777 == 0o600


# It is there for a moment: before kaa looks for the first time, also where it has to wait for a CPU.
IDLE = ["true"]


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_recordings_without_samples_replace_none(kaa, may_record, tmp_path, quiet):
    """Both recordings before are as they were, which is said, also to who wants to hear of errors only."""
    for _ in range(2):
        kaa("record", "-q", *BUSY, cwd=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    # So few that a program which does nothing has none.
    said = kaa("record", *quiet, "--python=poll", "-F", 1, *IDLE, cwd=tmp_path).stderr
    assert "no samples were taken" in said and "'perf.data' is the recording before" in said
    assert ": no Python program was seen, and what ran used hardly any CPU time\n" in said and "--mode wall" not in said
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    # Where there is none to keep, a file is there as ever.
    first = kaa("record", "--python=poll", "-F", 1, "-o", "first", *IDLE, cwd=tmp_path).stderr
    assert (tmp_path / "first").exists() and "no samples were taken: no Python program was seen" in first


def test_a_python_that_only_waits_is_for_wall_time(kaa, may_record, tmp_path):
    with started(["/usr/bin/python3", "-c", "print(flush=True); import time; time.sleep(1000)"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        said = kaa("record", "--python=poll", "-F", 1, "-o", tmp_path / "data", "-p", process.pid, "true").stderr
    assert "no samples were taken: the program used hardly any CPU time; '--mode wall' records the time in which it waits, too" in said


def test_a_recording_within_takes_the_name(kaa, may_record, tmp_path):
    """As kaa.profile() does in a program that is recorded itself: said is which file has what."""
    inner = shlex.join(map(str, [*kaa.command, "record", "-q", "--", *BUSY]))
    said = kaa("record", "sh", "-c", f"{inner}; {shlex.join(BUSY)}", cwd=tmp_path).stderr
    assert "wrote 'perf.data.old': " in said and "'perf.data' is another recording" in said
    assert "the recording before" not in said

    def programs(name):
        return set(kaa("script", "-i", name, "-F", "comm", cwd=tmp_path).stdout.split())
    # What records the part is itself a part of the whole.
    assert "kaa" in programs("perf.data.old") and "kaa" not in programs("perf.data")
    gone = kaa("record", *BUSY[:-1], BUSY[-1] + "\nimport os; os.unlink('perf.data')", cwd=tmp_path).stderr
    assert "'perf.data' was removed or renamed while kaa wrote it" in gone


# Who polls sleeps before each look. These go on until process $KAA, that of kaa, has looked a number of times: on a busy machine
# it might else not have come to it.
LOOP = """
slept() {
    seen=0
    for file in /proc/$KAA/task/*/status; do
        while read -r name count; do
            [ "$name" != voluntary_ctxt_switches: ] || seen=$((seen + count))
        done <"$file"
    done
}
KAA=$PPID
slept
end=$((seen + 10)) i=0
while [ $i -lt 200000 ]; do i=$((i+1)); done
while [ $seen -lt $end ]; do slept; done
"""
SEEN = """
import os, pathlib, re, time
def slept():
    tasks = pathlib.Path("/proc", os.environ.get("KAA") or str(os.getppid()), "task")
    return sum(int(re.search(r"^voluntary_ctxt_switches:\\s+(\\d+)", path.read_text(), re.M)[1]) for path in tasks.glob("*/status"))
def work(seconds, looks):
    end = slept() + looks
    while time.process_time() < seconds or slept() < end:
        pass
"""


@pytest.mark.parametrize("words", [[], ["--python=poll"]])
def test_no_python_program(kaa, may_record, tmp_path, words):
    def said(*command, **options):
        return kaa("record", *words, "-o", tmp_path / "data", *command, **options).stderr
    shell = said("/bin/sh", "-c", LOOP)
    assert shell.count("'sh' is no Python program, and started none: the recording has ") == 1
    assert "before Python had started" not in shell
    python = ["/usr/bin/python3", "-c", SEEN + "work(0.2, 10)"]
    assert "no Python program" not in said("/bin/sh", "-c", 'KAA=$PPID "$0" "$@"; true', *python)
    assert "no Python program" not in said(*python)
    data = tmp_path / "running"
    with started(["/bin/sh", "-c", "while true; do :; done"]) as process:
        with kaa.start("record", *words, "-o", data, "-p", process.pid, stderr=subprocess.PIPE, text=True) as recorder:
            until(lambda: data.exists() and data.stat().st_size, "that it records")
            until_busy(process.pid, 0.2)
            size = data.stat().st_size
            until(lambda: data.stat().st_size > size, "that the recording grows")
            recorder.send_signal(signal.SIGINT)
            running = recorder.communicate(timeout=HANG)[1]
    assert f"process {process.pid} is no Python program: the recording has " in running


DUMP = r"""
import json, os, signal, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
state = {key: status[key].strip() for key in status
         if key.startswith(("Sig", "Cap", "Shd")) and key != "SigQ"
         or key in ("Umask", "Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "TracerPid", "Cpus_allowed")}
state["blocked"] = sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, [])))
state["handlers"] = {number: str(signal.getsignal(number)) for number in range(1, 65) if number not in (32, 33)}
state["environ"] = dict(os.environ)
# A program with trampolines, which kaa takes without BPF, has its perf map open.
state["files"] = sorted(name for name in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + name)
                        and not os.readlink("/proc/self/fd/" + name).startswith("/tmp/perf-"))
state["session"] = [os.getpgid(0), os.getsid(0)]
state["cwd"] = os.getcwd()
state["oom"] = open("/proc/self/oom_score_adj").read()
state["limits"] = open("/proc/self/limits").read()
state["nice"] = [os.nice(0), os.sched_getscheduler(0)]
state["tty"] = [os.isatty(fd) for fd in range(3)]
state["argv"] = sys.argv
print(json.dumps(state, indent=1, sort_keys=True))
"""


def test_the_command_finds_its_world_as_without_kaa(kaa, may_record, newest_python, tmp_path):
    """Signals, descriptors, limits, environment and the rest: nothing of what kaa needs for itself leaks."""
    dump = tmp_path / "dump.py"
    dump.write_text(DUMP)
    spare = os.open("/dev/null", os.O_RDONLY)

    def odd_world():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGINT])
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.umask(0o027)
        os.nice(3)
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))

    def seen(*prefix):
        # One process group for both, so that the numbers can be compared.
        return subprocess.run([*map(str, prefix), *newest_python.command, dump, "a b", ""], cwd=tmp_path,
                              preexec_fn=odd_world, pass_fds=[spare], capture_output=True, text=True, check=True,
                              timeout=HANG, stdin=subprocess.DEVNULL).stdout
    try:
        plain = seen()
        assert seen(*kaa.command, "record", "-q", "-o", tmp_path / "perf.data", "--") == plain
    finally:
        os.close(spare)


@pytest.mark.parametrize("words", [[], ["--python=poll"]], ids=["auto", "poll"])
def test_what_the_command_has_left_is_named(kaa, may_record, words, tmp_path):
    """A program that makes itself a daemon ends, and so does its recording: what works on is to be recorded by itself. Who has
    ended meanwhile, as the process between, is not named."""
    (tmp_path / "daemon.py").write_text("""
import os, pathlib, time
def wait():
    while not os.path.exists("seen"):
        time.sleep(0.01)
between = os.fork()
if not between:
    os.setsid()
    if os.fork():
        # Whoever polls finds children of those that are there.
        wait()
        os._exit(0)
    pathlib.Path("new").write_text(str(os.getpid()))
    os.rename("new", "pid")
    while not os.path.exists("end"):
        sum(range(10000))
    os._exit(0)
os.waitpid(between, 0)
""")
    data = tmp_path / "perf.data"
    try:
        # No pipe: the daemon has it open, too.
        with open(tmp_path / "said", "wb") as messages, \
                kaa.start("record", *words, "-o", data, "/usr/bin/python3", "daemon.py", cwd=tmp_path, stderr=messages) as process:
            until((tmp_path / "pid").exists, "the daemon")
            daemon = int((tmp_path / "pid").read_text())
            until(lambda: str(daemon) in kaa("script", "-F", "pid", "-i", data, status=None).stdout.split(), "that it is recorded")
            (tmp_path / "seen").touch()
            assert process.wait(timeout=HANG) == 0
            said = (tmp_path / "said").read_text()
    finally:
        (tmp_path / "end").touch()
    assert re.search(rf": process {daemon} \(python3\S*\), which the command started, runs on and is not recorded any more: "
                     rf"'\S.*kaa record -p {daemon}' records it\n", said), said
    assert said.count("runs on") == 1 and "run on" not in said
    # Who waits for all that it has started leaves nothing.
    assert "runs on" not in kaa("record", *words, "-o", data, "sh", "-c", "true; true", cwd=tmp_path).stderr


def test_numbers_of_a_polled_recording_fit(kaa, may_record, tmp_path):
    """Of samples: at the end of the recording, in the report, its table and the script. On a busy machine a sample stands for
    more time than the rate says, which is said, too."""
    rate = 500
    said = kaa("record", "--python=poll", "-F", rate, "/usr/bin/python3", "-c", SEEN + "work(0.6, 50)", cwd=tmp_path).stderr
    count = int(re.search(r", (\d+) samples?, ", said)[1])
    head = " ".join(kaa("report", "--stdio", cwd=tmp_path).stdout.split("Spent in")[0].split())
    # And what was not taken, in the same words.
    not_taken = r"([\d.<>]+ % not taken|(?:0|none) lost)"
    of_report = re.search(rf"(\d+) samples?, {not_taken}", head)
    of_recorder = re.search(rf", {not_taken}", said)
    assert int(of_report[1]) == count
    assert of_report[2].replace("none", "0") == of_recorder[1]
    incomplete = int(re.search(r"([\d,]+) incomplete", head)[1]) if "incomplete" in head else 0
    assert incomplete == int(re.search(r", (\d+) incomplete", said)[1]), (head, said)
    assert ("% not taken" in of_recorder[1]) or not re.search("came too late to take|kaa left out", said), said
    table = kaa("report", "--stdio", "--native", "--no-children", "-g", "none", "-n", "--percent-limit", "0", cwd=tmp_path).stdout
    assert sum(map(int, re.findall(r"^ +[\d.]+% +(\d+) ", table, re.M))) == count
    assert len(kaa("script", "-F", "comm,tid", cwd=tmp_path).stdout.splitlines()) == count
    period = int(re.search(r"Event count \(approx\.\): (\d+)", table)[1]) / count
    busy = "reports count this time" in said
    # Not where rounding decides.
    assert busy == (period > 1.5e9 / rate) or abs(period * rate / 1.5e9 - 1) < 0.1, (period, said)
