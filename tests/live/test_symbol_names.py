# SPDX-License-Identifier: GPL-2.0-only
"""Names beside those of stock perf, and perf maps of processes in namespaces of their own."""
import os
import re
import struct
import subprocess

import pytest

from harness import planted
from harness.noticed import noticed_in
from harness.process import run, started
from harness.waiting import innermost_child

# Every way to have several names at one address, labels, local and nested symbols. Static and at fixed
# addresses, so that a sample's address is one of the file.
ALIASES = r"""
#define SPIN { volatile long z = 0; for (long i = 0; i < 400; i++) z = z + 1; }
#define FUNCTION(name) __attribute__((noinline, noclone)) void name(void) SPIN
#define ALIAS(name, of) extern "C" void name(void) __attribute__((alias(#of)));
#define WEAK(name, of) extern "C" void name(void) __attribute__((weak, alias(#of)));
extern "C" {
FUNCTION(__first)
FUNCTION(second)
FUNCTION(fourth_a)
__attribute__((noinline, noclone, used)) static void third(void) SPIN
__attribute__((noinline, noclone, used)) static void _fifth(void) SPIN
}
ALIAS(first, __first) ALIAS(first_longer, __first)
WEAK(second_weak_longer, second)
ALIAS(third_global, third)
ALIAS(fourth_b, fourth_a)
__asm__(".set fifth_local, _fifth\n.type fifth_local, @function\n");
namespace space {
template <class T> struct Box { __attribute__((noinline)) void spin(T &&, const char *) const SPIN };
struct Convert { __attribute__((noinline)) operator int() const { SPIN; return 1; } };
}
extern "C" void rust_legacy(void) __asm__("_ZN5hello4main17h0123456789abcdefE");
extern "C" void rust_generic(void) __asm__(
  "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$"
  "17h0123456789abcdefE");
extern "C" void rust_v0(void) __asm__("_RNvNtCsbDqzXfLQacH_5hello3foo3bar");
extern "C" { FUNCTION(rust_legacy) FUNCTION(rust_generic) FUNCTION(rust_v0) }
extern "C" { void outer(void); void nosize(void); void label(void); }
#define LOOP "mov $60000000, %ecx\n"
__asm__(".text\n.globl outer\n.type outer, @function\nouter:\n" LOOP "inner: dec %ecx\njnz inner\nafter: ret\n"
        ".size outer, .-outer\n"
        ".globl nosize\n.type nosize, @function\nnosize:\n" LOOP "1: dec %ecx\njnz 1b\nret\nnop\n"
        ".globl label\nlabel:\n" LOOP "1: dec %ecx\njnz 1b\nret\nnop\n");
int main() {
  __first(); second(); third(); fourth_a(); _fifth();
  space::Box<int>().spin(1, "x"); int x = space::Convert(); (void)x;
  rust_legacy(); rust_generic(); rust_v0(); outer(); nosize(); label();
}
"""


@pytest.fixture
def dump_symbols(build_dir):
    return build_dir / "tests" / "unit" / "dump_symbols"


def planted_hits(data, program, addresses):
    """A recording of one hit at each address of a program that lies where its file says. No process has its number: it is
    beyond the kernel's greatest."""
    pid = 4194304 + os.getpid() * 8
    offset, start, size = re.search(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", run(["readelf", "-lW", program]).stdout).groups()
    mapped = planted.record(1, 2, struct.pack("<IIQQQ", pid, pid, int(start, 16), int(size, 16), int(offset, 16)) +
                            os.fsencode(program).ljust(len(str(program)) // 8 * 8 + 8, b"\0"))
    planted.write(data, [planted.comm(pid, pid, os.fsencode(program.name)), mapped,
                         *(planted.sample(pid, pid, 1000 * i, [address]) for i, address in enumerate(addresses, 1000))])


def test_names_are_those_of_perf(root, perf_sid, dump_symbols, tmp_path):
    """perf 7 alone: perf 6.1 knows nothing of Rust's v0."""
    source, program, data = tmp_path / "aliases.cc", tmp_path / "aliases", tmp_path / "perf.data"
    source.write_text(ALIASES)
    run(["g++", "-O1", "-c", "-o", tmp_path / "aliases.o", source])
    run(["g++", "-static", "-no-pie", "-o", program, tmp_path / "aliases.o"])
    own = set(re.findall(r" [TtWw] (\S+)$", run(["nm", tmp_path / "aliases.o"]).stdout, re.M))
    starts = sorted({int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) [TtWw] (\S+)$", run(["nm", program]).stdout, re.M)
                     if name in own})
    addresses = sorted({start + within for start in starts for within in (0, 1, 4)})
    planted_hits(data, program, addresses)
    out = perf_sid("script", "-i", data, "-F", "ip,sym").stdout
    samples = {int(address, 16): name for address, name in re.findall(r"^\s*([0-9a-f]+) (.+)$", out, re.M)}
    text = "".join(f"{address:x}\n" for address in addresses)
    lines = run([dump_symbols, program], data=text.encode()).stdout.splitlines()
    ours = {address: line.split("\t")[-1] for address, line in zip(addresses, lines)}
    assert ours == samples
    assert len(set(ours.values())) >= 13


def test_perf_map_of_a_container(root, dump_symbols):
    """The process is number 1 in its PID namespace, and has a /tmp of its own."""
    script = "mount -t tmpfs none /tmp && echo '5000 10 inside' >/tmp/perf-1.map && echo ready && exec sleep 1000"
    with started(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script],
                 stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        pid = innermost_child(process.pid)
        assert not os.path.exists("/tmp/perf-1.map") or open("/tmp/perf-1.map").read() != "5000 10 inside\n"
        assert run([dump_symbols, "--perf-map", pid]).stdout == "/tmp/perf-1.map\ninside\n"


def test_planted_link_in_a_container(root, dump_symbols, tmp_path):
    """A link in the container's /tmp, or /tmp itself as a link, does not lead to a file of the host."""
    victim = tmp_path / "victim"
    victim.write_text("5000 10 secret\n")
    for plant in (f"ln -s {victim} /tmp/perf-1.map", f"ln -s /proc/1/root{victim} /tmp/perf-1.map"):
        script = f"mount -t tmpfs none /tmp && {plant} && echo ready && exec sleep 1000"
        with started(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script],
                     stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            result = run([dump_symbols, "--perf-map", innermost_child(process.pid)], status=1)
            assert "secret" not in result.stdout


def test_linkage_table(dump_symbols, tmp_path):
    """objdump knows the entries; what stands before them is .plt to perf, and not the end of _init."""
    source, program = tmp_path / "calls.c", tmp_path / "calls"
    source.write_text("#include <stdlib.h>\nint main(void) { return abs(rand()) + !getenv(\"HOME\"); }\n")
    run(["gcc", "-O1", "-Wl,-z,lazy", "-o", program, source])
    entries = dict(re.findall(r"^([0-9a-f]+) <(\w+@plt)>:$", run(["objdump", "-d", program]).stdout, re.M))
    assert {"rand@plt", "getenv@plt"} <= set(entries.values())
    header = int(re.search(r"^ *\d+ \.plt +\S+ +([0-9a-f]+)", run(["objdump", "-h", program]).stdout, re.M)[1], 16)
    expected = {header: ".plt", header + 6: ".plt", **{int(address, 16): name for address, name in entries.items()}}
    text = "".join(f"{address:x}\n" for address in expected)
    names = [line.split("\t")[-1] for line in run([dump_symbols, program], data=text.encode()).stdout.splitlines()]
    assert names == list(expected.values())


def test_lines_of_a_linkage_table(root, perf_sid, kaa, tmp_path):
    """Of a program with lines neither an entry nor what stands before the first has one, as perf says it."""
    source, program, data = tmp_path / "calls.c", tmp_path / "calls", tmp_path / "perf.data"
    source.write_text("#include <stdlib.h>\nint main(void) { return abs(rand()) + !getenv(\"HOME\"); }\n")
    run(["gcc", "-g", "-O1", "-no-pie", "-Wl,-z,lazy", "-o", program, source])
    header = int(re.search(r"^ *\d+ \.plt +\S+ +([0-9a-f]+)", run(["objdump", "-h", program]).stdout, re.M)[1], 16)
    main = int(re.search(r"^([0-9a-f]+) <main>:$", run(["objdump", "-d", program]).stdout, re.M)[1], 16)
    planted_hits(data, program, (header + 6, header + 17, main))
    words = ("report", "-i", data, "--stdio", "--no-children", "-g", "none", "--sort", "srcline,sym")
    theirs, ours = (sorted(re.findall(r"^ +\d+\.\d+%.*\S", text, re.M))
                    for text in (perf_sid(*words).stdout, kaa(*words, "--like-perf").stdout))
    assert ours == theirs
    assert [row for row in ours if ".plt+6" in row] and [row for row in ours if "calls.c:2" in row]


def test_samples_of_a_python_function(root, bpf, newest_python, kaa, scripts, tmp_path):
    """`script -S foo` has the samples that `report` counts for foo itself: the interpreter was hit while it ran foo."""
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, *newest_python.command, scripts / "doc_script.py", "1")

    def counted(*words):
        text = kaa("report", "--stdio", "-i", data, "-n", "--no-children", "-g", "none", "--sort", "symbol", *words).stdout
        return {name: int(count) for count, name in re.findall(r"^ +\S+% +(\d+) +\[\.\] (py::.*?) *$", text, re.M)}

    def shown(*words):
        return kaa("script", "-i", data, "-G", "-F", "ip", *words).stdout.count("\n")

    of_all = counted()
    (whole,) = [name for name in of_all if name.startswith("py::foo:")]
    assert of_all[whole] > 20
    for word in ("foo", "py::foo", "doc_script.foo", "foo:doc_script.py", whole):
        assert shown("-S", word) == of_all[whole]
        assert word == whole or counted("-S", word) == {whole: of_all[whole]}
    of_file = {name: count for name, count in of_all.items() if name.endswith("/doc_script.py")}
    assert counted("-S", "doc_script.py") == of_file
    assert shown("-S", "doc_script.py") == sum(of_file.values())
    # Each line is a part of its function.
    lines = kaa("report", "--stdio", "-i", data, "-n", "--no-children", "-g", "none", "--sort", "symbol,srcline").stdout
    lines = re.findall(r"^ +\S+% +(\d+) +\[\.\] py::foo:\S+ +(doc_script\.py:\d+) *$", lines, re.M)
    assert {line: shown("-S", line) for _, line in lines} == {line: int(count) for count, line in lines}
    assert not shown("--like-perf", "-S", "foo")
