# SPDX-License-Identifier: GPL-2.0-only
"""`python -m kaa`: becomes the program kaa that was installed with this package."""
import os
import sys
import sysconfig
from importlib import metadata


def places():
    """Where it may be, the likeliest first: as pip wrote it down, then where this Python has its programs."""
    try:
        for path in metadata.files("kaa") or ():
            if path.name == "kaa" and path.parent.name == "bin":
                yield os.path.realpath(str(path.locate()))
    except metadata.PackageNotFoundError:
        pass
    yield os.path.join(sysconfig.get_path("scripts"), "kaa")
    # pip install --target
    yield os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "kaa")


def main():
    tried = list(dict.fromkeys(places()))
    for path in tried:
        if os.access(path, os.X_OK) and os.path.isfile(path):
            os.execv(path, [path] + sys.argv[1:])
    sys.exit("kaa: the program of this package is not there: looked for %s. Install the package again."
             % ", ".join("'%s'" % path for path in tried))


if __name__ == "__main__":
    main()
