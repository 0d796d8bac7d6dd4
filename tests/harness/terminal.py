# SPDX-License-Identifier: GPL-2.0-only
"""A program on a terminal: a pseudo-terminal with pyte as the emulator that says what its screen shows.

    with Terminal([kaa, "report", "-i", data], rows=24, columns=80) as terminal:
        terminal.wait_for("Samples")
        terminal.press("down", "enter", "/foo", "enter")
        print(terminal.lines())

Every byte that the program writes is kept in `raw`; draw=False: nothing else is done with it. ticks=True: the program draws
anew by itself, and reads other things than keys meanwhile: write() keys, and wait for what they do. The terminal answers
nothing; a program that hangs fails the test by its timeout.
"""
import codecs
import fcntl
import os
import re
import select
import signal
import struct
import termios
import time

import pyte

from harness.process import HANG

# What pyte emulates is TERM=linux; REP and the scrolling of xterm it does not know.
KEYS = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[1~", "end": "\x1b[4~",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "backtab": "\x1b\t", "f1": "\x1b[[A",
    "enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f",
}


# What the harness itself writes behind all that kaa has written: no terminal shows it.
MARK = b"\x1b]7777;written\x1b\\"


def begins_mark(data):
    """How many bytes at the end of the data may be the beginning of a MARK."""
    return max(n for n in range(min(len(data), len(MARK) - 1) + 1) if data.endswith(MARK[:n]))


class Terminal:
    def __init__(self, command, rows=24, columns=100, env=None, cwd=None, timeout=HANG, draw=True, ticks=False):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw = b""
        # Read, and perhaps part of a MARK; and whether one has come.
        self.held = b""
        self.marked = False
        self.timeout = timeout
        self.status = None
        self.draw = draw
        self.ticks = ticks
        self.is_kaa = os.path.basename(str(command[0])) == "kaa"
        self.fd, self.slave = os.openpty()
        self._set_size(self.slave, rows, columns)
        # As the terminal is before the program runs.
        self.initial_modes = self.modes()
        self.pid = os.fork()
        if self.pid == 0:
            self._become(self.slave, [str(word) for word in command], env, cwd)

    @staticmethod
    def _become(slave, command, env, cwd):
        try:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(slave, fd)
            settings = {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8"}
            for name in ("LINES", "COLUMNS", "NO_COLOR", "KAA_PAGER", "PAGER"):
                settings.pop(name, None)
            settings.update(env or {})
            if cwd:
                os.chdir(cwd)
            # A test may run under what ignores some of them.
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP):
                signal.signal(number, signal.SIG_DFL)
            os.execvpe(command[0], command, {name: value for name, value in settings.items() if value is not None})
        finally:
            os._exit(126)

    @staticmethod
    def _set_size(fd, rows, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.slave)
        os.close(self.fd)

    # --- What it shows

    def _read(self, seconds):
        """One piece of output; False if there was none for that long, or there will be no more."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self._take(self.held + data)
        return bool(data)

    def _take(self, data):
        if MARK in data:
            self.marked = True
            data = data.replace(MARK, b"")
        whole = len(data) - begins_mark(data)
        data, self.held = data[:whole], data[whole:]
        self.raw += data
        if self.draw:
            self.stream.feed(self.decoder.decode(data))

    def _bytes_read(self):
        """How much it has read of all that it reads: keys and signals too."""
        try:
            with open(f"/proc/{self.pid}/io") as file:
                return int(re.search(r"^rchar:\s*(\d+)", file.read(), re.M)[1])
        except (OSError, TypeError):
            return 0

    def _waits_for_keys(self):
        """It is in poll(2), for the terminal and its signals, without an end; or, if it draws anew by itself, with one."""
        try:
            with open(f"/proc/{self.pid}/syscall") as file:
                words = file.read().split()
        except OSError:
            return False
        if len(words) <= 3 or words[0] != "7" or int(words[2], 16) != 2:
            return False
        return self.ticks or int(words[3], 16) & 0xffffffff == 0xffffffff

    def settle(self, read=0, quiet=0.4):
        """Reads until kaa waits for keys, having read that many bytes in all; any other program until it has been
        silent for a moment."""
        deadline = time.monotonic() + self.timeout
        while self.is_kaa and not self.ended() and not (self._bytes_read() >= read and self._waits_for_keys()):
            assert time.monotonic() < deadline, f"it does not wait for keys:\n{self.text()}"
            self._read(0.005)
        if self.is_kaa:
            self._read_all(deadline)
        while self._read(0 if self.is_kaa else quiet):
            pass

    def _read_all(self, deadline):
        """What kaa has written: the kernel hands it over by and by, in order."""
        self.marked = False
        while not select.select([], [self.slave], [], 0)[1]:
            assert time.monotonic() < deadline, f"it takes no output:\n{self.text()}"
            self._read(0.01)
        os.write(self.slave, MARK)
        while not self.marked:
            assert time.monotonic() < deadline, f"it takes no output:\n{self.text()}"
            self._read(0.1)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait_until(self, condition, what):
        deadline = time.monotonic() + self.timeout
        while not condition():
            assert time.monotonic() < deadline, f"no {what} on the screen:\n{self.text()}"
            if not self._read(0.1) and self.ended():
                self._read(0)
                assert condition(), f"it ended (status {self.status}) without {what}:\n{self.text()}"
        self.settle()

    def wait_for(self, text):
        self.wait_until(lambda: text in self.text(), repr(text))

    def wait_gone(self, text):
        self.wait_until(lambda: text not in self.text(), f"screen without {text!r}")

    # --- What is done to it

    def write(self, data):
        os.write(self.fd, data)

    @staticmethod
    def bytes_of(key):
        return KEYS.get(key, key).encode()

    def press(self, *keys):
        """Names of KEYS; any other text is typed as it is. Waits after each until it was acted upon."""
        for key in keys:
            data = self.bytes_of(key)
            before = self._bytes_read()
            self.write(data)
            self.settle(before + len(data))
            assert not self.ended() or key == keys[-1], f"it ended (status {self.status}) at {key!r}:\n{self.text()}"

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        before = self._bytes_read()
        self._set_size(self.fd, rows, columns)
        # The signal, through the program's pipe.
        self.settle(before + 1)

    def ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self):
        """Reads on until the program has ended; returns its exit status, or -signal."""
        deadline = time.monotonic() + self.timeout
        while not self.ended():
            assert time.monotonic() < deadline, f"it does not end:\n{self.text()}"
            self._read(0.05)
        while self._read(0):
            pass
        return self.status

    def modes(self):
        """What tcgetattr() says of the terminal, as numbers that can be compared."""
        return termios.tcgetattr(self.fd)[:4]
