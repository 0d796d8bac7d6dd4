# SPDX-License-Identifier: GPL-2.0-only
"""`kaa annotate` as a user types it, on a recording whose program is not there."""
import ast
import os
import pathlib
import re
import sysconfig
import types

import pytest

from harness import planted
from harness.process import run

PLAIN = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}


@pytest.fixture
def annotate(kaa, recording):
    return lambda *words, **options: kaa("annotate", "-i", recording, *words, **{"env": PLAIN, **options})


def weights(text):
    """{line: (own, total)}"""
    rows = re.findall(r"^ {0,3}(\d+\.\d%|\d+| )  ? *(\d+\.\d%|\d+)  +(\d+)\b", text, re.M)
    return {int(line): (own.strip(), total) for own, total, line in rows}


def test_lines_of_functions(annotate):
    # All 300 samples have one stack.
    leaf = annotate("-n", "<lambda>").stdout
    assert weights(leaf) == {7: ("300", "300")} and "own 100.0%, total 100.0%" in leaf
    middle = annotate("-n", "middle").stdout
    assert weights(middle) == {2000: ("", "300")} and "own 0.0%, total 100.0%" in middle
    module = annotate("-n", "<module>").stdout
    found = weights(module)
    assert set(found) == {40, 44} and sum(int(total) for _, total in found.values()) == 300
    assert "there is no source to show: " in module


def test_time_without_python_code(kaa, tmp_path):
    """It has no source, and each thing that it was spent in has a row."""
    main, many = b"py::main:/srv/app.py", [b"work_%02d" % i for i in range(40)]
    stacks = {(main,): 100, (b"dgemm",): 60, **{(name,): 1 for name in many}}
    with planted.recording(tmp_path / "data", {b"python3": stacks}) as path:
        text = kaa("annotate", "-i", path, "[no Python code]", env=PLAIN).stdout
        assert re.match(r"\[no Python code\]\n   own  spent in\n 30\.0%  dgemm .*\n  0\.5%  work_", text), text
        assert "\n  5.5%  11 others\n" in text
        # Where all samples have Python code there is no such row.
        missing = kaa("annotate", "-i", path, "--comms", "nobody", "[no Python code]", env=PLAIN, status=1)
        assert not missing.stdout


SHAPES = """\
import functools


def spin(n): return sum([i * i for i in range(n)])


@functools.lru_cache(
    maxsize=1)
def made(n):
    return sorted(range(n),
                  key=lambda x: -x)


while True: print(max(range(9), key=lambda x: spin(x)), made(3))
"""


def shapes(kaa, folder, module_lines):
    """A sample of each line of each code object that the compiler makes of SHAPES; of the module's body those that are asked for."""
    path, stacks = folder / "shapes.py", {}
    path.write_text(SHAPES)

    def add(code, callers):
        me = (getattr(code, "co_qualname", code.co_name), str(path), code.co_firstlineno)
        lines = {line for *_, line in code.co_lines() if line}
        for line in sorted(lines if callers else lines & set(module_lines)):
            stacks[(*callers, (*me, line))] = 3 + len(stacks)
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                # The module calls what it has made in its last line.
                add(inner, (*callers, (*me, inner.co_firstlineno if callers else SHAPES.count("\n"))))
    add(compile(SHAPES, str(path), "exec"), ())
    return planted.sampled(kaa, folder / "perf.data", stacks)


def shown_lines(text):
    """The numbers of the lines of each function that is shown, as they stand there."""
    parts = re.split(r"^\S.*\s+own \S+%, total .*\n", text, flags=re.M)[1:]
    return [[int(line) for line in re.findall(r"^(?:[ \d.]{5}[% ]  ){2} *(\d+)[> ]", part, re.M)] for part in parts]


@pytest.mark.parametrize("with_module", [True, False])
def test_a_line_is_shown_once(kaa, tmp_path, with_module):
    """A lambda's is one of the function around it, too, and a decorator's one of the module."""
    every = range(1, SHAPES.count("\n") + 1)
    data, found = shapes(kaa, tmp_path, every if with_module else []), 0
    for line in every:
        result = kaa("annotate", "-i", data, f"shapes.py:{line}", env=PLAIN, status=None)
        lines = shown_lines(result.stdout)
        assert len(lines) == (result.status == 0), result.stdout
        assert all(shown == sorted(set(shown)) and line in shown for shown in lines), result.stdout
        found += len(lines)
    assert found > 5
    for line, name in (4, "spin"), (7, "made"), (8, "made"):
        assert kaa("annotate", "-i", data, f"shapes.py:{line}", env=PLAIN).stdout.startswith(f"{name} "), (line, name)


def test_no_lambda_beside_its_function(kaa, tmp_path):
    """Without a word, too, it has the lines of the function around it, and these stand once."""
    text = kaa("annotate", "-i", shapes(kaa, tmp_path, [14]), env=PLAIN).stdout
    lines = [line for shown in shown_lines(text) for line in shown]
    assert sorted(lines) == sorted(set(lines)) and {4, 10, 11, 14} <= set(lines), text
    assert not re.search(r"^\S*<(lambda|listcomp)>", text, re.M) and re.search("^spin  ", text, re.M), text


def test_without_a_word(annotate):
    text = annotate().stdout
    assert text.startswith(re.match(r"\S*<lambda>", text)[0]) and "kaa annotate FUNCTION -i " in text


def test_percentages(annotate):
    assert "100.0%  100.0%      7" in annotate("<lambda>").stdout
    for kind in ("global-period", "local-period", "global-hits", "local-hits"):
        assert "100.0%  100.0%      7" in annotate("--percent-type", kind, "<lambda>").stdout
    wrong = annotate("--percent-type", "all", "<lambda>", status=129).stderr
    assert "'local-period'" in wrong and "not 'all'" in wrong


def test_color(annotate):
    plain = annotate("<lambda>").stdout
    assert "\x1b" not in plain
    for words in (["--color"], ["--color=always"]):
        colored = annotate(*words, "<lambda>", env={**PLAIN, "NO_COLOR": "1"}).stdout
        assert re.sub(r"\x1b\[\d*m", "", colored) == plain and "\x1b[31m100.0%\x1b[m" in colored
    assert annotate("--color", "--no-color", "<lambda>").stdout == plain
    assert "not 'blue'" in annotate("--color=blue", status=129).stderr


def test_words_that_call_nothing(annotate):
    wrong = annotate("midle", status=1)
    assert not wrong.stdout and "'midle': did you mean '" in wrong.stderr and "Worker.middle" in wrong.stderr
    # What is found is shown all the same.
    both = annotate("midle", "middle", status=1)
    assert "middle" in both.stdout and "'midle'" in both.stderr
    assert annotate("-S", "midle,middle", status=1).stdout == both.stdout
    assert "no sample is at " in annotate("oddly.py:3", status=1).stderr


def test_functions_that_only_call_others(kaa, tmp_path):
    """What is in callchains alone has no instructions, but there are samples below it, and commands that show them."""
    script = b"py::main:/nowhere/app.py"
    stacks = {(script, b"outer", b"middle", b"leaf"): 30, (script, b"outer", b"other"): 10, (script, b"leaf"): 60}
    with planted.recording(tmp_path / "it's.data", {b"python3": stacks}) as path:
        for name, samples, callee, caller in (("outer", 40, "middle", "main"), ("middle", 30, "leaf", "outer")):
            wrong = kaa("annotate", "-i", path, name, status=1)
            assert f"no sample hit '{name}' itself, only functions that it called: {samples} samples ({samples} %)" in wrong.stderr
            typed = re.fullmatch(r".*; what it calls: (.*); who calls it: (.*)\n", wrong.stderr)
            calls, callers = (run(["sh", "-c", command]).stdout.partition(f"---{name}")[2] for command in typed.groups())
            assert callee in calls and caller not in calls, calls
            assert caller in callers and callee not in callers, callers
        # The same for who asks for its callers.
        said = kaa("report", "--callers", "middle", "-i", path, status=1).stderr
        assert "outer" in run(["sh", "-c", said.rpartition("its callers: ")[2]]).stdout.partition("---middle")[2], said


def test_events(annotate):
    assert "no event with samples is called 'instructions'; the recording has " in annotate("-e", "instructions", status=1).stderr


def test_options_that_make_no_sense(annotate):
    assert "not both" in annotate("-n", "--show-total-period", status=129).stderr
    assert "--context" in annotate("--context", "few", status=129).stderr
    assert annotate("--stdio", "middle").stdout == annotate("middle").stdout


def test_filters(annotate):
    nothing = annotate("--pid", "1", "middle", status=1)
    assert "no samples" in nothing.stderr and "no sample is of process 1;" in nothing.stderr


def test_a_recording_that_is_not_there(kaa, tmp_path):
    assert "does not exist" in kaa("annotate", "-i", tmp_path / "none", status=1).stderr


def test_lines_fit(annotate):
    for columns in ("60", "80", "120"):
        text = annotate("--all", env={**PLAIN, "COLUMNS": columns}).stdout
        rows = [line for line in text.splitlines() if re.match(r" *(\d+\.\d%|own) ", line)]
        assert rows and all(len(line) <= int(columns) for line in rows), text


def test_lines_fit_a_pipe(annotate):
    """As wide as those of the report, whoever reads them; COLUMNS shows more."""
    without = {name: value for name, value in PLAIN.items() if name != "COLUMNS"}
    texts = [annotate("--all", env=env).stdout for env in (without, {**PLAIN, "COLUMNS": "100"})]
    # A command to copy has a line of its own where a width is given that it does not fit.
    assert len({re.sub(r":\s+(?=\S*kaa annotate )", ": ", text) for text in texts}) == 1


def blocks_of(tree):
    """{first line with decorators: (first, last)} of functions and classes; of statements with a lambda, by its line."""
    blocks = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            # Two may stand in one line; the outer one comes first.
            blocks.setdefault(first, (first, node.end_lineno))
    return blocks


def test_blocks_end_where_the_parser_says(build_dir):
    """Of each function and class of the standard library and of its tests, which have odd ones."""
    library = pathlib.Path(sysconfig.get_path("stdlib"))
    checked = 0
    for path in sorted(library.glob("*.py")) + sorted(library.glob("*/*.py")):
        if checked > 8000:
            break
        text = path.read_bytes()
        try:
            blocks = blocks_of(ast.parse(text))
        except (SyntaxError, ValueError):
            continue
        lines = sorted(blocks)
        if not lines or b"\r" in text.replace(b"\r\n", b""):
            continue
        said = run([build_dir / "tests" / "unit" / "dump_blocks", path], data="".join(f"{line}\n" for line in lines).encode())
        for line, answer in zip(lines, said.stdout.splitlines()):
            first, _, last = map(int, answer.split())
            assert (first, last) == blocks[line], (path, line)
        checked += len(lines)
    assert checked > 3000
