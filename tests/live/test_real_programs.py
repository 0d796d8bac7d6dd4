# SPDX-License-Identifier: GPL-2.0-only
"""The first screen of `kaa report`, of programs that write down themselves what their functions take.

tests/tools/real-programs asks more: programs with packages, every interpreter, and other profilers beside kaa.
"""
import pytest

from harness import real_programs

pytestmark = pytest.mark.usefixtures("bpf")


# Of CPU time. The two hottest functions of logs have 41 and 31 %: of 600 samples one in 500 times that is the other way round.
SECONDS = {"logs": 3, "tasks": 1.2}


@pytest.mark.parametrize("program", real_programs.STANDARD)
def test_it_names_the_hot_spot(kaa, newest_python, tmp_path, program):
    taken = real_programs.with_kaa(kaa, newest_python.command, program, SECONDS.get(program, 0.6), tmp_path)
    assert taken.samples > 30
    assert not taken.wrong() + real_programs.screen_problems(taken, program), taken.screen
