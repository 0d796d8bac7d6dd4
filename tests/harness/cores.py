# SPDX-License-Identifier: GPL-2.0-only
"""Cores that Linux makes of programs (the fixture cores skips where it makes none)."""
import os
import resource
import signal


def allow_core():
    """What a Popen calls in the program before it begins (preexec_fn)."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def dies_with_core(process, pid, folder):
    """Ends the process, whose working directory is folder; the core that Linux makes of it."""
    os.kill(pid, signal.SIGABRT)
    process.wait()
    cores = list(folder.glob("core*"))
    assert len(cores) == 1, cores
    return cores[0]
