# SPDX-License-Identifier: GPL-2.0-only
"""Stands in for CPython's _testinternalcapi where the agent is tested: what concerns trampolines and perf maps goes to
the agent's C API for embedders (include/kaa/trampoline.h), all else is left as the interpreter has it.

Up to 3.14 set_eval_frame_record does nothing: an eval hook of somebody else is refused there, as by the versions' own support.
"""
import ctypes
import importlib.machinery
import importlib.util
import os
import sys

_agent = ctypes.PyDLL(os.environ["KAA_SUITE_AGENT"], use_errno=True)


def _bind(name, *arguments):
    function = getattr(_agent, name)
    function.argtypes = arguments
    return function


_write = _bind("kaa_write_perf_map_entry", ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
_close = _bind("kaa_perf_map_state_fini")
_compile = _bind("kaa_perf_trampoline_compile_code", ctypes.py_object)
_persist = _bind("kaa_perf_trampoline_set_persist_after_fork", ctypes.c_int)
_close.restype = None


def write_perf_map_entry(code_addr, code_size, entry_name):
    return _write(code_addr, code_size, entry_name.encode("utf-8", "backslashreplace"))


def perf_map_state_teardown():
    _close()


def compile_perf_trampoline_entry(code):
    return _compile(code)


def perf_trampoline_set_persist_after_fork(enable):
    return _persist(enable)


def set_eval_frame_record(_):
    pass


def _own_module():
    """The interpreter's, or None."""
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.machinery.PathFinder.find_spec(__name__, [path for path in sys.path if os.path.abspath(path) != here])
    if spec is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_own = _own_module()
if _own:
    _own.write_perf_map_entry = write_perf_map_entry
    _own.perf_map_state_teardown = perf_map_state_teardown
    _own.compile_perf_trampoline_entry = compile_perf_trampoline_entry
    _own.perf_trampoline_set_persist_after_fork = perf_trampoline_set_persist_after_fork
    if sys.version_info < (3, 15):
        _own.set_eval_frame_record = set_eval_frame_record
    # Its functions look for their state in what is imported by this name.
    sys.modules[__name__] = _own
