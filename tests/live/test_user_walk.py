# SPDX-License-Identifier: GPL-2.0-only
"""The walk in user space against the kernel's walker, and both against the program itself, at the same moments: a busy
program is stopped where chance wants it, walked, and given a signal. The walker runs when that arrives, and the handler
writes the stack; the program has not gone on by one instruction meanwhile."""
import random
import time

import pytest

from harness import script_output
from harness.machine import TRACEFS
from harness.moments import moments, plain, signalled
from harness.probe import path

pytestmark = pytest.mark.usefixtures("root", "bpf")

MOMENTS = 100
UNREADABLE = "[unreadable Python frames]"


def look_around(recorder, ident, out):
    """Stack, flags and the program's own word, of each moment."""
    for _ in range(MOMENTS):
        time.sleep(random.random() * 0.01)
        yield recorder.look_and_tell(ident, out)


def of_kernel(kaa, data):
    """The stacks of the signals' samples, innermost first, and their markers."""
    text = kaa("script", "--no-inline", "-F", "comm,tid,time,event,ip,sym,dso,srcline", "-i", data).stdout
    for sample in script_output.parse(text):
        yield [[name, file, line or 0] for name, file, line in reversed(sample.python)], sample.markers


def in_order(seen, kernels):
    """Each of the kernel's stacks with the moment of the same stack, while there is one: the kernel may leave out a
    program at a tracepoint, with its sample, and a page may be on its way elsewhere."""
    moment = iter(seen)
    for kernel in kernels:
        found = next((one for one in moment if one[0] == kernel[0]), None)
        if not found:
            return
        yield found, kernel


@pytest.mark.half_of_the_versions
def test_the_kernels_stacks_are_those_of_user_space_and_of_the_program(kaa, python, scripts, tmp_path, request):
    data, out = tmp_path / "perf.data", tmp_path / "told.txt"
    recording = python.kaa(kaa).inside(TRACEFS)
    with signalled(python, scripts, out, scripts / "shapes.py", "100000") as (pid, ident):
        command = [*recording.command, "record", "-e", "signal:signal_deliver", "-g", "-p", pid,
                   "-o", data, "--", path(request.config), "moments", pid]
        with moments(command) as recorder:
            seen = list(look_around(recorder, ident, out))
            assert recorder.end() == 0
    kernels = [sample for sample in of_kernel(python.kaa(kaa), data) if UNREADABLE not in sample[1]]
    compared = list(in_order(seen, kernels))
    assert len(compared) == len(kernels), f"of no moment: {kernels[len(compared)]}"
    for (frames, _, word), (_, markers) in compared:
        if not markers and word:
            assert plain(frames) == word
    # Of both kinds there are enough: stacks that are whole, and that faulthandler could write.
    assert sum(not markers and word is not None for (_, _, word), (_, markers) in compared) > MOMENTS // 6
