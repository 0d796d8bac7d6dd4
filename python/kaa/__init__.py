# SPDX-License-Identifier: GPL-2.0-only
"""Profiles this process, or makes its Python functions visible to other profilers.

    with kaa.profile("out.data"):       records a block or a function, with all threads
        work()                          and children; see help(kaa.profile), and
                                        `kaa report -i out.data` afterwards

    kaa.activate("perf")        a perf map, /tmp/perf-<pid>.map
    kaa.activate("perf_jit")    a jitdump, /tmp/jit-<pid>.dump
    kaa.activate("perf_elf")    an ELF image that perf reads by itself
    kaa.deactivate()
    kaa.is_active()

These are for perf, samply and others. Once the package is installed, the switches and
functions of CPython 3.12 and later work on CPython 3.6 and later: -X perf, -X perf_jit,
PYTHONPERFSUPPORT, PYTHON_PERF_JIT_SUPPORT, sys.activate_stack_trampoline() and its
sisters.
"""
from kaa._start import activate, deactivate, is_active

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kaa._profile import ProfileError as ProfileError, profile as profile

__all__ = ["activate", "deactivate", "is_active"]


def load_ipython_extension(shell):
    """Of `%load_ext kaa`: the cell magic `%%kaa`."""
    from kaa._jupyter import KaaMagics
    shell.register_magics(KaaMagics)


def __getattr__(name):
    """Loaded by who uses it. A wheel of the agent alone has no program that could record."""
    if name in ("profile", "ProfileError"):
        try:
            from kaa import _profile
        except ImportError:
            raise AttributeError("module 'kaa' has no attribute '%s': this package has the agent alone" % name)
        return getattr(_profile, name)
    raise AttributeError("module 'kaa' has no attribute '%s'" % name)
