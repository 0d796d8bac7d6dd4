# SPDX-License-Identifier: GPL-2.0-only
"""Writes down which Python function calls which, and from where: in-process truth, by the interpreter that runs it.

    calls.py OUT.json SCRIPT [ARG...]

Runs SCRIPT as __main__ under sys.setprofile in all its threads, those of the standard library included. Less than oracle.py
knows, so it serves programs that do not do the same each time, and large ones.

The file, for harness/calls.py:

    script      path of SCRIPT
    functions   list of [file, name, first line, [every line], makes a generator or coroutine]: code objects, each once
    calls       list of [function, line of the call, called function]
    others      {file: {name: [every line]}}: all functions of these files, called or not
    making      list of [file, name, line]: where generators and coroutines of these files are made, used or not

For CPython 3.8 and later.
"""
import dis
import json
import os
import sys
import types

from oracle import Functions, makes_generator, other_files, run_script


def making_of(code, found):
    """Adds the lines of the instructions that make a generator or coroutine, up to RETURN_GENERATOR: of a generator expression of
    3.15 also the line of its iterable."""
    if makes_generator(code):
        for instruction in dis.get_instructions(code):
            found.add((code.co_filename, code.co_name, instruction.positions.lineno or code.co_firstlineno))
            if instruction.opname == "RETURN_GENERATOR":
                break
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            making_of(constant, found)


def making_in(files):
    found = set()
    for path in filter(os.path.exists, files):
        with open(path, "rb") as source:
            making_of(compile(source.read(), path, "exec", dont_inherit=True), found)
    return sorted(found)


class Recorder:
    """Notes calls as (id of the caller's code, f_lasti, id of the called code).

    Code objects are kept, so that no id is used twice. Single operations of dicts and sets are atomic under the GIL.
    """

    def __init__(self):
        self.calls, self.codes, self.lines = set(), {}, {}

    def __call__(self, frame, event, argument):
        if event != "call":
            return
        code, caller = frame.f_code, frame.f_back
        # A thread's first function, and the script itself.
        if caller is None or caller.f_code is run_script.__code__:
            self.codes[id(code)] = code
            return
        call = (id(caller.f_code), caller.f_lasti, id(code))
        if call in self.calls:
            return
        self.codes[id(code)] = code
        self.codes[id(caller.f_code)] = caller.f_code
        self.lines[call[:2]] = caller.f_lineno or caller.f_code.co_firstlineno
        self.calls.add(call)

    def told(self, script):
        # Threads of a server call on. What a call names was noted before it.
        noted, codes = list(self.calls), dict(self.codes)
        functions = Functions()
        numbers = {id_: functions.number(code) for id_, code in codes.items()}
        calls = {(numbers[caller], self.lines[caller, lasti], numbers[called]) for caller, lasti, called in noted}
        return {"script": script, "functions": functions.all, "calls": sorted(calls),
                "others": other_files(functions.all, None), "making": making_in({function[0] for function in functions.all})}


def main():
    out, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    recorder = Recorder()
    run_script(script, recorder)
    with open(out, "w") as file:
        json.dump(recorder.told(script), file)


if __name__ == "__main__":
    main()
