# SPDX-License-Identifier: GPL-2.0-only
"""`kaa dump` beside what programs say of themselves: stacks, names, variables, the GIL."""
import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import types

import pytest

from harness import py_spy, pythons
from harness.answer import NARROW
from harness.call_pairs import wrong_pairs
from harness.case_packages import package_of
from harness.cores import allow_core, dies_with_core
from harness.nobody import AS_NOBODY, WITHOUT_RIGHTS
from harness.process import run, started, traced
from harness.waiting import calls_of, until, until_busy

# Of values that repr() says otherwise.
OTHERWISE = {
    "colour": r"<Colour(\.RED:)? 7>",
    "words": r"<Words \['w'\]>",
    "bag": r"<Bag (\{5\}|at 0x[0-9a-f]+)>",
    "fixed_bag": r"<Fixed (frozenset\(\{6\}\)|at 0x[0-9a-f]+)>",
    "length": r"<Length (1\.5|at 0x[0-9a-f]+)>",
    "kind": r"<class Shelf>",
    "slots": r"<Slots at 0x[0-9a-f]+(: one=1)?>",
    # In no order: 3.14 sorts the names of a class.
    "shelf": r"<Shelf at 0x[0-9a-f]+: (width=3, label='books'|label='books', width=3)>",
    # From 3.8 on functions have their names, and these classes values.
    "inner": r"<function( containers.<locals>.inner)? at 0x[0-9a-f]+>",
    "method": r"<(instance)?method( Shelf.turn)? at 0x[0-9a-f]+>",
    "crowd": r"\{0: None, 1: None, 2: None, 3: None, 4: None, 5: None, \.\.\.140000 in all\}",
    "many": r"\[0, 1, 2, 3, 4, 5, \.\.\.1000 in all\]",
}
# Functions of parked.py whose variables all have values that are known.
KNOWN = {"numbers", "texts", "containers", "generate", "park_here"}
LONG = 200

# The first thread computes without ever letting the GIL go; another one wants it.
HOLDER = """
import os, sys, threading
thread = threading.Thread(target=lambda: [0 for _ in iter(int, 1)])
thread.daemon = True
thread.start()
sys.stdout.write("%d\\n" % os.getpid())
sys.stdout.flush()
pow(7, 10 ** 9)
"""

# The collector calls what never returns, nor lets the GIL go.
COLLECTOR = """
import gc, os, signal, time
gc.disable()
gc.callbacks.append(lambda phase, _: pow(7, 10 ** 9))
signal.signal(signal.SIGUSR1, lambda *_: gc.collect())
print(os.getpid(), flush=True)
while True:
    time.sleep(1)
"""

# Two threads run code in interpreters that the first thread has made.
INTERPRETERS = '''
import os, threading, time
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters
CODE = """
import os, time
def inside():
    os.write(1, b".")
    time.sleep(1000)
inside()
"""
print(os.getpid(), flush=True)
for name in ("guest0", "guest1"):
    threading.Thread(target=_interpreters.run_string, args=(_interpreters.create(), CODE), name=name, daemon=True).start()
def outside():
    os.write(1, b".")
    time.sleep(1000)
outside()
'''


@contextlib.contextmanager
def parked(python, scripts, *before, **options):
    """parked.py: its process, and what it tells of itself."""
    command = [*before, *python.command, python.script(scripts / "parked.py")]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options) as process:
        told = json.loads(process.stdout.readline())
        until(lambda: is_asleep(told), "that the thread that told sleeps, too")
        yield process, told


def is_asleep(told):
    stat = pathlib.Path(f"/proc/{told['pid']}/task/{told['teller']}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "S"


def dumped(kaa, *words):
    return json.loads(kaa("dump", "--json", *words).stdout)


def escaped(name):
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda match: f"\\x{ord(match[0]):02x}", name)


def check_stacks(dump, told):
    """All threads, by number, with their names and stacks."""
    threads = {thread["tid"]: thread for thread in dump["threads"]}
    assert set(threads) == {thread["tid"] for thread in told["threads"]} | {told["teller"]}
    for thread in told["threads"]:
        found = threads[thread["tid"]]
        assert found["complete"] and found["problem"] is None
        assert (found["ident"], found["name"]) == (thread["ident"], escaped(thread["name"]))
        assert [(frame["function"], frame["file"], frame["line"]) for frame in found["frames"]] == \
            [tuple(frame[:3]) for frame in thread["frames"]]


def check_value(name, value, expected):
    if name in OTHERWISE:
        assert re.fullmatch(OTHERWISE[name], value), (name, value)
    elif len(expected) > LONG:
        assert value.endswith("...") and expected.startswith(value[:-3]) and len(value) >= LONG, (name, value)
    else:
        assert value == expected, name


def check_variables(dump, told):
    threads = {thread["tid"]: thread for thread in dump["threads"]}
    seen = set()
    for thread in told["threads"]:
        for found, (name, _, _, arguments, variables) in zip(threads[thread["tid"]]["frames"], thread["frames"]):
            name = name.rpartition(".")[2]
            if name == "<module>":
                continue
            values = {local["name"]: local["value"] for local in found["locals"]}
            assert set(values) == set(variables), name
            assert [local["name"] for local in found["locals"] if local["argument"]] == arguments
            if name in KNOWN:
                seen.add(name)
                for variable, value in values.items():
                    check_value(variable, value, variables[variable])
    return seen


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_stacks_are_those_of_the_program(kaa, python, scripts):
    with parked(python, scripts) as (_, told):
        dump = dumped(python.kaa(kaa), str(told["pid"]))
    assert dump["pid"] == told["pid"] and dump["core"] is None
    assert dump["python"] == ".".join(map(str, python.version))
    check_stacks(dump, told)
    assert all(thread["state"] == "sleeping" and not thread["holds_gil"] and not thread["wants_gil"]
               for thread in dump["threads"])


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_variables_are_those_of_the_program(kaa, python, scripts):
    with parked(python, scripts) as (_, told):
        dump = dumped(python.kaa(kaa), "--locals", str(told["pid"]))
    check_stacks(dump, told)
    assert check_variables(dump, told) >= {"numbers", "texts", "containers"}
    values = {local["value"].partition(" at ")[0] for thread in dump["threads"] for frame in thread["frames"]
              for local in frame["locals"]}
    if python.version >= (3, 8):
        assert values >= {"<function containers.<locals>.inner", "<method Shelf.turn", "<Bag {5}>",
                          "<Fixed frozenset({6})>", "<Length 1.5>", "<Colour.RED: 7>"}


# Of what library_values.py has: values that repr() says otherwise, or that are longer than is shown.
LIBRARY = {
    "clock_zoned": r"datetime\.time\(3, 4, 5, 6, tzinfo=datetime\.timezone\(datetime\.timedelta\(days=-1, seconds=702\.\.\.\)",
    "own_moment": r"<Moment datetime\.datetime\(2024, 1, 2, 3, 4\)>",
    "own_money": r"<Money Decimal\('1\.5'\)>",
    "own_queue": r"<Queue deque\(\[5\]\)>",
    "long_number": r"<Decimal of 4000 digits>",
    "many": r"deque\(\[0, 1, 2, 3, 4, 5, \.\.\.1000 in all\]\)",
    "quotes": r"bytearray\(b\"ab\\x00'\"\)",
    "slots": r"<Slots at 0x[0-9a-f]+: (first=1, _Base__hidden='h'|_Base__hidden='h', first=1), second=\[2\]>",
    "mixed": r"<Mixed at 0x[0-9a-f]+: (first=1, _Base__hidden='h'|_Base__hidden='h', first=1), free=3>",
    "unset": r"<Base at 0x[0-9a-f]+>",
    "point": r"<Point at 0x[0-9a-f]+: x=1, y='b'>",
    "told_error": r"<Failed\('y'\): code=5>",
    # Before 3.11 such a combination has no name of its own.
    "both": r"<Rights(\.READ\|WRITE)?: 6>",
}
# numpy.bool of numpy 2, numpy.bool_ of 1.
NUMPY = {
    "n_double": "numpy.float64(1.5)", "n_single": "numpy.float32(0.1)", "n_negative": "numpy.int8(-7)",
    "n_large": "numpy.int64(-4611686018427387904)", "n_unsigned": "numpy.uint64(18446744073709551615)",
    "n_yes": "numpy.bool(True)", "n_no": "numpy.bool(False)",
    "n_complex": "numpy.complex128(1.5-2j)", "n_complex_single": "numpy.complex64(0+2j)",
    "n_array": "array([1.5, 2.0], dtype=float64)", "n_singles": "array([0.1, -1e+20], dtype=float32)",
    "n_flags": "array([True, False], dtype=bool)", "n_many": "array([0, 1, 2, 3, 4, 5, ...1000 in all], dtype=int64)",
    "n_table": "array(shape=(3, 4), dtype=float64)", "n_deep": "array(shape=(1, 1, 1, 1, 1, 1, 1, 1, ...), dtype=float64)",
    "n_step": "array([0, 4, 8], dtype=int64)", "n_back": "array([2, 1, 0], dtype=uint8)", "n_empty": "array([], dtype=float64)",
    "n_point": "array(shape=(), dtype=int64)", "n_big_end": "array(shape=(1,), dtype=int32)", "n_texts": "array(shape=(1,), dtype=str)",
    "n_objects": "array(shape=(1,), dtype=object)", "n_moments": "array(shape=(1,), dtype=datetime64)",
    "n_own": "<matrix array(shape=(1, 2), dtype=int64)>",
}


def library_values(kaa, python, script, *which, **options):
    """{name: (what kaa says, repr())} of the variables of library_values.py."""
    with started([*python.command, script, *which], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options) as process:
        told = json.loads(process.stdout.readline())
        dump = dumped(python.kaa(kaa), "--locals", str(process.pid))
    frame = next(frame for thread in dump["threads"] for frame in thread["frames"] if frame["function"] == "hold")
    return {local["name"]: (local["value"], told[local["name"]]) for local in frame["locals"] if local["name"] in told}


@pytest.mark.half_of_the_versions
@pytest.mark.and_free_threaded
def test_values_of_the_library(kaa, python, scripts):
    """Dates, decimal numbers, deques, slots, members of enumerations, errors: as repr() has them."""
    values = {}
    for which in ("dates", "decimals", "long_decimals", "containers", "instances"):
        values.update(library_values(kaa, python, scripts / "library_values.py", which))
    assert len(values) > 40
    for name, (value, expected) in values.items():
        if name in LIBRARY:
            assert re.fullmatch(LIBRARY[name], value), (name, value)
        else:
            assert value == expected, name


@pytest.mark.few_versions
def test_values_of_numpy(kaa, python, scripts, tmp_path):
    """The oldest Python has numpy 1, the others have 2."""
    if not package_of(python, "numpy", tmp_path / "packages"):
        pytest.skip("numpy cannot be had from PyPI")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "packages"), "OPENBLAS_NUM_THREADS": "1"}
    values = library_values(kaa, python, scripts / "library_values.py", "numbers", env=environment)
    assert {name: value.replace("numpy.bool_(", "numpy.bool(") for name, (value, _) in values.items()} == NUMPY


@pytest.mark.few_versions
def test_text_fits_80_columns_and_has_all_functions(kaa, python, scripts):
    with parked(python, scripts) as (process, told):
        text = python.kaa(kaa)("dump", "--locals", str(told["pid"]), env=NARROW).stdout
        # It was not harmed.
        process.stdin.close()
        assert process.wait() == 0
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"process {told['pid']}: ")
    assert re.fullmatch(r"5 threads; none held the GIL", lines[2])
    for thread in told["threads"]:
        for name, _, line, _, _ in thread["frames"]:
            assert any(re.match(rf"    {re.escape(name)} \(.*:{line}\)$", found) for found in lines), name


# Its name and its thread's have other letters; it calls itself, and sleeps at last.
LETTERS = """
import sys, threading
def größe(wert):
    straße = 'é'
    if wert:
        return größe(wert - 1)
    print(flush=True)
    sys.stdin.readline()
threading.current_thread().name = 'Fädchen'
größe(30)
"""


def test_letters_and_widths(kaa, newest_python):
    """Names have their letters where the locale has them; lines use what columns there are."""
    python = newest_python
    with started([*python.command, "-c", LETTERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        def text(*words, **env):
            return python.kaa(kaa)("dump", *words, str(process.pid), env={**os.environ, "LC_ALL": "C.UTF-8", **env}).stdout
        assert f"\nFädchen {process.pid} (" in text()
        assert text().count("größe (") == 3 and "\n    [the same 1 function 28 more times]\n" in text()
        assert text("--locals").count("größe (") == 31 and "straße = 'é'\n" in text("--locals")
        plain = text("--locals", LC_ALL="C")
        assert plain.isascii() and "    gr??e (" in plain
        assert [len(text(COLUMNS=columns).splitlines()[0]) for columns in ("5", "80", "100")] == [80, 80, 100]
        assert text(COLUMNS="1000").splitlines()[0].endswith("größe(30)\\x0a")


def check_parts(kaa, core, *words):
    """What is left of a core is no reason to crash, or to say what was not."""
    whole = core.read_bytes()
    for part in (1000, len(whole) // 50, len(whole) // 2):
        core.write_bytes(whole[:part])
        result = kaa("dump", "--json", *words, core, status=None)
        assert result.status in (0, 1) and (result.stderr or json.loads(result.stdout)["threads"]), result


@pytest.mark.few_versions
def test_core_of_linux(kaa, root, python, scripts, tmp_path, cores):
    with parked(python, scripts, cwd=tmp_path, preexec_fn=allow_core) as (process, told):
        core = dies_with_core(process, told["pid"], tmp_path)
    dump = dumped(python.kaa(kaa), "--locals", core)
    assert (dump["pid"], dump["core"], dump["signal"]) == (told["pid"], str(core), signal.SIGABRT)
    check_stacks(dump, told)
    assert check_variables(dump, told) >= {"numbers", "texts", "containers"}
    check_parts(kaa, core)


def test_core_of_a_thread_without_a_name(kaa, root, newest_python, tmp_path, cores):
    """Python has none where nothing has imported threading, and a core has no comm."""
    run([*newest_python.command, "-I", "-S", "-c", "import os; os.abort()"], cwd=tmp_path, preexec_fn=allow_core, status=None)
    core, = tmp_path.glob("core*")
    shown = kaa("dump", core).stdout
    assert re.search(r"^1 thread; (main thread|MainThread) \(\d+\) held the GIL$", shown, re.M), shown
    assert re.search(r"^(main thread|MainThread) \d+ \(holds the GIL, died of SIGABRT\)$", shown, re.M), shown


# Where Linux notes the path in the layer, /x/usr/bin/..., the end of which is the program's path elsewhere.
OVERLAY = """
set -e
mount -t tmpfs layers "$1"
mkdir "$1/upper" "$1/work" "$1/lower" "$1/all"
mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" overlay "$1/all"
mkdir -p "$1/all/x$(dirname "$2")"
cp "$2" "$1/all/x$2"
PYTHONHOME=/usr exec "$1/all/x$2" "$3"
"""


def test_core_of_a_program_on_an_overlay(kaa, root, scripts, tmp_path, cores):
    program, layers = os.path.realpath("/usr/bin/python3"), tmp_path / "layers"
    layers.mkdir()
    command = ["unshare", "--mount", "sh", "-c", OVERLAY, "sh", layers, program, scripts / "parked.py"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path, preexec_fn=allow_core) as process:
        told = json.loads(process.stdout.readline())
        until(lambda: is_asleep(told), "that the thread that told sleeps, too")
        core = dies_with_core(process, told["pid"], tmp_path)
    check_stacks(dumped(kaa, core), told)
    check_native(dumped(kaa, "--native", core), told)


def test_core_of_gdb(kaa, newest_python, scripts, tmp_path):
    """gcore leaves out code, and what was not written to."""
    if not shutil.which("gcore"):
        pytest.skip("gdb is not installed")
    with parked(newest_python, scripts) as (_, told):
        run(["gcore", "-o", tmp_path / "core", told["pid"]])
    dump = dumped(kaa, "--locals", tmp_path / f"core.{told['pid']}")
    check_stacks(dump, told)
    assert check_variables(dump, told) >= {"numbers", "texts", "containers"}


def test_no_stack_is_torn(kaa, python, scripts):
    kaa, seen = python.kaa(kaa), 0
    with python.running(scripts / "call_pairs.py", "600", "2") as (_, pid):
        until_busy(pid, 0.5)
        for number in itertools.count():
            if number >= 8 and seen >= 8:
                break
            for thread in dumped(kaa, *["--locals"] * (number % 2), str(pid))["threads"]:
                stack = [(frame["function"].rpartition(".")[2], frame["file"], frame["line"]) for frame in thread["frames"]]
                assert not list(wrong_pairs(stack)), stack
                assert not (thread["holds_gil"] and thread["wants_gil"])
                assert thread["complete"] or thread["problem"] == "unreadable", thread
                seen += any(file == "pairs" for _, file, _ in stack)
                for frame in thread["frames"]:
                    if frame["file"] == "pairs" and "locals" in frame and frame["function"] != "<module>":
                        assert [(local["name"], local["value"] in "01234") for local in frame["locals"]] == [("depth", True)]


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
def test_gil(kaa, python):
    kaa = python.kaa(kaa)
    with started([*python.command, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())

        def threads():
            return {thread["tid"]: thread for thread in dumped(kaa, str(pid))["threads"]}
        # The other one has it for some ms at most, until the first one computes.
        until_busy(pid, 0.3)
        until(lambda: threads()[pid]["holds_gil"], "that the first thread holds the GIL for good")
        until(lambda: any(thread["wants_gil"] for thread in threads().values()), "that the other one waits for it")
        now = threads()
        assert now[pid]["holds_gil"] and not now[pid]["wants_gil"]
        assert sum(thread["holds_gil"] for thread in now.values()) == 1
        line = kaa("dump", str(pid)).stdout.splitlines()[2]
    assert line.startswith(f"2 threads; MainThread ({pid}) held the GIL")


def test_under_sudo(kaa, root, newest_python, scripts):
    """As the user who typed sudo, with no more rights than to look."""
    sudo = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
    with parked(newest_python, scripts) as (_, told):
        result = kaa("dump", "--json", "--locals", str(told["pid"]), env=sudo)
    check_stacks(json.loads(result.stdout), told)
    assert check_variables(json.loads(result.stdout), told) >= {"numbers", "texts", "containers"}


def test_source_lines(kaa, newest_python, scripts):
    with parked(newest_python, scripts) as (_, told):
        lines = kaa("dump", "--source", str(told["pid"])).stdout.splitlines()
    source = (scripts / "parked.py").read_text(encoding="utf-8").splitlines()
    shown = 0
    for place, text in zip(lines, lines[1:]):
        found = re.fullmatch(r"    .*/parked\.py:(\d+)\)", place)
        if found:
            shown += 1
            assert text.startswith("      | ")
            assert source[int(found[1]) - 1].strip().startswith(text[8:].rstrip(".")[:60])
    assert shown >= 8


def test_beside_py_spy(kaa, newest_python, scripts):
    """The same functions, files and lines of all threads."""
    program = py_spy.find()
    if not program:
        pytest.skip("py-spy cannot be had from PyPI")
    with parked(newest_python, scripts) as (_, told):
        theirs = json.loads(run([program, "dump", "--json", "--nonblocking", "--pid", told["pid"]]).stdout)
        ours = dumped(kaa, str(told["pid"]))
    stacks = {thread["tid"]: [(frame["function"], frame["file"], frame["line"]) for frame in thread["frames"]]
              for thread in ours["threads"]}
    assert {thread["os_thread_id"]: [(frame["name"], frame["filename"], frame["line"]) for frame in thread["frames"]]
            for thread in theirs} == stacks
    assert {thread["tid"]: thread["name"] for thread in ours["threads"]} == \
        {thread["os_thread_id"]: thread["thread_name"] for thread in theirs}


# What parked threads wait in, where Python or libc has a name for it.
LOCKS = re.compile(r"PyThread_acquire_lock|acquire_timed|rlock_acquire|lock_|_PySemaphore|_PyParkingLot|_PyMutex|sem_|futex|python\S*\+0x")


def check_native(dump, told):
    """Each thread has native functions inside its Python ones, which are as without; returns their names by thread."""
    natives = {}
    for thread in dump["threads"]:
        assert thread["native"] and thread["complete"], thread
        kinds = [frame.get("kind", "python") for frame in thread["frames"]]
        told_of = " < ".join(frame["function"] for frame in thread["frames"])
        assert "missing" not in kinds and kinds[0] == "native" and kinds[-1] == "python", told_of
        natives[thread["tid"]] = [frame["function"] for frame in thread["frames"][:kinds.index("python")]]
        assert all(frame["line"] is None and int(frame["address"], 16) for frame in thread["frames"] if frame.get("kind") == "native")
        thread["frames"] = [frame for frame in thread["frames"] if "kind" not in frame]
    check_stacks(dump, told)
    for thread in told["threads"]:
        inner = natives[thread["tid"]]
        expected = r"read|python\S*\+0x|libc" if thread["tid"] == told["pid"] else LOCKS
        assert any(re.search(expected, name) for name in inner), (thread["tid"], inner)
    return natives


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_native_functions(kaa, python, scripts):
    with parked(python, scripts) as (process, told):
        check_native(dumped(python.kaa(kaa), "--native", str(told["pid"])), told)
        # It was not harmed, and is not traced.
        assert "TracerPid:\t0\n" in pathlib.Path(f"/proc/{told['pid']}/status").read_text()
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.few_versions
def test_native_functions_of_a_core(kaa, root, python, scripts, tmp_path, cores):
    with parked(python, scripts, cwd=tmp_path, preexec_fn=allow_core) as (process, told):
        core = dies_with_core(process, told["pid"], tmp_path)
    check_native(dumped(python.kaa(kaa), "--native", core), told)
    check_parts(kaa, core, "--native")


WORKING = """
import os, sys, threading, time, zlib
data = bytes(range(256)) * 40000
def squeeze():
    while True: zlib.compress(data, 9)
def ordered():
    while True: sorted(range(3000), key=lambda i: -i)
for function in (squeeze, ordered): threading.Thread(target=function, name=function.__name__, daemon=True).start()
print(os.getpid(), flush=True)
sys.stdin.read()
"""


def test_native_functions_of_threads_that_work(kaa, newest_python):
    """Python and native functions stand among each other as they call each other."""
    with started([*newest_python.command, "-c", WORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        pid = process.stdout.readline().strip()
        until_busy(int(pid), 0.3)
        sorts = squeezes = 0
        while not (sorts and squeezes):
            dump = newest_python.kaa(kaa)("dump", "--native", "--locals", pid).stdout
            for block in dump.split("\n\n")[1:]:
                functions = re.findall(r"^    (\S+) \((.*?)(?::\d+)?\)$", block, re.M)
                names = [name.rpartition(".")[2] for name, _ in functions]
                if {"<lambda>", "ordered"} <= set(names):
                    # Between a key function and who asked for it stands what calls it.
                    between = functions[names.index("<lambda>") + 1:names.index("ordered")]
                    sorts += bool(between) and all("/" not in file and file != "<string>" for _, file in between)
                squeezes += "squeeze" in names and any("libz" in file or "zlib" in file or "+0x" in name for name, file in functions)
        process.stdin.close()
        assert process.wait() == 0


def test_native_functions_beside_py_spy(kaa, newest_python, scripts):
    """What that names of native code, but where threads begin, we name in the same order."""
    program = py_spy.find()
    if not program:
        pytest.skip("py-spy cannot be had from PyPI")
    with parked(newest_python, scripts) as (_, told):
        theirs = json.loads(run([program, "dump", "--json", "--native", "--pid", told["pid"]]).stdout)
        ours = dumped(kaa, "--native", str(told["pid"]))
    stacks = {thread["tid"]: iter([frame["function"] for frame in thread["frames"]]) for thread in ours["threads"]}
    begin = re.compile(r"0x|thread_run$|pythread_wrapper$|t_bootstrap$|_start$|main$|pymain|Py_")
    for thread in theirs:
        named = [frame["name"] for frame in thread["frames"] if frame["filename"].endswith(".py") or not begin.match(frame["name"])]
        left = stacks[thread["os_thread_id"]]
        assert all(name in left for name in named), (named, ours["threads"])


# Of the interpreter's own code; libc's has names that are as good (`read`, `__GI___libc_read`).
GDB_FRAME = re.compile(r"#\d+ +(?:0x\w+ in )?(\S+) .* at (?:\S*/)?((?:Python|Objects|Modules|Include|Programs)/\S+):(\d+)$")


def gdb_frames(pid):
    """By thread: function, file and line of each frame of the interpreter, inlined ones too, innermost first."""
    threads, tid = {}, None
    for line in run(["gdb", "-q", "-nx", "-batch", "-p", pid, "-ex", "set debuginfod enabled off", "-ex", "thread apply all bt"]).stdout.splitlines():
        begins, frame = re.match(r"Thread \d+ \(.*\(LWP (\d+)\)", line), GDB_FRAME.match(line)
        tid = int(begins[1]) if begins else tid
        if frame:
            threads.setdefault(tid, []).append((frame[1], os.path.basename(frame[2]), int(frame[3])))
    return threads


def test_native_functions_beside_gdb(kaa, scripts):
    """Functions that are inlined, and lines, of an interpreter with debug information."""
    if not shutil.which("gdb"):
        pytest.skip("gdb is not installed")
    python = next((python for python in reversed(pythons.find()) if not python.prefix and ".debug_info" in
                   run(["readelf", "-SW", python.file]).stdout), None)
    if not python:
        pytest.skip("no interpreter here has debug information")
    with parked(python, scripts) as (_, told):
        theirs = gdb_frames(told["pid"])
        ours = dumped(kaa, "--native", "--interpreter-frames", str(told["pid"]))
        text = kaa("dump", "--interpreter-frames", str(told["pid"])).stdout
    for thread in ours["threads"]:
        native = [frame for frame in thread["frames"] if frame.get("kind") == "native"]
        own = [(frame["function"], os.path.basename(frame["source"]), frame["source_line"]) for frame in native
               if re.search(r"python3[^/]*$", frame["file"]) and frame["source"]]
        assert own == theirs[thread["tid"]] and len(own) > 5
        assert any(frame["inlined"] for frame in native)
    # It implies --native, which alone shows less.
    assert "_PyEval_EvalFrameDefault (" in text
    assert re.search(r"^    \S+ \(inlined, \S+\.[ch]:\d+\)$", text, re.M) and re.search(r"\(libpython\S+, \S+\.c:\d+\)|\(python3\S*, \S+\.c:\d+\)", text)


STUCK = """
import threading, time
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire, name="stuck", daemon=True).start()
time.sleep(1000)
"""


def test_who_sleeps_is_not_running(kaa, newest_python):
    """A stop wakes a thread. Where it gets no CPU to go back to its call, it is in that call all the same."""
    cpu = str(min(os.sched_getaffinity(0)))
    busy = ["taskset", "-c", cpu, "sh", "-c", "while :; do :; done"]
    with started(["nice", "-n", "15", "taskset", "-c", cpu, *newest_python.command, "-c", STUCK]) as process:
        pid = str(process.pid)
        tasks = pathlib.Path(f"/proc/{pid}/task")

        def numbers():
            """Of the system calls that the threads are in; futex() is 202."""
            return [file.read_text().split()[0] for file in tasks.glob("*/syscall")]

        with started(busy), started(busy):
            for _ in range(6):
                # The dump before has woken them.
                until(lambda: "sleep" in calls_of(process.pid) and "202" in numbers(), "that both threads sleep")
                dump = kaa("dump", "--native", pid).stdout
                for block in dump.split("\n\n")[1:]:
                    assert "(running)" not in block.split("\n")[0] or "it could not be stopped" in block, dump


def test_a_wait_that_goes_on_after_a_stop(kaa, newest_python):
    """The kernel calls it restart_syscall(), number 219, whatever it was; poll() is 7."""
    with started([*newest_python.command, "-c", "import select; select.poll().poll(1000000)"]) as process:
        file = pathlib.Path(f"/proc/{process.pid}/syscall")
        until(lambda: file.read_text().split()[0] == "7", "that the program waits")
        os.kill(process.pid, signal.SIGSTOP)
        os.kill(process.pid, signal.SIGCONT)
        until(lambda: file.read_text().split()[0] == "219", "that it waits on")
        assert f"{process.pid} (sleeping)" in kaa("dump", process.pid).stdout


def test_a_thread_that_may_not_be_stopped(kaa, newest_python, scripts):
    """One that has a tracer has its Python functions, and what is missing is said."""
    with parked(newest_python, scripts) as (_, told), traced(told["pid"]):
        text = newest_python.kaa(kaa)("dump", "--native", str(told["pid"])).stdout
        dump = dumped(newest_python.kaa(kaa), "--native", str(told["pid"]))
    assert text.count("[no native functions: it could not be stopped]") == 1
    assert [thread["native"] for thread in dump["threads"]].count(False) == 1
    for thread in dump["threads"]:
        thread["frames"] = [frame for frame in thread["frames"] if "kind" not in frame]
    check_stacks(dump, told)


@pytest.mark.few_versions
def test_interpreters(kaa, python):
    """Before 3.13 threads run with states that others have made."""
    with started([*python.command, "-c", INTERPRETERS], stdout=subprocess.PIPE, text=True) as process:
        pid = process.stdout.readline().strip()
        assert process.stdout.read(3) == "..."
        until(lambda: calls_of(pid).count("sleep") == 3, "that all threads sleep")
        threads = {thread["name"]: thread for thread in dumped(python.kaa(kaa), pid)["threads"]}
    functions = {name: [frame["function"] for frame in thread["frames"]] for name, thread in threads.items()}
    assert set(functions) == {"MainThread", "guest0", "guest1"}
    if python.version < (3, 10):
        for name, thread in threads.items():
            assert thread["problem"] == "several interpreters" and not functions[name], name
    else:
        assert functions["MainThread"] == ["outside", "<module>"]
        assert functions["guest0"][:2] == functions["guest1"][:2] == ["inside", "<module>"]


@pytest.mark.few_versions
def test_garbage_collection(kaa, python):
    kaa = python.kaa(kaa)
    with started([*python.command, "-c", COLLECTOR], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())

        def first():
            return {thread["tid"]: thread for thread in dumped(kaa, str(pid))["threads"]}[pid]
        assert not first()["collects_garbage"]
        os.kill(pid, signal.SIGUSR1)
        until(lambda: first()["collects_garbage"], "that the first thread collects garbage")
        assert first()["holds_gil"]


def test_as_an_ordinary_user(kaa, root, scripts):
    """Without any right; and a process of another user is refused, with what forbids it."""
    system = types.SimpleNamespace(command=["/usr/bin/python3"], script=lambda path: path)
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        place = pathlib.Path(place)
        place.chmod(0o755)
        for file in (kaa.command[0], scripts / "parked.py", scripts / "native_ids.py"):
            shutil.copy(file, place)
        user = type(kaa)(*WITHOUT_RIGHTS, place / "kaa")
        with parked(system, place, *AS_NOBODY) as (_, told):
            check_stacks(dumped(user, str(told["pid"])), told)
        with parked(system, place) as (_, told):
            said = user("dump", str(told["pid"]), status=1).stderr
    assert f"process {told['pid']} belongs to user root" in said and re.search(r"'sudo \S*kaa dump \d+'", said)
