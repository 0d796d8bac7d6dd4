# SPDX-License-Identifier: GPL-2.0-only
"""`kaa dump` where there is nothing to dump: it says what is in the way."""
import os
import subprocess
import sys
import threading

import pytest

from harness.nobody import AS_NOBODY, WITHOUT_RIGHTS
from harness.process import started

NOT_DUMPABLE = "import ctypes; ctypes.CDLL(None).prctl(4, 0); print(flush=True); input()"


def test_no_process(kaa):
    with started(["true"]) as process:
        process.wait()
        assert f"there is no process {process.pid}" in kaa("dump", process.pid, status=1).stderr


@pytest.mark.parametrize("words", [[], ["1", "2"], ["-1"]])
def test_words_that_name_no_process(kaa, words):
    kaa("dump", *words, status=129)


@pytest.mark.parametrize("what, said", [(None, "is neither the number of a process nor a file"), (b"text", "is no core file; name a process by its number"),
                                        ("program", "is not a core file")])
def test_files_that_are_no_core(kaa, tmp_path, what, said):
    file = tmp_path / "file"
    if what == "program":
        file = kaa.command[0]
    elif what:
        file.write_bytes(what)
    assert said in kaa("dump", file, status=1).stderr


def test_a_program_that_is_no_python(kaa):
    with started(["sleep", "1000"]) as process:
        said = kaa("dump", process.pid, status=1).stderr
    assert f"process {process.pid} runs no CPython; its command line is 'sleep 1000'" in said


def test_a_thread_is_no_process(kaa):
    seen, stay = [], threading.Event()
    thread = threading.Thread(target=lambda: (seen.append(threading.get_native_id()), stay.wait()))
    thread.start()
    try:
        while not seen:
            pass
        said = kaa("dump", seen[0], status=1).stderr
    finally:
        stay.set()
        thread.join()
    assert f"{seen[0]} is a thread of process {os.getpid()}" in said


def test_a_process_that_forbids_it(kaa, root, tmp_path):
    """One's own process that is not dumpable."""
    python = [*AS_NOBODY, "/usr/bin/python3"]
    with started([*python, "-c", NOT_DUMPABLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        asker = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
        with open(kaa.command[0], "rb") as program:
            command = [*WITHOUT_RIGHTS, sys.executable, "-c", asker,
                       f"/proc/self/fd/{program.fileno()}", "dump", str(process.pid)]
            result = subprocess.run(command, pass_fds=[program.fileno()], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "PR_SET_DUMPABLE" in result.stderr
