# SPDX-License-Identifier: GPL-2.0-only
"""Python imports it before a program begins (harness/noticed.py has it find it here)."""
import os

import noticed

if "KAA_TEST_RECORDING" in os.environ:
    noticed.until_noticed(os.environ["KAA_TEST_RECORDING"])
