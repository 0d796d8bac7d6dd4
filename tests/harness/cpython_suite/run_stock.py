# SPDX-License-Identifier: GPL-2.0-only
"""Runs test files of CPython, as they are, by an interpreter that may be older than they are.

    python run_stock.py WRAPPER FILE.py...

The tests take WRAPPER for the interpreter. Prints one JSON object per case on the standard output: {"test", "outcome":
"passed", "failed" or "skipped", "reason"}. What the tests and their programs print goes to the standard error.

Test files of CPython use what their own version has. What older ones lack of it is added here, with the same meaning:
names in test.support, an assertion of unittest, and the build variable that says that trampolines are supported.

samply 0.13.1 panics now and then on a busy machine (exit status 101): a case in which it did is run once more.
"""
import importlib
import json
import os
import sys
import sysconfig
import traceback
import types
import unittest


def keep_stdout():
    """A file for the results; from now on file descriptor 1 is the standard error."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return results


def complete_sysconfig():
    values = sysconfig.get_config_vars()
    values["PY_HAVE_PERF_TRAMPOLINE"] = 1


def check_sanitizer(**_):
    return "-fsanitize=" in (sysconfig.get_config_var("CFLAGS") or "")


def complete_support():
    from test import support

    support.check_sanitizer = check_sanitizer
    if not hasattr(support, "has_subprocess_support"):
        support.has_subprocess_support = True
    try:
        importlib.import_module("test.support.os_helper")
    except ImportError:
        # Before 3.10 its functions were in test.support itself.
        helper = types.ModuleType("test.support.os_helper")
        helper.temp_dir = support.temp_dir
        sys.modules[helper.__name__] = support.os_helper = helper


def complete_unittest():
    def assertNotStartsWith(self, s, prefix, msg=None):
        if s.startswith(prefix):
            self.fail(self._formatMessage(msg, "%r starts with %r" % (s, prefix)))

    if not hasattr(unittest.TestCase, "assertNotStartsWith"):
        unittest.TestCase.assertNotStartsWith = assertNotStartsWith


PANIC = "Samply failed with return code 101"


class Results(unittest.TestResult):
    def __init__(self, file, module):
        super().__init__()
        self.file, self.module, self.again = file, module, []

    def say(self, test, outcome, reason=""):
        name = getattr(test, "id", lambda: str(test))()
        name = name if name.startswith(self.module) else "%s: %s" % (self.module, name)
        json.dump({"test": name, "outcome": outcome, "reason": reason}, self.file)
        self.file.write("\n")
        self.file.flush()

    def addSuccess(self, test):
        self.say(test, "passed")

    def addFailure(self, test, err):
        text = "".join(traceback.format_exception(*err))
        if PANIC in text and test.id() not in {each.id() for each in self.again}:
            self.again.append(type(test)(test.id().rpartition(".")[2]))
        else:
            self.say(test, "failed", text)

    addError = addFailure

    def addSkip(self, test, reason):
        self.say(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        self.say(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.say(test, "failed", "passes, but is marked as one that fails")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addFailure(subtest, err)


def load(path):
    """The file as a module, from its text: it must be the file itself, not what this interpreter has of that name."""
    name = os.path.splitext(os.path.basename(path))[0]
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec", dont_inherit=True), module.__dict__)
    return module


def run_file(path, file):
    results = Results(file, os.path.splitext(os.path.basename(path))[0])
    try:
        module = load(path)
    except unittest.SkipTest as skip:
        results.say(results.module, "skipped", str(skip))
        return
    except Exception:
        results.say(results.module, "failed", traceback.format_exc())
        return
    unittest.defaultTestLoader.loadTestsFromModule(module).run(results)
    for test in list(results.again):
        test.run(results)


def main():
    results = keep_stdout()
    complete_sysconfig()
    complete_support()
    complete_unittest()
    sys.executable = sys.argv[1]
    for path in sys.argv[2:]:
        run_file(path, results)


if __name__ == "__main__":
    main()
