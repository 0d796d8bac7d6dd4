# SPDX-License-Identifier: GPL-2.0-only
"""A database: sums with a function of Python's, and a join without an index: ledger.py SECONDS."""
import sqlite3
import sys

from account import spent, turns, write


def fill(db):
    db.execute("CREATE TABLE account (id INTEGER, name TEXT)")
    db.execute("CREATE TABLE entry (account INTEGER, cents INTEGER)")
    db.executemany("INSERT INTO account VALUES (?, ?)", [(n, f"account {n}") for n in range(300)])
    db.executemany("INSERT INTO entry VALUES (?, ?)", [(n % 300, n * 37 % 1000) for n in range(3000)])


def balances(db):
    sums = []
    with spent("balances"):
        for n in range(20):
            sums += db.execute("SELECT sum(cents) FROM entry WHERE account = ?", (n,))  # hot
    return sums


def names(db):
    with spent("names"):
        return [name.title() for _ in range(4) for (name,) in db.execute("SELECT name FROM account ORDER BY name DESC")]


def main(seconds):
    db = sqlite3.connect(":memory:")
    fill(db)
    for turn in turns(seconds):
        balances(db), names(db)


main(float(sys.argv[1]))
write()
