# SPDX-License-Identifier: GPL-2.0-only
"""
The names of C functions in stripped files, beside those that Python itself has for them.

The oracle is the interpreter: TOLD reads from its descriptors and built-in functions which C function each of them calls.
"""
import collections
import pathlib
import re
import struct

import pytest

from harness import machine, parameters, pythons
from harness.process import run

# Prints path, offset in the file, owner and name of each C function behind an attribute of a type or a module.
TOLD = r"""
import bisect, ctypes, importlib, pkgutil, sys, types, warnings
warnings.simplefilter("ignore")
import importlib.machinery as machinery
for info in list(pkgutil.iter_modules()):
    spec = info.module_finder.find_spec(info.name)
    if isinstance(spec.loader, machinery.ExtensionFileLoader) and "lib-dynload" in spec.origin and "test" not in info.name:
        try:
            importlib.import_module(info.name)
        except Exception:
            pass
maps = []
for line in open("/proc/self/maps"):
    words = line.split()
    if "x" in words[1] and len(words) == 6 and words[5].startswith("/"):
        start, end = (int(word, 16) for word in words[0].split("-"))
        maps.append((start, end, int(words[2], 16), words[5]))
starts = [entry[0] for entry in maps]
def word(address):
    return ctypes.c_uint64.from_address(address).value
def tell(function, owner, name):
    at = bisect.bisect(starts, function) - 1
    if function and at >= 0 and function < maps[at][1]:
        print(maps[at][3], function - maps[at][0] + maps[at][2], owner, name, sep="\t")
def look(owner, things, is_module):
    for name, value in list(things):
        kind = type(value)
        if kind is types.WrapperDescriptorType:
            tell(word(id(value) + 48), owner, name)
        elif kind in (types.MethodDescriptorType, types.ClassMethodDescriptorType):
            tell(word(word(id(value) + 40) + 8), owner, name)
        elif kind is types.GetSetDescriptorType:
            tell(word(word(id(value) + 40) + 8), owner, name)
            tell(word(word(id(value) + 40) + 16), owner, name)
        elif kind is types.BuiltinFunctionType and is_module:
            tell(word(word(id(value) + 16) + 8), owner, name)
def below(cls):
    for sub in type.__subclasses__(cls):
        yield sub
        yield from below(sub)
for cls in {object, *below(object)}:
    look(cls.__name__, vars(cls).items(), False)
for name, module in list(sys.modules.items()):
    if isinstance(module, types.ModuleType) and (name in sys.builtin_module_names or hasattr(module, "__file__")):
        look(name, ((key, value) for key, value in vars(module).items() if getattr(value, "__module__", None) == name), True)
"""
COMPARE = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"}
# A slot of the other order, or for deleting, is the same function.
SAME = {"__delitem__": "__setitem__", "__delattr__": "__setattr__", "__delete__": "__set__", "__getattr__": "__getattribute__"}


def told_by(python):
    """{path: {offset: {(owner, name), ...}}}"""
    told = collections.defaultdict(lambda: collections.defaultdict(set))
    for line in run([*python.command, "-I", "-c", TOLD]).stdout.splitlines():
        path, offset, owner, name = line.split("\t")
        told[path][int(offset)].add((owner.split(".")[-1], name))
    return told


def starts_of(path, offsets):
    """The vaddr of each offset."""
    segments = []
    for line in run(["readelf", "-lW", path]).stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            segments.append([int(word, 16) for word in (words[1], words[2], words[4])])
    return [next(vaddr + offset - at for at, vaddr, size in segments if at <= offset < at + size) for offset in offsets]


def exported(path):
    lines = run(["readelf", "--dyn-syms", "-W", path]).stdout.splitlines()
    return {int(line.split()[1], 16) for line in lines if len(line.split()) == 8 and line.split()[3] == "FUNC"}


def names_of(build_dir, path, vaddrs, *options):
    """What kaa calls the function at each; None: one that does not begin there, or has no name."""
    text = "".join(f"{vaddr:x}\n" for vaddr in vaddrs)
    command = [build_dir / "tests" / "unit" / "dump_symbols", "--functions", *options, path, "/nonexistent"]
    lines = run(command, data=text.encode()).stdout.splitlines()
    assert len(lines) == len(vaddrs)
    for vaddr, line in zip(vaddrs, lines):
        start, _, name = line.split("\t")[0].partition(" ")
        yield None if line == "-" or int(start, 16) != vaddr or "+0x" in name else name


def is_right(name, told):
    owner, _, last = name.rpartition(".")
    # The module _io calls itself io.
    pattern = "_?" + re.escape(owner.split(".")[-1]).replace(r"\*", ".*")
    lasts = {last, *(COMPARE if last == "tp_richcompare" else ())}

    def fits(attribute):
        reflected = "__" + attribute[3:] if attribute.startswith("__r") else attribute
        return bool(lasts & {attribute, reflected, SAME.get(attribute)})

    return any(fits(attribute) and (re.fullmatch(pattern, theirs) or (not owner and theirs == "builtins")) for theirs, attribute in told)


def interpreters():
    return [python for python in pythons.find() if python.version >= (3, 8)]


@pytest.mark.half_of_the_versions
@pytest.mark.parametrize("interpreter", parameters.of_pythons(interpreters()))
def test_names_are_those_that_python_has(build_dir, interpreter, tmp_path):
    """Of a copy of each file without symbols. Nine of ten are named; the others have several names, or come to be later."""
    wrong, named, all_told = [], 0, 0
    place = machine.chroot_path() if interpreter.prefix else pathlib.Path("/")
    for number, (path, functions) in enumerate(told_by(interpreter).items()):
        path = place / path.lstrip("/")
        copy = tmp_path / f"{number}-{path.name}"
        run(["strip", "-o", copy, path])
        known, offsets = exported(copy), sorted(functions)
        vaddrs = starts_of(copy, offsets)
        for offset, vaddr, name in zip(offsets, vaddrs, names_of(build_dir, copy, vaddrs)):
            if vaddr in known:
                continue
            all_told += 1
            named += name is not None
            if name and not is_right(name, functions[offset]):
                wrong.append((str(path), hex(vaddr), name, sorted(functions[offset])))
    assert not wrong, f"{len(wrong)} of {named}: " + "\n".join(str(text) for text in wrong[:20])
    assert all_told > 2000 and named > 0.9 * all_told, (named, all_told)



# The collector's functions that go along objects, and what calls them: "collect" until 3.9, 3.14 has several.
COLLECTOR = r"collect(_with_callback)?|check_garbage|gc_collect_\w+|deduce_unreachable|update_refs|subtract_refs|move_unreachable|mark_\w+|gc_mark_\w+|expand_region\w*"


@pytest.mark.parametrize("interpreter", parameters.of_pythons([python for python in interpreters() if python.unstripped]))
def test_the_collector_is_found(build_dir, interpreter, tmp_path):
    """And nothing else is taken for it, as the symbols of the copy's original tell."""
    copy, symbols = tmp_path / "python", {}
    run(["strip", "-o", copy, interpreter.file])
    for line in run(["readelf", "-sW", interpreter.file]).stdout.splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC" and words[6].isdigit():
            symbols.setdefault(int(words[1], 16), words[7].split(".")[0])
    starts = sorted(symbols)
    found = {symbols[start] for start, name in zip(starts, names_of(build_dir, copy, starts)) if name == "gc_collect*"}
    assert found and all(re.fullmatch(COLLECTOR, name) for name in found), found
    # Much of the collector may be inlined there.
    assert found & {"collect", "gc_collect_main"}, found


# As CPython's headers have them; each function is there twice, since the linker keeps what differs.
TABLES = r"""
typedef long word;
#define FUNCTION(name) __attribute__((noinline, used)) static word name(word x) { return x * __LINE__ + 1; }
FUNCTION(type_add) FUNCTION(type_method) FUNCTION(type_get) FUNCTION(spec_call) FUNCTION(spec_method) FUNCTION(module_method)
FUNCTION(shared) FUNCTION(by_two_names) FUNCTION(flags_too_large) FUNCTION(name_no_text) FUNCTION(bases_set) FUNCTION(behind_the_end)
FUNCTION(other_module)
struct method { const char *name; void *function; word flags; const char *doc; };
struct attribute { const char *name; void *get; void *set; const char *doc; void *closure; };
struct type { word head[3]; const char *name; word basicsize, itemsize; void *slots[46]; };
struct slot { word id; void *value; };
struct spec { const char *name; int basicsize, itemsize; unsigned int flags; struct slot *slots; };
struct module { word head[5]; const char *name, *doc; word size; struct method *methods; void *slots, *traverse, *clear, *free; };
static void *numbers[36] = { type_add };
static struct method type_methods[] = { { "method", type_method, 1, "says what" }, { "one", by_two_names, 4 },
                                        { "shared", shared, 8 }, { 0 }, { "behind", behind_the_end, 1 } };
static struct attribute attributes[] = { { "attribute", type_get }, { 0 } };
/* tp_as_number, tp_methods, tp_getset are at 96, 232, 248: the numbers count from behind tp_itemsize, which is at 40. */
#define AT(offset) ((offset) - 48) / 8
struct type a_type = { .head = { 1 }, .name = "app.Type", .basicsize = 16,
    .slots = { [AT(96)] = numbers, [AT(232)] = type_methods, [AT(248)] = attributes } };
static struct method other_methods[] = { { "two", by_two_names, 4 }, { "shared", shared, 8 }, { 0 } };
struct type other_type = { .head = { 1 }, .name = "app.Typed", .basicsize = 24, .slots = { [AT(232)] = other_methods, [AT(224)] = type_get } };
/* tp_bases at 336 is empty in a file. */
struct type no_type = { .head = { 1 }, .name = "app.Fixed", .basicsize = 24, .slots = { [AT(224)] = bases_set, [AT(336)] = numbers } };
static struct method spec_methods[] = { { "method", spec_method, 1 }, { 0 } };
static struct slot slots[] = { { 50, spec_call }, { 64, spec_methods }, { 0 } };
struct spec a_spec = { "app.Made", 16, 0, 1024, slots };
static struct method module_methods[] = { { "call", module_method, 1 }, { "large", flags_too_large, 0x80000 }, { 0 } };
struct module a_module = { .head = { 1 }, .name = "app", .size = -1, .methods = module_methods };
static struct method no_methods[] = { { "not a name", name_no_text, 1 }, { 0 } };
struct module no_module = { .head = { 1 }, .name = "app2", .methods = no_methods };
static struct method plain_methods[] = { { "plain", other_module, 1 }, { 0 } };
struct module builtin_module = { .head = { 1 }, .name = "builtins", .methods = plain_methods };
void *PyInit_app(void) { return &a_module; }
FUNCTION(by_jump) FUNCTION(by_guarded_jump) FUNCTION(by_more_than_jump)
#define EXPORTED(name, code) \
    asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" code "\n.cfi_endproc\n" \
        ".size " #name ", .-" #name "\n.p2align 4");
EXPORTED(Py_Jump, ".byte 0xe9; .long by_jump - . - 4")
EXPORTED(Py_GuardedJump, ".byte 0xf3, 0x0f, 0x1e, 0xfa, 0xe9; .long by_guarded_jump - . - 4")
EXPORTED(Py_MoreThanJump, "nop; .byte 0xe9; .long by_more_than_jump - . - 4")
EXPORTED(Py_JumpToNamed, ".byte 0xe9; .long type_method - . - 4")
EXPORTED(Py_JumpAway, ".byte 0xe9; .long 0x70000000")
"""
NAMES = {
    "type_add": "app.Type.__add__", "type_method": "app.Type.method", "spec_call": "app.Made.__call__",
    "spec_method": "app.Made.method", "module_method": "app.call", "shared": "app.Type*.shared", "other_module": "plain",
    "by_jump": "Py_Jump", "by_guarded_jump": "Py_GuardedJump", "by_more_than_jump": None,
    "type_get": None, "by_two_names": None, "flags_too_large": None, "name_no_text": None, "bases_set": None, "behind_the_end": None,
}


@pytest.mark.parametrize("kind", [["-shared", "-fPIC"], ["-no-pie"]], ids=["library", "program"])
def test_only_what_fits_is_a_table(build_dir, tmp_path, kind):
    source, full, copy = tmp_path / "app.c", tmp_path / "app.full", tmp_path / "app.so"
    source.write_text(TABLES + ("int main(void) { return 0; }\n" if "-no-pie" in kind else ""))
    run(["gcc", "-O1", "-w", "-fno-ipa-icf", *kind, "-Wl,--export-dynamic", "-o", full, source])
    run(["strip", "-o", copy, full])
    symbols = {line.split()[7]: int(line.split()[1], 16) for line in run(["readelf", "-sW", full]).stdout.splitlines()
               if len(line.split()) == 8 and line.split()[3] == "FUNC"}
    assert dict(zip(NAMES, names_of(build_dir, copy, [symbols[name] for name in NAMES]))) == NAMES
    # A file that has nothing to do with Python has no such names.
    source.write_text(source.read_text().replace("PyInit_app", "init_app"))
    run(["gcc", "-O1", "-w", "-fno-ipa-icf", *kind, "-Wl,--export-dynamic", "-s", "-o", copy, source])
    assert set(names_of(build_dir, copy, [symbols[name] for name in NAMES])) == {None}


def library(tmp_path):
    """A stripped extension module, and the vaddrs of its functions by the names in the source."""
    source, full, copy = tmp_path / "app.c", tmp_path / "app.full", tmp_path / "app.so"
    source.write_text(TABLES)
    run(["gcc", "-O1", "-w", "-fno-ipa-icf", "-shared", "-fPIC", "-o", full, source])
    run(["strip", "-o", copy, full])
    lines = [line.split() for line in run(["readelf", "-sW", full]).stdout.splitlines()]
    return copy, {words[7]: int(words[1], 16) for words in lines if len(words) == 8 and words[3] == "FUNC"}


def test_files_that_were_closed_have_names(build_dir, tmp_path):
    """Of many files only some stay open."""
    path, symbols = library(tmp_path)
    assert dict(zip(NAMES, names_of(build_dir, path, [symbols[name] for name in NAMES], "--closed"))) == NAMES


def is_data(header):
    """A PT_LOAD that is writable."""
    return header[:2] == (1, 6)


def add_segments(path, wanted, count):
    """The first program header that is wanted so many times more; the headers stand at the file's end then."""
    data, size = bytearray(path.read_bytes()), 56
    place, number = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    headers = [bytes(data[place + i * size:place + (i + 1) * size]) for i in range(number)]
    headers += [next(header for header in headers if wanted(struct.unpack_from("<II", header)))] * count
    data += bytes(-len(data) % 8)
    struct.pack_into("<Q", data, 32, len(data))
    struct.pack_into("<H", data, 56, len(headers))
    path.write_bytes(data + b"".join(headers))


@pytest.mark.parametrize("wanted, count, has_names", [(is_data, 2, True), (is_data, 20, False), (lambda header: header[0] == 4, 80, False)],
                         ids=["some", "much data", "many"])
def test_files_with_many_segments_have_none(build_dir, tmp_path, wanted, count, has_names):
    """No linker makes them, and each address would be searched for in all."""
    path, symbols = library(tmp_path)
    add_segments(path, wanted, count)
    assert list(names_of(build_dir, path, [symbols["type_method"]])) == ["app.Type.method" if has_names else None]
