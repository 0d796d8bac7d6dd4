# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record --python=poll`: functions and lines without any right, and never a stack that no program had.

harness/call_pairs.py says which pairs of caller and callee do not fit. tests/tools/torn-polls is the long form of the first test.
"""
import collections
import json
import math
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from harness import script_output
from harness.call_pairs import pairs_of, stacks, wrong_pairs
from harness.nobody import NOBODY, WITHOUT_RIGHTS
from harness.chance import deviations, deviations_of_sum, most, samples_worth
from harness.summary import seconds_in, without_samples
from harness.process import HANG, started
from harness.pythons import RUN
from harness.waiting import calls_of, until, while_busy


def check(kaa, data, enough):
    """True stacks, and enough of them; the samples."""
    samples, seen = list(stacks(kaa, data)), 0
    for sample in samples:
        stack = pairs_of(sample)
        assert not list(wrong_pairs(stack)), sample
        seen += any(file == "pairs" for _, file, _ in stack)
    assert seen >= enough, (seen, len(samples))
    return samples


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_no_stack_is_torn(kaa, python, scripts, tmp_path):
    no_stack_is_torn(kaa, python, scripts, tmp_path, threads=3)


@pytest.mark.few_versions
def test_no_stack_of_one_thread_is_torn(kaa, python, scripts, tmp_path):
    no_stack_is_torn(kaa, python, scripts, tmp_path, threads=0)


def no_stack_is_torn(kaa, python, scripts, tmp_path, threads):
    data = tmp_path / "perf.data"
    kaa = python.kaa(kaa)
    result = kaa("record", "--python=poll", "-F", "2000", "-o", data, "--", python.path, scripts / "call_pairs.py",
                 "2", str(threads))
    samples = check(kaa, data, 20)
    unreadable = sum("[unreadable Python frames]" in sample.markers for sample in samples)
    assert unreadable <= most(0.02, len(samples)), result.stderr


def cpu_time_of_children():
    """Of all that have ended, with theirs, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@pytest.mark.few_versions
def test_periods_are_cpu_time(kaa, python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    kaa = python.kaa(kaa)
    before = cpu_time_of_children()
    result = kaa("record", "--python=poll", "-F", "999", "-o", data, "--", python.path, scripts / "call_pairs.py", "3")
    ran, spent = float(result.stdout), cpu_time_of_children() - before
    given = sum(sample.period for sample in stacks(kaa, data)) / 1e9
    missing, all_of_it = without_samples(data), seconds_in(data, "CPU time in us")
    message = (ran, spent, given, missing, all_of_it, result.stderr)
    # After the print the interpreter ends, and where the machine stands still meanwhile, the kernel counts that, too. It knows
    # how much it was, with what kaa ran.
    assert ran * 0.99 - 0.05 <= all_of_it <= spent + 0.05, message
    assert abs(given + missing - all_of_it) <= all_of_it * 0.01 + 0.05, message
    # A machine that gives kaa no CPU may have little but the end of it missing.
    assert given > 0.3 * ran, message


# Kaa, its parent, gets no CPU from the middle to the end of it. Its child prints the CPU time of the one that ended as the
# kernel counts it, to 10 ms, and its own, to the print, which is the longer the slower the machine is.
KEEPS_KAA_OFF = """
import os, signal, time
while time.process_time() < 0.5: pass
kaa, pid = os.getppid(), os.getpid()
if not os.fork():
    try:
        fields = ["R"]
        while fields[0] != "Z":
            time.sleep(0.01)
            fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
        ended = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        os.write(1, b"%f %f" % (ended, time.process_time()))
    finally:
        os.kill(kaa, signal.SIGCONT)
    os._exit(0)
os.kill(kaa, signal.SIGSTOP)
while time.process_time() < 1.5: pass
"""


@pytest.mark.few_versions
def test_what_ran_at_the_end_is_counted(kaa, python, tmp_path):
    data = tmp_path / "perf.data"
    kaa = python.kaa(kaa)
    result = kaa("record", "--python=poll", "-F", "999", "-o", data, "--", python.path, "-c", KEEPS_KAA_OFF)
    ended, child = map(float, result.stdout.split())
    all_of_it, missing = seconds_in(data, "CPU time in us"), without_samples(data)
    # Kaa may not come to see the child, which runs on for a moment after the print.
    assert ended - 0.05 <= all_of_it <= ended + child + 0.2, (ended, child, all_of_it, result.stderr)
    assert missing > 0.9, (missing, result.stderr)
    assert re.search(r"[0-9.]+ s of [0-9.]+ s of CPU time have no samples", result.stderr), result.stderr


@pytest.mark.parametrize("source", ["poll", "auto"])
def test_what_the_program_prints_is_not_in_the_pipe(kaa, newest_python, tmp_path, source):
    """As with perf record it is on standard error: a recording with other text in it is damaged."""
    program = "import time\nwhile time.process_time() < 0.5: print('a line of the program', flush=True)"
    piped = tmp_path / "piped"
    with open(piped, "wb") as out, open(tmp_path / "said", "wb") as said, \
            newest_python.kaa(kaa).start("record", "--python", source, "-o", "-", "--", newest_python.path, "-c", program,
                                         stdout=out, stderr=said) as recorder:
        assert recorder.wait(HANG) == 0
    assert b"a line of the program" not in piped.read_bytes().replace(program.encode(), b"")
    assert "\na line of the program\n" in (tmp_path / "said").read_text()
    assert kaa("report", "-i", "-", data=piped.read_bytes()).stderr == ""


@pytest.mark.few_versions
@pytest.mark.parametrize("frequency", [999, 99])
def test_threads_that_do_not_live_long(kaa, python, scripts, tmp_path, frequency):
    """Those that are found stand for those that are not; and what is missing is counted, though nobody saw it."""
    data = tmp_path / "perf.data"
    kaa = python.kaa(kaa)
    result = kaa("record", "--python=poll", "-F", frequency, "-o", data, "--", python.path, scripts / "short_lives.py", "3")
    pieces, ran = map(float, result.stdout.split())
    samples = list(stacks(kaa, data))
    given = sum(sample.period for sample in samples) / 1e9
    found = sum(sample.period for sample in samples if any(name == "piece" for name, _, _ in sample.python)) / 1e9
    without = re.search(r"([0-9.]+) s of ([0-9.]+) s of CPU time have no samples", result.stderr)
    # A deviation of five times what chance does; samples of unlike periods are worth fewer.
    worth = samples_worth([sample.period for sample in samples])
    allowed = 0.05 + 5 * 0.5 / worth ** 0.5
    message = (found, given, pieces, ran, len(samples), worth, result.stderr)
    # What is said to have no samples may be time of these threads.
    assert pieces - (ran - given) - allowed * ran < found < pieces + allowed * ran, message
    # What has no samples may be of the thread that lives on, or of the others: a machine that gives kaa no CPU has much of it.
    assert abs(found / given - pieces / ran) < allowed + max(0, ran - given) / ran, message
    assert given < 1.02 * ran + 0.1, message
    # However little kaa has seen, it says how much it has not.
    if without:
        missing, all_of_it = map(float, without.groups())
        assert abs(all_of_it - ran) < 0.05 * ran + 0.2 and abs(given + missing - ran) < 0.05 * ran + 0.2, (given, ran, result.stderr)
    else:
        assert given > 0.85 * ran - 0.1, (given, ran, result.stderr)


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_interpreters_of_other_threads(kaa, python, scripts, tmp_path, mode):
    """Code in an interpreter that another thread has made belongs to the thread that runs it; before 3.10 it is marked."""
    data, kaa = tmp_path / "perf.data", python.kaa(kaa)
    result = kaa("record", "--python=poll", "--mode", mode, "-o", data, "--", python.path, scripts / "interpreters_of_others.py", "0.5")
    seen, marked = collections.defaultdict(collections.Counter), 0
    names = {"maker", "runs_one", "runs_two", "inside_one", "inside_two"}
    for sample in stacks(kaa, data):
        stack = [name for name, _, _ in sample.python if name in names]
        marked += "[unreadable Python frames]" in sample.markers
        # One that sleeps has left the interpreter, and waits for the GIL; and so may one that has just been woken.
        if stack and not {"[idle]", "[CPU wait]"} & set(sample.markers):
            seen[stack[0]][" ".join(stack)] += 1
    assert (seen or marked) and set(seen) <= {"maker", "runs_one", "runs_two"}, (seen, result.stderr)
    assert set(seen["maker"]) <= {"maker"}, (seen, result.stderr)
    if python.version < (3, 10):
        assert marked and all(list(seen[runs]) in ([], [runs]) for runs in ("runs_one", "runs_two")), (seen, result.stderr)
        before = seen["runs_one"]["runs_one"] + seen["runs_two"]["runs_two"]
        # By the clock there are more: a thread that wakes to ask for the GIL runs, and is not in the interpreter yet.
        assert before <= most(0.1 if mode == "cpu" else 0.5, before + marked), (before, marked, result.stderr)
        return
    for runs in ("runs_one", "runs_two"):
        inside = f"{runs} {runs.replace('runs', 'inside')}"
        assert set(seen[runs]) <= {runs, inside}, (seen, result.stderr)
        # What is before and after: the code is compiled, and the interpreter is left.
        number = sum(seen[runs].values())
        assert number - seen[runs][inside] <= most(0.1, number), (seen, result.stderr)


# The shell works until kaa has seen it: on a busy machine that may take longer than any loop.
OTHERS = """
import os, subprocess, sys, time
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as shell:
    for _ in range(3):
        size = os.stat(sys.argv[1]).st_size
        while os.stat(sys.argv[1]).st_size == size:
            time.sleep(0.1)
    shell.kill()
"""


@pytest.mark.few_versions
@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_nothing_is_missing_by_design(kaa, python, perf_system, tmp_path, mode):
    """A recording without native frames lacks none: where no Python runs, its tables say so, and no address stands alone."""
    data, script = tmp_path / "perf.data", tmp_path / "others.py"
    script.write_text(OTHERS)
    python.kaa(kaa)("record", "--python=poll", "--mode", mode, "-o", data, "--", python.path, script, data)
    tables = [kaa("report", "--stdio", "-g", "none", *options, "-i", data).stdout
              for options in ((), ("--no-children",), ("--no-children", "-s", "dso,sym"), ("-s", "sym"))]
    theirs = perf_system("script", "-i", data).stdout
    assert "[no Python code]+0x1 (" in theirs and "[missing native frames]+" not in theirs
    for text in tables:
        assert "[no Python code]" in text, text
        assert "[missing native frames]" not in text and "[unknown]" not in text, text
    rows = re.findall(r"^ +([\d.]+)% +sh +.* \[no Python code\]$", tables[1], re.M)
    samples = list(stacks(kaa, data))
    of_shell = [sample.period for sample in samples if sample.comm == "sh" and sample.symbols[0] == "[no Python code]"]
    total = sum(sample.period for sample in samples)
    assert len(rows) == 1 and of_shell and abs(float(rows[0]) - 100 * sum(of_shell) / total) < 0.01, (tables[1], of_shell)


@pytest.fixture
def place():
    """A folder of nobody's that nobody can reach."""
    with tempfile.TemporaryDirectory(prefix="kaa-poll-", dir="/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield pathlib.Path(folder)


@pytest.mark.parametrize("by_name", [[], ["--python=poll"]], ids=["auto", "poll"])
def test_without_any_right(root, kaa, scripts, place, by_name):
    """What auto chooses there, too; and that is said, with what the other ways would give."""
    own = place / "kaa"
    shutil.copy(kaa.command[-1], own)
    for name in ("call_pairs.py", "without_events.py"):
        shutil.copy(scripts / name, place)
    data = place / "perf.data"
    denied = type(kaa)(*WITHOUT_RIGHTS, "/usr/bin/python3", place / "without_events.py", own)
    said = denied("record", *by_name, "-o", data, "--", "/usr/bin/python3", place / "call_pairs.py", "1").stderr
    assert len(re.findall("Python frames by polling: .*no native functions .'--native' adds them", said)) == 1, said
    assert bool(by_name) != bool(re.search("as root: '/.*/kaa record .*kaa doctor --fix'", said)), said
    # One sentence says what is done instead, one what gives more.
    notes = said.split("kaa record: wrote ")[0].splitlines()
    assert len(notes) == (1 if by_name else 2) and all(len(note) < 160 + len(str(own)) for note in notes), notes
    check(kaa, data, 10)
    assert data.stat().st_uid == NOBODY


def test_memory_of_others(root, kaa, place):
    """By name it is refused with what allows it; kaa does not record what it cannot read."""
    own = place / "kaa"
    shutil.copy(kaa.command[-1], own)
    user = type(kaa)(*WITHOUT_RIGHTS, own)
    with started(["sleep", "1000"]) as process:
        said = user("record", "--python=poll", "-o", place / "perf.data", "-p", process.pid, status=1).stderr
    assert f"may not read the memory of process {process.pid}, which belongs to user root: run kaa " in said, said


def shares(kaa, data, names):
    """Of functions in the time of all of them, without that of the interpreter's start; and the periods of their samples."""
    each, periods = [], collections.Counter()
    for sample in stacks(kaa, data):
        pairs = pairs_of(sample)
        if pairs and pairs[0][0] in names:
            each.append(sample.period)
            periods[pairs[0][0]] += sample.period
    return {name: period / sum(periods.values()) for name, period in periods.items()}, each


@pytest.mark.parametrize("what", ["asks", "sleeps", "bursts"])
def test_moments_are_by_chance(bpf, kaa, newest_python, scripts, tmp_path, what):
    """Functions have the shares that the kernel's clock gives them: whether the machine is busy or not."""
    kaa, found, names = newest_python.kaa(kaa), [], ("many", "few", "ask", "sleep")
    for source in ("bpf", "poll"):
        data = tmp_path / source
        kaa("record", f"--python={source}", "-F", "999", "-o", data, "--", newest_python.path,
            scripts / "by_chance.py", what, "0.7" if what == "bursts" else "3")
        found.append(shares(kaa, data, names))
    (bpf_shares, bpf_periods), (poll_shares, poll_periods) = found
    worth = [samples_worth(bpf_periods), samples_worth(poll_periods)]
    for name in names:
        one, other = bpf_shares.get(name, 0), poll_shares.get(name, 0)
        # Five deviations of the difference, and what docs/poll.md says of a busy machine. Without the proof it is 0.3.
        chance = 5 * math.sqrt((one * (1 - one) + 0.001) * sum(1 / samples for samples in worth))
        assert abs(one - other) <= chance + 0.08, (name, bpf_shares, poll_shares, worth)


WAITS = """
import json, sys, threading, time

lock, took = threading.Lock(), {}
# 2.7 has no better one.
clock = getattr(time, "perf_counter", time.time)

def clocks():
    # Of CPU time, and of waiting for a CPU: what is left of a thread's time is sleep.
    with open("/proc/thread-self/schedstat") as file:
        ran, waited = map(int, file.read().split()[:2])
    return clock(), (ran + waited) / 1e9

def nap():
    time.sleep(2)

def hold():
    for _ in range(20):
        with lock:
            time.sleep(0.05)
        time.sleep(0.005)

def want():
    for _ in range(10):
        with lock:
            pass
        time.sleep(0.05)

def work():
    end = clock() + 1.5
    while clock() < end:
        sum(range(1000))

def timed(function):
    before = clocks()
    function()
    after = clocks()
    took[function.__name__] = [now - then for now, then in zip(after, before)] + [before[0], after[0]]

threads = [threading.Thread(target=timed, args=(function,)) for function in (nap, hold, want, work)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
json.dump(took, sys.stdout)
"""


def gap_around(moments, when):
    """How long kaa took no sample of any thread, at a moment: it may have had no CPU. What is behind the last one is untold."""
    before = max((moment for moment in moments if moment <= when), default=when)
    return min((moment for moment in moments if moment >= when), default=before) - before


@pytest.mark.old_versions
@pytest.mark.and_free_threaded
@pytest.mark.few_versions
def test_wall_time(kaa, python, tmp_path):
    """Each function has the time that it took by the program's own clock, and was asleep as long as the kernel says."""
    data, program, periods, idle = tmp_path / "perf.data", tmp_path / "waits.py", collections.defaultdict(list), collections.Counter()
    program.write_text(WAITS)
    kaa = python.kaa(kaa)
    result = kaa("record", "--mode", "wall", "-F", "499", "-o", data, "--", python.path, program)
    moments = []
    for sample in stacks(kaa, data):
        assert sample.event.startswith("wall-clock"), sample
        moments.append(sample.time)
        for name in {name for name, _, _ in sample.python}:
            periods[name].append(sample.period / 1e9)
            idle[name] += sample.period / 1e9 * ("[idle]" in sample.markers)
    untold = without_samples(data, "wall")
    for name, (seconds, awake, began, ended) in json.loads(result.stdout).items():
        taken, asleep = sum(periods[name]), 1 - awake / seconds
        # What a thread does before its first look, and after the last one, which are far apart on a busy machine. Of the time
        # after the last one half counts, and is said where it is long (docs/poll.md).
        late = 0.4 + gap_around(moments, began) + gap_around(moments, ended)
        assert seconds * 0.95 - late - 2 * untold <= taken <= seconds * 1.05 + late, (name, seconds, taken, late, result.stderr)
        # Nothing is known of one that kaa never came to see.
        off = abs(idle[name] - asleep * taken)
        assert off <= (deviations(periods[name], asleep) + 0.05) * taken, (name, asleep, idle[name], periods[name], result.stderr)
    assert "idle" in kaa("script", "-F", "spent", "-i", data).stdout.split()


@pytest.mark.few_versions
def test_waiting_for_a_cpu(kaa, python, scripts, tmp_path):
    """By wall time it is told from running and from sleeping, as the kernel counts it."""
    data, states, periods = tmp_path / "perf.data", collections.Counter(), collections.defaultdict(list)
    kaa = python.kaa(kaa)
    result = kaa("record", "--mode", "wall", "-F", "499", "--no-inherit", "-o", data, "--", python.path, scripts / "cpu_wait.py")
    told = json.loads(result.stdout)
    for sample in stacks(kaa, data):
        for name in {name for name, _, _ in sample.python} & set(told):
            states[name] += sample.period / 1e9
            states[name, "waits"] += sample.period / 1e9 * ("[CPU wait]" in sample.markers)
            periods[name].append(sample.period / 1e9)
    for name, (waited, took) in told.items():
        off = abs(states[name, "waits"] - waited / took * states[name])
        # The last wait is counted when it is over.
        assert off <= (deviations(periods[name], waited / took) + 0.1) * states[name], (name, states, told, result.stderr)
    report = kaa("report", "--stdio", "-i", data).stdout
    assert "CPU wait" in report.partition("own")[0], report


SLEEPERS = """
import json, sys, threading, time

took = {"short": 0.0, "long": 0.0}

def short():
    time.sleep(0.005)

def long():
    time.sleep(0.03)

def work():
    end = time.monotonic() + 6
    while time.monotonic() < end:
        for function in (short, long):
            start = time.monotonic()
            function()
            took[function.__name__] += time.monotonic() - start

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
json.dump(took, sys.stdout)
"""


def test_a_short_sleep_after_a_long_one(kaa, newest_python, tmp_path):
    """Looks at a thread that sleeps are ticks apart; what it did between them goes to where it was."""
    data, program, taken, periods = tmp_path / "perf.data", tmp_path / "sleepers.py", collections.Counter(), []
    program.write_text(SLEEPERS)
    result = kaa("record", "--mode", "wall", "-o", data, "--", newest_python.path, program)
    took, unreadable = json.loads(result.stdout), 0
    for sample in stacks(kaa, data):
        names = {name for name, _, _ in sample.python}
        unreadable += "[unreadable Python frames]" in sample.markers
        for name in names:
            taken[name] += sample.period / 1e9
        if names & {"short", "long"}:
            periods.append(sample.period)
    own, told = (100 * times["short"] / (times["short"] + times["long"]) for times in (took, taken))
    # Where ticks come late, sleeps of several looks are few, and a share is one of chance.
    late = re.search(r"kaa came too late to take \d+ samples? \(([\d.]+) %\)", result.stderr)
    is_calm = (not late or float(late[1]) < 1) and max(periods) < 0.06e9
    allowed = 2 if is_calm else 2 + 100 * deviations(periods, own / 100, 4)
    assert abs(own - told) < allowed, (own, told, took, taken, result.stderr)
    report = kaa("report", "--stdio", "-i", data).stdout
    # By chance one that runs meanwhile cannot be read.
    incomplete = re.search(r"(\d+) incomplete", report.split("function", 1)[0])
    assert "lack native frames" not in report and (int(incomplete[1]) if incomplete else 0) <= unreadable, (unreadable, report)


TURNS = """
import sys, time

def nap():
    start = time.monotonic()
    time.sleep(seconds)
    return time.monotonic() - start

def spin(end):
    while time.monotonic() < end:
        for _ in range(1000):
            pass

sys.stdin.readline()
seconds, slept, end = float(sys.argv[1]), 0, time.monotonic() + 3
while time.monotonic() < end:
    spin(time.monotonic() + 0.02)
    if seconds:
        slept += nap()
print(slept, time.monotonic())
"""


def test_a_recorder_without_a_processor(kaa, newest_python, tmp_path):
    """Beside programs that want the same CPU kaa looks rarely, and says so with what it measured."""
    data, cpu = tmp_path / "perf.data", str(max(os.sched_getaffinity(0)))
    kaa = newest_python.kaa(kaa)
    alone = ["taskset", "-c", cpu]
    spin = "import time\nwhile time.process_time() < 0.4: pass"
    record = kaa.inside(["nice", "-n", "19", *alone]).command
    command = [*record, "record", "--mode", "wall", "-o", data, "--", "nice", "-n", "-19", *newest_python.command, "-c", spin]
    # In one session, for that is what 'nice' is about (sched(7), autogroups).
    others = [subprocess.Popen([*alone, sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        said = subprocess.run(list(map(str, command)), stderr=subprocess.PIPE, text=True, timeout=HANG, check=True).stderr
    finally:
        for process in others:
            process.kill()
            process.wait()
    assert re.search(r"kaa had no processor for \S+ % of the time, so one wait or call is exact to about \d+\.\d{3} s", said), said
    shown = kaa("report", "-i", data).stdout
    assert re.search(r"^The recorder had no processor for \S+ % of the time: one wait or call is exact to about \S+ m?s, a sum of many less so\.$",
                     shown.replace("\n  ", " "), re.M) or \
        "# No stack has Python frames: the recorder had no processor for most of the time." in shown or \
        shown.startswith("The recording has no samples: "), shown
    apart = seconds_in(data, "between looks in us")
    assert 0.002 < apart and seconds_in(data, "time without a CPU of the recorder in us") > 0


@pytest.mark.parametrize("nap", [0.02, 0])
def test_missed_ticks(kaa, newest_python, tmp_path, nap):
    """Where the program lets kaa have the CPU only when it sleeps itself, its sleep has not much more time than it took. What nobody saw
    before the end is said while recording and in the report: all of it is the time that the program had."""
    data, program, cpu = tmp_path / "perf.data", tmp_path / "turns.py", str(max(os.sched_getaffinity(0)))
    program.write_text(TURNS)
    kaa = newest_python.kaa(kaa)
    alone = ["taskset", "-c", cpu]
    command = [*alone, *newest_python.command, "-c", RUN, program, nap]
    record = [*kaa.inside(["nice", "-n", "19", *alone]).command, "record", "--mode", "wall", "-o", data, "-p"]
    # In one session, for that is what 'nice' is about (sched(7), autogroups).
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            pid = process.stdout.readline().strip()
            with subprocess.Popen([*record, pid], stderr=subprocess.PIPE, text=True) as recorder:
                try:
                    before = [time.monotonic()]

                    def records():
                        """Its second thread, which polls, has begun after the last look at which it was not there."""
                        now = time.monotonic()
                        if len(os.listdir(f"/proc/{recorder.pid}/task")) > 1:
                            return True
                        before.append(now)
                        return False
                    until(records, "that kaa records")
                    slept, end = map(float, process.communicate("go\n", HANG)[0].split())
                    gone = time.monotonic()
                    said = recorder.communicate(timeout=HANG)[1]
                    over = time.monotonic()
                finally:
                    recorder.kill()
        finally:
            process.kill()
    periods, napped, first = [], 0, end
    for sample in stacks(kaa, data):
        periods.append(sample.period / 1e9)
        napped += sample.period / 1e9 * ("nap" in {name for name, _, _ in sample.python})
        first = min(first, sample.time - sample.period / 1e9)
    given = sum(periods)
    # Some ticks are late by other programs after all; without the kernel's account it was 1.7 times as much. Where others have
    # the CPU for seconds, a few samples stand for all of the time, and may all be of one kind.
    if periods and samples_worth(periods) > 40:
        assert napped < 1.5 * slept + 0.2, (napped, slept, given, said)
    untold = without_samples(data, "wall")
    known = given + untold
    # That a thread has ended kaa notices late: half of the time since it was there counts (docs/poll.md). So that half may be
    # too much, if it lived no longer, or too little. And without any sample nobody knows when kaa began.
    assert known < 1.05 * ((gone + over) / 2 - before[-1]) + 0.1, (known, before[-1], gone, over, said)
    assert not given or known > 0.95 * (end - first + given) / 2 - 0.1, (known, given, first, end, said)
    report = kaa("report", "--stdio", "-i", data).stdout
    is_said = "of wall time have no samples" in said
    assert ("of wall time have no samples: shares may be off by " in report) == is_said, (report, said)


@pytest.mark.parametrize("mode", ["cpu", "wall"])
def test_samples_without_frames_are_said(kaa, newest_python, tmp_path, mode):
    """All that are without Python frames, whether the thread ran or waited for a CPU."""
    said = kaa("record", "--python=poll", "--mode", mode, "-F", "999", "-o", tmp_path / "perf.data", newest_python.path, "-c", "pass").stderr
    samples, python, incomplete = map(int, re.search(r"(\d+) samples?, (?:(\d+) with Python frames, )?.*?(\d+) incomplete",
                                                     said).groups("0"))
    without = re.search(r"(\d+) samples? \([^)]*\) shows? nothing of the program's own code", said)
    shown = int(without[1]) if without else 0
    assert shown <= samples - python <= shown + incomplete, said


def test_what_is_not_known_is_not_said(kaa, newest_python, tmp_path):
    """Lines that functions share have no list of what these called, and programs that run already get no advice for others."""
    data, program = tmp_path / "perf.data", tmp_path / "shared.py"
    program.write_text("import time\ndef f():\n    return sum(i * i for i in range(100000))\nwhile time.process_time() < 1: f()\n")
    said = kaa("record", "--python=poll", "-o", data, "--", newest_python.path, program).stderr
    assert "no native functions ('--native' adds them)" in said
    text = kaa("annotate", "-i", data, "shared.f").stdout
    assert re.search(r"^ *[\d.]+% +[\d.]+% +3  +return sum\(", text, re.M) and "<genexpr>:" not in text, text
    program.write_text("while True: pass\n")
    with newest_python.running(program) as (_, pid):
        said = kaa("record", "--python=poll", "-o", data, "-p", pid, "--", *while_busy(pid, 1)).stderr
    assert "Python frames by polling" in said and "with Python frames" in said and "trampoline" not in said, said


SLEEPS_ON = """
import os, sys, time
os.sched_setaffinity(0, [int(sys.argv[1])])
time.sleep(1000)
"""


def test_samples_of_sleep_say_where(kaa, newest_python, tmp_path):
    """On which CPU the thread ran last, though kaa follows none that sleeps."""
    data, program, cpu = tmp_path / "perf.data", tmp_path / "sleeps_on.py", max(os.sched_getaffinity(0))
    program.write_text(SLEEPS_ON)
    with newest_python.running(program, cpu) as (_, pid):
        until(lambda: os.sched_getaffinity(pid) == {cpu} and "sleep" in calls_of(pid), "that it sleeps on that CPU")
        # A sleep has a sample each second.
        with kaa.start("record", "--mode", "wall", "-o", data, "-p", pid) as recorder:
            until(lambda: data.exists() and kaa("script", "-i", data, status=None).stdout, "a sample")
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait() == 0
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    assert samples and {(sample.cpu, tuple(sample.markers)) for sample in samples} == {(cpu, ("[idle]",))}, samples


HOLDERS = """
import hashlib, json, sys, threading, time

data, took, lived, ready = bytes(1 << 24), {}, {}, threading.Barrier(4)

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def hog():
    spin(1.2)

def small():
    for _ in range(40):
        spin(0.01)
        time.sleep(0.005)

def digest():
    end = time.thread_time() + 0.8
    while time.thread_time() < end:
        hashlib.sha256(data)

def nap():
    time.sleep(0.5)

def timed(function):
    ready.wait()
    start, began = time.thread_time(), time.monotonic()
    function()
    took[function.__name__] = time.thread_time() - start
    lived[function.__name__] = began, time.monotonic()

threads = [threading.Thread(target=timed, args=(function,)) for function in (hog, small, digest, nap)]
begun = time.monotonic()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
took["all"] = time.monotonic() - begun
json.dump([took, lived], sys.stdout)
"""


@pytest.mark.few_versions
def test_time_with_the_gil(kaa, python, tmp_path):
    """Threads that run byte code hold it while their clocks run; one that hashes has CPU time, and hardly the GIL."""
    data, program, taken = tmp_path / "perf.data", tmp_path / "holders.py", collections.Counter()
    moments, periods = [], collections.defaultdict(list)
    program.write_text(HOLDERS)
    kaa = python.kaa(kaa)
    result = kaa("record", "--mode", "gil", "-F", "999", "-o", data, "--", python.path, program)
    for sample in stacks(kaa, data):
        assert sample.event.startswith("gil-clock"), sample
        moments.append(sample.time)
        for name in {name for name, _, _ in sample.python} & {"hog", "small", "digest", "nap"}:
            taken[name] += sample.period / 1e9
            periods[name].append(sample.period / 1e9)
    ran, lived = json.loads(result.stdout)
    both = taken["hog"] + taken["small"]
    # Who has it when kaa comes after a long time stands for that time.
    chance = deviations_of_sum([period for period in sum(periods.values(), []) if period > 0.01])
    # A busy machine may take the CPU from who has the GIL, which he keeps: each has it no shorter than he ran, and only one
    # at a time.
    for name in "hog", "small":
        unseen = sum(gap_around(moments, when) for when in lived[name]) + 2 * without_samples(data, "wall")
        assert taken[name] > 0.9 * ran[name] - 0.05 - unseen - chance, (name, taken, ran, unseen, chance, result.stderr)
    assert both + taken["digest"] < ran["all"] + 0.05 + chance, (taken, ran, chance, result.stderr)
    for name, part in ("digest", 0.1), ("nap", 0.02):
        assert taken[name] < part * both + deviations_of_sum(periods[name]), (taken, ran, periods[name])
    assert " with the GIL" in kaa("report", "--stdio", "-i", data).stdout
    assert "Time with the GIL as before" in kaa("diff", data, data).stdout
    # Samples do not stand for equal times: stacks weigh what theirs do.
    lines = [line.rsplit(" ", 1) for line in kaa("export", "--format", "collapsed", "-i", data).stdout.splitlines()]
    weight = sum(int(weight) for stack, weight in lines if ";hog (" in stack)
    assert weight > 0 and abs(weight / 1e6 - taken["hog"]) < 1e-6 * len(lines), (weight, taken["hog"])


FAMILY = """
import os, subprocess, sys, threading, time

def spin():
    while time.process_time() < end:
        pass

print(os.getpid(), flush=True)
sys.stdin.readline()
end = time.process_time() + 1
forked = os.fork()
if not forked:
    end = time.process_time() + 1
    spin()
    os._exit(0)
called = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
worker = threading.Thread(target=spin, name="the worker")
worker.start()
worker.join()
os.waitpid(forked, 0)
called.wait()
print(forked, called.pid, flush=True)
"""


@pytest.mark.few_versions
def test_a_process_that_runs_and_what_comes_of_it(root, kaa, python, scripts, tmp_path):
    """A thread with a name, a child by fork, and one by exec."""
    data, program = tmp_path / "perf.data", tmp_path / "family.py"
    program.write_text(FAMILY)
    kaa = python.kaa(kaa)
    family = [*python.command, program, python.path, scripts / "call_pairs.py", "1"]
    with started(family, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pids = [int(process.stdout.readline())]
        command = [*kaa.command, "record", "--python=poll", "-F", "999", "-o", data, "-p", pids[0]]
        with started(command, stderr=subprocess.PIPE) as recorder:
            until(data.exists, "that kaa records")
            process.stdin.write(b"go\n")
            process.stdin.flush()
            pids += map(int, process.stdout.readline().split())
            assert process.wait() == 0
            said = recorder.communicate()[1].decode()
            assert recorder.returncode == 0, said
    samples = check(kaa, data, 5)
    text = kaa("script", "-F", "pid,thread", "-i", data).stdout
    assert set(pids) <= {int(line.split()[0]) for line in text.splitlines() if line.strip()}, said
    assert "the worker" in text
    assert {"spin", "work"} <= {name for sample in samples for name, _, _ in sample.python}


BRIEF = """
import os, time

def work():
    while time.process_time() < 0.02:
        pass

print(os.getpid(), flush=True)
for _ in range(60):
    if not os.fork():
        work()
        os._exit(0)
    os.wait()
"""


@pytest.mark.few_versions
def test_children_that_live_briefly(root, kaa, python, tmp_path):
    """Their Python is where the parent's is: no sample is without frames because it was not found in time."""
    data, program = tmp_path / "perf.data", tmp_path / "brief.py"
    program.write_text(BRIEF)
    kaa = python.kaa(kaa)
    result = kaa("record", "--python=poll", "-F", "999", "-o", data, "--", python.path, program)
    rows = [line.split() for line in kaa("script", "-F", "pid,pysym", "-i", data).stdout.splitlines() if line.strip()]
    children = [row[-1] for row in rows if row[0] != result.stdout.strip()]
    assert len(children) > 20, result.stderr
    # One that is about to end has no memory any more.
    assert children.count("-") <= 2 + len(children) // 25, (collections.Counter(children), result.stderr)
