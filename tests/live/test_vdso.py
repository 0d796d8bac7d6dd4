# SPDX-License-Identifier: GPL-2.0-only
"""Functions of the vdso, which no file holds: named, unwound through and disassembled, also where another kernel runs.
The oracle is stock perf here, at home, and the program itself, which says which function called.

Elsewhere is a place where uname and the kernel's build-id are others. The vdso of the process that reads remains this
kernel's, so recordings are altered, too: the vdso in them has other names."""
import pathlib
import re

import pytest

from harness.chance import most
from harness.process import Program, run
from harness.script_output import parse

# The same length as what they stand for.
RENAMED = {b"__vdso_clock_gettime": b"__ours_clock_gettime"}
ELSEWHERE = ["unshare", "--mount", "sh", "-c",
             'mount --bind "$0" /sys/kernel/notes && exec setarch --uname-2.6 "$@"']


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    """Calls clock_gettime() from a function that keeps its frame."""
    path = tmp_path_factory.mktemp("clock")
    source = path / "clock.c"
    source.write_text("#include <time.h>\n"
                      "__attribute__((noinline)) long ask(void)\n"
                      "{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_nsec; }\n"
                      "__attribute__((noinline)) long used(void)\n"
                      "{ struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);\n"
                      "  return t.tv_sec * 1000 + t.tv_nsec / 1000000; }\n"
                      "int main(void) { volatile long sum = 0; while (used() < 600)\n"
                      "  for (int i = 0; i < 10000; i++) sum += ask(); return 0; }\n")
    run(["cc", "-O1", "-fomit-frame-pointer", "-o", path / "clock", source])
    return path / "clock"


def elsewhere(kaa, tmp_path):
    notes = tmp_path / "notes"
    notes.write_bytes(bytes(64))
    return kaa.inside([*ELSEWHERE, notes])


def leaves(text):
    """The functions of the vdso in which samples are. perf lists the records of kaa's stream, too, which are none."""
    return re.findall(r"^\t *[0-9a-f]+ (\S+?)(?:\+0x[0-9a-f]+)? \(\[vdso\]\)$", text, re.M)


def assert_reaches_main(text, count):
    """Whatever is in the vdso was called by a function of main()."""
    inside = [sample.symbols for sample in parse(text) if sample.frames and sample.frames[0].dso == "[vdso]"]
    assert len(inside) >= count
    # A page of the stack may have been on its way elsewhere.
    cut = [names for names in inside if "main" not in names or not {"ask", "used"} & set(names)]
    assert len(cut) <= most(0.002, len(inside)), cut


def renamed(data, out):
    content = pathlib.Path(data).read_bytes()
    for old, new in RENAMED.items():
        assert content.count(old) == 1
        content = content.replace(old, new)
    pathlib.Path(out).write_bytes(content)
    return out


@pytest.mark.parametrize("graph", [["-g"], ["--call-graph", "dwarf,4096"]], ids=["unwound", "dwarf"])
def test_own_recording_elsewhere(bpf, kaa, perf_system, clock, tmp_path, graph):
    data = tmp_path / "perf.data"
    kaa("record", "-q", "-F", "1999", *graph, "-o", data, clock)
    expected = leaves(perf_system("script", "-i", data).stdout)
    assert "__vdso_clock_gettime" in expected
    away = elsewhere(kaa, tmp_path)
    text = away("script", "-i", data).stdout
    assert leaves(text) == expected
    assert_reaches_main(text, 10)
    for options in ([], ["--like-perf"]):
        table = away("report", "--stdio", "--no-children", "-g", "none", *options, "-i", data).stdout
        assert "[.] __vdso_clock_gettime" in table


def test_recording_says_what_its_vdso_was(bpf, kaa, clock, tmp_path):
    """What the reader's own kernel has is not asked."""
    data = tmp_path / "perf.data"
    kaa("record", "-q", "-F", "1999", "-g", "-o", data, clock)
    other = renamed(data, tmp_path / "other.data")
    names = leaves(kaa("script", "-i", other).stdout)
    assert "__ours_clock_gettime" in names and "__vdso_clock_gettime" not in names


def instructions(text):
    """Address and mnemonic of each instruction that objdump or kaa annotate printed; "1 of 999 samples" is none."""
    return {(int(m[1], 16), m[2]) for m in re.finditer(r"^[\d.% |:]*\b([0-9a-f]+):?\s+(?!of \d)([a-z]+)\b", text, re.M)}


def vdso_image(path):
    """That of this process, as an ELF file."""
    line = next(line for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if line.endswith("[vdso]"))
    start, end = (int(word, 16) for word in line.split()[0].split("-"))
    with open("/proc/self/mem", "rb") as memory:
        memory.seek(start)
        path.write_bytes(memory.read(end - start))
    return path


def test_annotate(bpf, kaa, clock, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-q", "-F", "1999", "-g", "-o", data, clock)
    text = elsewhere(kaa, tmp_path)("annotate", "-a", "-i", data, "__vdso_clock_gettime").stdout
    symbols = run(["nm", "-D", "-S", vdso_image(tmp_path / "vdso.so")]).stdout
    start, size = re.search(r"^(\w+) (\w+) \w __vdso_clock_gettime", symbols, re.M).groups()
    listing = run(["objdump", "-d", "--no-show-raw-insn", f"--start-address=0x{start}",
                   f"--stop-address={int(start, 16) + int(size, 16):#x}", tmp_path / "vdso.so"]).stdout
    expected = instructions(listing)
    assert len(expected) > 50
    assert expected == instructions(text)


def test_pipe(root, kaa, perf_system, clock, tmp_path):
    """The release of the kernel comes as a record then."""
    data = tmp_path / "piped"
    with open(data, "wb") as out:
        with perf_system.start("record", "-q", "-F", "1999", "-g", "-o", "-", clock, stdout=out) as recorder:
            assert recorder.wait() == 0
    text = kaa("script", "-i", "-", data=data.read_bytes()).stdout
    assert "__vdso_clock_gettime" in leaves(text)


def test_build_id_cache(root, kaa, perf_system, clock, tmp_path):
    """The recording is of another kernel, whose vdso perf has kept."""
    data, other, cache = tmp_path / "perf.data", tmp_path / "other.data", tmp_path / ".debug"
    recorder = Program(*perf_system.command, "--buildid-dir", cache)
    recorder("record", "-q", "-F", "1999", "-g", "-o", data, clock)
    kept = next((cache / "[vdso]").glob("*/vdso"))
    old = bytes.fromhex(kept.parent.name)
    new = bytes(byte ^ 0x55 for byte in old)
    content, image = data.read_bytes(), kept.read_bytes()
    assert old in content and old in image
    other.write_bytes(content.replace(old, new))
    for name, replacement in {old: new, **RENAMED}.items():
        image = image.replace(name, replacement)
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    assert not [name for name in leaves(kaa("script", "-i", other, env=home).stdout) if "clock_gettime" in name]
    folder = cache / ".build-id" / new.hex()[:2] / new.hex()[2:]
    folder.mkdir(parents=True)
    (folder / "vdso").write_bytes(image)
    names = leaves(kaa("script", "-i", other, env=home).stdout)
    assert "__ours_clock_gettime" in names and "__vdso_clock_gettime" not in names
