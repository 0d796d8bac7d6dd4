# SPDX-License-Identifier: GPL-2.0-only
"""Counting the instructions that a program executes: valgrind's cachegrind, without its caches. Nothing else on the
machine has a part in the number, so it can be compared where times cannot.

    with Counter() as counter:
        way.under = counter.words()             a Way of harness.agent
        result = way.run(["-c", "pass"], env=counter.environment())
        counter.take()                          instructions of the last program

The files of the system's valgrind that are needed lie in a folder below /tmp, so programs in the chroot are counted too.
The tool itself is started, without valgrind's launcher: that would get an LD_PRELOAD that is meant for the program. The
program's memory lies at the same addresses each time (valgrind maps it), and PYTHONHASHSEED is 0.
"""
import pathlib
import re
import shutil
import tempfile

TOOL = "cachegrind-amd64-linux"
FILES = (TOOL, "vgpreload_core-amd64-linux.so", "default.supp")
FOLDERS = ("/usr/libexec/valgrind", "/usr/lib/x86_64-linux-gnu/valgrind", "/usr/lib/valgrind", "/usr/local/libexec/valgrind")


def find_valgrind():
    """The folder with valgrind's tools, or None."""
    return next((pathlib.Path(folder) for folder in FOLDERS if pathlib.Path(folder, TOOL).exists()), None)


def no_valgrind():
    """None, or why instructions cannot be counted here."""
    return None if find_valgrind() else f"no {TOOL} here: install the package valgrind (tests/tools/deps check)"


class Counter:
    def __enter__(self):
        assert find_valgrind(), no_valgrind()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kaa-count-", dir="/tmp"))
        for name in FILES:
            shutil.copy(find_valgrind() / name, self.folder)
        self.folder.chmod(0o755)
        self.log = self.folder / "log"
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.folder)

    def environment(self):
        """Words NAME=VALUE."""
        return [f"VALGRIND_LIB={self.folder}", f"VALGRIND_LAUNCHER={self.folder / TOOL}", "PYTHONHASHSEED=0"]

    def words(self):
        """Words before the program's own. Trampolines are code that is made while the program runs."""
        return [self.folder / TOOL, "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--smc-check=all-non-file",
                f"--log-file={self.log}"]

    def take(self):
        text = self.log.read_text()
        found = re.search(r"I\s+refs:\s+([\d,]+)", text)
        assert found, text
        self.log.unlink()
        return int(found[1].replace(",", ""))
