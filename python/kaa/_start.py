# SPDX-License-Identifier: GPL-2.0-only
"""Loads the agent into this process: the module kaa._start, and what kaa-agent.pth runs when it is needed.

kaa-agent.pth runs this file by its path, and the agent is loaded by its path, so that neither a folder of PYTHONPATH nor
the current one can stand in for them. Nothing that is not in sys already is imported unless the agent is loaded.
"""
import os
import sys

NAMES = ("activate_stack_trampoline", "deactivate_stack_trampoline", "is_stack_trampoline_active")
MODULE = "kaa._kaa_agent"
LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_kaa_agent.so")


def is_stand_in(function):
    """What kaa-agent.pth puts into sys is written in Python; CPython's and the agent's are not."""
    return hasattr(function, "__code__")


def import_agent():
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(MODULE, LIBRARY)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load():
    """The agent's module. Where sys has no functions of CPython's own, it has the agent's afterwards."""
    if MODULE in sys.modules:
        return sys.modules[MODULE]
    stand_ins = {name: vars(sys)[name] for name in NAMES if is_stand_in(vars(sys).get(name))}
    for name in stand_ins:
        delattr(sys, name)
    try:
        module = sys.modules[MODULE] = import_agent()
    finally:
        for name, stand_in in stand_ins.items():
            if not hasattr(sys, name):
                setattr(sys, name, stand_in)
    return module


def call(name, *args):
    """What a stand-in does: the agent's functions take the place of all of them."""
    load()
    function = getattr(sys, name)
    if is_stand_in(function):
        raise ValueError("perf trampoline not available")
    return function(*args)


def is_wanted():
    """Whether a switch asks for what this CPython cannot do itself. Which one counts, the agent decides."""
    if "KAA_TRAMPOLINE_BACKEND" in os.environ:
        return True
    wanted = set(sys._xoptions) | set(os.environ)
    if sys.version_info < (3, 12) and wanted & {"perf", "PYTHONPERFSUPPORT"}:
        return True
    return sys.version_info < (3, 13) and bool(wanted & {"perf_jit", "PYTHON_PERF_JIT_SUPPORT"})


def start():
    """At Python's start, which nothing here may prevent."""
    try:
        if is_wanted():
            load()
    except Exception as error:
        sys.stderr.write("kaa: cannot load the agent: %s\n" % error)


def activate(backend="perf"):
    """Gives each function that is called from now on a trampoline.

    backend: "perf", "perf_jit" or "perf_elf". Where CPython has it itself, that one is used.
    Raises what sys.activate_stack_trampoline() raises.
    """
    module = load()
    if backend == "perf_elf":
        module.activate_stack_trampoline(backend)
        for name in NAMES:
            setattr(sys, name, getattr(module, name))
    else:
        sys.activate_stack_trampoline(backend)


def deactivate():
    """Ends what activate() began. Functions that run at this moment keep their trampolines."""
    load()
    sys.deactivate_stack_trampoline()


def is_active():
    """Whether functions get trampolines."""
    load()
    return sys.is_stack_trampoline_active()
