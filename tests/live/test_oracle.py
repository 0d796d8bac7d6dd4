# SPDX-License-Identifier: GPL-2.0-only
"""The oracle of possible stacks, before anything is held against it: it must know all stacks that a program has, by a
sampler inside the interpreter, and refuse stacks that are torn."""
import random
import re

import pytest

from harness.process import run


@pytest.fixture
def oracle(python, scripts, oracle_of):
    return oracle_of(python, scripts / "shapes.py", "0")


# The samples of the interpreter that was asked last: the tests of one interpreter use the same.
kept = {}


# faulthandler writes no more.
MAX_FRAMES = 100
FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')


def stacks_of(text):
    """What sampler.py wrote as stacks of (function, file, line), outermost first, without its own and runpy's."""
    for block in re.split(r"^(?:Thread|Current thread) .*\n", text, flags=re.M):
        frames = [(match[3], match[1], int(match[2])) for match in FRAME.finditer(block)]
        # Newer releases of faulthandler give up, and say so, where the interpreter itself stands between a class
        # and its __init__.
        whole = len(frames) < MAX_FRAMES and "<invalid frame>" not in block
        if whole and not any(name == "sample" for name, _, _ in frames):
            yield [frame for frame in frames[::-1] if "runpy" not in frame[1] and "sampler.py" not in frame[1]]


@pytest.fixture
def sampled(python, scripts, tmp_path, oracle):
    if python not in kept:
        out = tmp_path / "stacks.txt"
        run([*python.command, scripts / "sampler.py", "800", out, scripts / "shapes.py", "0.2"])
        kept[python] = [stack for stack in stacks_of(out.read_text()) if oracle.concerns(stack)]
    return kept[python]


def torn(stack, donor, random_):
    """A stack as a careless reader sees it: one frame lost, or the inner part of one and the outer part of another."""
    cut = random_.randrange(1, len(stack))
    if random_.random() < 0.5:
        return stack[:cut - 1] + stack[cut:]
    return donor[:random_.randrange(1, len(donor))] + stack[cut:]


def test_every_sampled_stack_is_possible(oracle, sampled):
    assert len(sampled) > 200
    problems = [problem for problem in map(oracle.problem, sampled) if problem]
    assert not problems, f"{len(problems)} of {len(sampled)}: {problems[:5]}"


def test_torn_stacks_are_refused(oracle, sampled):
    random_ = random.Random(8)
    # Inside a recursion a lost frame leaves a stack that is possible with one frame less: one or two of a hundred pass.
    own = [stack for stack in sampled if 4 <= len(stack) < 30]
    known = {tuple(stack) for stack in own}
    refused = accepted = 0
    passed = []
    for stack in own:
        other = torn(stack, random_.choice(own), random_)
        # Among the library's own frames the oracle is lenient.
        if tuple(other) in known or not oracle.concerns(other[-1:]):
            continue
        if oracle.problem(other):
            refused += 1
        else:
            accepted += 1
            passed.append(other)
    assert refused > 100
    # Of one or two of a hundred, five deviations more.
    assert accepted <= refused * 0.02 + 5 * (refused * 0.02) ** 0.5, f"{accepted} torn stacks pass, {refused} do not: {passed[:5]}"


def test_wrong_lines_are_refused(oracle, sampled):
    for stack in sampled:
        frame = next(frame for frame in stack if oracle.concerns([frame]))
        # Not line 1, in which a module is before its first statement: a finalizer may run there.
        other = [(frame[0], frame[1], 1000000) if each is frame else each for each in stack]
        assert oracle.problem(other)
