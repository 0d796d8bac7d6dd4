# SPDX-License-Identifier: GPL-2.0-only
"""The names that Python gives threads: read from a process (src/python/threads.h), and in recordings."""
import collections
import contextlib
import json
import re
import subprocess

import pytest

from harness.chance import most
from harness.noticed import SITE, noticed_in
from harness.probe import path
from harness.process import Program, started
from harness.waiting import until_busy, while_busy

# Of a longer name the rest is "...": PY_THREAD_NAME_MAX.
LONGEST = 1024
# Hostilities of named_threads.py after which threads are still called what they were.
HARMLESS = {"numbers_are_no_numbers"}
HOSTILITIES = ["active_is_none", "active_is_a_list", "active_is_another_dict", "active_has_strings",
               "active_has_other_things", "active_has_itself", "active_is_huge", "names_are_no_texts",
               "numbers_are_no_numbers", "module_is_a_number", "module_is_gone", "module_is_empty", "no_attributes"]
BUSY = "def spin():\n    while True:\n        pass\nspin()\n"


@pytest.fixture
def probe(request):
    return Program(path(request.config))


@contextlib.contextmanager
def still(python, scripts, *arguments):
    """named_threads.py: its process, and what it tells."""
    command = [*python.command, scripts / "named_threads.py", *arguments]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process, json.loads(process.stdout.readline())


def escaped(name):
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda match: f"\\x{ord(match[0]):02x}", name)


def read_names(probe, told):
    lines = probe("threads", told["pid"]).stdout.splitlines()
    return sorted((int(ident), int(number), name) for ident, number, name in (line.split(" ", 2) for line in lines))


@pytest.mark.old_versions(first=(3, 6))
@pytest.mark.and_free_threaded
def test_names_are_those_of_threading(python, probe, scripts):
    with still(python, scripts) as (_, told):
        assert len(told["threads"]) > 250
        expected = sorted((ident, number, escaped(name)) for ident, number, name in told["threads"])
        assert read_names(probe, told) == expected


def test_a_long_name_ends_in_dots(python, probe, scripts):
    with still(python, scripts, "names_are_long") as (_, told):
        names = {name for _, _, name in read_names(probe, told)}
        assert names == {"\U0001f40d" * ((LONGEST - 3) // 4) + "..."}


@pytest.mark.few_versions
@pytest.mark.parametrize("hostility", HOSTILITIES)
def test_what_is_no_name_is_not_read(python, probe, scripts, hostility):
    with still(python, scripts, hostility) as (process, told):
        names = read_names(probe, told)
        expected = {(ident, escaped(name)) for ident, _, name in told["threads"]}
        assert {(ident, name) for ident, _, name in names} <= expected
        assert bool(names) == (hostility in HARMLESS)
        # It was not harmed.
        process.stdin.close()
        assert process.wait() == 0


def is_whole(name):
    """A name of renaming.py as it was given."""
    length, _, letters = name.partition(":")
    return name == "MainThread" or (letters == letters[:1] * int(length) and "?" not in letters)


@pytest.mark.and_free_threaded
def test_names_that_change_are_whole(python, probe, scripts):
    seen = set()
    with python.running(scripts / "renaming.py") as (_, pid):
        until_busy(pid, 0.2)
        for _ in range(150):
            for line in probe("threads", pid).stdout.splitlines():
                seen.add(line.split(" ", 2)[2])
    assert not [name for name in seen if not is_whole(name)]
    assert len(seen) > 20


# --- recordings ---

def samples(kaa, data, *options):
    """(tid, what the thread is called) of each sample, and how many there are."""
    text = kaa("script", "-F", "tid,event,thread", "-G", "-i", data, *options).stdout
    return collections.Counter((int(tid), name) for tid, name in re.findall(r"^ *(\d+) +\S+: +(.*?) *$", text, re.MULTILINE))


class Told:
    """What named_work.py wrote down, and the samples of a recording of it."""

    def __init__(self, out):
        self.whole, self.names = {}, collections.defaultdict(set)
        for line in out.read_text(encoding="utf-8").splitlines():
            tid, name, which = json.loads(line)
            self.names[tid].add(name)
            if which == "whole":
                self.whole[tid] = name

    def check(self, found, comms):
        """No thread has a name that it never had; those that worked have theirs in nearly all samples."""
        for tid, name in found:
            assert name in self.names[tid] or name in comms, (tid, name)
        for tid, name in self.whole.items():
            of_it = {known: count for (number, known), count in found.items() if number == tid}
            if sum(of_it.values()) >= 100:
                assert of_it.get(name, 0) > 0.9 * sum(of_it.values()), (tid, of_it)


def comms_of(kaa, data):
    """Comms: what a thread is called by that has no name."""
    text = kaa("script", "--show-task-events", "-F", "comm,tid,event", "-G", "-i", data).stdout
    return set(re.findall(r"PERF_RECORD_COMM(?: exec)?: (.*):\d+/\d+$", text, re.MULTILINE))


@pytest.mark.few_versions
@pytest.mark.usefixtures("bpf")
def test_recorded_names(kaa, python, scripts, tmp_path):
    data, out = tmp_path / "perf.data", tmp_path / "told"
    # With a count, each sample weighs the same.
    python.kaa(kaa).inside(noticed_in(data))("record", "-c", "1001001", "-g", "-o", data, "--", python.path,
                                             scripts / "named_work.py", out, "0.6")
    told, found = Told(out), samples(kaa, data)
    told.check(found, comms_of(kaa, data))
    named = {name for _, name in found}
    assert {"alpha", "\u65e5\u672c", "y" * 200, "pool_0", "pool_1", "to be renamed", "renamed to this", "forker",
            "MainThread"} <= named
    # By the names of threads, with perf's own keys unchanged beside them.
    table = kaa("report", "--stdio", "--no-children", "-g", "none", "--sort", "thread", "-i", data).stdout
    rows = dict(reversed(row) for row in re.findall(r"^ +(\d+\.\d+)%  (.*?) *$", table, re.MULTILINE))
    counts = collections.Counter()
    for (_, name), count in found.items():
        counts[name] += count
    assert rows == {name: f"{100 * count / sum(counts.values()):.2f}" for name, count in counts.items()}
    check_choice_by_name(kaa, data, found, rows)


def check_choice_by_name(kaa, data, found, shares):
    """--comms takes them, too: of the samples, of report's table, and of its first screen."""
    chosen = {key: count for key, count in found.items() if key[1] in ("alpha", "pool_1")}
    assert samples(kaa, data, "--comms", "pool_1,alpha") == chosen
    table = kaa("report", "--stdio", "--no-children", "-g", "none", "--sort", "thread", "--comms", "alpha", "-i", data).stdout
    assert re.findall(r"^ +(\d+\.\d+)%  (.*?) *$", table, re.MULTILINE) == [(shares["alpha"], "alpha")]
    answer = kaa("report", "--stdio", "--comms", "alpha", "-i", data).stdout
    assert f" {sum(count for (_, name), count in chosen.items() if name == 'alpha'):,} samples" in answer.partition("\n")[0]
    done = kaa("script", "--comms", "alphas", "-i", data)
    assert "no sample is of a thread called 'alphas': did you mean 'alpha'?" in done.stderr and not done.stdout


@pytest.mark.few_versions
@pytest.mark.usefixtures("bpf")
def test_names_of_a_program_that_ran_before(kaa, python, scripts, tmp_path):
    data, out = tmp_path / "perf.data", tmp_path / "told"
    with python.running(scripts / "named_work.py", out, "20") as (_, pid):
        until_busy(pid, 0.5)
        python.kaa(kaa)("record", "-F", "999", "-g", "-p", pid, "-o", data, "--", *while_busy(pid, 2))
    found = samples(kaa, data)
    Told(out).check(found, comms_of(kaa, data))
    assert {"alpha", "pool_0", "pool_1"} <= {name for _, name in found}


@pytest.mark.usefixtures("bpf")
def test_recorded_names_that_change_are_whole(kaa, newest_python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-F", "999", "-g", "-o", data, *newest_python.command, scripts / "renaming.py", "3")
    names = {name for _, name in samples(kaa, data)} - comms_of(kaa, data)
    assert names and all(map(is_whole, names))


HOSTILE_WORK = """
import sys, threading, time
def work():
    while time.process_time() < 1.5:
        sum(range(100))
threads = [threading.Thread(target=work, name="hostile") for _ in range(3)]
for thread in threads:
    thread.start()
def loop():
    loop = {}
    for key in threading._active:
        loop[key] = loop
    return loop
kept = threading._active
while time.process_time() < 1.5:
    for other in [None, [1], "text", loop(), dict.fromkeys(kept, 5), {i: threads[0] for i in range(50000)}, kept]:
        threading._active = other
        time.sleep(0.01)
threading._active = kept
print("not harmed")
"""


@pytest.mark.usefixtures("bpf")
def test_a_hostile_program_is_recorded(kaa, newest_python, tmp_path):
    data, script = tmp_path / "perf.data", tmp_path / "hostile.py"
    script.write_text(HOSTILE_WORK)
    result = kaa("record", "-F", "999", "-g", "-o", data, *newest_python.command, script)
    assert "not harmed" in result.stdout
    found = samples(kaa, data)
    assert {name for _, name in found} <= comms_of(kaa, data) | {"hostile", "MainThread"}
    assert sum(found.values()) > 100


@pytest.mark.usefixtures("bpf")
def test_a_program_without_threads_has_its_comm(kaa, newest_python, tmp_path):
    data, script = tmp_path / "perf.data", tmp_path / "busy.py"
    script.write_text("import sys, time\nassert 'threading' not in sys.modules\nwhile time.process_time() < 0.5: pass\n")
    kaa("record", "-F", "999", "-g", "-o", data, *newest_python.command, script)
    assert {name for _, name in samples(kaa, data)} <= comms_of(kaa, data)


@pytest.mark.usefixtures("bpf")
def test_a_name_that_comes_with_the_last_samples(kaa, newest_python, tmp_path):
    """Nobody had a name at the looks before, and there are no samples that lead to another one."""
    data, script = tmp_path / "perf.data", tmp_path / "busy.py"
    script.write_text("import sys, time\nassert 'threading' not in sys.modules\nwhile time.process_time() < 0.5: pass\n"
                      "import threading\ntime.sleep(3)\n")
    kaa("record", "-F", "999", "-g", "-o", data, *newest_python.command, script)
    found = samples(kaa, data)
    assert found and {name for _, name in found} == {"MainThread"}


@pytest.mark.usefixtures("bpf")
def test_what_ran_before_exec_has_its_own_name(kaa, newest_python, tmp_path):
    data, script = tmp_path / "perf.data", tmp_path / "busy.py"
    # Until its name has been read, however late: that is some tenths of a second after the thread was noticed.
    script.write_text(f"import sys, threading, time\nsys.path.append({str(SITE)!r})\nimport noticed\nfor _ in range(3):\n"
                      "    noticed.until_noticed(sys.argv[1])\n    end = time.process_time() + 0.3\n"
                      "    while time.process_time() < end: pass\nnoticed.until_noticed(sys.argv[1])\n")
    shell = 'i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done; exec "$@"'
    kaa("record", "-F", "999", "-g", "-o", data, "sh", "-c", shell, "sh", *newest_python.command, script, data)
    names = collections.defaultdict(set)
    for text in kaa("script", "-F", "comm,tid,thread,ip,sym", "-i", data).stdout.split("\n\n"):
        # Where the kernel ends the process, its threads have no names any more.
        if (found := re.match(r"\s*(\S+) +\d+ +(\S+)", text)) and " do_exit" not in text:
            names[found[1]].add(found[2])
    shells = names.pop("sh")
    assert shells == {"sh"}
    # The start of the program, too, which has no Python frames yet.
    assert set().union(*names.values()) == {"MainThread"}


@pytest.mark.usefixtures("bpf")
def test_names_in_a_pid_namespace(kaa, newest_python, scripts, tmp_path):
    data, out = tmp_path / "perf.data", tmp_path / "told"
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "unshare", "--pid", "--fork", "--mount-proc",
                                 *newest_python.command, scripts / "named_work.py", out, "0.5")
    assert {"alpha", "pool_0", "renamed to this", "forker"} <= {name for _, name in samples(kaa, data)}


def test_names_with_trampolines(kaa, newest_python, scripts, tmp_path, root):
    data, out = tmp_path / "perf.data", tmp_path / "told"
    kaa.inside(noticed_in(data))("record", "--python=trampoline", "-F", "999", "-g", "-o", data, *newest_python.command,
                                 scripts / "named_work.py", out, "0.5")
    found, told = samples(kaa, data), Told(out)
    # A forked child's first thread is found by its thread pointer alone.
    told.whole = {tid: name for tid, name in told.whole.items() if name != "forker"}
    told.check(found, comms_of(kaa, data))
    assert {"alpha", "pool_0", "renamed to this"} <= {name for _, name in found}


FUNCTION = re.compile(r"^\s+[0-9a-f]+ py::([\w.<>]+?)(?:\.<locals>)?:", re.M)


@pytest.mark.few_versions
@pytest.mark.parametrize("source", ["bpf", "poll"])
def test_a_child_of_another_thread(kaa, request, python, scripts, tmp_path, source):
    """The first thread of a child that was forked by a thread that is not the first has that one's name and its stack."""
    if source == "bpf":
        request.getfixturevalue("bpf")
    data, kaa = tmp_path / "perf.data", python.kaa(kaa)
    recording = kaa.inside(noticed_in(data)) if source == "bpf" else kaa
    result = recording("record", f"--python={source}", "-F", "999", "-o", data, "--", python.path, scripts / "forks_in_thread.py")
    told = {line[0]: line[1:] for line in map(json.loads, result.stdout.splitlines())}
    assert len(told) == 4
    seen = collections.Counter()
    for text in kaa("script", "-F", "pid,tid,thread,ip,sym", "-i", data).stdout.split("\n\n"):
        stack = [name.rpartition(".")[2] for name in FUNCTION.findall(text)]
        for name in set(stack) & set(told):
            pid, thread, expected = told[name]
            number, first, called = re.match(r"\s*(\d+)/(\d+) +(.*)", text).groups()
            assert int(number) == pid, text
            assert (number == first) == (name != "in_thread_of_child"), text
            # Of few the name, or a page of the stack, could not be read in time.
            seen[name] += called == thread and stack[stack.index(name):] == expected
            seen[name, "all"] += 1
    for name in told:
        assert seen[name] > 0 and seen[name, "all"] - seen[name] <= most(0.02, seen[name, "all"]), (name, seen, result.stderr)
