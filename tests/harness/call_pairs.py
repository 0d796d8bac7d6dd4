# SPDX-License-Identifier: GPL-2.0-only
"""Stacks of scripts/call_pairs.py, where a line says who was called there: a stack of which one part was read later than the other
has a pair of caller and callee that does not fit."""
from harness import script_output

# A function's lines: def, two of its own, and then one for each callee.
FUNCTIONS, LINES, CALLS = 7, 10, 3


def callee(line):
    """Who is called in that line of `pairs`; None: nobody is."""
    place = (line - 1) % LINES - CALLS
    return f"f{place}" if place >= 0 else None


def wrong_pairs(stack):
    """Of (name, file, line), innermost first: callers whose line calls somebody else, and lines of other functions."""
    for (inner, _, _), (outer, file, line) in zip(stack, stack[1:]):
        if file == "pairs" and (f"f{(line - 1) // LINES}" != outer or callee(line) != inner):
            yield outer, line, inner
        if outer == "work" and inner not in ("f0", "process_time"):
            yield outer, line, inner


def stacks(kaa, data):
    text = kaa("script", "-f", "--no-inline", "-F", "comm,pid,tid,time,period,event,ip,sym,dso,srcline", "-i", data).stdout
    for sample in script_output.parse(text):
        yield sample


def pairs_of(sample):
    return [(name, file, line) for name, file, line in reversed(sample.python)]
