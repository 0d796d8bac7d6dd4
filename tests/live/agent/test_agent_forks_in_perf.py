# SPDX-License-Identifier: GPL-2.0-only
"""Functions of a forked child in stock perf, which was there when it was forked: what the child calls for the first time, what
its parent had called before, and what was on the stack."""
import collections

import pytest

from harness import pythons, script_output
from harness.agent import Way, find_library, private_tmp
from harness.chance import least
from harness.machine import LARGE_RINGS

pytestmark = pytest.mark.usefixtures("root")

FEW = 10
SCRIPT = """
import os, time
def spin():
    # A moment in which the machine stood still is no work.
    worked, last = 0, time.thread_time()
    while worked < 1:
        now = time.thread_time()
        worked += min(now - last, 0.001)
        last = now
def before(): spin()
def after(): spin()
def forking():
    pid = os.fork()
    if not pid:
        before()
        after()
        os._exit(0)
    os.waitpid(pid, 0)
before()
forking()
print(os.getpid())
"""


@pytest.fixture
def interpreter(chroot):
    """perf -g needs frame pointers."""
    return [python for python in pythons.find() if python.prefix and python.frame_pointers][-1]


def test_functions_of_a_child(interpreter, perf_sid, build_dir, chroot, tmp_path):
    folder = tmp_path / "tmp"
    way = Way(interpreter, find_library(build_dir), folder)
    perf = perf_sid.inside([*private_tmp(folder), "env", "HOME=/tmp"])
    (folder / "forks.py").write_text(SCRIPT)
    result = perf("record", "-q", *LARGE_RINGS, "-F", "499", "-g", "-o", "/tmp/perf.data",
                  *way.bare_command(["/tmp/forks.py"], backend="perf"))
    parent = int(result.stdout)
    text = perf("script", "--no-inline", "--max-stack", "500", "-F", "comm,pid,tid,time,event,ip,sym,dso", "-i",
                "/tmp/perf.data").stdout
    samples = [sample for sample in script_output.parse(text) if "forks.py" in str(sample.symbols)]
    stacks = collections.defaultdict(collections.Counter)
    for sample in samples:
        names = [frame.python_name[0] for frame in reversed(sample.frames) if frame.is_python and
                 frame.symbol.endswith("forks.py")]
        stacks[sample.tid == parent][tuple(names)] += 1
    child = stacks[False]
    expected = [("<module>", "forking", "before", "spin"), ("<module>", "forking", "after", "spin")]
    # Each would have 500 if no tick were lost.
    assert min(child[names] for names in expected) > FEW, child
    right, count = sum(child[names] for names in expected), sum(child.values())
    assert right >= least(0.95, count) * count, child
    assert stacks[True][("<module>", "before", "spin")] > FEW
