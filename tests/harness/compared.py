# SPDX-License-Identifier: GPL-2.0-only
"""Two recordings of one program, with lines: of some of it the functions moved, changed, came, or are gone."""
import os
import re

from harness.planted import sampled, with_python

C = ("memcpy", "/usr/lib/libc.so.6")


def stacks(file, is_after):
    """In `main.py` work moves by five lines, and edited has one line more; old is gone, new is new."""
    main, by = ("<module>", file, 1), 5 if is_after else 0
    work, edited = ("work", file, 10 + by), ("edited", file, 30 + by)

    def at(function, line):
        return (*function, line + by)

    found = {
        ((*main, 50 + by), at(work, 12)): 60,
        ((*main, 50 + by), at(work, 13)): 40 if is_after else 120,
        ((*main, 50 + by), at(work, 13), C): 25,
        ((*main, 52 + by), at(edited, 31)): 20 if is_after else 30,
        ((*main, 52 + by), at(edited, 32)): 10 if is_after else 30,
        (("_start", "/usr/bin/python3"),): 5,
    }
    if is_after:
        found[(*main, 52 + by), at(edited, 34)] = 15
        found[(*main, 60), ("new", file, 41, 42)] = 70
        found[(*main, 50 + by), at(work, 13), ("new", file, 41, 43)] = 9
    else:
        found[(*main, 51), ("old", file, 20, 21)] = 50
        found[(*main, 51), ("old", file, 20, 22), C] = 7
    return found


def two(kaa, folder, before="/srv/old/main.py", after="/srv/new/main.py", **options):
    """Their paths, the one before first."""
    return (with_python(sampled(kaa, folder / "old.data", stacks(before, False), **options)),
            with_python(sampled(kaa, folder / "new.data", stacks(after, True), **options)))


ROW = re.compile(r"^ *(-|[\d.]+) +(-|[\d.]+) +([+-][\d.]+) +\+-[\d.]+ +(\S+) +(?:[+-][\d.]+|noise)? {2}(\S.*?)(?:  +(\S.*))?$", re.M)


def differences(kaa, *words):
    """What `kaa diff` prints: ({function, place}, {place, text}) to (before, after, change, mark), all texts."""
    text = kaa("diff", "--percent-limit", "0", *words, env={**os.environ, "COLUMNS": "400"}).stdout
    functions, lines = re.split(r"\n\n own[^\n]*\n[^\n]* line\n", text)
    # The first row is of all time.
    tables = [{(row[4], row[5] or ""): tuple(row[:4]) for row in ROW.findall(table) if row[4] != "all"} for table in (functions, lines)]
    assert all(tables), text
    return tables
