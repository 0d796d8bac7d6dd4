# SPDX-License-Identifier: GPL-2.0-only
"""Where functions begin, by their names in the source: against what the compiler says of the standard library."""
import collections
import pathlib
import subprocess
import sysconfig
import types

import pytest

from harness.process import HANG

pytestmark = pytest.mark.skipif(not hasattr(types.CodeType, "co_qualname"),
                                reason="pytest's own interpreter is older than 3.11: it has no co_qualname")

# Thousands of files that are there to be odd in other ways.
LEFT_OUT = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3"}

STRANGE = '''\
"""
def in_a_string(): pass
"""
x = "\\
def not_either(): pass"
y = (
def_ := 1,
)
class \\
  Odd: pass
def first(a="#", b='"""', c=[
1]): pass; z = 1
@first
# between
@first
def decorated(): pass
if x:
    def twice(): pass
else:
    def twice(): pass
class Outer(object):
\tclass Inner:
\t\tasync def method(self):
\t\t\tdef local(): pass
\t\t\treturn lambda: local
\tdef after(self): pass
def maker():
    global made
    def made(): pass
    def kept():
        """ def also_not(): """
def made(): pass
classes = deffer = 1
def last(): return 1'''


def functions(code):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const.co_qualname, const.co_firstlineno
            yield from functions(const)


def answers(build_dir, path, names):
    out = subprocess.run([build_dir / "tests" / "live" / "def_lines", path], input="\n".join(names) + "\n",
                         stdout=subprocess.PIPE, text=True, check=True, timeout=HANG).stdout
    return [int(line) for line in out.splitlines()]


def compare(build_dir, path):
    """(right, without a line, wrong) of a file."""
    lines = collections.defaultdict(list)
    for name, line in functions(compile(path.read_bytes(), str(path), "exec")):
        if "<lambda>" not in name.split(".")[-1]:
            lines[name].append(line)
    got = dict(zip(lines, answers(build_dir, path, lines)))
    wrong = [(str(path), name, got[name], lines[name]) for name in lines if got[name] and lines[name] != [got[name]]]
    named = [name for name in lines if not name.endswith(">")]
    return sum(got[name] != 0 for name in named), sum(got[name] == 0 for name in named), wrong


@pytest.mark.filterwarnings("ignore")
def test_standard_library(build_dir):
    right = missing = 0
    for path in sorted(pathlib.Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if LEFT_OUT & set(path.parts):
            continue
        try:
            compile(path.read_bytes(), str(path), "exec")
        except (SyntaxError, ValueError):
            continue
        found, lacking, wrong = compare(build_dir, path)
        assert not wrong, wrong[:10]
        right, missing = right + found, missing + lacking
    assert right > 5000 and missing < 0.05 * right, (right, missing)


def test_strange_text(build_dir, tmp_path):
    path = tmp_path / "strange.py"
    path.write_text(STRANGE.replace("def_ := 1", "1"))
    _, _, wrong = compare(build_dir, path)
    assert not wrong
    names = ["first", "decorated", "Outer", "Outer.Inner", "Outer.Inner.method", "Outer.Inner.method.<locals>.local", "Outer.after",
             "maker", "maker.<locals>.kept", "last", "<module>"]
    assert 0 not in answers(build_dir, path, names)
    assert answers(build_dir, path, ["in_a_string", "not_either", "twice", "made", "nothing", ""]) == [0] * 6
