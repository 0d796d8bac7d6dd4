# SPDX-License-Identifier: GPL-2.0-only
"""python_probe (tests/live/probe): what src/python says, for tests to hold against the interpreters themselves."""
import pathlib
import subprocess

from harness import machine
from harness.process import TOP

HEADERS = TOP / "tests" / "tools" / "derive-layout.c"


def path(config):
    found = pathlib.Path(config.getoption("--build")).resolve() / "tests" / "live" / "python_probe"
    assert found.exists(), f"no {found}: run 'ninja' in the build directory"
    return found


def read_values(text):
    """Lines "name value" as a dict."""
    return dict(line.split(" ", 1) for line in text.splitlines())


def include_folders(python, include):
    """Options that find an interpreter's headers from outside the chroot."""
    root = machine.chroot_path() if python.prefix else pathlib.Path("/")
    folder = root / include.lstrip("/")
    options = ["-I", folder, "-I", folder / "internal"]
    # Debian's pyconfig.h leads to one below the architecture's folder.
    return options + (["-idirafter", root / "usr/include"] if python.prefix else []), folder


def compile_with_headers(python, include, program, *more):
    """Compiles derive-layout.c with an interpreter's headers; False if these are not installed."""
    options, folder = include_folders(python, include)
    if not (folder / "Python.h").exists() or (python.version >= (3, 7) and not (folder / "internal").exists()):
        return False
    subprocess.run(["cc", "-w", "-DPy_BUILD_CORE", *map(str, options), *more, "-o", program, HEADERS], check=True)
    return True
