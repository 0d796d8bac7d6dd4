# SPDX-License-Identifier: GPL-2.0-only
"""`kaa activate`: names for the functions of a process that runs already."""
import pathlib
import select
import subprocess

import pytest

from harness import parameters, pythons
from harness.nobody import AS_NOBODY, NOBODY
from harness.process import HANG
from harness.waiting import calls_of, until

USAGE, FAILED = 129, 1

# Says its pid, then a line whenever it is sent one; runs Python code in between.
PROGRAM = """
import os, select, sys
def called_all_the_time():
    return sum(range(100))
print(os.getpid(), flush=True)
while True:
    called_all_the_time()
    if select.select([0], [], [], 0.005)[0]:
        word = sys.stdin.readline().strip()
        if not word:
            break
        if word == "wait":
            print("waiting", flush=True)
            sys.stdin.readline()
        print(sys.is_stack_trampoline_active() if hasattr(sys, "is_stack_trampoline_active") else None, flush=True)
"""


def pytest_generate_tests(metafunc):
    if "interpreter" in metafunc.fixturenames:
        found = [python for python in pythons.chosen(pythons.find(), metafunc.config.getoption("--python"))
                 if python.version >= (3, 14)]
        metafunc.parametrize("interpreter", parameters.of_pythons(found))


class Program:
    def __init__(self, command):
        self.process = subprocess.Popen([*map(str, command), "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = int(self.read())
        self.map = pathlib.Path(f"/tmp/perf-{self.pid}.map")
        # Of another process that had the number before.
        self.map.unlink(missing_ok=True)

    def read(self):
        assert select.select([self.process.stdout], [], [], HANG)[0], "the program says nothing"
        return self.process.stdout.readline().strip()

    def ask(self, word="state"):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()
        return self.read()

    def until_it_names_the_function(self):
        """Its next call may come after the answer."""
        until(lambda: self.map.exists() and " py::called_all_the_time:" in self.map.read_text(), "the function's name")

    def end(self):
        """It ends by itself, and well."""
        with self.process:
            self.process.stdin.close()
            status = self.process.wait(HANG)
        self.map.unlink(missing_ok=True)
        return status


@pytest.fixture
def started():
    """started(command): a Program; at the end all must have ended well."""
    made = []

    def start(command):
        made.append(Program(command))
        return made[-1]
    yield start
    assert [each.end() for each in made] == [0] * len(made)


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = set(pathlib.Path("/tmp").glob("kaa-" + "[0-9a-f]" * 16))
    yield
    # Another test beside this one may have some for a moment.
    until(lambda: set(pathlib.Path("/tmp").glob("kaa-" + "[0-9a-f]" * 16)) <= before, "that nothing is left in /tmp")


def fails(kaa, *words, status=FAILED):
    result = kaa("activate", *words, status=status)
    assert not result.stdout and result.stderr.count("\n") == 1 and result.stderr.startswith("kaa activate: "), result
    return result.stderr


def test_running_process(kaa, interpreter, started):
    program = started(interpreter.command)
    assert program.ask() == "False" and not program.map.exists()
    assert not kaa("activate", "-p", program.pid).stderr
    assert program.ask() == "True"
    program.until_it_names_the_function()
    kaa("activate", "-p", program.pid, "--off")
    assert program.ask() == "False"


def test_image_of_the_agents(kaa, interpreter, started):
    """CPython has no such backend: the agent is loaded."""
    program = started([*interpreter.prefix, "env", "KAA_TRAMPOLINE_KEEP=0", interpreter.path])
    kaa("activate", "-p", program.pid, "--perf-elf")
    assert program.ask() == "True"
    assert "libkaa_agent.so" in pathlib.Path(f"/proc/{program.pid}/maps").read_text()


def test_process_of_another_user(kaa, root, interpreter, started):
    program = started([*interpreter.prefix, *AS_NOBODY, interpreter.path])
    kaa("activate", "-p", program.pid)
    assert program.ask() == "True"
    program.until_it_names_the_function()
    assert program.map.stat().st_uid == NOBODY


def test_what_the_process_says(kaa, interpreter, started):
    """Its exception is the error."""
    program = started(interpreter.command)
    program.map.mkdir()
    try:
        result = kaa("activate", "-p", program.pid, status=None)
        assert result.status in (0, FAILED)
        active = program.ask()
        assert (active == "True") == (result.status == 0)
        assert result.status == 0 or f"process {program.pid}: " in result.stderr
    finally:
        program.map.rmdir()


def test_process_that_runs_no_python_code(kaa, interpreter, started):
    """In a system call for longer than one waits: nothing happens, then and later."""
    program = started(interpreter.command)
    assert program.ask("wait") == "waiting"
    # What calls it is Python code.
    until(lambda: "read" in calls_of(program.pid), "that it is in the call")
    assert "ran no Python code in its main thread for 1 s" in fails(kaa, "-p", program.pid, "--timeout", "1")
    assert program.ask("go on") == "False"
    assert program.ask() == "False" and not program.map.exists()


@pytest.mark.parametrize("way", ["environment", "option"])
def test_process_that_refuses(kaa, interpreter, started, way):
    words = {"environment": ["env", "PYTHON_DISABLE_REMOTE_DEBUG=1", interpreter.path],
             "option": [interpreter.path, "-X", "disable-remote-debug"]}[way]
    program = started([*interpreter.prefix, *words])
    assert "refuses remote debugging: it was turned off" in fails(kaa, "-p", program.pid)
    assert program.ask() == "False"


def test_older_version(kaa, started):
    for python in pythons.find_for_agent():
        if python.prefix or python.version >= (3, 14):
            continue
        program = started(python.command)
        said = fails(kaa, "-p", program.pid)
        assert "only 3.14 and later can be asked while they run" in said
        assert program.ask() in ("False", "None")


def test_no_python(kaa):
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            assert "is no CPython" in fails(kaa, "-p", process.pid)
        finally:
            process.kill()


def test_command_lines(kaa):
    fails(kaa, "-p", 2 ** 31 - 1)
    for words in ([], ["-p", "0"], ["-p", "1", "word"], ["-p", str(2 ** 40)]):
        assert kaa("activate", *words, status=USAGE).stderr


def test_without_the_right(kaa, root, interpreter, started):
    """A user's process is no other user's to change."""
    program = started(interpreter.command)
    result = subprocess.run([*AS_NOBODY, *kaa.command, "activate", "-p", str(program.pid)], stderr=subprocess.PIPE, text=True,
                            timeout=HANG)
    if "Permission denied" in result.stderr and "setpriv" in result.stderr:
        pytest.skip(f"{kaa.command[0]} cannot be run by others")
    assert result.returncode == FAILED
    assert f"process {program.pid}" in result.stderr
    assert program.ask() == "False"
