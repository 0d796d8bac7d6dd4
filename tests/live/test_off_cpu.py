# SPDX-License-Identifier: GPL-2.0-only
"""The time off the CPU, as docs/off-cpu.md has it, beside what programs know of their own waits."""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from harness import script_output
from harness.answer import WIDE
from harness.chance import deviations_of_sum, most
from harness.noticed import noticed_in
from harness.process import HANG, started
from harness.waiting import calls_of, until, until_busy, while_busy

pytestmark = pytest.mark.usefixtures("bpf")

# Where threads are walked: as this kernel has it, and as those before Linux 6.16 have it.
PLACES = {"schedule": {}, "rseq": {"KAA_OFF_CPU": "rseq"}}

SPIN = "import time\ndef spin(seconds):\n    end = time.process_time() + seconds\n    while time.process_time() < end: pass\n"


def check_parts(said):
    """Of no kind there are more than are incomplete."""
    whole, parts = re.search(r"kaa record: wrote .*?, (\d+) incomplete(.*)", said).groups()
    for number, what in re.findall(r", (\d+) with ([^(]+) \(", parts):
        assert int(number) < int(whole), (what, said)


def record(kaa, data, *words, **options):
    done = kaa.inside(noticed_in(data))("record", "-F", "999", "--off-cpu", "-k", "monotonic", "-o", data, *words, **options)
    check_parts(done.stderr)
    return done


def samples_of(kaa, data):
    text = kaa("script", "--no-inline", "-i", data, "-F", "comm,tid,time,period,event,ip,sym,dso,srcline").stdout
    return script_output.parse(text)


def waits(samples):
    return [sample for sample in samples if sample.event == "off-cpu"]


CPU_WAIT = "[CPU wait]"


def is_cpu_wait(sample):
    return CPU_WAIT in sample.symbols


def is_end(sample):
    """Of a thread or a program, which has taken its frames away."""
    return not sample.python


# Of waits that are no longer some are samples, and stand for the others.
SHORT_NS = 2000000


def chance(samples):
    """What chance does to the sum of the samples that it has taken, in seconds: of CPU time and of short waits."""
    return deviations_of_sum([sample.period / 1e9 for sample in samples if sample.event != "off-cpu" or sample.period <= SHORT_NS])


def functions(sample):
    return {name.rsplit(".", 1)[-1] for name, _, _ in sample.python}


def time_between(samples, begin, end):
    """What of the samples' periods, which end at the samples, is between two moments, in seconds."""
    total = 0
    for sample in samples:
        period = sample.period / 1e9
        if sample.event == "off-cpu":
            period = min(sample.time, end) - max(sample.time - period, begin)
        elif not begin <= sample.time <= end:
            continue
        total += max(period, 0)
    return total


@pytest.fixture(params=PLACES)
def place(request):
    return {**os.environ, **PLACES[request.param]}


@pytest.mark.few_versions
@pytest.mark.and_free_threaded
def test_waits_are_those_of_the_program(kaa, python, scripts, tmp_path, place):
    """Each function takes what it says that it took, and each thread's time is that by the clock."""
    data, kaa = tmp_path / "data", python.kaa(kaa)
    done = record(kaa, data, "--", python.path, scripts / "waits.py", "12", env=place, cwd=tmp_path)
    told = json.loads(done.stdout)
    samples = samples_of(kaa, data)
    begin = min(begin for begin, _, _ in told["threads"].values())
    cut = [sample for sample in samples if sample.time > begin and set(sample.markers) - {CPU_WAIT} and not is_end(sample)]
    # On a busy machine one wait may be long.
    unknown = sum(sample.period for sample in cut) / 1e9
    assert len(cut) <= most(0.02, len(samples)), cut
    for name, took in told["took"].items():
        own, inside = [sample for sample in samples if name in functions(sample)], told["inside"][name]
        seen, allowed = sum(sample.period for sample in own) / 1e9, 0.02 * took + 0.02 + chance(own)
        assert inside - allowed - unknown < seen < took + allowed, (name, seen, inside, took, unknown, allowed)
    by_thread = collections.defaultdict(list)
    for sample in samples:
        by_thread[sample.tid].append(sample)
    for tid, (begin, end, _) in told["threads"].items():
        seen, allowed = time_between(by_thread[int(tid)], begin, end), 0.01 * (end - begin) + 0.02 + chance(by_thread[int(tid)])
        assert abs(seen - (end - begin)) < allowed, (tid, seen, end - begin, allowed)


# What the kernel does for it.
CALLS = {"sleep_with_lock": "nanosleep|select", "want_lock": "futex", "read_blocking": "recv", "sleep_in_asyncio": "epoll_wait"}


@pytest.mark.few_versions
def test_the_kernel_says_what_for(kaa, python, scripts, tmp_path, place):
    data, kaa = tmp_path / "data", python.kaa(kaa)
    record(kaa, data, "--", python.path, scripts / "waits.py", "5", env=place, cwd=tmp_path)
    called = collections.defaultdict(collections.Counter)
    for sample in waits(samples_of(kaa, data)):
        if not is_cpu_wait(sample):
            kernel = [frame.symbol for frame in sample.frames if frame.ip >> 63]
            assert not any("bpf" in name or "rseq" in name for name in kernel), sample
            for name in functions(sample) & set(CALLS):
                called[name][next((call for call in kernel if call.startswith("__x64_sys_")), None)] += sample.period
    for name, word in CALLS.items():
        # Where who has the GIL gets no CPU, threads wait for that, too.
        ours = {call: re.search(word, call or "") for call in called[name]}
        others = max((period for call, period in called[name].items() if not ours[call] and call != "__x64_sys_futex"), default=0)
        assert sum(period for call, period in called[name].items() if ours[call]) > others, (name, called)
    collapsed = kaa("export", "--format", "collapsed", "--event", "off-cpu", "-i", data).stdout
    weights = [int(line.rsplit(" ", 1)[1]) for line in collapsed.splitlines()]
    assert sum(weights) * 1000 == pytest.approx(sum(sample.period for sample in waits(samples_of(kaa, data))), rel=0.001)
    text = kaa("report", "-i", data).stdout
    assert re.search(r"[\d.]+ m?s off the CPU in [\d.]+ m?s", text), text
    assert "of cpu-clock (--event cpu-clock)" in text
    assert re.search(r"s CPU\b", kaa("report", "--event", "cpu-clock", "-i", data).stdout)


def test_waits_stand_first(kaa, scripts, tmp_path):
    """In each report, with seconds, and with the calls instead of the kernel."""
    data = tmp_path / "data"
    record(kaa, data, "--", sys.executable, scripts / "waits.py", "3", cwd=tmp_path)
    recorded = waits(samples_of(kaa, data))
    of_sleep = sum(sample.period for sample in recorded if sample.python and sample.python[-1][0] == "sleep_with_lock") / 1e9
    text = kaa("report", "-i", data, env=WIDE).stdout
    row = re.search(r"^ *([\d.]+)% +[\d.]+% +([\d.]+)  sleep_with_lock ", text, re.M)
    assert float(row[2]) == pytest.approx(of_sleep, abs=0.006), text
    assert float(row[1]) == pytest.approx(100 * of_sleep / (sum(sample.period for sample in recorded) / 1e9), abs=0.06)
    # On a busy machine `CPU wait` may stand before them.
    calls = re.search(r"^Spent in: (.*)", text, re.M)[1]
    assert re.search(r"(nanosleep|select)\(\) \d", calls) and re.search(r"futex\(\) \d", calls), text
    totals = kaa("report", "--total", "-i", data, env=WIDE).stdout
    assert re.search(r"^   own   total  total, s  function ", totals, re.M), totals
    listing = kaa("annotate", "-i", data, "sleep_with_lock", env=WIDE).stdout
    assert re.search(r"^off-cpu +cpu-clock$", listing, re.M) and "spent in, off-cpu" in listing, listing
    assert re.search(r"sleep\(.*(nanosleep|select)\(\) \d", listing), listing
    tables = re.findall(r"of event '([\w-]+)'", kaa("report", "--native", "--no-children", "-g", "none", "-i", data).stdout)
    assert tables == ["off-cpu", "cpu-clock"]
    for event in tables:
        table = kaa("report", "--native", "--event", event, "--no-children", "-g", "none", "-i", data).stdout
        assert re.findall(r"of event '([\w-]+)'", table) == [event]


# They wait until the recorder has looked at them, which it does once a second: on a busy machine it may have no CPU for longer
# than any sleep lasts.
ONLY_WAITS = """
import noticed, sys, threading, time
over = threading.Event()
threads = [threading.Thread(target=over.wait, name=f"waits{i}") for i in range(3)]
for thread in threads: thread.start()
for _ in range(5):
    noticed.until_noticed(sys.argv[1])
    time.sleep(0.5)
over.set()
for thread in threads: thread.join()
"""


@pytest.mark.few_versions
def test_name_of_a_thread_that_only_waits(kaa, python, tmp_path):
    """Its sample comes with its end, when there is no name to be read any more."""
    data = tmp_path / "data"
    record(python.kaa(kaa), data, "--", python.path, "-c", ONLY_WAITS, data, cwd=tmp_path)
    text = python.kaa(kaa)("script", "-F", "+thread", "-i", data).stdout
    assert set(re.findall(r"\bwaits\d", text)) >= {"waits0", "waits1", "waits2"}, text


GIL = SPIN + """
import json, threading
slept = []
def victim():
    while len(slept) < 60:
        began = time.monotonic()
        time.sleep(0.005)
        slept.append(time.monotonic() - began)
def hog():
    while len(slept) < 60: pass
thread = threading.Thread(target=hog)
thread.start()
began = time.monotonic()
victim()
took = time.monotonic() - began
thread.join()
print(json.dumps([slept, took]))
"""


def test_the_gil_is_waited_for(kaa, newest_python, tmp_path):
    data, script = tmp_path / "data", tmp_path / "hog.py"
    script.write_text(GIL)
    slept, took = json.loads(record(kaa, data, "--", *newest_python.command, script).stdout)
    in_all = [sample for sample in samples_of(kaa, data) if "victim" in functions(sample)]
    seen, of_victim = sum(sample.period for sample in in_all) / 1e9, waits(in_all)
    assert abs(seen - took) < 0.03 * took + 0.02 + chance(in_all), (seen, took, chance(in_all))
    # A switch takes 5 ms, and the hog never sleeps. A stripped Python has no name for what takes the GIL.
    taking = "take_gil" if newest_python.unstripped else "futex"
    gil = sum(sample.period for sample in of_victim if any(taking in name for name in sample.symbols)) / 1e9
    assert gil > 0.4 * 0.005 * len(slept), (gil, sum(slept))
    if newest_python.unstripped:
        assert re.search(r"Spent in: .*\bGIL wait \d", kaa("report", "-i", data).stdout)


PING = """
import os, threading, time, json
def pong(rounds):
    for _ in range(rounds):
        os.read(a, 1)
        os.write(d, b"x")
def ping(rounds):
    for _ in range(rounds):
        os.write(b, b"x")
        os.read(c, 1)
a, b = os.pipe()
c, d = os.pipe()
thread = threading.Thread(target=pong, args=(4000,))
began = time.monotonic()
thread.start()
ping(4000)
ended = time.monotonic()
thread.join()
print(json.dumps([began, ended, threading.main_thread().native_id]))
"""


def test_many_short_waits_are_told_by_some(kaa, newest_python, tmp_path):
    """No more samples than asked for, and they stand for the time all the same."""
    data, script = tmp_path / "data", tmp_path / "ping.py"
    script.write_text(PING)
    done = record(kaa, data, "--", *newest_python.command, script)
    began, ended, tid = json.loads(done.stdout)
    found = samples_of(kaa, data)
    # Two threads, each a sample for each ms that it waited.
    assert len(waits(found)) < 2 * 999 * (ended - began) * 1.3 + 100
    own = [sample for sample in found if sample.tid == tid]
    seen, allowed = time_between(own, began, ended), 0.05 * (ended - began) + 0.05 + chance(own)
    assert abs(seen - (ended - began)) < allowed, (seen, ended - began, allowed)


IDLE = SPIN + """
import threading
def idle(): threading.Event().wait()
def work():
    while True: spin(0.001); time.sleep(0.005)
for target in (idle, idle, work):
    threading.Thread(target=target, daemon=True).start()
time.sleep(1000)
"""


@pytest.mark.few_versions
@pytest.mark.and_free_threaded
def test_a_running_process(kaa, python, tmp_path):
    """What nobody has woken by the end is read there, while it waits on: it waited for as long as was recorded."""
    data, script, kaa = tmp_path / "data", tmp_path / "idle.py", python.kaa(kaa)
    script.write_text(IDLE)
    with python.running(script) as (_, pid):
        until_busy(pid, 0.1)
        began = time.monotonic()
        done = record(kaa, data, "-p", pid, "--", *while_busy(pid, 0.2), status=None)
        took = time.monotonic() - began
        if "Linux 6.9" in done.stderr:
            pytest.skip("this kernel has no descriptors for threads, before Linux 6.9")
    assert not done.status, done
    samples = waits(samples_of(kaa, data))
    found = collections.Counter(name for sample in samples for name in functions(sample))
    assert found["work"] > 10 and found["idle"] == 2, done.stderr
    idle = [sample for sample in samples if "idle" in functions(sample)]
    assert all(0.2 < sample.period / 1e9 < took for sample in idle), (idle, took)
    whole = [sample for sample in samples if sample.python and sample.python[-1][0] == "<module>"]
    assert len(whole) == 1, whole
    # They are read one after the other, and kaa may lose the CPU meanwhile: they have waited since the same moment.
    begins = [sample.time - sample.period / 1e9 for sample in idle + whole]
    assert max(begins) - min(begins) < 0.001, begins
    for sample in idle:
        assert "wait" in functions(sample) and "__x64_sys_futex" in sample.symbols, sample
        # Code with frame pointers needs more registers than the kernel tells of a thread that is not stopped.
        assert set(sample.markers) <= {"[truncated stack]"}, sample
    text = kaa("report", "-i", data).stdout
    assert "have no samples" not in text and "So few samples" not in text


def kernel_is_before(*version):
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < version


def lines_of(sample):
    return [[function.rsplit(".", 1)[-1], line] for function, _, line in sample.python]


def waits_until_the_end(told, samples):
    """Each thread's long wait has the stack that Python had of it; and the samples of that which then waited elsewhere."""
    for name, (tid, stack) in told["threads"].items():
        long = [sample for sample in waits(samples) if sample.tid == tid and sample.period > 3e9 and not is_cpu_wait(sample)]
        assert [sample.markers for sample in long if lines_of(sample) == stack] == [[]], (name, stack, long)
    return [sample for sample in samples if sample.tid == told["threads"]["in_two"][0]]


@pytest.mark.few_versions
@pytest.mark.and_free_threaded
def test_waits_that_end_with_the_program(kaa, python, scripts, tmp_path, place):
    """By then Python has taken its frames away: they were read meanwhile. No wait has the frames of another one."""
    if kernel_is_before(6, 9):
        pytest.skip("this kernel has no descriptors for threads, before Linux 6.9")
    data, kaa = tmp_path / "data", python.kaa(kaa)
    told = json.loads(record(kaa, data, "--", python.path, scripts / "daemons.py", env=place, cwd=tmp_path).stdout)
    two = waits_until_the_end(told, samples_of(kaa, data))
    assert all(sample.time <= told["moved"] + 1e-5 for sample in two if "before" in functions(sample)), two


def test_waits_that_a_signal_ends(kaa, newest_python, scripts, tmp_path, place):
    """Python has not had a chance to take its frames away. Who is killed does not go back to user space."""
    data = tmp_path / "data"
    done = record(kaa, data, "--", *newest_python.command, scripts / "daemons.py", int(signal.SIGKILL), env=place, status=None)
    waits_until_the_end(json.loads(done.stdout), samples_of(kaa, data))


CHILD = "import subprocess, sys\ndef child():\n    subprocess.run(['sleep', '0.3'])\nchild()\n"


def test_a_child_is_waited_for(kaa, newest_python, tmp_path):
    data, script = tmp_path / "data", tmp_path / "child.py"
    script.write_text(CHILD)
    record(kaa, data, "--", *newest_python.command, script)
    text = kaa("report", "--total", "-i", data, env=WIDE).stdout
    assert re.search(r" wait4\(\) [1-9]| waitid\(\) [1-9]", text), text


def sleeps(seconds):
    """A program that says how long it slept: longer than asked for where other programs have the CPU."""
    return ("import time\n"
            "took = []\n"
            "def nap():\n    for _ in range(20):\n"
            "        begun = time.perf_counter()\n"
            f"        time.sleep({seconds})\n"
            "        took.append(time.perf_counter() - begun)\n"
            "begun = time.perf_counter()\nnap()\nprint(time.perf_counter() - begun, max(took))\n")


def test_a_vfork_has_its_caller(kaa, newest_python, tmp_path):
    """It waits for the new program, with its return address in a register. (posix_spawn() runs what has a whole path.)"""
    data = tmp_path / "perf.data"
    program = ("import subprocess, sys\nif not getattr(subprocess, '_USE_VFORK', False): sys.exit(7)\n"
               "for i in range(100): subprocess.run(['sleep', '0'])")
    done = record(kaa, data, "--", newest_python.path, "-c", program, status=None)
    if done.status == 7:
        pytest.skip(f"no vfork() in subprocess: {newest_python.id}")
    stacks = [sample for sample in samples_of(kaa, data) if any(re.fullmatch("_*vfork", symbol) for symbol in sample.symbols)]
    assert stacks and not [sample for sample in stacks if "[missing native frames]" in sample.symbols], stacks


def test_two_recordings_are_compared(kaa, newest_python, tmp_path):
    """A wait that was halved is no noise, and the other way of the time is named."""
    script, told, longest = tmp_path / "nap.py", {}, {}
    for name, seconds in (("a", 0.02), ("b", 0.01)):
        script.write_text(sleeps(seconds))
        told[name], longest[name] = map(float, record(kaa, tmp_path / name, "--", *newest_python.command, script).stdout.split())
    text = kaa("diff", tmp_path / "a", tmp_path / "b", env=WIDE).stdout
    assert "Compared is the waiting time of a run" in text
    change, word = re.search(r" ([+-][\d.]+) +\+-[\d.]+ +(\w+)\??  .* nap +\S*nap.py", text).groups()
    change = float(change) / (1000 if "own, ms" in text else 1)
    assert change == pytest.approx(told["b"] - told["a"], abs=0.03), (told, text)
    # One sleep that took as long as several is a reason to doubt it.
    assert word == "real" or change > -0.1 or max(longest.values()) > 0.04, text


def test_stock_perf_reads_it(kaa, perf, newest_python, scripts, tmp_path):
    data = tmp_path / "data"
    record(kaa, data, "--", newest_python.path, scripts / "waits.py", "6", cwd=tmp_path)
    ours = waits(samples_of(kaa, data))
    theirs = [sample for sample in script_output.parse(perf("script", "-i", data, "-F",
              "comm,tid,time,period,event,ip,sym,dso").stdout) if sample.event == "off-cpu"]
    assert len(theirs) == len(ours) > 20
    assert sum(sample.period for sample in theirs) == sum(sample.period for sample in ours)


# Two threads that sleep until a file is there, or twenty times, and say when, by the clock of the samples.
NAPS = """
import json, os, sys, threading, time
def goes_on(count):
    return not os.path.exists(sys.argv[1]) if sys.argv[1:] else count < 20
def nap():
    while goes_on(len(naps[threading.get_native_id()])):
        began = time.monotonic()
        time.sleep(0.05)
        naps[threading.get_native_id()].append((began, time.monotonic()))
def run():
    naps[threading.get_native_id()] = []
    nap()
naps = {}
thread = threading.Thread(target=run)
thread.start()
run()
thread.join()
print(json.dumps(naps))
"""


def test_whole_system(kaa, newest_python, tmp_path):
    """Waits of the Pythons that are there, and of those that come; of other programs none."""
    data, script, stop = tmp_path / "data", tmp_path / "naps.py", tmp_path / "stop"
    script.write_text(NAPS)
    words = [*newest_python.command, script]
    with started([*words, stop], stdout=subprocess.PIPE) as there, started(["sleep", str(HANG)]) as other:
        until(lambda: calls_of(there.pid).count("sleep") == 2, "that the program which is there naps")
        done = kaa.inside(noticed_in(data))("record", "-a", "-e", "off-cpu", "-k", "monotonic", "-o", data, "--", *words)
        stop.touch()
        told = {**json.loads(there.communicate()[0]), **json.loads(done.stdout)}
    samples = samples_of(kaa, data)
    # While both were there, and noticed.
    of_command = {int(tid) for tid in json.loads(done.stdout)}
    recorded = sum(json.loads(done.stdout).values(), [])
    first, last = min(began for began, _ in recorded), max(ended for _, ended in recorded)
    assert other.pid not in {sample.tid for sample in samples} and len(told) == 4
    for tid, naps in told.items():
        # What sleeps on when the recording ends may be gone before it is read. Between two naps it may wait, too.
        naps = [(began, ended) for began, ended in naps if first <= began and ended <= last]
        # One nap of what is there may be longer than all of these, where it has no CPU.
        if not naps:
            assert int(tid) not in of_command
            continue
        begin, end, took = naps[0][0], naps[-1][1], sum(ended - began for began, ended in naps)
        own = [sample for sample in samples if sample.tid == int(tid) and "nap" in functions(sample)]
        # Where the machine has too many waits some stand for others, by chance.
        longest = max(ended - began for began, ended in naps) + 0.001
        by_chance = deviations_of_sum([sample.period / 1e9 for sample in own if sample.period / 1e9 > longest])
        seen, allowed = time_between(own, begin, end), 0.02 * took + 0.02 + by_chance
        assert took - allowed < seen < end - begin + allowed, (tid, seen, took, end - begin, allowed, done.stderr)


@pytest.mark.parametrize("words, why", [
    (["--no-inherit", "true"], "leave out --no-inherit"),
    (["--call-graph", "fp", "true"], "leave out --call-graph"),
    (["--python", "trampoline", "true"], "takes --python=bpf"),
    (["--mode", "gil", "true"], "does not go with --mode"),
    (["-e", "off-cpu:u", "true"], "takes no modifiers"),
    (["-e", "{cpu-clock,off-cpu}", "true"], "is in no group"),
])
def test_what_it_does_not_go_with(kaa, tmp_path, words, why):
    done = kaa("record", "--off-cpu", "-o", tmp_path / "data", *words, status=129)
    assert "event 'off-cpu'" in done.stderr and why in done.stderr
    assert not os.listdir(tmp_path)
