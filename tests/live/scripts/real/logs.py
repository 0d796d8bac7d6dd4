# SPDX-License-Identifier: GPL-2.0-only
"""Regular expressions over lines of a log, one of which tries again and again: logs.py SECONDS."""
import re
import sys

from account import spent, turns, write

LINES = [f'10.0.{i % 256}.7 - - "GET /a/{i}/{"x" * (i % 24)} HTTP/1.1" {200 + i % 4} {i * 13}' for i in range(400)]
ADDRESS = re.compile(r"^(\d+\.){3}\d+")
NESTED = re.compile(r"(x+x+)+y")


def addresses():
    with spent("addresses"):
        return list(map(ADDRESS.match, LINES * 5))


def words():
    with spent("words"):
        return len(" ".join(LINES * 5).replace('"', " ").split())


def nested():
    count = 0
    with spent("nested"):
        for line in LINES[:15]:
            count += bool(NESTED.search(line))  # hot
    return count


for turn in turns(float(sys.argv[1])):
    addresses(), words(), nested()
write()
