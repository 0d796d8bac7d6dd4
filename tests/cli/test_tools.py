# SPDX-License-Identifier: GPL-2.0-only
"""The checks of ./check must be able to fail; what bench/exports prints."""
import json
import os
import re
import runpy
import shutil
import subprocess
import sys

import pytest

from harness import pythons
from harness.process import TOP, run, started

TOOLS = TOP / "tests" / "tools"

TABLE = """| folder | what it is | may include |
|---|---|---|
| `base` | the lowest | |
| `obj` | above | `base` |
| `cmd` | top | all |
"""


@pytest.fixture
def tree(tmp_path):
    """write(path, text) in a repository of its own."""
    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
        return tmp_path

    write("docs/ARCHITECTURE.md", TABLE)
    return write


@pytest.mark.parametrize("path, line, problem", [
    ("src/obj/a.c", '#include "base/x.h"', None),
    ("src/obj/a.c", "#include <base/x.h>", None),
    ("src/cmd/a.c", '#include "obj/x.h"', None),
    ("src/main.c", '#include "cmd/x.h"', None),
    ("src/base/a.h", '#include "obj/x.h"', "'base' may not include 'obj'"),
    ("src/obj/a.c", ' # include "cmd/x.h"', "'obj' may not include 'cmd'"),
    ("src/base/a.c", '#include "a.h"', "not written relative to src/"),
    ("src/new/a.c", "", "no row in the table"),
])
def test_layers(tree, path, line, problem):
    root = tree(path, line + "\n")
    result = run([TOOLS / "check-layers", root], status=1 if problem else 0)
    assert (problem or "") in result.stdout


def test_layers_in_a_ring(tree):
    root = tree("docs/ARCHITECTURE.md", TABLE.replace("the lowest | |", "the lowest | `obj` |"))
    assert "base -> obj -> base" in run([TOOLS / "check-layers", root], status=1).stdout


def test_no_table_is_no_success(tree):
    run([TOOLS / "check-layers", tree("docs/ARCHITECTURE.md", "nothing\n")], status=2)


CIRCLE_A = "int a(void) { return %s; }\n"


@pytest.mark.parametrize("b, circle", [
    ("int b(void) { return 1; }\n", None),
    ("int b(void)\n{\n\treturn a();\n}\n", "src/base: a circle of files: a -> b (b) -> a (a)"),
    # A row of a table is a use, too, and so is a macro's body.
    ("int (*const table[])(void) = { a };\nint b(void) { return table[0](); }\n", "a -> b (b) -> a (a)"),
    ("#define CALL \\\n\ta()\nint b(void) { return CALL; }\n", "a -> b (b) -> a (a)"),
    # No uses: words, a field, a prototype, a function of one's own with that name.
    ("/* a() */ const char *const text = \"a()\";\nint b(void) { return 1; }\n", None),
    ("int b(struct s *s) { return s->a + s . a; }\n", None),
    ("int a(void);\nint b(void) { return 1; }\n", None),
    ("static const struct { int x; } a[] = { { 1 } };\nint b(void) { return a[0].x; }\n", None),
])
def test_circles_of_files(tree, b, circle):
    tree("src/base/a.c", CIRCLE_A % "b()")
    result = run([TOOLS / "check-layers", tree("src/base/b.c", b)], status=1 if circle else 0)
    assert (circle or "") in result.stdout


def test_circle_of_three_by_a_header(tree):
    tree("src/base/a.c", CIRCLE_A % "b")
    tree("src/base/b.c", "const int b = 1;\n")
    tree("src/base/b.h", "static inline int inline_b(void) { return c(); }\n")
    root = tree("src/base/c.c", "struct c *c(void) { return a(); }\n")
    assert "a -> b (b) -> c (c) -> a (a)\n" in run([TOOLS / "check-layers", root], status=1).stdout


@pytest.mark.parametrize("allowed, problem", [
    ("a b", None), ("a b c", None), ("a c", "a circle of files"), ("c d", "is no circle any more")])
def test_allowed_circles(tree, allowed, problem):
    tree("src/base/a.c", CIRCLE_A % "b()")
    root = tree("src/base/b.c", "int b(void) { return a(); }\n")
    check_circles = runpy.run_path(str(TOOLS / "check-layers"))["check_circles"]
    found = list(check_circles(root / "src", [("base", allowed, "why")]))
    assert any(problem in line for line in found) if problem else not found


def check_types(root, status, tsc=None):
    """What check-types says; tsc: a folder that has one, beside what the system has."""
    environ = dict(os.environ, PATH=":".join([*([str(tsc)] if tsc else []), os.environ["PATH"]]))
    return run([TOOLS / "check-types", root], env=environ, status=status).stdout


@pytest.fixture
def typed(tmp_path):
    """write(text): a page whose script is that."""
    def write(text):
        (tmp_path / "ui" / "src").mkdir(parents=True)
        (tmp_path / "ui" / "src" / "main.ts").write_text(text)
        shutil.copy(TOP / "ui" / "tsconfig.json", tmp_path / "ui")
        return tmp_path

    return write


@pytest.mark.skipif(not shutil.which("tsc"), reason="no tsc; run 'tests/tools/deps types'")
@pytest.mark.parametrize("text, problem", [
    ("export const a: number = 1;\n", None),
    ('export const a: number = "1";\n', "ui/src/main.ts(1,14): error TS2322"),
    ("export function f(unused: number) { return 1; }\n", "TS6133"),
])
def test_types(typed, text, problem):
    assert (problem or "") in check_types(typed(text), 1 if problem else 0)


@pytest.mark.parametrize("version, status", [("4.5.4", 77), ("4.7.0", 0), ("4.10.0", 0), ("10.0.1", 0)])
def test_what_cannot_tell_types_says_so(typed, tmp_path, version, status):
    tsc = tmp_path / "bin" / "tsc"
    tsc.parent.mkdir()
    tsc.write_text(f"#!/bin/sh\n[ $1 != --version ] || echo Version {version}\n")
    tsc.chmod(0o755)
    said = check_types(typed(""), status, tsc.parent)
    assert (f"tsc is {version}" in said) == (status == 77)


LICENCE = "// SPDX-License-Identifier: GPL-2.0-only\n"


@pytest.mark.parametrize("text, problem", [
    (LICENCE + "int a;\n", None),
    ("int a;\n", "SPDX"),
    (LICENCE + "int a; \n", "blanks at the end"),
    (LICENCE + "        int a;\n", "indented with spaces"),
    (LICENCE + "int a;", "no newline"),
    (LICENCE + "int " + "a" * 100 + ";\n", "columns"),
    (LICENCE + "int a; // TO" + "DO\n", "unfinished"),
])
def test_style(tree, text, problem):
    root = tree("src/base/a.c", text)
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    result = run([TOOLS / "check-style", root], status=1 if problem else 0)
    assert (problem or "") in result.stdout


@pytest.mark.parametrize("text, problem", [
    ("| " + "é" * 116 + " |\n", None),
    ("a" * 121 + "\n", "docs/a.md:1: 121 columns; at most 120"),
    ("    " + "a" * 117 + "\n", "121 columns"),
    ("| " + "a" * 117 + " |\n", "121 columns"),
], ids=("fits", "prose", "code", "table"))
def test_width_of_pages(tree, text, problem):
    """In characters, of prose, code and tables alike."""
    root = tree("docs/a.md", text)
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    result = run([TOOLS / "check-style", root], status=1 if problem else 0)
    assert (problem or "") in result.stdout


def test_include_guard(tree):
    root = tree("src/base/a.h", "/" + "* SPDX-License-Identifier: GPL-2.0-only *" + "/\n#ifndef A_H\n#endif\n")
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    assert "KAA_BASE_A_H" in run([TOOLS / "check-style", root], status=1).stdout


def meson_log(tmp_path, *programs):
    path = tmp_path / "testlog.json"
    path.write_text("".join(json.dumps({"name": name, "result": result, "stdout": output}) + "\n"
                            for name, result, output in programs))
    return path


@pytest.mark.parametrize("result, output, counts", [
    ("OK", "[       OK ] test_a\n[       OK ] test_b\n", "2 0 0"),
    ("OK", "[       OK ] test_a\n[  SKIPPED ] test_b\n", "1 0 1"),
    ("FAIL", "[       OK ] test_a\n[  FAILED  ] test_b\n[  FAILED  ] test_b\n", "1 1 0"),
    # Died after its first case: it must not pass for that.
    ("FAIL", "[       OK ] test_a\n", "1 1 0"),
    ("TIMEOUT", "", "0 1 0"),
    ("OK", "a program of its own kind\n", "1 0 0"),
])
def test_cases_of_cmocka_programs(tmp_path, result, output, counts):
    log = meson_log(tmp_path, ("test_x", result, output))
    assert run([TOOLS / "tally", "meson", log]).stdout.splitlines()[0] == counts


def test_cases_of_pytest(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text('<testsuites><testsuite><testcase classname="c" name="a"/>'
                    '<testcase classname="c" name="b"><failure message="x"/></testcase>'
                    '<testcase classname="c" name="d"><error message="x"/></testcase>'
                    '<testcase classname="c" name="e"><skipped message="no root"/></testcase></testsuite></testsuites>')
    assert run([TOOLS / "tally", "junit", path]).stdout.splitlines() == ["1 2 1", "skipped: no root: c::e"]


def test_cases_of_several_logs(tmp_path):
    """What is skipped for one reason is one line."""
    skipped = '<testsuites><testsuite><testcase classname="c" name="a"/>' \
              '<testcase classname="c" name="%s"><skipped message="no root"/></testcase></testsuite></testsuites>'
    paths = [tmp_path / name for name in ("first.xml", "second.xml")]
    for path in paths:
        path.write_text(skipped % path.stem)
    assert run([TOOLS / "tally", "junit", *paths]).stdout.splitlines() == ["2 0 2", "skipped: no root: c::first and 1 more"]
    assert run([TOOLS / "tally", "junit", *paths, tmp_path / "none"]).stdout.splitlines()[0] == "2 1 2"


def test_a_missing_log_is_a_failure(tmp_path):
    assert run([TOOLS / "tally", "meson", tmp_path / "none"]).stdout.splitlines()[0] == "0 1 0"


ONLY_DEBIAN = """\
from harness import pythons
everything = pythons.candidates
pythons.candidates = lambda: [found for found in everything() if found[0] == "system"][:1]
pythons.Python.unstripped = False
"""


def test_a_machine_without_other_interpreters(tmp_path):
    """Cases are chosen where Debian's own Python alone is there, which is stripped."""
    (tmp_path / "only_debian.py").write_text(ONLY_DEBIAN)
    environ = {**os.environ, "PYTHONPATH": f"{TOP / 'tests'}:{tmp_path}"}
    for module in "test_answer", "test_stripped", "test_record_async":
        found = subprocess.run([sys.executable, "-m", "pytest", "-p", "only_debian", "-p", "no:cacheprovider", "--collect-only", "-q",
                                TOP / "tests/live" / f"{module}.py"], env=environ, text=True, capture_output=True)
        # 5: no case is left.
        assert found.returncode in (0, 5), found.stdout + found.stderr


def test_pythons_are_asked_once(monkeypatch, tmp_path):
    """By all runs of pytest that have one file of their answers."""
    python, asked = tmp_path / "python", tmp_path / "asked"
    python.write_text(f"#!/bin/sh\necho >>'{asked}'\necho '{{\"version\": [3, 11, 2]}}'\n")
    python.chmod(0o755)
    monkeypatch.setattr(pythons, "FACTS", str(tmp_path / "facts"))
    answers = [pythons.kept_answer([str(path)]) for path in (python, python, tmp_path / "none", tmp_path / "none")]
    assert answers == [{"version": [3, 11, 2]}, {"version": [3, 11, 2]}, None, None]
    assert asked.read_text() == "\n" and sorted(path.name for path in tmp_path.iterdir()) == ["asked", "facts", "python"]


@pytest.fixture
def exports(monkeypatch):
    """What bench/exports has; it measures what takes the number of a process as its last word."""
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return runpy.run_path(str(TOP / "bench" / "exports"))


WORKS = [sys.executable, "-c", "print(flush=True)\nwhile True: pass"]
RECORDER = """
import os, sys, time
def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass
burn(0.2)
try:
    while True:
        os.kill(int(sys.argv[-1]), 0)
        time.sleep(0.01)
except ProcessLookupError:
    burn(0.3)
print("done")
"""


def test_what_a_recorder_takes_after_the_end(exports):
    """Its CPU time, however much it took before."""
    after, whole, peak, said = exports["record"]([sys.executable, "-c", RECORDER], WORKS, 2)
    assert said == "done\n" and peak > 1
    assert 0.29 < after < whole and whole > 0.49


def test_a_recorder_that_fails(exports):
    with pytest.raises(SystemExit, match="no such process"):
        exports["record"]([sys.executable, "-c", "import sys; sys.exit('no such process')"], WORKS, 0.5)


def test_rows_of_exports(kaa, tmp_path):
    """As many samples as were asked for, and what is missing."""
    result = run([sys.executable, TOP / "bench" / "exports", "--kaa", kaa.command[0], "--samples", "3000", "--runs", "1",
                  "--samply", "none-at-all", "--folder", tmp_path])
    rows = [line.split() for line in result.stdout.splitlines()]
    assert "samply: missing (not in PATH)" in result.stdout
    kinds = {row[0]: row[row.index("kaa") + 1:] for row in rows if "kaa" in row}
    assert set(kinds) >= {"collapsed", "speedscope", "firefox", "pstats", "graph,"}
    for samples, _, _, _, peak, size, each, packed in kinds.values():
        assert samples == "3000" and float(peak) > 1 and float(size) > float(packed) > 0
        assert abs(float(each) * 3000 / 1e6 - float(size)) < 0.001
    assert not list(tmp_path.iterdir())


def test_check_says_what_it_does(tmp_path):
    """At once, before the first stage is through, and in lines that fit a terminal; a stage that fails shows what it said."""
    (tmp_path / "tests" / "tools").mkdir(parents=True)
    shutil.copy(TOP / "check", tmp_path)
    deps, go_on = tmp_path / "tests" / "tools" / "deps", tmp_path / "go_on"
    deps.write_text(f"#!/bin/sh\nuntil [ -e '{go_on}' ]; do sleep 0.05; done\necho no network\nexit 1\n")
    deps.chmod(0o755)
    with started([tmp_path / "check"], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        first = process.stdout.readline()
        assert re.match(r"packages +\S.* minutes? \.\.\.\n$", first), first
        go_on.touch()
        rest = process.stdout.read()
    assert re.match(r"packages +0 passed, 1 failed, .*\n    \| no network\n0 passed, 1 failed, 0 skipped\n$", rest), rest
    stages = re.findall(r'\bstage "([^"]*)" "([^"]*)" ', (TOP / "check").read_text())
    assert len(stages) > 10 and all(max(len(name), 24) + len(f" {what} ...") <= 79 for name, what in stages), stages
