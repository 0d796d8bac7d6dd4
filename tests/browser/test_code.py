# SPDX-License-Identifier: GPL-2.0-only
"""The instructions of functions in C in the page: the way to them, their weights, keys, filters, hostile text."""
import os
import shutil

import pytest

from harness import spots
from harness.planted import recording, sampled
from test_page import press, settle, show  # noqa: F401

MAIN, OTHER = b"py::main:/srv/app/app.py", b"py::other:/srv/app/app.py"
# So near to each other that all can be seen.
NUMBERS = (4, 6, 14)


def stacks(library):
    """By thread; all are 100 samples."""
    return {b"first": {(MAIN, library.spot(4)): 30, (MAIN, library.spot(6)): 1, (MAIN,): 9},
            b"second": {(OTHER, library.spot(14)): 20, (OTHER, b"c_function"): 40}}


@pytest.fixture
def draw(kaa, tmp_path):
    """draw(**environment) is the library, and the path of a page of what hit it."""
    def write(**environment):
        library = spots.Library(tmp_path)
        with recording(tmp_path / "perf.data", stacks(library), mapped=library.mapped(NUMBERS)) as data:
            kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html", env={**os.environ, **environment})
        return library, tmp_path / "out.html"
    return write


ROWS = '[aria-label="Instructions"].list .row'


def rows(page):
    """{address: (own, instruction)} of what samples hit."""
    cells = [[cell.inner_text().strip() for cell in row.query_selector_all("[role=gridcell]")] for row in page.query_selector_all(ROWS)]
    return {address: (own, text, *inlined) for own, address, text, *inlined in cells if own}


def wanted(library):
    return {f"{library.address(number):x}": (share, "nop") for number, share in zip(NUMBERS, ("30.0%", "1.0%", "20.0%"))}


def selected(page):
    return page.inner_text(f'{ROWS}[aria-selected="true"] .address')


def choose(page, name):
    """Selects a function in the first view."""
    page.fill("#search", name)
    page.press("#search", "Enter")
    press(page, "ArrowDown")


def test_the_way_by_keys(draw, show):
    """From the table of functions to its instructions, to the next hot one, and back."""
    library, path = draw()
    page = show(path, "native")
    choose(page, "spotted")
    assert "Instructions" in page.inner_text(".details")
    press(page, "Enter")
    assert rows(page) == wanted(library)
    # The hottest one first; what has less than a tenth of it is none.
    hot = [f"{library.address(number):x}" for number in (4, 14)]
    assert selected(page) == hot[0]
    press(page, "n")
    assert selected(page) == hot[1]
    press(page, "n")
    assert selected(page) == hot[0]
    press(page, "N")
    assert selected(page) == hot[1]
    heat = page.evaluate(f"""() => [...document.querySelectorAll('{ROWS}')].map(row => row.style.getPropertyValue('--heat'))""")
    assert max(map(float, heat)) == 1 and min(map(float, heat)) == 0
    # A link shows the same.
    again = show(path, page.evaluate("location.hash").lstrip("#"))
    assert selected(again) == hot[1] and rows(again) == wanted(library)
    # What is far from what was hit is left out.
    press(page, "End")
    assert "without samples" in page.inner_text(f'{ROWS}[aria-selected="true"]')
    page.go_back()
    settle(page)
    assert page.get_attribute("#tab-functions", "aria-selected") == "true"


def test_weights_are_of_the_whole_recording(draw, show):
    """What a filter does not change it is said not to."""
    library, path = draw()
    page = show(path, "native&view=source&code=0")
    assert "spotted: own 51.0% of all samples of the recording." in page.inner_text("main")
    assert "Filters" not in page.inner_text("main")
    listed = 'select[aria-label="File"] option[value="c0"]'
    assert page.text_content(listed).split() == ["51.0%", "spotted", "libspotted.so"]
    page.click('.track button:has-text("second")')
    settle(page)
    assert rows(page) == wanted(library) and "Filters do not change that." in page.inner_text("main")
    # The list of files and functions is of what is selected.
    assert page.text_content(listed).split()[0] == "33.3%"


def test_what_has_no_instructions_says_why(draw, show):
    library, path = draw()
    page = show(path, "native")
    choose(page, "c_function")
    press(page, "Enter")
    assert "has names, but no code" in page.inner_text("main")
    assert list(rows(page).values()) == [("40.0%", "")]
    # The list of files has both, and leads from one to the other.
    page.select_option('select[aria-label="File"]', "c0")
    settle(page)
    assert rows(page) == wanted(library) and "no code" not in page.inner_text("main")


def test_code_without_a_symbol_says_so(kaa, tmp_path, show):
    """However much of it there is."""
    library = spots.Library(tmp_path)
    mapped = {b"nothing": (library.path, library.address(spots.COUNT + 100))}
    with recording(tmp_path / "perf.data", {b"main": {(MAIN, b"nothing"): 70, (MAIN,): 30}}, mapped=mapped) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "native")
    choose(page, "[libspotted.so]")
    assert "own 70.0%" in page.inner_text(".details") and "it has no symbol" in page.inner_text(".details")
    assert not page.query_selector('.details button:has-text("Instructions")')


def test_an_inlined_function(kaa, tmp_path, show):
    """It has those of the function that holds it, which say whose code they are; its own hottest one is the first."""
    library = spots.Library(tmp_path, "outer", spots.INLINED)
    # So near to each other that both can be seen.
    stacks = {(MAIN, library.spot(151)): 30, (MAIN, library.spot(146)): 5, (MAIN,): 65}
    with recording(tmp_path / "perf.data", {b"main": stacks}, mapped=library.mapped([146, 151])) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "native")
    choose(page, "inner")
    press(page, "Enter")
    inner, last = (f"{library.address(number):x}" for number in (146, 151))
    assert "outer: own 35.0% of all samples" in page.inner_text("main") and "inner" in page.inner_text(".details")
    assert rows(page) == {inner: ("5.0%", "nop", "inner"), last: ("30.0%", "nop", "last")}
    assert selected(page) == inner
    press(page, "n")
    assert selected(page) == last
    # Another one that is in the same function.
    press(page, "1")
    choose(page, "last")
    press(page, "Enter")
    assert selected(page) == last
    press(page, "1")
    choose(page, "inner")
    press(page, "Enter")
    assert selected(page) == inner


def test_from_a_line_to_what_it_calls(kaa, tmp_path, show):
    def main(line):
        return ("main", "/srv/app/app.py", 1, line)
    data = sampled(kaa, tmp_path / "perf.data", {(main(5), ("heavy", "/srv/lib.so")): 50, (main(5), ("light", "/srv/lib.so")): 30,
                                                 (main(7), ("last", "/srv/lib.so")): 10, (main(5),): 10})
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "view=source")
    assert page.inner_text(".called") == "In C code: heavy 50.0%, light 30.0%"
    press(page, "4")
    press(page, "n")
    assert page.inner_text(".called") in ("In C code: last 10.0%", "In C code: heavy 50.0%, light 30.0%")
    page.focus('[aria-label="Source"].list')
    press(page, "Home")
    page.focus('.called button:has-text("light")')
    press(page, "Enter")
    assert "light: own 30.0% of all samples" in page.inner_text("main") and "light" in page.inner_text(".details")
    assert list(rows(page).values()) == [("30.0%", "")]
    # The focus is where the keys go.
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Instructions"
    page.go_back()
    settle(page)
    assert page.inner_text(".called").startswith("In C code: heavy")


def test_hostile_text(draw, show, tmp_path):
    """What objdump prints is text."""
    folder = tmp_path / "bin"
    folder.mkdir()
    text = "<img src=x onerror=pwned()></script>\\033[1m\\342\\200\\256&lt;b&gt;"
    (folder / "objdump").write_text(f"#!{shutil.which('sh')}\nbegin=$(printf '%d' ${{4#*=}})\nprintf '<b>:\\n'\n"
                                    f"for i in 0 1 2 3 4 5 6 7; do printf '  %x:\\t{text}\\n' $((begin + i)); done\n")
    (folder / "objdump").chmod(0o755)
    _, path = draw(PATH=f"{folder}:{os.environ['PATH']}")
    page = show(path, "native&view=source&code=0")
    assert page.inner_text(f"{ROWS} code").startswith("<img src=x onerror=pwned()></script>\ufffd[1m\ufffd&lt;b&gt;")
    assert page.evaluate("document.querySelectorAll('img, b b, script[src], main script').length") == 0
    assert page.evaluate("typeof pwned") == "undefined"
    # A listing that is not there is as if none was named.
    page = show(path, "view=source&code=99")
    assert not page.query_selector_all(ROWS)
