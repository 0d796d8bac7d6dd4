# SPDX-License-Identifier: GPL-2.0-only
"""Writes down every Python stack that a program has: in-process truth, by the interpreter that runs it.

    oracle.py OUT.json SCRIPT [ARG...]

Runs SCRIPT as __main__ under sys.setprofile in all its threads. At every call and return, into Python or C, the
whole stack is noted: each caller with the line where it calls (frame.f_lineno), the innermost frame without a line.
The innermost one may be at any line that its code object names, at its def line too. SCRIPT must do the
same things each time it runs.

The file, for harness/stacks.py:

    script      path of SCRIPT
    functions   list of [file, name, first line, [every line], makes a generator or coroutine]: code objects, each once
    nodes       list of [parent node or -1, function, line]: a call path from the outermost frame to this caller
    stacks      list of [node or -1, function]: a stack: a call path, and the innermost function
    others      {file: {name: [every line]}} of the files other than SCRIPT, all their functions

For CPython 2.7, and 3.6 and later.
"""
import dis
import inspect
import json
import os
import sys
import threading
import types


def code_lines(code):
    lines = {code.co_firstlineno}
    if hasattr(code, "co_lines"):
        lines.update(line for _, _, line in code.co_lines() if line is not None)
    else:
        lines.update(line for _, line in dis.findlinestarts(code))
    return sorted(lines)


def makes_generator(code):
    """Whether a call runs a frame that makes a generator or coroutine. Before 3.11 none runs."""
    return sys.version_info >= (3, 11) and bool(
        code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))


class Recorder:
    """Notes stacks in a tree: {step: (the same, set of innermost ids)}; a step is (id of a code object, f_lasti).

    Hashing a code object hashes all its contents, hence ids; the objects are kept, so that no id is used twice.
    Single operations of dicts and sets are atomic under the GIL: threads need no lock.
    """

    def __init__(self):
        self.tree = ({}, set())
        # {id of a frame that was called and has not returned: its callers in the tree}
        self.below = {}
        self.codes = {}
        self.lines = {}

    def step(self, frame):
        step = (id(frame.f_code), frame.f_lasti)
        if step not in self.lines:
            self.codes[step[0]] = frame.f_code
            self.lines[step] = frame.f_lineno or frame.f_code.co_firstlineno
        return step

    def node_below(self, frame):
        """What the frame's callers are in the tree. They stand still as long as it runs: so what it is in is known."""
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename == __file__:
            return self.tree
        node = self.below.get(id(caller)) or self.node_below(caller)
        return node[0].setdefault(self.step(caller), ({}, set()))

    def __call__(self, frame, event, argument):
        innermost = self.step(frame)[0]
        node = self.below.get(id(frame)) if event != "call" else None
        if node is None:
            node = self.node_below(frame)
        if event == "call":
            self.below[id(frame)] = node
        elif event == "return":
            # Another frame may come to lie at this address, and a generator go on under another caller.
            self.below.pop(id(frame), None)
        if self.codes[innermost].co_filename != __file__:
            node[1].add(innermost)


class Functions:
    """Code objects by number, each once. `all` is the list for the file."""

    def __init__(self):
        self.all, self.numbers, self.known = [], {}, {}

    def number(self, code):
        if id(code) not in self.known:
            self.known[id(code)] = self.add(code)
        return self.known[id(code)]

    def add(self, code):
        # Functions that are made anew each time they are used have equal codes; the modules of several strings have not.
        key = (code.co_filename, code.co_name, code.co_firstlineno)
        if key not in self.numbers:
            self.numbers[key] = len(self.all)
            self.all.append(list(key) + [[], makes_generator(code)])
        lines = self.all[self.numbers[key]][3]
        lines[:] = sorted(set(lines).union(code_lines(code)))
        return self.numbers[key]


class Tables:
    """What the recorder noted as lists without duplicates: several instructions have one line."""

    def __init__(self, recorder):
        self.functions, self.nodes = Functions(), []
        self.node_numbers = {}
        stacks = set()
        todo = [(-1, recorder.tree)]
        while todo:
            number, (children, leaves) = todo.pop()
            stacks.update((number, self.functions.number(recorder.codes[leaf])) for leaf in leaves)
            for step, child in children.items():
                function = self.functions.number(recorder.codes[step[0]])
                todo.append((self.node(number, function, recorder.lines[step]), child))
        self.stacks = sorted(stacks)

    def node(self, *node):
        if node not in self.node_numbers:
            self.node_numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.node_numbers[node]


def functions_of(code, found):
    """Adds the code object and those inside it to {name: set of lines}."""
    found.setdefault(code.co_name, set()).update(code_lines(code))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            functions_of(constant, found)
    return found


def other_files(functions, script):
    others = {}
    for path in {function[0] for function in functions} - {script}:
        if os.path.exists(path):
            with open(path, "rb") as source:
                found = functions_of(compile(source.read(), path, "exec", dont_inherit=True), {})
            others[path] = {name: sorted(lines) for name, lines in found.items()}
    return others


def run_script(script, recorder):
    """Runs it as __main__ with sys.argv as it is, under the recorder in all its threads."""
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    with open(script, "rb") as source:
        code = compile(source.read(), script, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        exec(code, module.__dict__)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def main():
    out, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    recorder = Recorder()
    run_script(script, recorder)
    tables = Tables(recorder)
    functions = tables.functions.all
    with open(out, "w") as file:
        json.dump({"script": script, "functions": functions, "nodes": tables.nodes, "stacks": tables.stacks,
                   "others": other_files(functions, script)}, file)


if __name__ == "__main__":
    main()
