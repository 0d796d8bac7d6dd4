# SPDX-License-Identifier: GPL-2.0-only
"""The page without libraries, in Chromium: what `kaa report --no-libraries` says, in each view."""
import re

import pytest

from harness import answer, compared
from harness.planted import place_of_this_python, recording, sampled, with_python, with_source
from test_page import choose, draw, press, rows, settle, show, tip_at, tree_of, words_of  # noqa: F401

VENV, OWN = "/srv/venv/lib/python3.12/site-packages", "/srv/app/main.py"
# The command of a package is no file of the program's own, either.
COMMAND, RUN = ("<module>", "/srv/venv/bin/pytest", 1, 8), ("run", f"{VENV}/pytest/main.py", 20, 21)
GET, DUMPS = ("get", f"{VENV}/requests/api.py", 30, 31), ("dumps", "/usr/lib/python3.12/json/encoder.py", 40, 44)
FIND, MODULE = ("_find_and_load", "<frozen importlib._bootstrap>", 1, 2), ("module", f"{VENV}/attr/__init__.py", 1, 3)
HOOK = ("hook", "/srv/app/hook.py", 5, 6)
DEFLATE, MEMCPY = ("deflate", "/usr/lib/libz.so.1"), ("memcpy", "/usr/lib/libc.so.6")


def main(line):
    return ("main", OWN, 10, line)


STACKS = {
    (COMMAND, RUN, main(14)): 22, (COMMAND, RUN, main(14), GET, DEFLATE): 50, (COMMAND, RUN, main(14), GET): 30,
    (COMMAND, RUN, main(15), MEMCPY): 10,
    # A library calls a function of the program: one that is known, and the same again.
    (COMMAND, RUN, main(14), GET, HOOK): 16, (COMMAND, RUN, main(14), GET, HOOK, DUMPS, MEMCPY): 4,
    (COMMAND, RUN, main(14), GET, main(16), DUMPS): 20,
    (COMMAND, RUN, main(17), FIND, MODULE, DUMPS): 10,
    # No file of the program is in them.
    (COMMAND, RUN): 18, (COMMAND, RUN, DUMPS, DEFLATE): 14, (("_start", "/usr/bin/python3"),): 6,
}
ALL = sum(STACKS.values())
NOBODY = "[not in your files]"


def percent(count, of=ALL):
    return f"{100 * count / of:.1f}%" if count else ""


def ours(stack):
    return [step for step in stack if len(step) == 4 and step[1].startswith("/srv/app/")]


def own_and_total(key, stacks=STACKS):
    """{what key(step) says: (own, total)} of the planted samples."""
    found = {NOBODY: 2 * (percent(sum(count for stack, count in stacks.items() if not ours(stack)), sum(stacks.values())),)}
    for name in {key(step) for stack in stacks for step in ours(stack)}:
        own = sum(count for stack, count in stacks.items() if ours(stack) and key(ours(stack)[-1]) == name)
        total = sum(count for stack, count in stacks.items() if name in map(key, ours(stack)))
        found[name] = (percent(own, sum(stacks.values())), percent(total, sum(stacks.values())))
    return found


FUNCTIONS = own_and_total(lambda step: step[0])


@pytest.fixture
def planted(kaa, tmp_path):
    return sampled(kaa, tmp_path / "perf.data", STACKS)


@pytest.fixture
def path(kaa, tmp_path, planted):
    kaa("export", "-q", "-i", planted, "--format", "html", "-o", tmp_path / "out.html")
    return tmp_path / "out.html"


def spent_of(page):
    return {row.query_selector(".symbol").text_content(): row.query_selector(".spent").inner_text()
            for row in page.query_selector_all('[aria-label="Functions"].list .row')}


REPORTED = re.compile(r"^ *(\d+\.\d%) +(\d+\.\d%)  (\S+|\[not in your files\])(?:  +(.*))?$", re.M)


def short(parts):
    """The page has room for three parts, and for a fourth that is the last."""
    if len(parts) <= 4:
        return ", ".join(parts)
    return ", ".join([*parts[:3], f"others {sum(int(part.rpartition(' ')[2]) for part in parts[3:])}"])


def test_the_tables_are_those_of_the_report(kaa, planted, path, show):  # noqa: F811
    text = kaa("report", "--no-libraries", "--stdio", "-i", planted, env=answer.WIDE).stdout
    functions, lines = text.split("  line\n", 1)
    page = show(path)
    assert {"get", "run", "dumps", "[no Python code]"} < set(rows(page, "Functions"))
    press(page, "l")
    for label, table in ("Functions", functions), ("Lines", lines):
        reported = {row[2]: tuple("" if share == "0.0%" else share for share in row[:2]) for row in REPORTED.findall(table)}
        assert rows(page, label) == reported and len(reported) > 2
    assert rows(page, "Functions") == FUNCTIONS
    assert set(rows(page, "Lines").values()) == set(own_and_total(lambda step: step[3]).values())
    # What a package took stands behind the function that called it, as in the report.
    reported = {row[2]: row[3].split("  ")[-1].strip().split(", ") for row in REPORTED.findall(functions)}
    assert spent_of(page) == {name: short(parts) for name, parts in reported.items()}
    assert reported["main"][0] == "requests 40" and "import 5" in reported["main"] and reported["hook"][1:] == ["json 2"]


@pytest.mark.parametrize("words", [(), ("--python-only",)], ids=["native", "python"])
def test_waits_for_the_gil_are_no_time_of_a_library(kaa, tmp_path, show, words):  # noqa: F811
    """Even where all samples have the same frames, which are those of Python alone."""
    wait, encode = b"PyEval_RestoreThread", b"encode"
    own, get = f"py::main:{OWN}".encode(), f"py::get:{GET[1]}".encode()
    with recording(tmp_path / "perf.data", {b"main": {(own, get): 20, (own, get, encode): 50, (own, get, encode, wait): 30}},
                   mapped={wait: place_of_this_python(wait.decode())}) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html", *words)
    page = show(tmp_path / "out.html", "nolibraries=")
    assert rows(page, "Functions") == {"main": ("100.0%", "100.0%")} and spent_of(page) == {"main": "requests 70, GIL wait 30"}


def test_the_way_there_and_back(path, show):  # noqa: F811
    page = show(path)
    before = rows(page, "Functions"), rows(page, "Lines"), spent_of(page)
    assert page.get_attribute("#libraries", "aria-pressed") == "true"
    page.click("#libraries")
    settle(page)
    assert page.get_attribute("#libraries", "aria-pressed") == "false" and rows(page, "Functions") == FUNCTIONS
    link = page.evaluate("location.hash")
    assert rows(show(path, link), "Functions") == FUNCTIONS
    page.go_back()
    settle(page)
    assert (rows(page, "Functions"), rows(page, "Lines"), spent_of(page)) == before and words_of(page) == {}
    # A function that is looked at, and is not shown.
    choose(page, "get")
    press(page, "l")
    assert "libraries are not shown (l)" in page.inner_text(".details")
    press(page, "?")
    assert "libraries; without them" in page.inner_text("dialog")


# Name, level, total, own: the heaviest first.
TREE = [("main", "1", percent(162), percent(122)), ("hook", "2", percent(20), percent(20)), ("main", "2", percent(20), percent(20)),
        (NOBODY, "1", percent(38), percent(38))]


def test_the_flame_graph_and_the_call_tree(path, show):  # noqa: F811
    page = show(path, "view=tree&nolibraries=")
    assert tree_of(page) == TREE
    press(page, "m")
    assert tree_of(page) == [("main", "1", percent(162), percent(142)), TREE[1], TREE[3]]
    press(page, "m", "2")
    assert tip_at(page, 1, 0.2).startswith(f"main\n{OWN}:10\ntotal {percent(162)}")
    assert tip_at(page, 1, 0.9).startswith(f"{NOBODY}\ntotal {percent(38)}")
    below = [tip_at(page, 2, share) for share in (0.05, 0.15)]
    assert sorted(tip.split("\n")[0] for tip in below) == ["hook", "main"]
    # By time: the box that a click takes begins where main does, not the library that called it.
    press(page, "b")
    assert tip_at(page, 1, 0.3).startswith("main\n") and tip_at(page, 1, 0.95).startswith(NOBODY)
    press(page, "b", "l", "3")
    assert {"get", "run"} < {row[0] for row in tree_of(page)}


def test_with_c_code(path, show):  # noqa: F811
    """What libraries call in C is theirs, and so not shown; what the program calls is."""
    page = show(path, "native&nolibraries=")
    expected = {**FUNCTIONS, "memcpy": (percent(10), percent(10)), "main": (percent(132), percent(162))}
    assert rows(page, "Functions") == expected
    press(page, "3")
    assert tree_of(page) == [(TREE[0][0], "1", percent(162), percent(112)), *TREE[1:3], ("memcpy", "2", percent(10), percent(10)),
                             TREE[3]]


def test_filters(path, show):  # noqa: F811
    page = show(path, "nolibraries=")
    # Samples of a library's function are found, and shown with the functions that called it.
    page.fill("#search", "requests")
    settle(page)
    page.press("#search", "Shift+Enter")
    settle(page)
    found = {stack: count for stack, count in STACKS.items() if GET in stack}
    assert rows(page, "Functions") == {name: cells for name, cells in own_and_total(lambda step: step[0], found).items() if cells[1]}
    press(page, "x", "l")
    choose(page, "get")
    press(page, "o", "l", "3")
    assert [row[:2] for row in tree_of(page)] == [("main", "1"), *(row[:2] for row in TREE[1:3])]
    # What is hidden beside it.
    press(page, "x", "1")
    choose(page, "hook")
    press(page, "h")
    assert rows(page, "Functions") == {"main": (percent(162), percent(162)), "[no frame shown]": FUNCTIONS[NOBODY]}


def test_the_source_and_the_timeline(kaa, planted, tmp_path, show):  # noqa: F811
    with_source(planted, OWN, b"")
    kaa("export", "-q", "-i", planted, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "view=source&nolibraries=")
    numbers = {row.query_selector(".number").inner_text(): tuple(cell.inner_text() for cell in row.query_selector_all(".share"))
               for row in page.query_selector_all(".sourcerow")}
    by_line = own_and_total(lambda step: step[1:])
    assert numbers == {str(line): cells for (file, _, line), cells in
                       ((key, cells) for key, cells in by_line.items() if key != NOBODY) if file == OWN}
    heat = page.evaluate("[...document.querySelectorAll('.sourcerow')].map(row => Number(row.style.getPropertyValue('--heat')))")
    assert max(heat) == 1 and len(set(heat)) > 2
    # Files of libraries are none that have time.
    assert len(page.query_selector_all('select[aria-label="File"] > option')) == 2
    page.focus(".timeline")
    press(page, "ArrowDown")
    assert f"{percent(142)} in main, " in page.inner_text(".timeline .tip")


def test_two_recordings(kaa, tmp_path, show):  # noqa: F811
    """Changes are of the functions that called the libraries, on both sides; what chance does of them is not known."""
    after = {**STACKS, (COMMAND, RUN, main(14), GET, DEFLATE): 10, (COMMAND, RUN, DUMPS, DEFLATE): 45}
    files = [with_python(sampled(kaa, tmp_path / f"{name}.data", stacks)) for name, stacks in (("old", STACKS), ("new", after))]
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "out.html", *files)
    page = show(tmp_path / "out.html", "nolibraries=")
    found = {row.query_selector(".symbol").inner_text(): row.query_selector(".change").inner_text().strip()
             for row in page.query_selector_all('[aria-label="Functions"].list .row')}
    assert found == {"main": "-40.0", NOBODY: "+31.0", "hook": "+0.0"}
    press(page, "3")
    changes = {row.query_selector(".symbol").inner_text(): row.query_selector(".change").inner_text().strip()
               for row in page.query_selector_all('.treerow[aria-level="1"]')}
    assert changes == {"main": "-40.0", NOBODY: "+31.0"}
    press(page, "1", "l")
    assert {"get", "run"} < {row.query_selector(".symbol").inner_text() for row in
                             page.query_selector_all('[aria-label="Functions"].list .row')}


def test_a_function_that_was_a_packages(kaa, tmp_path, show):  # noqa: F811
    """The command of a package is the program's own now, and one function: AFTER says whose."""
    moved = ("run", "/usr/lib/python3/dist-packages/pytest/main.py", 20, 21)
    before, after = ({(command,): 50, (command, run, main(14)): 50}
                     for command, run in ((COMMAND, RUN), (("<module>", "/opt/bin/pytest", 1, 8), moved)))
    files = [with_python(sampled(kaa, tmp_path / f"{name}.data", stacks)) for name, stacks in (("old", before), ("new", after))]
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "out.html", *files)
    page = show(tmp_path / "out.html", "nolibraries=")
    found = {row.query_selector(".symbol").inner_text(): row.query_selector(".change").inner_text().strip()
             for row in page.query_selector_all('[aria-label="Functions"].list .row')}
    assert found == {"main": "+0.0", "<module>": "+0.0"}


def test_a_phone(path, show):  # noqa: F811
    page = show(path, "nolibraries=", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390 and page.is_visible("#libraries")


def test_without_any_library_there_is_no_choice(draw, show):  # noqa: F811
    page = show(draw({b"main": {(b"py::main:/srv/app/app.py",): 5, (b"c_function",): 5}}), "nolibraries=")
    press(page, "l")
    assert not page.is_visible("#libraries") and set(rows(page, "Functions")) == {"main", "[no Python code]"}


def test_old_data(path, show, tmp_path):  # noqa: F811
    """A page whose data does not say which files are libraries'."""
    import base64
    import zlib
    page = path.read_bytes()
    begin = page.index(b'id="profile">') + len(b'id="profile">')
    end = page.index(b"</script>", begin)
    data = zlib.decompress(base64.b64decode(page[begin:end])).replace(b"file.library\0", b"file.liberty\0")
    old = tmp_path / "old.html"
    old.write_bytes(page[:begin] + base64.b64encode(zlib.compress(data)) + page[end:])
    shown = show(old, "nolibraries=")
    assert not shown.is_visible("#libraries") and "get" in rows(shown, "Functions")
