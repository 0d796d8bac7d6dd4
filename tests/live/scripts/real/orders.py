# SPDX-License-Identifier: GPL-2.0-only
"""A script: reads orders, drops those that are there twice with a list, and adds up: orders.py SECONDS."""
import csv
import io
import sys

from account import spent, turns, write

TEXT = "id,shop,cents\n" + "".join(f"{i % 900},shop{i % 7},{i * 37 % 1000}\n" for i in range(1500))


def parse(text):
    with spent("parse"):
        return [(int(row[0]), row[1], int(row[2])) for row in list(csv.reader(io.StringIO(text)))[1:]]


def dedupe(rows):
    seen = []
    with spent("dedupe"):
        for row in rows:
            if row not in seen:  # hot
                seen.append(row)
    return seen


def add_up(rows):
    sums = {}
    with spent("add_up"):
        for _ in range(20):
            for _, shop, cents in rows:
                sums[shop] = sums.get(shop, 0) + cents
    return sums


for turn in turns(float(sys.argv[1])):
    add_up(dedupe(parse(TEXT)))
write()
