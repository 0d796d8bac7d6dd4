# SPDX-License-Identifier: GPL-2.0-only
"""The short form of tests/tools/cpython-suite: CPython's own tests of its profiler support on an interpreter that has none of its own and on
one that has it, and a few of CPython's general tests with a trampoline for each function."""
import re

import pytest

from harness import pythons
from harness.process import TOP, run

IN_CHROOT = "3.15"
TOOL = TOP / "tests" / "tools" / "cpython-suite"

pytestmark = pytest.mark.usefixtures("root", "chroot")


def newest(start):
    found = [python.id for python in pythons.find() if python.id.startswith(start)]
    if not found:
        assert start != IN_CHROOT, "the chroot has such"
        pytest.skip(f"no CPython {start} here: name one in KAA_PYTHONS")
    return found[-1]


@pytest.mark.parametrize("start", ["3.11", IN_CHROOT])
def test_profiler_tests(build_dir, start):
    result = run([TOOL, "perf", "--build", build_dir, "--python", newest(start)], status=None)
    passed, failed = map(int, re.search(r"^(\d+) passed, (\d+) failed, \d+ skipped$", result.stdout, re.M).groups())
    assert result.status == 0 and passed >= 10 and not failed, result


def test_general_tests(build_dir):
    result = run([TOOL, "wide", "--quick", "--build", build_dir, "--python", newest(IN_CHROOT)], status=None)
    cases, differ = map(int, re.search(r"^(\d+) cases, (\d+) differ", result.stdout, re.M).groups())
    assert result.status == 0 and cases > 100 and not differ, result
