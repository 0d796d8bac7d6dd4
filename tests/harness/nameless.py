# SPDX-License-Identifier: GPL-2.0-only
"""Recordings of which perf can make a table without chance.

perf orders entries without a symbol by the difference of their addresses, as a signed number. Along frame pointers that are
none the kernel takes any words of a stack for addresses; where these are all over the 64 bits, a is before b, b before c
and c before a, and perf's tree lists one address twice, or merges the two later and forgets names in the chains of one.
"""
import re

NAMELESS = re.compile(r"^\s*([0-9a-f]+) \[unknown\] \(\[unknown\]\)$", re.M)
TRIES = 20


def are_in_order(addresses):
    """True if all are in one half of the circle that 64 bits are."""
    circle = sorted(set(addresses))
    gaps = [(after - before) % (1 << 64) for before, after in zip(circle, circle[1:] + circle[:1])]
    return len(circle) < 3 or max(gaps) >= 1 << 63


def recorded_in_order(record):
    """record() records and returns the recording's script, with ip, sym and dso; it is called until perf has an order."""
    for _ in range(TRIES):
        text = record()
        if are_in_order(int(address, 16) for address in NAMELESS.findall(text)):
            return text
    raise AssertionError(f"{TRIES} recordings have nameless addresses that perf cannot order")
