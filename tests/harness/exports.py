# SPDX-License-Identifier: GPL-2.0-only
"""What files of `kaa export` hold, each read by the standard library alone, and the same made here of `kaa script`.

A reader returns a counter of stacks: {(tid, ((function, file, line), ...)): weight}, the outermost function first.
"""
import collections
import json
import re

from harness.script_output import PYTHON_RANGE


def step(frame, with_lines):
    if frame.is_python:
        return (*frame.python_name, frame.line if with_lines else None)
    # Marks are in no file.
    file = "" if frame.dso == "[unknown]" or frame.ip in PYTHON_RANGE else frame.dso
    if frame.symbol != "[unknown]":
        return (frame.symbol, file, None)
    return (f"[{frame.dso.rpartition('/')[2].strip('[]')}]", file, None)


def expected(samples, with_lines=True):
    """The stacks of the samples of `kaa script -F +srcline`, which weigh their periods."""
    stacks = collections.Counter()
    for sample in samples:
        stacks[sample.tid, tuple(step(frame, with_lines) for frame in reversed(sample.frames))] += sample.period
    return stacks


def without_threads(stacks):
    sums = collections.Counter()
    for (_, stack), weight in stacks.items():
        sums[stack] += weight
    return sums


def tid_of(label):
    return int(re.search(r"(\d+)\)$", label)[1])


def speedscope(data, with_lines=True):
    """The threads' profiles; that of all threads, which stands first, has to have the same."""
    document = json.loads(data)
    frames = [(frame["name"], frame.get("file", ""), frame.get("line") if with_lines else None)
              for frame in document["shared"]["frames"]]
    everything, stacks, profiles = collections.Counter(), collections.Counter(), document["profiles"]
    assert profiles[0]["name"] == "all threads" and document["activeProfileIndex"] == 0
    for profile in profiles:
        assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"])
        assert (profile["startValue"], profile["endValue"]) == (0, sum(profile["weights"]))
    for sample, weight in zip(profiles[0]["samples"], profiles[0]["weights"]):
        thread, *stack = [frames[i] for i in sample]
        everything[tid_of(thread[0]), tuple(stack)] += weight
    for profile in profiles[1:]:
        for sample, weight in zip(profile["samples"], profile["weights"]):
            stacks[tid_of(profile["name"]), tuple(frames[i] for i in sample)] += weight
    assert everything == stacks
    return stacks
