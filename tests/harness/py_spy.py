# SPDX-License-Identifier: GPL-2.0-only
"""py-spy, to compare with: the one on PATH, or from PyPI the version with the hashes that tests/tools/real-programs.lock has."""
import re
import shutil

from harness.case_packages import pip
from harness.process import TOP

LOCK = TOP / "tests" / "tools" / "real-programs.lock"
FOLDER = TOP / "build" / "py-spy"


def row():
    """Its row of the lock, whatever the version of Python: it is a program."""
    found = re.search(r"^(py-spy==\S+) ;.*?((?:\\\n +--hash=\S+ ?)+)", LOCK.read_text(), re.M)
    return " ".join([found[1], *re.findall(r"--hash=\S+", found[2])])


def find():
    """Its path; None: it cannot be had."""
    program = FOLDER / "bin" / "py-spy"
    if shutil.which("py-spy"):
        return shutil.which("py-spy")
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "lock").write_text(row() + "\n")
        pip("install", "--upgrade", "--target", FOLDER, "--no-deps", "--require-hashes", "--only-binary=:all:",
            "-r", FOLDER / "lock", status=None)
    return program if program.exists() else None
