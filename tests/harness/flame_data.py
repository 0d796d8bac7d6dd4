# SPDX-License-Identifier: GPL-2.0-only
"""The tree that a page of `kaa flamegraph` has in it, read without its script."""
import base64
import collections
import html
import json
import re

# enum flame_kind (src/flame/flame_tree.h)
PYTHON, THREAD, MARKER, REST = (0, 1, 2), 10, 9, 12

Function = collections.namedtuple("Function", "name file place line kind")


class Node:
    """parent (a Node or None), function, and the samples that end here; where two sides are compared also those before."""

    def __init__(self, parent, function, samples, before):
        self.parent, self.function, self.samples, self.before = parent, function, samples, before

    def path(self):
        """Functions, outermost first."""
        return ([] if self.parent is None else self.parent.path()) + [self.function]


class Numbers:
    def __init__(self, text):
        self.bytes, self.at = base64.b64decode(text, validate=True), 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.bytes[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


class Page:
    """head: the texts above the boxes; data: the JSON; nodes: all Nodes, a parent before its children."""

    def __init__(self, text):
        self.text = text
        self.data = json.loads(re.search(r'<script type="application/json" id="profile">(.*?)</script>', text, re.S)[1])
        self.head = html.unescape(re.search(r'<p id="summary">(.*?)</p>', text, re.S)[1])
        columns, strings = self.data["functions"], self.data["strings"]
        self.functions = [Function(strings[name], strings[file], strings[place], line, kind) for name, file, place, line, kind
                          in zip(*(columns[name] for name in ("name", "file", "place", "line", "kind")))]
        self.nodes = list(self.read_nodes(Numbers(self.data["nodes"])))

    def read_nodes(self, numbers):
        path = []
        for i in range(self.data["count"]):
            if i:
                del path[len(path) - numbers.next():]
            function = self.functions[numbers.next()]
            sides = [0, 0]
            for side, each in enumerate(self.data["period"]):
                sides[side] = numbers.next()
                if sides[side] and each is None:
                    numbers.next()
            path.append(Node(path[-1] if path else None, function, *sides))
            yield path[-1]
        assert numbers.at == len(numbers.bytes)

    def stacks(self):
        """{functions outermost first: samples}, of those that have any."""
        found = collections.Counter()
        for node in self.nodes:
            if node.samples:
                found[tuple(node.path())] += node.samples
        return found

    def python(self):
        """Own and total samples of each Python function as (name, file); own of None: samples without any."""
        own, total = collections.Counter(), collections.Counter()
        for stack, samples in self.stacks().items():
            functions = [(f.name, f.file) for f in stack if f.kind in PYTHON]
            own[functions[-1] if functions else None] += samples
            for function in set(functions):
                total[function] += samples
        return own, total
