# SPDX-License-Identifier: GPL-2.0-only
"""Programs that begin once the recorder knows that they are Pythons.

A recorder that waits for a CPU notices late that a Python has started: of a short program it then has no Python frames at all.
"""
from harness.process import TOP

SITE = TOP / "tests" / "live" / "scripts" / "site"


def noticed_in(data):
    """Words before a recorder that writes this file: each Python that it starts waits until it is noticed, before its script
    begins. Not for Pythons of other users, nor with -S, -I or -E; a program may call `noticed.until_noticed(data)` itself."""
    return ["env", f"PYTHONPATH={SITE}", f"KAA_TEST_RECORDING={data}"]
