# SPDX-License-Identifier: GPL-2.0-only
"""The commands of Python's documentation on perf, and of samply's, with an interpreter in which the agent works: its
functions are in the stacks, each called by its caller.

The frequency is less than the documentation's 9,999 Hz, since stock perf takes milliseconds for a stack. An interpreter of the chroot runs
there, with perf 7 and samply; the others run outside with the distribution's perf and in the chroot with perf 7. Without --python one of
each kind is taken.
"""
import gzip
import json
import re

import pytest

from harness import machine, pythons, samply_profile, script_output
from harness.agent import Way, find_library, private_tmp
from harness.chance import least
from harness.process import TOP, run
from harness.trampoline_files import read_map

pytestmark = pytest.mark.usefixtures("root", "chroot")

# In the /tmp that the programs see.
DATA, INJECTED, PROFILE = "/tmp/perf.data", "/tmp/perf.jit.data", "/tmp/profile.json.gz"
SCRIPT = TOP / "tests" / "live" / "scripts" / "doc_script.py"
SECONDS = "0.6"
# Interpreter and perf. 3.8 has its hook in a slot; 3.11 is the last without support of its own; 3.15 is built with frame pointers.
KINDS = [("3.8.", "6.1"), ("3.11.7", "7"), ("3.15.", "7")]
# From the outermost on, with the lines of their `def`.
CHAIN = ["<module>", "baz", "bar", "foo"]
DEF_LINES = {"foo": 2, "bar": 9, "baz": 13}
# A share of all samples; what is missing is where no unwinder gets out: in the middle of a prologue, in the kernel's entry.
ENOUGH = 0.95
# There are some hundreds; a machine that stands still at times gives a tenth of them. Its start takes five times as long.
FEW, OF_ALL = 15, 0.25


def pairs(config):
    found = pythons.find()
    wanted = config.getoption("--python")
    if wanted:
        chosen = [(python, perf) for python in pythons.chosen(found, wanted) for perf in ("6.1", "7")]
    else:
        chosen = [(python, perf) for python in found for start, perf in KINDS if python.id.startswith(start)]
    return [pair for pair in chosen if pair[1] == "7" or not pair[0].prefix]


def pytest_generate_tests(metafunc):
    if "place" not in metafunc.fixturenames:
        return
    chosen = pairs(metafunc.config)
    if metafunc.function.__name__.endswith("samply"):
        # It is in the chroot alone, as perf 7 is.
        chosen = [pair for pair in chosen if pair[1] == "7"]
    if metafunc.function is test_perf_record_g:
        # Without frame pointers stacks by -g end in the interpreter: that is what the commands with dwarf are for.
        chosen = [pair for pair in chosen if pair[0].frame_pointers]
    metafunc.parametrize("place", [pytest.param(pair, id=f"{pair[0].id}-perf{pair[1]}") for pair in chosen], indirect=True)


class Place:
    """Where an interpreter and a tool run: outside, or in the chroot, which shows the current directory; with `folder` as /tmp."""

    def __init__(self, python, perf, library, folder):
        self.way, self.python, self.folder = Way(python, library, folder), python, folder
        self.inside = perf == "7"
        self.perf_path = "perf" if self.inside else machine.system_perf()
        self.prefix = private_tmp(folder) + ([machine.CHROOT_TOOL, "run"] if self.inside else [])
        self.cwd = "/"
        if self.inside and not python.prefix:
            self.cwd = run([*python.command, "-c", "import sys; print(sys.base_prefix)"]).stdout.strip()

    def run(self, *words, **options):
        return run([*self.prefix, "env", "HOME=/tmp", "DEBUGINFOD_URLS=", *words], cwd=self.cwd, **options)

    def perf(self, *words, **options):
        if not self.inside:
            words = machine.SystemPerf(self.perf_path).told(words)
        return self.run(self.perf_path, *words, **options)

    def program(self, *switches, backend=None):
        return self.way.bare_command([*switches, SCRIPT, SECONDS], backend=backend)

    def check_the_agent_did_it(self):
        """The interpreter's own support has its trampolines 32 bytes apart, and makes dumps that others may read."""
        maps, dumps = [*self.folder.glob("perf-*.map")], [*self.folder.glob("jit-*.dump")]
        addresses = [address for path in maps for codes in read_map(path).values() for address, _ in codes]
        assert maps or dumps
        assert not maps or any(address % 32 for address in addresses)
        assert all(path.stat().st_mode & 0o077 == 0 for path in dumps)

    @property
    def frequency(self):
        """So much that some hundreds of samples are taken: the newer versions are the faster ones."""
        return "499" if self.python.version >= (3, 14) else "349"

    def samples(self, data, fields=""):
        fields = "comm,tid,time,event,ip,sym,symoff,dso" + fields
        text = self.perf("script", "--no-inline", "--max-stack", "500", "-F", fields, "-i", data).stdout
        return [sample for sample in script_output.parse(text) if sample.comm.startswith("python")]


@pytest.fixture
def place(request, build_dir, tmp_path):
    python, perf = request.param
    return Place(python, perf, find_library(build_dir), tmp_path / "tmp")


def functions(stack):
    """The script's own functions of a stack of symbols, from the outermost on."""
    pattern = re.compile(r"py::(\S+):\S*doc_script\.py")
    return [match[1] for match in map(pattern.fullmatch, reversed(stack)) if match]


def share(stacks):
    """Of the samples from the first to the last in foo, those with the whole chain; and what part of all samples that is."""
    chains = [functions(stack) for stack in stacks]
    within = [number for number, chain in enumerate(chains) if chain[-1:] == ["foo"]]
    if not within:
        return 0, 0, len(stacks)
    window = chains[within[0]:within[-1] + 1]
    return sum(chain == CHAIN for chain in window) / len(window), len(window) / len(chains), len(window)


def check_stacks(stacks):
    whole, window, count = share(stacks)
    assert count > FEW, f"only {count} samples"
    assert whole >= least(ENOUGH, count) and window > OF_ALL, (
        f"{whole:.1%} of {count} samples have {' < '.join(CHAIN)}; they are {window:.1%} of all samples; such as\n" +
        "\n".join(" < ".join(stack) for stack in stacks[len(stacks) // 2:][:4]))


def test_perf_record_g(place):
    """perf record -F 9999 -g -o perf.data python -X perf my_script.py; perf report -n -g -i perf.data"""
    place.perf("record", "-F", "999", "-g", "-o", DATA, *place.program("-X", "perf"))
    place.check_the_agent_did_it()
    samples = place.samples(DATA)
    check_stacks([sample.symbols for sample in samples])
    report = place.perf("report", "--stdio", "-n", "-g", "-i", DATA)
    check_report(report.stdout)


def check_report(text):
    """py::foo is nearly all of the self time's callers, and stands under its callers."""
    for name in CHAIN[1:]:
        row = re.search(rf"^ +(\d+\.\d+)% .*\] py::{name}:\S*doc_script\.py$", text, re.M)
        assert row and float(row[1]) > 100 * OF_ALL, f"py::{name} has no such row in\n{text[:3000]}"
    tree = re.search(r"py::baz:.*?py::bar:.*?py::foo:", text, re.S)
    assert tree, text[:3000]


def test_perf_jit(place):
    """perf record -F 9999 -g -k 1 --call-graph dwarf -o perf.data python -Xperf_jit my_script.py; inject; report; and lines"""
    place.perf("record", "-F", place.frequency, "-g", "-k", "1", "--call-graph", "dwarf", "-o", DATA, *place.program("-Xperf_jit"))
    place.check_the_agent_did_it()
    place.perf("inject", "-i", DATA, "--jit", "--output", INJECTED)
    samples = place.samples(INJECTED, ",srcline")
    check_stacks([sample.symbols for sample in samples])
    frames = [(frame.python_name[0], frame.line) for sample in samples for frame in sample.frames
              if frame.is_python and frame.symbol.endswith("doc_script.py") and frame.python_name[0] in DEF_LINES]
    assert len(frames) > len(DEF_LINES) * FEW
    right = sum(DEF_LINES[name] == line for name, line in frames)
    assert right >= least(0.99, len(frames)) * len(frames), f"{right} of {len(frames)} frames have the line of their def, such as {frames[:6]}"
    check_report(place.perf("report", "--stdio", "-n", "-g", "-i", INJECTED).stdout)


def test_perf_elf(place):
    """perf record --call-graph dwarf, and nothing else."""
    place.perf("record", "-F", place.frequency, "--call-graph", "dwarf", "-o", DATA, *place.program(backend="perf_elf"))
    samples = place.samples(DATA)
    check_stacks([sample.symbols for sample in samples])
    check_report(place.perf("report", "--stdio", "-n", "-g", "-i", DATA).stdout)


# samply looks at the number of perf_event_paranoid even as root, for whom it means nothing: it is shown a 1.
SHOWN_PARANOID = """
set -e
mount --make-rprivate /
mount --bind "$1" /proc/sys/kernel/perf_event_paranoid
shift
exec "$@"
"""


def profile_stacks(profile):
    """The stacks of the thread with the most samples, leaf first, as names."""
    thread = max(profile["threads"], key=lambda thread: thread["samples"]["length"])
    strings = thread.get("stringArray") or profile["shared"]["stringArray"]
    frames, names, table = thread["frameTable"]["func"], thread["funcTable"]["name"], thread["stackTable"]
    for stack in thread["samples"]["stack"]:
        symbols = []
        while stack is not None:
            symbols.append(strings[names[frames[table["frame"][stack]]]])
            stack = table["prefix"][stack]
        yield symbols


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_samply(place, backend, tmp_path):
    """samply record -s -o profile.json.gz python -X perf my_script.py"""
    level = tmp_path / "paranoid"
    level.write_text("1\n")
    done = run(["unshare", "--mount", "sh", "-c", SHOWN_PARANOID, "sh", level, *place.prefix, "samply", "record", "-s", "-o", PROFILE,
                *place.program("-X", backend)], cwd=place.cwd, status=None)
    assert samply_profile.recorded(done), done
    place.check_the_agent_did_it()
    profile = json.loads(gzip.decompress((place.folder / "profile.json.gz").read_bytes()))
    check_stacks(list(profile_stacks(profile)))
