# SPDX-License-Identifier: GPL-2.0-only
"""BPF programs in kaa's own recordings: samples in them are named, whoever loaded them and when, in kaa and in stock perf.
The names are the kernel's own: they are made of the instructions and of what the source calls a function. (perf makes
another one of them for a program that is loaded before it records, as it takes the tag of the first function for that of
the program; and it misses some where another recorder listens.) Programs here are attached nowhere (programs/bpf_work.c)."""
import collections
import contextlib
import pathlib
import re
import shutil
import subprocess

import pytest

from harness.process import run, started
from harness.script_output import parse
from harness.waiting import innermost_child, until

pytestmark = pytest.mark.usefixtures("root", "bpf")

PROGRAMS = pathlib.Path(__file__).parent / "programs"
FUNCTIONS = ("kaa_inner_function", "kaa_outer_function_name")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """(program, BPF object)"""
    path = tmp_path_factory.mktemp("bpf")
    clang = next(filter(None, map(shutil.which, ["clang", *(f"clang-{n}" for n in range(22, 13, -1))])))
    multiarch = run(["gcc", "-print-multiarch"]).stdout.strip()
    run([clang, "-g", "-O2", "-target", "bpf", "-idirafter", f"/usr/include/{multiarch}",
         "-c", PROGRAMS / "bpf_work.bpf.c", "-o", path / "bpf_work.bpf.o"])
    run(["gcc", "-O1", "-o", path / "bpf_work", PROGRAMS / "bpf_work.c", "-lbpf"])
    return path / "bpf_work", path / "bpf_work.bpf.o"


def frames_in(text):
    """(address, name) of each frame of the kernel."""
    return re.findall(r"^.*?\s(ffffffff[0-9a-f]{8}) (\S.*?)(?:\+0x[0-9a-f]+)? \([^()]*\)$", text, re.M)


def stale_in_perf(kaas, perfs, names):
    """Whether perf keeps to a program that was in the place of ours when the recording began: it shows that one's name, or
    none. In all other frames of ours both say the same."""
    ours, theirs = frames_in(kaas), frames_in(perfs)
    assert [address for address, _ in ours] == [address for address, _ in theirs]
    differ = {(name, other) for (_, name), (_, other) in zip(ours, theirs) if name != other and names & {name, other}}
    assert all(name in names and other not in names for name, other in differ), differ
    return bool(differ)


def run_programs(sample):
    """The BPF programs that bpf_test_run() runs in a sample, innermost first. Others ran in a tracepoint or an interrupt: those
    of a recorder beside this one."""
    symbols = [frame.symbol for frame in sample.frames]
    if "bpf_test_run" not in symbols:
        return []
    programs = symbols[:symbols.index("bpf_test_run")]
    return programs[max((i for i, name in enumerate(programs) if not name.startswith("bpf_prog_")), default=-1) + 1:]


@contextlib.contextmanager
def loaded(work):
    """The program in the kernel, by a process that nobody records; gives its number."""
    with started([work[0], "load", work[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as loader:
        yield loader.stdout.readline()


@pytest.fixture(scope="module")
def names(work):
    """What the kernel calls the two functions."""
    with loaded(work):
        symbols = re.findall(r" (bpf_prog_\w+)\t\[bpf\]$", pathlib.Path("/proc/kallsyms").read_text(), re.M)
    ours = {name for name in symbols if name.endswith(FUNCTIONS)}
    if not ours:
        pytest.skip("/proc/kallsyms has no BPF programs: see net.core.bpf_jit_kallsyms")
    assert len(ours) == 2, ours
    return ours


def record_own(kaa, work, data):
    kaa("record", "-q", "-F", "1999", "-g", "-o", data, work[0], "run", work[1])


def record_older(kaa, work, data):
    with loaded(work) as number:
        kaa("record", "-q", "-F", "1999", "-g", "-o", data, work[0], "run", data=number)


def record_younger(kaa, work, data):
    """The recorded process waits for its input meanwhile. Without -a the kernel tells of what that itself loads alone."""
    with kaa.start("record", "-q", "-F", "1999", "-g", "-a", "-o", data, "--", work[0], "run", stdin=subprocess.PIPE) as recorder:
        comm = lambda: pathlib.Path(f"/proc/{innermost_child(recorder.pid)}/comm").read_text().strip()
        until(lambda: comm() == work[0].name, "that the program runs")
        with loaded(work) as number:
            recorder.communicate(number)
            assert recorder.returncode == 0


def record_system(kaa, work, data):
    with loaded(work) as number:
        kaa("record", "-q", "-F", "1999", "-g", "-a", "-o", data, "--", work[0], "run", data=number)


@pytest.mark.parametrize("way", [record_own, record_older, record_younger, record_system])
def test_names(kaa, perf_system, work, names, tmp_path, way):
    data = tmp_path / "perf.data"
    way(kaa, work, data)
    kaas, perfs = (tool("script", "-i", data).stdout for tool in (kaa, perf_system))
    ran = [programs for programs in map(run_programs, parse(kaas)) if programs]
    leaves = collections.Counter(programs[0] for programs in ran)
    assert all(leaves[name] > 10 for name in names), leaves
    # Nobody else's programs stand there, as they do in kallsyms when the recording ends.
    assert {name for programs in ran for name in programs} == names, leaves
    stale_in_perf(kaas, perfs, names)


@pytest.mark.parametrize("options", [(), ("--symfs", "/nowhere")], ids=["", "symfs"])
def test_report(kaa, perf_system, work, names, tmp_path, options):
    data = tmp_path / "perf.data"
    record_own(kaa, work, data)
    if stale_in_perf(*(tool("script", "-i", data).stdout for tool in (kaa, perf_system)), names):
        pytest.skip("perf keeps the name of another recorder's program, which has ended since")
    rows = [{symbol: share for share, symbol in re.findall(r"^ +([\d.]+%) .* \[k\] (bpf_prog_[0-9a-f]{16}_\w+)", text, re.M)
             if symbol in names}
            for text in (tool("report", "--stdio", "--no-children", "-g", "none", "-i", data, *options).stdout
                         for tool in (kaa, perf_system))]
    assert set(rows[0]) == names
    assert rows[0] == rows[1]


def test_trampolines(kaa, work, names, tmp_path):
    """Without a walker the events of the recorded threads tell."""
    data = tmp_path / "perf.data"
    kaa("record", "-q", "--python=trampoline", "-F", "1999", "-g", "-o", data, work[0], "run", work[1])
    assert names <= {name for _, name in frames_in(kaa("script", "-i", data).stdout)}
