# SPDX-License-Identifier: GPL-2.0-only
"""The ELF image that names a recording's Python functions for stock tools (src/perfdata/image_file.h)."""
import pathlib


def image_of(recording):
    """Its path; the number in it is the recording's inode."""
    return pathlib.Path(f"{recording}.python-{pathlib.Path(recording).stat().st_ino:x}")


def images_in(folder, name="perf.data"):
    return {path.name for path in pathlib.Path(folder).glob(f"{name}.python-*")}
