# SPDX-License-Identifier: GPL-2.0-only
"""The ways of the agent into a process and from there into its children, and that nobody else notices."""
import json
import os
import pathlib
import shutil

import pytest

from harness import parameters, pythons
from harness.process import TOP, run

HERE = pathlib.Path(__file__).parent
PROGRAMS = TOP / "tests" / "live" / "programs"


def pytest_generate_tests(metafunc):
    if "interpreter" in metafunc.fixturenames:
        found = pythons.chosen(pythons.find_for_agent(), metafunc.config.getoption("--python"))
        metafunc.parametrize("interpreter", parameters.of_pythons(found))


@pytest.fixture
def run_it(kaa, interpreter):
    """run_it(options, words): the interpreter in `kaa run`; options None: alone."""
    def run_it(options, *words, **rest):
        if options is None:
            return run([*interpreter.command, *words], **rest)
        return interpreter.kaa(kaa)("run", *options, interpreter.path, *words, **rest)
    return run_it


@pytest.fixture
def in_kaa(kaa, newest_python, tmp_path):
    """The same for one interpreter, with files in tmp_path."""
    def in_kaa(*words, **rest):
        return kaa("run", "--always", "--dir", tmp_path, newest_python.path, *words, **rest)
    return in_kaa


def compiled(path, source, *options):
    run(["cc", "-o", path, source, *options])
    return path


def names(path, function):
    return path.exists() and f" py::{function}:" in path.read_text()


# --- nobody notices ---

def look(run_it, options, env, **rest):
    result = run_it(options, HERE / "in_process.py", env=env, **rest)
    pathlib.Path(f"/tmp/perf-{int(result.stderr)}.map").unlink(missing_ok=True)
    return json.loads(result.stdout)


@pytest.mark.parametrize("options", [[], ["--always", "--perf-jit", "--no-keep"]], ids=["default", "always"])
def test_environment_is_the_same(run_it, interpreter, options, tmp_path):
    """In the process as in children: os.environ, getenv(), /proc, and all that a program could look at."""
    # The user's own LD_PRELOAD, and an empty one.
    preload = [None, "libm.so.6", ""][len(options) and 1 + interpreter.version[1] % 2]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("KAA_", "PYTHON"))}
    env.update({"FIRST": "1", "MARKED": "a=b", "EMPTY": ""})
    if preload is not None:
        env["LD_PRELOAD"] = preload
    env["LAST"] = "x" * 100
    alone = look(run_it, None, env)
    with_agent = look(run_it, options, env)
    assert list(with_agent) == list(alone)
    for what in alone:
        assert with_agent[what] == alone[what], what


def test_large_environment(in_kaa, tmp_path):
    """Beyond what fits on the stack between vfork and exec."""
    code = ("import os, subprocess, sys\nfor i in range(3000): os.environ['NUMBER%d' % i] = 'x'\n"
            "def ran(): print(len(os.environ), os.getpid(), flush=True)\nran()\n"
            "if sys.argv[1:]: subprocess.check_call([sys.executable, '-c', sys.argv[1]])\n")
    counts, pids = zip(*[line.split() for line in in_kaa("-c", code, code).stdout.splitlines()])
    assert len(pids) == 2 and counts[0] == counts[1]
    assert all(names(tmp_path / f"perf-{pid}.map", "ran") for pid in pids)


def test_empty_environment(kaa, interpreter, tmp_path):
    """Nothing at all is there, and trampolines are."""
    code = "import os, json\ndef ran(): return list(os.environ)\nprint(json.dumps([ran(), os.getpid()]))"
    words = [*kaa.command, "run", "--always", "--dir", tmp_path, interpreter.path, "-c", code]
    seen, pid = json.loads(run([*interpreter.prefix, "env", "-i", *words]).stdout)
    # Python sets that one itself in the C locale.
    assert [name for name in seen if name != "LC_CTYPE"] == []
    assert names(tmp_path / f"perf-{pid}.map", "ran")


def test_preloaded_by_hand(interpreter, build_dir, tmp_path):
    """LD_PRELOAD without `kaa run`: only the agent's word of it goes."""
    library = build_dir / "src" / "agent" / "libkaa_agent.so"
    code = "import os; print(os.environ.get('LD_PRELOAD'))\ndef ran(): print(os.getpid())\nran()"
    for value, remains in ((library, "None"), (f"libm.so.6:{library}", "libm.so.6"), (f"{library} libm.so.6", "libm.so.6")):
        words = ["env", f"LD_PRELOAD={value}", "KAA_TRAMPOLINE=always", "KAA_TRAMPOLINE_BACKEND=perf",
                 f"KAA_TRAMPOLINE_DIR={tmp_path}"]
        seen, pid = run([*interpreter.prefix, *words, interpreter.path, "-c", code]).stdout.split()
        assert seen == remains
        assert names(tmp_path / f"perf-{pid}.map", "ran")


SHOW = PROGRAMS / "show_environment.c"
SHOW_32 = PROGRAMS / "show_environment32.s"


def assembled_for_32_bits(path):
    run(["as", "--32", "-o", f"{path}.o", SHOW_32])
    run(["ld", "-m", "elf_i386", "-o", path, f"{path}.o"])
    return path


@pytest.fixture(params=["plain", "address", "thread", "static", "m32", "setuid"])
def program(request, tmp_path):
    """Programs that the agent must stay out of."""
    if request.param == "m32":
        return assembled_for_32_bits(tmp_path / request.param)
    options = {"address": ["-fsanitize=address"], "thread": ["-fsanitize=thread"], "static": ["-static"]}
    path = compiled(tmp_path / request.param, SHOW, *options.get(request.param, []))
    if request.param == "setuid":
        if os.geteuid() == 0:
            os.chown(path, 65534, 65534)
        path.chmod(0o6755)
    return path


def test_other_programs_run_as_ever(in_kaa, newest_python, program):
    """As children: the same output, which is their environment, and the same exit status."""
    words = [HERE / "in_process.py", program]
    alone = json.loads(run([newest_python.path, *words]).stdout)[str(program)]
    with_agent = json.loads(in_kaa(*words).stdout)[str(program)]
    assert alone[0] == 5 and "agent: " not in alone[1]
    assert with_agent == alone


def test_system_is_the_c_librarys(in_kaa, newest_python):
    """Statuses and signals of os.system(), which the agent stands in for."""
    code = ("import os, signal; s = signal.getsignal\n"
            "print([os.system(c) for c in ('exit 3', 'kill -9 $$', 'kill -2 $$', '/nowhere 2> /dev/null', 'true')])\n"
            "print(s(2), s(3), signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
            "signal.signal(2, signal.SIG_IGN)\n"
            "print(os.system('kill -2 $$; exit 4'), s(2))\n")
    assert in_kaa("-c", code).stdout == run([newest_python.path, "-c", code]).stdout


# --- children ---

def test_children_get_their_maps(run_it, tmp_path):
    """All ways to start a Python from a Python; each one's functions are in its own map."""
    result = run_it(["--always", "--dir", tmp_path], HERE / "start_children.py", tmp_path)
    assert not result.stderr
    ways = dict(line.split() for line in result.stdout.splitlines())
    assert len(ways) >= 28
    missing = [way for way, pid in ways.items() if not names(tmp_path / f"perf-{pid}.map", f"ran_by_{way}")]
    assert not missing
    assert len(set(ways.values())) == len(ways)


def test_children_of_another_version(kaa):
    """From an interpreter with support of its own to one without, and back."""
    outside = [python for python in pythons.find_for_agent() if not python.prefix]
    if len(outside) < 2:
        pytest.skip("needs two interpreters outside the chroot")
    code = "import os, sys, subprocess\ndef ran():\n print(os.getpid(), flush=True)\n"
    code += " if sys.argv[2:]: subprocess.check_call([sys.argv[1], '-c', sys.argv[-1]] + sys.argv[2:])\nran()"
    first, last = outside[0].path, outside[-1].path
    for chain in ([first, last, first], [last, first, last]):
        pids = kaa("run", "--perf-jit", chain[0], "-c", code, *chain[1:], code).stdout.split()
        dumps = [pathlib.Path(f"/tmp/jit-{pid}.dump") for pid in pids]
        try:
            assert len(pids) == 3
            assert all(b"py::ran:" in dump.read_bytes() for dump in dumps)
        finally:
            for dump in dumps:
                dump.unlink(missing_ok=True)


def test_options_of_the_interpreter(run_it, tmp_path):
    code = "import os\ndef ran(): print(os.getpid())\nran()"
    pid = run_it(["--always", "--dir", tmp_path], "-I", "-S", "-E", "-Xutf8", "-c", code).stdout.strip()
    assert names(tmp_path / f"perf-{pid}.map", "ran")


def test_own_support_is_used(run_it, interpreter):
    """Without --always CPython 3.12 and later do it themselves, even with -I; others have the agent."""
    code = ("import os, sys\ndef ran(): print(os.getpid(), sys.is_stack_trampoline_active(),"
            " open('/proc/self/maps').read().count('kaa_agent') > 0, sys.activate_stack_trampoline.__doc__)\nran()")
    for options, env in ((["-I"], {}), (["-X", "perf"], {}), ([], {"PYTHONPERFSUPPORT": "1"})):
        out = run_it([], *options, "-c", code, env={**os.environ, **env}).stdout
        pid, active, loaded, doc = out.split(maxsplit=3)
        path = pathlib.Path(f"/tmp/perf-{pid}.map")
        try:
            assert names(path, "ran"), (options, env)
        finally:
            path.unlink(missing_ok=True)
        assert (active, loaded) == ("True", "True")
        assert ("perf_elf" in doc) != interpreter.perf_trampoline


# --- the extension module ---

def test_extension_module(interpreter, build_dir, tmp_path):
    """The same file, imported, on every version without a warning."""
    library = tmp_path / "_kaa_agent.so"
    shutil.copy(build_dir / "src" / "agent" / "libkaa_agent.so", library)
    code = ("import os, sys; sys.path.insert(0, sys.argv[1]); import _kaa_agent, _kaa_agent as again\n"
            "sys.activate_stack_trampoline('perf')\n"
            "def ran(): print(os.getpid(), sys.is_stack_trampoline_active(), _kaa_agent.__name__)\nran()")
    result = run([*interpreter.prefix, "env", "KAA_TRAMPOLINE=always", f"KAA_TRAMPOLINE_DIR={tmp_path}", interpreter.path,
                  "-W", "error", "-c", code, tmp_path])
    assert not result.stderr
    pid, active, name = result.stdout.split()
    assert (active, name) == ("True", "_kaa_agent")
    assert names(tmp_path / f"perf-{pid}.map", "ran")


def test_extension_module_beside_the_preloaded(run_it, build_dir, tmp_path):
    """One agent: the import is answered by the one that is there."""
    shutil.copy(build_dir / "src" / "agent" / "libkaa_agent.so", tmp_path / "_kaa_agent.so")
    code = ("import os, sys; sys.path.insert(0, sys.argv[1]); f = sys.activate_stack_trampoline; import _kaa_agent\n"
            "def ran(): print(os.getpid(), sys.activate_stack_trampoline is f)\nran()")
    pid, same = run_it(["--always", "--dir", tmp_path], "-W", "error", "-c", code, tmp_path).stdout.split()
    assert same == "True"
    assert names(tmp_path / f"perf-{pid}.map", "ran")


# --- embedded ---

EMBEDDED = "import os\ndef ran_embedded(): os.write(1, b'%d ' % os.getpid())\nran_embedded()"


def embedded(kaa, path, tmp_path, env):
    result = kaa("run", "--always", "--dir", tmp_path, path, EMBEDDED, env={**os.environ, **env})
    pid, again = result.stdout.split()
    assert pid == again
    assert names(tmp_path / f"perf-{pid}.map", "ran_embedded")


def test_embedded_with_shared_library(kaa, tmp_path):
    libraries = sorted(pathlib.Path("/usr/lib").glob("*/libpython3.*.so.1.0"))
    path = compiled(tmp_path / "host", PROGRAMS / "embed_python.c", libraries[-1])
    embedded(kaa, path, tmp_path, {})


def test_embedded_statically(kaa, newest_python, tmp_path):
    """A host that exports what it has, as the documentation of CPython tells hosts to."""
    query = "import sysconfig as s; v = s.get_config_var; print(v('LIBPL'), v('LIBRARY'), v('LIBS'), v('SYSLIBS'), sep='\\n')"
    folder, library, libs, syslibs = run([newest_python.path, "-c", query]).stdout.splitlines()
    archive = pathlib.Path(folder, library)
    if not archive.exists():
        pytest.skip(f"no {archive}")
    path = tmp_path / "host"
    # Debian's is no code for a PIE, and needs two libraries more than it says.
    built = run(["cc", "-o", path, PROGRAMS / "embed_python.c", "-no-pie", "-Wl,-E", archive, *libs.split(), *syslibs.split(),
                 "-lz", "-lexpat"], status=None)
    if built.status:
        assert archive.is_relative_to("/usr/lib"), built
        pytest.skip(f"the distribution's {archive} lacks a part of itself: {built.stderr.splitlines()[-1]}")
    prefix = run([newest_python.path, "-c", "import sys; print(sys.base_prefix)"]).stdout.strip()
    embedded(kaa, path, tmp_path, {"PYTHONHOME": prefix})


LINKED = """
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *words[] = { "sh", "-c", "exit 4", 0 };
	int status;
	pid_t pid;

	if (system("exit 3") >> 8 != 3 || posix_spawnp(&pid, "sh", 0, 0, words, environ) || waitpid(pid, &status, 0) != pid ||
	    status >> 8 != 4)
		return 1;
	return execlp("sh", "sh", "-c", "exit 5", (char *)0);
}
"""


def test_linked_and_opened_late(build_dir, newest_python, tmp_path):
    """A program that was linked with the agent, or opened it, runs programs as ever."""
    library = build_dir / "src" / "agent" / "libkaa_agent.so"
    source = tmp_path / "linked.c"
    source.write_text(LINKED)
    path = compiled(tmp_path / "linked", source, "-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}")
    run([path], status=5)
    code = ("import ctypes, os, sys; c = ctypes.CDLL(sys.argv[1], mode=os.RTLD_GLOBAL)\n"
            "assert c.system(b'exit 3') >> 8 == 3 and os.system('exit 4') >> 8 == 4\n"
            "c.execlp(b'sh', b'sh', b'-c', b'exit 5', None)")
    run([newest_python.path, "-c", code, library], status=5)


# --- free-threaded ---

SEEN = """
import os, sys, threading
def function():
    pass
threads = [threading.Thread(target=lambda: [function() for _ in range(1000)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
path = "/tmp/perf-%d.map" % os.getpid()
print(sys.is_stack_trampoline_active(), os.path.exists(path) and "py::function:" in open(path).read(), sorted(sys._xoptions))
if os.path.exists(path):
    os.unlink(path)
"""


OPTIONS = [["--perf"], ["--perf", "--always"], ["--always", "X"], ["--perf-elf"]]


@pytest.mark.parametrize("free_threaded", [python.path for python in pythons.free_threaded()[0]])
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_free_threaded_has_its_own_support_alone(kaa, free_threaded, options):
    switches = ["-X", "perf"] if "X" in options else []
    result = kaa("run", *[option for option in options if option != "X"], free_threaded, *switches, "-c", SEEN)
    if options == ["--perf-elf"]:
        assert result.stdout == "False False []\n"
        assert "kaa: no trampolines (perf_elf)" in result.stderr and "the agent does not support free-threaded CPython" in result.stderr, result
    else:
        assert result.stdout == f"True True {['perf'] if switches else []}\n" and not result.stderr, result
