# SPDX-License-Identifier: GPL-2.0-only
"""The core of the agent in every CPython from 3.6 on: what it says of functions, the switches, the sys API, and the
lives that a process can have. The agent does the work, also where the interpreter has support of its own."""
import ast
import re
import textwrap

import pytest

from harness import machine, parameters, pythons
from harness.agent import Way, find_library
from harness.process import run
from harness.trampoline_files import read_dump, read_map

# One of each kind of hook, for what takes longer.
KINDS = ("3.6.", "3.11.7", "3.13.0", "3.15.")


# Tests that ask the interpreter what it would do itself.
OF_OWN_SUPPORT = ("test_hook_of_somebody_else", "test_own_support_stays_in_charge")


def pytest_generate_tests(metafunc):
    if "interpreter" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--python")
    found = pythons.chosen(pythons.find_for_agent(), wanted)
    if metafunc.function.__name__ in OF_OWN_SUPPORT:
        found = [python for python in found if python.perf_trampoline]
    if "slow" in metafunc.fixturenames and not wanted:
        found = [python for python in found if python.id.startswith(KINDS)]
    metafunc.parametrize("interpreter", parameters.of_pythons(found))


@pytest.fixture
def slow():
    """The test takes only one interpreter of each kind."""


@pytest.fixture
def way(interpreter, build_dir):
    return Way(interpreter, find_library(build_dir))


@pytest.fixture
def code(way, tmp_path):
    """code(text, *words, backend=None, env=(), ...): runs it, with files in tmp_path: in /tmp may be others of the same numbers."""
    def code(text, *words, env=(), **options):
        result = way.run(["-c", textwrap.dedent(text), *words], env=[f"KAA_TRAMPOLINE_DIR={tmp_path}", *env], **options)
        result.map, result.dump = tmp_path / result.map.name, tmp_path / result.dump.name
        return result

    return code


def of_script(symbols):
    """{qualified name: [(address, size), ...]} of the functions of a program given by -c, or to a subinterpreter."""
    found = {}
    for symbol, codes in symbols.items():
        match = re.fullmatch(r"py::(.*):<(string|script)>", symbol)
        if match:
            found.setdefault(match[1], []).extend(codes)
    return found


# Prints what each of its functions says its name is.
SHAPES = """
import functools, sys
seen = set()
def plain(): seen.add(plain.__qualname__)
def outer():
    def inner(): seen.add(inner.__qualname__)
    inner()
    seen.add(outer.__qualname__)
class Class:
    def method(self): seen.add(Class.method.__qualname__)
    @classmethod
    def of_class(cls): seen.add(Class.of_class.__qualname__)
    @staticmethod
    def static(): seen.add(Class.static.__qualname__)
    @property
    def prop(self): seen.add(Class.prop.fget.__qualname__)
    class Nested:
        def method(self): seen.add(Class.Nested.method.__qualname__)
def generator():
    seen.add(generator.__qualname__)
    yield 1
    yield 2
async def coroutine(): seen.add(coroutine.__qualname__)
def thrown_into():
    try:
        yield
    except KeyError:
        seen.add(thrown_into.__qualname__)
name = lambda: seen.add("<lambda>")
def recursive(n):
    seen.add(recursive.__qualname__)
    return n and recursive(n - 1)
for _ in range(3):
    plain(); outer(); Class().method(); Class.of_class(); Class.static(); Class().prop; Class.Nested().method(); list(generator()); name()
    recursive(5); functools.reduce(lambda a, b: a, [1, 2, 3])
    try:
        coroutine().send(None)
    except StopIteration:
        pass
    it = thrown_into(); next(it)
    try:
        it.throw(KeyError)
    except StopIteration:
        pass
print(sorted(seen))
assert sys.is_stack_trampoline_active() is True
"""


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_names(code, backend):
    """Each function is announced, once, under the name that it says it has."""
    result = code(SHAPES, backend=backend)
    if backend == "perf":
        symbols = read_map(result.map)
    else:
        symbols = {}
        for entry in read_dump(result.dump).codes:
            symbols.setdefault(entry.name, []).append((entry.address, entry.size))
    found = of_script(symbols)
    said = set(ast.literal_eval(result.stdout))
    assert len(said) == 13 and said | {"<module>", "Class", "Class.Nested"} <= set(found)
    # Two lambdas have one name.
    assert {name: len(codes) for name, codes in found.items() if name in said} == dict.fromkeys(said, 1) | {"<lambda>": 2}


# --- switches ---

# Arguments, environment, and what is on then, by CPython's documentation.
SWITCHES = [
    ("", "", False),
    ("-X perf", "", True),
    ("-Xperf", "", True),
    ("-X perf=0", "", True),
    ("-BX perf", "", True),
    ("-X perf_jit", "", True),
    ("-X perfect", "", False),
    ("", "PYTHONPERFSUPPORT=1", True),
    ("", "PYTHONPERFSUPPORT=0", False),
    ("", "PYTHONPERFSUPPORT=yes", False),
    ("", "PYTHONPERFSUPPORT=", False),
    ("", "PYTHONPERFSUPPORT=2", True),
    ("-E", "PYTHONPERFSUPPORT=1", False),
    ("-I", "PYTHONPERFSUPPORT=1", False),
    ("-E -X perf", "PYTHONPERFSUPPORT=1", True),
    ("-I -X perf", "", True),
    ("", "PYTHON_PERF_JIT_SUPPORT=1", True),
    ("-E", "PYTHON_PERF_JIT_SUPPORT=1", False),
    ("-X perf -X perf_jit", "", True),
    ("-X perf_jit -X perf", "", True),
    ("-X perf", "PYTHON_PERF_JIT_SUPPORT=1", True),
]

# Which files are its own is asked of its open ones.
SAY = ("import os, sys; links = [os.path.join('/proc/self/fd', fd) for fd in os.listdir('/proc/self/fd')]; "
       "files = sorted(os.readlink(link) for link in links if os.path.islink(link)); "
       "files = [file for file in files if os.path.basename(file).startswith(('perf-', 'jit-'))]; "
       "print((sys.is_stack_trampoline_active(), sorted(sys._xoptions.items()), getattr(sys, 'orig_argv', [])[1:-1], "
       "sys.argv, sorted(item for item in os.environ.items() if 'PERF' in item[0]), "
       "[os.path.basename(file).split('-')[0] for file in files])); "
       "list(map(os.unlink, files))")


def say(way, switches, folder):
    """What the interpreter says with each of them, all in one shell."""
    lines = [" ".join(["env", *way.environment(), f"KAA_TRAMPOLINE_DIR={folder}", environment, way.python.path, arguments, "-c", '"$SAY"', "-X perf"])
             for arguments, environment, _ in switches]
    result = run([*way.python.prefix, "env", f"SAY={SAY}", "sh", "-c", "\n".join(lines)])
    assert result.stderr == "", result
    return [ast.literal_eval(line) for line in result.stdout.splitlines()]


def test_switches(way, tmp_path):
    answers = say(way, SWITCHES, tmp_path)
    for switch, answer in zip(SWITCHES, answers):
        jit = "perf_jit" in switch[0] or "JIT" in switch[1]
        files = [] if not switch[2] else ["jit"] if jit else ["perf"]
        assert answer[0] is switch[2] and answer[5] == files, (switch, answer)
    if way.python.perf_trampoline:
        # The interpreter's own support agrees, and the program sees the same options, arguments and environment. 3.12 knows no perf_jit.
        known = [switch for switch in SWITCHES if way.python.version >= (3, 13) or "JIT" not in switch[1].upper() + switch[0].upper()]
        own = say(Way(way.python), known, tmp_path)
        assert own == [answer for switch, answer in zip(SWITCHES, answers) if switch in known]


# --- the sys API ---

CALLS = """
import sys
def attempt(function, *words):
    try:
        return repr(function(*words))
    except BaseException as error:
        return "%s: %s" % (type(error).__name__, error)
on, off, active = sys.activate_stack_trampoline, sys.deactivate_stack_trampoline, sys.is_stack_trampoline_active
print([
    attempt(active), attempt(off), attempt(on, "nothing"), attempt(on, ""), attempt(on, 1), attempt(on, None), attempt(on, b"perf"),
    attempt(on, "perf\\0"), attempt(on, "perf\\udc80"), attempt(on), attempt(on, "perf", 2), attempt(off, 1), attempt(active, 1),
    attempt(active), attempt(on, "perf"), attempt(active), attempt(on, "perf"), attempt(on, "nothing"), attempt(active), attempt(off),
    attempt(off), attempt(active), on.__name__, on.__module__, type(on).__name__, attempt(on, type("Str", (str,), {})("perf")),
])
"""


def test_calls_answer_as_cpythons_own(code, interpreter):
    own = [python for python in pythons.find() if python.perf_trampoline]
    if not own:
        assert machine.no_chroot(), "the chroot has such"
        pytest.skip("no CPython here has support of its own to compare with: 3.12 or later")
    # The words of wrong calls are those of the version; without support of its own, those of the oldest that has it.
    oracle = interpreter if interpreter.perf_trampoline else own[0]
    expected = ast.literal_eval(Way(oracle).run(["-c", CALLS]).stdout)
    answers = ast.literal_eval(code(CALLS).stdout)
    assert len(answers) == 26
    assert [answer.replace("sys.", "") for answer in answers] == [answer.replace("sys.", "") for answer in expected]


def test_backends_change(code):
    """Each function is announced in the file of the backend with which it was called."""
    result = code("""
        import sys
        def first(): pass
        def both(): pass
        def second(): pass
        sys.activate_stack_trampoline("perf")
        first(); both()
        sys.activate_stack_trampoline("perf_jit")
        both(); second()
        assert sys.is_stack_trampoline_active()
        sys.deactivate_stack_trampoline()
        """)
    in_map = set(of_script(read_map(result.map)))
    in_dump = {code.name.split(":")[2] for code in read_dump(result.dump).codes}
    assert {"first", "both"} <= in_map and "second" not in in_map
    assert {"second", "both"} <= in_dump and "first" not in in_dump


def test_toggled_while_code_dies(code):
    """A thousand times; code objects come and go at the same addresses, and each is called by its own name."""
    result = code("""
        import sys
        def live(): return 1
        for number in range(1000):
            sys.activate_stack_trampoline("perf")
            space = {}
            exec("def on%d(): return live()" % number, globals(), space)
            assert space["on%d" % number]() == 1
            sys.deactivate_stack_trampoline()
            exec("def off%d(): return live()" % number, globals(), space)
            assert space["off%d" % number]() == 1
        """)
    found = of_script(read_map(result.map))
    assert [name for name in (f"on{number}" for number in range(1000)) if len(found.get(name, ())) != 1] == []
    assert not [name for name in found if name.startswith("off")]
    assert len(found["live"]) == 1


FOREIGN = """
import sys
try:
    from _testinternalcapi import set_eval_frame_default, set_eval_frame_record
except ImportError:
    print("lacking")
    sys.exit()
def attempt(function, *words):
    try:
        return repr(function(*words))
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)
def called(): pass
def work(): called()
record = []
set_eval_frame_record(record)
answers = [attempt(sys.activate_stack_trampoline, "perf"), attempt(sys.is_stack_trampoline_active)]
work()
recorded = [getattr(name, "__name__", name) for name in record]
answers += [attempt(sys.deactivate_stack_trampoline)]
before = len(record)
work()
answers += [len(record) > before]
set_eval_frame_default()
answers += [attempt(sys.activate_stack_trampoline, "perf"), attempt(sys.is_stack_trampoline_active)]
work()
# Somebody else's hook over ours.
set_eval_frame_record(record)
answers += [attempt(sys.is_stack_trampoline_active)]
work()
set_eval_frame_default()
answers += [attempt(sys.is_stack_trampoline_active), attempt(sys.activate_stack_trampoline, "perf")]
work()
answers += [attempt(sys.deactivate_stack_trampoline)]
print((answers, "called" in recorded and "work" in recorded))
"""


def test_hook_of_somebody_else(code, interpreter):
    result = code(FOREIGN)
    if result.stdout == "lacking\n":
        pytest.skip("this CPython comes without _testinternalcapi")
    # 3.15's own support answers well, and crashes when it ends.
    expected = Way(interpreter).run(["-c", FOREIGN], status=None).stdout
    assert result.stdout == expected and expected.count("None") >= 3


# --- lives ---

LIVES = """
import os, subprocess, sys, threading
def before(): pass
def after(): pass
before()
# Children that only execute something else, or end, call no Python function.
pids = []
for words in (["true"], ["sh", "-c", "exit 0"]):
    child = subprocess.Popen(words)
    child.wait()
    pids.append(child.pid)
import ctypes
libc = ctypes.PyDLL(None)
forked = libc.fork()
if not forked:
    os._exit(0)
os.waitpid(forked, 0)
pids.append(forked)
child = os.fork()
if not child:
    after()
    os._exit(0)
os.waitpid(child, 0)
print("quiet", [pid for pid in pids if os.path.exists("%s/perf-%d.map" % (sys.argv[1], pid))])
print("child", child)
def in_thread(number):
    space = {}
    for i in range(50):
        exec("def t%d_%d(): pass\\nt%d_%d()" % (number, i, number, i), space)
threads = [threading.Thread(target=in_thread, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, "-c", "def executed(): pass\\nexecuted()"])
"""


def test_children_threads_and_exec(code, tmp_path):
    result = code(LIVES, tmp_path, backend="perf", env=["PYTHONWARNINGS=ignore"])
    quiet, child = result.stdout.splitlines()
    assert quiet == "quiet []", result
    of_child = of_script(read_map(tmp_path / f"perf-{child.split()[-1]}.map"))
    # `<module>` is on the stack, so it stays known; `before` is not.
    assert "after" in of_child and "<module> [forked]" in of_child and "before" not in of_child
    found = of_script(read_map(result.map))
    # What was executed is the same process, of which the agent told before and after.
    assert {"before", "executed"} | {f"t{number}_{i}" for number in range(8) for i in range(50)} <= set(found)


def test_ends_by_exit_without_cleaning_up(code):
    result = code("import os\ndef last(): pass\nlast()\nos._exit(3)", backend="perf", status=3)
    assert "last" in of_script(read_map(result.map))


SUBINTERPRETERS = """
import sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None
text = '''
import sys
def in_sub_{0}(): pass
def busy_{0}():
    for i in range(200):
        exec("def s{0}_%d(): pass\\\\ns{0}_%d()" % (i, i), {{}})
in_sub_{0}()
busy_{0}()
assert sys.is_stack_trampoline_active()
sys.deactivate_stack_trampoline()
def unseen_{0}(): pass
unseen_{0}()
sys.activate_stack_trampoline("perf")
'''
def live(number):
    if interpreters:
        sub = interpreters.create()
        interpreters.run_string(sub, text.format(number))
        interpreters.destroy(sub)
    else:
        import _testcapi
        assert _testcapi.run_in_subinterp(text.format(number)) == 0
live(0)
def main_still_works(): pass
main_still_works()
# From 3.12 on they have a GIL each.
if sys.version_info >= (3, 12):
    threads = [threading.Thread(target=live, args=(number,)) for number in range(1, 5)]
    for thread in threads: thread.start()
    for i in range(200):
        exec("def m%d(): pass\\nm%d()" % (i, i), {})
    for thread in threads: thread.join()
print("fine")
"""


def test_subinterpreters(code, interpreter):
    result = code(SUBINTERPRETERS, backend="perf", status=None)
    if "No module named '_testcapi'" in result.stderr:
        pytest.skip("this CPython comes without _testcapi")
    assert result.status == 0 and result.stdout == "fine\n", result
    found = of_script(read_map(result.map))
    numbers = range(5 if interpreter.version >= (3, 12) else 1)
    expected = {"main_still_works"} | {f"in_sub_{number}" for number in numbers}
    expected |= {f"s{number}_{i}" for number in numbers for i in range(200)}
    assert expected <= set(found), sorted(expected - set(found))[:10]
    assert not [name for name in found if name.startswith("unseen")]


RECURSION = """
import sys, threading
sys.setrecursionlimit(int(sys.argv[1]))
def down(n):
    global deepest
    deepest = n
    return down(n + 1)
def fall():
    try:
        down(0)
    except RecursionError as error:
        print("RecursionError", deepest > 300)
fall()
fall()
if len(sys.argv) > 2:
    threading.stack_size(int(sys.argv[2]))
    for _ in range(3):
        thread = threading.Thread(target=fall)
        thread.start()
        thread.join()
"""


def test_deep_recursion(code, interpreter):
    """With the limit that is set at the start; 3.11, whose limit does not look at the C stack, with a raised one and in threads."""
    assert code(RECURSION, "1000", backend="perf").stdout == "RecursionError True\n" * 2
    if interpreter.version[:2] == (3, 11):
        assert code(RECURSION, "10000000", str(1 << 20), backend="perf").stdout == "RecursionError True\n" * 5


MANY = """
import types
def template(): return 1
code = template.__code__
if hasattr(code, "replace"):
    # co_qualname: from 3.11 on.
    key = "co_qualname" if hasattr(code, "co_qualname") else "co_name"
    make = lambda name: code.replace(**{key: name})
else:
    make = lambda name: types.CodeType(
        code.co_argcount, code.co_kwonlyargcount, code.co_nlocals, code.co_stacksize, code.co_flags, code.co_code, code.co_consts,
        code.co_names, code.co_varnames, code.co_filename, name, code.co_firstlineno, code.co_lnotab)
functions = [types.FunctionType(make("many%d" % number), {}) for number in range(100000)]
for _ in range(2):
    assert sum(function() for function in functions) == 100000
"""


def test_hundred_thousand_functions(code, slow):
    found = of_script(read_map(code(MANY, backend="perf").map))
    assert all(len(found.get(f"many{number}", ())) == 1 for number in range(100000))


def test_start_without_a_place_for_the_file(code, tmp_path):
    """One line says so, and the program runs."""
    result = code("print('ran')", backend="perf", env=[f"KAA_TRAMPOLINE_DIR={tmp_path}/missing"])
    assert result.stdout == "ran\n"
    assert re.fullmatch(rf"kaa: [^\n]*{re.escape(str(tmp_path))}/missing/perf-\d+\.map: No such file or directory\n", result.stderr), result


def test_unknown_backend_at_the_start(code):
    result = code("print('ran')", backend="perl")
    assert result.stdout == "ran\n"
    assert re.fullmatch(r"kaa: [^\n]*invalid backend: perl\n", result.stderr), result


def test_own_support_stays_in_charge(interpreter, build_dir, tmp_path):
    """Without KAA_TRAMPOLINE=always the agent does what CPython cannot, and no more."""
    preload = f"LD_PRELOAD={find_library(build_dir)}"
    text = "import sys; print(sys.is_stack_trampoline_active(), 'perf_elf' in sys.activate_stack_trampoline.__doc__)"
    # CPython's own support leaves a file in /tmp.
    clean = "import os; path = '/tmp/perf-%d.map' % os.getpid(); os.path.exists(path) and os.unlink(path)"
    for environment, arguments, expected in [("A=", "-Xperf", "True False\n"), ("KAA_TRAMPOLINE_BACKEND=perf", "-B", "True False\n"),
                                             ("KAA_TRAMPOLINE_BACKEND=perf_elf", "-B", "True True\n"), ("A=", "-B", "False False\n")]:
        result = run([*interpreter.prefix, "env", preload, f"KAA_TRAMPOLINE_DIR={tmp_path}", environment, interpreter.path, arguments, "-c",
                      text + "; " + clean])
        assert result.stdout == expected and result.stderr == "", (environment, arguments, result)
