# SPDX-License-Identifier: GPL-2.0-only
"""Interpreters as parameters of tests."""
import pytest


def of_pythons(found):
    """Each by its id. An empty list is a test that has nothing to run with, and no fault: see conftest.py."""
    return [pytest.param(python, id=python.id) for python in found]
