# SPDX-License-Identifier: GPL-2.0-only
"""Names as real programs have them (Django, SymPy), in a terminal of 80 columns: one can tell which function a row is of."""
import re

import pytest

from harness import planted
from harness.terminal import Terminal

PACKAGES = "/home/ann/.venv/lib/python3.12/site-packages/"
SHOP = "/home/ann/work/shop/"
# The function, its file, and what of each has to be seen, however little room there is.
FUNCTIONS = [
    ("BaseManager._get_queryset_methods.<locals>.create_method.<locals>.manager_method",
     PACKAGES + "django/db/models/manager.py", "manager_method", "/manager.py"),
    ("create_forward_many_to_many_manager.<locals>.ManyRelatedManager._apply_rel_filters",
     PACKAGES + "django/db/models/fields/related_descriptors.py", "_apply_rel_filters", "_descriptors.py"),
    ("convert_exception_to_response.<locals>.inner", PACKAGES + "django/core/handlers/exception.py", "inner",
     "/exception.py"),
    ("SQLCompiler.results_iter", PACKAGES + "django/db/models/sql/compiler.py", "results_iter", "/compiler.py"),
    ("__cacheit.<locals>.func_wrapper.<locals>.wrapper", PACKAGES + "sympy/core/cache.py", "__cacheit...", "/cache.py"),
    ("Report.build.<locals>.<lambda>", SHOP + "reporting/monthly/report_of_the_month.py", "build...<lambda>",
     "_of_the_month.py"),
    ("Report.totals.<locals>.<lambda>", SHOP + "reporting/monthly/report_of_the_month.py", "totals...<lambda>",
     "_of_the_month.py"),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    names = [f"py::{function}:{file}".encode() for function, file, _, _ in FUNCTIONS]
    outer = (b"py::<module>:/home/ann/work/shop/manage.py", names[2])
    stacks = {(*outer, name): 50 - i for i, name in enumerate(names)}
    with planted.recording(tmp_path_factory.mktemp("long") / "perf.data", {b"python3": stacks}) as path:
        yield path


def rows(lines, title):
    """The rows below a title, up to an empty line."""
    begin = next(i for i, line in enumerate(lines) if re.search(title, line)) + 1
    return [line for line in lines[begin:begin + len(FUNCTIONS)] if line]


def check(found):
    assert len(set(found)) == len(FUNCTIONS)
    for row, (function, _, name, file) in zip(found, FUNCTIONS):
        assert len(row) <= 80 and (name in row or function in row) and file in row, row


def test_the_tables_of_a_report(kaa, data):
    text = kaa("report", "--stdio", "-i", data, env={"COLUMNS": "80"}).stdout
    check(rows(text.splitlines(), r"^   own   total  function "))
    check(rows(text.splitlines(), r"^   own   total  line"))


def test_headings_of_annotate(kaa, data):
    for function, file, _, _ in FUNCTIONS:
        text = kaa("annotate", "-i", data, f"py::{function}:{file}", env={"COLUMNS": "80"}).stdout
        heading = text[:text.index(", total ")]
        short = function if len(function) <= 80 else function.replace(".<locals>.", "...")
        assert heading.startswith(short), heading
        assert file.removeprefix(PACKAGES) in heading
        assert max(map(len, heading.splitlines())) <= 80


def test_a_report_on_a_terminal(kaa, data):
    with Terminal([*kaa.command, "report", "-i", data], columns=80) as terminal:
        terminal.press("2")
        check(rows(terminal.lines(), r"own +total +function "))
        for function, file, _, end in FUNCTIONS:
            last = terminal.lines()[-1]
            if function in " ".join(terminal.lines()[2:-1]) and file in " ".join(terminal.lines()[2:-1]):
                assert last.startswith("h: keys")
            else:
                assert last.startswith(function[:20]) and end in last
            terminal.press("down")


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_title_of_a_source(kaa, data, columns):
    """Its parts are whole, or not there; the place in the file stands behind them."""
    with Terminal([*kaa.command, "report", "-i", data], columns=columns) as terminal:
        terminal.press("3", "enter")
        terminal.wait_for("heaviest line")
        title = terminal.lines()[0]
        name, rest = re.fullmatch(r"(.*\.py)((?:: | ).*) \d+/\d+", title).groups()
        parts = rest.strip(" :").split(", ")
        known = r"own \d+ samples(, total \d+)?, % of all samples|% of all samples"
        assert len(title) <= columns and re.fullmatch(known, rest.strip(" :")), title
        assert columns < 120 or len(parts) == 3, title


def test_keys_have_room_beside_long_names(kaa, data):
    with Terminal([*kaa.command, "report", "-i", data], columns=80) as terminal:
        terminal.press("2")
        for _ in FUNCTIONS:
            assert "h: keys" in terminal.lines()[-1], terminal.text()
            terminal.press("down")


def test_callers_on_a_terminal(kaa, data):
    with Terminal([*kaa.command, "report", "-i", data], columns=80) as terminal:
        terminal.press("2", "w")
        function, caller = FUNCTIONS[0][0], FUNCTIONS[2][0]
        title, _, row, calls = terminal.lines()[:4]
        assert title.startswith("Callers of BaseManager.") and "manager_method" in title
        assert function[:20] in row and "manager_method" in row and "/manager.py" in row
        assert caller in calls and "exception.py" in calls
        assert terminal.lines()[-1].startswith(function[:20])
