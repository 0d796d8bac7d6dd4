# SPDX-License-Identifier: GPL-2.0-only
"""`pytest --kaa`: records all tests, and lists the lines where the slow ones spent their time.

One recording for all, with times of CLOCK_MONOTONIC. Each test notes when it
began and ended, setup and teardown included; `kaa report --time` of that span has its lines. Tests that other processes run
(pytest-xdist) are recorded, too, but not listed: their times are not known here.
"""
from __future__ import annotations

import re
import time

import pytest

# Tests that are listed, from so many seconds on, and lines of each.
TESTS, SECONDS, LINES = 5, 0.1, 3
TITLE = "   own   total  line"


def pytest_addoption(parser):
    group = parser.getgroup("kaa")
    # With the file as its argument it would take a test's file that stands behind it for that, and write over it.
    group.addoption("--kaa", action="store_true",
                    help="record the tests with kaa, and list where the slow ones spent their time")
    group.addoption("--kaa-file", metavar="FILE", default="kaa.data",
                    help="the recording of --kaa, for 'kaa report -i FILE' (default: kaa.data)")


def pytest_configure(config):
    # A worker of pytest-xdist is recorded as a child of the process that has the option.
    if config.getoption("kaa") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recording(config), "kaa-recording")


def now():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def cpu_time(text):
    """Of the report's first line: "230 ms CPU"; nothing if no sample is in the span."""
    found = re.search(r"\b[\d.]+ \w+ CPU\b", text.partition("\n")[0])
    return ", " + found[0] if found else ""


def lines_of(text):
    """The first rows of the report's table of lines, with own time."""
    _, _, table = text.partition(TITLE + "\n")
    rows = (re.match(r"( *[\d.]+%)  +[\d.]+%(  .*)", row) for row in table.splitlines()[:LINES])
    return [row[1] + row[2] for row in rows if row]


def doubts_of(text):
    """What the report says of how exact it is, a sentence each: a look that came late may count for the test after."""
    sentences = re.findall(r"^\S.*(?:\n  \S.*)*", text, re.M)
    return [" ".join(sentence.split()) for sentence in sentences
            if re.search(r"shares may be off by|The recorder had no processor", sentence)]


class Recording:
    def __init__(self, config):
        self.file = config.getoption("kaa_file")
        # (seconds, name, begin, end)
        self.tests = []
        self.has_begun = False
        self.problem = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtestloop(self, session):
        from kaa._profile import ProfileError, profile
        recording = profile(self.file, options=["-k", "monotonic"])
        try:
            recording.__enter__()
        except (ProfileError, OSError) as error:
            raise pytest.UsageError("--kaa: %s" % error)
        self.has_begun = True
        yield
        try:
            recording.__exit__(None, None, None)
        except ProfileError as error:
            self.problem = str(error)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        begin = now()
        yield
        end = now()
        self.tests.append((end - begin, item.nodeid, begin, end))

    def together(self):
        """All tests as one, where none is slow."""
        if not self.tests:
            return []
        begin, end = min(test[2] for test in self.tests), max(test[3] for test in self.tests)
        return [(end - begin, "all tests together; none of them took %g s" % SECONDS, begin, end)]

    def report_of(self, begin, end):
        return self.ask_report("--time", "%.6f,%.6f" % (begin, end))

    def ask_report(self, *words):
        from kaa import _program
        return _program.ask("report", "--stdio", "-i", self.file, *words).stdout

    def pytest_terminal_summary(self, terminalreporter):
        write = terminalreporter.write_line
        if not self.has_begun:
            return
        terminalreporter.section("kaa: where the slow tests spent their time")
        if self.problem:
            write("the recording failed: %s" % self.problem)
            return
        slow = [test for test in sorted(self.tests, reverse=True)[:TESTS] if test[0] >= SECONDS]
        for seconds, name, begin, end in slow or self.together():
            text = self.report_of(begin, end)
            write("%.2f s%s  %s" % (seconds, cpu_time(text), name))
            for row in lines_of(text):
                write("    " + row)
        for sentence in doubts_of(self.ask_report()):
            write(sentence)
        write("'kaa report -i %s' shows all tests together" % self.file)
