# SPDX-License-Identifier: GPL-2.0-only
"""The page as axe judges it: what people who hear, enlarge or operate it by keys alone would miss."""
import importlib.resources
import os

import pytest

from harness import compared, drawn, planted, spots
from harness.planted import recording

VIEWS = ["functions", "flame", "tree", "source", "summary"]


@pytest.fixture(scope="session")
def axe():
    package = pytest.importorskip("axe_playwright_python", reason="no axe: run these tests by tests/tools/browser test")
    return (importlib.resources.files(package) / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def path(kaa, tmp_path):
    """A page with a source, whose lines have words of all colours, and several events."""
    source = tmp_path / "app.py"
    source.write_text(drawn.PROGRAM + "# A comment.\nTEXT = 'a string', 1, None\n")
    threads = {**drawn.THREADS, b"third": {(f"py::down:{source}".encode(),): 200}}
    more = [(b"sched:sched_stat_sleep", b"first", (drawn.MAIN,), 50000, 40000), (b"gil-clock", b"second", (drawn.MAIN,), 10000, 1000)]
    with recording(tmp_path / "perf.data", threads, more=more) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    return tmp_path / "out.html"


@pytest.fixture
def path_of_two(kaa, tmp_path):
    """The same of two recordings: changes of all kinds, in all views."""
    (tmp_path / "main.py").write_text("def work(): edited = new = 1\n" * 70)
    os.utime(tmp_path / "main.py", (1, 1))
    before, after = compared.two(kaa, tmp_path, after=tmp_path / "main.py", threads=("main", "second"))
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "out.html", before, after)
    return tmp_path / "out.html"


def findings(page, axe):
    """What axe calls a fault of any weight, as lines of text."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert found["passes"], "axe looked at nothing"
    return [f"{rule['id']}, {rule['impact']}: {rule['help']}: {node['html'][:200]}: {node.get('failureSummary')}"
            for rule in found["violations"] for node in rule["nodes"]]


def test_axe_finds_a_fault_where_there_is_one(opened, path, axe):
    page = opened(path)
    page.wait_for_selector("html[data-ready]")
    page.evaluate("Object.assign(document.querySelector('[role=tab]').style, {color: '#777', background: '#888'})")
    assert any(line.startswith("color-contrast, serious") for line in findings(page, axe))


def findings_of_views(page, axe, source):
    """Of each view; source is in the text of a file."""
    found = []
    for key, view in enumerate(VIEWS, 1):
        page.keyboard.press(str(key))
        page.wait_for_selector(f"#tab-{view}[aria-selected=true]")
        found += [f"{view}: {line}" for line in findings(page, axe)]
        if view == "source":
            # The hottest line, whatever its words are.
            page.evaluate("document.querySelectorAll('.source .row').forEach(row => row.style.setProperty('--heat', 1))")
            assert source in page.inner_text("main")
            found += [f"{view}, hot: {line}" for line in findings(page, axe)]
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_finding(opened, path, axe, scheme):
    page = opened(path, color_scheme=scheme)
    page.wait_for_selector("html[data-ready]")
    # Filters, and all that can be pressed.
    page.evaluate("location.hash = 'event=0&merge&bytime&hide=1&only=app'")
    found = findings_of_views(page, axe, "def down(depth):")
    page.focus(".timeline")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector(".timeline .tip")
    found += [f"tip: {line}" for line in findings(page, axe)]
    # A part of the time, and a part of that.
    page.evaluate("location.hash = 'event=0&magnified=0-0.2_0-0.1&range=0.02-0.05'")
    page.wait_for_selector("#magnify:enabled")
    found += [f"magnified: {line}" for line in findings(page, axe)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_instructions_have_no_finding(kaa, opened, tmp_path, axe, scheme):
    library = spots.Library(tmp_path)
    stacks = {(drawn.MAIN, library.spot(4)): 30, (drawn.MAIN, library.spot(90)): 20, (drawn.MAIN, drawn.C): 10}
    with recording(tmp_path / "perf.data", {b"main": stacks}, mapped=library.mapped([4, 90])) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    lines = planted.sampled(kaa, tmp_path / "lines.data", {(("main", "/srv/app.py", 1, 5), ("heavy", "/srv/lib.so")): 50})
    kaa("export", "-q", "-i", lines, "--format", "html", "-o", tmp_path / "lines.html")
    found = []
    # The instructions; a function that has none; the line of Python that calls it.
    for name, words, text in (("out", "view=source&native&only=main&code=0", "nop"),
                              ("out", "view=source&native&code=1", "has names, but no code"),
                              ("lines", "view=source", "In C code: ")):
        page = opened(tmp_path / f"{name}.html", color_scheme=scheme)
        page.wait_for_selector("html[data-ready]")
        page.evaluate("words => { location.hash = words; }", words)
        page.wait_for_function("text => document.querySelector('main').innerText.includes(text)", arg=text)
        found += findings(page, axe)
        page.evaluate("document.querySelectorAll('.source .row').forEach(row => row.style.setProperty('--heat', 1))")
        found += findings(page, axe)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_of_two_recordings_has_a_finding(opened, path_of_two, axe, scheme):
    page = opened(path_of_two, color_scheme=scheme)
    page.wait_for_selector("html[data-ready]")
    found = findings_of_views(page, axe, "def work()")
    # Marks stand in the tables, and what is not compared is said.
    page.keyboard.press("1")
    page.wait_for_selector(".change.more .mark")
    page.wait_for_selector(".change.less .mark")
    page.click('.track button:has-text("second")')
    assert "not compared with" in page.inner_text(".chips")
    found += [f"one thread: {line}" for line in findings(page, axe)]
    assert not found, "\n".join(found)
