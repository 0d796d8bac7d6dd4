# SPDX-License-Identifier: GPL-2.0-only
"""Stacks read from a process by its layout alone, against those that the process itself reports: layouts, detection,
line tables and names together."""
import json
import re
import subprocess

import pytest

from harness.moments import shown
from harness.probe import path
from harness.process import Program, started


@pytest.fixture
def probe(request):
    return Program(path(request.config))


@pytest.fixture
def still(python, scripts):
    """What a process that holds still says of itself."""
    command = [*python.command, scripts / "still.py"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield json.loads(process.stdout.readline())


def read_stacks(output):
    """Thread id to [[name, file, line], ...]."""
    stacks = {}
    for line in output.splitlines()[1:]:
        if line.startswith("thread "):
            frames = stacks[line.split()[1]] = []
        else:
            name, file, number = line.split("\t")
            frames.append([name, file, int(number)])
    return stacks


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions(first=(3, 6))
@pytest.mark.and_free_threaded
def test_stacks_are_those_of_the_process(root, still, probe):
    output = probe("stacks", still["pid"]).stdout
    seen = re.match(r"seen 1 interpreters, (\d+) threads, (\d+) live, (\d+) frames\n", output)
    assert set(map(int, seen.groups())) == {len(still["threads"]) + 1}
    actual = read_stacks(output)
    for ident, stack in still["threads"].items():
        expected = [[shown(name), shown(file), line] for name, file, line in stack]
        assert actual[ident] == expected
    assert len(actual) == len(still["threads"]) + 1
