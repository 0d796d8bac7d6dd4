# SPDX-License-Identifier: GPL-2.0-only
"""pandas: a function for each row, beside what works on whole columns: frames.py SECONDS."""
import sys

import numpy
import pandas

from account import spent, turns, write

ROWS = pandas.DataFrame({"shop": numpy.arange(4000) % 50, "cents": numpy.arange(4000) * 37 % 1000})


def by_row(rows):
    with spent("by_row"):
        return rows.head(1000).apply(lambda row: row["shop"] * row["cents"], axis=1)  # below


def by_column(rows):
    with spent("by_column"):
        return rows.assign(product=rows["shop"] * rows["cents"]).groupby("shop")["product"].sum()


def ranked(rows):
    with spent("ranked"):
        return rows["cents"].rank().sort_values()


for turn in turns(float(sys.argv[1])):
    by_row(ROWS), by_column(ROWS), ranked(ROWS)
write()
