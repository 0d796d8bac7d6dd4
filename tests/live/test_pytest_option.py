# SPDX-License-Identifier: GPL-2.0-only
"""`pytest --kaa`: the tests of a project are recorded, and the slow ones' lines listed."""
import os
import re

import pytest

from harness.process import TOP, run

TESTS = """
import time

def slow(seconds):
    last = time.process_time()
    while seconds > 0:
        now = time.process_time()
        # A machine that stands still takes no samples, but the clock may go on.
        seconds -= min(now - last, 0.001)
        last = now

def test_quick():
    assert True

def test_works():
    slow(0.5)

def test_fails():
    slow(0.3)
    assert False

def test_waits():
    time.sleep(0.4)
"""
BEGIN = 1 + TESTS.splitlines().index("    while seconds > 0:")
LOOP = tuple(f"test_project.py:{line} " for line in range(BEGIN, BEGIN + 5))


@pytest.fixture
def project(build_dir, tmp_path):
    """project(words): `pytest --kaa` on TESTS; its Result."""
    (tmp_path / "test_project.py").write_text(TESTS)
    env = {**os.environ, "PYTHONPATH": str(TOP / "python"), "PATH": f"{build_dir}:{os.environ['PATH']}",
           "PYTHONDONTWRITEBYTECODE": "1"}
    # The recorder's own options, such as those of the whole run of the tests, are not this one's.
    env.pop("PYTEST_ADDOPTS", None)

    def run_it(*words, status=1):
        return run(["/usr/bin/python3", "-m", "pytest", "-q", "-p", "kaa._pytest", "-p", "no:cacheprovider", "--kaa", *words],
                   env=env, cwd=tmp_path, status=status)
    return run_it


def listed(text):
    """{test: (the words before its name, its first line)}"""
    part = text.partition("where the slow tests spent their time")[2]
    return {name: (words, row) for words, name, row in
            re.findall(r"^([\d.]+ s.*?)  test_project\.py::(\w+)\n +[\d.]+%  (.*)$", part, re.M)}


def test_cpu_time(root, bpf, kaa, project, tmp_path):
    # The file of the tests stands where an option's argument would.
    result = project("test_project.py")
    assert (tmp_path / "test_project.py").read_text() == TESTS
    found = listed(result.stdout)
    assert found["test_works"][1].startswith(LOOP) and " CPU" in found["test_works"][0]
    assert found["test_fails"][1].startswith(LOOP)
    # On a busy machine even that one may be slow.
    assert "test_quick" not in found or float(found["test_quick"][0].split()[0]) >= 0.1
    # It waits, and has next to no CPU time.
    assert re.search(r"^\d+\.\d+ s.*  test_project\.py::test_waits$", result.stdout, re.M), result.stdout
    assert "3 passed" in result.stdout and "1 failed" in result.stdout
    assert "py::slow:" in kaa("script", "-i", tmp_path / "kaa.data").stdout


def test_what_goes_wrong(root, bpf, project):
    result = project("--kaa-file=no/such/folder/x.data", "test_project.py", status=4)
    assert "--kaa: 'no/such/folder/x.data' cannot be written: there is no folder 'no/such/folder'" in result.stderr
    assert "where the slow tests" not in result.stdout


def test_tests_that_are_quick(root, bpf, project):
    """They have lines as one: else there would be nothing. A busy machine may make one slow."""
    text = project("test_project.py", "-k", "quick", status=0).stdout.partition("where the slow tests spent their time")[2]
    assert re.search(r"^\d+\.\d\d s.*  (all tests together; none of them took 0\.1 s|test_project\.py::test_quick)$", text, re.M), text


def test_what_the_report_doubts_is_said():
    """As of a machine that was busy: the sentences, which the report breaks where the terminal ends, and nothing else."""
    text = ("x.py   Python 3.13.0   2.00 s CPU in 9.00 s   100 samples, 12 % not taken\nSpent in: interpreter 98 %, import 2.0 %\n"
            "The machine was busy, and 12 % of the samples came too late: shares may be off by\n  12 points.\n\n"
            "   own   total  function  defined in\n 98.0%   98.0%  hot       x.py:1\n\n"
            "The recorder had no processor for 34 % of the time: one wait or call is exact to about 12 ms, a sum of many less so.\n")
    said = run(["/usr/bin/python3", "-c", "import sys\nfrom kaa._pytest import doubts_of\nprint(*doubts_of(sys.stdin.read()), sep='\\n')"],
               env={**os.environ, "PYTHONPATH": str(TOP / "python"), "PYTHONDONTWRITEBYTECODE": "1"}, data=text.encode()).stdout
    assert said.splitlines() == [
        "The machine was busy, and 12 % of the samples came too late: shares may be off by 12 points.",
        "The recorder had no processor for 34 % of the time: one wait or call is exact to about 12 ms, a sum of many less so."]
