# SPDX-License-Identifier: GPL-2.0-only
"""Are the callers and lines of a Python stack those of the program? By the list that scripts/calls.py made.

    calls = Calls.load(path)
    calls.check([("<module>", "/x/shop.py", 31), ..., ("alike", "/x/shop.py", 19)])

A stack is a list of (function, file, line), outermost first. Functions are compared by plain name and file, since before
3.11 there are no qualified names. What is not asked, since two runs differ in it:

- what runs before the script does and after its end: stacks that begin with neither the script nor a thread;
- imports: frames from the first frozen one on, as a module is imported once, by whoever is first;
- what the collector calls, from any line: `FROM_ANYWHERE`;
- what `threading` calls before a thread has its profile function: `UNSEEN`;
- the frame that makes a generator or coroutine, which no profile function sees, at one of the lines where it does so.
"""
import json
import os

from harness.stacks import plain, show

# Of the standard library and of packages: called where a reference goes, or at any moment.
FROM_ANYWHERE = {"__del__", "_remove", "remove", "_cleanup", "_on_exit", "selfremove"}
UNSEEN = {"_bootstrap", "_bootstrap_inner"}
# Of what _bootstrap_inner() calls: what comes before sys.setprofile().
BEFORE_PROFILE = {"_set_ident", "_set_tstate_lock", "_set_native_id", "_set_os_name", "set"}


class Calls:
    def __init__(self, told):
        self.script = os.path.realpath(told["script"])
        functions = [(name, os.path.realpath(file)) for file, name, _, _, _ in told["functions"]]
        self.lines, self.calls = {}, {}
        self.making = {((name, os.path.realpath(file)), line) for file, name, line in told["making"]}
        for function, (_, _, first, lines, makes) in zip(functions, told["functions"]):
            self.lines.setdefault(function, set()).update(lines)
            if makes:
                self.making.add((function, first))
        for file, others in told["others"].items():
            for name, lines in others.items():
                self.lines.setdefault((name, os.path.realpath(file)), set()).update(lines)
        for caller, line, called in told["calls"]:
            self.calls.setdefault((functions[caller], line), set()).add(functions[called])

    @classmethod
    def load(cls, path):
        with open(path) as file:
            return cls(json.load(file))

    def known(self, stack):
        """Its frames before any import, as ((function, file), line)."""
        frames = []
        for name, file, line in stack:
            if file.startswith("<frozen"):
                break
            function = (plain(name), os.path.realpath(file))
            if not frames and function != ("<module>", self.script) and not is_start_of_thread(function):
                break
            frames.append((function, line))
        if frames and frames[-1] in self.making and len(frames) == len(stack):
            frames.pop()
        return frames

    def check(self, stack):
        """How many callers and lines were asked, and a text for each that is wrong."""
        frames, wrong, asked = self.known(stack), [], 0
        for function, line in frames:
            if function in self.lines:
                asked += 1
                if line not in self.lines[function]:
                    wrong.append(f"{show((function, line))}: the function has no such line")
        for (caller, line), (called, _) in zip(frames, frames[1:]):
            if is_start_of_thread(caller) and called[0] in BEFORE_PROFILE:
                break
            if called[0] in FROM_ANYWHERE or caller not in self.lines or is_start_of_thread(caller):
                continue
            asked += 1
            if called not in self.calls.get((caller, line), ()):
                wrong.append(f"{show((caller, line))} does not call {called[0]} ({called[1]})")
        return asked, wrong


def is_start_of_thread(function):
    return function[0] in UNSEEN and os.path.basename(function[1]) == "threading.py"
