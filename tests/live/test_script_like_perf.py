# SPDX-License-Identifier: GPL-2.0-only
"""`kaa script` beside `perf script` of perf 7, on files that both stock perfs record here and now.

With --like-perf the texts are the same, byte for byte. Without, kaa differs where perf is wrong, and nowhere else: those
places are recognised one by one. kaa runs in the chroot, so that both see the same files.
"""
import pathlib
import re

import pytest

from harness.chance import most
from harness.machine import LARGE_RINGS, SAME_PLACES
from harness.nameless import recorded_in_order
from harness.noticed import noticed_in
from harness.process import Program, run
from harness.retimed import without_chains
from harness.script_output import METHOD, parse
from harness.waiting import until

PROGRAMS = pathlib.Path(__file__).parent / "programs"

# name: compiler flags, source, arguments of perf record.
RECORDINGS = {
    "threads": (["-pthread"], "many_calls.c", ["-F", "2999", "-g", "-e", "cpu-clock"]),
    "forks": ([], "forks.c", ["-F", "4999", "-g", "-e", "cpu-clock"]),
    "events": (["-pthread"], "many_calls.c", ["-F", "1999", "-g", "-e", "cpu-clock,page-faults,context-switches"]),
    "mixed": (["-pthread"], "many_calls.c",
              ["-F", "1999", "-e", "cpu-clock/call-graph=fp/,page-faults/call-graph=no/"]),
    "flat": (["-pthread"], "many_calls.c", ["-F", "2999", "-e", "cpu-clock"]),
    "user": ([], "forks.c", ["-F", "2999", "-g", "-e", "cpu-clock:u"]),
    "period": ([], "forks.c", ["-c", "500000", "-g", "-e", "task-clock"]),
    "cpus": ([], "forks.c", ["-F", "2999", "-g", "--sample-cpu", "-e", "cpu-clock"]),
    "cpp": ([], "templates.cc", ["-F", "9999", "-g", "-e", "cpu-clock"]),
    "compressed": ([], "forks.c", ["-z", "-F", "2999", "-g", "-e", "cpu-clock"]),
    "dwarf": (["-static", "-pthread"], "many_calls.c", [*LARGE_RINGS, "-F", "499", "--call-graph", "dwarf", "-e", "cpu-clock"]),
    "dwarf-forks": (["-static", "-fomit-frame-pointer"], "forks.c",
                    [*LARGE_RINGS, "-F", "499", "--call-graph", "dwarf,16384", "-e", "cpu-clock,page-faults"]),
}


def inlines(name):
    """Where perf's inlined functions are others: in files without debug information on all of their code it takes what addr2line
    calls a function by another of its names for an inlined one; and kaa looks where the call is, not behind it."""
    return ["--no-inline"] if name.startswith("dwarf") or name == "cpp" else []


@pytest.fixture(scope="session")
def kaa_inside(kaa, chroot):
    """kaa where the peers are. A home without ~/.debug: files come from their own places."""
    return kaa.inside([*chroot.command, "env", "HOME=/nonexistent"])


@pytest.fixture(scope="session")
def perf_inside(chroot):
    return Program(*chroot.command, "env", "HOME=/nonexistent", "perf")


@pytest.fixture(scope="module", params=["perf_sid", "perf_system"])
def recorder(request):
    return request.param, request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def recordings(recorder, perf_inside, tmp_path_factory):
    """recordings(name): the file, and what perf 7 prints for it."""
    version, perf = recorder
    folder = tmp_path_factory.mktemp("script-like-perf")
    made = {}

    def record_once(name, data, words):
        perf.inside(SAME_PLACES)("record", "-q", *words)
        return perf_inside("script", *inlines(name), "-i", data).stdout

    def record(name):
        if name not in made:
            flags, source, options = RECORDINGS[name]
            program, data = folder / name, folder / f"{name}.data"
            run(["g++" if source.endswith(".cc") else "gcc", "-g", "-O1", "-fno-omit-frame-pointer", *flags,
                 "-o", program, PROGRAMS / source])
            made[name] = data, recorded_in_order(lambda: record_once(name, data, [*options, "-o", data, program]))
        return made[name]

    return record


@pytest.mark.parametrize("name", RECORDINGS)
def test_like_perf_is_perfs(name, recordings, kaa_inside):
    data, expected = recordings(name)
    actual = kaa_inside("script", "--like-perf", *inlines(name), "-i", data).stdout
    assert expected.count("\n") > 30
    if name.startswith("dwarf"):
        compare_unwound(expected, actual)
    else:
        assert actual.splitlines() == expected.splitlines()


def test_empty_callchains(recordings, kaa_inside, perf_inside):
    """Seldom the kernel records one. Here every third is."""
    data, _ = recordings("threads")
    copy = data.with_name("empty.data")
    without_chains(data, copy, lambda number: number % 3 == 0)
    expected = perf_inside("script", "-i", copy).stdout
    assert 5 < sum(not sample.frames for sample in parse(expected)) < len(parse(expected))
    assert kaa_inside("script", "--like-perf", "-i", copy).stdout.splitlines() == expected.splitlines()
    assert all(sample.frames for sample in parse(kaa_inside("script", "-i", copy).stdout))


def is_alias(theirs, ours):
    """The PLT entry of a function of several names."""
    return theirs.symbol.endswith("@plt") and ours.symbol.endswith("@plt") and theirs.offset == ours.offset


def compare_unwound(expected, actual):
    """Each of libdw and kaa's unwinder gives up in a few places where the other goes on, and in epilogues, which compilers
    do not describe, libdw takes another word for the return address (test_unwind_step is kaa's oracle there). Else equal."""
    perfs, kaas = parse(expected), parse(actual)
    assert len(perfs) == len(kaas) > 5
    unequal = 0
    for theirs, ours in zip(perfs, kaas):
        assert (theirs.comm, theirs.tid, theirs.time, theirs.event) == (ours.comm, ours.tid, ours.time, ours.event)
        if [frame.ip for frame, _ in zip(theirs.frames, ours.frames)] != \
                [frame.ip for frame, _ in zip(ours.frames, theirs.frames)]:
            unequal += 1
            continue
        for a, b in zip(theirs.frames, ours.frames):
            assert a.dso == b.dso
            assert (a.symbol, a.offset) == (b.symbol, b.offset) or is_alias(a, b)
        unequal += len(ours.frames) != len(theirs.frames)
    # One in fifty, and what chance adds to a few samples.
    assert unequal <= len(perfs) / 50 + 4


def is_cut(theirs, at):
    """True if perf's frames from `at` on are no part of the stack."""
    return theirs[at].dso == "[unknown]" or theirs[at - 1].symbol == "_start"


def is_same_frame(theirs, ours, leaf):
    if (theirs.ip, theirs.dso) != (ours.ip, ours.dso):
        return False
    if theirs.symbol == ours.symbol:
        return theirs.offset == ours.offset
    # Where perf knows no name, kaa knows where the function begins, or what Python calls it.
    if theirs.symbol == "[unknown]" and re.fullmatch(re.escape(ours.dso.rsplit("/", 1)[-1]) + r"\+0x[0-9a-f]+(-0x[0-9a-f]+)?|" + METHOD, ours.symbol):
        return True
    # A call that never returns ends its function: the return address belongs to the next one, or to none.
    return not leaf and (theirs.offset == 0 or theirs.symbol == "[unknown]")


@pytest.mark.parametrize("name", [name for name in RECORDINGS if not name.startswith("dwarf")])
def test_differs_only_where_perf_is_wrong(name, recordings, kaa_inside):
    data, expected = recordings(name)
    perfs, kaas = parse(expected), parse(kaa_inside("script", *inlines(name), "-i", data).stdout)
    assert len(perfs) == len(kaas) > 5
    for theirs, ours in zip(perfs, kaas):
        assert (theirs.tid, theirs.time, theirs.event, theirs.period) == (ours.tid, ours.time, ours.event, ours.period)
        assert theirs.comm == ours.comm or theirs.comm == f":{theirs.tid}"
        if not theirs.frames:
            assert len(ours.frames) == 1, (theirs, ours)
            continue
        for i, (a, b) in enumerate(zip(theirs.frames, ours.frames)):
            assert is_same_frame(a, b, i == 0), (theirs, ours)
        if len(ours.frames) < len(theirs.frames):
            assert is_cut(theirs.frames, len(ours.frames)), (theirs, ours)
        assert len(ours.frames) <= len(theirs.frames)


def test_dwarf_stacks_reach_the_start(recordings, kaa_inside):
    data, _ = recordings("dwarf")
    samples = [s for s in parse(kaa_inside("script", "-i", data).stdout)
               if not s.frames[0].dso.startswith("[kernel") and "many" not in s.frames[0].symbol]
    whole = [s for s in samples if s.frames[-1].symbol in ("_start", "clone", "__clone3", "clone3", "thread_start")]
    marked = [s for s in samples if s.markers]
    assert len(whole) + len(marked) == len(samples) > 10
    assert len(marked) <= most(0.02, len(samples)), marked[:3]


def filters(text):
    samples = parse(text)
    times = sorted(sample.time for sample in samples)
    middle, late = times[len(times) // 3], times[2 * len(times) // 3]
    # Of a process that has ended perf has forgotten the name.
    named = [sample for sample in samples if not sample.comm.startswith(":")]
    tid, comm = named[len(named) // 2].tid, named[len(named) // 2].comm
    yield "--tid", str(tid)
    yield "--pid", str(tid)
    yield "--comms", comm
    yield "--time", f"{middle:.6f},{late:.6f}"
    yield "--time", f"{middle:.6f},"
    yield "--time", f",{late:.6f}"
    yield "--max-stack", "3"
    yield "--ns", None


def test_filters_are_perfs(recordings, kaa_inside, perf_inside):
    data, text = recordings("forks")
    for option, value in filters(text):
        words = [option] + ([value] if value else [])
        expected = perf_inside("script", "-i", data, *words).stdout
        actual = kaa_inside("script", "--like-perf", "-i", data, *words).stdout
        assert expected, words
        assert actual.splitlines() == expected.splitlines(), words


def test_places_in_bpf_programs(bpf, kaa, kaa_inside, perf_sid, perf_inside, tmp_path):
    """Those of another recording of kaa's, which run at every fork, exec and exit."""
    other, data = tmp_path / "other.data", tmp_path / "perf.data"
    forks = "i=0; while [ $i -lt 2000 ]; do /bin/true; i=$((i+1)); done"
    with kaa.start("record", "-q", "-a", "-F", "1", "-o", other, "sleep", "1000"):
        until(lambda: other.exists() and other.stat().st_size > 8192, "the recording's beginning")
        perf_sid("record", "-q", "-g", "-F", "20000", "-e", "cpu-clock:k", "-o", data, "sh", "-c", forks)
    # perf forgets the programs of a recording that ends meanwhile, and may keep the name of one for the next in its place. One
    # that ended before perf asked what it is counts as a file.
    events = perf_inside("script", "-i", data, "--show-bpf-events").stdout
    spans = [(range(int(address, 16), int(address, 16) + int(size)), flags != "0x0", name) for address, size, flags, name in
             re.findall(r"PERF_RECORD_KSYMBOL addr (\w+) len (\d+) type \d+ flags (\w+) name (\S+)", events)]
    asked = set(re.findall(r"# bpf_prog_info \d+: (\S+) addr 0x(\w+)",
                           perf_inside("report", "-i", data, "--header-only", "-I").stdout))
    gone = [span for span, is_gone, name in spans
            if is_gone or (name, f"{span.start:x}") not in asked
            or any(name != other and span.start < its.stop and its.start < span.stop for its, _, other in spans)]

    def stays(block):
        ip = re.search(r"\b(ffff\w{12}) bpf_prog_\w+_kaa_", block)
        return ip and not any(int(ip[1], 16) in addresses for addresses in gone)

    for options in (["-F", "+srcline"], ["-F", "+dsoff"], []):
        perfs, kaas = [list(filter(stays, re.split(r"\n(?=\t|\S|\n)", program("script", "-i", data, *options).stdout)))
                       for program in (perf_inside, kaa_inside)]
        assert perfs and kaas == perfs, options


def test_reads_from_a_pipe(kaa_inside, perf_inside, chroot, tmp_path):
    data = tmp_path / "pipe.data"
    chroot("sh", "-c", f"perf record -q -g -e cpu-clock -F 2999 -o - -- sh -c "
           f"'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' > {data}")
    raw = data.read_bytes()
    expected = perf_inside("script", "-i", "-", data=raw).stdout
    actual = kaa_inside("script", "--like-perf", "-i", "-", data=raw).stdout
    assert expected.count("\n") > 30
    assert actual.splitlines() == expected.splitlines()


def test_perf_map_names_trampolines(chroot, perf_sid, kaa_inside, perf_inside, scripts, tmp_path):
    data = tmp_path / "perf.data"
    perf_sid("record", "-q", "-g", "-e", "cpu-clock", "-F", "1999", "-o", data, "python3.14", "-X", "perf",
             scripts / "doc_script.py", "0.2")
    expected = perf_inside("script", "-i", data).stdout
    assert "py::foo:" in expected
    assert kaa_inside("script", "--like-perf", "-i", data).stdout.splitlines() == expected.splitlines()


def without_tip(text):
    return re.sub(r"#\n# \([Tt]ip: .*\n#\n\Z", "", text).rstrip("\n").splitlines()


@pytest.mark.one_of(3)
@pytest.mark.parametrize("options", ["-n -g", "-n --no-children -g caller", "--no-children -g none", "--sort=comm,dso",
                                     "--percent-limit=3", "--comms=grandchild --no-children"])
@pytest.mark.parametrize("name", ["threads", "forks", "events"])
def test_report_is_perfs(name, options, recordings, kaa_inside, perf_inside):
    """From the file to the report; more options are in test_report_like_perf.py."""
    data, _ = recordings(name)
    expected = perf_inside("report", "--stdio", "--no-inline", "-i", data, *options.split()).stdout
    actual = kaa_inside("report", "--stdio", "--like-perf", "-i", data, *options.split()).stdout
    assert "Samples:" in expected
    assert without_tip(actual) == without_tip(expected)


def without_stream(text):
    """perf lists the records of kaa's stream as samples of the event kaa."""
    return re.sub(r"^ *\S.* kaa: .*\n(?:.+\n)*\n", "", text, flags=re.MULTILINE)


def test_functions_of_the_vdso(bpf, kaa, kaa_inside, perf_inside, newest_python, tmp_path):
    """They are in no file: the names are those of this kernel's own, as in perf, also in kaa's own recordings."""
    script, data = tmp_path / "clock.py", tmp_path / "perf.data"
    script.write_text("import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end:\n"
                      "    for _ in range(1000): time.time()\n")
    kaa("record", "-q", "-F", "1999", "-g", "-o", data, *newest_python.command, script)
    names = [re.findall(r"^\t *(\w+) (.*) \(\[vdso\]\)$", tool("script", "-i", data).stdout, re.M)
             for tool in (kaa_inside, perf_inside)]
    assert len(names[0]) > 2 and names[0] == names[1]
    assert any(name.startswith("__vdso_") for _, name in names[0]), names[0][:5]


def samples_without_bpf(kaas, perfs):
    """Those of kaa's text, and of perf's, that are not inside a BPF program of another recorder: perf forgets its name
    when the program is unloaded, and other CPUs may still run it then."""
    kaas, perfs = kaas.split("\n\n"), perfs.split("\n\n")
    assert len(kaas) == len(perfs)
    kept = [(a, b) for a, b in zip(kaas, perfs) if "[unknown] ([unknown])" not in b or " bpf_prog_" not in a]
    assert len(kept) > 0.9 * len(kaas)
    return ["\n\n".join(texts).splitlines() for texts in zip(*kept)]


def test_kaas_file_reads_the_same_in_perf(bpf, kaa, kaa_inside, perf_inside, newest_python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-q", "-F", "1999", "-g", "-o", data, *newest_python.command, scripts / "doc_script.py", "0.2")
    for options in ([], ["-F", "+srcline"]):
        expected = perf_inside("script", "--max-stack", "8000", "-i", data, *options).stdout
        actual = kaa_inside("script", "--max-stack", "0", "-i", data, *options).stdout
        assert any("py::foo:" in line for line in actual.splitlines())
        actual, expected = samples_without_bpf(actual, without_stream(expected))
        assert actual == expected
