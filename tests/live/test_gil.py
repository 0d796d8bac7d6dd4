# SPDX-License-Identifier: GPL-2.0-only
"""Who holds the GIL, read from a process that runs (src/python/gil_held.h), and what threads and interpreters know themselves."""
import pathlib
import subprocess

import pytest

from harness.probe import path
from harness.process import Program, started
from harness.waiting import calls_of, until

# Two threads that sleep, and one that works, or two, of which one has an interpreter and a GIL of its own.
PROGRAM = """
import sys, threading, time

SPIN = "import threading\\nwhile True:\\n    pass"
started = threading.Barrier(int(sys.argv[1]) + 1)

def spin():
    tell()
    exec(SPIN)

def own():
    try:
        import _interpreters as interpreters
        number = interpreters.create("isolated")
    except ImportError:
        import _xxsubinterpreters as interpreters
        number = interpreters.create(isolated=True)
    tell()
    interpreters.run_string(number, SPIN)

def nap():
    tell()
    time.sleep(1e6)

idents = {}

def tell():
    idents[threading.current_thread().name] = threading.get_ident()
    started.wait()

for function in (spin, nap, own)[:int(sys.argv[1])]:
    threading.Thread(target=function, name=function.__name__, daemon=True).start()
started.wait()
idents["main"] = threading.get_ident()
print(*["%s %d" % row for row in idents.items()], sep="\\n")
print(flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def probe(request):
    return Program(path(request.config))


def thread_seconds(pid):
    """CPU time of each thread."""
    return {file.parent.name: int(file.read_text().split()[0]) / 1e9 for file in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")}


def held(python, probe, threads):
    """{name: looks of a thousand that found that thread with a GIL}"""
    with started([*python.command, "-c", PROGRAM, threads], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        names = {}
        while (line := process.stdout.readline().split()):
            names[int(line[1])] = line[0].decode()
        until(lambda: {"read", "sleep"} <= set(calls_of(process.pid)), "that one thread reads and one sleeps")
        # The others, of which one imports something first, are in their loops then.
        before = thread_seconds(process.pid)
        until(lambda: sum(ran > before[tid] + 0.3 for tid, ran in thread_seconds(process.pid).items()) == threads - 1, "that the others work")
        looked = dict(map(int, line.split()) for line in
                      probe("gil", process.pid, data=" ".join(map(str, names)).encode()).stdout.splitlines())
        return {names[number]: count for number, count in looked.items()}


def test_the_one_that_works_holds_it(root, python, probe):
    found = held(python, probe, 2)
    # It gives the GIL up when another thread asks for it, which none does.
    assert found["spin"] > 950 and found["nap"] == found["main"] == 0, found


def test_each_interpreter_may_have_its_own(root, python, probe):
    if python.version < (3, 12):
        pytest.skip("interpreters share the GIL before 3.12")
    found = held(python, probe, 3)
    assert found["spin"] > 950 and found["own"] > 950 and found["nap"] == found["main"] == 0, found
