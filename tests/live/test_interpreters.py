# SPDX-License-Identifier: GPL-2.0-only
"""What could not be tested, for want of an interpreter: one skipped case, instead of one for each test and version."""
import pytest

from harness import pythons


def test_every_version_is_here():
    missing = pythons.missing()
    if missing:
        pytest.skip(f"not tested: CPython {', '.join(missing)}: none here; pyenv or KAA_PYTHONS would give them")


def test_a_free_threaded_one_is_here():
    _, why = pythons.free_threaded()
    if why:
        pytest.skip(f"not tested: a free-threaded CPython: {why}; KAA_FREE_THREADED_PYTHON would name one of 3.13 or later")
