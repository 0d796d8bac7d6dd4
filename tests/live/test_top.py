# SPDX-License-Identifier: GPL-2.0-only
"""`kaa top`: what it shows of programs that know what they do, on the screen and as text, and what it leaves behind.

Shares are those of CPU time that a program measures itself; tests/unit/test_convert.c holds what is read of a pipe while it
is written to what a report reads of the same recording.
"""
import contextlib
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from harness.answer import WIDE, functions_of, lines_of, samples_of
from harness.nobody import NOBODY, WITHOUT_RIGHTS
from harness.process import HANG, run, started
from harness.terminal import Terminal
from harness.waiting import until

SCREEN = re.compile(r"^--- \d\d:\d\d:\d\d --- (\d+) samples so far(; it has ended)? ---\n", re.M)
ROW = re.compile(r"^[-+ ] +(\d+\.\d)% +(\d+\.\d)%  (\S+)")
THREAD = re.compile(r"^ +(\d+\.\d)% +(\d+) +(\d+\.\d)%  (\w+) +(\S.*)$")


def screens_of(text):
    """[(samples so far, it has ended, the screen)]"""
    parts = SCREEN.split(text)
    return [(int(count), bool(ended), body) for count, ended, body in zip(parts[1::3], parts[2::3], parts[3::3])]


def children_of(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def is_there(pid):
    return pathlib.Path(f"/proc/{pid}").exists()


def top(kaa, *words, rows=24, columns=80, **options):
    return Terminal([*kaa.command, "top", *words], rows=rows, columns=columns, ticks=True, **options)


@pytest.fixture
def program(scripts):
    with started([sys.executable, scripts / "works_on.py"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process


def own_of(terminal, name):
    """The own time of a function on the screen, or None."""
    for line in terminal.lines():
        row = ROW.match(line)
        if row and row[3] == name:
            return float(row[1])
    return None


@pytest.mark.few_versions
def test_text_of_a_program_that_knows_its_shares(bpf, kaa, python, scripts):
    result = python.kaa(kaa)("top", "--stdio", "-d", "1", "-w", "10000", "-F", "999", "--", python.path, scripts / "planted.py",
                             "30", "2", env=WIDE)
    screens = screens_of(result.stdout)
    counts = [count for count, _, _ in screens]
    light, heavy = map(float, re.search(r"--- what the command printed ---\n([\d.]+) ([\d.]+)\n$", result.stderr).groups())
    assert "the command has ended, with exit code 0" in result.stderr
    assert counts == sorted(counts) and [ended for _, ended, _ in screens] == [False] * (len(screens) - 1) + [True]
    # The last one has all: its window is longer than the program ran.
    text = screens[-1][2]
    assert samples_of(text) == counts[-1]
    found = {name: own for (name, file), (own, _) in functions_of(text).items() if file.endswith("planted.py")}
    planted = light / (light + heavy)
    measured = found["light"] / (found["light"] + found["heavy"])
    # Five times what chance does, and what a row is rounded by. Periods are of half to four times the nominal one
    # (docs/clock.md), so samples are worth two fifths of their number at the least.
    allowed = 5 * math.sqrt(planted * (1 - planted) / (0.39 * counts[-1])) + 0.002
    assert abs(measured - planted) < allowed, (planted, measured, counts)
    # Its lines are its own; the screen has not all of them.
    by_line = lines_of(text)
    of_light = sum(own for (file, line), own in by_line.items() if file.endswith("planted.py") and 13 <= line <= 19)
    assert found["light"] / 2 < of_light <= found["light"] + 0.5


def test_the_screen_of_a_running_program(bpf, kaa, program, tmp_path):
    with top(kaa, "-p", str(program.pid), "-F", "999", "-d", "0.2", cwd=tmp_path) as terminal:
        def have_their_shares():
            light, heavy = own_of(terminal, "light") or 0, own_of(terminal, "heavy") or 0
            return light > 0 and 65 < heavy < 85 and light + heavy > 90
        terminal.wait_until(have_their_shares, "shares of 1 to 3, and little else")
        assert terminal.lines()[0].startswith("last 10 s")
        assert all(len(line) <= 80 for line in terminal.lines())

        # Threads, those that sleep, too, and what they do.
        terminal.write(b"5")
        def worker_has_its_share():
            threads = [row for row in map(THREAD.match, terminal.lines()) if row]
            busy = [row[5] for row in threads if float(row[1]) > 20 and row[2] != str(program.pid)]
            resting = [row[4] for row in threads if float(row[1]) == 0]
            return len(threads) == 3 and busy == ["worker"] and resting == ["sleeps"]
        terminal.wait_until(worker_has_its_share, "three threads, and the worker's share")
        threads = {row[2]: row for row in map(THREAD.match, terminal.lines()) if row}
        assert set(threads) == {str(tid) for tid in os.listdir(f"/proc/{program.pid}/task")}
        assert [row[4] for row in threads.values() if float(row[1]) == 0] == ["sleeps"]

        # The source of the heaviest function, whose weights go on.
        terminal.write(b"1")
        terminal.wait_for("heavy")
        terminal.write(b"\r")
        terminal.wait_for("def heavy")
        source = (pathlib.Path(__file__).parent / "scripts" / "works_on.py").read_text().splitlines()
        shown = terminal.text()
        for line in terminal.lines()[2:-1]:
            row = re.match(r"^(?: +[\d.]+%| {9})(?: +[\d.]+%| {9}) +(\d+)  (.*)$", line)
            assert row is None or source[int(row[1]) - 1].startswith(row[2].rstrip(".")), line
        terminal.wait_until(lambda: terminal.text() != shown, "new weights of lines")
        assert "def heavy" in terminal.text()

        # Back, and standing still: two refreshes later nothing is new.
        terminal.write(b"\x1b")
        terminal.wait_for("own   total  function")
        terminal.write(b"P")
        terminal.wait_for("paused: P goes on")
        shown = terminal.lines()[1:-1]
        assert not terminal._read(1)
        assert terminal.lines()[1:-1] == shown
        terminal.write(b"P")
        terminal.wait_until(lambda: terminal.lines()[1:-1] != shown, "new samples")

        terminal.write(b"W")
        terminal.wait_for("last 60 s")
        terminal.write(b"W")
        terminal.wait_for("since the start")
        terminal.write(b"o")
        terminal.wait_for("ordered by total")
        # Keys that only a recording has are not in the list.
        terminal.write(b"h")
        terminal.wait_for("pause, go on")
        assert re.search("^W  ", terminal.text(), re.M) and not re.search("^[ax]  ", terminal.text(), re.M)
        terminal.write(b"q")
        terminal.wait_for("own   total  function")

        recorders = children_of(terminal.pid)
        terminal.write(b"q")
        assert terminal.wait() == 0
        assert terminal.modes() == terminal.initial_modes
    assert recorders and not any(map(is_there, recorders))
    assert program.poll() is None and not list(tmp_path.iterdir())


def test_a_command_that_ends(bpf, kaa, scripts):
    """Its output does not touch the screen, which stays; any window will do."""
    script = "print('the output of', 6 * 7)\nend = __import__('time').thread_time() + 1\nwhile __import__('time').thread_time() < end: pass"
    with top(kaa, "-F", "999", sys.executable, "-c", script) as terminal:
        terminal.wait_for("the command has ended, with exit code 0")
        assert "<module>" in terminal.text() and "ended" in terminal.lines()[0]
        assert b"the output of 42" not in terminal.raw
        for rows, columns in ((4, 20), (2, 10), (24, 80)):
            terminal.resize(rows, columns)
        assert "<module>" in terminal.text()
        terminal.write(b"q")
        assert terminal.wait() == 0
        assert terminal.raw.endswith(b"--- what the command printed ---\r\nthe output of 42\r\n")


@pytest.mark.parametrize("who", ["screen", "recorder"])
def test_one_is_killed(bpf, kaa, program, who):
    """Without the screen the recorder ends; without the recorder the screen stays."""
    with top(kaa, "-p", str(program.pid), "-d", "0.2") as terminal:
        # The list of waiting threads may have it, too, before there are samples.
        terminal.wait_until(lambda: own_of(terminal, "heavy"), "samples of its function")
        recorder, = children_of(terminal.pid)
        os.kill(terminal.pid if who == "screen" else recorder, signal.SIGKILL)
        if who == "recorder":
            terminal.wait_for("the recorder was ended by signal 9")
            assert "heavy" in terminal.text()
            terminal.write(b"q")
        assert terminal.wait() == (-signal.SIGKILL if who == "screen" else 0)
        until(lambda: not is_there(recorder), "the recorder's end")
    assert program.poll() is None


def test_the_recorder_outlives_nobody(bpf, kaa, program):
    """Without a terminal, too, which would tell it so: it must not wait until somebody reads what it has."""
    with kaa.start("top", "--stdio", "-d", "0.2", "-p", program.pid, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        recorder, = children_of(process.pid)
        process.kill()
        until(lambda: not is_there(recorder), "the recorder's end")


def test_the_recorder_of_an_idle_program_outlives_nobody(root, kaa):
    """It has nothing to write, and so no write that would fail."""
    with started(["/usr/bin/python3", "-c", "print(flush=True); input()"],
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        with kaa.start("top", "--stdio", "-p", program.pid, stdout=subprocess.PIPE, text=True) as process:
            until(lambda: "waiting for the first samples" in process.stdout.readline(), "a screen")
            recorder, = children_of(process.pid)
            process.kill()
            until(lambda: not is_there(recorder), "the recorder's end")
        assert program.poll() is None


def test_a_long_note_is_whole(kaa, root):
    """While there are no samples it has lines of its own."""
    with started([sys.executable, "-c", "import time; print(flush=True); time.sleep(1000)"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with top(kaa, "--python=poll", "-p", str(process.pid)) as terminal:
            terminal.wait_for("'--native'")
            flat = " ".join(terminal.text().split())
            assert "no native functions ('--native' adds them)" in flat
            terminal.write(b"q")
            assert terminal.wait() == 0


def test_interrupted(bpf, kaa, scripts):
    """Ctrl-C ends the screen and the command; the terminal is as before."""
    with top(kaa, sys.executable, scripts / "works_on.py") as terminal:
        terminal.wait_for("heavy")
        recorder, = children_of(terminal.pid)
        command, = children_of(recorder)
        terminal.write(b"\x03")
        assert terminal.wait() == -signal.SIGINT
        assert terminal.modes() == terminal.initial_modes
    until(lambda: not is_there(recorder) and not is_there(command), "the end of both")


# Threads that wait, each in a place of its own, until a line comes; then the first one works.
WAITS = """import queue, sys, threading
def takes(q):
    q.get()
for number in range(4):
    threading.Thread(target=takes, args=[queue.Queue()], name=f"taker-{number}", daemon=True).start()
def reads():
    print("there", flush=True)
    sys.stdin.readline()
def works():
    while True:
        sum(range(1000))
reads()
works()
"""


def test_what_an_idle_process_waits_in(root, kaa, tmp_path):
    script = tmp_path / "waits.py"
    script.write_text(WAITS)
    with started([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"there\n"
        with top(kaa, "-p", process.pid, rows=40) as terminal:
            def all_wait():
                """A thread may have begun, and not yet wait."""
                text = terminal.text()
                takers = re.findall(r"taker-(\d) \d+ .*\n *\S+ \(.*:\d+\)\n *takes \(.*waits.py:3\)", text)
                return takers == list("0123") and re.search(rf"MainThread {process.pid} .*\n *reads \(.*waits.py:8\)", text)
            terminal.wait_until(all_wait, "five threads where they wait")
            # As much as there is room for, and how much more there is.
            terminal.resize(12, 80)
            terminal.wait_for("more threads")
            assert "MainThread" in terminal.text() and "taker-3" not in terminal.text() and "q: quit" in terminal.lines()[-1]
            once = kaa("top", "--once", "-p", process.pid).stdout
            assert "no Python program" not in once
            assert "reads (" in once and once.count("takes (") == 3 and "1 more thread\n" in once, once
            process.stdin.write(b"\n")
            process.stdin.flush()
            terminal.wait_until(lambda: own_of(terminal, "works"), "works")
            assert "taker-0" not in terminal.text()
            terminal.press("q")


def test_a_process_that_is_no_python(root, kaa):
    """Text says so once, and the screen as long as there is nothing else; both say what lists Pythons."""
    with started(["sleep", "1000"]) as process, started(["sleep", "1000"]) as other:
        said = f"process {process.pid} is no Python program: '"
        text = kaa("top", "-n", "3", "-d", "0.2", "-p", process.pid).stdout
        assert len(screens_of(text)) == text.count("waiting for the first samples\n") == 3, text
        assert text.count(said) == 1 and re.search("'[^']+ python[^']*' lists Pythons\n", screens_of(text)[0][2]), text
        text = kaa("top", "--once", "-d", "0.2", "-p", f"{process.pid},{other.pid}").stdout
        assert "these processes are no Python programs: '" in text
        with top(kaa, "-p", process.pid) as terminal:
            terminal.wait_for(said)
            terminal.press("q")


# An event that no program here has: one that counts time may hit the start of a command, too.
NEVER = ("-e", "emulation-faults")


def test_a_command_that_is_no_python(bpf, kaa):
    """While there are no samples the screen says so, and text once; where it has ended, the last lines do."""
    said = "neither 'sleep' nor what it started runs Python now"
    with top(kaa, *NEVER, "sleep", "1000") as terminal:
        terminal.wait_for(said)
        terminal.write(b"q")
        assert terminal.wait() == 0
    with top(kaa, *NEVER, "true") as terminal:
        assert terminal.wait() == 0
        end = terminal.raw.decode().splitlines()[-2:]
        assert end == ["kaa top: 'true' is no Python program, and started none", "kaa top: the command has ended, with exit code 0"]
    with kaa.start("top", "--stdio", "-d", "0.2", *NEVER, "sleep", "1000", stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout.readline, "")
        assert any(said in line for line in lines)
        screens = [line for line, _ in zip(lines, range(12))]
        assert len(screens) == 12 and not any(said in line for line in screens)
        process.send_signal(signal.SIGTERM)
        process.communicate()


def test_a_command_that_starts_an_idle_python(bpf, kaa, tmp_path):
    """Its threads stand there as those of a process do."""
    script = tmp_path / "idle.py"
    script.write_text("import os, time\nparent = os.getppid()\ndef idles():\n    while os.getppid() == parent: time.sleep(0.1)\nidles()\n")
    with top(kaa, *NEVER, "sh", "-c", f"'{sys.executable}' '{script}'; true") as terminal:
        terminal.wait_for("idles (")
        assert "nor what it started" not in terminal.text()
        terminal.write(b"q")
        assert terminal.wait() == 0


def test_what_the_recorder_says_at_the_end_breaks_no_word(root, kaa):
    with Terminal([*WITHOUT_RIGHTS, *kaa.command, "top", "-a"], columns=60) as terminal:
        assert terminal.wait()
        said = terminal.raw.decode().split("kaa top: ")[-1].splitlines()
    assert len(said) > 2 and "perf_event_paranoid" in " ".join(said) and all(len(line) <= 60 for line in said), said


def test_events(bpf, kaa, scripts):
    """Tab goes from one to the next."""
    script = "while True: bytes(1) * (1 << 24)"
    with top(kaa, "-e", "cpu-clock,page-faults", "-F", "999", "-d", "0.2", sys.executable, "-c", script) as terminal:
        # Before the first sample keys do nothing, and what it waits in is shown.
        terminal.wait_until(lambda: own_of(terminal, "<module>"), "CPU time")
        assert "page-faults" not in terminal.text()
        terminal.write(b"\t")
        terminal.wait_until(lambda: "page-faults" in terminal.lines()[0] and own_of(terminal, "<module>"), "page faults")
        terminal.write(b"\t")
        terminal.wait_until(lambda: "CPU" in terminal.lines()[0], "CPU time")
        terminal.write(b"q")
        assert terminal.wait() == 0


def test_the_whole_machine(bpf, kaa, program):
    """Also how text ends, that would go on."""
    with kaa.start("top", "--stdio", "-d", "0.5", "-w", "10000", env=WIDE, stdout=subprocess.PIPE, text=True) as process:
        shown = ""
        while not re.search(rf"^ *[\d.]+% +{program.pid} ", shown, re.M):
            line = process.stdout.readline()
            assert line, shown
            shown += line
        recorder, = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        shown += process.stdout.read()
        assert process.wait() == -signal.SIGINT
    assert "whole machine" in shown and not is_there(recorder)


def test_once(bpf, kaa, program):
    """As long as was asked for, and then it ends; the program goes on."""
    text = kaa("top", "--once", "-d", "1.5", "-p", str(program.pid), env=WIDE).stdout
    (_, ended, _), = screens_of(text)
    assert not ended and program.poll() is None


# Waits for a child, and says its number first.
PARENT = """import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_output_that_nobody_reads_any_more(root, kaa):
    """As of `kaa top | head`: it ends by SIGPIPE, as other commands do, and without a word."""
    with started([sys.executable, "-c", "while True: pass"]) as process:
        words = [*map(str, kaa.command), "top", "-p", str(process.pid), "-d", "0.2"]
        top = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        top.stdout.readline()
        top.stdout.close()
        said = top.stderr.read()
        assert top.wait(HANG) == -signal.SIGPIPE and "write" not in said and "pipe" not in said, said


def test_children_that_run_already_are_not_shown_and_said(bpf, kaa):
    """In text and on the screen; of the process that started kaa it is not said, since kaa is a child of it."""
    with started([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        def said_of(pids):
            return kaa("top", "--once", "-d", "0.2", "-p", pids).stderr
        said = f"1 child process that runs already is not shown; '-p {parent.pid},{child}' shows it, too"
        assert f"{said}\n" in said_of(parent.pid)
        assert "child process" not in said_of(f"{parent.pid},{child}")
        assert "child process" not in said_of(os.getpid())
        with top(kaa, "-p", str(parent.pid), columns=120) as terminal:
            terminal.wait_for(said)
            terminal.write(b"q")
            assert terminal.wait() == 0


def test_a_screen_of_wall_time_has_the_sleeps_that_go_on(root, kaa):
    """A second of a thread that sleeps all the time is several samples, and not one when it is over."""
    with started(["/usr/bin/python3", "-c", "def nap(): print(flush=True); input()\nnap()"],
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        command = [*kaa.command, "top", "--stdio", "--mode", "wall", "--duration", "300", "-p", str(process.pid)]
        with started(command, stdout=subprocess.PIPE, text=True) as watcher:
            # Of samples of a second each no window of a second has more than two.
            for line in watcher.stdout:
                if (found := re.search(r"  (\d+) samples?, ", line)) and int(found[1]) > 2:
                    break
            else:
                assert False, "it ended"


def test_duration(root, kaa, program):
    """As long as `kaa record --duration` records; the program goes on, and a screen stays."""
    result = kaa("top", "--stdio", "-d", "0.2", "--duration", "1.5", "-p", str(program.pid), env=WIDE)
    assert "the 1.5 s of --duration are over" in result.stderr and program.poll() is None
    assert not result.stdout or screens_of(result.stdout)[-1][1], result.stdout
    with top(kaa, "--duration", "1", "-p", str(program.pid)) as terminal:
        terminal.wait_for("of --duration are over")
        terminal.press("q")
        assert terminal.wait() == 0


def test_a_program_that_mostly_waits(root, kaa, tmp_path):
    """The last line says what to type to see where it waits. On a busy machine it has a processor even less."""
    naps = "import time\nwhile True:\n    sum(range(60000))\n    time.sleep(0.3)\n"
    with started([sys.executable, "-c", naps]) as process:
        asked = ["-p", str(process.pid), "-F", "999"]
        command = f"'{kaa.command[-1]} top --mode wall -p {process.pid}'"
        start, rest = f"it runs little: {command}", " shows where   h: keys  P: pause  q: quit"
        with top(kaa, *asked, columns=len(start + rest)) as terminal:
            terminal.wait_for(start + rest)
            terminal.press("q")
        # The keys stand there in any case.
        for line in start + "  h: keys  q: quit", "it runs little: '--mode wall'  h: keys  q: quit":
            with top(kaa, *asked, columns=len(line)) as terminal:
                terminal.wait_for(line)
                terminal.press("q")
    (tmp_path / "naps.py").write_text(naps)
    with top(kaa, "-F", "999", "/usr/bin/python3", "naps.py", columns=200 + len(kaa.command[-1]), cwd=tmp_path) as terminal:
        terminal.wait_for(f"it runs little: '{kaa.command[-1]} top --mode wall /usr/bin/python3 naps.py' shows where")
        terminal.press("q")


def test_a_program_that_has_no_processor(root, kaa):
    """It does not wait anywhere in it, so that no other mode would show that: the keys stand in the last line."""
    on_one = ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, "-c"]
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(started([*on_one, "while True: pass"]))
        process = stack.enter_context(started([*on_one, "def work():\n    while True: pass\nwork()"]))
        with top(kaa, "-F", "999", "-d", "0.3", "-p", str(process.pid)) as terminal:
            # For long enough that it had a processor for less than half of that.
            terminal.wait_until(lambda: re.search(r" CPU in ([2-9]|\d\d)\.", terminal.text()), "two seconds")
            assert terminal.lines()[-1].startswith("h: keys  Enter: source"), terminal.text()
            assert "runs little" not in terminal.text()
            terminal.press("q")


def test_without_rights(root, kaa, scripts):
    """As `kaa record` does, it reads Python frames from outside, and says so."""
    with tempfile.TemporaryDirectory(prefix="kaa-top-", dir="/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        own = pathlib.Path(folder) / "kaa"
        shutil.copy(kaa.command[-1], own)
        shutil.copy(scripts / "planted.py", folder)
        result = run([*WITHOUT_RIGHTS, own, "top", "--stdio", "-w", "10000", "-F", "999", "/usr/bin/python3", f"{folder}/planted.py",
                      "30", "2"], env={**WIDE, "HOME": folder})
        assert sorted(os.listdir(folder)) == ["kaa", "planted.py"]
    assert "Python frames by polling" in result.stderr
    count, ended, text = screens_of(result.stdout)[-1]
    found = {name: own for (name, file), (own, _) in functions_of(text).items() if file.endswith("planted.py")}
    # Where kaa has no CPU for long, a few samples stand for all of the time, and may all be of one kind.
    assert ended and found["heavy"] and (count < 200 or found["heavy"] > found["light"] > 0), (count, text)


def test_sudo(bpf, kaa, scripts):
    """All of it is the user's: who looks, who records, and the command."""
    nobody = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "SUDO_USER": "nobody"}
    with top(kaa, "/usr/bin/python3", "-c", (scripts / "works_on.py").read_text(), env=nobody) as terminal:
        terminal.wait_for("heavy")
        recorder, = children_of(terminal.pid)
        command, = children_of(recorder)
        for pid in (terminal.pid, recorder, command):
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            assert re.search(r"^Uid:\s(.*)$", status, re.M)[1].split() == [str(NOBODY)] * 4
        terminal.write(b"q")
        assert terminal.wait() == 0
    until(lambda: not is_there(command), "the end of the command")


def test_what_it_refuses(kaa, root):
    for words, status, message in [
            (["-p", "4194304"], 1, "no process has pid 4194304"),
            (["no-such-command"], 127, "'no-such-command': command not found"),
            (["-a", "true"], 129, "show either a command, or what -p, -t or -a name"),
            (["--duration", "1", "true"], 129, "--duration goes with -p, -t or -a; a command is shown until it ends"),
            (["--duration", "0"], 129, "'0' is not a number of seconds such as 10 or 2.5"),
            (["-d", "0", "true"], 129, "'0' is not a number of seconds such as 2 or 0.5")]:
        result = kaa("top", "--stdio", *words, status=status)
        assert message in result.stderr and not result.stdout
    result = run([*WITHOUT_RIGHTS, kaa.command[-1], "top"], status=129)
    assert "to show the whole machine takes root" in result.stderr
