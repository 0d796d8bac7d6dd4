# SPDX-License-Identifier: GPL-2.0-only
"""Faults that CPython's own support for perf has or had; the agent has none of them.

With --builtin each test also does the same with the interpreter's own support, where there is one, and says what came of it: `the
built-in support has it: 3.15.2-sid yes (exit status -11 ...)`. The agent alone decides whether a test passes. One
interpreter of each kind of hook is taken; with --python all that match.
"""
import os
import pathlib
import re
import subprocess
import textwrap

import pytest

from harness import parameters, pythons
from harness.agent import Way, find_library
from harness.process import HANG, Result, run, started
from harness.trampoline_files import Malformed, read_dump, read_map

# Root, since each program has a /tmp of its own.
pytestmark = pytest.mark.usefixtures("root")

# The kinds: the hook is a slot of a structure; takes interpreter frames; has the interpreter's own support, a JIT and other hooks
# beside it.
KINDS = ("3.8.", "3.11.7", "3.15.")

BARS = "def foo():\n    pass\ndef bar():\n    foo()\ndef baz():\n    bar()\n"


def has_jit(python):
    asked = "import sys; print(sys._jit.is_available())"
    return python.version >= (3, 14) and run([*python.command, "-c", asked]).stdout == "True\n"


def interpreters(config, wanted):
    starts = tuple(config.getoption("--python") or KINDS)
    chosen = [python for python in pythons.find() if python.id.startswith(starts) and wanted(python)]
    return parameters.of_pythons(chosen)


def pytest_generate_tests(metafunc):
    for name, wanted in (("interpreter", lambda _: True), ("jit_interpreter", has_jit)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, interpreters(metafunc.config, wanted), scope="module")


verdicts = {}


@pytest.fixture(scope="module", autouse=True)
def say_what_the_builtin_has(request):
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        for fault, found in verdicts.items():
            print(f"\n{fault}: the built-in support has it: " + "; ".join(map(" ".join, found.items())), end="")


@pytest.fixture
def check(request, interpreter, build_dir, tmp_path):
    """check(function): function(way) raises if the way has the fault."""
    def check(function):
        if interpreter.perf_trampoline and request.config.getoption("--builtin"):
            try:
                function(Programs(interpreter, private=tmp_path / "builtin"))
                said = "no"
            except (AssertionError, Malformed, OSError, subprocess.TimeoutExpired) as error:
                said = f"yes ({(str(error) or 'assertion').splitlines()[0][:100]})"
            verdicts.setdefault(request.node.name.replace(interpreter.id, "").replace("[]", ""), {})[interpreter.id] = said
        function(Programs(interpreter, find_library(build_dir), tmp_path / "agent"))

    return check


class Programs(Way):
    def code(self, text, *words, **options):
        return self.run(["-c", textwrap.dedent(text), *words], **options)

    def child_of(self, result, pid):
        """A result with the files of a program's child."""
        child = Result(result.command, 0, "", "")
        child.pid, child.map, child.dump = pid, self.map_path(pid), self.dump_path(pid)
        return child


def names(symbols):
    """The functions of a perf map that were not made by the interpreter itself."""
    return {symbol.split(":")[2] for symbol in symbols}


DYING = """
import gc, sys
def kill(tag):
    for number in range(2000):
        space = {}
        exec(compile("def f(): return 1\\nf()", "<%s %d>" % (tag, number), "exec"), space)
    gc.collect()
"""


def test_code_dies_after_the_second_activation(check):
    check(lambda way: way.code(DYING + """
sys.activate_stack_trampoline("perf")
kill("first")
keep = {}
exec("def kept(): return 1\\nkept()", keep)
sys.deactivate_stack_trampoline()
kill("between")
sys.activate_stack_trampoline("perf")
kill("second")
keep["kept"]()
keep.clear()
gc.collect()
kill("third")
sys.deactivate_stack_trampoline()
kill("last")
"""))


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
@pytest.mark.parametrize("times", [10, 300])
def test_toggled_often(check, times, backend):
    def toggle(way):
        result = way.code("""
            import sys
            def work(): pass
            for number in range(int(sys.argv[1])):
                sys.activate_stack_trampoline(sys.argv[2])
                assert sys.is_stack_trampoline_active() is True
                work()
                exec("def f%d(): pass\\nf%d()" % (number, number))
                sys.deactivate_stack_trampoline()
                assert sys.is_stack_trampoline_active() is False
                exec("def g%d(): pass\\ng%d()" % (number, number))
            """, times, backend)
        if backend == "perf":
            found = names(read_map(result.map))
        else:
            found = {code.name.split(":")[2] for code in read_dump(result.dump).codes}
        assert {"work", *(f"f{number}" for number in range(times))} <= found
        assert not {f"g{number}" for number in range(times)} & found

    check(toggle)


def test_a_toggle_costs_no_memory_for_what_is_known(check):
    """A function that is called in each round is announced once, not once a round."""
    def toggle(way):
        result = way.code("""
            import sys
            def work(): pass
            for _ in range(7):
                sys.activate_stack_trampoline("perf")
                work()
                sys.deactivate_stack_trampoline()
            """)
        found = {symbol: codes for symbol, codes in read_map(result.map).items() if symbol.startswith("py::work:")}
        assert [len(codes) for codes in found.values()] == [1]

    check(toggle)


FORKING = BARS + """
import os, sys
def only_child():
    foo()
def work(tag):
    for number in range(200):
        exec("def %s%d(): pass\\n%s%d()" % (tag, number, tag, number))
baz()
work("before")
child = os.fork()
if child == 0:
    print(os.getpid(), flush=True)
    only_child()
    work("child")
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
work("after")
"""


def forked(way, backend):
    """The result of the parent, and one with the files of the child."""
    result = way.code(FORKING, backend=backend)
    return result, way.child_of(result, int(result.stdout.split()[-1]))


def numbered(tag):
    return {f"{tag}{number}" for number in range(200)}


def test_dumps_of_parent_and_child_are_whole(check):
    def fork(way):
        result, child = forked(way, "perf_jit")
        of_parent, of_child = read_dump(result.dump), read_dump(child.dump)
        assert (of_parent.pid, of_child.pid) == (result.pid, child.pid)
        parent, child = ({code.name.split(":")[2] for code in dump.codes} for dump in (of_parent, of_child))
        assert numbered("before") | numbered("after") | {"foo", "bar", "baz"} <= parent
        assert not numbered("child") & parent
        assert numbered("child") | {"only_child", "foo"} <= child
        assert not (numbered("before") | numbered("after") | {"bar", "baz"}) & child

    check(fork)


def test_maps_of_parent_and_child_are_their_own(check):
    def fork(way):
        result, child = forked(way, "perf")
        parent, child = read_map(result.map), read_map(child.map)
        assert numbered("before") | numbered("after") | {"foo", "bar", "baz"} <= names(parent)
        assert not numbered("child") & names(parent)
        assert numbered("child") | {"only_child", "foo"} <= names(child)
        assert not (numbered("before") | numbered("after") | {"bar", "baz"}) & names(child)
        # One entry for each function, however often it is called on either side of the fork.
        for symbol, codes in child.items():
            assert len(codes) == 1 or "<module>" in symbol, symbol

    check(fork)


def test_what_is_on_the_stack_at_a_fork_is_in_the_childs_map(check):
    """A sample in the child shows these functions: its map has to name them."""
    def fork(way):
        result = way.code("""
            import os
            def outer():
                inner()
            def inner():
                child = os.fork()
                if child == 0:
                    print(os.getpid(), flush=True)
                    leaf()
                    os._exit(0)
                os.waitpid(child, 0)
            def leaf():
                pass
            outer()
            """, backend="perf")
        parent = read_map(result.map)
        child = read_map(way.child_of(result, int(result.stdout)).map)
        named = {code for codes in child.values() for code in codes}
        assert "leaf" in names(child)
        # Trampolines of the stack keep the parent's addresses.
        missing = [symbol for symbol in ("outer", "inner")
                   if not any(code in named for name, codes in parent.items() if name.split(":")[2] == symbol for code in codes)]
        assert not missing, f"not in the child's map: {missing}"

    check(fork)


FORKS = DYING + """
import os, threading
def forks(depth):
    child = os.fork()
    if child == 0:
        kill("child")
        if depth:
            forks(depth - 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "a child died"
def busy():
    while not done:
        kill_some()
def kill_some():
    exec("def f(): pass\\nf()", {})
import warnings
warnings.simplefilter("ignore")
done = False
sys.activate_stack_trampoline(sys.argv[1])
thread = threading.Thread(target=busy)
thread.start()
forker = threading.Thread(target=forks, args=(2,))
forker.start()
forks(1)
forker.join()
done = True
thread.join()
"""


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_forks_from_threads_and_children_of_children(check, backend):
    check(lambda way: way.code(FORKS, backend))


def test_a_newline_in_a_filename_makes_no_line(check):
    def newline(way):
        result = way.code(r"""
            exec(compile("def evil(): pass\nevil()", "a\n1234 10 py::injected:b\r\x1b\x00c"[:-2], "exec"), {})
            """, backend="perf")
        symbols = read_map(result.map)
        assert "py::injected:b" not in symbols
        assert any(symbol.startswith("py::evil:a") for symbol in symbols)

    check(newline)


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_names_that_no_encoding_has(check, backend):
    def surrogates(way):
        result = way.code(r"""
            import sys
            sys.activate_stack_trampoline(sys.argv[1])
            exec(compile("def odd(): print('ran')\nodd()", "bad\ud800file", "exec"), {})
            exec(compile("def odder(): print('ran')\nodder()", "kn\u00f6del\U0001f40d", "exec"), {})
            """, backend, env=["PYTHONIOENCODING=utf-8"])
        assert result.stdout == "ran\nran\n" and result.stderr == ""
        found = set(read_map(result.map)) if backend == "perf" else {code.name for code in read_dump(result.dump).codes}
        assert any(re.fullmatch(r"py::odd:bad\\ud800file", name) for name in found), sorted(found)[:20]
        assert "py::odder:kn\u00f6del\U0001f40d" in found

    check(surrogates)


STALE = """
import os, sys
path = "/tmp/%s" % (sys.argv[1] % os.getpid())
with open(path, "w") as file:
    file.write("7f0000000000 1000 py::stale:of an earlier process\\n")
os.chmod(path, 0o600)
os.utime(path, (1000000000, 1000000000))
OWNER
def fresh(): pass
try:
    sys.activate_stack_trampoline(sys.argv[2])
except Exception as error:
    print("refused", error)
fresh()
"""
FILES = [("perf", "perf-%d.map"), ("perf_jit", "jit-%d.dump")]


def path_of(result, backend):
    return result.map if backend == "perf" else result.dump


def named(result, backend):
    if backend == "perf":
        return set(read_map(result.map))
    return {code.name for code in read_dump(result.dump).codes}


@pytest.mark.parametrize("backend, file", FILES)
def test_a_file_of_an_earlier_process_with_that_number(check, backend, file):
    def stale(way):
        result = way.code(STALE.replace("OWNER", ""), file, backend)
        assert result.stdout == ""
        found = named(result, backend)
        assert "py::fresh:<string>" in found
        assert not any(name.startswith("py::stale") for name in found)

    check(stale)


@pytest.mark.parametrize("backend, file", FILES)
def test_a_file_of_another_user(check, backend, file):
    """Its owner could write names into it later."""
    def foreign(way):
        result = way.code(STALE.replace("OWNER", "os.chown(path, 65534, 65534)"), file, backend)
        refused = result.stdout.startswith("refused") and path_of(result, backend).name in result.stdout
        if not refused:
            assert path_of(result, backend).stat().st_uid == os.getuid()
            assert "py::fresh:<string>" in named(result, backend)

    check(foreign)


@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "pipe", "folder"])
@pytest.mark.parametrize("backend, file", FILES)
def test_something_planted_in_tmp(check, backend, file, kind):
    """What lies there under the name that the file will have is not written to, and nothing waits for it."""
    def planted(way):
        victim = way.folder / "victim"
        victim.write_text("precious\n")
        result = way.code("""
            import os, sys
            victim, kind = sys.argv[3:]
            path = "/tmp/%s" % (sys.argv[1] % os.getpid())
            {"symbolic link": lambda: os.symlink(victim, path), "hard link": lambda: os.link(victim, path),
             "pipe": lambda: os.mkfifo(path), "folder": lambda: os.mkdir(path)}[kind]()
            def fresh(): pass
            try:
                sys.activate_stack_trampoline(sys.argv[2])
            except Exception as error:
                print("refused", error)
            fresh()
            """, file, backend, "/tmp/victim", kind, timeout=HANG if way.library else 2, status=None)
        path = path_of(result, backend)
        assert result.status == 0, result
        assert victim.read_bytes() == b"precious\n"
        if result.stdout:
            assert result.stdout.startswith("refused") and path.name in result.stdout
        else:
            assert path.is_file() and not path.is_symlink()
            assert "py::fresh:<string>" in named(result, backend)

    check(planted)


def test_files_are_for_the_owner_alone(check):
    def modes(way):
        for backend, _ in FILES:
            result = way.code("def f(): pass\nf()", backend=backend, env=["PYTHONDONTWRITEBYTECODE=1"])
            assert path_of(result, backend).stat().st_mode & 0o077 == 0

    check(modes)


def test_addresses_of_dead_code_get_new_names(check):
    """Code objects of different names at the same addresses, one after the other."""
    def reuse(way):
        result = way.code("""
            addresses = set()
            for number in range(3000):
                space = {}
                exec("def made%d(): pass" % number, space)
                function = space["made%d" % number]
                addresses.add(id(function.__code__))
                function()
                del function, space
            print(len(addresses))
            """, backend="perf")
        assert {f"made{number}" for number in range(3000)} <= names(read_map(result.map))
        assert int(result.stdout) < 3000, "no address was used twice: nothing was tested"

    check(reuse)


def test_no_two_trampolines_look_alike_in_a_dump(check):
    """Readers tell images by a hash of the code: where all are alike, all have the name of the first."""
    def alike(way):
        result = way.code(BARS + "baz()", backend="perf_jit")
        codes = [code.code for code in read_dump(result.dump).codes]
        assert len(codes) > 3 and len(set(codes)) == len(codes)

    check(alike)


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_toggled_while_threads_run(check, backend):
    """Trampolines are on the stacks of other threads when they are switched off."""
    check(lambda way: way.code("""
        import sys, threading, time
        def leaf(n):
            return n if n == 0 else leaf(n - 1)
        def sleeper():
            time.sleep(0.001)
        def work():
            while not done:
                leaf(20)
                sleeper()
                exec("def f(): pass\\nf()", {})
        done = False
        threads = [threading.Thread(target=work) for _ in range(4)]
        sys.activate_stack_trampoline(sys.argv[1])
        for thread in threads:
            thread.start()
        for _ in range(100):
            sys.deactivate_stack_trampoline()
            leaf(5)
            sys.activate_stack_trampoline(sys.argv[1])
            time.sleep(0.002)
        done = True
        for thread in threads:
            thread.join()
        """, backend))


def test_switched_off_by_a_function_with_a_trampoline(check):
    """Its trampoline, and those of its callers, are returned to later."""
    check(lambda way: way.code("""
        import gc, sys
        def off():
            sys.deactivate_stack_trampoline()
            gc.collect()
            for number in range(500):
                exec("def f%d(): pass\\nf%d()" % (number, number), {})
        def outer():
            return middle() + 1
        def middle():
            exec("off()", globals())
            return 1
        sys.activate_stack_trampoline("perf")
        assert outer() == 2
        def generator():
            yield 1
            off()
            yield 2
        sys.activate_stack_trampoline("perf")
        assert list(generator()) == [1, 2]
        """))


EXTRA = """
import ctypes, gc, sys
api = ctypes.pythonapi
prefix = "PyUnstable" if sys.version_info >= (3, 12) else "_PyEval"
request = getattr(api, "PyUnstable_Eval_RequestCodeExtraIndex" if sys.version_info >= (3, 12) else "_PyEval_RequestCodeExtraIndex")
put = getattr(api, "PyUnstable_Code_SetExtra" if sys.version_info >= (3, 12) else "_PyCode_SetExtra")
put.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.c_void_p]
freed = []
@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def free(value):
    freed.append(value)
index = request(free)
"""


def test_others_use_extra_data_of_code_objects(check):
    """Their destructor is called for what they put there, and for nothing else."""
    def extra(way):
        result = way.code(EXTRA + """
def make(name):
    space = {}
    exec("def %s(): return 1" % name, space)
    return space[name]
sys.activate_stack_trampoline("perf")
mine, other = make("mine"), make("other")
mine(), other()
assert put(mine.__code__, index, 4711) == 0
del mine, other
gc.collect()
for number in range(100):
    make("f%d" % number)()
gc.collect()
print(freed)
sys.stdout.flush()
import os
os._exit(0)
""")
        assert result.stdout == "[4711]\n"

    check(extra)


def test_recursion_ends_with_an_exception(check):
    """As deep as the interpreter's own limit, and where that is raised: an error, no crash."""
    def recurse(way):
        limits = [None, 100_000] if way.python.version >= (3, 11) else [None]
        for limit in limits:
            result = way.code("""
                import sys
                if len(sys.argv) > 1:
                    sys.setrecursionlimit(int(sys.argv[1]))
                def down(n):
                    return down(n + 1)
                sys.activate_stack_trampoline("perf")
                try:
                    down(0)
                except RecursionError:
                    print("RecursionError")
                down = lambda n: n
                print(down(1))
                """, *([limit] if limit else []))
            assert result.stdout == "RecursionError\n1\n"

    check(recurse)


DEPTH = """
import sys
sys.setrecursionlimit(1_000_000)
depth = 0
def down():
    global depth
    depth += 1
    down()
sys.activate_stack_trampoline("perf")
try:
    down()
except RecursionError:
    print(depth)
"""


def own_supports():
    return parameters.of_pythons([python for python in pythons.find() if python.perf_trampoline])


@pytest.mark.parametrize("python_with_own", own_supports())
def test_calls_go_as_deep_as_with_the_own_support(python_with_own, build_dir, tmp_path):
    def depth(*way):
        return int(Way(python_with_own, *way).run(["-c", DEPTH]).stdout)

    own, agent = depth(None, tmp_path / "own"), depth(find_library(build_dir), tmp_path / "agent")
    # Environment and command line lie on the stack too.
    assert own > 500 and agent >= own - 50, f"{agent} calls with the agent, {own} with its own support"


MANY = """
import os, re
os.chdir("/tmp")
total = 0
for number in range(3000):
    space = {}
    exec("def function_with_a_long_name_%d(): return 1" % number, space)
    total += space["function_with_a_long_name_%d" % number]()
with open([path for path in os.listdir("/tmp") if str(os.getpid()) in path][0], "rb") as file:
    print(total, len(set(re.findall(b"py::function_with_a_long_name_[0-9]+", file.read()))))
"""
# A /tmp with room for 32 KiB beside the agent.
SMALL_TMP = """
set -e
folder=$1 library=$2
shift 2
mount --make-rprivate /
mount -t tmpfs -o size=16m,mode=1777 none "$folder"
[ -z "$library" ] || cp "$library" "$folder/"
head -c 20000000 /dev/zero >"$folder/filler" 2>/dev/null || true
truncate -s -32K "$folder/filler"
exec "$@"
"""


def check_what_is_lost(result, named):
    """Said when it begins and when it ends; each of the 3,000 functions is in the file or among those counted."""
    why = rf"in process {result.pid}: /tmp/(perf-{result.pid}.map|jit-{result.pid}.dump): No space left on device\n"
    said = re.fullmatch(f"kaa: new functions get no more names {why}kaa: (?P<lost>[0-9]+) functions have no names {why}", result.stderr)
    assert said, result
    # Each is made by a module of its own, and Python starts by some.
    assert 3000 - named <= int(said["lost"]) <= 2 * (3000 - named) + 1000, result


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_a_full_disk_ends_nothing(check, build_dir, backend):
    def full(way):
        words = ["unshare", "--mount", "sh", "-c", SMALL_TMP, "sh", way.folder, way.library and find_library(build_dir) or "",
                 *way.prefix, *way.bare_command(["-c", MANY], backend=backend)]
        with started(words, stdout=-1, stderr=-1, text=True) as process:
            out, err = process.communicate(timeout=HANG)
        result = Result(words, process.returncode, out, err)
        result.pid = process.pid
        total, named = map(int, out.split())
        assert total == 3000 and named < 1000, result
        if way.library:
            check_what_is_lost(result, named)
        else:
            assert err == "", result

    check(full)


def test_a_child_that_cannot_make_its_file_runs_on(interpreter, build_dir, tmp_path):
    way = Programs(interpreter, find_library(build_dir))
    folder = tmp_path / "files"
    folder.mkdir()
    result = way.code("""
        import os, sys
        def function():
            return 1
        function()
        os.rename(sys.argv[1], sys.argv[1] + ".gone")
        child = os.fork()
        # One after the other: 3.15 writes a line in pieces, and the other's would stand between.
        if child:
            os.waitpid(child, 0)
        print(os.getpid(), function(), sys.is_stack_trampoline_active(), flush=True)
        if child == 0:
            os._exit(0)
        """, folder, backend="perf", env=[f"KAA_TRAMPOLINE_DIR={folder}"])
    lines = result.stdout.splitlines()
    child = lines[0].split()[0]
    assert lines == [f"{child} 1 False", f"{result.pid} 1 True"], result
    assert result.stderr == f"kaa: no more trampolines in process {child}: {folder}/perf-{child}.map: No such file or directory\n", result


JIT = """
import sys
assert sys._jit.is_enabled()
code = '''
import sys
try:
    sys.activate_stack_trampoline("perf")
except ValueError as error:
    print(error, flush=True)
'''
if sys.argv[1] == "main":
    exec(code)
else:
    from concurrent import interpreters
    interpreters.create().exec(code)
"""


@pytest.mark.parametrize("where", ["main", "subinterpreter"])
def test_the_jit_excludes_trampolines(jit_interpreter, build_dir, tmp_path, where):
    way = Way(jit_interpreter, find_library(build_dir), tmp_path / "tmp")
    result = way.run(["-c", JIT, where], env=["PYTHON_JIT=1"])
    assert result.stdout == "Cannot activate the perf trampoline if the JIT is active\n"


JIT_SEEN = """
import os, sys
def function():
    pass
for _ in range(5000):
    function()
print(sys._jit.is_enabled(), sys.is_stack_trampoline_active(), os.environ["PYTHON_JIT"])
"""


@pytest.mark.parametrize("mode", ["always", "auto"])
def test_trampolines_asked_for_keep_the_jit_off(jit_interpreter, build_dir, tmp_path, mode):
    """As with the interpreter's own switch, and both say so."""
    own = Way(jit_interpreter, None, tmp_path / "own").run(["-c", JIT_SEEN], backend="perf", env=["PYTHON_JIT=1"])
    assert own.stdout == "False True 1\n" and "JIT deactivated" in own.stderr, own
    way = Way(jit_interpreter, find_library(build_dir), tmp_path / "tmp")
    result = way.run(["-c", JIT_SEEN], backend="perf", env=["PYTHON_JIT=1", f"KAA_TRAMPOLINE={mode}"])
    assert result.stdout == own.stdout, result
    assert result.stderr == f"kaa: the JIT stays off in process {result.pid}, because trampolines are active\n", result
    assert any(name.startswith("py::function:") for name in read_map(result.map))


THREADS = """
import os, sys, threading
idle, go = threading.Event(), threading.Event()
def down(n):
    return down(n + 1)
def work():
    go.wait()
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    if sys.version_info >= (3, 11):
        try:
            down(0)
        except RecursionError:
            pass
    os.write(1, b"done\\n")
others = [threading.Thread(target=idle.wait) for _ in range(5)]
threads = [threading.Thread(target=work) for _ in range(10)]
for thread in others + threads:
    thread.start()
import warnings
warnings.simplefilter("ignore")
sys.setrecursionlimit(1_000_000)
go.set()
for thread in threads:
    thread.join()
idle.set()
"""


def test_forks_and_recursion_in_threads_whose_stacks_are_neighbours(check):
    """Since Linux 6.13 and glibc 2.42 one mapping may hold several stacks, with guard pages between them."""
    def neighbours(way):
        assert way.code(THREADS, backend="perf").stdout == 10 * "done\n"

    check(neighbours)


PERSIST = """
import ctypes, os, sys
backend, agent = sys.argv[1:]
if agent:
    library = ctypes.PyDLL(agent)
    persist = library.kaa_perf_trampoline_set_persist_after_fork
    compile_code = library.kaa_perf_trampoline_compile_code
    compile_code.argtypes = [ctypes.py_object]
else:
    from _testinternalcapi import compile_perf_trampoline_entry as compile_code
    from _testinternalcapi import perf_trampoline_set_persist_after_fork as persist
def early(): pass
def late(): pass
def parents(): pass
sys.activate_stack_trampoline(backend)
persist(1)
assert compile_code(early.__code__) == 0
child = os.fork()
if child == 0:
    print(os.getpid(), sys.is_stack_trampoline_active(), flush=True)
    early()
    late()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
parents()
"""


@pytest.mark.parametrize("backend", ["perf", "perf_jit"])
def test_trampolines_that_persist_after_a_fork(check, backend):
    """The child goes on with the parent's trampolines, and makes its own."""
    def persist(way):
        result = way.code(PERSIST, backend, way.library or "")
        pid, active = result.stdout.split()
        child = way.child_of(result, int(pid))
        assert active == "True"
        if backend == "perf":
            parents, childs = read_map(result.map), read_map(child.map)
            assert parents["py::early:<string>"] == childs["py::early:<string>"]
        assert {"py::early:<string>", "py::late:<string>"} <= named(child, backend)
        assert "py::parents:<string>" not in named(child, backend)
        assert "py::parents:<string>" in named(result, backend) and "py::late:<string>" not in named(result, backend)

    check(persist)
