# SPDX-License-Identifier: GPL-2.0-only
"""Options and fixtures of the command-line and live tests; tests/README.md is their manual."""
import collections
import os
import pathlib
import re
import signal
import sys
import zlib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from harness import machine, parameters, pythons  # noqa: E402
from harness.process import HANG, TOP, Program, run  # noqa: E402
from harness.stacks import Oracle  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--build", default=os.environ.get("KAA_BUILD", str(TOP / "build")),
                     help="the build directory whose kaa is tested (default: build, or KAA_BUILD)")
    parser.addoption("--python", action="append", metavar="ID",
                     help="only interpreters whose id begins so, such as 3.11 or 3.14.1-sid (may be repeated)")

    parser.addoption("--all-cases", action="store_true", help="all cases of tests that else run a part of them: with every interpreter, of every combination")
    parser.addoption("--builtin", action="store_true",
                     help="agent tests: also say which faults the interpreters' own support for perf has")


def pytest_configure():
    """A shell leaves Ctrl-C ignored in what it starts in the background, and so would all programs of the tests."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Seconds for one test: more than for any program in it, which then says better what hangs. Those that are marked as slow
# run many programs, one after the other.
TEST_HANG = HANG * 3 // 2
SLOW_TEST_HANG = HANG * 4


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    seconds = SLOW_TEST_HANG if item.get_closest_marker("slow") else TEST_HANG

    def fail_hanging(*_):
        """Whatever the test waits for, the report shows where it does."""
        raise AssertionError(f"the test hangs: not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, fail_hanging)
    # Again every minute, where what ends the test hangs, too.
    signal.setitimer(signal.ITIMER_REAL, seconds, 60)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def chosen_pythons(config, old=False):
    """The usual ones, and the old ones if the test is for them, or if --python names their series."""
    wanted = config.getoption("--python")
    series = tuple("%d.%d" % version for version in pythons.OLD_SERIES)
    named = any(word.startswith(series) for word in wanted or [])
    return pythons.chosen((pythons.find_old() if old or named else []) + pythons.find(), wanted)


def chosen_free_threaded(config):
    return pythons.chosen(pythons.free_threaded()[0], config.getoption("--python"))


def pytest_generate_tests(metafunc):
    """Versions that are not here are said once for all tests, by live/test_interpreters.py."""
    if "python" in metafunc.fixturenames:
        old = metafunc.definition.get_closest_marker("old_versions")
        pythons_of_test = chosen_pythons(metafunc.config, old)
        if old and "first" in old.kwargs:
            pythons_of_test = [python for python in pythons_of_test if python.version >= old.kwargs["first"]]
        if metafunc.definition.get_closest_marker("unstripped"):
            pythons_of_test = [python for python in pythons_of_test if python.unstripped]
        if metafunc.definition.get_closest_marker("stripped"):
            pythons_of_test = [python for python in pythons_of_test if not python.unstripped]
        if metafunc.definition.get_closest_marker("few_versions") and not metafunc.config.getoption("--python"):
            pythons_of_test = pythons.few(pythons_of_test)
            free_threaded = chosen_free_threaded(metafunc.config)[-1:]
        else:
            free_threaded = chosen_free_threaded(metafunc.config)
        if metafunc.definition.get_closest_marker("and_free_threaded"):
            pythons_of_test = pythons_of_test + free_threaded
        params = parameters.of_pythons(pythons_of_test)
        metafunc.parametrize("python", params, indirect=True)


# Parameters that are interpreters. Any other list of parameters that is empty is a skipped case, and a fault.
INTERPRETERS = r"python|ask|some_python|interpreter|free_threaded|place|series"


def is_of_the_combinations(item):
    """Of many cases of two things that differ, recordings and options: each of either is in about as many, always the same."""
    mark = item.get_closest_marker("one_of")
    return not mark or zlib.crc32(item.name.encode()) % mark.args[0] == 0


def python_of(item):
    """The interpreter that it is a case of, or None."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    return params.get("python") or params.get("interpreter")


def turn_of(item):
    """A number of the test, the same for each interpreter: those that it takes differ from test to test, so all have their turn."""
    return zlib.crc32(item.nodeid.replace(python_of(item).id, "").encode())


def is_of_the_versions(item):
    """Every other interpreter of those that the fixture `python` has."""
    python = python_of(item)
    if "interpreter" in item.callspec.params or any(map(item.get_closest_marker, ("few_versions", "every_version"))):
        return True
    return (pythons.find_all() + pythons.free_threaded()[0]).index(python) % 2 == turn_of(item) % 2


def of_the_versions(cases):
    """Of the cases of one test, each with another interpreter, about a quarter of all that there could be, always the same."""
    cases, item = list(filter(is_of_the_versions, cases)), cases[0]
    turn = turn_of(item) // 2
    if any(map(item.get_closest_marker, ("every_version", "half_of_the_versions"))) or len(cases) < 2:
        return cases
    if item.get_closest_marker("few_versions"):
        return [cases[turn % len(cases)]]
    if "interpreter" in item.callspec.params:
        # Who takes fewer has chosen them.
        return [case for i, case in enumerate(cases) if len(cases) < 6 or i % 3 == turn % 3]
    return [case for i, case in enumerate(cases) if i % 2 == turn % 2]


def chosen_cases(items):
    by_test = collections.defaultdict(list)
    for item in filter(is_of_the_combinations, items):
        python = python_of(item) if not item.config.getoption("--python") else None
        by_test[item.nodeid.replace(python.id, "") if python else item].append(item)
    return {item for test, cases in by_test.items() for item in (of_the_versions(cases) if isinstance(test, str) else cases)}


def pytest_collection_modifyitems(config, items):
    """A test without an interpreter to take is none."""
    left = {item for item in items
            if any(re.match(rf"got empty parameter set (for )?\[?\(?'?({INTERPRETERS})'?\b", mark.kwargs.get("reason", ""))
                   for mark in item.iter_markers("skip"))}
    if not config.getoption("--all-cases"):
        left |= {*items} - left - chosen_cases([item for item in items if item not in left])
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


def pytest_report_header(config):
    found = ", ".join(python.id for python in chosen_pythons(config) + chosen_free_threaded(config)) or "none"
    return [f"kaa: {config.getoption('--build')}/kaa", f"CPythons: {found}"]


def skip_if(reason):
    if reason:
        pytest.skip(reason)


@pytest.fixture
def python(request):
    """An interpreter (harness/pythons.py); the test runs once with each."""
    return request.param


@pytest.fixture(scope="session")
def newest_python():
    """One interpreter for tests that need no particular one: the newest outside the chroot."""
    outside = [python for python in pythons.find() if not python.prefix]
    assert outside, "no CPython from 3.8 to 3.15 outside the chroot"
    return outside[-1]


@pytest.fixture(scope="session")
def build_dir(request):
    path = pathlib.Path(request.config.getoption("--build")).resolve()
    assert (path / "kaa").exists(), f"no {path}/kaa: run 'ninja -C {path}', or name another build with --build"
    return path


@pytest.fixture(scope="session")
def kaa(build_dir):
    """The program: kaa("report", "-i", path, status=0) returns a Result; kaa.start(...) is a Popen."""
    return Program(build_dir / "kaa")


@pytest.fixture(scope="session")
def root():
    skip_if(machine.no_root())


@pytest.fixture(scope="session")
def cores():
    """Linux writes the core of a program into the folder that this runs in."""
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="ascii").strip()
    skip_if(None if pattern.startswith("core") else f"kernel.core_pattern is {pattern}")


@pytest.fixture(scope="session")
def bpf():
    skip_if(machine.no_bpf())


@pytest.fixture(scope="session")
def chroot():
    """A program that runs its words in the chroot with the peers."""
    skip_if(machine.no_chroot())
    return Program(machine.CHROOT_TOOL, "run")


@pytest.fixture(scope="session")
def sid_python(chroot):
    """The newest interpreter of the chroot."""
    return [python for python in pythons.find() if python.prefix][-1]


@pytest.fixture(scope="session")
def perf_system():
    """The distribution's perf: 6.1 on Debian 12."""
    return machine.SystemPerf(machine.system_perf())


@pytest.fixture(scope="session")
def perf_sid(chroot):
    """perf 7, in the chroot; /tmp and the current directory are the same in there."""
    return machine.SidPerf(*chroot.command, "perf")


@pytest.fixture(scope="session")
def samply(chroot):
    return Program(*chroot.command, "samply")


@pytest.fixture(params=["perf_system", "perf_sid"])
def perf(request):
    """Each stock perf in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def scripts():
    """The folder of the programs that live tests record."""
    return TOP / "tests" / "live" / "scripts"


@pytest.fixture(scope="session")
def oracle_of(tmp_path_factory):
    """oracle_of(python, script, args...): the stacks that are possible (harness/stacks.py), made once each."""
    made = {}

    def make(python, script, *args):
        key = (python.id, script, args)
        if key not in made:
            out = tmp_path_factory.mktemp("oracle") / "possible.json"
            run([*python.command, script.parent / "oracle.py", out, script, *args])
            made[key] = Oracle.load(out)
        return made[key]

    return make
