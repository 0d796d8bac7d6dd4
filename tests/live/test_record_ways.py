# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record` in every odd situation: what is recorded, what becomes of the command, and what is left."""
import collections
import contextlib
import itertools
import json
import os
import pathlib
import pty
import pwd
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import pytest

from harness import pythons, script_output
from harness.bpf_stats import process_map
from harness.image import image_of
from harness.nobody import NOBODY, as_nobody
from harness.chance import most
from harness.noticed import SITE, noticed_in
from harness.process import HANG, TOP, run, started
from harness.user_box import public_copy
from harness.waiting import cpu_seconds, innermost_child, until, until_busy, until_recorded, while_busy

pytestmark = pytest.mark.usefixtures("bpf")

# spin() lasts that long in CPU time, however busy the machine is, so that samples can be counted. What a hypervisor takes
# away counts as CPU time, too, but has no samples: it is a long step between two looks, and is not counted.
SPIN = """
import time
def spin(seconds):
    left, before = seconds, time.thread_time()
    while left > 0:
        now = time.thread_time()
        left -= min(now - before, 0.001)
        before = now
def stay(done):
    while not done():
        pass
"""


def samples_of(kaa, path, *options):
    return script_output.parse(kaa("script", "--no-inline", "-i", path, *options).stdout)


def names_in(samples):
    """How many samples have each Python function."""
    return collections.Counter(name for sample in samples for name in {frame[0] for frame in sample.python})


# On a machine that loses ticks of the clock, gives kaa no CPU for long, or takes long to start and end programs: rightly.
BY_CHANCE = re.compile(r"CPU time have no samples: ticks of the clock were lost$|at most \d+ % of a buffer for samples ")


def remarks(result, may_be_late=False):
    """What kaa said, without what every recording here says, and without what one may say on any machine; may_be_late: and
    without that it noticed a Python late, as on a machine that others use it may, if the Python begins while kaa records."""
    return [line for line in result.stderr.splitlines()
            if not line.endswith("samples cpu-clock") and not line.startswith("kaa record: wrote ")
            and not BY_CHANCE.search(line)
            and not (may_be_late and " samples were taken before kaa had noticed " in line)]


def write(path, text):
    path.write_text(text)
    return path


@pytest.fixture
def public_folder(root):
    """A folder that every user may enter, with a copy of kaa that every user may run; its `work` is nobody's."""
    with tempfile.TemporaryDirectory(prefix="kaa-ways-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / "work").mkdir()
        os.chown(folder / "work", NOBODY, NOBODY)
        yield folder


@pytest.fixture
def public_kaa(kaa, public_folder):
    return public_copy(kaa, public_folder)


@pytest.fixture(scope="session")
def public_python():
    """An interpreter that every user may run."""
    return [python for python in pythons.find() if not python.prefix and python.path.startswith("/usr/")][-1]


# --- which samples ---

def test_delay(kaa, newest_python, tmp_path):
    """-D: nothing of before, and names for all of after, although the maps are older."""
    # early() ends half a second before the time for which nothing is recorded, which begins no sooner than the process.
    script = write(tmp_path / "late.py", SPIN + """
import os, sys
began = int(open("/proc/self/stat").read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
def early(): stay(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) > began + 0.5)
def late():
    stay(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) > began + 1)
    # A recorder that has no CPU then begins later.
    size = os.stat(sys.argv[1]).st_size
    stay(lambda: os.stat(sys.argv[1]).st_size > size)
    print(time.monotonic())
    spin(0.5)
    print(time.monotonic())
early()
late()
""")
    data = tmp_path / "perf.data"
    result = kaa("record", "-F", "999", "-D", "1000", "-k", "monotonic", "-o", data, *newest_python.command, script, data)
    samples = samples_of(kaa, data)
    # One that stood still in early() meanwhile may be hit where it leaves it.
    assert names_in(samples)["early"] <= 1
    begin, end = map(float, result.stdout.split())
    samples = [sample for sample in samples if begin < sample.time < end]
    names = names_in(samples)
    assert len(samples) > 20 and len(samples) - names["late"] <= most(0.02, len(samples)), (len(samples), names)
    # A stripped interpreter has functions without a name, but in a file.
    strange = [sample for sample in samples if any(frame.dso == "[unknown]" for frame in sample.frames[-3:])]
    assert len(strange) <= most(0.02, len(samples)), strange[:3]


@pytest.mark.parametrize("clock", ["monotonic", "realtime", "boottime", "CLOCK_MONOTONIC_RAW", "tai"])
def test_clocks(kaa, newest_python, tmp_path, clock):
    """-k: the times are those that the program reads."""
    name = "CLOCK_" + clock.upper().replace("CLOCK_", "")
    script = write(tmp_path / "clock.py", SPIN + f"""
print(time.clock_gettime(time.{name}))
spin(0.2)
print(time.clock_gettime(time.{name}))
""")
    data = tmp_path / "perf.data"
    result = kaa.inside(noticed_in(data))("record", "-F", "999", "-k", clock, "-o", data, *newest_python.command, script)
    begin, end = map(float, result.stdout.split())
    times = [sample.time for sample in samples_of(kaa, data) if any(name == "spin" for name, _, _ in sample.python)]
    assert len(times) > 5
    assert begin - 0.001 <= min(times) and max(times) <= end + 0.001


def test_period(kaa, newest_python, tmp_path):
    """-c N: a sample every N events.

    cpu-clock goes on through interrupts and while a virtual machine's host has the processor, which thread_time() leaves
    out: what bounds it is the wall clock."""
    script = write(tmp_path / "spin.py", SPIN + "begin = time.monotonic()\nspin(0.5)\nprint(time.monotonic() - begin)\n")
    data = tmp_path / "perf.data"
    result = kaa.inside(noticed_in(data))("record", "-e", "cpu-clock", "-c", "2000000", "-o", data, *newest_python.command, script)
    samples = samples_of(kaa, data)
    assert {sample.period for sample in samples} == {2000000}
    # Of 250 those are lost for which a virtual machine's host was late.
    assert 8 < names_in(samples)["spin"] <= float(result.stdout) / 0.002 + 2
    times = [sample.time for sample in samples if any(name == "spin" for name, _, _ in sample.python)]
    assert statistics.median(after - before for before, after in itertools.pairwise(times)) > 0.0019


def test_frequency_max(kaa, tmp_path):
    # At such a rate a program hardly gets on.
    data = tmp_path / "perf.data"
    rate = pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate")
    before = int(rate.read_text())
    kaa("record", "-F", "max", "-o", data, "true")
    # The kernel lowers it where interrupts take long.
    after = int(rate.read_text())
    header = kaa("report", "--header-only", "-i", data).stdout
    assert after <= int(re.search(r"sample_freq } = (\d+)\b", header)[1]) <= before, header


def test_several_events(kaa, newest_python, tmp_path):
    script = write(tmp_path / "pages.py", SPIN + "def fill(): return bytearray(40 << 20)\nfill()\nspin(0.3)\n")
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-e", "cpu-clock,page-faults:u", "-e", "context-switches", "-F", "999", "-o", data,
        *newest_python.command, script)
    by_event = collections.defaultdict(list)
    for sample in samples_of(kaa, data):
        by_event[sample.event].append(sample)
    assert names_in(by_event["cpu-clock"])["spin"] > 10
    assert {"cpu-clock", "page-faults:u"} <= set(by_event)


def test_no_inherit(kaa, newest_python, tmp_path):
    """The children are there by default, and not with --no-inherit."""
    script = write(tmp_path / "fork.py", SPIN + """
import os
def in_child(): spin(0.3)
def in_main(): spin(0.3)
pid = os.fork()
if not pid:
    in_child()
    os._exit(0)
in_main()
os.waitpid(pid, 0)
""")
    data = tmp_path / "perf.data"
    found = []
    for options in ([], ["--no-inherit"]):
        kaa.inside(noticed_in(data))("record", "-F", "999", *options, "-o", data, *newest_python.command, script)
        names = names_in(samples_of(kaa, data))
        assert names["in_main"] > 10
        found.append(names["in_child"])
    assert found[0] > 10 and found[1] == 0


def test_one_cpu(kaa, newest_python, tmp_path):
    """-C: only there, whatever runs."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU only")
    script = write(tmp_path / "cpus.py", SPIN + f"""
import os, sys
def here():
    os.sched_setaffinity(0, [{cpus[0]}]); noticed.until_noticed(sys.argv[1]); spin(0.3)
def there():
    os.sched_setaffinity(0, [{cpus[1]}]); spin(0.3)
sys.path.append({str(SITE)!r}); import noticed
here(); there()
""")
    data = tmp_path / "perf.data"
    kaa("record", "-F", "999", "-C", str(cpus[0]), "-o", data, *newest_python.command, script, data)
    text = kaa("script", "-i", data).stdout
    assert set(re.findall(r"^\S.*? \[(\d+)\] ", text, re.M)) == {f"{cpus[0]:03}"}
    names = names_in(script_output.parse(text))
    # The call that goes to the other CPU may still be sampled here.
    assert names["here"] > 10 and names["there"] <= 2, names


def test_whole_system(kaa, newest_python, tmp_path):
    """-a: a Python that runs beside is named; the command only ends the recording."""
    script = write(tmp_path / "beside.py", SPIN + "def beside(): spin(600)\nbeside()\n")
    data = tmp_path / "perf.data"
    with started([*newest_python.command, script]) as other:
        until_busy(other.pid, 0.5)
        kaa("record", "-F", "499", "-a", "-o", data, "--", *while_busy(other.pid, 0.5))
        assert other.poll() is None
    samples = [sample for sample in samples_of(kaa, data) if sample.tid == other.pid]
    assert len(samples) > 10
    assert len(samples) - names_in(samples)["beside"] <= most(0.02, len(samples))


def test_beside_another_recorder_of_the_same_event(kaa, tmp_path):
    """The kernel gives samples of the one the ids of the other. kaa goes on, and says so."""
    faults = "import mmap, time\nwhile True: mmap.mmap(-1, 4096)[0] = 1; time.sleep(0.001)"
    data = tmp_path / "perf.data"
    with started(["/usr/bin/python3", "-c", faults]) as target, open(tmp_path / "said", "w+") as messages:
        words = ["-e", "page-faults,context-switches", "-c", "1", "-p", str(target.pid)]
        with kaa.start("record", *words, "-o", data, "sleep", "1000", stderr=messages) as recorder:
            until(lambda: data.exists() and data.stat().st_size > 1 << 16, "samples")
            kaa("record", "-q", *words, "-o", tmp_path / "other.data", *while_busy(target.pid, 0.1))
            size = data.stat().st_size
            until(lambda: recorder.poll() is not None or data.stat().st_size > size + (1 << 16), "samples of later")
            recorder.send_signal(signal.SIGINT)
            status = recorder.wait(timeout=HANG)
        messages.seek(0)
        said = messages.read()
    assert status in (0, -signal.SIGINT), said
    assert "another program records the same events" in said and " 0 lost" not in said, said
    times = [sample.time for sample in samples_of(kaa, data) if sample.tid == target.pid]
    assert max(times) - min(times) > 0.2


def test_processes_that_start_with_the_recording(kaa, newest_python, tmp_path):
    """A Python that started while kaa looked at the others is one like them."""
    go, data = tmp_path / "go", tmp_path / "perf.data"
    child = write(tmp_path / "child.py", f"""
import os, time
# As long as the recorder needs to notice one that it has missed: on a busy machine it waits for a CPU, too.
def of_a_child():
    end, rounds, size = time.process_time() + 0.06, 0, 0
    while time.process_time() < end or rounds < 4:
        if size != os.stat({str(data)!r}).st_size:
            rounds, size = rounds + 1, os.stat({str(data)!r}).st_size
while not os.path.exists({str(go)!r}):
    time.sleep(0.05)
of_a_child()
""")
    # Many threads, so that looking at all processes takes its time.
    parent = write(tmp_path / "parent.py", f"""
import os, subprocess, sys, threading, time
ended = threading.Event()
threading.stack_size(65536)
threads = [threading.Thread(target=ended.wait) for _ in range(2000)]
for thread in threads: thread.start()
print("ready", flush=True)
children = []
# More and more rarely: on a busy machine it takes long until kaa is ready, and hundreds would make it busier. On one that is
# calm it may be ready before there are some.
while not os.path.exists({str(go)!r}) or len(children) < 6:
    children.append(subprocess.Popen([sys.executable, "-I", "-S", {str(child)!r}]))
    time.sleep(0.01 * 1.05 ** len(children))
print(*[process.pid for process in children], flush=True)
for process in children: process.wait()
print("done", flush=True)
ended.set()
""")
    with started([*newest_python.command, parent], stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        with kaa.start("record", "-a", "-F", "999", "-o", data, "--", "sh", "-c", f"touch {go}; exec sleep 1000") as recorder:
            children = {int(word) for word in target.stdout.readline().split()}
            assert target.stdout.readline() == b"done\n"
            recorder.send_signal(signal.SIGINT)
            recorder.wait(timeout=HANG)
    samples = [sample for sample in samples_of(kaa, data) if sample.tid in children]
    counts = collections.Counter(sample.tid for sample in samples)
    named = {sample.tid for sample in samples if any(name == "of_a_child" for name, _, _ in sample.python)}
    unnamed = {tid: count for tid, count in counts.items() if count >= 20 and tid not in named}
    assert len(named) > 3 and not unnamed, (len(children), len(named), unnamed)


def test_one_thread(kaa, newest_python, tmp_path):
    """-t: that thread alone."""
    script = write(tmp_path / "threads.py", SPIN + """
import sys, threading
def one(): print(threading.get_native_id(), flush=True); spin(600)
def other(): spin(600)
threading.Thread(target=one).start()
other()
""")
    data = tmp_path / "perf.data"
    with started([*newest_python.command, script], stdout=subprocess.PIPE) as target:
        tid = int(target.stdout.readline())
        kaa("record", "-F", "999", "-t", str(tid), "-o", data, "--", *while_busy(target.pid, 0.6))
        assert target.poll() is None
    samples = samples_of(kaa, data)
    assert {sample.tid for sample in samples} == {tid}
    names = names_in(samples)
    assert names["one"] > 8 and names["other"] == 0


@pytest.mark.parametrize("words, seconds, delay", [
    (["-p", "PID"], "2", 0), (["-t", "PID"], "1.5", 0), (["-a"], "1.25", 0), (["-p", "PID", "-D", "700"], "1", 0.7)])
def test_duration(kaa, newest_python, tmp_path, words, seconds, delay):
    """--duration: no shorter, and over long before the program is."""
    script, data = write(tmp_path / "spin.py", SPIN + "spin(600)\n"), tmp_path / "perf.data"
    with started([*newest_python.command, script]) as target:
        until_busy(target.pid, 0.3)
        words = [str(target.pid) if word == "PID" else word for word in words]
        began, busy = time.monotonic(), cpu_seconds(target.pid)
        result = kaa("record", "-F", "199", "-k", "monotonic", "-o", data, *words, "--duration", seconds)
        ended, busy = time.monotonic(), cpu_seconds(target.pid) - busy
        assert target.poll() is None
    assert f"wrote '{data}': " in result.stderr
    times = [sample.time for sample in samples_of(kaa, data) if sample.tid == target.pid]
    assert ended - began >= float(seconds) + delay
    assert all(began + delay <= moment <= ended for moment in times)
    # Either may stand still for a while, and the program may have run before and after it alone.
    span = max(times) - min(times) if times else 0
    assert span < float(seconds) + 60 and (span > 0.02 * float(seconds) or busy < 0.7 * (ended - began)), (times, busy)


def test_duration_cut_short(kaa, newest_python, tmp_path):
    """Ctrl-C ends it as ever."""
    script, data = write(tmp_path / "spin.py", SPIN + "spin(600)\n"), tmp_path / "perf.data"
    with started([*newest_python.command, script]) as target, \
            kaa.start("record", "-F", "199", "-p", str(target.pid), "--duration", "500", "-o", data,
                      stderr=subprocess.PIPE) as recorder:
        until(lambda: data.exists() and data.stat().st_size, "that the recording has begun")
        until(lambda: script_output.parse(kaa("script", "-i", data, status=None).stdout), "a sample")
        until_busy(target.pid, 0.5)
        recorder.send_signal(signal.SIGINT)
        assert recorder.wait(timeout=HANG) == 0
        assert f"wrote '{data}': " in recorder.stderr.read().decode()
    assert names_in(samples_of(kaa, data))["spin"] > 5


def test_one_of_two_targets_ends(kaa, newest_python, tmp_path):
    """-p A,B: the recording goes on until the last of them has ended, and then ends by itself."""
    script = write(tmp_path / "two.py", SPIN + "import os, sys\ndef busy(): stay(lambda: os.path.exists(sys.argv[1]))\nbusy()\n")
    data, ends = tmp_path / "perf.data", [tmp_path / "short", tmp_path / "long"]

    def are_recorded(*processes):
        text = kaa("script", "-i", data, status=None).stdout
        return {sample.tid for sample in script_output.parse(text)} >= {process.pid for process in processes}

    with contextlib.ExitStack() as stack:
        short, long = [stack.enter_context(started([*newest_python.command, script, end])) for end in ends]
        until_busy(short.pid, 0.3)
        recorder = stack.enter_context(kaa.start("record", "-F", "499", "-p", f"{short.pid},{long.pid}", "-o", data))
        until(lambda: are_recorded(short, long), "samples of both")
        ends[0].touch()
        assert short.wait(timeout=HANG) == 0
        until_busy(long.pid, 0.5)
        assert recorder.poll() is None
        ends[1].touch()
        assert long.wait(timeout=HANG) == 0 and recorder.wait(timeout=HANG) == 0
    by_tid = collections.defaultdict(list)
    for sample in samples_of(kaa, data):
        by_tid[sample.tid].append(sample)
    assert set(by_tid) == {short.pid, long.pid}
    after = [sample for sample in by_tid[long.pid] if sample.time > by_tid[short.pid][-1].time]
    assert names_in(after)["busy"] > 8


# --- what becomes of the command ---

IN_A_CHROOT = 'mount --make-rprivate / && mount --rbind / "$1" && exec chroot "$@"'


def test_attached_to_a_chroot_elsewhere(kaa, newest_python, root, tmp_path):
    """The kernel shows a chroot in another mount namespace as part of each path; its files are named as it sees them."""
    data, jail = tmp_path / "perf.data", tmp_path / "jail"
    jail.mkdir()
    script = write(tmp_path / "program.py", f"{SPIN}def work(): spin(600)\nprint('ready', flush=True)\nwork()\n")
    with started(["unshare", "--mount", "sh", "-c", IN_A_CHROOT, "sh", jail, *newest_python.command, script],
                 stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        assert os.readlink(f"/proc/{target.pid}/root") == str(jail)
        kaa("record", "-F", "999", "-o", data, "-p", str(target.pid), "--", *while_busy(target.pid, 0.5))
        samples = samples_of(kaa, data)
    assert len(samples) > 20
    assert len(samples) - names_in(samples)["work"] <= most(0.02, len(samples))
    assert not [frame for sample in samples for frame in sample.frames if str(jail) in frame.dso]


def build_id_of(path):
    found = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", path]).stdout)
    return found and found[1]


def test_attached_maps_have_build_ids(kaa, perf_system, newest_python, tmp_path):
    """A path names another file in another container, or after an upgrade; the build-id does not."""
    data = tmp_path / "perf.data"
    script = write(tmp_path / "program.py", f"{SPIN}import ssl\nprint('ready', flush=True)\nspin(600)\n")
    with started([*newest_python.command, script], stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        # The image is there once a sample needs it.
        kaa("record", "-F", "999", "-o", data, "-p", str(target.pid), "--", *while_busy(target.pid, 0.2))
        maps = pathlib.Path(f"/proc/{target.pid}/maps").read_text()
    mapped = {words[5] for words in map(str.split, maps.splitlines()) if len(words) == 6 and "x" in words[1] and words[5][0] == "/"}
    shown = perf_system("script", "--show-mmap-events", "-i", data).stdout
    said = dict(reversed(pair) for pair in re.findall(r"PERF_RECORD_MMAP2 .*<([0-9a-f]+)>\]: r-xp (/.*)", shown))
    expected = {path: build_id_of(path) for path in mapped}
    said.pop(str(image_of(data)))
    assert len(expected) > 4 and said == {path: build_id for path, build_id in expected.items() if build_id}


def test_attached_to_a_python_that_was_replaced(kaa, newest_python, tmp_path):
    """After an upgrade the path leads to another file, or to none; the process still runs the old one."""
    program = pathlib.Path(newest_python.path).resolve()
    prefix = program.parents[1]
    copies = [pathlib.Path(shutil.copy(program, tmp_path))]
    if newest_python.shared:
        copies += [pathlib.Path(shutil.copy(path, tmp_path)) for path in prefix.glob("lib/libpython3.*.so.1.0")]
    script = write(tmp_path / "program.py", f"{SPIN}def work(): spin(600)\nprint('ready', flush=True)\nwork()\n")
    env = {**os.environ, "PYTHONHOME": str(prefix), "LD_LIBRARY_PATH": str(tmp_path)}
    with started([copies[0], script], stdout=subprocess.PIPE, env=env) as target:
        assert target.stdout.readline() == b"ready\n"
        for path, way in ((copies[-1], "other"), (copies[-1], "none")):
            path.unlink()
            if way == "other":
                shutil.copy("/bin/true", path)
            assert f"{path} (deleted)\n" in pathlib.Path(f"/proc/{target.pid}/maps").read_text()
            data = tmp_path / way
            kaa("record", "-F", "999", "-o", data, "-p", str(target.pid), "--", *while_busy(target.pid, 0.5))
            samples = samples_of(kaa, data)
            assert len(samples) > 20
            assert len(samples) - names_in(samples)["work"] <= most(0.02, len(samples))


@pytest.mark.parametrize("end, status", [("os._exit(6)", 6), ("sys.exit(9)", 9), ("raise ValueError", 1),
                                         ("ctypes.string_at(0)", 128 + signal.SIGSEGV)])
def test_ends_of_programs(kaa, newest_python, tmp_path, end, status):
    """Whatever way a program ends, its status is kaa's and its samples are there."""
    script = write(tmp_path / "end.py", SPIN + f"import ctypes, os, sys\nspin(0.2)\n{end}\n")
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-F", "999", "-o", data, *newest_python.command, script, status=status)
    assert names_in(samples_of(kaa, data))["spin"] > 5


CLEANER = SPIN + """
import pathlib, sys
print("ready", flush=True)
try:
    spin(600)
except KeyboardInterrupt:
    time.sleep(0.3)
    pathlib.Path(sys.argv[1]).write_text("cleaned")
    sys.exit(7)
"""


def with_ctrl_c(*words, busy=0):
    """Exit code of a command on a terminal, and what it wrote there. It gets Ctrl-C when "ready" stands there, and the
    innermost of its children has run for so many seconds."""
    pid, terminal = pty.fork()
    if not pid:
        # A shell leaves it ignored in what it starts in the background, as these tests may have been.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(words[0], [str(word) for word in words])
    seen = b""
    try:
        while b"ready" not in seen:
            seen += os.read(terminal, 4096)
        if busy:
            until_busy(innermost_child(pid), busy)
        os.write(terminal, b"\x03")
        with contextlib.suppress(OSError):
            while chunk := os.read(terminal, 4096):
                seen += chunk
    finally:
        status = os.waitpid(pid, 0)[1]
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen


def test_ctrl_c_ends_a_loop_of_the_shell(kaa, newest_python, tmp_path):
    """As it does where the loop runs the program itself: kaa dies of the signal that the program died of."""
    script = write(tmp_path / "spin.py", SPIN + "print('ready', flush=True)\nspin(600)\n")
    command = shlex.join(map(str, [*kaa.command, "record", "-q", "-F", "999", "-o", tmp_path / "perf.data",
                                   *newest_python.command, script]))
    code, seen = with_ctrl_c("/bin/bash", "-c", f"for i in 1 2; do echo round $i; {command}; done; echo behind")
    assert code == -signal.SIGINT, seen
    assert b"round 1" in seen and b"round 2" not in seen and b"behind" not in seen, seen


def test_ctrl_c_on_a_terminal(kaa, newest_python, tmp_path):
    """The recording ends, the file is whole, and the program, which got the signal once, ends in its own time."""
    script = write(tmp_path / "cleaner.py", CLEANER)
    mark, data = tmp_path / "mark", tmp_path / "perf.data"
    code, seen = with_ctrl_c("/usr/bin/env", *noticed_in(data)[1:], *kaa.command, "record", "-F", "999", "-o", data, "--",
                             *newest_python.command, script, mark, busy=0.3)
    assert code == 7, seen
    assert mark.read_text() == "cleaned"
    assert b"wrote" in seen and b"Traceback" not in seen
    assert names_in(samples_of(kaa, data))["spin"] > 5


def test_term_is_passed_on(kaa, newest_python, tmp_path):
    script = write(tmp_path / "spin.py", SPIN + "print('ready', flush=True)\nspin(600)\n")
    data = tmp_path / "perf.data"
    with kaa.inside(noticed_in(data)).start("record", "-F", "999", "-o", data, *newest_python.command, script,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        until_busy(innermost_child(process.pid), 0.3)
        process.terminate()
        assert process.wait(HANG) == 128 + signal.SIGTERM
        assert b"wrote" in process.stderr.read()
    assert names_in(samples_of(kaa, data))["spin"] > 5


def test_a_second_signal_is_passed_on_too(kaa, newest_python, tmp_path):
    """Also when the recording is over and kaa only waits."""
    script = write(tmp_path / "stubborn.py", """
import signal, sys, time
got = []
def take(number, frame):
    got.append(number)
    print("got", number, flush=True)
    if len(got) == 2:
        sys.exit(11)
signal.signal(signal.SIGTERM, take)
print("ready", flush=True)
while True:
    time.sleep(0.01)
""")
    data = tmp_path / "perf.data"
    with kaa.start("record", "-F", "999", "-q", "-o", data, *newest_python.command, script,
                   stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.terminate()
        assert process.stdout.readline() == b"got 15\n"
        time.sleep(0.3)
        assert process.poll() is None
        process.terminate()
        assert process.wait(HANG) == 11
    kaa("report", "--stdio", "-i", data)


def test_nohup(kaa, newest_python, tmp_path):
    """A hangup that is ignored does not end the recording either."""
    script = write(tmp_path / "spin.py", SPIN + "print('ready', flush=True)\nspin(1)\nprint('done')\n")
    data = tmp_path / "perf.data"
    with started([*noticed_in(data), "nohup", *kaa.command, "record", "-F", "999", "-o", data, *newest_python.command, script],
                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == b"done\n"
        assert process.wait(HANG) == 0
    assert names_in(samples_of(kaa, data))["spin"] > 20


def test_killed_recorder(kaa, newest_python, tmp_path, root):
    """kill -9: the program runs on; the file opens and names its frames, with /tmp empty and the program gone."""
    killed, mark = tmp_path / "killed", tmp_path / "mark"
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="kaa-ways-") as name:
        data = pathlib.Path(name) / "perf.data"
        script = write(pathlib.Path(name) / "victim.py",
                       SPIN + "import os\ndef victim():\n    spin(0.5)\n"
                       f"    while not os.path.exists({str(killed)!r}): spin(0.05)\n"
                       f"print('ready', flush=True)\nvictim()\nopen({str(mark)!r}, 'w')\n")
        with kaa.inside(noticed_in(data)).start("record", "-F", "999", "-g", "-o", data, *newest_python.command, script,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            process.stdout.readline()
            until_recorded(process, data, 0.5)
            process.kill()
            process.wait()
            assert not mark.exists()
            killed.touch()
            until(mark.exists, "the program's end")
        script.unlink()
        assert not image_of(data).exists()
        result = run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh", *installed(kaa, name),
                      "script", "-F", "+srcline", "-i", data])
        samples = script_output.parse(result.stdout)
        lines = {line for sample in samples for function, _, line in sample.python if function == "spin"}
        assert names_in(samples)["victim"] > 10 and lines and lines <= set(range(3, 9))
        assert kaa("report", "--stdio", "--native", "-i", data).stdout.count("py::victim")


def installed(kaa, folder):
    """kaa's words, from a place outside /tmp."""
    copy = pathlib.Path(folder) / "kaa"
    shutil.copy(kaa.command[-1], copy)
    return [*kaa.command[:-1], copy]


def test_killed_recorder_in_stock_perf(kaa, newest_python, perf, tmp_path):
    script = write(tmp_path / "victim.py", SPIN + "print('ready', flush=True)\nspin(600)\n")
    data = tmp_path / "perf.data"
    with kaa.inside(noticed_in(data)).start("record", "-F", "999", "-g", "-o", data, *newest_python.command, script,
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        until_recorded(process, data, 0.5)
        process.kill()
        process.wait()
    fields = "comm,tid,time,period,event,ip,sym,symoff,dso"
    theirs = script_output.parse(perf("script", "-F", fields, "-i", data).stdout)
    ours = samples_of(kaa, data)
    assert len(ours) > 10
    assert [(s.tid, s.time) for s in theirs if s.event != "kaa"] == [(s.tid, s.time) for s in ours]


def test_killed_packing_recorder(kaa, newest_python, tmp_path):
    """What is packed can be unpacked up to where it ends."""
    script = write(tmp_path / "victim.py", SPIN + "print('ready', flush=True)\nspin(600)\n")
    data = tmp_path / "perf.data"
    with kaa.inside(noticed_in(data)).start("record", "-z", "-F", "4999", "-g", "-o", data, *newest_python.command, script,
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        until_recorded(process, data, 1)
        process.kill()
        process.wait()
    samples = samples_of(kaa, data)
    assert names_in(samples)["spin"] > 50
    assert [sample.time for sample in samples] == sorted(sample.time for sample in samples)


DEEP = 400


@pytest.fixture(scope="module")
def packed(kaa, newest_python, tmp_path_factory):
    """A packed recording, DEEP calls deep."""
    folder = tmp_path_factory.mktemp("packed")
    script = write(folder / "deep.py", SPIN + f"""
def down(n):
    if n:
        down(n - 1)
    else:
        spin(0.4)
down({DEEP})
""")
    data = folder / "packed.data"
    kaa.inside(noticed_in(data))("record", "-z", "-F", "999", "-g", "-o", data, *newest_python.command, script)
    return data


def test_packed_is_unpacked(kaa, packed, tmp_path):
    plain = tmp_path / "plain.data"
    kaa("inject", "-i", packed, "-o", plain)
    assert packed.stat().st_size < plain.stat().st_size / 4
    ours = samples_of(kaa, packed)
    assert list(map(repr, ours)) == list(map(repr, samples_of(kaa, plain)))
    assert max(sum(name == "down" for name, _, _ in sample.python) for sample in ours) == DEEP + 1


def test_packed_as_perf_packs(kaa, perf, packed):
    """Stock perf shows the same samples of a packed file."""
    text = perf("script", "-F", "comm,tid,time,period,event,ip,sym,symoff,dso", "-i", packed).stdout
    theirs = [(sample.tid, sample.time) for sample in script_output.parse(text) if sample.event != "kaa"]
    assert theirs == [(sample.tid, sample.time) for sample in samples_of(kaa, packed)]
    assert "compressed : Zstd, level = 1" in perf("report", "--header-only", "-i", packed).stdout


@pytest.mark.parametrize("level", ["-z22", "--compression-level=5"])
def test_how_well_it_is_packed(kaa, newest_python, tmp_path, level):
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", level, "-F", "999", "-o", data, *newest_python.command, "-c", SPIN + "spin(0.3)")
    assert names_in(samples_of(kaa, data))["spin"] > 10


def test_killed_while_nothing_has_happened(kaa, tmp_path):
    """A file of a recorder that was killed before the first sample is a file too."""
    data = tmp_path / "perf.data"
    with kaa.start("record", "-q", "-D", "1000000", "-o", data, "sleep", "1000") as process:
        until(lambda: data.exists() and data.stat().st_size > 1000, "the file's beginning")
        time.sleep(0.3)
        process.kill()
        process.wait()
    kaa("report", "--stdio", "-i", data)
    assert samples_of(kaa, data) == []


# It is known to be a Python before it takes room, and works for four seconds, and on as long as the file grows: where ticks of
# the clock are lost that is slow.
FILLS = SPIN + f"""
import os, sys
sys.path.append({str(SITE)!r})
import noticed
noticed.until_looked()
print("begin", flush=True)
spin(4)
size = 0
while size != os.stat(sys.argv[1]).st_size:
    size = os.stat(sys.argv[1]).st_size
    spin(1)
print("end")
"""


def test_full_disk(kaa, newest_python, tmp_path, root):
    """What fitted is kept and opens, why it ended is said, and the command runs on to its end."""
    script = write(tmp_path / "full.py", FILLS)
    disk = tmp_path / "disk"
    disk.mkdir()
    result = run(["unshare", "-m", "sh", "-c", """
        mount -t tmpfs -o size=400k none "$1" || exit 99
        kaa=$2; data=$1/perf.data; shift 2
        "$kaa" record -F 4999 -o "$data" "$@" "$data"; echo "status $?"
        "$kaa" script -i "$data"
        """, "sh", disk, kaa.command[-1], *newest_python.command, script])
    program, status, text = re.fullmatch(r"(begin\nend\n)status (\d+)\n(.*)", result.stdout, re.S).groups()
    assert status == "1"
    assert result.stderr.count("No space left on device") == 1
    assert "the file keeps what was recorded before" in result.stderr
    samples = script_output.parse(text)
    assert len(samples) > 100 and names_in(samples)["spin"] > 20


def test_a_file_may_not_be_longer(kaa, tmp_path):
    """As with a full disk; the signal, which would end kaa, is none."""
    script, data = write(tmp_path / "full.py", FILLS), tmp_path / "perf.data"
    # In blocks of 512 or 1024 bytes. The beginning of the program has a hundred thousand.
    result = run(["sh", "-c", 'ulimit -f 800; exec "$@"', "sh", kaa.command[-1], "record", "-F", "4999", "-o", data,
                  sys.executable, script, data], status=1)
    assert result.stdout == "begin\nend\n" and result.stderr.count("File too large") == 1, result
    assert "the file keeps what was recorded before" in result.stderr
    # What is said to be in the file is in it.
    written, taken = re.search(r": wrote '.*, (\d+) samples, the last of (\d+) are missing, ", result.stderr).groups()
    samples = samples_of(kaa, data)
    assert int(written) == len(samples) < int(taken), result.stderr
    assert names_in(samples)["spin"] > 20
    for command in "report", "script", "annotate":
        assert "the end of the recording is missing" in kaa(command, "-i", data).stderr, command


def test_nobody_reads_what_kaa_says(kaa, tmp_path):
    """The reader of standard error has gone: the recording is whole all the same."""
    script, data = write(tmp_path / "short.py", SPIN + "spin(0.5)\nprint('end', flush=True)\n"), tmp_path / "perf.data"
    result = run([*noticed_in(data), "bash", "-c", '{ "$@"; echo "status $?"; } 2> >(true)', "bash", kaa.command[-1], "record",
                  "-F", "999", "-o", data, "sh", "-c", f"sleep 0.5; exec {sys.executable} {script}"])
    assert result.stdout == "end\nstatus 0\n", result
    assert names_in(samples_of(kaa, data))["spin"] > 20


def test_what_is_incomplete_is_said_once(kaa, tmp_path):
    """Much of the time of a program that starts others all the time is of processes that begin and end."""
    said = kaa("record", "-F", "999", "-o", tmp_path / "perf.data", "sh", "-c",
               "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done").stderr
    lines = [line for line in said.splitlines() if "nothing of the program's own code" in line]
    assert len(lines) <= 1 and all(line.startswith("kaa record: wrote ") for line in lines), said
    for n, percent, why in re.findall(r"(\d+) (?:incomplete, all )?with nothing of the program's own code \(([\d.]+) %(:?)", said):
        # Not where rounding decides.
        assert (float(percent) >= 1) == bool(why) or abs(float(percent) - 1) < 0.1, said


# --- what programs do ---

def no_python(program):
    return f"kaa record: '{program}' is no Python program, and started none: the recording has native and kernel functions only"


@pytest.mark.parametrize("flags", [[], ["-static"], ["-s"], ["-static-pie", "-s"]])
def test_programs_that_are_no_python(kaa, tmp_path, flags):
    """Recorded natively, which is said."""
    source = write(tmp_path / "native.c", """
        static volatile unsigned long n;
        __attribute__((noinline)) void inner(void) { for (int i = 0; i < 100000; i++) n += i; n++; }
        __attribute__((noinline)) void outer(void) { for (int i = 0; i < 8000; i++) inner(); n++; }
        int main(void) { outer(); return 5; }
        """)
    program, data = tmp_path / "native", tmp_path / "perf.data"
    run(["gcc", "-O1", "-g", *flags, "-o", program, source])
    result = kaa("record", "-F", "999", "-o", data, program, status=5)
    assert remarks(result) == [no_python("native"), "kaa record: the command failed with exit code 5"]
    samples = [sample for sample in samples_of(kaa, data) if sample.comm == "native"]
    assert len(samples) > 5
    assert not any(sample.python for sample in samples)
    if "-s" not in flags:
        # Any of them may have been hit in the kernel, which interrupts it and switches tasks.
        whole = [sample for sample in samples if sample.user_symbols[:3] == ["inner", "outer", "main"]
                 and sample.symbols[-1] == "_start"]
        assert len(samples) - len(whole) <= most(0.05, len(samples)), [sample for sample in samples if sample not in whole][:3]


def test_program_of_32_bits(kaa, tmp_path):
    """Recorded and marked: its stacks are not unwound."""
    source = write(tmp_path / "short.s", """
        .globl _start
_start: call outer
        movl $1, %eax
        movl $5, %ebx
        int $0x80
outer:  movl $1000000000, %ecx
1:      decl %ecx
        jnz 1b
        ret
        """)
    run(["as", "--32", "-o", tmp_path / "short.o", source])
    run(["ld", "-m", "elf_i386", "-o", tmp_path / "short", tmp_path / "short.o"])
    data = tmp_path / "perf.data"
    result = kaa("record", "-F", "999", "-o", data, tmp_path / "short", status=5)
    assert remarks(result) == [no_python("short"), "kaa record: the command failed with exit code 5"]
    samples = [sample for sample in samples_of(kaa, data) if sample.comm == "short" and "outer" in sample.symbols]
    assert len(samples) > 5
    assert all("[truncated stack]" in sample.symbols for sample in samples)


def test_python_that_was_not_noticed_in_time(kaa, newest_python, tmp_path):
    """A program that ran while the recorder did not: its Python frames are missing, which is marked, counted and said."""
    script = write(tmp_path / "unseen.py", SPIN + "def unseen(): spin(0.5)\nunseen()\n")
    shell = f"echo ready; read go; {shlex.join(newest_python.command)} {script}; echo done; read go"
    data = tmp_path / "perf.data"
    with kaa.start("record", "-F", "299", "-o", data, "sh", "-c", shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                   stderr=subprocess.PIPE) as recorder:
        assert recorder.stdout.readline() == b"ready\n"
        recorder.send_signal(signal.SIGSTOP)
        try:
            recorder.stdin.write(b"\n")
            recorder.stdin.flush()
            assert recorder.stdout.readline() == b"done\n"
        finally:
            recorder.send_signal(signal.SIGCONT)
        _, errors = recorder.communicate(b"\n", timeout=HANG)
    samples = samples_of(kaa, data)
    marked = [sample for sample in samples if sample.markers == ["[unreadable Python frames]"]]
    assert len(marked) > 5 and not any(sample.python for sample in samples), (len(marked), len(samples))
    share = 100 * len(marked) / len(samples)
    shown = re.search(rf", {len(marked)} (?:incomplete, all )?with unreadable Python frames \((>?)(\d+) %\)", errors.decode())
    assert shown and (share > 99 if shown[1] else abs(int(shown[2]) - share) <= 0.5), errors
    # No advice: a higher priority is the command's, too, and then changes nothing.
    assert f": {len(marked)} samples were taken before kaa had noticed that their processes run Python, so they have no " \
           "Python frames\n" in errors.decode()


def test_a_recording_that_goes_on(kaa, tmp_path):
    """What is there can be read while kaa records, or after it was killed, and is not said to be all."""
    script, data = write(tmp_path / "spin.py", SPIN + "for _ in range(300): spin(1)\n"), tmp_path / "perf.data"
    report = lambda status=0: kaa("report", "-i", data, status=status)
    said = "the recorder still runs, or could not end the file: the end of the recording is missing"
    is_part = lambda result: "cut off: the end is missing" in " ".join(result.stdout.split()) and said in result.stderr
    with started([sys.executable, script]) as target:
        for end in signal.SIGKILL, signal.SIGINT:
            data.unlink(missing_ok=True)
            with kaa.start("record", "-F", "499", "-o", data, "-p", str(target.pid), stderr=subprocess.PIPE) as recorder:
                until(lambda: data.exists() and is_part(report(status=None)), "that the recording has samples")
                recorder.send_signal(end)
                recorder.communicate(timeout=HANG)
            result = report()
            assert is_part(result) == (end == signal.SIGKILL), result.stdout + result.stderr
            assert (said in result.stderr) == (end == signal.SIGKILL), result.stderr


def test_loss_is_counted_and_no_damage(kaa, newest_python, tmp_path):
    """What the walker could not write while the recorder stood still is lost, and readers know whose loss it is."""
    data, seconds = tmp_path / "perf.data", tmp_path / "seconds"
    # A second of which it saw all: what a hypervisor takes away has no samples to be lost.
    script = write(tmp_path / "spin.py", SPIN + f"print('ready', flush=True)\nwhile True:\n    spin(1)\n"
                                                f"    open({str(seconds)!r}, 'a').write('.')\n")
    seen = lambda: seconds.stat().st_size if seconds.exists() else 0
    # On one CPU, whose ring alone is filled.
    alone = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    with started([*alone, *newest_python.command, script], stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        with kaa.start("record", "-F", "1999", "-g", "-o", data, "-p", str(target.pid), "--", "sleep", HANG,
                       stderr=subprocess.PIPE) as recorder:
            # More than what is known before the first sample.
            until(lambda: data.exists() and data.stat().st_size > 200000, "that the recorder has samples")
            recorder.send_signal(signal.SIGSTOP)
            try:
                # The ring lasts for a little more than one, and longer where ticks are lost.
                end = seen() + 6
                until(lambda: seen() >= end, "that the program has run")
            finally:
                recorder.send_signal(signal.SIGCONT)
            until_busy(target.pid, 0.3)
            recorder.send_signal(signal.SIGINT)
            _, errors = recorder.communicate(timeout=HANG)
    lost = int(re.search(r", (\d+) lost,", errors.decode())[1])
    events = kaa("report", "--stats", "-i", data).stdout
    assert lost > 100 and re.search(r"LOST events: +[1-9]", events), (lost, events)
    # The first screen, in two places and no third one, and what perf, too, says.
    screen = " ".join(kaa("report", "-i", data).stdout.split())
    assert f" samples, {lost:,} lost" in screen and " records were lost" not in screen, screen
    assert re.search(rf"{lost} of \d+ samples \(\S+%\) were lost: the recorder could not keep up", screen), screen
    assert f"# Total Lost Samples: {lost}\n" in kaa("report", "--like-perf", "--stdio", "-i", data).stdout
    for command in "report", "script":
        said = kaa(command, "-i", data)
        assert "damaged records" not in said.stdout + said.stderr, command


def test_a_function_without_lines(kaa, newest_python, tmp_path):
    """Its table of lines is longer than what is recorded of one: it stands at its def, which is said."""
    data, source = tmp_path / "perf.data", tmp_path / "long.py"
    source.write_text("import time\ndef long(x):\n" + "    x += 1\n" * 200000 +
                      "\nend = time.process_time() + 1\nwhile time.process_time() < end: long(0)\n")
    result = kaa("record", "-F", "499", "-o", data, *newest_python.command, source)
    said = "Python function has no lines but that of"
    assert f"kaa record: 1 {said} the def, because the table of lines is longer than 512 KiB, or could not be read" in \
        result.stderr.splitlines()
    assert names_in(samples_of(kaa, data))["long"] > 5
    assert f"1 {said} its def: " in " ".join(kaa("report", "-i", data).stdout.split())


def test_lost_records_of_processes(kaa, tmp_path):
    """More files mapped than there is room for while the recorder stands still: counted apart from samples, and said."""
    data = tmp_path / "perf.data"
    script = write(tmp_path / "maps.py", """
import mmap, os
fd = os.open("/proc/self/exe", os.O_RDONLY)
for _ in range(30000): mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
""")
    cpu = min(os.sched_getaffinity(0))
    shell = f"echo ready; read go; {shlex.join([sys.executable, str(script)])}; echo done; read go"
    with kaa.start("record", "-F", "99", "-o", data, "taskset", "-c", str(cpu), "sh", "-c", shell, stdin=subprocess.PIPE,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
        assert recorder.stdout.readline() == b"ready\n"
        recorder.send_signal(signal.SIGSTOP)
        try:
            recorder.stdin.write(b"\n")
            recorder.stdin.flush()
            assert recorder.stdout.readline() == b"done\n"
        finally:
            recorder.send_signal(signal.SIGCONT)
        _, errors = recorder.communicate(b"\n", timeout=HANG)
    lost = int(re.search(r": (\d+) records of processes were lost, because kaa could not keep up: ", errors.decode())[1])
    assert lost > 5000
    assert f"# {lost} records of processes were lost: " in kaa("report", "--stdio", "-i", data).stdout
    assert f"{lost} records of processes were lost while recording: " in kaa("script", "-i", data).stderr


@pytest.mark.parametrize("options", [[], ["-g"], ["--call-graph", "dwarf"], ["-a", "-g"]], ids=" ".join)
def test_a_process_whose_beginning_was_lost(kaa, tmp_path, options):
    """It began when there was no room for its records: while it runs, its name and its files are known all the same."""
    data, stop = tmp_path / "perf.data", tmp_path / "stop"
    # Each CPU has room for 2 MiB of them with -a, and for less else.
    script = write(tmp_path / "maps.py", f"""
import mmap, os
fd = os.open("/proc/self/exe", os.O_RDONLY)
for _ in range(60000): mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC).close()
# Where none of a file fits, one of a fork may.
for _ in range(20): os.waitpid(os.fork() or os._exit(0), 0)
child = os.fork()
if not child:
    open("/proc/self/comm", "w").write("lost_child")
    def spin():
        while not os.path.exists({str(stop)!r}): sum(range(10000))
    spin()
    os._exit(0)
print(child, flush=True)
os.wait()
""")
    shell = f"echo ready; read go; {shlex.join([sys.executable, str(script)])}"
    cpu = min(os.sched_getaffinity(0))
    with kaa.start("record", "-F", "199", *options, "-o", data, "taskset", "-c", str(cpu), "sh", "-c", shell,
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as recorder:
        try:
            assert recorder.stdout.readline() == b"ready\n"
            recorder.send_signal(signal.SIGSTOP)
            try:
                recorder.stdin.write(b"\n")
                recorder.stdin.flush()
                child = int(recorder.stdout.readline())
                until_busy(child, 0.3)
                size = data.stat().st_size
            finally:
                recorder.send_signal(signal.SIGCONT)
            # A round was written.
            until(lambda: data.stat().st_size > size, "that the recorder has looked")
            until_busy(child, 0.3)
        finally:
            stop.touch()
        _, errors = recorder.communicate(timeout=HANG)
    assert " records of processes were lost, because kaa could not keep up: " in errors.decode()
    of_child = [sample for sample in samples_of(kaa, data) if sample.tid == child]
    assert of_child and {sample.comm for sample in of_child} == {"lost_child"}, of_child[:3]
    if options:
        native = [frame for sample in of_child for frame in sample.frames if not frame.ip >> 63 and not frame.is_python]
        assert sum(frame.dso != "[unknown]" for frame in native) > len(native) / 2, of_child[:3]


def test_processes_that_begin_while_the_recorder_stands_still(kaa, tmp_path):
    """Two hundred of them, on one CPU: what was written of them waits for the recorder, and nothing is lost."""
    data = tmp_path / "perf.data"
    # Of others the machine may start many meanwhile, which have part of the room.
    names = [f"short{number}" for number in range(220)]
    for name in names:
        (tmp_path / name).symlink_to("/bin/true")
    with kaa.start("record", "-a", "-F", "9", "-o", data, "--", "sleep", HANG, stderr=subprocess.PIPE) as recorder:
        until(lambda: data.exists() and data.stat().st_size > 200000, "that the recorder has samples")
        recorder.send_signal(signal.SIGSTOP)
        try:
            run(["taskset", "-c", str(min(os.sched_getaffinity(0))), "sh", "-c", f"for i in {' '.join(names)}; do ./$i; done"],
                cwd=tmp_path)
        finally:
            recorder.send_signal(signal.SIGCONT)
        recorder.send_signal(signal.SIGINT)
        _, errors = recorder.communicate(timeout=HANG)
    assert " 0 lost," in errors.decode(), errors
    told = kaa("script", "--show-task-events", "-i", data).stdout
    missing = [name for name in names if f"PERF_RECORD_COMM exec: {name}:" not in told]
    assert not missing, (len(missing), told[:2000])


def test_start_that_takes_long(kaa, newest_python, tmp_path):
    """However slowly kaa begins, nothing is sampled before it knows what runs."""
    preload = tmp_path / "slow_ioctls.so"
    run(["gcc", "-shared", "-fPIC", "-o", preload, pathlib.Path(__file__).parent / "programs" / "slow_ioctls.c"])
    env = {**os.environ, "LD_PRELOAD": str(preload), "ASAN_OPTIONS": "verify_asan_link_order=0"}
    data, script = tmp_path / "perf.data", write(tmp_path / "spin.py", SPIN + "print('ready', flush=True)\nspin(600)\n")
    with started([*newest_python.command, script], stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        result = kaa("record", "-F", "999", "-o", data, "-p", str(target.pid), "--", *while_busy(target.pid, 0.3), env=env)
    assert remarks(result) == []
    samples = samples_of(kaa, data)
    assert len(samples) > 10, len(samples)
    assert len(samples) - names_in(samples)["spin"] <= most(0.01, len(samples)), (len(samples), names_in(samples))


def test_thread_that_begins_while_events_are_opened(kaa, newest_python, tmp_path):
    """It inherits the events as they are then; its Python frames are there from the first sample on."""
    preload = tmp_path / "thread_meanwhile.so"
    run(["gcc", "-shared", "-fPIC", "-o", preload, pathlib.Path(__file__).parent / "programs" / "thread_meanwhile.c"])
    env = {**os.environ, "LD_PRELOAD": str(preload), "ASAN_OPTIONS": "verify_asan_link_order=0",
           "ASK": str(tmp_path / "ask"), "ANSWER": str(tmp_path / "answer")}
    for name in "ASK", "ANSWER":
        os.mkfifo(env[name])
    data, script = tmp_path / "perf.data", write(tmp_path / "late.py", SPIN + """
import sys, threading
def in_thread(): spin(600)
print("ready", flush=True)
open(sys.argv[1]).read(1)
thread = threading.Thread(target=in_thread)
thread.start()
open(sys.argv[2], "w").write("x")
thread.join()
""")
    with started([*newest_python.command, script, env["ASK"], env["ANSWER"]], stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        result = kaa("record", "-F", "999", "-g", "-o", data, "-p", str(target.pid), "--", *while_busy(target.pid, 0.5),
                     env=env)
    samples = samples_of(kaa, data)
    assert len(samples) > 20 and len(samples) - names_in(samples)["in_thread"] <= most(0.02, len(samples)), (
        result.stderr, len(samples), names_in(samples))


def test_threads_that_start_while_kaa_attaches(kaa, newest_python, tmp_path):
    """Loading the walker takes a tenth of a second: what begins meanwhile is recorded, or kaa says that it may not be."""
    data, begun = tmp_path / "perf.data", tmp_path / "begun"
    script = write(tmp_path / "starts.py", SPIN + """
import os, sys, threading, time
sys.setswitchinterval(0.0005)
def work():
    stay(lambda: os.path.exists(sys.argv[1]))
    spin(0.1)
threads = []
print("ready", flush=True)
for i in range(24):
    threads.append(threading.Thread(target=work))
    threads[-1].start()
    time.sleep(0.02)
for thread in threads:
    thread.join()
print(*(thread.native_id for thread in threads), flush=True)
""")
    with started([*newest_python.command, script, begun], stdout=subprocess.PIPE) as target:
        assert target.stdout.readline() == b"ready\n"
        result = kaa("record", "-F", "1999", "-g", "-o", data, "-p", str(target.pid), "--",
                     "sh", "-c", 'touch "$1"; while grep -q "State:.[^Z]" /proc/$2/status 2>/dev/null; do sleep 0.1; done', "sh",
                     begun, str(target.pid))
        tids = {int(word) for word in target.stdout.readline().split()}
    sampled = {sample.tid for sample in samples_of(kaa, data)}
    said = re.search(r"(\d+) threads? began in the moment when kaa attached", result.stderr)
    assert len(tids) == 24 and len(tids - sampled) <= (int(said[1]) if said else 0), (tids - sampled, result.stderr)


def test_pages_of_a_stack_that_were_never_used(kaa, tmp_path):
    """The kernel's copy of a stack ends at a page that is not in memory; kaa sees to it that the next ones do not."""
    program = tmp_path / "big_frames"
    run(["gcc", "-O1", "-g", "-pthread", "-o", program, pathlib.Path(__file__).parent / "programs" / "big_frames.c"])
    data = tmp_path / "perf.data"
    kaa("record", "-F", "499", "-o", data, program, "1.5")
    samples = [sample for sample in samples_of(kaa, data)
               if any(frame.symbol == "inner" for frame in sample.frames)]
    assert len(samples) > 30
    whole = [sample for sample in samples
             if not sample.markers and "outer" in [frame.symbol for frame in sample.frames]]
    # Without that none is; each thread has some rounds until its pages are there, and from then on all are.
    firsts = {sample.tid: sample.time for sample in reversed(whole)}
    assert firsts.keys() == {sample.tid for sample in samples} and len(firsts) == 2, (firsts, samples[-1])
    later = [sample for sample in samples if sample.time >= firsts[sample.tid]]
    assert len(later) > 20 and len(later) - len(whole) <= most(0.02, len(later)), (len(whole), len(later), len(samples))
    cut = [sample for sample in samples if "[truncated stack]" in sample.markers]
    assert len(whole) + len(cut) == len(samples)


def test_assembly_without_cfi(kaa, tmp_path):
    """What its instructions do to the stack leads to the callers."""
    program = tmp_path / "kernel"
    run(["gcc", "-O1", "-g", "-o", program, pathlib.Path(__file__).parent / "programs" / "kernel.c"])
    data = tmp_path / "perf.data"
    kaa("record", "-F", "999", "-o", data, program, "0.9")
    samples = [[frame.symbol for frame in sample.frames if frame.symbol != "main"] for sample in samples_of(kaa, data)]
    for kernel in "aligned", "pushes", "leaf":
        concerned = [symbols for symbols in samples if kernel in symbols]
        assert len(concerned) > 8, kernel
        whole = [symbols for symbols in concerned if symbols[symbols.index(kernel) + 1:][:1] == ["run"]
                 and symbols[-1] == "_start"]
        assert len(concerned) - len(whole) <= most(0.02, len(concerned)), (kernel, len(whole), len(concerned), concerned[0])


def test_chain_of_programs(kaa, tmp_path):
    """A shell, an interpreter that becomes another by exec, a third that a fourth starts: each has its frames."""
    outside = [python for python in pythons.find() if not python.prefix]
    if len(outside) < 2:
        pytest.skip("needs two CPythons")
    first, last = outside[0], outside[-1]
    end = write(tmp_path / "end.py", SPIN + "import sys\nexec(f'def {sys.argv[1]}(): spin(0.3)\\n{sys.argv[1]}()')\n")
    execs = write(tmp_path / "execs.py", SPIN + f"import os\ndef before(): spin(0.3)\nbefore()\n"
                                                f"os.execv({last.command[0]!r}, {[*last.command, str(end), 'after']!r})\n")
    spawns = write(tmp_path / "spawns.py", SPIN + f"import subprocess\ndef parent(): spin(0.3)\nparent()\n"
                                                  f"subprocess.run({[*first.command, str(end), 'spawned']!r}, check=True)\n"
                                                  f"import os\npid = os.posix_spawn({last.command[0]!r}, "
                                                  f"{[*last.command, str(end), 'posix']!r}, os.environ)\n"
                                                  "os.waitpid(pid, 0)\n")
    data = tmp_path / "perf.data"
    result = kaa.inside(noticed_in(data))("record", "-F", "999", "-o", data, "sh", "-c",
                                          f"{' '.join(first.command)} {execs}; {' '.join(last.command)} {spawns}")
    assert remarks(result, may_be_late=True) == []
    samples = samples_of(kaa, data)
    names = names_in(samples)
    for function in ("before", "after", "parent", "spawned", "posix"):
        assert names[function] > 8, names
        with_it = [sample for sample in samples if any(name == function for name, _, _ in sample.python)]
        assert {len({name for name, _, _ in sample.python} & {"before", "after", "parent", "spawned", "posix"})
                for sample in with_it} == {1}


def test_fork_storm(kaa, newest_python, tmp_path):
    """300 short children: every sample in one of them has its Python stack."""
    script = write(tmp_path / "storm.py", SPIN + """
import os
def child():
    spin(0.008)
    os._exit(0)
def parent():
    for i in range(300):
        pid = os.fork()
        if not pid:
            child()
        if i % 4 == 3:
            while True:
                try:
                    os.waitpid(-1, 0)
                except ChildProcessError:
                    break
print(os.getpid(), flush=True)
parent()
""")
    data = tmp_path / "perf.data"
    result = kaa.inside(noticed_in(data))("record", "-F", "1999", "-o", data, *newest_python.command, script)
    samples = samples_of(kaa, data)
    parent = int(result.stdout)
    by_tid = collections.defaultdict(list)
    for sample in samples:
        by_tid[sample.tid].append(sample)
    # Of sixteen samples each.
    often = [tid for tid, group in by_tid.items() if tid != parent and len(group) >= 4]
    named = [tid for tid in often if names_in(by_tid[tid])["child"]]
    assert len(often) > 5 and len(often) - len(named) <= most(0.01, len(often)), (len(named), len(often), len(by_tid))
    spinning = [sample for group in by_tid.values() for sample in group
                if sample.python and sample.python[-1][0] == "spin"]
    right = [sample for sample in spinning
             if [name for name, _, _ in sample.python] == ["<module>", "parent", "child", "spin"]]
    assert len(spinning) - len(right) <= most(0.01, len(spinning)), (len(right), len(spinning))


def walker_processes(recorder):
    """How many processes the walker of a recording holds, as bpftool sees its map."""
    bpftool = run([TOP / "tests" / "tools" / "deps", "bpftool"]).stdout.strip()
    return len(json.loads(run([bpftool, "-j", "map", "dump", "id", process_map(recorder, bpftool)]).stdout))


def test_processes_that_are_gone_are_forgotten(kaa, newest_python, tmp_path):
    """Of processes that ended or called exec before kaa knew them nothing stays: the walker's room is limited."""
    done = tmp_path / "done"
    script = write(tmp_path / "starts.py", f"""
import pathlib, subprocess, sys, time
for _ in range(150):
    subprocess.run(["/bin/true"])
for _ in range(5):
    subprocess.run([sys.executable, "-c", "pass"])
pathlib.Path({str(done)!r}).touch()
time.sleep(1000)
""")
    with kaa.start("record", "-F", "99", "-o", tmp_path / "perf.data", *newest_python.command, script) as recorder:
        until(done.exists, "the end of all children")

        def has_one():
            # A descriptor of the recorder's may be closed before it was looked at.
            with contextlib.suppress(FileNotFoundError):
                return walker_processes(recorder) == 1
        until(has_one, "that only the parent is left")
        recorder.terminate()
        recorder.wait(timeout=HANG)


def test_many_threads(kaa, newest_python, tmp_path):
    """64 threads at a time: each has its own stack. Who gets the GIL next is chance, so each has a time of its own to run."""
    script = write(tmp_path / "threads.py", SPIN + """
import threading
together = threading.Barrier(64)
def work():
    together.wait()
    spin(0.025)
for number in range(64):
    exec(f"def in_thread_{number}():\\n    work()\\n")
threads = [threading.Thread(target=globals()[f"in_thread_{number}"]) for number in range(64)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-F", "1999", "-o", data, *newest_python.command, script)
    tids = collections.defaultdict(set)
    for sample in samples_of(kaa, data):
        mine = [name for name, _, _ in sample.python if name.startswith("in_thread_")]
        assert len(mine) <= 1
        for name in mine:
            tids[name].add(sample.tid)
    assert len(tids) > 55 and all(len(group) == 1 for group in tids.values())
    assert len(set.union(*tids.values())) == len(tids)


@pytest.fixture
def python_35(tmp_path):
    """Words for a shell that run a CPython which kaa does not know: by the name for compiled files, which alone tells, 3.5."""
    found = [(program, library) for program in pythons.in_pyenv("3.7.*/bin/python")
             for library in program.parent.parent.glob("lib/libpython3.7m.so.1.0")]
    if not found:
        pytest.skip("needs a CPython 3.7 with a shared library")
    program, library = found[-1]
    other = tmp_path / library.name
    other.write_bytes(library.read_bytes().replace(b"cpython-37", b"cpython-35"))
    return f"LD_PRELOAD={other} {program}"


def test_python_that_is_not_supported(kaa, tmp_path, python_35):
    """One line, however many processes; native frames all the same."""
    data = tmp_path / "perf.data"
    script = write(tmp_path / "sums.py", """
import os
busy = lambda: sum(os.times()[:2])
end = busy() + 0.2
while busy() < end:
    sum(range(100000))
""")
    command = f"{python_35} {script}"
    result = kaa.inside(noticed_in(data))("record", "-F", "999", "-o", data, "sh", "-c", f"{command}; {command}")
    said = remarks(result)
    # No trampolines for it, either.
    assert len(said) == 1 and re.search(
        r"no Python frames of process \d+: Python 3\.5\.0 is not supported, only 2\.7 and 3\.6 to 3\.\d+$", said[0]), said
    samples = samples_of(kaa, data)
    assert not any(sample.python for sample in samples)
    assert sum("builtin_sum" in sample.symbols for sample in samples) > 5


@pytest.mark.parametrize("free_threaded", filter(None, [os.environ.get("KAA_FREE_THREADED_PYTHON")]))
def test_attached_python_that_is_not_supported(kaa, tmp_path, free_threaded):
    """It cannot be given trampolines any more: the next time it can."""
    with started([free_threaded, "-c", "while True: sum(range(1000))"]) as process:
        result = kaa("record", "-F", "99", "-p", process.pid, "-o", tmp_path / "perf.data", "--",
                     *while_busy(process.pid, 0.1))
    said = remarks(result)
    assert len(said) == 1 and re.search(
        r"a free-threaded build, which is not supported, .* start it with 'kaa run --perf' and record it with", said[0])


# --- users ---

def test_user_without_privileges(public_kaa, public_folder, public_python):
    """User space alone, and Python frames by trampolines; both are said with the way out."""
    if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
        pytest.skip("kernel.perf_event_paranoid is not 2, the kernel's default")
    script = write(public_folder / "spin.py", SPIN + "spin(1)\n")
    data = public_folder / "work" / "perf.data"
    result = as_nobody(public_kaa, "record", "-c", "250000", "-o", data, *public_python.command, script)
    said = "\n".join(remarks(result))
    assert "Python frames by trampolines: " in said
    # sudo would not find this kaa by its name.
    assert f"'sudo {public_kaa} record ...' has lines and kernel frames" in said and "doctor --fix' says how to do without sudo" in said
    # And that is said, too: see below.
    assert " s of CPU time have no samples: it was spent in the kernel, or by threads " in said
    # A user's rings are small: a recorder that waits for a CPU loses samples, and says that.
    assert len([line for line in remarks(result) if " lost" not in line]) == 3, result
    text = as_nobody(public_kaa, "script", "-i", data).stdout
    samples = script_output.parse(text)
    # spin() is in the kernel for most of the time.
    assert len(samples) > 50
    assert {sample.event for sample in samples} == {"cpu-clock:u"}
    assert not any(frame.ip >> 63 for sample in samples for frame in sample.frames)
    assert sum(sample.symbols[-1] != "_start" for sample in samples) <= most(0.05, len(samples))
    assert data.stat().st_uid == NOBODY


@pytest.mark.parametrize("words, said", [
    (["-a", "true"], "kernel.perf_event_paranoid is 2"), (["-e", "cpu-clock:k", "true"], "kernel.perf_event_paranoid"),
    (["-p", "PID", "true"], "belongs to user root;"), (["--python", "bpf", "true"], "CAP_BPF and CAP_PERFMON"),
    (["--off-cpu", "true"], "'--mode wall' needs no rights, and says where threads sleep"),
    (["-o", "/perf.data", "true"], "'/perf.data' cannot be written: you may not make files in the folder '/'"),
])
def test_what_a_user_may_not(public_kaa, public_folder, words, said):
    if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) != 2:
        pytest.skip("kernel.perf_event_paranoid is not 2, the kernel's default")
    with started(["sleep", "1000"]) as other:
        words = [str(other.pid) if word == "PID" else word for word in words]
        result = as_nobody(public_kaa, "record", *words, status=1, cwd=public_folder / "work")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) <= 3
    assert not list((public_folder / "work").iterdir())


SUDO_SCRIPT = SPIN + """
import json, os, sys
def as_the_user(): spin(1)
print(json.dumps([os.getuid(), os.getgid(), os.getgroups(), os.environ["HOME"],
                  sorted(name for name in os.environ if name.startswith("SUDO"))]), flush=True)
as_the_user()
"""


def check_owners(folder):
    data = folder / "work" / "perf.data"
    for path in (data, image_of(data)):
        status = path.stat()
        assert (status.st_uid, status.st_gid) == (NOBODY, NOBODY), path


def test_under_sudo(kaa, public_folder, public_python):
    """The command is the user's, so are the files, and kaa itself keeps only what it needs to look at processes."""
    user = pwd.getpwuid(NOBODY)
    script = write(public_folder / "who.py", SUDO_SCRIPT)
    data = public_folder / "work" / "perf.data"
    env = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(user.pw_gid), "SUDO_USER": user.pw_name}
    with kaa.start("record", "-F", "999", "-o", data, *public_python.command, script, env=env,
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        who = process.stdout.readline().decode().strip()
        status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines())
        assert process.wait(HANG) == 0
    assert who == f'[{NOBODY}, {NOBODY}, [{NOBODY}], "{user.pw_dir}", []]'
    assert status["Uid"].split() == [str(NOBODY)] * 4
    assert status["Gid"].split() == [str(NOBODY)] * 4
    assert status["Groups"].split() == [str(NOBODY)]
    # CAP_SYS_PTRACE, CAP_SYSLOG, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE
    kept = 1 << 19 | 1 << 34 | 1 << 38 | 1 << 39 | 1 << 40
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == kept
    assert int(status["CapInh"], 16) == int(status["CapAmb"], 16) == 0
    check_owners(public_folder)
    samples = samples_of(kaa, data, "-f")
    assert names_in(samples)["as_the_user"] > 10
    assert any(frame.ip >> 63 for sample in samples for frame in sample.frames), "no kernel frames"


def test_real_sudo(public_kaa, public_folder, public_python):
    """The same with sudo itself, and the PATH of who typed it."""
    script = write(public_folder / "who.py", SUDO_SCRIPT)
    own = public_folder / "bin"
    own.mkdir()
    (own / "my-python").symlink_to(public_python.command[0])
    rules = write(public_folder / "sudoers", "nobody ALL=(ALL) NOPASSWD: ALL\nDefaults secure_path=/usr/sbin:/usr/bin\n")
    rules.chmod(0o440)
    inner = f"sudo {public_kaa} record -F 999 -o perf.data my-python {script}"
    result = run(["/usr/bin/unshare", "-m", "sh", "-c", 'mount --bind "$1" /etc/sudoers && shift && exec "$@"', "sh", rules,
                  "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--init-groups", "sh", "-c", inner + "; exit $?"],
                 env={**os.environ, "PATH": f"{own}:/usr/bin:/bin"}, cwd=public_folder / "work")
    assert result.stdout.startswith(f"[{NOBODY}, {NOBODY}, [{NOBODY}], ")
    check_owners(public_folder)


def test_folder_of_root_under_sudo(kaa, public_folder, public_python):
    """The file is written all the same; that there is no image for other tools is said."""
    user = pwd.getpwuid(NOBODY)
    env = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(user.pw_gid), "SUDO_USER": user.pw_name}
    script = write(public_folder / "who.py", SUDO_SCRIPT)
    data = public_folder / "perf.data"
    result = kaa("record", "-F", "999", "-o", data, *public_python.command, script, env=env)
    assert "other tools will not show the names of Python functions: " in "\n".join(remarks(result))
    assert names_in(samples_of(kaa, data, "-f"))["as_the_user"] > 10


PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
print(child.pid, flush=True)
try:
    child.wait()
finally:
    child.kill()
"""


def test_children_that_run_already_are_not_recorded_and_said(kaa, tmp_path):
    """As with perf; but who names the master of a server wants its workers. The line has the numbers to type."""
    with started([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        try:
            said = kaa("record", "-o", tmp_path / "one.data", "-p", parent.pid, "--", "sleep", "0.2").stderr
            assert f"1 child process that runs already is not recorded; '-p {parent.pid},{child}' records it, too\n" in said
            both = kaa("record", "-o", tmp_path / "both.data", "-p", f"{parent.pid},{child}", "--", "sleep", "0.2").stderr
            assert "child process" not in both
            polled = kaa("record", "--python=poll", "-o", tmp_path / "polled.data", "-p", parent.pid, "--", "sleep", "0.2").stderr
            assert "child process" not in polled
        finally:
            os.kill(child, signal.SIGKILL)
