# SPDX-License-Identifier: GPL-2.0-only
"""`kaa script --like-perf` beside `perf script` of perf 7: whole outputs, byte for byte, for what -F and the other options say.

Both stock perfs record here and now. ./check takes each set of options on the recordings that have most to show with it;
KAA_SCRIPT_MATRIX=1 takes all sets on all recordings (some minutes) and prints how many were compared.
"""
import os
import pathlib
import random
import re

import pytest

from harness import machine
from harness.machine import TRACEFS
from harness.process import Program, run

PROGRAMS = pathlib.Path(__file__).parent / "programs"
MATRIX = bool(os.environ.get("KAA_SCRIPT_MATRIX"))

# name: recorder, source, compiler flags, arguments of perf record.
RECORDINGS = {
    "tasks": ("perf_sid", "tasks.c", ["-pthread"], ["-F", "999", "-g", "-d", "-e", "cpu-clock,page-faults,context-switches"]),
    "old": ("perf_system", "tasks.c", ["-pthread"], ["-F", "3999", "-g", "-e", "cpu-clock"]),
    "flat": ("perf_sid", "tasks.c", ["-pthread"], ["-F", "3999", "-d", "-e", "cpu-clock,page-faults"]),
    "values": ("perf_sid", "tasks.c", ["-pthread"],
               ["-F", "499", "--all-cgroups", "--namespaces", "--switch-events", "--code-page-size", "--data-page-size",
                "--phys-data", "-W", "-d", "-k", "mono", "-e", "cpu-clock,page-faults"]),
    "registers": ("perf_sid", "tasks.c", ["-pthread"],
                  ["-F", "2999", "-g", "--intr-regs=ax,bx,ip,r12", "--user-regs=ip,sp,bp", "-e", "cpu-clock"]),
    "everything": ("perf_sid", "tasks.c", ["-pthread"], ["-a", "-F", "2999", "-g", "--switch-events", "-e", "cpu-clock"]),
    "tracepoints": ("perf_sid", "tasks.c", ["-pthread"],
                    ["-F", "499", "-e", "sched:sched_switch,sched:sched_process_fork,sched:sched_process_exec,"
                     "sched:sched_process_wait,raw_syscalls:sys_enter,syscalls:sys_enter_mmap,cpu-clock"]),
    "tracepoint-chains": ("perf_sid", "tasks.c", ["-pthread"], ["-g", "-e", "sched:sched_switch,raw_syscalls:sys_exit"]),
    "inlined": ("perf_sid", "inlined.c", ["-O2"], ["-F", "2999", "-g", "-e", "cpu-clock"]),
    "cpp": ("perf_sid", "templates.cc", [], ["-F", "2999", "-g", "-e", "cpu-clock"]),
    "dwarf": ("perf_sid", "tasks.c", ["-pthread"], ["-F", "199", "--call-graph", "dwarf", "-e", "cpu-clock"]),
}

# Options, and the recordings for ./check (none: only where all are compared). Addresses of data have no names in kaa, so sym does not stand beside addr.
SETS = [
    ("", "tasks tracepoints"),
    ("-F comm,tid,time,ip,sym", ""),
    ("-F ip", ""),
    ("-F ip,dso", ""),
    ("-F ip,sym,symoff,dso,srcline", "inlined"),
    ("-F +srcline -G", ""),
    ("-F +srcline --full-source-path", ""),
    ("-F +dsoff,+misc,+pid,+cpu", "everything"),
    ("-F -comm,-tid,-time,-dso", ""),
    ("-F ip,addr,time,flags", "flat"),
    ("-F +addr,-sym,-symoff,+dsoff", "tasks"),
    ("-F comm -F trace:trace,cpu,misc", "tracepoints"),
    ("-F trace:-cpu,+ip -F sw:period", "tracepoint-chains"),
    ("-F +weight,+ins_lat,+retire_lat,+phys_addr,+data_page_size,+code_page_size,+cgroup,+data_src,+tod --ns", "values"),
    ("-F +iregs,+uregs", "registers"),
    ("-F iregs,uregs,callindent,synth,ipc,machine_pid,vcpu", ""),
    ("-G", ""),
    ("-L --ns", "tracepoints"),
    ("--reltime", ""),
    ("--deltatime --ns -F comm,time", "flat"),
    ("--reltime --time {third},{two_thirds}", "flat"),
    ("--time 10%/1,10%/4", "tasks"),
    ("--time 0%-10%,30%-40%", "flat"),
    ("--time 40%", ""),
    ("--no-inline", ""),
    ("--no-demangle -F +srcline", "cpp"),
    ("--max-stack 5 --stop-bt main,schedule", "tasks"),
    ("-S burn,deep", "old"),
    ("-S 0x1 --dsos libc.so.6,[kernel.kallsyms]", "tasks"),
    ("--dsos tasks,[kernel.kallsyms] -G", ""),
    ("-C {cpu} --show-switch-events", "everything"),
    ("--show-task-events --show-mmap-events --show-lost-events", ""),
    ("--show-task-events --show-mmap-events --reltime -F +misc", "tasks"),
    ("--show-switch-events --show-namespace-events --show-cgroup-events --show-bpf-events", "values"),
    ("--switch-on page-faults --switch-off cpu-clock --show-on-off-events", "flat"),
    ("--switch-off page-faults", ""),
    ("-c tasks,again", ""),
    ("-F +srcline", "dwarf"),
]


@pytest.fixture(scope="module")
def inside(chroot):
    return [*chroot.command, "env", "HOME=/nonexistent"]


@pytest.fixture(scope="module")
def kaa_inside(kaa, inside):
    return kaa.inside(inside)


@pytest.fixture(scope="module")
def perf_inside(inside):
    return Program(*inside, "perf")


@pytest.fixture(scope="module")
def recordings(request, root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("script-options")
    made = {}

    def record(name):
        if name not in made:
            recorder, source, flags, options = RECORDINGS[name]
            perf = request.getfixturevalue(recorder)
            program, data = folder / source.split(".")[0], folder / f"{name}.data"
            if not program.exists():
                run(["g++" if source.endswith(".cc") else "gcc", "-g", "-O1", "-fno-omit-frame-pointer", *flags,
                     "-o", program, PROGRAMS / source])
            words = ["record", "-q", *options, "-o", data, "--", program]
            done = perf.inside(TRACEFS)(*words, status=None)
            if done.status and name.startswith("tracepoint") and "tracing" in done.stderr:
                pytest.skip(f"no tracepoints here: {done.stderr.splitlines()[-1]}")
            assert not done.status, done
            if "-a" in options and machine.is_unreadable(perf, data):
                pytest.skip(machine.UNREADABLE)
            made[name] = data
        return made[name]

    return record


def cases():
    for options, usual in SETS:
        # libdw and kaa's unwinder stop in different places now and then: one set for such stacks, test_script_like_perf.py has more.
        for name in [name for name in RECORDINGS if name != "dwarf" or name in usual] if MATRIX else usual.split():
            yield pytest.param(name, options, id=f"{name}: {options or 'default'}")


COMPARED = {"equal": 0, "refused": 0}


def both(perf, kaa, data, words):
    theirs = perf("script", "-i", data, *words, status=None)
    ours = kaa("script", "--like-perf", "-i", data, *words, status=None)
    return theirs, ours


def filled_in(options, data, perf, *only):
    """Times between which there are samples, and a CPU that has some: on a busy machine a program may rest for long at any other
    time, and run on one CPU alone."""
    if "{" not in options:
        return options
    times = sorted(map(float, re.findall(r"\d+\.\d+", perf("script", "-i", data, "--reltime", "-G", "-F", "time").stdout)))
    cpus = re.findall(r"\[(\d+)\]", perf("script", "-i", data, "-G", "-F", "cpu", *only).stdout) if "{cpu}" in options else [0]
    return options.format(third=times[len(times) // 3], two_thirds=times[2 * len(times) // 3], cpu=int(cpus[len(cpus) // 2]))


def comparable(name, text):
    """Lines. Behind the system call of clone3() glibc has no unwind rows, since the child goes on there, too: perf ends
    a stack there that it unwinds, kaa reads the instructions."""
    samples = text.split("\n\n") if name == "dwarf" else [text]
    return [sample.splitlines() for sample in samples if name != "dwarf" or "_clone3" not in sample]


@pytest.mark.one_of(4)
@pytest.mark.parametrize("name, options", cases())
def test_output_is_perfs(name, options, recordings, kaa_inside, perf_inside):
    # Other programs here have files that are not in the chroot.
    only = ["-c", "tasks,again"] if name == "everything" else []
    words = [*filled_in(options, recordings(name), perf_inside, *only).split(), *only]
    theirs, ours = both(perf_inside, kaa_inside, recordings(name), words)
    assert bool(ours.status) == bool(theirs.status), (theirs, ours)
    assert comparable(name, ours.stdout) == comparable(name, theirs.stdout)
    if not MATRIX:
        assert not theirs.status and (theirs.stdout or "0x1" in options)
    COMPARED["refused" if theirs.status else "equal"] += 1


@pytest.fixture(scope="module", autouse=True)
def tell(request):
    yield
    if MATRIX:
        print(f"\n{COMPARED['equal']} outputs equal, {COMPARED['refused']} refused by both")


def test_tracepoints_from_a_pipe(root, perf_sid, perf_inside, kaa_inside, tmp_path):
    """There the formats stand between the records."""
    program, data = tmp_path / "tasks", tmp_path / "pipe.data"
    run(["gcc", "-O1", "-pthread", "-o", program, PROGRAMS / "tasks.c"])
    run([*TRACEFS, "sh", "-c", f"{' '.join(perf_sid.command)} record -q -g -e sched:sched_process_exec,raw_syscalls:sys_enter "
         f"-o - -- {program} > {data}"])
    raw = data.read_bytes()
    expected = perf_inside("script", "-i", "-", data=raw).stdout
    assert expected.count(" NR ") > 20
    assert kaa_inside("script", "--like-perf", "-i", "-", data=raw).stdout.splitlines() == expected.splitlines()


# What perf refuses, and a word of the reason that kaa gives, too.
REFUSED = [
    ("-F addr", "ADDR"), ("-F +iregs", "IREGS"), ("-F +uregs", "UREGS"), ("-F +cgroup", "CGROUP"), ("-F +tod", "tod"),
    ("-F ip,symoff", "symbol is not"), ("-F srcline", "sample IP is not"), ("-F +phys_addr", "PHYS_ADDR"),
    ("-F hw:", "hardware events do not exist"), ("-F sw:trace", "not valid for software events"),
    ("-F nope", "nope"), ("-F comm,+tid", "+field"), ("-F xx:comm", "xx"), ("--reltime --deltatime", "--deltatime"),
    ("--time 5", "5"), ("-C 0", "without their CPU"), ("--switch-on nope", "nope"), ("-F +ins_lat", "WEIGHT_STRUCT"),
]


def test_what_perf_refuses_kaa_refuses_with_the_reason(recordings, kaa, perf_inside):
    """perf is asked for half of it alone: it takes its time."""
    data = recordings("old")
    for i, (options, word) in enumerate(REFUSED):
        result = kaa("script", "-i", data, *options.split(), status=None)
        assert result.status and not result.stdout and word in result.stderr, (options, result)
        if i % 2 == 0 or MATRIX:
            assert perf_inside("script", "-i", data, *options.split(), status=None).status, options


def test_a_file_for_each_event(recordings, kaa_inside, perf_inside):
    data = recordings("flat")
    texts = []
    # perf asks for the size before it has written all.
    for program, words in ((perf_inside, []), (kaa_inside, ["--like-perf"])):
        said = program("script", *words, "-i", data, "--per-event-dump").stdout
        files = sorted(data.parent.glob(f"{data.name}.*.dump"))
        texts.append((re.sub(r"Wrote \S+ MB", "", said), [(file.name, file.read_text()) for file in files]))
        for file in files:
            file.unlink()
    assert texts[0] == texts[1]
    assert any(text for _, text in texts[0][1])


def test_switch_off_switches_off(recordings, kaa):
    """perf 7.2 goes on after one sample."""
    text = kaa("script", "-i", recordings("flat"), "--switch-off", "cpu-clock", "--show-on-off-events").stdout
    lines = text.splitlines()
    assert "cpu-clock:" in lines[-1] and not any("cpu-clock:" in line for line in lines[:-1])


def test_damaged_formats_end_the_words_and_not_the_output(recordings, kaa, tmp_path):
    """libtraceevent can be crashed by a format. Every fifth byte or so of all of them is another one."""
    data = recordings("tracepoints")
    raw = data.read_bytes()
    table = int.from_bytes(raw[40:48], "little") + int.from_bytes(raw[48:56], "little")
    start, size = (int.from_bytes(raw[table + 8 * i:table + 8 * i + 8], "little") for i in range(2))
    whole = kaa("script", "-F", "comm,time,event", "-i", data).stdout
    chance = random.Random(2)
    for rare in (5, 50, 500):
        for _ in range(4):
            bad = bytearray(raw)
            # Behind the texts of the pages' headers: sizes there would only end the section.
            for place in range(start + size // 4, start + size):
                if not chance.randrange(rare):
                    bad[place] = chance.choice(b'()",->:?%& REC0x[]*')
            copy = tmp_path / "damaged.data"
            copy.write_bytes(bad)
            assert kaa("script", "-F", "comm,time,event", "-i", copy).stdout == whole
            result = kaa("script", "-i", copy, status=None)
            assert result.status == 0 or "tracepoint" in result.stderr, result
            assert result.status in (0, 1)


def test_fields_of_tracepoints_without_their_formats(root, perf_sid, kaa, tmp_path):
    """A sample of a tracepoint whose format the file lacks is shown without its fields, and that is said once."""
    data = tmp_path / "tracepoints.data"
    run([*TRACEFS, *perf_sid.command, "record", "-q", "-e", "sched:sched_process_exec", "-o", data, "--", "sh", "-c",
         "/bin/true; /bin/true"])
    raw = bytearray(data.read_bytes())
    # The features' table stands behind the data; bit 1, the first that perf writes, goes, and its line of the table with it.
    table = int.from_bytes(raw[40:48], "little") + int.from_bytes(raw[48:56], "little")
    assert raw[72] & 3 == 2
    raw[72] &= ~2
    lines = bin(int.from_bytes(raw[72:104], "little")).count("1")
    raw[table:table + 16 * (lines + 1)] = raw[table + 16:table + 16 * (lines + 1)] + bytes(16)
    data.write_bytes(raw)
    result = kaa("script", "-i", data)
    assert "sched:sched_process_exec: \n" in result.stdout
    assert result.stderr.count("lacks the formats of its tracepoints") == 1
