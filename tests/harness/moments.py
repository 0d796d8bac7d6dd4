# SPDX-License-Identifier: GPL-2.0-only
"""A thread of an interpreter at moments: by the walk in user space (`python_probe moments`), and by the program's own word.

    with moments([probe, "moments", pid]) as asked:
        frames, flags = asked.look(ident, signal.SIGUSR1, image)

A stack is a list of [name, file, line], innermost first.
"""
import contextlib
import re
import signal
import subprocess

from harness.process import started

FRAME = re.compile(r'  File "(.*)", line (\d+|\?\?\?) in (.*)')
# faulthandler writes no more frames.
MAX_TOLD = 100


def shown(text):
    """A name as kaa writes it."""
    def escape(match):
        number = ord(match[0])
        return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
    return re.sub("[\0-\x1f\x7f-\x9f\ud800-\udfff]", escape, text)


def told(text):
    """The stack that faulthandler has written; None if that is not all of it."""
    # Newer releases stop where the interpreter itself stands between a class and its __init__.
    if "<invalid frame>" in text:
        return None
    # 3.12 and 3.13 write that place as a frame, which no traceback shows.
    found = [match.groups() for match in FRAME.finditer(text) if match.groups() != ("__init__", "???", "__init__")]
    if len(found) >= MAX_TOLD or any(line == "???" for _, line, _ in found):
        return None
    # The first instruction of a module has line 0, which no file has: kaa shows its first line.
    return [[name, file, int(line) or int(name == "<module>")] for file, line, name in found]


def plain(stack):
    """With names as faulthandler has them, without what they are in."""
    return [[name.rpartition(".")[2], file, line] for name, file, line in stack]


class Moments:
    """process: a Popen of python_probe, which answers one line after the other."""

    def __init__(self, process):
        self.process = process

    def look(self, ident, number=0, image="-"):
        """The stack and the walk's flags of a thread that stops now; then it gets the signal, if there is one. has_failed
        says whether the program's handler did."""
        self.process.stdin.write(f"{ident} {int(number)} {image}\n")
        self.process.stdin.flush()
        frames, self.has_failed = [], False
        for line in self.process.stdout:
            words = line.rstrip("\n").split("\t")
            if len(words) == 3:
                frames.append([words[0], words[1], int(words[2])])
            elif line == "?\n":
                frames.append(["?", "?", 0])
            elif line.startswith("flags "):
                flags = int(line.split()[1])
            elif line == "failed\n":
                self.has_failed = True
            else:
                return frames, flags
        raise AssertionError(f"no answer: {self.process.wait()}")

    def look_and_tell(self, ident, out, image="-"):
        """The same with what faulthandler writes to the file out (scripts/signalled.py), or None for that: the one of 3.13
        may fail at frames that are being made."""
        before = out.stat().st_size
        frames, flags = self.look(ident, signal.SIGUSR1, image)
        return frames, flags, None if self.has_failed else told(out.read_text()[before:])

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


@contextlib.contextmanager
def moments(command):
    """command: words that lead to `python_probe moments PID`."""
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Moments(process)


@contextlib.contextmanager
def signalled(python, scripts, out, script, *arguments):
    """The process and first thread of a program that writes its stack to the file out at SIGUSR1."""
    command = [*python.command, scripts / "signalled.py", out, script, *arguments]
    with started(command, stdout=subprocess.PIPE, text=True) as process:
        yield tuple(map(int, process.stdout.readline().split()))
