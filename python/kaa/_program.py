# SPDX-License-Identifier: GPL-2.0-only
"""Where the program kaa is that belongs to this package."""
import os
import shutil
import subprocess
import sysconfig


def installed_files():
    """As pip wrote it down."""
    try:
        from importlib import metadata
    except ImportError:
        return
    try:
        for path in metadata.files("kaa") or ():
            if path.name == "kaa" and path.parent.name == "bin":
                yield os.path.realpath(str(path.locate()))
    except metadata.PackageNotFoundError:
        pass


def places():
    """Where it may be, the likeliest first: as pip wrote it down, then where this Python has its programs."""
    yield from installed_files()
    yield os.path.join(sysconfig.get_path("scripts"), "kaa")
    # pip install --target
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "kaa")


def tried_places():
    return list(dict.fromkeys(places()))


def message():
    return ("the program of this package is not there: looked for %s, and in PATH. Install the package again."
            % ", ".join("'%s'" % path for path in tried_places()))


def find(path=None):
    """The program's path. path: one to be looked for after those of the package, as PATH has it. OSError: none."""
    for place in tried_places():
        if os.access(place, os.X_OK) and os.path.isfile(place):
            return place
    other = shutil.which("kaa", path=path) if path else None
    if not other:
        raise FileNotFoundError(message())
    return other


def ask(*words, **environment):
    """The program on these words: a CompletedProcess with what it prints. OSError: there is none."""
    return subprocess.run([find(os.environ.get("PATH")), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=dict(os.environ, **environment), encoding="utf-8", errors="replace")
