# SPDX-License-Identifier: GPL-2.0-only
"""What a call of a Python function costs with a trampoline: not more instructions than with the interpreter's own support.

The short form of bench/trampolines. Counted, not timed: nothing else on the machine has a part in it.
"""
import pytest

from harness import instructions, machine, pythons
from harness.agent import Way, find_library

CALLS = """
import sys
def function(n):
    return n
def calls(n):
    for i in range(n):
        function(i)
assert sys.is_stack_trampoline_active() == (sys.argv[1] == "True")
calls(int(sys.argv[2]))
"""
# Those before are left to the interpreter's start and to the making of trampolines. A start takes some ten thousand
# instructions more or less than another one, since strings have other hashes each time.
FEW, MANY = 1000, 101000


class Counted(Way):
    def instructions(self, counter, calls, backend):
        """Of a program that makes this many calls, and the interpreter's start."""
        self.under = counter.words()
        result = self.run(["-I", "-S", "-c", CALLS, backend is not None, calls], backend=backend, env=counter.environment())
        result.map.unlink(missing_ok=True)
        return counter.take()

    def of_a_call(self, counter, backend):
        few, many = (self.instructions(counter, calls, backend) for calls in (FEW, MANY))
        return (many - few) / (MANY - FEW)


@pytest.fixture
def counter():
    with instructions.Counter() as counter:
        yield counter


def test_a_call_costs_no_more_than_with_the_own_support(counter, build_dir):
    python = next((python for python in reversed(pythons.find()) if python.perf_trampoline), None)
    if not python:
        assert machine.no_chroot(), "the chroot has such"
        pytest.skip("no CPython from 3.12 on here, which has support of its own")
    own = Counted(python).of_a_call(counter, "perf")
    agent = Counted(python, find_library(build_dir)).of_a_call(counter, "perf")
    print(f"{python.id}: {agent:.1f} instructions a call with the agent, {own:.1f} with the interpreter's own support")
    assert own > 100 and agent <= own * 1.02, f"{python.id}: {agent:.1f} instructions a call, {own:.1f} with its own support"
