# SPDX-License-Identifier: GPL-2.0-only
"""Decoded line tables against the interpreter: every instruction of the standard library, or of every STEP-th file.

The whole of it: KAA_LINES_STEP=1 /usr/bin/python3 -m pytest tests/live/test_python_lines.py
"""
import os
import re
import subprocess

import pytest

from harness.probe import path
from harness.process import HANG, Program, started

STEP = os.environ.get("KAA_LINES_STEP", "25")


@pytest.fixture
def probe(request):
    return Program(path(request.config))


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_lines_are_those_of_the_interpreter(python, probe, scripts):
    command = [*python.command, scripts / "dump_lines.py", STEP]
    with started(command, stdout=subprocess.PIPE) as dump:
        result = probe("lines", stdin=dump.stdout)
        assert dump.wait(HANG) == 0
    found = re.search(r"(\d+) code objects, (\d+) instructions, (\d+) differences", result.stdout)
    codes, instructions, differences = map(int, found.groups())
    assert differences == 0, result.stdout
    assert codes > 100 and instructions > 10000
