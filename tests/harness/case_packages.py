# SPDX-License-Identifier: GPL-2.0-only
"""Packages that some of the cases need (harness/cases.py): wheels alone, of the versions and hashes that tests/tools/cases.lock has
for an interpreter, below build/cases."""
import hashlib
import os
import sys

from harness.process import TOP, run

LOCK = TOP / "tests" / "tools" / "cases.lock"
FOLDER = TOP / "build" / "cases"


def for_version(python):
    """What tells the pip of this interpreter's host which wheels another one takes."""
    return ["--python-version", f"3.{python.version[1]}", "--only-binary=:all:"]


def pip(*words, status=0):
    words = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", *words]
    return run(words, status=status, env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"})


def packages_of(python, status=0):
    """The folder that PYTHONPATH has to name. status None: None, if they cannot be had."""
    place = FOLDER / f"3.{python.version[1]}"
    mark, state = place / "installed", hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == state:
        return place
    FOLDER.mkdir(parents=True, exist_ok=True)
    result = pip("install", "--upgrade", "--target", place, "--no-deps", "--require-hashes", *for_version(python), "-r", rows_of(python),
                 status=status)
    if result.status:
        return None
    mark.write_text(state)
    return place


def rows_for(python, lock):
    """The part of a lock that is for one version: markers in it are the pip's own interpreter's."""
    wanted, rows = f"python_version == '3.{python.version[1]}'", []
    for row in lock.read_text().replace("\\\n", "").splitlines():
        wish, _, rest = row.partition(" ; ")
        if wanted in rest:
            rows.append(" ".join([wish, *(word for word in rest.split() if word.startswith("--hash"))]))
    return rows


def rows_of(python):
    path = FOLDER / f"3.{python.version[1]}.txt"
    path.write_text("\n".join(rows_for(python, LOCK)) + "\n")
    return path


def package_of(python, name, place):
    """Puts one package into a folder, of the version that real-programs.lock has for the interpreter; False: it cannot be had."""
    rows = [row for row in rows_for(python, TOP / "tests" / "tools" / "real-programs.lock") if row.startswith(f"{name}==")]
    place.mkdir()
    (place / "lock").write_text("\n".join(rows) + "\n")
    return bool(rows) and not pip("install", "--target", place, "--no-deps", "--require-hashes", *for_version(python),
                                  "-r", place / "lock", status=None).status
