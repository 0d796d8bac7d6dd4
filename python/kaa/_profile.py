# SPDX-License-Identifier: GPL-2.0-only
"""A part of this process, recorded by `kaa record -p`.

    recorder     kaa record -p PID ... -- sh -c "echo; read end; true"

The shell runs while kaa records: kaa starts it when the first sample can come, and ends with it. So its line says that
the recording has begun. A line to it ends the recording, as does the end of its input, which comes with the end of this
process.
"""
from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
import subprocess
import threading
from collections.abc import Iterable

from kaa import _program

PR_SET_PTRACER = 0x59616D61
INNER = "echo; read end; true"
YAMA = "/proc/sys/kernel/yama/ptrace_scope"


class ProfileError(RuntimeError):
    """kaa could not record; the message is what it said."""


class Readable:
    """Where only ancestors may read the memory of a process (Yama), this one and its new children allow it to all children
    of this one, kaa among them, as long as there are recorders."""

    def __init__(self):
        self.lock = threading.Lock()
        self.recorders = 0
        # The process that began them, of which kaa is a child.
        self.ancestor = 0
        os.register_at_fork(after_in_child=self.after_fork)

    @staticmethod
    def allow(ancestor):
        """0: to nobody else again."""
        with contextlib.suppress(OSError), open(YAMA) as file:
            if file.read().strip() == "1":
                ctypes.CDLL(None).prctl(PR_SET_PTRACER, ancestor, 0, 0, 0)

    def begin(self):
        with self.lock:
            self.recorders += 1
            self.ancestor = os.getpid()
            self.allow(self.ancestor)

    def end(self):
        with self.lock:
            self.recorders -= 1
            if not self.recorders:
                self.ancestor = 0
                self.allow(0)

    def after_fork(self):
        # Another thread may have had the lock.
        self.lock, self.recorders = threading.Lock(), 0
        if self.ancestor:
            self.allow(self.ancestor)


readable = Readable()


def last_words(text):
    """Of what kaa wrote: its error, without its name."""
    lines = [line for line in text.splitlines() if line.startswith("kaa")]
    return lines[-1].partition(": ")[2] if lines else text.strip() or "kaa ended without a word"


class Recorder:
    """A kaa that records this process. Raises ProfileError where it cannot."""

    def __init__(self, options):
        readable.begin()
        try:
            self.process = self.start(options)
            self.wait()
        except BaseException:
            readable.end()
            raise

    @staticmethod
    def start(options):
        try:
            command = [_program.find(os.environ.get("PATH")), "record", "-p", str(os.getpid())] + list(options)
            # Of a session of its own: Ctrl-C ends the block, and the block the recording.
            return subprocess.Popen(command + ["--", "sh", "-c", INNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, universal_newlines=True, start_new_session=True)
        except OSError as error:
            raise ProfileError(str(error)) from error

    def wait(self):
        try:
            if not self.process.stdout.readline():
                raise ProfileError(last_words(self.process.communicate()[1]))
        except BaseException:
            self.process.kill()
            self.process.communicate()
            raise

    def end(self):
        """What kaa said; the file is whole. A line, for a forked child may hold the other end of the pipe, too.

        Until kaa has its line this process is recorded, so that this runs hardly more than two system calls.
        """
        try:
            with contextlib.suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), b"\n")
            said = self.process.stderr.read()
            self.process.communicate()
        finally:
            readable.end()
        if self.process.returncode:
            raise ProfileError(last_words(said))
        return said


def _without_types(function):
    """help() has a signature in one line, which types would make twice as long as a terminal is wide."""
    signature = inspect.signature(function)
    function.__signature__ = signature.replace(parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
                                               return_annotation=signature.empty)


class profile(contextlib.ContextDecorator):
    """Records what this process does in a block, or while a function runs.

    All of its threads are recorded, and new children, too.

        with kaa.profile("out.data"):
            work()

        @kaa.profile("out.data")
        def work(): ...

        @kaa.profile
        def work(): ...                 # perf.data

    output:     the file, for `kaa report -i out.data`. Each block, and each call,
                writes it anew; what was there is out.data.old then.
    frequency:  samples a second (default: kaa's)
    mode:       "cpu" (default), "wall" or "gil", as `kaa record --mode`
    options:    further words for `kaa record`

    Without rights kaa polls: functions and lines, no native functions. Where blocks of
    one object, or calls of one function, are in each other or in several threads, there
    is one recording, from the first's begin to the last's end. `messages` has what kaa
    said, once it is over.

    ProfileError: kaa cannot record. It does not replace what the block itself raises.
    """

    def __new__(cls, output="perf.data", *arguments, **settings):
        if callable(output):
            return cls()(output)
        return super().__new__(cls)

    messages: str

    def __init__(self, output: str | os.PathLike[str] = "perf.data", frequency: int | None = None,
                 mode: str | None = None, options: Iterable[str] = ()) -> None:
        self.options = ["-o", os.fspath(output)]
        if frequency is not None:
            self.options += ["-F", str(frequency)]
        if mode is not None:
            self.options += ["--mode", mode]
        self.options += options
        self.messages = ""
        self._lock = threading.Lock()
        self._inside = 0
        self._recorder = None
        self._pid = 0

    def __call__(self, function):
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function) \
                or inspect.isgeneratorfunction(function):
            raise TypeError("a call of %s() returns before its body runs: use 'with kaa.profile()' in there"
                            % function.__name__)
        return super().__call__(function)

    def __enter__(self) -> profile:
        with self._lock:
            if not self._inside:
                self._recorder, self._pid = Recorder(self.options), os.getpid()
            self._inside += 1
        return self

    def __exit__(self, kind, value, traceback):
        with self._lock:
            self._inside -= 1
            # A child that was forked in the block leaves it, too.
            if self._inside or self._pid != os.getpid():
                return False
            recorder, self._recorder = self._recorder, None
            try:
                self.messages = recorder.end()
            except ProfileError:
                if kind is None:
                    raise
        return False


_without_types(profile.__init__)
