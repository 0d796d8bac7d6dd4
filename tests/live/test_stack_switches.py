# SPDX-License-Identifier: GPL-2.0-only
"""Stacks that take turns in the same memory, as greenlet's do: each ends where it begins, and has no frame of another
(programs/switches.c, whose three stacks share no function but the switch's)."""
import collections
import subprocess

import pytest

from harness.chance import most
from harness.script_output import parse

PROGRAM = "tests/live/programs/switches.c"
OF = {"red": "red", "red_leaf": "red", "blue": "blue", "blue_leaf": "blue", "main": "main", "main_leaf": "main"}
# Of what runs while no stack is in place.
SWITCH = {"restore_state", "slp_switch", "g_switchstack", "target_start"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("switches") / "switches"
    subprocess.run(["cc", "-O2", "-g", "-rdynamic", "-o", path, PROGRAM], check=True)
    return path


def check(samples):
    seen, cut = collections.Counter(), []
    for sample in samples:
        symbols = sample.user_symbols
        owners = {OF[symbol] for symbol in symbols if symbol in OF}
        assert len(owners) <= 1, sample
        if sample.markers or "[truncated stack]" in symbols:
            seen["marked"] += 1
            if owners or not SWITCH & set(symbols):
                cut.append(sample)
            continue
        if not owners:
            continue
        owner = owners.pop()
        if owner == "main":
            assert symbols[-1] == "_start", sample
        else:
            assert symbols[-1] == "g_initialstub", sample
            assert owner in symbols, sample
        seen[owner] += 1
    # A page of a stack may have been on its way elsewhere.
    assert len(cut) <= most(0.0002, len(samples)), cut
    return seen


# A stripped program exports its functions, too: greenlet in C++ does.
@pytest.mark.parametrize("way", ["unwound", "dumped", "stripped"])
def test_each_stack_is_its_own(kaa, root, tmp_path, program, way):
    if way == "stripped":
        subprocess.run(["strip", "-o", tmp_path / "switches", program], check=True)
        program = tmp_path / "switches"
    data = tmp_path / "switches.data"
    options = ["--call-graph", "dwarf"] if way == "dumped" else ["-g"]
    kaa("record", "-q", "-F", "2999", *options, "-o", data, program)
    seen = check(parse(kaa("script", "-i", data).stdout))
    assert min(seen["main"], seen["red"], seen["blue"]) > 10, seen
    assert seen["marked"], seen
