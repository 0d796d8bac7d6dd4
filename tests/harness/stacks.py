# SPDX-License-Identifier: GPL-2.0-only
"""Is a Python stack one that the program can have? By the list that scripts/oracle.py made.

    oracle = Oracle.load(path)
    oracle.problem([("<module>", "/x/shapes.py", 310), ..., ("spin", "/x/shapes.py", 33)])

A stack is a list of (function, file, line), outermost first. Functions are compared by plain name, files by base
name, since before 3.11 there are no qualified names and a script may be named by a relative path. `problem`
returns None for a possible stack, else what is wrong with it.

A stack is possible if oracle.py saw it: its call path with all lines, and the innermost function at one of that
function's lines. A generator or coroutine function that is called runs its first instructions in a frame of its own,
at the line of its `def`, which no tracing sees: such an innermost frame is possible if the stack without it is.
The standard library may do things that depend on time (asyncio, threading), so a stack that was not
seen as a whole is possible too if it was seen without the library's frames, every call between the script and the
library was seen, and the library's functions have the lines that its frames name. What runs before the script begins
and after it ends has none of its functions: see `concerns`.
"""
import json
import os

SCRIPT_MODULE = "<module>"


def plain(function):
    """The last part of a qualified name."""
    return function.rpartition(".")[2]


class Node:
    """Callers from the outermost to one, and who was innermost above them."""

    __slots__ = ("children", "leaves")

    def __init__(self):
        self.children, self.leaves = {}, set()

    def child(self, step):
        return self.children.setdefault(step, Node())


class Oracle:
    def __init__(self, data):
        self.script = os.path.basename(data["script"])
        self.functions = [(name, os.path.basename(file)) for file, name, _, _, _ in data["functions"]]
        self.texts = {function for function in self.functions if function[1] in ("<string>", "<script>")}
        self.making = {(function, first) for function, (_, _, first, _, makes) in zip(self.functions, data["functions"])
                       if makes}
        self.lines = {}
        for function, (_, _, _, lines, _) in zip(self.functions, data["functions"]):
            self.lines.setdefault(function, set()).update(lines)
        for file, functions in data["others"].items():
            for name, lines in functions.items():
                self.lines.setdefault((name, os.path.basename(file)), set()).update(lines)
        self.known_files = {file for _, file in self.lines}
        self.paths = {*data["others"], *(file for file, _, _, _, _ in data["functions"])}
        self.calls = set(self.seen_calls(data))
        self.whole = self.build(data, lambda function: True)
        self.own = self.build(data, self.is_own)

    @classmethod
    def load(cls, path):
        with open(path) as file:
            return cls(json.load(file))

    def is_own(self, function):
        """Not of the standard library: of the script, or made by it at run time. `python -c` has a text, too."""
        return function[1] == self.script or function[1].startswith("<made") or function in self.texts

    def seen_calls(self, data):
        """Every ((caller, line), callee)."""
        steps = [(self.functions[number], line) for _, number, line in data["nodes"]]
        for parent, number, _ in data["nodes"]:
            if parent >= 0:
                yield steps[parent], self.functions[number]
        for parent, number in data["stacks"]:
            if parent >= 0:
                yield steps[parent], self.functions[number]

    def build(self, data, wanted):
        """The tree of call paths, of the frames that are wanted."""
        root = Node()
        made = []
        for parent, number, line in data["nodes"]:
            above = made[parent] if parent >= 0 else root
            function = self.functions[number]
            made.append(above.child((function, line)) if wanted(function) else above)
        for parent, number in data["stacks"]:
            if wanted(self.functions[number]):
                (made[parent] if parent >= 0 else root).leaves.add(self.functions[number])
        return root

    def concerns(self, stack):
        """Whether the stack has a function of the script: the others are of the interpreter's start and end, and of
        the imports."""
        return any(self.is_own((plain(name), os.path.basename(file))) and name != SCRIPT_MODULE
                   for name, file, _ in stack)

    def problem(self, stack):
        if not stack:
            return "no frames"
        frames = [((plain(name), os.path.basename(file)), line) for name, file, line in stack]
        if frames[-1] in self.making and len(frames) > 1:
            frames.pop()
        reason = self.walk(self.whole, frames)
        if reason is None or all(self.is_own(function) for function, _ in frames):
            return reason
        strange = next((frame for frame in frames if not self.is_own(frame[0]) and not self.exists(*frame)), None)
        if strange:
            return f"no such line: {show(strange)}"
        for caller, (callee, _) in zip(frames, frames[1:]):
            if (self.is_own(caller[0]) or self.is_own(callee)) and (caller, callee) not in self.calls:
                return f"{show(caller)} does not call {callee[0]} ({callee[1]})"
        return self.walk(self.own, [frame for frame in frames if self.is_own(frame[0])])

    def problem_of_lines(self, stack):
        """Of a stack that does not concern it: what can be said of any. Other files may have names that files here have, too."""
        for name, file, line in stack:
            function = plain(name), os.path.basename(file)
            if file in self.paths and not self.exists(function, line):
                return f"{show((function, line))}: the function has no such line"
        return None

    def exists(self, function, line):
        """Whether a function of another file has the line; unknown files (frozen modules) have all."""
        if function[1] not in self.known_files or function[1].startswith("<"):
            return True
        return line in self.lines.get(function, ())

    def walk(self, root, frames):
        """None if the tree has the stack, else where it leaves the tree."""
        node = root
        for depth, frame in enumerate(frames[:-1]):
            node = node.children.get(frame)
            if node is None:
                return f"frame {depth} of {len(frames)}, {show(frame)}, cannot call from there" + context(frames, depth)
        function, line = frames[-1]
        # A caller of the standard library may be innermost among its own.
        if function not in node.leaves and frames[-1] not in node.children:
            return f"{show(frames[-1])} cannot be innermost" + context(frames, len(frames) - 1)
        if line not in self.lines[function]:
            return f"{show(frames[-1])}: the function has no such line"
        return None


def show(frame):
    (name, file), line = frame
    return f"{name} ({file}:{line})"


def context(frames, depth):
    near = frames[max(0, depth - 3):depth + 2]
    return "; near it: " + " > ".join(map(show, near))
