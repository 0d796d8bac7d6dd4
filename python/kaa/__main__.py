# SPDX-License-Identifier: GPL-2.0-only
"""`python -m kaa`: becomes the program kaa that was installed with this package."""
import os
import sys

from kaa import _program


def main():
    try:
        path = _program.find()
    except OSError as error:
        sys.exit("kaa: %s" % error)
    os.execv(path, [path] + sys.argv[1:])


if __name__ == "__main__":
    main()
