# SPDX-License-Identifier: GPL-2.0-only
"""Writes the line tables of the standard library's code objects, and what the interpreter says each instruction's line
is, to standard output: the input of `python_probe lines` (tests/live/probe/probe_lines.c).

    dump_lines.py STEP       every STEP-th source file, 1 for all of them
"""
import array
import dis
import os
import struct
import sys
import sysconfig
import warnings

VERSION = sys.version_info[:2]
LNOTAB, PAIRS, LOCATIONS, UNSIGNED = 1, 2, 3, 4
FORMAT = UNSIGNED if VERSION < (3,) else LNOTAB if VERSION < (3, 10) else PAIRS if VERSION < (3, 11) else LOCATIONS

# Instructions of 2.7 have one byte or three.
CODE_UNIT = 1 if FORMAT == UNSIGNED else 2


def lines_before_310(code):
    # Not every build has it, but all that old do.
    import ctypes
    addr2line = ctypes.pythonapi.PyCode_Addr2Line
    argument = ctypes.py_object(code)
    return [addr2line(argument, offset) for offset in range(0, len(code.co_code), CODE_UNIT)]


def lines_before_38(code):
    starts = dict(dis.findlinestarts(code))
    line, lines = code.co_firstlineno, []
    for offset in range(0, len(code.co_code), CODE_UNIT):
        line = starts.get(offset, line)
        lines.append(line)
    return lines


def lines_of(code):
    """The line of each code unit, 0 for none."""
    if VERSION < (3, 8):
        return lines_before_38(code)
    if FORMAT == LNOTAB:
        return lines_before_310(code)
    lines = [0] * (len(code.co_code) // CODE_UNIT)
    for start, end, line in code.co_lines():
        for unit in range(start // CODE_UNIT, end // CODE_UNIT):
            lines[unit] = line or 0
    return lines


def dump(code, out):
    table = code.co_lnotab if FORMAT in (LNOTAB, UNSIGNED) else code.co_linetable
    lines = array.array("I", lines_of(code))
    out.write(struct.pack("<II", code.co_firstlineno, len(table)) + table)
    out.write(struct.pack("<I", len(lines)) + (lines.tostring() if FORMAT == UNSIGNED else lines.tobytes()))
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            dump(constant, out)


def sources():
    for folder, folders, files in os.walk(sysconfig.get_paths()["stdlib"]):
        folders.sort()
        if "site-packages" in folders:
            folders.remove("site-packages")
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def main():
    warnings.simplefilter("ignore")
    out = getattr(sys.stdout, "buffer", sys.stdout)
    out.write(struct.pack("<I", FORMAT))
    for path in list(sources())[::int(sys.argv[1])]:
        with open(path, "rb") as file:
            source = file.read()
        try:
            code = compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, TypeError, RuntimeError):
            # The test suite has files that are wrong on purpose.
            continue
        dump(code, out)


main()
