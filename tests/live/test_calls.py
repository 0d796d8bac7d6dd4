# SPDX-License-Identifier: GPL-2.0-only
"""Every caller and every line of every sample, held against what the program itself says that it called.

`tests/tools/real-programs --calls` asks the same of programs with packages, at any rate and for any time.
"""
import pytest

from harness import real_programs

pytestmark = pytest.mark.usefixtures("bpf")


def check(result):
    assert result.asked > 100
    assert not result.wrong


@pytest.mark.few_versions
def test_callers_and_lines_are_those_of_the_program(kaa, python, tmp_path):
    check(real_programs.calls_asked(python.kaa(kaa), python.prefix, [python.path], "tasks", 0.5, tmp_path))


@pytest.mark.parametrize("program", ["documents", "suite"])
def test_of_other_programs(kaa, newest_python, tmp_path, program):
    check(real_programs.calls_asked(kaa, [], newest_python.command, program, 0.5, tmp_path))


def test_what_is_wrong_is_found(kaa, newest_python, tmp_path):
    """The check can fail: of stacks that lost a frame, and of lines of others."""
    real_programs.calls_asked(kaa, [], newest_python.command, "documents", 0.6, tmp_path)
    calls, stacks, _ = real_programs.calls_and_stacks(kaa, tmp_path)
    own = [stack for stack in stacks.elements() if len(calls.known(stack)) > 5]
    assert len(own) > 20
    for stack in own:
        asked, wrong = calls.check(stack)
        assert asked and not wrong
    torn = [stack[:-3] + stack[-2:] for stack in own]
    assert sum(bool(calls.check(stack)[1]) for stack in torn) > 0.8 * len(torn) - 2 * len(torn) ** 0.5
    moved = [[*stack[:-1], (*stack[-1][:2], 1)] for stack in own]
    assert all(calls.check(stack)[1] for stack in moved)
