# SPDX-License-Identifier: GPL-2.0-only
"""Code that is in no file (scripts/made_code.py, programs/made_code.c): what it registered names and unwinds it, else its
stack goes on at Python's next mark, and says so. No stack has a caller that none has called."""
import functools
import re
import subprocess

import pytest

from harness import pythons
from harness.chance import most
from harness.noticed import noticed_in
from harness.process import run
from harness.script_output import parse

pytestmark = pytest.mark.usefixtures("bpf")

MISSING, TRUNCATED, UNREADABLE = "[missing native frames]", "[truncated stack]", "[unreadable Python frames]"
MADE = re.compile(r"/tmp/perf-\d+\.map$")
# What may unwind without a word from the program: the first and last instructions of the outer function are known.
OUTER = {("bare_outer",), ("framed_outer",)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The library, and the object file that it loads, whose code comes to lie at the start of a page."""
    folder = tmp_path_factory.mktemp("made")
    library, code = folder / "libmade.so", folder / "made_code.o"
    programs = "tests/live/programs/"
    subprocess.run(["cc", "-O2", "-g", "-shared", "-fPIC", "-o", library, programs + "made_code.c"], check=True)
    subprocess.run(["cc", "-c", "-o", code, programs + "made_code.s"], check=True)
    return library, code


@pytest.fixture
def samples(kaa, python, scripts, tmp_path, built):
    """Samples that hit made code."""
    def record(how):
        data = tmp_path / "made.data"
        kaa.inside(noticed_in(data))("record", "-q", "-F", "999", "-g", "-o", data, *python.command, scripts / "made_code.py", *built, how, "1", data)
        every = parse(kaa("script", "--no-inline", "-i", data).stdout)
        hit = [sample for sample in every if sample.frames and MADE.search(sample.frames[0].dso)]
        assert len(hit) > 50, f"only {len(hit)} of {len(every)} samples"
        # One of thousands may hit a page that the kernel is moving.
        seen = [sample for sample in hit if sample.python and UNREADABLE not in sample.markers]
        # A native stack that ends in the code does not tell whether Python called it.
        unmarked = [sample for sample in hit if not sample.python and not {UNREADABLE, TRUNCATED} & set(sample.markers)]
        assert not unmarked, (len(unmarked), len(hit), unmarked[:3])
        # Before kaa has noticed the Python, which on a busy machine may take a tenth of a second, no sample has Python frames.
        noticed = [sample for sample in hit if sample.time >= seen[0].time]
        assert len(noticed) - len(seen) <= most(0.01, len(noticed)) and len(seen) > 40, (len(seen), len(noticed), len(hit))
        return seen
    return record


# Loops that a JIT compiles, C functions that they call, and Python functions that those call back.
JITTED = """
import functools, sys, time
def inner(n):
    total = 0
    for i in range(n):
        total += i * 3 % 7
    return total
def back(a, b):
    return inner(300) - inner(301) or a - b
def outer():
    for _ in range(20):
        inner(2000)
        sorted(range(20), key=functools.cmp_to_key(back))
end = time.process_time() + 1.2
while time.process_time() < end:
    outer()
print(sys._jit.is_enabled())
"""
JITTED_CALLERS = {"inner": {"outer", "back"}, "back": {"outer"}, "outer": {"<module>"}}


def with_jit():
    """CPythons that have one, and can be told to use it."""
    query = "import sys; print(getattr(sys, '_jit', None) and sys._jit.is_available())"
    newer = [python for python in pythons.find() if python.version >= (3, 14)]
    return [python for python in newer if run([*python.command, "-c", query]).stdout.strip() == "True"]


def test_cpythons_own_jit(kaa, tmp_path):
    """Its code is the interpreter's: no function of Python's, nor a caller of one; and no native stack ends in it."""
    found = with_jit()
    if not found:
        pytest.skip("no CPython here has a JIT")
    for python in found:
        data = tmp_path / f"{python.id}.data"
        program = ["env", "PYTHON_JIT=1", python.path, "-c", JITTED]
        assert "True" in python.kaa(kaa).inside(noticed_in(data))("record", "-F", "1999", "-g", "-o", data, "--", *program).stdout
        samples = [sample for sample in parse(kaa("script", "--no-inline", "-i", data).stdout) if "outer" in functions(sample)]
        assert len(samples) > 100
        for sample in samples:
            names = functions(sample)
            wrong = [pair for pair in zip(names, names[1:]) if pair[1] not in JITTED_CALLERS.get(pair[0], {pair[1]})]
            assert not wrong and not any("jit" in name for name in names), sample
        assert_few(0.02, samples, lambda sample: {TRUNCATED, UNREADABLE} & set(sample.markers))
        made = [sample for sample in samples if any(MADE.search(frame.dso) for frame in sample.frames)]
        assert len(made) > 20, (python, len(samples))
        # Before 3.15 nothing tells how its code is unwound, and what is beyond it is found by Python's marks.
        named = [sample for sample in made if "jit:executor" in sample.symbols]
        if python.version >= (3, 15):
            assert_few(0.05, made, lambda sample: sample.markers)
            assert_few(0.5, made, lambda sample: sample not in named)
            kinds = kaa("report", "--stdio", "-i", data).stdout
            assert re.search(r"^Spent in: .*interpreter", kinds, re.M) and "executor" not in kinds, kinds


def functions(sample):
    """Python's, the innermost first."""
    return [name for name, _, _ in reversed(sample.python)]


@functools.lru_cache
def table_of(code):
    """[(function, first byte, end)]"""
    words = [line.split() for line in subprocess.run(["nm", "-S", code], capture_output=True, text=True,
                                                     check=True).stdout.splitlines()]
    return [(name, int(start, 16), int(start, 16) + int(size, 16)) for start, size, _, name in words]


def made(sample, code):
    """The names of the innermost frames that are made code, by the object file."""
    names = []
    for frame in sample.frames:
        if not MADE.search(frame.dso):
            break
        at = frame.ip % 4096 - bool(names)
        names += [name for name, start, end in table_of(code) if start <= at < end]
    return tuple(names)


def ends_at_the_start(sample):
    """Some C libraries do not name it."""
    return sample.symbols[-1] in ("_start", "[unknown]") and "python" in sample.frames[-1].dso


def assert_few(share, samples, wrong):
    """No more of them than that share, and what chance adds to it."""
    found = [sample for sample in samples if wrong(sample)]
    assert len(found) <= most(share, len(samples)), (len(found), len(samples), found[:3])


def goes_on(python):
    """Whether kaa can find a call of the evaluation function again: 3.8 and 3.9 have no marks."""
    return python.version >= (3, 10) and not python.prefix


@pytest.mark.few_versions
def test_goes_on_at_python(python, samples, built):
    """Between the code and its Python function native frames are missing; all others are there."""
    for sample in (hit := samples("bare")):
        assert functions(sample) == ["innermost", "run_bare", "main", "<module>"], sample
        assert sample.markers in ([MISSING], [TRUNCATED]) or made(sample, built[1]) in OUTER, sample
        if sample.markers == [MISSING]:
            at = sample.symbols.index(MISSING)
            assert "py::innermost:" in sample.symbols[at + 2], sample
            assert not any(symbol.startswith("py::") for symbol in sample.symbols[:at]), sample
            assert ends_at_the_start(sample), sample
    if goes_on(python):
        assert_few(0.01, hit, lambda sample: sample.markers != [MISSING])


@pytest.mark.few_versions
def test_goes_on_twice(python, samples, built):
    # The others are in bare_call() itself.
    hit = [sample for sample in samples("nested") if functions(sample)[0] != "run_nested"]
    for sample in hit:
        assert functions(sample) == ["innermost", "back", "run_nested", "main", "<module>"], sample
        assert sample.markers, sample
        if TRUNCATED not in sample.markers:
            assert sample.markers == [MISSING] * 2 or made(sample, built[1]) in OUTER and sample.markers == [MISSING], sample
            assert ends_at_the_start(sample), sample
            last = len(sample.symbols) - 1 - sample.symbols[::-1].index(MISSING)
            assert "py::run_nested:" in sample.symbols[last + 2], sample
    if goes_on(python):
        assert_few(0.01, hit, lambda sample: TRUNCATED in sample.markers)


@pytest.mark.few_versions
@pytest.mark.parametrize("how", ["registered", "moved"])
def test_registered(samples, how):
    """Names and rows of the GDB JIT interface, from the first sample on.

    The recorder takes one CPU's samples after the other's: of a program that moves, it meets late samples before early ones.
    """
    def is_whole(sample):
        names = [frame.symbol for frame in sample.frames if MADE.search(frame.dso)]
        return names in (["bare_inner", "bare_outer"], ["bare_outer"]) and sample.markers == []

    for sample in (hit := samples(how)):
        assert functions(sample) == ["innermost", "run_bare", "main", "<module>"], sample
        if not is_whole(sample):
            # Before the list was read: marked, or along frame pointers and without names.
            unnamed = all(MADE.search(frame.dso) and frame.symbol == "[unknown]" for frame in sample.frames[:2])
            assert sample.markers or unnamed, sample
        if not sample.markers:
            assert ends_at_the_start(sample), sample
    assert_few(0.05, hit, lambda sample: not is_whole(sample))


@pytest.mark.few_versions
def test_frame_pointers(samples, built):
    hit = samples("framed")
    for sample in hit:
        assert functions(sample) == ["run_framed", "main", "<module>"], sample
        if not sample.markers:
            assert made(sample, built[1]) in OUTER | {("framed_inner", "framed_outer")}, sample
            assert ends_at_the_start(sample), sample
    assert_few(0.1, hit, lambda sample: sample.markers)


@pytest.mark.few_versions
def test_no_caller_is_left_out(samples):
    """The frame pointer of code without a frame of its own is its caller's: the caller is there, or there is a mark."""
    hit = samples("frameless")
    for sample in hit:
        assert functions(sample) == ["run_frameless", "main", "<module>"], sample
        assert sample.markers or "made_call" in sample.symbols, sample
        assert "made_call" in sample.symbols or "made_call_twice" not in sample.symbols, sample
