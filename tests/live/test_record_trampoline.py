# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record --python=trampoline`: Python frames for users without BPF, by the trampolines of the agent or of the
interpreter itself.

Everything runs as the user nobody without any privilege; root is needed to become nobody, and to show interpreters in
somebody's home to nobody.
"""
import os
import pathlib
import re
import shutil
import signal
import tempfile

import pytest

from harness import parameters, pythons, script_output
from harness.agent import find_library, private_tmp
from harness.nobody import NOBODY, WITHOUT_RIGHTS
from harness.process import run, started
from harness.waiting import until, while_each_busy

pytestmark = pytest.mark.usefixtures("root")

# $1, an interpreter's folder, is /tmp/python.
WITH_PYTHON = '{ [ -z "$1" ] || mount --bind "$1" /tmp/python; } && shift && exec "$@"'


def enter(folder, python):
    """Words before a command: the test's folder is /tmp, where no map is that another process with the same number left."""
    return [*private_tmp(folder), "sh", "-c", WITH_PYTHON, "sh", python]


# With an empty /tmp.
EMPTY_TMP = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]
CHAIN = ["<module>", "baz", "bar", "foo"]
STARTS = {"_start", "clone", "__clone", "clone3", "__clone3"}


@pytest.fixture(scope="module", autouse=True)
def paranoid():
    level = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if level > 2:
        pytest.skip(f"kernel.perf_event_paranoid is {level}: users may not open events; 2 is the default")


class Place:
    """A folder that is /tmp to all that runs in it, with kaa and its agent; work is nobody's.

    folder is where it is for the test itself, inside where it is for kaa and the interpreters.
    """

    inside = pathlib.Path("/tmp")
    kaa = inside / "kaa"

    def __init__(self, folder, kaa):
        self.folder, self.work = folder, folder / "work"
        built = pathlib.Path(kaa.command[-1])
        folder.chmod(0o1777)
        self.work.mkdir()
        os.chown(self.work, NOBODY, NOBODY)
        shutil.copy(built, folder / "kaa")
        (folder / "src" / "agent").mkdir(parents=True)
        shutil.copy(find_library(built.parent), folder / "src" / "agent")
        (folder / "python").mkdir()

    def script(self, name, text):
        """Its path inside."""
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o644)
        return self.inside / name

    def enter(self, python):
        """Words in front of a command of nobody's, and the interpreter as nobody calls it."""
        path = pathlib.Path(python.path)
        if python.prefix or path.is_relative_to("/usr"):
            return [*enter(self.folder, ""), *python.prefix, *WITHOUT_RIGHTS], str(path)
        path = path.resolve()
        return ([*enter(self.folder, path.parent.parent), *WITHOUT_RIGHTS, "env", "LD_LIBRARY_PATH=/tmp/python/lib"],
                f"/tmp/python/bin/{path.name}")

    def record(self, python, words, *options, front=None, **run_options):
        """Records as nobody, or behind other words; PYTHON in words is the interpreter."""
        nobody, interpreter = self.enter(python)
        front = front or nobody
        words = [interpreter if word == "PYTHON" else str(word) for word in words]
        return run([*front, self.kaa, "record", "-o", "/tmp/work/perf.data", *options, "--", *words], cwd="/tmp",
                   **run_options)

    def text(self, python, command, *options):
        return run([*self.enter(python)[0], self.kaa, command, *options, "-i", "/tmp/work/perf.data"], cwd="/tmp").stdout

    def samples(self, python):
        return script_output.parse(self.text(python, "script", "-f", "-F", "+srcline"))


@pytest.fixture
def place(kaa):
    with tempfile.TemporaryDirectory(prefix="kaa-trampoline-", dir="/var/tmp") as name:
        yield Place(pathlib.Path(name), kaa)


def names(sample):
    return [name for name, _, _ in sample.python]


def from_first_to_last(samples, function):
    has = [function in names(sample) for sample in samples]
    assert any(has), f"no sample has {function}: {samples[-3:]}"
    return samples[has.index(True):len(has) - has[::-1].index(True)]


def are_almost_all(part, whole, percent):
    """All but so few, or three where that is more: what one of many samples may be, one of few may be, too."""
    return len(part) >= min(percent / 100 * len(whole), len(whole) - 3)


def with_chain(samples, ends=lambda sample: True, percent=99):
    """The samples with the whole chain, of those from the first to the last one in foo.

    Between two calls of foo the program is in the functions that call it, more often so where it loses the CPU: when it asks
    for its CPU time it does, on a busy machine. So some samples have the beginning of the chain, the more of few, and no others
    are right.
    """
    possible = [sample for sample in samples if names(sample) and names(sample) == CHAIN[:len(names(sample))] and ends(sample)]
    assert are_almost_all(possible, samples, percent), [sample for sample in samples if sample not in possible][:5]
    whole = [sample for sample in possible if names(sample) == CHAIN]
    assert len(whole) > 3 and are_almost_all(whole, samples, 70), [sample for sample in samples if sample not in whole][:5]
    return whole


@pytest.mark.few_versions
def test_documentation_script(place, python, scripts, perf_system):
    """The chain of functions in the samples, by any reader, wherever the file goes."""
    script = place.script("doc_script.py", (scripts / "doc_script.py").read_text())
    # So that start-up has its part, but no large one.
    result = place.record(python, ["PYTHON", script, "0.3"], "--python=trampoline", "-F", "3999")
    said = [line for line in result.stderr.splitlines() if "Python frames by" in line]
    assert len(said) == 1 and "trampolines" in said[0] and "line of their def" in said[0], result
    # An ordinary user's buffers hold a few milliseconds; what they had no room for is counted.
    assert re.search(r" \d+ lost, \d+ incomplete\b", result.stderr), result

    samples = from_first_to_last(place.samples(python), "foo")
    assert len(samples) > 20, f"only {len(samples)} samples"
    right = with_chain(samples, lambda sample: sample.frames[-1].symbol in STARTS)
    # One form of a Python frame: its address, its file, and of lines that of the def, which is all that trampolines can have.
    frames = [frame for sample in right for frame in sample.frames if frame.is_python]
    assert {(frame.python_name[0], frame.line) for frame in frames} == {("foo", 2), ("bar", 9), ("baz", 13), ("<module>", 1)}
    assert all(frame.ip in script_output.PYTHON_RANGE and frame.python_name[1] == str(script) for frame in frames)
    assert not any(frame.dso.endswith(".map") for sample in samples for frame in sample.frames)

    check_report(place, python, samples)
    check_elsewhere(place, samples)
    check_perf(perf_system, place)


def check_report(place, python, samples):
    """The trampoline is no frame of its own, and the interpreter is folded as ever: one function stands below the other."""
    # The evaluator has work of its own, the first time that it sees a function: before these samples.
    report = place.text(python, "report", "--stdio", "--no-children", "-g", "caller",
                        "--time", f"{samples[0].time:.6f},{samples[-1].time:.6f}")
    chains = re.findall(r"py::<module>:\S*doc_script.py\n\W*(\S+)\n\W*(\S+)\n\W*(\S+)", re.sub(r"-+\d+\.\d+%-+", "", report))
    assert chains and "py_trampoline_evaluator" not in report, report
    # Between two calls of foo a sample has C functions of the caller's instead, and those are the last.
    python = [[part.split(":")[2] for part in chain if part.startswith("py::")] for chain in chains]
    assert CHAIN[1:] in python, report
    for chain, called in zip(chains, python):
        assert called == CHAIN[1:len(called) + 1] and all(part.startswith("py::") for part in chain[:len(called)]), report


def check_elsewhere(place, samples):
    """Moved, with /tmp emptied: the same names."""
    with tempfile.TemporaryDirectory(prefix="kaa-test-", dir="/var/tmp") as name:
        shutil.copy(place.folder / "kaa", name)
        shutil.copy(place.work / "perf.data", name)
        text = run([*EMPTY_TMP, f"{name}/kaa", "script", "-f", "-i", f"{name}/perf.data"]).stdout
    moved = from_first_to_last(script_output.parse(text), "foo")
    assert [names(sample) for sample in moved] == [names(sample) for sample in samples]


def check_perf(perf, place):
    """Stock perf names the Python frames, too."""
    text = run([*enter(place.folder, ""), *perf.command, "script", "-f", "-i", "/tmp/work/perf.data",
                "-F", "comm,tid,time,event,ip,sym,symoff,dso"]).stdout
    with_chain(from_first_to_last(script_output.parse(text), "foo"))


PROCESSES = """
import os, subprocess, sys, time
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        # Not in the kernel, where users see nothing.
        for _ in range(2000):
            pass
def in_child():
    spin(0.25)
def in_grandchild():
    spin(0.25)
def in_program():
    spin(0.25)
def in_other_program():
    spin(0.25)
def fork(function):
    pid = os.fork()
    if not pid:
        function()
        os._exit(0)
    os.waitpid(pid, 0)
def fork_twice():
    fork(in_grandchild)
def forks():
    fork(in_child)
    fork(fork_twice)
    fork(become)
def become():
    os.execv(sys.executable, [sys.executable, *switches(), __file__, "program"])
def switches():
    return [word for name in sys._xoptions for word in ("-X", name)]
def starts():
    subprocess.run(["sh", "-c", '"$0" "$1" other', sys.executable, __file__], check=True)
def in_last():
    spin(0.25)
if len(sys.argv) > 1:
    {"program": in_program, "other": in_other_program}[sys.argv[1]]()
else:
    forks()
    starts()
    in_last()
"""


def pytest_generate_tests(metafunc):
    """some_python: one of each way to have trampolines."""
    if "some_python" in metafunc.fixturenames:
        wanted = tuple(metafunc.config.getoption("--python") or [""])
        found = [python for python in pythons.find() if not python.prefix and python.id.startswith(wanted)]
        last = {start: python for start in ("3.8.", "3.11.", "3.12.", "3.13.0") for python in found if python.id.startswith(start)}
        metafunc.parametrize("some_python", parameters.of_pythons(last.values()))


def test_forks_and_programs(place, some_python):
    """Children have the functions that they run, and those that they came from; programs only their own."""
    script = place.script("processes.py", PROCESSES)
    place.record(some_python, ["PYTHON", script], "--python=trampoline", "-F", "2999")
    samples = place.samples(some_python)

    def check(leaf, chain):
        of_leaf = [sample for sample in samples if leaf in names(sample)]
        assert len(of_leaf) > 4, f"{len(of_leaf)} samples of {leaf}"
        right = [sample for sample in of_leaf if names(sample) in (chain, [*chain, "spin"])]
        assert are_almost_all(right, of_leaf, 99), [sample for sample in of_leaf if sample not in right][:3]

    check("in_child", ["<module>", "forks", "fork", "in_child"])
    check("in_grandchild", ["<module>", "forks", "fork", "fork_twice", "fork", "in_grandchild"])
    check("in_program", ["<module>", "in_program"])
    check("in_other_program", ["<module>", "in_other_program"])
    check("in_last", ["<module>", "in_last"])


SERVICE = """
import os, sys, time
def spin():
    while True:
        pass
def serve():
    pid = os.fork()
    open(sys.argv[1], "a").write("%d\\n" % os.getpid())
    spin()
serve()
"""


def test_running_process(place, some_python):
    """-p: trampolines that are there already are named, those too that a worker has from its master."""
    script = place.script("service.py", SERVICE)
    front, interpreter = place.enter(some_python)
    pids = place.work / "pids"
    with started([*front, place.kaa, "run", "--perf", interpreter, script, "/tmp/work/pids"]) as service:
        try:
            until(pids.exists, "a process")
            until(lambda: len(pids.read_text().split()) == 2, "both processes")
            both = pids.read_text().split()
            result = place.record(some_python, while_each_busy(both, 0.3), "--python=trampoline", "-F", "999", "-p", ",".join(both))
        finally:
            for pid in pids.read_text().split() if pids.exists() else []:
                if int(pid) != service.pid:
                    os.kill(int(pid), signal.SIGKILL)
    assert "only programs that were started with them" in result.stderr
    samples = place.samples(some_python)
    for pid in both:
        own = [sample for sample in samples if sample.tid == int(pid)]
        assert len(own) > 5, f"{len(own)} samples of {pid}"
        right = [sample for sample in own if names(sample) == ["<module>", "serve", "spin"]]
        assert are_almost_all(right, own, 99), [sample for sample in own if sample not in right][:3]


def test_auto(place, newest_python, scripts):
    """Without the right to BPF trampolines are taken for what polling cannot, and two lines say what they cost, and what gives more."""
    script = place.script("doc_script.py", (scripts / "doc_script.py").read_text())
    result = place.record(newest_python, ["PYTHON", script, "0.4"], "-c", "1000000")
    assert re.search(r"Python frames by trampolines: .* take longer\n.*'sudo \S+ record \.\.\.' has .*doctor", result.stderr), result
    with_chain(from_first_to_last(place.samples(newest_python), "foo"))


def test_none(place, newest_python):
    """none adds nothing to the command; trampolines add nothing that it sees."""
    show = place.script("show.py", "import os, sys\n"
                        "print(sorted(name for name in os.environ if 'PERF' in name or 'KAA' in name or 'PRELOAD' in name))\n"
                        "print(getattr(sys, 'is_stack_trampoline_active', lambda: False)())\n")
    assert place.record(newest_python, ["PYTHON", show], "--python=none").stdout == "[]\nFalse\n"
    assert place.record(newest_python, ["PYTHON", show], "--python=trampoline").stdout == "[]\nTrue\n"


def test_chosen_by_root(place, newest_python, scripts):
    """Who has BPF may choose trampolines; the kernel's frames stand below the Python ones as ever."""
    place.record(newest_python, [newest_python.path, place.script("doc_script.py", (scripts / "doc_script.py").read_text()), "0.3"],
                 "--python=trampoline", "-F", "999", front=enter(place.folder, ""))
    (place.work / "perf.data").chmod(0o644)
    with_chain(from_first_to_last(place.samples(newest_python), "foo"))


def test_map_of_a_stranger(place, newest_python, scripts):
    """What stands under the map's name and is a link, or another user's, names nothing, and that is said."""
    script = place.script("stranger.py", "import os, sys\nos.rename('/tmp/perf-%d.map' % os.getpid(), '/tmp/work/own.map')\n"
                          "os.symlink('/tmp/work/own.map', '/tmp/perf-%d.map' % os.getpid())\n" + (scripts / "doc_script.py").read_text())
    result = place.record(newest_python, ["PYTHON", script, "0.3"], "--python=trampoline", "-F", "999")
    samples = place.samples(newest_python)
    assert not any("foo" in names(sample) for sample in samples)
    assert re.search(r"no names for the trampolines of process \d+: '?/tmp/perf-\d+.map", result.stderr), result


def test_raw_stacks(place, newest_python, scripts):
    """--call-graph dwarf: unwound when read, and the names are in the file."""
    script = place.script("doc_script.py", (scripts / "doc_script.py").read_text())
    place.record(newest_python, ["PYTHON", script, "0.3"], "--python=trampoline", "--call-graph", "dwarf", "-F", "499")
    maps = list(place.folder.glob("perf-*.map"))
    assert maps
    for path in maps:
        path.unlink()
    with_chain(from_first_to_last(place.samples(newest_python), "foo"), percent=95)


def test_command_that_is_no_python(place, newest_python):
    """It runs as ever, with its exit status."""
    result = place.record(newest_python, ["sh", "-c", "exit 7"], status=7)
    result = place.record(newest_python, ["/bin/true"])
    result = place.record(newest_python, ["./no-such-command"], status=127)
    assert "there is no such file" in result.stderr and not list(place.work.glob("no-*"))


HOSTILE = """
import ctypes, mmap, os, time
# A function of our own in anonymous memory: 1: sub $1, %rdi; jnz 1b; ret
area = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
area.write(bytes.fromhex("4883ef01 75fa c3"))
address = ctypes.addressof(ctypes.c_char.from_buffer(area))
path = "/tmp/perf-%d.map" % os.getpid()
with open(path, "wb") as file:
    file.write(b"zz zz\\n" + b"x" * 200000 + b"\\n%x 1000 py::\\xffn\\x1bame:\\xfe\\n" % address)
ctypes.CFUNCTYPE(None, ctypes.c_ulong)(address)(1500000000)
os.unlink(path)
"""


def test_hostile_map(place, newest_python):
    """Whatever a map says comes out as text of one line."""
    script = place.script("hostile.py", HOSTILE)
    place.record(newest_python, ["PYTHON", script], "--python=trampoline", "-F", "999")
    samples = place.samples(newest_python)
    named = [frame for sample in samples for frame in sample.frames if frame.symbol.startswith("py::\\xffn")]
    assert len(named) > 3 and {frame.symbol for frame in named} == {"py::\\xffn?ame:\\xfe"}
