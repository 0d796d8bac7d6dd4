# SPDX-License-Identifier: GPL-2.0-only
"""The agent's three kinds of files in both stock perfs, without Python: programs/slots.c calls through trampolines in
an order that the stacks must show. One variant of it keeps frame pointers, the other (`bare`) needs unwind information."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import samply_profile, script_output
from harness.agent import Way, find_library
from harness.chance import least
from harness.machine import LARGE_RINGS
from harness.process import Program, run, started
from harness.waiting import while_busy

# Trampolines that each stack of slots.c has.
DEPTH = 12
FUNCTION = re.compile(r"py::function_(\d+):/src/source_(\d)\.py")
# There are a few hundred samples on a machine of one's own; a loaded one gives fewer, but not as few as this.
FEW = 10
# Of the samples; what is missing is where no unwinder gets out.
ENOUGH = 0.95


@pytest.fixture
def slots(build_dir, tmp_path):
    """slots("bare"): the program, in a folder that the chroot sees too."""
    def copy(variant):
        name = {"frame pointers": "agent_slots", "bare": "agent_slots_bare"}[variant]
        return shutil.copy(build_dir / "tests" / "live" / name, tmp_path / name)
    return copy


class Recording:
    def __init__(self, perf, folder):
        self.perf = perf
        self.folder = folder
        self.path = folder / "perf.data"
        # Not the user's own cache of files.
        self.cache = ["--buildid-dir", folder / "cache"]
        self.pid = None

    def record(self, program, backend, *options, where=None):
        env = {**os.environ, "KAA_TRAMPOLINE_DIR": str(where or self.folder)}
        out = self.perf(*self.cache, "record", "-q", *LARGE_RINGS, "-F", "499", "-o", self.path, *options, "--", program,
                        backend, "0.8", env=env)
        self.pid = int(out.stdout.split()[0])

    def attach(self, program, backend, *options, where=None):
        """Recorded from the middle of its run, when all is announced."""
        env = {**os.environ, "KAA_TRAMPOLINE_DIR": str(where or self.folder)}
        with started([program, backend, "30"], env=env, stdout=subprocess.PIPE) as process:
            self.pid = int(process.stdout.readline())
            self.perf(*self.cache, "record", "-q", *LARGE_RINGS, "-F", "499", "-o", self.path, *options, "-p", str(self.pid), "--",
                      *while_busy(self.pid, 0.6))

    def inject(self):
        injected = self.folder / "injected.data"
        self.perf(*self.cache, "inject", "--jit", "-i", self.path, "-o", injected)
        self.path = injected

    def samples(self, *fields):
        """Those in which the program works. Between them are what the kernel does, and before them its start."""
        options = ["-F", f"comm,pid,tid,time,period,event,ip,sym,symoff,dso{''.join(',' + field for field in fields)}"]
        text = self.perf(*self.cache, "script", "-f", "--no-inline", "-i", self.path, *options).stdout
        samples = [sample for sample in script_output.parse(text) if sample.comm.startswith("agent_slots")]
        spinning = [number for number, sample in enumerate(samples) if "spin" in sample.symbols]
        assert len(spinning) >= FEW
        check_share(lambda sample: "spin" in sample.symbols, samples[spinning[0]:spinning[-1] + 1])
        return [samples[number] for number in spinning]


@pytest.fixture
def recording(perf, tmp_path):
    made = Recording(perf, tmp_path)
    yield made
    if made.pid:
        left = [f"perf-{made.pid}.map", f"jit-{made.pid}.dump"]
        for path in [pathlib.Path("/tmp", name) for name in left] + list(pathlib.Path("/tmp").glob(f"jitted-{made.pid}-*")):
            path.unlink(missing_ok=True)


def functions(sample):
    """The numbers of the trampolines, outermost first."""
    return [int(FUNCTION.fullmatch(frame.symbol)[1]) for frame in reversed(sample.frames) if frame.is_python]


def is_whole(sample):
    """All trampolines in the order of the calls, down to main."""
    numbers = functions(sample)
    return len(numbers) == DEPTH and "main" in sample.symbols and numbers == list(range(numbers[0], numbers[0] + DEPTH))


def check_share(good, samples):
    share = sum(map(good, samples)) / len(samples)
    assert share >= least(ENOUGH, len(samples)), f"{share:.1%} of {len(samples)} samples"


def lines_are_right(sample):
    """Every trampoline has the line of its def, and the file by its name or path."""
    frames = [frame for frame in sample.frames if frame.is_python]
    for frame in frames:
        number, source = FUNCTION.fullmatch(frame.symbol).groups()
        if frame.line is None or frame.line != int(number) + 1:
            return False
        assert frame.file.endswith(f"source_{source}.py")
    return bool(frames)


def test_perf_map(recording, slots):
    recording.record(slots("frame pointers"), "perf", "-g", where="/tmp")
    samples = recording.samples()
    check_share(is_whole, samples)
    assert all(frame.dso == f"/tmp/perf-{recording.pid}.map" for sample in samples for frame in sample.frames if frame.is_python)


def check_build_ids(pid):
    """perf takes files with one build-id for one file."""
    files = list(pathlib.Path("/tmp").glob(f"jitted-{pid}-*.so"))
    notes = run(["readelf", "-n", *files]).stdout
    assert len(files) == 1000
    assert len(set(re.findall(r"Build ID: ([0-9a-f]+)", notes))) == 1000


@pytest.mark.one_of(3)
@pytest.mark.parametrize("variant, options", [("bare", ["--call-graph", "dwarf"]), ("frame pointers", ["-g"])])
def test_jitdump(recording, slots, variant, options):
    recording.record(slots(variant), "perf_jit", "-k", "1", *options, where="/tmp")
    recording.inject()
    check_build_ids(recording.pid)
    check_share(is_whole, recording.samples())
    check_share(lines_are_right, recording.samples("srcline"))


@pytest.mark.one_of(3)
@pytest.mark.parametrize("variant, options", [("bare", ["--call-graph", "dwarf"]), ("frame pointers", ["-g"])])
def test_elf_image(recording, slots, variant, options):
    recording.record(slots(variant), "perf_elf", *options)
    check_share(is_whole, recording.samples())
    check_share(lines_are_right, recording.samples("srcline"))
    report = recording.perf(*recording.cache, "report", "-f", "-i", recording.path, "--stdio", "--children", "-g", "none",
                            "--sort", "sym").stdout
    assert FUNCTION.search(report)


@pytest.mark.parametrize("backend", ["perf_jit", "perf_elf"])
def test_a_running_process(recording, slots, backend):
    recording.attach(slots("bare"), backend, "-k", "1", "--call-graph", "dwarf", where="/tmp" if backend == "perf_jit" else None)
    if backend == "perf_jit":
        recording.inject()
    check_share(is_whole, recording.samples())


def test_elf_image_is_sound(slots, tmp_path):
    """binutils finds nothing to complain about, and addr2line names each slot and its line."""
    run([slots("bare"), "perf_elf", "0"], env={**os.environ, "KAA_TRAMPOLINE_DIR": str(tmp_path)})
    image, = tmp_path.glob("kaa-*-0-*.elf")
    read = run(["readelf", "-W", "-h", "-l", "-S", "-s", "-n", "--debug-dump=frames,info", image])
    assert read.stderr == ""
    symbols = re.findall(r"^ *\d+: ([0-9a-f]{16}) +\d+ FUNC .* (py::function_(\d+):\S+)$", read.stdout, re.M)
    assert len(symbols) == 1000
    found = run(["addr2line", "-f", "-e", image, *(f"0x{int(address, 16) + 9:x}" for address, _, _ in symbols)]).stdout.split("\n")
    assert found[0:2000:2] == [name for _, name, _ in symbols]
    assert found[1:2000:2] == [f"/src/source_{int(n) % 10}.py:{int(n) + 1}" for _, _, n in symbols]


def test_names_in_no_folder(perf_sid, sid_python, build_dir, tmp_path):
    """Python's "<frozen ...>" and "<string>" in the lines of perf_elf."""
    way = Way(sid_python, pathlib.Path(shutil.copy(find_library(build_dir), tmp_path)))
    data = tmp_path / "perf.data"
    perf_sid("record", "-q", *LARGE_RINGS, "-F", "499", "-g", "-o", data, "--", *way.bare_command(
        ["-c", "def work(clock, end):\n  while clock() < end:\n    for i in range(10000): pass\n"
               "from time import process_time\nwork(process_time, process_time() + 0.8)"], "perf_elf", [f"KAA_TRAMPOLINE_DIR={tmp_path}"]))
    report = perf_sid("report", "--stdio", "-g", "none", "--sort", "srcline", "-i", data).stdout
    assert re.search(r"^ +\d+\.\d\d% +.*<string>:1\s*$", report, re.M), report
    lines = way.python.kaa(Program(build_dir / "kaa"))("script", "-F", "+srcline", "-i", data).stdout
    assert re.search(r"^ +<string>:1$", lines, re.M), lines[-2000:]


def test_samply_reads_the_elf_image(perf_system, samply, slots, tmp_path):
    """It unwinds by the image's rules, and names functions and lines."""
    recording = Recording(perf_system, tmp_path)
    recording.record(slots("bare"), "perf_elf", "--call-graph", "dwarf")
    saved = tmp_path / "profile.json"
    samply("import", "-s", "-n", "-o", saved, recording.path)
    image, = tmp_path.glob("kaa-*-0-*.elf")
    stacks, libs = samply_profile.stacks_in(json.loads(saved.read_text()), image.name)
    shown = samply_profile.symbolicated(samply, saved, stacks, libs)
    whole = [stack for stack in shown if len(stack) == DEPTH]
    assert len(whole) >= FEW
    check_share(lambda stack: len(stack) == DEPTH, shown)
    for stack in whole:
        for name, filename, line in stack:
            number, source = FUNCTION.fullmatch(name).groups()
            assert (filename, line) == (f"/src/source_{source}.py", int(number) + 1)
