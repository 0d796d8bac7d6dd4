# SPDX-License-Identifier: GPL-2.0-only
"""Reads the first screen of `kaa report`."""
import os
import re

# own, total, function, file and line, of which the line may be missing
ROW = re.compile(r"^ *(\d+\.\d)% +(\d+\.\d)%  (?: *\d+\.\d\d  )?(\S+) +(\S+?)(?::(\d+))?(?: {2}.*)?$")
# The environment of a report that need not shorten names.
WIDE = {**os.environ, "COLUMNS": "250"}
NARROW = {**os.environ, "COLUMNS": "80"}


def sections(text):
    """The summary, and the tables of functions and of lines as lists of lines."""
    summary, functions, lines = text.split("\n\n")[:3]
    return summary, rows_of(functions), rows_of(lines)


def rows_of(table):
    """Without its heading, and what it says of a sign."""
    return [line for line in table.splitlines()[1:] if not line.startswith("+: ")]


def functions_of(text):
    """{(function, file): (own, total)}"""
    rows = filter(None, map(ROW.match, sections(text)[1]))
    return {(row[3], row[4]): (float(row[1]), float(row[2])) for row in rows}


def lines_of(text):
    """{(file, line): own}"""
    rows = re.finditer(r"^ *(\d+\.\d)% +\d+\.\d%  (?: *\d+\.\d\d  )?(\S+):(\d+)(?: .*)?$", "\n".join(sections(text)[2]), re.M)
    return {(row[2], int(row[3])): float(row[1]) for row in rows}


def kinds_of(text):
    """{kind: percent}"""
    return {name.strip(): float(share) for name, share in
            re.findall(r"([a-zA-Z ]+?) [<>]?([\d.]+) %", sections(text)[0].split("Spent in: ")[1])}


def samples_of(text):
    return int(re.search(r"([\d,]+) samples?,", text)[1].replace(",", ""))
