# SPDX-License-Identifier: GPL-2.0-only
"""Interpreters with the agent in them, and those of their own support for perf, to be run alike.

    way = Way(python, library)          the agent
    way = Way(python)                   the interpreter's own support, on versions that have it
    result = way.run(["-c", code], backend="perf")
    result.pid, result.map, result.dump

backend: "perf", "perf_jit" or "perf_elf" for what is active from the start, None for nothing: then the program may
call sys.activate_stack_trampoline.
"""
import pathlib

from harness.process import Result, end_group, started, text


class Way:
    def __init__(self, python, library=None):
        self.python, self.library = python, library

    def __repr__(self):
        return f"{self.python.id} with {'the agent' if self.library else 'its own support'}"

    def environment(self, backend=None):
        """Words NAME=VALUE."""
        if not self.library:
            return []
        words = [f"LD_PRELOAD={self.library}", "KAA_TRAMPOLINE=always"]
        return words + ([f"KAA_TRAMPOLINE_BACKEND={backend}"] if backend else [])

    def command(self, words, backend=None, env=()):
        """What runs the interpreter; inside the chroot if it lives there."""
        return [*self.python.prefix, *self.bare_command(words, backend, env)]

    def bare_command(self, words, backend=None, env=()):
        """The same for somebody who is in the chroot already."""
        switches = [] if self.library or not backend else ["-X", backend]
        return ["env", *self.environment(backend), *env, self.python.path, *switches, *map(str, words)]

    def run(self, words, backend=None, env=(), timeout=60, status=0, **options):
        """Like harness.process.run; the Result knows the process's number and files as well."""
        with started(self.command(words, backend, env), **{"stdout": -1, "stderr": -1, **options}) as process:
            try:
                stdout, stderr = process.communicate(timeout=timeout)
            finally:
                end_group(process)
        result = Result([repr(self), *words], process.returncode, text(stdout or b""), text(stderr or b""))
        result.pid = process.pid
        result.map, result.dump = map_path(process.pid), dump_path(process.pid)
        assert status is None or result.status == status, f"exit status {result.status} instead of {status}: {result}"
        return result


def map_path(pid):
    return pathlib.Path(f"/tmp/perf-{pid}.map")


def dump_path(pid):
    return pathlib.Path(f"/tmp/jit-{pid}.dump")


def find_library(build_dir):
    """The agent that was built there."""
    found = sorted(pathlib.Path(build_dir).rglob("libkaa_agent.so"))
    assert found, f"no libkaa_agent.so below {build_dir}"
    return found[0]
