# SPDX-License-Identifier: GPL-2.0-only
"""perf.data between kaa and its peers: what stock perf records is read as perf reads it, and what kaa's writer makes
opens in perf and samply, which name the Python addresses by the image."""
import json
import re
import struct
import subprocess
import urllib.parse
import urllib.request

import pytest

from harness import machine
from harness.process import HANG, Program, run

WORK = "i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; ls /usr/lib >/dev/null; cat /etc/passwd >/dev/null"

# Names of perf report --stats, and the types that they stand for.
TYPES = {"MMAP": 1, "LOST": 2, "COMM": 3, "EXIT": 4, "THROTTLE": 5, "UNTHROTTLE": 6, "FORK": 7, "SAMPLE": 9, "MMAP2": 10, "LOST_SAMPLES": 13,
         "NAMESPACES": 16, "KSYMBOL": 17, "BPF_EVENT": 18, "CGROUP": 19, "ATTR": 64, "FINISHED_ROUND": 68, "ID_INDEX": 69,
         "THREAD_MAP": 73, "CPU_MAP": 74, "EVENT_UPDATE": 78, "TIME_CONV": 79, "FEATURE": 80, "COMPRESSED": 81,
         "FINISHED_INIT": 82, "COMPRESSED2": 83}

RECORDINGS = {
    "fp": ["-F", "2000", "-g"],
    "period": ["-e", "cpu-clock", "-c", "500000"],
    "dwarf": ["-F", "2000", "--call-graph", "dwarf", "-e", "cpu-clock,page-faults,task-clock:u"],
    # An event that no test beside this records: the kernel mixes up samples of two recorders.
    "everything": ["-F", "2000", "-g", "-a", "-d", "--phys-data", "--namespaces", "-e", "cpu-clock,cpu-migrations"],
    # perf does not read what it has compressed of more than a full record at once.
    "compressed": ["-F", "199", "-z", "-g", "-a"],
    "clock": ["-F", "2000", "-k", "mono"],
}

NAMES = ["py::leaf.<locals>.<lambda>:<string>", "py::Worker.middle:/srv/app/work.py", "py::<module>:/srv/app/main.py",
         "[unreadable Python frames]"]


@pytest.fixture
def dump(build_dir):
    return Program(build_dir / "tests" / "unit" / "dump_perfdata")


@pytest.fixture
def made(build_dir, tmp_path):
    """made(*words): the files that make_perfdata writes: the recording, and the image."""
    def make(*words):
        data, image = tmp_path / "kaa.data", tmp_path / "kaa.data.python"
        Program(build_dir / "tests" / "unit" / "make_perfdata")(data, image, *words)
        return data, image
    return make


def words_of(dump_output):
    """The dump's "key value" lines; types as numbers."""
    counts, values = {}, {}
    for line in dump_output.splitlines():
        key, _, value = line.partition(" ")
        if key == "type":
            number, count = value.split()
            counts[int(number)] = int(count)
        elif key != "record":
            values.setdefault(key, value)
    return counts, values


def stats_of(perf, data):
    """The counts that perf has by type, of the whole file."""
    result = perf("report", "--stats", "-f", "-i", data)
    text = result.stdout
    assert "Aggregated stats:" in text, result
    whole = text.split("Aggregated stats:")[1].split(" stats:")[0]
    counts = dict(re.findall(r"^ *(\w+) events: +(\d+)", whole, re.M))
    counts.pop("TOTAL")
    unknown = set(counts) - set(TYPES)
    assert not unknown, f"a type that this test does not know: {unknown}"
    return {TYPES[name]: int(count) for name, count in counts.items()}


def samples_of(perf, data):
    """Time in ns and tid of every sample, in perf's order."""
    text = perf("script", "-f", "--ns", "-F", "tid,time,period,event", "-G", "-i", data).stdout
    found = re.findall(r"^ *(?:\d+/)?(-?\d+) +(\d+)\.(\d{9}): +(\d+) ", text, re.M)
    return [(int(s) * 10**9 + int(ns), int(tid) & 0xffffffff, int(period)) for tid, s, ns, period in found]


def dumped_samples(text):
    found = re.findall(r"^record 9 .* time (\d+) pid \d+ tid (\d+) .* period (\d+)", text, re.M)
    return [tuple(map(int, row)) for row in found]


def compare(perf, dump, data):
    result = dump("-r", data)
    counts, values = words_of(result.stdout)
    assert counts == stats_of(perf, data)
    for key in ("broken", "truncated", "missing", "broken_features", "unfinished"):
        assert values[key] == "0", key
    mine, theirs = dumped_samples(result.stdout), samples_of(perf, data)
    assert mine and mine == theirs
    header = perf("report", "--header-only", "-f", "-i", data).stdout
    for mark, key in (("hostname", "hostname"), ("os release", "osrelease"), ("perf version", "version"),
                      ("cpudesc", "cpudesc"), ("cpuid", "cpuid")):
        assert re.search(rf"^# {mark} : (.*?)\s*$", header, re.M)[1] == values[key]
    online = re.search(r"nrcpus online : (\d+)", header)[1]
    available = re.search(r"nrcpus avail : (\d+)", header)[1]
    assert values["cpus"] == f"{online} {available}"
    assert re.search(r"total memory : (\d+) kB", header)[1] == values["total_mem"]


@pytest.mark.parametrize("kind", RECORDINGS)
def test_recording_is_read_as_perf_reads_it(root, perf, dump, tmp_path, kind):
    data = tmp_path / "perf.data"
    perf("record", "-q", "-o", data, *RECORDINGS[kind], "--", "sh", "-c", WORK)
    if "-a" in RECORDINGS[kind] and machine.is_unreadable(perf, data):
        pytest.skip(machine.UNREADABLE)
    compare(perf, dump, data)


def test_piped_recording(root, perf, dump, tmp_path):
    data = tmp_path / "pipe.data"
    with open(data, "wb") as out, perf.start("record", "-q", "-F", "2000", "-g", "-o", "-", "--", "sh", "-c", WORK,
                                             stdout=out, stderr=subprocess.DEVNULL) as process:
        assert process.wait(HANG) == 0
    counts, values = words_of(dump(data).stdout)
    assert counts == stats_of(perf, data)
    with open(data, "rb") as file:
        piped = dump("-", stdin=file)
    assert words_of(piped.stdout) == (counts, values)
    assert values["hostname"] and "clock" in values["event"]


def test_perf_names_python_frames(root, perf, made):
    data, _ = made()
    for words in (["script"], ["report", "--stdio", "-n", "-g"]):
        result = perf(*words, "-f", "-i", data)
        assert result.stderr == ""
        for name in NAMES:
            assert name in result.stdout
    report = perf("report", "--stdio", "-n", "--no-children", "-g", "-f", "-i", data).stdout
    assert re.search(r"# Samples: 100 +of event 'task-clock'", report)
    places = [report.index(name) for name in NAMES]
    assert places == sorted(places) or places == sorted(places, reverse=True)


def test_perf_names_lines(root, perf, made):
    data, _ = made()
    script = perf("script", "-f", "-F", "+srcline", "-i", data).stdout
    lines = re.findall(r"py::(.*?)\+0x\w+ .*\n +(\S+:\d+)$", script, re.M)
    assert len(lines) == 300
    assert set(lines) == {
        ("leaf.<locals>.<lambda>:<string>", "<string>:7"), ("Worker.middle:/srv/app/work.py", "work.py:2000"),
        ("<module>:/srv/app/main.py", "main.py:40"), ("<module>:/srv/app/main.py", "main.py:44")}


@pytest.mark.parametrize("how", ["build-id", "no-build-id"])
def test_perf_without_the_image(root, perf, made, how):
    data, image = made(how)
    image.unlink()
    result = perf("report", "--stdio", "-n", "-g", "-f", "-i", data)
    assert result.stderr == ""
    assert "py::" not in result.stdout
    assert "# Samples: 100" in result.stdout


def test_wrong_image_names_nothing(root, perf, made):
    data, image = made()
    content = bytearray(image.read_bytes())
    at = content.index(b"GNU\0") + 4
    content[at] ^= 0xff
    image.write_bytes(content)
    assert "py::" not in perf("report", "--stdio", "-g", "-f", "-i", data).stdout


def test_inject_keeps_all(root, perf, dump, made, tmp_path):
    data, _ = made()
    injected = tmp_path / "injected.data"
    perf("inject", "-f", "-i", data, "-o", injected)
    before, after = (re.findall(r"^record 9 .*", dump("-r", path).stdout, re.M) for path in (data, injected))
    assert len(before) == 104
    assert before == after


def test_piped_writing(root, perf, build_dir, tmp_path):
    data = tmp_path / "pipe.data"
    with open(data, "wb") as out, Program(build_dir / "tests" / "unit" / "make_perfdata").start(
            "-", tmp_path / "image", stdout=out) as process:
        assert process.wait(HANG) == 0
    with open(data, "rb") as file:
        result = perf("report", "--stdio", "-g", "-i", "-", stdin=file)
    assert result.stderr == ""
    for name in NAMES:
        assert name in result.stdout


def test_killed_recorder(root, perf, dump, made):
    """A header without features, whose data size is that of an earlier checkpoint: 500 samples of 120 bytes less."""
    data, _ = made("build-id", "5000")
    content = bytearray(data.read_bytes())
    offset, size = struct.unpack_from("<QQ", content, 40)
    content[72:104] = bytes(32)
    struct.pack_into("<Q", content, 48, size - 120 * 500)
    data.write_bytes(content[:offset + size - 333])
    result = perf("report", "--stdio", "-g", "-f", "-i", data)
    for name in NAMES:
        assert name in result.stdout
    _, values = words_of(dump(data).stdout)
    assert values["truncated"] == values["missing"] == "0"
    assert dump(data).stdout.count("event kaa") == 1


@pytest.fixture
def small_disk(root, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    run(["mount", "-t", "tmpfs", "-o", "size=1500k", "kaa-test", disk])
    yield disk
    run(["umount", disk])


def test_full_disk(small_disk, perf_system, dump, build_dir, tmp_path):
    data, image = small_disk / "kaa.data", tmp_path / "image"
    result = Program(build_dir / "tests" / "unit" / "make_perfdata")(data, image, "build-id", "100000", status=1)
    assert "No space left on device" in result.stderr and str(data) in result.stderr
    counts, values = words_of(dump(data).stdout)
    # Some 64 KiB of the last records, and what one write call takes, make room for the features.
    assert counts[9] > 1500 * 1024 / 120 * 0.75
    assert "build_ids" in dump(data).stdout
    assert values["truncated"] == values["missing"] == "0"
    report = perf_system("report", "--stdio", "-g", "-f", "-i", data)
    assert NAMES[0] in report.stdout


def test_memory_is_bounded(dump, made):
    data, _ = made("build-id", "2000000")
    result = Program("/usr/bin/python3", "-c", (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True)\n"
        "print('maxrss', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"))(*dump.command, data)
    assert "records 2000012" in result.stdout
    assert int(re.search(r"maxrss (\d+)", result.stdout)[1]) < 64 * 1024


def symbolicate(server, libs, offsets):
    """What samply's server says about offsets of the image: (function, file, line)."""
    job = {"memoryMap": libs, "stacks": [[[0, offset] for offset in offsets]]}
    request = urllib.request.Request(server + "/symbolicate/v5", json.dumps({"jobs": [job]}).encode())
    with urllib.request.urlopen(request, timeout=HANG) as reply:
        frames = json.load(reply)["results"][0]["stacks"][0]
    return [(frame.get("function"), frame.get("file"), frame.get("line")) for frame in frames]


def test_samply_names_frames_and_lines(root, samply, made, tmp_path):
    data, _ = made()
    profile = tmp_path / "profile.json"
    result = samply("import", "-s", "-n", "-o", profile, data)
    assert not re.search("warn|error", result.stderr, re.I), result
    content = json.loads(profile.read_text())
    libs = [[lib["debugName"], lib["breakpadId"]] for lib in content["libs"] if lib["name"] == "kaa.data.python"]
    assert len(libs) == 1
    thread, = content["threads"]
    assert thread["samples"]["length"] == 100
    assert {0x20, 0x1002, 0x1004, 0x100a, 0x1010} <= set(thread["frameTable"]["address"])
    with samply.start("load", "-n", "-P", "32100+", profile, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            found = re.search(rb"symbolServer=(\S+)", line)
            if found:
                break
        server = urllib.parse.unquote(found[1].decode())
        assert symbolicate(server, libs, [0x20, 0x1002, 0x1004, 0x100a, 0x1010]) == [
            ("[unreadable Python frames]", None, None),
            ("py::<module>:/srv/app/main.py", "/srv/app/main.py", 40),
            ("py::<module>:/srv/app/main.py", "/srv/app/main.py", 44),
            ("py::Worker.middle:/srv/app/work.py", "/srv/app/work.py", 2000),
            ("py::leaf.<locals>.<lambda>:<string>", "<string>", 7)]
