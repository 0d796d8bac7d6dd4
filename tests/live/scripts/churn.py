# SPDX-License-Identifier: GPL-2.0-only
"""Functions of one shape, each with a name, a file or lines of its own, where an earlier one was: each runs for some
milliseconds and is gone.

    churn.py MODE SECONDS LOG          seconds of CPU time

    exec            made from a string, with the name of a file that could be one
    replace         the code object of another one, with another name
    reload          of a module that is written anew and read again
    programs        each in a program of its own, by exec, at the same addresses: 8 for a second, each at once and
                    again when the recorder has noticed it
    interpreters    each in an interpreter of its own (3.12 on; before that as `exec`)

At least LEAST of them run, however long they take to make. Where site/noticed.py is to be found, the first one waits until the
recorder has noticed the program. A line of LOG is: time of CLOCK_MONOTONIC when the function began and when it ended, its name, its file, the line of its
loop.
"""
import ctypes
import importlib
import os
import sys
import time
import types

try:
    from noticed import until_noticed
except ImportError:
    until_noticed = None

WORK, LEAST = 0.004, 40
SOURCE = """def %s(end, now):
%s  while now() < end:
    pass
"""
INSIDE = """
import time
with open(%r, "a") as log:
    made = {}
    exec(compile(%r, %r, "exec"), made)
    began = time.monotonic()
    made[%r](time.process_time() + %r, time.process_time)
    log.write("%%.6f %%.6f %s %s %d\\n" %% (began, time.monotonic()))
"""


def source_of(number):
    """(name, filename, source, line of its loop)"""
    before = number % 3
    return ("work_%06d" % number, "/tmp/churn/file_%06d.py" % number,
            SOURCE % ("work_%06d" % number, "\n" * before), 2 + before)


def run(log, function, name, filename, line, work=WORK):
    began = time.monotonic()
    function(time.process_time() + work, time.process_time)
    log.write("%.6f %.6f %s %s %d\n" % (began, time.monotonic(), name, filename, line))


def by_exec(log, number):
    name, filename, source, line = source_of(number)
    names = {}
    exec(compile(source, filename, "exec"), names)
    run(log, names[name], name, filename, line)


def pattern(end, now):
    while now() < end:
        pass


def by_replace(log, number):
    name = "work_%06d" % number
    code = pattern.__code__.replace(co_name=name, **({"co_qualname": name} if sys.version_info >= (3, 11) else {}))
    run(log, types.FunctionType(code, {}), name, code.co_filename, code.co_firstlineno + 1)


def by_reload(log, number):
    name, _, source, line = source_of(number)
    folder = os.path.dirname(log.name)
    path = os.path.join(folder, "churned.py")
    sys.dont_write_bytecode = True
    with open(path, "w") as file:
        file.write(source)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if number == 1:
        module = importlib.import_module("churned")
    else:
        module = importlib.reload(sys.modules["churned"])
        delattr(module, "work_%06d" % (number - 1))
    run(log, getattr(module, name), name, path, line)


def by_interpreter(log, number):
    try:
        interpreters = importlib.import_module("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
        begin = interpreters.exec if sys.version_info >= (3, 13) else interpreters.run_string
    except (ImportError, AttributeError):
        return by_exec(log, number)
    name, filename, source, line = source_of(number)
    interpreter = interpreters.create()
    begin(interpreter, INSIDE % (log.name, source, filename, name, WORK, name, filename, line))
    interpreters.destroy(interpreter)


def notice():
    if until_noticed:
        until_noticed(os.environ["KAA_TEST_RECORDING"])


def by_program(log, number, count):
    name, filename, source, line = source_of(number)
    names = {}
    exec(compile(source, filename, "exec"), names)
    run(log, names[name], name, filename, line)
    notice()
    run(log, names[name], name, filename, line, 8 * WORK)
    if number == 1:
        # From the next exec on addresses are not random.
        ctypes.CDLL(None).personality(0x0040000)
    if number < count:
        log.close()
        os.execv(sys.executable, [sys.executable, "-S", __file__, "programs", "%d:%d" % (count, number), log.name])


def main():
    mode, seconds, path = sys.argv[1:]
    number = 0
    if ":" in seconds:
        count, number = map(int, seconds.split(":"))
        by_program(open(path, "a", 1), number + 1, count)
        return
    ways = {"exec": by_exec, "replace": by_replace, "reload": by_reload, "interpreters": by_interpreter}
    with open(path, "a", 1) as log:
        if mode == "programs":
            by_program(log, 1, int(8 * float(seconds)))
            return
        notice()
        end = time.process_time() + float(seconds)
        while time.process_time() < end or number < LEAST:
            number += 1
            ways[mode](log, number)


main()
