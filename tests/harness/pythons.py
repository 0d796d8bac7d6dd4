# SPDX-License-Identifier: GPL-2.0-only
"""Every CPython that the tests can use on this machine.

Looked for, in this order, each build once:
  - what KAA_PYTHONS names: paths with ':' between them
  - pyenv's: ~/.pyenv/versions/*/bin/python3, of 2.7 bin/python (PYENV_ROOT is honoured)
  - the distribution's: /usr/bin/python3.N and /usr/local/bin/python3.N
  - those of the chroot (tests/tools/chroot), which run in there

Free-threaded builds are apart: what KAA_FREE_THREADED_PYTHON names, else those of tests/tools/freethreaded.

KAA_PYTHON_FACTS: a file of what they said of themselves, which the first run of pytest writes: ./check has a run for each module.
What pytest starts does not inherit it.
"""
import contextlib
import functools
import json
import os
import pathlib
import subprocess

from harness import machine
from harness.process import HANG, TOP, run, started

# The minor versions of CPython 3 that all live tests take, and those that the agent knows. Tests that are marked with
# old_versions take OLD_SERIES, too.
MINORS = range(8, 16)
AGENT_MINORS = range(6, 16)
OLD_SERIES = [(2, 7), (3, 6), (3, 7)]
# Those whose free-threaded builds kaa reads.
FREE_THREADED_MINORS = (13, 14, 15)
FACTS = os.environ.pop("KAA_PYTHON_FACTS", None)

QUERY = """
from __future__ import print_function
import json, platform, sys, sysconfig
get = lambda name: str(sysconfig.get_config_var(name) or "")
print(json.dumps({
    "implementation": platform.python_implementation(),
    "version": list(sys.version_info[:3]),
    "hexversion": sys.hexversion,
    "executable": sys.executable,
    "prefix": getattr(sys, "base_prefix", sys.prefix),
    "free_threaded": get("Py_GIL_DISABLED") == "1",
    "debug": hasattr(sys, "gettotalrefcount"),
    "shared": "/libpython" in open("/proc/self/maps").read(),
    "perf_trampoline": get("PY_HAVE_PERF_TRAMPOLINE") == "1",
    "frame_pointers": any("no-omit-frame-pointer" in get(name)
                          for name in ("CFLAGS", "PY_CFLAGS", "PY_CORE_CFLAGS", "OPT")),
}))
"""


# Runs the script that the arguments name, with those behind it; says by which process first.
RUN = ("import os, runpy, sys; sys.stdout.write('%d\\n' % os.getpid()); sys.stdout.flush(); sys.argv = sys.argv[1:]; "
       "runpy.run_path(sys.argv[0], run_name='__main__')")


class Python:
    """One interpreter.

    version          (3, 11, 7)
    path             to run it by, inside the chroot if prefix is not empty
    prefix           words that enter the chroot, or none
    shared           the interpreter is in a shared libpython, not in the executable
    frame_pointers   built with -fno-omit-frame-pointer
    perf_trampoline  has CPython's own support for perf (-X perf)
    free_threaded    has no GIL
    """

    def __init__(self, origin, prefix, facts):
        self.prefix = list(prefix)
        self.path = facts["executable"]
        self.version = tuple(facts["version"])
        self.hexversion = facts["hexversion"]
        self.shared = facts["shared"]
        self.frame_pointers = facts["frame_pointers"]
        self.perf_trampoline = facts["perf_trampoline"]
        self.free_threaded = facts["free_threaded"]
        self.id = ".".join(map(str, self.version)) + "t" * self.free_threaded + "-" + origin

    def __repr__(self):
        return f"Python({self.id})"

    @functools.cached_property
    def file(self):
        """That of the interpreter's code, if it is not in the chroot."""
        query = ("import sys; found = {line.split()[-1] for line in open('/proc/self/maps') if '/libpython' in line}; "
                 "print((found or {sys.executable}).pop())")
        return pathlib.Path(os.path.realpath(run([self.path, "-c", query]).stdout.strip()))

    @functools.cached_property
    def unstripped(self):
        """Names all its functions; those in the chroot do not."""
        return not self.prefix and ".symtab" in run(["readelf", "-SW", self.file]).stdout

    @property
    def command(self):
        """Words that run it from outside the chroot."""
        return self.prefix + [self.path]

    def kaa(self, kaa):
        """The program kaa, running where this interpreter lives."""
        return kaa.inside(self.prefix) if self.prefix else kaa

    def script(self, path):
        """The script; for 2.7 the reduced one beside it."""
        return path.with_name(path.stem + "_27.py") if self.version < (3,) else path

    @contextlib.contextmanager
    def running(self, script, *arguments):
        """It runs a script: the Popen and the id of the interpreter's process, which in the chroot is not the child's."""
        with started([*self.command, "-c", RUN, script, *arguments], stdout=subprocess.PIPE, text=True) as process:
            yield process, int(process.stdout.readline())


def answer(command):
    """What an interpreter says of itself, or None."""
    try:
        out = subprocess.run([*command, "-E", "-s", "-c", QUERY], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=HANG)
        return json.loads(out.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def kept_answer(command):
    """The same, from the file of those that were asked before, if there is to be one."""
    if not FACTS:
        return answer(command)
    kept = json.loads(pathlib.Path(FACTS).read_text()) if os.path.exists(FACTS) else {}
    key = " ".join(command)
    if key not in kept:
        kept[key] = answer(command)
        # Others may read it meanwhile, or write one of their own.
        mine = pathlib.Path(f"{FACTS}.{os.getpid()}")
        mine.write_text(json.dumps(kept))
        mine.replace(FACTS)
    return kept[key]


def ask(path, prefix, free_threaded=False):
    """The interpreter's facts, or None if it is none that kaa profiles."""
    facts = kept_answer([*map(str, prefix), str(path)])
    if not facts:
        return None
    version = tuple(facts["version"][:2])
    known = version[0] == 3 and version[1] in AGENT_MINORS or version in OLD_SERIES
    usable = facts["implementation"] == "CPython" and facts["free_threaded"] == free_threaded and not facts["debug"]
    return facts if known and usable else None


def in_pyenv(pattern):
    """Files of pyenv's interpreters, such as "3.*/bin/python3"."""
    return sorted(pathlib.Path(os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))).glob("versions/" + pattern))


def candidates():
    """(origin, prefix, path), best first."""
    for path in filter(None, os.environ.get("KAA_PYTHONS", "").split(":")):
        yield "given", [], path
    for path in in_pyenv("2.7.*/bin/python") + in_pyenv("3.*/bin/python3"):
        yield "pyenv", [], path
    for minor in MINORS:
        for folder in ("/usr/bin", "/usr/local/bin"):
            path = pathlib.Path(folder, f"python3.{minor}")
            if path.exists():
                yield "system", [], path
    if not machine.no_chroot():
        for minor in MINORS:
            if (machine.chroot_path() / f"usr/bin/python3.{minor}").exists():
                yield "sid", [machine.CHROOT_TOOL, "run"], f"/usr/bin/python3.{minor}"


def find():
    """All interpreters whose frames kaa reads, the oldest first, but for those of find_old()."""
    return [python for python in find_all() if python.version[0] == 3 and python.version[1] in MINORS]


def find_old():
    """Those that only tests with the mark old_versions take."""
    return [python for python in find_all() if python.version[:2] in OLD_SERIES]


def find_for_agent():
    """All interpreters that the agent can be loaded into, the oldest first."""
    return [python for python in find_all() if python.version[0] == 3]


@functools.lru_cache(maxsize=None)
def find_all():
    """All interpreters that kaa knows, the oldest first."""
    found, seen = [], set()
    for origin, prefix, path in candidates():
        facts = ask(path, prefix)
        if not facts:
            continue
        key = (bool(prefix), os.path.realpath(facts["executable"]) if not prefix else facts["executable"])
        if key not in seen:
            seen.add(key)
            found.append(Python(origin, prefix, facts))
    return sorted(found, key=lambda python: (python.version, python.id))


FREE_THREADED_TOOL = TOP / "tests" / "tools" / "freethreaded"


@functools.lru_cache(maxsize=None)
def free_threaded():
    """Those without a GIL, the oldest first; and why there is none, or None."""
    given = os.environ.get("KAA_FREE_THREADED_PYTHON")
    said = None if given else subprocess.run([FREE_THREADED_TOOL, "path"], capture_output=True, text=True, check=False)
    paths = [given] if given else said.stdout.split()
    facts = filter(None, (ask(path, [], free_threaded=True) for path in paths))
    found = [Python("given" if given else "built", [], one) for one in facts if one["version"][1] in FREE_THREADED_MINORS]
    why = None if found else f"{given} is none that kaa knows" if given else said.stderr.strip()
    return sorted(found, key=lambda python: python.version), why


def chosen(found, wanted):
    """Of these interpreters those whose id begins as one of the wanted (--python); all, if none is."""
    return [python for python in found if not wanted or python.id.startswith(tuple(wanted))]


def few(found):
    """For what comes after the frames are read, which is the same for every version."""
    return [python for python in found if python in (found[0], found[-1]) or python.id.endswith("-system")]


def missing():
    """The versions that no interpreter here has, as text. Of 2.7 one of pyenv alone will do."""
    minors = sorted(set(AGENT_MINORS) - {python.version[1] for python in find_for_agent()})
    return ["2.7"] * (not in_pyenv("2.7.*/bin/python")) + [f"3.{minor}" for minor in minors]
