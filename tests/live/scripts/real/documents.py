# SPDX-License-Identifier: GPL-2.0-only
"""JSON and copies of what was read: documents.py SECONDS. The standard library's own Python code has most of it."""
import copy
import json
import sys

from account import spent, turns, write

TREE = {"name": "root", "children": [{"name": f"n{i}", "size": i, "tags": [str(j) for j in range(6)],
                                      "more": {"a": [1, 2], "b": None}} for i in range(150)]}


def load(text):
    with spent("load"):
        return json.loads(text)


def save(tree):
    with spent("save"):
        return json.dumps(tree, sort_keys=True)


def clone(tree):
    with spent("clone"):
        return copy.deepcopy(tree)  # below


for turn in turns(float(sys.argv[1])):
    tree = load(save(TREE))
    clone(tree)
write()
