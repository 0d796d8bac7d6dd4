# SPDX-License-Identifier: GPL-2.0-only
"""Symbols of ELF files beside what binutils says about the same files."""
import bisect
import collections
import pathlib
import re
import shutil

import pytest

from harness import pythons
from harness.process import run

Symbol = collections.namedtuple("Symbol", "start size type binding name")

CXX = r"""
#include <cstdio>
#include <string>
#include <vector>
namespace space {
template <class T> struct Box {
  std::vector<T> items;
  T sum(const std::string &what) const {
    T total{};
    for (const T &item : items)
      total += item;
    return total + static_cast<T>(what.size());
  }
  operator bool() const { return !items.empty(); }
};
static int helper(int (*callback)(int), int value) { return callback(value); }
}
int main() {
  space::Box<long> box{{1, 2, 3}};
  space::Box<double> other{{1.5}};
  std::printf("%ld %f %d\n", box.sum("x"), other.sum("yz"), space::helper([](int v) { return v * 2; }, 4));
  return box && other ? 0 : 1;
}
"""


@pytest.fixture(scope="session")
def dump(build_dir):
    """
    dump(file, addresses): what kaa says about each: (start, name, readable name) or None. options=["--functions"]:
    with functions that no symbol names, and the end behind their name.
    """
    program = build_dir / "tests" / "unit" / "dump_symbols"

    def call(path, addresses, debug_dir="/nonexistent", options=()):
        text = "".join(f"{address:x}\n" for address in addresses)
        lines = run([program, *options, path, debug_dir], data=text.encode()).stdout.splitlines()
        assert len(lines) == len(addresses)
        return [None if line == "-" else parse(line) for line in lines]

    def parse(line):
        start, names = line.split(" ", 1)
        return (int(start, 16), *names.split("\t"))

    return call


@pytest.fixture(scope="session")
def cxx_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cxx")
    (folder / "program.cc").write_text(CXX)
    run(["g++", "-O0", "-g", "-Wl,--build-id", "-o", folder / "program", folder / "program.cc"])
    return folder / "program"


def interpreters():
    """The files that hold the interpreters of this machine, and libraries that they use."""
    files = set()
    for python in pythons.find():
        if python.prefix:
            continue
        query = "print(*{line.split()[-1] for line in open('/proc/self/maps') if line.split()[-1].startswith('/')}, sep='\\n')"
        out = run([*python.command, "-I", "-c", query]).stdout
        for path in out.splitlines():
            if re.search(r"libpython3|/python3\.\d+$|/libc\.so|/libm\.so|/libstdc", path):
                files.add(pathlib.Path(path))
    return sorted(files)


def exec_ranges(path):
    ranges = []
    for line in run(["readelf", "-lW", path]).stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in "".join(words[6:-1]):
            ranges.append((int(words[2], 16), int(words[2], 16) + int(words[5], 16)))
    return ranges


def readelf_symbols(path):
    """What names code, as perf chooses: functions, objects and visible labels in executable segments."""
    ranges = exec_ranges(path)
    for line in run(["readelf", "-sW", path]).stdout.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit() or not words[6].isdigit():
            continue
        start, size = int(words[1], 16), int(words[2], 0)
        if words[3] not in ("FUNC", "IFUNC", "OBJECT", "NOTYPE"):
            continue
        if words[3] == "NOTYPE" and words[5] in ("HIDDEN", "INTERNAL"):
            continue
        if any(low <= start < high for low, high in ranges):
            yield Symbol(start, size, words[3], words[4], words[7].split("@")[0])


def rank(symbol):
    strength = {"WEAK": 2, "GLOBAL": 0}.get(symbol.binding, 1)
    underscores = len(symbol.name) - len(symbol.name.lstrip("_"))
    return (symbol.size == 0, symbol.type == "NOTYPE", strength, underscores, -len(symbol.name))


def objdump_plt(path):
    """Address to name of the PLT entries that binutils can name."""
    text = run(["objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path], status=None).stdout
    entries = re.findall(r"^([0-9a-f]+) <([^>]+)@plt>:", text, re.M)
    return {int(address, 16): name.split("@")[0] + "@plt" for address, name in entries if "*" not in name}


def expected(path):
    """Sorted starts, the one symbol at each, and the ends."""
    best = {}
    for symbol in readelf_symbols(path):
        if symbol.start not in best or rank(symbol) < rank(best[symbol.start]):
            best[symbol.start] = symbol
    starts = sorted(best)
    ends = {}
    for i, start in enumerate(starts):
        following = starts[i + 1] if i + 1 < len(starts) else start + 4096
        ends[start] = start + best[start].size if best[start].size else following
    return starts, best, ends


def innermost(starts, ends, address):
    at = bisect.bisect_right(starts, address)
    for start in reversed(starts[max(0, at - 2000):at]):
        if address < ends[start]:
            return start
    return None


def check_against_readelf(dump, path):
    """First, middle and last byte of every symbol that has a size; how many those were."""
    starts, best, ends = expected(path)
    by_start = collections.defaultdict(list)
    for symbol in readelf_symbols(path):
        by_start[symbol.start].append(symbol)
    addresses = [address for start in starts if best[start].size
                 for address in (start, start + best[start].size // 2, start + best[start].size - 1)]
    assert addresses, path
    for address, found in zip(addresses, dump(path, addresses)):
        wanted = innermost(starts, ends, address)
        assert found and found[0] == wanted, f"{path}: {address:#x}: {found}, not {best[wanted]}"
        # Of equals any will do.
        equals = {symbol.name for symbol in by_start[wanted] if rank(symbol) == rank(best[wanted])}
        assert found[1] in equals, f"{path}: {address:#x}: {found[1]}, not one of {equals}"
    return len(addresses)


def test_every_function_of_the_interpreters(dump):
    outside = [python for python in pythons.find() if not python.prefix]
    compared = sum(check_against_readelf(dump, path) for path in interpreters())
    assert compared >= 1000 * len(outside)


def static_plt(path):
    """Address to names of the PLT entries of a static program: of what is at the address that the slot's relocation has."""
    slots = dict(re.findall(r"^0*([0-9a-f]+) .* R_X86_64_IRELATIV\w* +([0-9a-f]+)$", run(["readelf", "-rW", path]).stdout, re.M))
    names = collections.defaultdict(set)
    for symbol in readelf_symbols(path):
        if symbol.type == "IFUNC":
            names[symbol.start].add(symbol.name + "@plt")
    text = run(["objdump", "-d", "-j", ".plt", path]).stdout
    jumps = re.findall(r"^ *([0-9a-f]+):.*\bjmp .*# ([0-9a-f]+) ", text, re.M)
    return {int(address, 16): names[int(slots[slot], 16)] for address, slot in jumps}


def test_plt_entries_of_a_static_program(dump, tmp_path):
    program = tmp_path / "static"
    (tmp_path / "static.c").write_text("#include <string.h>\nint main(int n, char **w) { return strlen(w[0]) + !strchr(w[0], n); }\n")
    run(["gcc", "-static", "-o", program, tmp_path / "static.c"])
    plt = static_plt(program)
    assert len(plt) > 5 and all(plt.values())
    for address, found in zip(plt, dump(program, list(plt))):
        assert found and found[0] == address and found[1] in plt[address], f"{address:#x}: {found}, not {plt[address]}"


def test_plt_entries(dump, cxx_program):
    for path in [cxx_program, *interpreters()]:
        plt = objdump_plt(path)
        for address, found in zip(plt, dump(path, list(plt))):
            assert found and found[1] == plt[address], f"{path}: {address:#x}"
    assert objdump_plt(cxx_program)


def test_cxx_names_and_ranges(dump, cxx_program):
    """addr2line finds the function by DWARF, not by the symbol table."""
    functions = [symbol for symbol in readelf_symbols(cxx_program) if symbol.type == "FUNC" and symbol.size]
    addresses = [at for f in functions for at in (f.start, f.start + f.size // 2, f.start + f.size - 1)]
    text = "".join(f"{address:#x}\n" for address in addresses)
    out = run(["addr2line", "-f", "-e", cxx_program], data=text.encode()).stdout.splitlines()[::2]
    demangled = run(["c++filt"], data="\n".join(out).encode()).stdout.splitlines()
    compared = 0
    for address, raw, readable, found in zip(addresses, out, demangled, dump(cxx_program, addresses)):
        if raw == "??":
            continue
        # Constructors exist twice, as C1 and C2, at one address.
        assert found and (found[2] == readable or re.sub(r"([CD])[12]E", r"\1xE", found[1]) ==
                          re.sub(r"([CD])[12]E", r"\1xE", raw)), f"{address:#x}: {found}, not {raw}"
        compared += 1
    assert compared > 50


@pytest.fixture
def stripped(cxx_program, tmp_path):
    """A copy without symbols, and its debug file beside it."""
    program, debug = tmp_path / "program", tmp_path / "program.debug"
    shutil.copy(cxx_program, program)
    run(["objcopy", "--only-keep-debug", program, debug])
    run(["strip", "--strip-all", program])
    return program, debug


def main_address(cxx_program):
    return [symbol for symbol in readelf_symbols(cxx_program) if symbol.name == "main"][0].start


def test_debug_file_by_build_id(dump, cxx_program, stripped, tmp_path):
    program, debug = stripped
    build_id = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", program]).stdout)[1]
    place = tmp_path / "debug" / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
    address = main_address(cxx_program)
    found, = dump(program, [address])
    assert not found or found[1] != "main"
    place.parent.mkdir(parents=True)
    debug.rename(place)
    found, = dump(program, [address], tmp_path / "debug")
    assert found[1] == "main"
    # A file there with another build-id is no debug file of this program.
    run(["gcc", "-g", "-Wl,--build-id", "-x", "c", "-o", place, "-"], data=b"int main(void) { return 0; }")
    found, = dump(program, [address], tmp_path / "debug")
    assert not found or found[1] != "main"


@pytest.mark.parametrize("folder", [".", ".debug", "global"])
def test_debug_file_by_link(dump, cxx_program, stripped, tmp_path, folder):
    program, debug = stripped
    run(["objcopy", f"--add-gnu-debuglink={debug}", program])
    debug_dir = tmp_path / "elsewhere"
    place = debug_dir / str(tmp_path).lstrip("/") if folder == "global" else tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    debug.rename(place / "program.debug")
    address = main_address(cxx_program)
    assert dump(program, [address], debug_dir)[0][1] == "main"
    # One byte more: another checksum, another file.
    with open(place / "program.debug", "ab") as file:
        file.write(b"x")
    found, = dump(program, [address], debug_dir)
    assert not found or found[1] != "main"


# Functions of all kinds: static ones, and two that the file exports.
MANY_FUNCTIONS = r"""
#include <stdlib.h>
#define FUNCTION(n) __attribute__((noinline)) static int function_##n(int x) { \
	for (int i = 0; i < x; i++) x ^= i * n + rand(); return x; }
#define TEN(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4) \
	FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7) FUNCTION(n##8) FUNCTION(n##9)
#define CALL_TEN(n, x) function_##n##0(x) + function_##n##1(x) + function_##n##2(x) + function_##n##3(x) + \
	function_##n##4(x) + function_##n##5(x) + function_##n##6(x) + function_##n##7(x) + function_##n##8(x) + function_##n##9(x)
TEN(1) TEN(2) TEN(3) TEN(4)
__attribute__((noinline)) int exported(int x) { return function_10(x) + 1; }
int main(int argc, char **argv)
{
	return (CALL_TEN(1, argc) + CALL_TEN(2, argc) + CALL_TEN(3, argc) + CALL_TEN(4, argc) + exported(argc)) & 1;
}
"""


@pytest.fixture(scope="session")
def twins(tmp_path_factory):
    """A program that exports its functions that are not static, and its stripped copy."""
    folder = tmp_path_factory.mktemp("twins")
    program, copy = folder / "full" / "twin", folder / "stripped" / "twin"
    for place in (program, copy):
        place.parent.mkdir()
    run(["gcc", "-O2", "-rdynamic", "-Wl,--build-id", "-x", "c", "-o", program, "-"], data=MANY_FUNCTIONS.encode())
    run(["strip", "-o", copy, program])
    return program, copy


def fde_ranges(path):
    """Start to end of what readelf finds in .eh_frame."""
    text = run(["readelf", "--debug-dump=frames", "-W", path]).stdout
    return {int(start, 16): int(end, 16) for start, end in re.findall(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)}


def text_functions(path):
    """The functions of .text that have a size, by their starts; of aliases any one."""
    return {symbol.start: symbol for symbol in readelf_symbols(path) if symbol.type == "FUNC" and symbol.size}


def test_stripped_functions_have_the_bounds_of_their_twins(dump, twins):
    program, copy = twins
    functions, ranges = text_functions(program), fde_ranges(copy)
    exported = {symbol.start for symbol in readelf_symbols(copy)}
    wanted = {start: symbol for start, symbol in functions.items() if start in ranges and start not in exported}
    assert len(wanted) >= 40
    addresses = [at for f in wanted.values() for at in (f.start, f.start + f.size // 2, f.start + f.size - 1)]
    found = dump(copy, addresses, options=["--functions"])
    for i, function in enumerate(wanted.values()):
        name = f"twin+{function.start:#x}"
        assert found[3 * i:3 * i + 3] == [(function.start, name, name, f"{function.start + function.size:x}")] * 3, function


def test_exported_names_of_stripped_files_reach_no_further_than_their_sizes(dump, twins):
    program, copy = twins
    exported = {symbol.start: symbol for symbol in readelf_symbols(copy) if symbol.size}
    functions = text_functions(program)
    names = {symbol.name for symbol in exported.values()}
    assert {"exported", "main"} <= names
    for start, function in functions.items():
        start_found, end_found = dump(copy, [start, start + function.size - 1], options=["--functions"])
        if start in exported:
            assert start_found[1] == end_found[1] == exported[start].name
        elif start_found:
            assert start_found[1] not in names, function


def test_without_call_frame_information_there_are_no_functions(dump, twins, tmp_path):
    copy = tmp_path / "twin"
    run(["objcopy", "--remove-section=.eh_frame", "--remove-section=.eh_frame_hdr", twins[1], copy])
    functions = text_functions(twins[0])
    exported = {symbol.start for symbol in readelf_symbols(copy)}
    static = [start for start, symbol in functions.items() if symbol.name.startswith("function_") and start not in exported]
    assert static and dump(copy, static, options=["--functions"]) == [None] * len(static)


def test_names_of_debug_files_win_over_bounds(dump, twins, tmp_path):
    program, copy = twins
    build_id = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-n", copy]).stdout)[1]
    place = tmp_path / ".build-id" / build_id[:2] / (build_id[2:] + ".debug")
    place.parent.mkdir(parents=True)
    run(["objcopy", "--only-keep-debug", program, place])
    functions = [symbol for symbol in text_functions(program).values() if symbol.name.startswith("function_")]
    assert functions
    found = dump(copy, [f.start + f.size // 2 for f in functions], tmp_path, options=["--functions"])
    assert [answer[1] for answer in found] == [f.name for f in functions]
