# SPDX-License-Identifier: GPL-2.0-only
"""Makes the Python functions of this process visible to perf, samply and other profilers.

    kaa.activate("perf")        a perf map, /tmp/perf-<pid>.map
    kaa.activate("perf_jit")    a jitdump, /tmp/jit-<pid>.dump
    kaa.activate("perf_elf")    an ELF image that perf reads by itself
    kaa.deactivate()
    kaa.is_active()

Once the package is installed, the switches and functions of CPython 3.12 and later work on CPython 3.6 and later:
-X perf, -X perf_jit, PYTHONPERFSUPPORT, PYTHON_PERF_JIT_SUPPORT, sys.activate_stack_trampoline() and its sisters.
"""
from kaa._start import activate, deactivate, is_active

__all__ = ["activate", "deactivate", "is_active"]
