# SPDX-License-Identifier: GPL-2.0-only
"""Jitdumps: `kaa inject --jit` beside `perf inject --jit`, and kaa reading dumps by itself.

Who is right: stock perf's own inject where it works, and programs that know what they ran where and when
(scripts/jit.py).
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from harness import pythons, samply_profile, script_output
from harness.image import image_of
from harness.losses import without_losses
from harness.machine import LARGE_RINGS
from harness.agent import Private
from harness.process import Program, run
from harness.retimed import records
from harness.waiting import innermost_child, while_busy

JIT = pathlib.Path(__file__).parent / "scripts" / "jit.py"
RUNTIME = "/usr/bin/python3"
QUIET = ["-q", "--no-buildid"]

pytestmark = pytest.mark.usefixtures("root")


def samples_of(result, quiet=True):
    """Code without frame pointers may leave anything in their register, so that perf records a chain with a word that is
    no address. kaa counts these."""
    said = re.sub(r"kaa \w+: warning: \d+ callchains? (is|are) damaged\n", "", without_losses(result.stderr))
    assert not quiet or not said, f"not without a word: {result}"
    return script_output.parse(result.stdout)


def names(sample, prefix):
    return [frame.symbol for frame in sample.frames if frame.symbol.startswith(prefix)]


def check_same(theirs, ours, prefix):
    """The same names in as many samples, perf's as the measure."""
    assert [(s.tid, s.time) for s in theirs] == [(s.tid, s.time) for s in ours]
    assert sum(bool(names(s, prefix)) for s in theirs) > 3, "the recording shows nothing"
    different = [(a, b) for a, b in zip(theirs, ours) if names(a, prefix) != names(b, prefix)]
    assert not different, f"{len(different)} of {len(theirs)}, the first: {different[0]}"


# --- CPython's own dumps ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["3.13", "3.14", "3.15"])
def perf_jit(request, kaa, build_dir, chroot, tmp_path_factory):
    """A python -X perf_jit of the chroot, recorded with --call-graph dwarf, without -k 1 too."""
    python, = (python for python in pythons.find() if python.prefix and python.id.startswith(request.param))
    folder = tmp_path_factory.mktemp("perf_jit")
    private = Private(folder, build_dir, *chroot.command)
    shutil.copy(JIT.parent / "doc_script.py", folder / "doc.py")
    perf = private.program("perf")
    for clock in (["-k", "1"], []):
        perf("record", "-q", *LARGE_RINGS, *clock, "-F", "299", "-e", "cpu-clock:u", "--call-graph", "dwarf,16384", "-o",
             f"clock{len(clock)}.data", python.path, "-X", "perf_jit", "doc.py", "1")
    return private, perf


def test_python_names_as_perf_inject_has_them(perf_jit):
    private, perf = perf_jit
    perf("inject", "--jit", "-i", "clock2.data", "-o", "theirs.data")
    theirs = samples_of(perf("script", "--no-inline", "-i", "theirs.data"), quiet=False)
    theirs_files = {path.name for path in private.folder.glob("jitted-*.so")}
    for path in private.folder.glob("jitted-*.so"):
        path.unlink()
    private.kaa("inject", "--jit", "-i", "clock2.data", "-o", "ours.data")
    assert {path.name for path in private.folder.glob("jitted-*.so")} == theirs_files
    check_same(theirs, samples_of(perf("script", "--no-inline", "-i", "ours.data")), "py::")
    # What kaa unwinds through images it unwinds through the dump, too.
    check_same(samples_of(private.kaa("script", "-i", "clock2.data")),
               samples_of(private.kaa("script", "-i", "ours.data")), "py::")
    assert "py::foo:/tmp/doc.py" in perf("report", "--stdio", "-i", "ours.data").stdout


def test_python_names_without_inject(perf_jit):
    """Whole Python stacks, also of a recording whose clock is not the dump's."""
    private, _ = perf_jit
    chain = [f"py::{name}:/tmp/doc.py" for name in ("foo", "bar", "baz", "<module>")]
    for data in ("clock2.data", "clock0.data"):
        samples = samples_of(private.kaa("script", "-i", data))
        # What is not the script itself is the interpreter's start and end.
        in_script = [sample for sample in samples if chain[0] in sample.symbols]
        assert len(in_script) > 3
        whole = [sample for sample in in_script if names(sample, "py::") == chain]
        assert len(whole) >= min(0.95 * len(in_script), len(in_script) - 3), samples
        assert "py::foo:/tmp/doc.py" in private.kaa("report", "-g", "none", "-i", data).stdout


def test_inject_without_k1(perf_jit):
    private, perf = perf_jit
    private.kaa("inject", "--jit", "-i", "clock0.data", "-o", "aligned.data")
    direct = samples_of(private.kaa("script", "-i", "clock0.data"))
    injected = samples_of(perf("script", "--no-inline", "-i", "aligned.data"))
    found = [[bool(names(sample, "py::foo")) for sample in samples] for samples in (direct, injected)]
    assert sum(found[1]) >= min(0.9 * sum(found[0]), sum(found[0]) - 3) and sum(found[1]) > 0
    # The clocks are aligned to some microseconds or, on a busy machine, milliseconds: an image may be dated before the
    # memory that its code is in.
    images = []
    for line in private.kaa("script", "--show-mmap-events", "-i", "aligned.data").stdout.splitlines():
        if match := re.search(r"PERF_RECORD_MMAP2? .*?: \[0x(\w+)\(0x(\w+)\) .*?\]: \S+ (.*)", line):
            start, size = int(match[1], 16), int(match[2], 16)
            hidden = [image for image in images if image[0] < start + size and image[1] > start]
            assert "jitted-" in match[3] or not hidden, line
            images += [(start, start + size)] if "jitted-" in match[3] else []
    assert len(images) > 100


# --- A program that knows what it ran -----------------------------------------------------------------------------


class Recording:
    def __init__(self, perf, folder, how, clock, *count):
        self.data, self.folder = folder / "perf.data", folder
        result = perf("record", *QUIET, *clock, "-F", "1999", "-g", "-e", "cpu-clock:u", "-o", self.data,
                      RUNTIME, JIT, folder, how, *count)
        self.truth = json.loads(result.stdout)
        self.monotonic = bool(clock)

    def check(self, samples):
        """Samples in the loops have the name that the code had at that time. Without a common clock the times in
        which nothing else was at the address tell as much."""
        hits = [sample for sample in samples if sample.frames and sample.frames[0].symbol.endswith(tuple(self.names))]
        assert len(hits) > 5 * len(self.truth), f"only {len(hits)} samples have a name of {self.names}"
        if self.monotonic:
            wrong = [sample for sample in hits if not self.is_true(sample)]
            assert len(wrong) <= 0.02 * len(hits), f"{len(wrong)} of {len(hits)}: {wrong[:2]}"
        counts = collections.Counter(sample.frames[0].symbol for sample in hits)
        assert set(counts) == self.names and min(counts.values()) > 5, counts

    @property
    def names(self):
        return {name for name, *_ in self.truth}

    def is_true(self, sample):
        """Ends of spans may be a tick off: perf prints microseconds."""
        return any(name == sample.frames[0].symbol and begin - 5e6 <= sample.time * 1e9 <= end + 5e6
                   for name, _, begin, end in self.truth)


@pytest.fixture(scope="module")
def recording(perf_system, tmp_path_factory):
    made = {}

    def make(how, clock=("-k", "1"), *count):
        key = (how, clock, count)
        if key not in made:
            made[key] = Recording(perf_system, tmp_path_factory.mktemp(how), how, clock, *count)
        return made[key]

    return make


@pytest.mark.parametrize("how, clock", [("reuse", ("-k", "1")), ("reuse", ()), ("move", ("-k", "1")), ("fork", ())])
def test_names_by_address_and_time(kaa, perf_system, recording, how, clock):
    made = recording(how, clock)
    made.check(samples_of(kaa("script", "-i", made.data)))
    injected = made.folder / "injected.data"
    kaa("inject", "--jit", "-i", made.data, "-o", injected)
    made.check(samples_of(perf_system("script", "-i", injected)))
    made.check(samples_of(kaa("script", "-i", injected)))


def test_a_child_has_its_parents_code(kaa, recording):
    made = recording("fork", ())
    tids = {sample.tid for sample in samples_of(kaa("script", "-i", made.data))
            if "inherited code" in sample.symbols}
    assert len(tids) == 2


def test_perf_7_reads_it_too(kaa, perf_sid, recording):
    made = recording("reuse")
    injected = made.folder / "for-perf-7.data"
    kaa("inject", "--jit", "-i", made.data, "-o", injected)
    made.check(samples_of(perf_sid("script", "-i", injected)))
    report = perf_sid("report", "--stdio", "-g", "none", "-i", injected)
    assert "first code" in report.stdout and "second code" in report.stdout and not without_losses(report.stderr), report


def lines_at_leaf(result, name):
    return collections.Counter((pathlib.PurePath(sample.frames[0].file or "").name, sample.frames[0].line)
                               for sample in samples_of(result) if sample.symbols[:1] == [name])


def test_lines(kaa, perf_system, recording):
    made = recording("lines")
    injected = made.folder / "injected.data"
    kaa("inject", "--jit", "-i", made.data, "-o", injected)
    for result in (kaa("script", "-F", "+srcline", "-i", made.data),
                   kaa("script", "-F", "+srcline", "-i", injected),
                   perf_system("script", "-F", "+srcline", "-i", injected)):
        (line, count), *others = lines_at_leaf(result, "code with lines").most_common()
        assert line == ("a.x", 11) and count > 5
        assert sum(n for _, n in others) <= max(2, 0.05 * count), others
    annotated = perf_system("annotate", "--stdio", "-l", "-i", injected, "-s", "code with lines", status=None)
    assert "dec" in annotated.stdout and "a.x:11" in annotated.stdout, annotated


def test_samply(kaa, samply, recording, tmp_path):
    made = recording("reuse")
    injected, saved = made.folder / "for-samply.data", tmp_path / "profile.json"
    kaa("inject", "--jit", "-i", made.data, "-o", injected)
    samply("import", "-s", "-n", "-o", saved, injected)
    profile = json.loads(saved.read_text())
    shown = collections.Counter()
    for image in {lib["name"] for lib in profile["libs"] if lib["name"].startswith("jitted-")}:
        stacks, libs = samply_profile.stacks_in(profile, image)
        for stack in samply_profile.symbolicated(samply, saved, [stack for stack in stacks if stack], libs):
            shown[stack[0][0]] += 1
    assert set(shown) == made.names and min(shown.values()) > 5, shown


def test_much_code(kaa, perf_system, recording):
    """20,000 pieces of code: with --sampled-only the images of those that samples hit."""
    made = recording("many", ("-k", "1"), "20000")
    made.check(samples_of(kaa("script", "-i", made.data)))
    injected = made.folder / "injected.data"
    kaa("inject", "--jit", "--sampled-only", "-i", made.data, "-o", injected)
    images = list(made.folder.glob("jitted-*.so"))
    assert 3 <= len(images) < 100
    made.check(samples_of(perf_system("script", "-i", injected)))


def test_a_dump_that_is_gone(kaa, recording, tmp_path):
    """Said once; everything else is shown and copied."""
    made = recording("plain")
    dump, = made.folder.glob("jit-*.dump")
    dump.rename(tmp_path / "away")
    try:
        copy = tmp_path / "copy.data"
        for result in (kaa("script", "-i", made.data), kaa("inject", "--jit", "-i", made.data, "-o", copy)):
            assert "jitdump could not be used" in result.stderr and str(dump) in result.stderr
        assert len(samples_of(kaa("script", "-i", copy), quiet=False)) == \
            len(samples_of(kaa("script", "-i", made.data), quiet=False))
    finally:
        (tmp_path / "away").rename(dump)
    assert "plain code" in kaa("script", "-i", made.data).stdout


def test_a_link_is_no_dump(kaa, recording, tmp_path):
    made = recording("plain")
    dump, = made.folder.glob("jit-*.dump")
    dump.rename(tmp_path / "away")
    try:
        dump.symlink_to(tmp_path / "away")
        result = kaa("script", "-i", made.data)
        assert "jitdump could not be used" in result.stderr and "plain code" not in result.stdout
    finally:
        dump.unlink()
        (tmp_path / "away").rename(dump)


# The script stays open, if it is below /tmp.
CONTAINER = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
             'python=$1; exec 3<"$2"; shift 2; mount -t tmpfs none /tmp && exec "$python" /dev/fd/3 "$@"', "sh"]


def test_a_running_container(kaa, perf_system, tmp_path):
    """Attached to, without a common clock; the dump is in the container's own /tmp, under the number that the process
    has in there, and so are the images."""
    data, injected = tmp_path / "perf.data", tmp_path / "injected.data"
    with Program(*CONTAINER).start(RUNTIME, JIT, "/tmp", "serve", stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        pid = innermost_child(process.pid)
        inside = pathlib.Path(f"/proc/{pid}/root/tmp")
        assert (inside / "jit-1.dump").exists()
        perf_system("record", *QUIET, "-p", pid, "-F", "1999", "-g", "-e", "cpu-clock:u", "-o", data, "--",
                    *while_busy(pid, 0.5))
        kaa("inject", "--jit", "-i", data, "-o", injected)
        assert (inside / "jitted-1-1.so").exists()
        for result in (kaa("script", "-i", data), kaa("script", "-i", injected), perf_system("script", "-i", injected)):
            samples = samples_of(result)
            named = [sample for sample in samples if "serving code" in sample.symbols]
            assert len(named) > len(samples) / 2 > 10, result


def test_like_perf_reads_no_dump(kaa, recording):
    result = kaa("script", "--like-perf", "-i", recording("plain").data)
    assert "plain code" not in result.stdout and not without_losses(result.stderr)


def test_an_image_is_written_through_no_link(kaa, recording, tmp_path):
    made = recording("plain")
    kaa("inject", "--jit", "-i", made.data, "-o", tmp_path / "one.data")
    image, = made.folder.glob("jitted-*-1.so")
    image.unlink()
    victim = tmp_path / "victim"
    victim.write_text("precious")
    image.symlink_to(victim)
    kaa("inject", "--jit", "-i", made.data, "-o", tmp_path / "two.data")
    assert victim.read_text() == "precious" and not image.is_symlink()
    assert "X86-64" in run(["readelf", "-h", image]).stdout


def test_a_pipe(kaa, perf_system, recording, tmp_path):
    made = recording("plain")
    piped = run(["sh", "-c", '"$0" inject --jit -b -i "$1" | "$2" script -i -', *kaa.command, made.data,
                 *perf_system.command])
    made.check(samples_of(piped, quiet=False))


# --- Node.js ------------------------------------------------------------------------------------------------------

NODE_PROGRAM = """
function foo(n) { let r = 0; for (let i = 0; i < n; i++) r = (r * 31 + i) | 0; return r; }
function bar(n) { return foo(n) + 1; }
let s = 0; const end = process.cpuUsage().user + 600000;
while (process.cpuUsage().user < end) for (let i = 0; i < 20; i++) s += bar(20000);
"""


def test_node(kaa, perf_system, tmp_path):
    node = shutil.which("node")
    if not node:
        pytest.skip("no Node.js in PATH")
    (tmp_path / "program.js").write_text(NODE_PROGRAM)
    perf_system("record", *QUIET, "-k", "1", "-F", "299", "-g", "-e", "cpu-clock:u", "-o", "perf.data", node, "--perf-prof",
                "program.js", cwd=tmp_path)
    perf_system("inject", "--jit", "-i", "perf.data", "-o", "theirs.data", cwd=tmp_path)
    theirs = samples_of(perf_system("script", "--no-inline", "-i", "theirs.data", cwd=tmp_path), quiet=False)
    kaa("inject", "--jit", "-i", "perf.data", "-o", "ours.data", cwd=tmp_path)
    ours = samples_of(perf_system("script", "--no-inline", "-i", "ours.data", cwd=tmp_path), quiet=False)
    check_same(theirs, ours, ("JS:", "Builtin:"))
    check_same(theirs, samples_of(kaa("script", "-i", tmp_path / "perf.data")), ("JS:", "Builtin:"))


# --- Raw stacks and Python's image --------------------------------------------------------------------------------


def size_of_records(path):
    """Without what perf writes behind them, as the code of all BPF programs of the machine."""
    return sum(size for _, _, size in records(path.read_bytes()))


def test_convert_callchain(kaa, perf_system, newest_python, scripts, tmp_path):
    data, plain = tmp_path / "perf.data", tmp_path / "plain.data"
    perf_system("record", *QUIET, *LARGE_RINGS, "-F", "299", "-e", "cpu-clock:u", "--call-graph", "dwarf,16384", "-o", data,
                *newest_python.command, scripts / "doc_script.py", "0.6")
    kaa("inject", "--convert-callchain", "-i", data, "-o", plain)
    assert size_of_records(plain) < size_of_records(data) / 5
    before = samples_of(kaa("script", "-i", data))
    after = samples_of(kaa("script", "-i", plain))
    assert len(before) == len(after) > 5
    same = sum(a.symbols[:len(b.symbols)] == b.symbols or b.symbols[:len(a.symbols)] == a.symbols
               for a, b in zip(before, after))
    assert same >= min(0.98 * len(before), len(before) - 3)
    theirs = samples_of(perf_system("script", "--no-inline", "--max-stack", "500", "-i", plain), quiet=False)
    deep = [b for a, b in zip(before, theirs) if len(a.frames) > 5]
    assert len(before) == len(theirs) and len(deep) > 3 and sum(len(sample.frames) > 5 for sample in deep) > 0.9 * len(deep)


def python_samples(perf, data):
    result = perf("script", "--no-inline", "-F", "comm,tid,time,event,ip,sym,symoff,dso", "-i", data)
    return [sample for sample in samples_of(result) if sample.event != "kaa"]


def test_pythons_image_again(kaa, perf_system, newest_python, scripts, bpf, tmp_path):
    data, again = tmp_path / "perf.data", tmp_path / "again.data"
    kaa("record", "-q", "-F", "499", "-g", "-o", data, *newest_python.command, scripts / "doc_script.py", "0.8")
    before = python_samples(perf_system, data)
    image_of(data).unlink()
    kaa("inject", "--python", "-i", data, "-o", again)
    assert image_of(again).exists()
    check_same(before, python_samples(perf_system, again), "py::")


# --- The command line ---------------------------------------------------------------------------------------------


def test_what_makes_no_sense(kaa, recording, tmp_path):
    data = recording("plain").data
    for words in (["--itrace=i"], ["--strip"], ["-s"], ["--sampled-only"], ["--python"], ["--jit", "-o", data]):
        result = kaa("inject", "-i", data, *words, status=129)
        assert result.stderr.startswith("kaa inject: ") and not result.stdout, result
