# SPDX-License-Identifier: GPL-2.0-only
"""Stands in for CPython's _testinternalcapi where the agent is tested: what concerns trampolines and perf maps goes to the agent's C
API for embedders, all else to the module itself, where the interpreter has it.
"""
