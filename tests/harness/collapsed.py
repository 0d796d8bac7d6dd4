# SPDX-License-Identifier: GPL-2.0-only
"""Collapsed stacks: of `kaa export`, and made here of the samples of `kaa script`."""
import collections
import re


def step(frame, with_lines):
    if frame.is_python:
        function, file = frame.python_name
        return f"{function} ({file}:{frame.line})" if with_lines else f"{function} ({file})"
    if frame.symbol != "[unknown]":
        return frame.symbol.replace(";", ":")
    return f"[{frame.dso.rpartition('/')[2].strip('[]')}]"


def collapsed(samples, with_lines=False):
    """The lines that these samples make, with their counts."""
    return collections.Counter(
        ";".join([sample.comm, *(step(frame, with_lines) for frame in reversed(sample.frames))]) for sample in samples)


def counts(text):
    found = [re.fullmatch(r"(.+) (\d+)", line).groups() for line in text.splitlines()]
    assert len(dict(found)) == len(found), "a stack has two lines"
    return collections.Counter({stack: int(count) for stack, count in found})


def differing(one, other):
    """Some of the stacks whose counts differ. Whole counters are too large for pytest to compare line by line."""
    return sorted(((one - other) + (other - one)).items())[:4]
