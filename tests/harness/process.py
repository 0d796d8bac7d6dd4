# SPDX-License-Identifier: GPL-2.0-only
"""Running programs with a time limit that ends them and what they started, and nothing else."""
import contextlib
import os
import pathlib
import signal
import subprocess
import sys

# Seconds. What takes so long hangs, also on a machine where ten programs want each processor.
HANG = 600
TOP = pathlib.Path(__file__).resolve().parents[2]


class Result:
    """What a program left: exit status (negative: the signal that ended it) and both outputs as text."""

    def __init__(self, command, status, stdout, stderr):
        self.command, self.status, self.stdout, self.stderr = command, status, stdout, stderr

    def __repr__(self):
        return (f"{' '.join(map(str, self.command))}\nexit status {self.status}\n"
                f"--- stdout\n{self.stdout[-4000:]}\n--- stderr\n{self.stderr[-4000:]}")


def text(data):
    return data.decode("utf-8", "backslashreplace")


def end_group(process):
    """Ends a child that leads a session of its own, with all that is still in that session's process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def started(command, **options):
    """The program, running, as a Popen; ended when the block is left, if it has not ended by itself."""
    options.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen([str(word) for word in command], start_new_session=True, **options)
    try:
        yield process
    finally:
        end_group(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()


def run(command, timeout=HANG, status=0, data=None, **options):
    """Runs a program to its end and returns its Result.

    status: the exit status that it must have, or None for any. timeout: seconds; then it is ended and the test
    fails. data: bytes for its standard input. Further options go to Popen (env, cwd, ...).
    """
    options.setdefault("stdin", subprocess.PIPE if data is not None else subprocess.DEVNULL)
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            stdout, stderr = process.communicate(data, timeout)
        except subprocess.TimeoutExpired:
            end_group(process)
            stdout, stderr = process.communicate()
            raise AssertionError(f"not done after {timeout} s: "
                                 f"{Result(command, process.returncode, text(stdout), text(stderr))}") from None
        result = Result(command, process.returncode, text(stdout), text(stderr))
    if status is not None:
        assert result.status == status, f"exit status {result.status} instead of {status}: {result}"
    return result


class Program:
    """A program that tests call like a function: words in, Result out (see run for the options)."""

    def __init__(self, *command):
        self.command = [str(word) for word in command]

    def __call__(self, *args, **options):
        return run(self.command + list(args), **options)

    def start(self, *args, **options):
        return started(self.command + list(args), **options)

    def inside(self, prefix):
        """The same program behind a prefix, such as the one that enters the chroot."""
        return type(self)(*prefix, *self.command)


# PTRACE_SEIZE, of the process whose number it is given.
TRACER = """
import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
print(libc.ptrace(0x4206, int(sys.argv[1]), None, None), flush=True)
time.sleep(1000000)
"""


@contextlib.contextmanager
def traced(pid):
    """The first thread has another tracer, whose number this is."""
    with subprocess.Popen([sys.executable, "-c", TRACER, str(pid)], stdout=subprocess.PIPE, text=True) as tracer:
        try:
            assert tracer.stdout.readline() == "0\n"
            yield tracer.pid
        finally:
            tracer.kill()
