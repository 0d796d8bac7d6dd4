# SPDX-License-Identifier: GPL-2.0-only
"""A program on a terminal: a pseudo-terminal with pyte as the emulator that says what its screen shows.

    with Terminal([kaa, "report", "-i", data], rows=24, columns=80) as terminal:
        terminal.wait_for("Samples")
        terminal.press("down", "enter", "/foo", "enter")
        print(terminal.lines())

Every byte that the program writes is kept in `raw`. The terminal answers nothing; a program that hangs fails the
test by its timeout.
"""
import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

# What pyte emulates is TERM=linux; REP and the scrolling of xterm it does not know.
KEYS = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[1~", "end": "\x1b[4~",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "backtab": "\x1b[Z", "f1": "\x1b[[A",
    "enter": "\r", "tab": "\t", "esc": "\x1b", "backspace": "\x7f",
}


class Terminal:
    def __init__(self, command, rows=24, columns=100, env=None, cwd=None, timeout=60):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.Stream(self.screen)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw = b""
        self.timeout = timeout
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            self._become([str(word) for word in command], rows, columns, env, cwd)
        self._set_size(self.fd, rows, columns)

    @staticmethod
    def _become(command, rows, columns, env, cwd):
        try:
            Terminal._set_size(0, rows, columns)
            settings = {**os.environ, "TERM": "linux", "LC_ALL": "C.UTF-8", **(env or {})}
            for name in ("LINES", "COLUMNS", "NO_COLOR", "KAA_PAGER", "PAGER"):
                if name not in (env or {}):
                    settings.pop(name, None)
            if cwd:
                os.chdir(cwd)
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
        self.raw += data
        self.stream.feed(self.decoder.decode(data))
        return bool(data)

    def settle(self, quiet=0.15):
        """Reads until the program has been silent for a moment."""
        while self._read(quiet):
            pass

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def wait_until(self, condition, what):
        deadline = time.monotonic() + self.timeout
        while not condition():
            assert time.monotonic() < deadline, f"no {what} on the screen:\n{self.text()}"
            if not self._read(0.1) and self._poll():
                self.settle(0)
                assert condition(), f"it ended (status {self.status}) without {what}:\n{self.text()}"
        self.settle(0.05)

    def wait_for(self, text):
        self.wait_until(lambda: text in self.text(), repr(text))

    def wait_gone(self, text):
        self.wait_until(lambda: text not in self.text(), f"screen without {text!r}")

    # --- What is done to it

    def write(self, data):
        os.write(self.fd, data)

    def press(self, *keys):
        """Names of KEYS; any other text is typed as it is. Waits until the screen is quiet after each."""
        for key in keys:
            self.write(KEYS.get(key, key).encode())
            self._read(2)
            self.settle()

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self._set_size(self.fd, rows, columns)
        os.kill(self.pid, signal.SIGWINCH)
        self._read(2)
        self.settle()

    def _poll(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def wait(self):
        """Reads on until the program has ended; returns its exit status, or -signal."""
        deadline = time.monotonic() + self.timeout
        while not self._poll():
            assert time.monotonic() < deadline, f"it does not end:\n{self.text()}"
            self._read(0.05)
        self.settle(0)
        return self.status

    def modes(self):
        """What tcgetattr() says of the terminal, as numbers that can be compared."""
        return termios.tcgetattr(self.fd)[:4]
