# SPDX-License-Identifier: GPL-2.0-only
"""Interpreters with the agent in them, and those of their own support for perf, to be run alike.

    way = Way(python, library)          the agent
    way = Way(python)                   the interpreter's own support, on versions that have it
    result = way.run(["-c", code], backend="perf")
    result.pid, result.map, result.dump

Files under a number that another process had before would be found by chance in a /tmp where many tests run, so

    way = Way(python, library, private=Folder)

shows the interpreter this folder as /tmp (only root can do that); the library is copied into it.

way.under = [words] stand before the interpreter: a tool that it runs under.

backend: "perf", "perf_jit" or "perf_elf" for what is active from the start, None for nothing: then the program may
call sys.activate_stack_trampoline.
"""
import pathlib
import shutil

from harness.process import HANG, TOP, Program, Result, end_group, started, text


# In a mount namespace whose /tmp is the folder given; this repository stays visible if it is below /tmp.
PRIVATE_TMP = """
set -e
folder=$1 top=$2
shift 2
mount --make-rprivate /
case $top in
/tmp/*)
    mkdir -p "$folder${top#/tmp}"
    mount --bind "$top" "$folder${top#/tmp}"
    ;;
esac
mount --rbind "$folder" /tmp
exec "$@"
"""


def private_tmp(folder):
    """Words before a command that make the folder its /tmp."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o1777)
    return ["unshare", "--mount", "sh", "-c", PRIVATE_TMP, "sh", str(folder), str(TOP)]


# CPython writes its dumps to /tmp, and readers look for them there: a /tmp of the test's own, with kaa in it.
WITH_BUILD = 'mount --make-rprivate / && mount --bind "$1" "$2/.build" && shift 2 && exec "$@"'


class Private:
    """Programs with a /tmp of their own, the folder."""

    def __init__(self, folder, build_dir, *prefix):
        self.folder = folder
        (folder / ".build").mkdir(exist_ok=True)
        self.enter = Program("unshare", "-m", "sh", "-c", WITH_BUILD, "sh", build_dir, folder, *private_tmp(folder),
                             "env", "-C", "/tmp", *prefix)
        self.kaa = self.program("/tmp/.build/kaa")

    def program(self, *command):
        return Program(*self.enter.command, *command)


class Way:
    def __init__(self, python, library=None, private=None):
        self.python, self.library, self.under = python, library, []
        self.folder, self.prefix = pathlib.Path("/tmp"), list(python.prefix)
        if private:
            self.folder, self.prefix = private, private_tmp(private) + self.prefix
        if private and library:
            shutil.copy(library, private)
            self.library = pathlib.Path("/tmp", library.name)

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
        return [*self.prefix, *self.bare_command(words, backend, env)]

    def bare_command(self, words, backend=None, env=()):
        """The same for somebody who is in the chroot already."""
        switches = [] if self.library or not backend else ["-X", backend]
        return ["env", *self.environment(backend), *env, *map(str, self.under), self.python.path, *switches, *map(str, words)]

    def map_path(self, pid):
        return self.folder / f"perf-{pid}.map"

    def dump_path(self, pid):
        return self.folder / f"jit-{pid}.dump"

    def run(self, words, backend=None, env=(), timeout=HANG, status=0, **options):
        """Like harness.process.run; the Result knows the process's number and files as well."""
        with started(self.command(words, backend, env), **{"stdout": -1, "stderr": -1, **options}) as process:
            try:
                stdout, stderr = process.communicate(timeout=timeout)
            finally:
                end_group(process)
        result = Result([repr(self), *words], process.returncode, text(stdout or b""), text(stderr or b""))
        result.pid = process.pid
        result.map, result.dump = self.map_path(process.pid), self.dump_path(process.pid)
        assert status is None or result.status == status, f"exit status {result.status} instead of {status}: {result}"
        return result


def find_library(build_dir):
    """The agent that was built there."""
    found = sorted(pathlib.Path(build_dir).rglob("libkaa_agent.so"))
    assert found, f"no libkaa_agent.so below {build_dir}"
    return found[0]
