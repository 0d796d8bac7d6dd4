# SPDX-License-Identifier: GPL-2.0-only
"""The page of `kaa export --format html` in Chromium, offline, opened from disk."""
import os
import re

import pytest

from harness import answer, drawn, planted
from harness.drawn import C, DEEP, LOAD, MAIN, THREADS, WORK, own, py, samples, total
from harness.noticed import noticed_in
from harness.planted import place_of_this_python, recording

HOSTILE = [*drawn.HOSTILE, b"py::__proto__:/srv/constructor", b"py::" + b"n" * 100000 + b":/srv/f.py"]
VIEWS = ["functions", "flame", "tree", "source", "summary"]


NAMES = {"main": MAIN, "load": LOAD, "work": WORK, "deep": DEEP}


ALL = sum(count for _, count in samples())


def percent(count, of=ALL):
    return f"{100 * count / of:.1f}%" if count else ""


@pytest.fixture
def draw(kaa, tmp_path):
    """draw(threads, *options) is the path of a page."""
    def write(threads, *options):
        with recording(tmp_path / "perf.data", threads) as data:
            kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html", *options)
        return tmp_path / "out.html"
    return write


@pytest.fixture
def show(opened):
    """show(path, hash, **context) is a page that has drawn itself."""
    def begin(path, words="", **options):
        page = opened(path, **options)
        if words:
            page.evaluate("words => { location.hash = words; }", words)
        page.wait_for_selector("html[data-ready]")
        settle(page)
        return page
    return begin


def settle(page):
    """What takes longer than a frame is drawn in several: its element is busy until then."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_selector("[aria-busy]", state="detached")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def rows(page, label):
    """{name: (own, total)} of a table of the first view, as it stands there."""
    found = {}
    for row in page.query_selector_all(f'[aria-label="{label}"].list .row'):
        shares = [cell.inner_text().strip() for cell in row.query_selector_all(".share")]
        name = row.query_selector(".symbol" if label == "Functions" else ".name")
        found.setdefault(name.text_content(), tuple(shares))
    return found


def view_of(page):
    return page.get_attribute('[role="tab"][aria-selected="true"]', "id").removeprefix("tab-")


def words_of(page):
    return dict(part.split("=", 1) for part in page.evaluate("location.hash").lstrip("#").split("&") if part)


def test_functions_and_lines_are_the_planted_ones(draw, show):
    page = show(draw(THREADS))
    wanted = {name: (percent(own(symbol)), percent(total(symbol))) for name, symbol in NAMES.items()}
    wanted["[no Python code]"] = (percent(10), percent(10))
    assert rows(page, "Functions") == wanted
    # Own time orders them.
    shares = [float(own.rstrip("%")) for own, _ in rows(page, "Functions").values()]
    assert shares == sorted(shares, reverse=True)
    assert set(rows(page, "Lines").values()) == set(wanted.values())


REPORTED = re.compile(r"^ *(\d+\.\d%) +(\d+\.\d%)  (\S+) +(\S.*)$", re.M)


def reported(shares):
    """As the report has them: what is nearly nothing is 0.0 %."""
    return tuple("0.0%" if share in ("", "<0.1%") else share for share in shares)


def test_numbers_of_a_real_program_are_the_reports(kaa, bpf, newest_python, tmp_path, show):
    """All functions and lines that its first screen has, and the text of the lines."""
    data, program = tmp_path / "perf.data", tmp_path / "program.py"
    program.write_text(drawn.PROGRAM)
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "--", *newest_python.command, program)
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    report = kaa("report", "--stdio", "-i", data, env={**os.environ, "COLUMNS": "400"}).stdout
    functions, lines = report.split("  line\n", 1)
    page = show(tmp_path / "out.html")
    shown, compared = rows(page, "Functions"), 0
    for match in REPORTED.finditer(functions):
        if match[3] in shown and len(re.findall(rf"  {re.escape(match[3])} ", functions)) == 1:
            assert reported(shown[match[3]]) == (match[1], match[2]), match[0]
            compared += 1
    assert compared > 2
    shown, compared = rows(page, "Lines"), 0
    for match in REPORTED.finditer(lines):
        if ":" in match[3]:
            assert reported(shown[match[3]]) == (match[1], match[2]), match[0]
            compared += 1
    assert compared > 2
    # Enter opens the source at the function.
    page.fill("#search", "leaf")
    page.press("#search", "Enter")
    press(page, "ArrowDown", "Enter")
    settle(page)
    assert view_of(page) == "source"
    text = page.inner_text('[aria-label="Source"].list')
    assert "def down(depth):" in text and "return sum([i & 3" in text
    heat = [float(value) for value in page.evaluate(
        "[...document.querySelectorAll('.sourcerow')].map(row => row.style.getPropertyValue('--heat'))")]
    assert max(heat) == 1 and min(heat) == 0


def test_each_view_is_drawn(draw, show):
    page = show(draw(THREADS))
    for key, view in enumerate(VIEWS, 1):
        press(page, str(key))
        assert view_of(page) == view
        assert page.locator(f"main .panel").first.is_visible()
    assert "Python" in page.inner_text("main") and f"{ALL} samples" in page.inner_text("main")
    press(page, "2")
    painted = page.evaluate("""() => {
        const canvas = document.querySelector('.stage canvas');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const colours = new Set();
        for (let i = 0; i < pixels.length; i += 4)
            colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
        return colours.size;
    }""")
    assert painted > 4


def tip_at(page, row, share):
    box = page.locator(".stage").bounding_box()
    page.mouse.move(box["x"] + box["width"] * share, box["y"] + 21 * row + 10)
    settle(page)
    return re.sub(r"\n+", "\n", page.inner_text(".flame .tip"))


def test_the_flame_graph(draw, show):
    page = show(draw(THREADS), "view=flame")
    assert tip_at(page, 0, 0.5).startswith("all samples")
    assert f"main\n/srv/app/app.py\ntotal {percent(total(MAIN))}" in tip_at(page, 1, 0.2)
    # main calls work (100), deep (50), load (30).
    assert f"work\n/srv/app/app.py\ntotal {percent(100)}" in tip_at(page, 2, 0.2)
    page.mouse.click(*[page.locator(".stage").bounding_box()[side] + by for side, by in (("x", 60), ("y", 52))])
    settle(page)
    assert "zoom" in words_of(page)
    assert "work" in tip_at(page, 2, 0.9) and "work" in page.inner_text(".details")
    press(page, "Backspace")
    assert "main" in tip_at(page, 2, 0.2) or "work" in tip_at(page, 2, 0.2)
    press(page, "Escape")
    assert "zoom" not in words_of(page)
    press(page, "c")
    assert f"c_function\ntotal {percent(55)}" not in tip_at(page, 3, 0.1)
    page.fill("#search", "c_function")
    settle(page)
    assert f"found: {percent(65)} in 2 boxes" in page.inner_text(".flame h2")
    page.press("#search", "Enter")
    press(page, "n")
    assert "c_function" in page.inner_text(".details")


@pytest.mark.parametrize("words", ["view=flame", "view=flame&bytime"])
def test_the_pointer_and_keys_before_the_graph_is_drawn_anew(draw, show, words):
    """What they are at is of a graph that is no longer selected, and has more boxes than the new one."""
    page = show(draw(THREADS), words)
    for share in range(20):
        tip_at(page, 2, share / 20 + 0.01)
        if page.is_visible(".flame .tip"):
            break
    assert page.is_visible(".flame .tip")
    page.evaluate("""words => new Promise(done => {
        addEventListener("hashchange", () => {
            const stage = document.querySelector(".stage");
            stage.querySelector("canvas").dispatchEvent(new PointerEvent("pointermove", { clientX: 9, clientY: 9 }));
            for (const key of ["ArrowDown", "ArrowRight", "Enter"])
                stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
            done();
        }, { once: true });
        location.hash = words;
    })""", f"{words}&hide=0.1.2.3.4")
    settle(page)
    assert "without" in page.inner_text(".chips") and tip_at(page, 1, 0.1).startswith("[no frame shown]")


def test_boxes_that_are_narrower_than_a_pixel(draw, show):
    """They are one box, which leads to the box above; zoomed, they are as wide as they are."""
    threads = {b"main": {(MAIN, py(f"f{i}")): 1 for i in range(1600)} | {(MAIN, WORK, py(f"g{i}")): 1 for i in range(8)}}
    page = show(draw(threads), "view=flame")
    assert "1,600 more boxes" in tip_at(page, 2, 0.5)
    assert tip_at(page, 2, 0.002).startswith("work\n")
    box = page.locator(".stage").bounding_box()
    page.mouse.click(box["x"] + 2, box["y"] + 21 * 2 + 10)
    settle(page)
    assert [tip_at(page, 3, (i + 0.5) / 8).split("\n")[0] for i in (0, 7)] == ["g0", "g7"]
    press(page, "Escape")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 21 * 2 + 10)
    settle(page)
    assert words_of(page)["zoom"] and "main" in page.inner_text(".details")


def test_the_call_tree(draw, show):
    page = show(draw(THREADS), "view=tree")
    found = tree_rows(page)
    assert found[0] == ("main", "1", percent(total(MAIN)))
    assert ("work", "2", percent(100)) in found and ("deep", "2", percent(50)) in found
    page.focus('[aria-label="Call tree"].list')
    press(page, "ArrowLeft")
    assert [row[0] for row in tree_rows(page)] == ["main", "[no Python code]"]
    press(page, "ArrowRight", "ArrowRight")
    assert page.inner_text('.row[aria-selected="true"] .symbol') == "work"
    press(page, "i")
    found = tree_rows(page)
    assert found[0] == ("work", "1", percent(own(WORK))) and ("load", "1", percent(own(LOAD))) in found
    page.focus('[aria-label="Call tree"].list')
    press(page, "ArrowRight")
    assert tree_rows(page)[1] == ("main", "2", percent(own(WORK)))


def test_the_program_is_named_as_it_is(kaa, tmp_path, show):
    """With all letters, whatever the locale; whole where there is room, and else with the end of its path."""
    path = "/srv/数据处理/" + "folder/" * 30 + "größe.py"
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("<module>", path, 1, 2),): 5})
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html", env={**os.environ, "LC_ALL": "C"})
    page = show(tmp_path / "out.html", "view=summary", viewport={"width": 390, "height": 844})
    assert page.title() == path and page.text_content("h1") == path
    assert page.text_content('.summary dt:text-is("Program") + dd') == path
    head, end = (page.locator(selector).bounding_box() for selector in ("h1", "h1 span:last-child"))
    kaa("flamegraph", "-i", data, "-o", tmp_path / "flame.html", env={**os.environ, "LC_ALL": "C"})
    assert f"<title>{path} - flame graph</title>" in (tmp_path / "flame.html").read_text()
    assert end["width"] > 30 and end["x"] + end["width"] <= head["x"] + head["width"] + 1 <= 391


def test_tasks_of_asyncio_are_listed(draw, show):
    """With their shares, the heaviest first; one that is clicked is shown alone."""
    cpu, job, nameless = (f"py::task{name}:<asyncio>".encode() for name in (" cpu", " job-1", ""))
    no_task = b"py::task other:/srv/app/task.py"
    page = show(draw({b"loop": {(cpu, WORK): 30, (job, LOAD): 55, (nameless, WORK): 5, (no_task, WORK): 4, (MAIN, WORK, cpu): 6}}), "view=summary")
    found = [[cell.inner_text() for cell in row.query_selector_all("td")] for row in page.query_selector_all(".summary table tbody tr")
             if len(row.query_selector_all("td")) == 2]
    assert found == [["55.0%", "job-1"], ["30.0%", "cpu"], ["5.0%", "without a name, or not read"]]
    page.click(".summary button:text-is('cpu')")
    settle(page)
    # Whatever has it in its stack, as with "Only this" of any function.
    assert page.inner_text(".selected").startswith("36.0% of all")
    assert "load" not in rows(page, "Functions")
    page = show(draw(THREADS), "view=summary")
    assert "asyncio" not in page.inner_text(".summary")


def test_search_and_only(draw, show):
    page = show(draw(THREADS))
    press(page, "/")
    page.keyboard.type("load.py")
    settle(page)
    assert set(rows(page, "Functions")) == {"load"}
    # Shares stay those of all samples, until only these are asked for.
    assert rows(page, "Functions")["load"][1] == percent(total(LOAD))
    press(page, "Shift+Enter")
    assert rows(page, "Functions")["load"] == ("100.0%", "100.0%")
    assert rows(page, "Functions")["main"] == ("", "100.0%")
    assert f"{percent(50)} of all: 50 samples" in page.inner_text(".chips")
    page.click(".chip")
    settle(page)
    assert rows(page, "Functions")["main"][1] == percent(total(MAIN))
    press(page, "/")
    page.keyboard.type("no such thing")
    settle(page)
    assert not rows(page, "Functions")


def choose(page, name):
    """The function, in the first view."""
    page.click(f'[aria-label="Functions"].list .row:has(.symbol:text-is("{name}")) .name')
    settle(page)


def test_hide(draw, show):
    """As if the function's frames were in no stack: numbers, graph, tree and address, and the way back."""
    def expected(*hidden):
        stacks = [([name for name in stack if name in NAMES.values() and name not in hidden], count) for stack, count in samples()]
        found = {name: (percent(sum(count for stack, count in stacks if stack[-1:] == [symbol])),
                        percent(sum(count for stack, count in stacks if symbol in stack)))
                 for name, symbol in NAMES.items() if symbol not in hidden}
        nobody = percent(sum(count for stack, count in stacks if not stack))
        return {**found, "[no frame shown]" if hidden else "[no Python code]": (nobody, nobody)}

    path = draw(THREADS)
    page = show(path)
    choose(page, "work")
    press(page, "h")
    assert rows(page, "Functions") == expected(WORK) and "without work" in page.inner_text(".chips")
    assert set(rows(page, "Lines").values()) == set(expected(WORK).values())
    choose(page, "main")
    page.click('.details button:has-text("Hide")')
    settle(page)
    assert rows(page, "Functions") == expected(WORK, MAIN)
    link = page.evaluate("location.hash")
    assert rows(show(path, link), "Functions") == expected(WORK, MAIN)
    page.go_back()
    settle(page)
    assert rows(page, "Functions") == expected(WORK)
    # What work calls is what main calls.
    press(page, "2")
    texts = {tip_at(page, row, share / 20 + 0.01) for row in (1, 2, 3) for share in range(20)}
    assert any(f"load\n/srv/app/load.py\ntotal {percent(total(LOAD))}" in text for text in texts)
    assert not any(text.startswith("work") for text in texts)
    # C code that it calls, too.
    press(page, "c", "1")
    assert "work" not in rows(page, "Functions")
    assert rows(page, "Functions")["c_function"] == (percent(65), percent(65))
    assert rows(page, "Functions")["main"] == (percent(10 + 20 + 5), percent(total(MAIN)))
    press(page, "x")
    assert "work" in rows(page, "Functions") and not page.is_visible(".chips")
    press(page, "c")
    assert rows(page, "Functions") == expected()
    # Nothing is left.
    again = show(path, "hide=" + ".".join(map(str, range(len(NAMES) + 1))))
    assert rows(again, "Functions") == {"[no frame shown]": ("100.0%", "100.0%")}


def tree_of(page):
    """[(name, level, total, own)] of the call tree, opened as far as it goes."""
    page.focus('[aria-label="Call tree"].list')
    press(page, "Home")
    for _ in range(page.locator(".treerow").count() * 8):
        before = page.get_attribute('[aria-label="Call tree"].list', "aria-activedescendant")
        if page.get_attribute(f"#{before}", "aria-expanded") == "false":
            press(page, "ArrowRight")
        press(page, "ArrowDown")
        if page.get_attribute('[aria-label="Call tree"].list', "aria-activedescendant") == before:
            break
    return [(row.query_selector(".symbol").inner_text(), row.get_attribute("aria-level"),
             *[cell.inner_text() for cell in row.query_selector_all(".share")]) for row in page.query_selector_all(".treerow")]


def test_merged_recursion(draw, show):
    """A function that calls itself, directly or by another, is one frame: what it calls is below the first one."""
    a, b, leaf = py("a"), py("b"), py("leaf")
    stacks = {(a, a, a): 10, (a, a, leaf): 20, (a, b, a, leaf): 30, (a, b, leaf): 5, (a, b, a, b): 25, (b, C, b): 10}
    path = draw({b"main": stacks})
    page = show(path, "view=tree")
    assert ("a", "2") in [row[:2] for row in tree_of(page)]
    press(page, "1")
    before = rows(page, "Functions")
    assert not page.is_visible("#merge")
    press(page, "3", "m")
    assert page.get_attribute("#merge", "aria-pressed") == "true"
    merged = [("a", "1", "90.0%", "10.0%"), ("leaf", "2", "50.0%", "50.0%"), ("b", "2", "30.0%", "25.0%"),
              ("leaf", "3", "5.0%", "5.0%"), ("b", "1", "10.0%", "10.0%")]
    assert tree_of(page) == merged
    # The graph is the same tree; with C code b calls it, and is called by it.
    press(page, "2")
    assert tip_at(page, 1, 0.2).startswith("a\n") and tip_at(page, 2, 0.2).startswith("leaf\n")
    assert "total 50.0%" in tip_at(page, 2, 0.2)
    press(page, "c", "3")
    assert [row[:2] for row in tree_of(page)] == [row[:2] for row in merged]
    press(page, "c", "1")
    assert rows(page, "Functions") == before
    link = page.evaluate("location.hash")
    assert tree_of(show(path, link + "&view=tree")) == merged
    press(page, "3", "m")
    assert "merge" not in page.evaluate("location.hash") and ("a", "2") in [row[:2] for row in tree_of(page)]
    page.go_back()
    settle(page)
    assert tree_of(page) == merged


def tree_rows(page):
    """[(name, level, total)] of the call tree, of rows that are open."""
    return [(row.query_selector(".symbol").inner_text(), row.get_attribute("aria-level"),
             row.query_selector(".share").inner_text()) for row in page.query_selector_all(".treerow")]


def callers_reported(text):
    """[(name, level, total)] of `kaa report --callers`."""
    rows = []
    for total, blanks, name in re.findall(r"^ *(\d+\.\d%)  ( *(?:< )?)(\S+)", text, re.M):
        above = [row for row in rows if row[3] < len(blanks.replace("< ", ""))]
        level = 0 if not rows else rows[-1][1] + 1 if "<" in blanks else above[-1][1] + 1
        rows.append((name, level, total, len(blanks.replace("< ", ""))))
    return [(name, str(level + 1), total) for name, level, total, _ in rows]


@pytest.mark.parametrize("name", ["burn", "beta", "again", "ping"])
def test_callers(kaa, tmp_path, show, name):
    """The button leads to who calls the function, with the figures of `kaa report --callers`."""
    main, alpha, beta, gamma, burn, leaf, again, ping, pong = (
        (word, "/srv/app.py", 10 * i, 10 * i + 1) for i, word in
        enumerate(("main", "alpha", "beta", "gamma", "burn", "leaf", "again", "ping", "pong"), 1))
    data = planted.sampled(kaa, tmp_path / "perf.data", {
        (main, alpha, burn): 100, (main, beta, burn, leaf): 150, (main, gamma, alpha, burn): 80, (main, beta): 60,
        (main, again, again, again): 50, (main, gamma, again, again, leaf): 40, (main, leaf): 30,
        (main, ping, pong, ping, pong, ping): 70, (gamma, ping): 40})
    wanted = callers_reported(kaa("report", "--stdio", "--callers", name, "-i", data, env=answer.WIDE).stdout)
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "search=" + name)
    choose(page, name)
    page.click('.details button:has-text("Callers")')
    settle(page)
    assert tree_rows(page) == wanted and len(wanted) > 1
    assert not page.is_visible(".chips") and f"Callers of {name}" in page.inner_text(".tree h2")
    link = page.evaluate("location.hash")
    assert tree_rows(show(tmp_path / "out.html", link)) == wanted
    page.click(".tree .callersof")
    settle(page)
    assert len([row for row in page.query_selector_all('.treerow[aria-level="1"]')]) > 2 and not page.is_visible(".tree .callersof")


def test_callers_of_the_focus(draw, show):
    """What samples of a function are selected by does not cut the way to who calls it."""
    page = show(draw(THREADS), "view=tree&invert")
    page.click('.treerow:has(.symbol:text-is("work")) .name')
    press(page, "o")
    assert ("main", "2", "80.0%") in [row[:3] for row in tree_of(page)]


SLEEP, GIL, FAULTS = b"sched:sched_stat_sleep", b"gil-clock", b"page-faults"
# CPython's, in which a thread waits for the GIL.
ONLY, RESTORE = py("only"), b"PyEval_RestoreThread"
# Event, thread, stack, nanoseconds from the first sample, period.
MORE = [(SLEEP, b"first", (MAIN, LOAD), 50000, 40000), (SLEEP, b"first", (MAIN, C, RESTORE), 190000, 20000),
        (SLEEP, b"second", (MAIN, DEEP), 150000, 60000),
        (GIL, b"first", (MAIN, WORK), 10000, 1000), (GIL, b"first", (MAIN,), 20000, 3000),
        *[(FAULTS, b"first", (MAIN, ONLY), 30000 + i, 1) for i in range(3)], (FAULTS, b"second", (MAIN, WORK), 140000, 1)]


@pytest.fixture
def several(kaa, tmp_path):
    """A page of four events, and what the reports have of each: {event: {function: own}}."""
    found = {}
    mapped = {RESTORE: place_of_this_python(RESTORE.decode())}
    with recording(tmp_path / "perf.data", THREADS, more=MORE, mapped=mapped) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
        for event in ("task-clock", *(event.decode() for event in (SLEEP, GIL, FAULTS))):
            text = kaa("report", "--stdio", "--event", event, "-i", data, env=answer.WIDE).stdout
            found[event] = {name: f"{own}%" for (name, _), (own, _) in answer.functions_of(text).items()
                            if own and not name.startswith("[")}
    return tmp_path / "out.html", found


def test_events_side_by_side(several, show):
    """Own shares of every event are those of its report; rows that only others have are there, too."""
    path, expected = several
    page = show(path)
    for event in expected:
        page.select_option('select[aria-label="Event"]', label=event)
        settle(page)
        names = [event, *[head.get_attribute("title").split(",")[0] for head in page.query_selector_all("button.side")]]
        assert set(names) == set(expected) and len(names) == 4
        found = rows(page, "Functions")
        for at, name in enumerate(names):
            column = 0 if not at else at + 1
            shares = {fn: cells[column] for fn, cells in found.items() if cells[column] and not fn.startswith("[")}
            assert shares == expected[name] and len(shares) > 1, (event, name)
        assert "only" in found and "work" in found
    # A head is a way to the event; the state stands in the address.
    page.click(f'button.side:has-text("{GIL.decode()}")')
    settle(page)
    assert page.inner_text('select[aria-label="Event"] option:checked') == GIL.decode()
    press(page, "e")
    assert {len(cells) for cells in rows(page, "Functions").values()} == {2} and "only" not in rows(page, "Functions")
    link = page.evaluate("location.hash")
    assert {len(cells) for cells in rows(show(path, link), "Functions").values()} == {2}
    page.go_back()
    settle(page)
    assert {len(cells) for cells in rows(page, "Functions").values()} == {5}
    # Filters are those of all.
    page.select_option('select[aria-label="Event"]', label="task-clock")
    page.click('.track button:has-text("second")')
    settle(page)
    assert "only" not in rows(page, "Functions")
    cell = page.locator('[aria-label="Functions"].list .row:has(.symbol:text-is("work")) .side[title^="page-faults"]')
    assert cell.get_attribute("title") == "page-faults: own 100.0%, total 100.0%"


def test_the_flame_graph_by_time(several, show):
    """One thread, from left to right: boxes begin and end when the planted samples do, a microsecond each."""
    def box_at(page, row, microsecond, begin=0, end=199):
        text = tip_at(page, row, (microsecond - begin) / (end - begin))
        return text.split("\n") if page.is_visible(".flame .tip") else None

    def times_of(box):
        parts = re.fullmatch(r"([\d.]+) µs – ([\d.]+) µs: [\d.]+ µs", box[-1])
        return float(parts[1]), float(parts[2])

    def near(times, wanted):
        return all(abs(time - right) < 2 for time, right in zip(times, wanted, strict=True))

    path, _ = several
    page = show(path, "event=0&view=flame")
    press(page, "b")
    assert page.get_attribute("#bytime", "aria-pressed") == "true" and "bytime" in page.evaluate("location.hash")
    assert "thread first" in page.inner_text(".flame h2")
    # 10 main, 30 load, 60 work, 20 work and work and load.
    for row, at, name, times in ((1, 60, "main", (0, 119)), (2, 24, "load", (9, 39)), (2, 60, "work", (39, 119)),
                                 (3, 110, "work", (99, 119)), (4, 110, "load", (99, 119))):
        box = box_at(page, row, at)
        assert box[0] == name and near(times_of(box), times), (row, box)
    assert box_at(page, 1, 150) is None and box_at(page, 2, 4) is None and box_at(page, 3, 60) is None
    press(page, "c")
    assert box_at(page, 3, 80)[0] == "c_function" and near(times_of(box_at(page, 3, 80)), (59, 99))
    press(page, "c")
    # A click takes the time of the box: the range of all views.
    stage = page.locator(".stage").bounding_box()
    page.mouse.click(stage["x"] + stage["width"] * 60 / 199, stage["y"] + 21 * 2 + 10)
    settle(page)
    begin, end = (1000 * float(number) for number in words_of(page)["range"].split("-"))
    assert near((begin, end), (39, 119)) and "work" in page.inner_text(".details")
    assert near(times_of(box_at(page, 3, 110, begin, end)), (99, 119))
    link = page.evaluate("location.hash")
    assert box_at(show(path, link), 3, 110, begin, end)[0] == "work"
    page.go_back()
    settle(page)
    assert box_at(page, 2, 24)[0] == "load"
    # By keys.
    page.focus(".stage")
    press(page, "ArrowDown", "ArrowDown")
    assert "load" in page.inner_text(".details")
    press(page, "ArrowRight", "Enter")
    assert "work" in page.inner_text(".details") and words_of(page)["range"]
    press(page, "Escape")
    assert "range" not in words_of(page)
    # Of another thread, and of waits, which begin where they do.
    page.click('.track button:has-text("second")')
    settle(page)
    assert box_at(page, 2, 180)[0] == "deep" and near(times_of(box_at(page, 2, 180)), (149, 199))
    press(page, "x")
    page.select_option('select[aria-label="Event"]', label=SLEEP.decode())
    page.click('.track button:has-text("first")')
    settle(page)
    assert box_at(page, 2, 30)[0] == "load" and near(times_of(box_at(page, 2, 30)), (10, 50))
    assert box_at(page, 1, 5) is None and box_at(page, 1, 60) is None
    press(page, "b")
    assert tip_at(page, 2, 0.5).startswith("load\n/srv/app/load.py\ntotal 66.7%")


def test_columns_of_time_are_few(draw, show):
    """Of thousands of short calls each column has the one that took most of it; boxes are never narrower than that."""
    stacks = {(MAIN, py(f"f{i}"), WORK): 1 for i in range(6000)}
    page = show(draw({b"main": stacks}), "view=flame&bytime")
    names = [tip_at(page, 2, at / 10 + 0.05).split("\n")[0] for at in range(10)]
    assert all(re.fullmatch(r"f\d+", name) for name in names)
    numbers = [int(name[1:]) for name in names]
    assert numbers == sorted(numbers) and all(abs(number - 6000 * (at / 10 + 0.05)) < 30 for at, number in enumerate(numbers))


def lanes_of(page):
    """[(thread, word, where something is drawn, as shares of the width)] of the timeline's narrow tracks."""
    return page.evaluate("""() => {
        const found = [];
        let thread = "";
        for (const track of document.querySelectorAll(".track")) {
            if (!track.matches(".lane")) {
                thread = track.querySelector(".threadname").textContent;
                continue;
            }
            const canvas = track.querySelector("canvas"), {width, height} = canvas;
            // The line above the last one, which is drawn everywhere.
            const pixels = canvas.getContext("2d").getImageData(0, height - 2, width, 1).data;
            const drawn = [...Array(width).keys()].filter(x => pixels[4 * x + 3] > 100);
            found.push([thread, track.querySelector(".label").textContent, drawn.map(x => x / width)]);
        }
        return found;
    }""")


def test_waits_and_the_gil_in_the_timeline(several, show):
    path, _ = several
    page = show(path, "event=0")
    page.wait_for_function("document.querySelector('.track.lane canvas').width > 400")
    settle(page)
    lanes = {(thread, word): places for thread, word, places in lanes_of(page)}
    # In microseconds; what has the GIL is moments, of 1 and 3 µs.
    wanted = {("first", "waits"): [(10, 50), (170, 190)], ("first", "waits for the GIL"): [(170, 190)],
              ("first", "has the GIL"): [(0, 30)], ("second", "waits"): [(90, 150)]}
    assert set(lanes) == set(wanted)
    for lane, spans in wanted.items():
        assert lanes[lane] and all(any(begin - 2 < 199 * place < end + 2 for begin, end in spans) for place in lanes[lane]), lane
        if lane[1] != "has the GIL":
            for begin, end in spans:
                inside = [place for place in lanes[lane] if begin + 2 < 199 * place < end - 2]
                assert len(inside) / len(lanes[lane]) > 0.2, lane
    press(page, "w")
    assert not lanes_of(page) and page.get_attribute("#lanes", "aria-pressed") == "false"
    link = page.evaluate("location.hash")
    assert not lanes_of(show(path, link))
    page.go_back()
    settle(page)
    assert len(lanes_of(page)) == 4
    # What the tracks themselves show is not there a second time.
    page.select_option('select[aria-label="Event"]', label=SLEEP.decode())
    settle(page)
    assert {lane[:2] for lane in map(tuple, lanes_of(page))} == {("first", "waits for the GIL"), ("first", "has the GIL")}


def timeline_tip(page):
    return [line for line in page.inner_text(".timeline .tip").split("\n") if line]


def track_tip(page, track, microsecond):
    """With the pointer at that time of the track."""
    canvas = page.locator(f'.timeline canvas[aria-label="{track}"]')
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] * microsecond / 199, box["y"] + box["height"] / 2)
    settle(page)
    return timeline_tip(page)


def heights_of(page):
    """{label of a track: [how high each column is, in pixels]}."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".track canvas")].map(canvas => {
        const {width, height} = canvas, copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const pixels = copy.getImageData(0, 0, width, height).data, rows = [...Array(height - 1).keys()];
        return [canvas.getAttribute("aria-label").split(":")[0],
                [...Array(width).keys()].map(x => rows.filter(y => pixels[4 * (y * width + x) + 3] > 100).length)];
    }))""")


def test_tracks_of_the_timeline_have_one_scale(kaa, tmp_path, show):
    """A thread that waits all the time has one height, whichever waits it has; all threads are as high as both together."""
    # The page has microseconds.
    ends = (1000, 20000, 47000, 90000, 132000, 199000)
    more = [(SLEEP, b"first", (MAIN, LOAD), end, end - begin) for begin, end in zip((0, *ends), ends)]
    with planted.recording(tmp_path / "perf.data", {b"first": {(MAIN,): 100}, b"second": {(MAIN, WORK): 100}},
                           more=[*more, (SLEEP, b"second", (MAIN, WORK), 120000, 60000)]) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "nolanes")
    page.select_option('select[aria-label="Event"]', label=SLEEP.decode())
    page.wait_for_function("document.querySelector('.track canvas').width > 400")
    settle(page)
    found = heights_of(page)
    first, second, both = found["first"], found["second"], found["all threads"]
    columns = range(2, len(both) - 2)
    assert max(first[x] for x in columns) - min(first[x] for x in columns) <= 1
    for x in columns:
        assert abs(first[x] + second[x] - both[x]) <= 2, x
    inside = [x for x in columns if 62 < 199 * x / len(both) < 118]
    assert inside and all(abs(first[x] - second[x]) <= 1 and first[x] > 5 for x in inside)
    # Of CPU time, too, no thread is higher than all threads.
    page.select_option('select[aria-label="Event"]', label="task-clock")
    settle(page)
    page.wait_for_function("document.querySelector('.track canvas').getAttribute('aria-label').endsWith('task-clock')")
    found = heights_of(page)
    assert max(found["all threads"]) > 15
    for thread in "first", "second":
        assert all(one <= other + 1 for one, other in zip(found[thread], found["all threads"])) and max(found[thread]) > 15


def test_waits_that_end_together(kaa, tmp_path, show):
    """A sleep, and the wait for a processor that follows it, have one end in a recording: they are drawn one after the other."""
    more = [(SLEEP, b"first", (MAIN, LOAD), 99000, 40000), (SLEEP, b"first", (MAIN, WORK), 99000, 30000),
            (SLEEP, b"first", (MAIN,), 20000, 20000)]
    with planted.recording(tmp_path / "perf.data", {b"first": {(MAIN,): 100}}, more=sorted(more, key=lambda one: one[3])) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "nolanes")
    page.select_option('select[aria-label="Event"]', label=SLEEP.decode())
    settle(page)
    heights = heights_of(page)["first"]
    waits = [x for x in range(len(heights)) if not 19 < 99 * x / len(heights) < 30 and x < len(heights) - 2]
    assert min(heights[x] for x in waits[2:]) > 15 and max(heights) - min(heights[x] for x in waits[2:]) <= 1
    found = {track_tip(page, f"first: {SLEEP.decode()}", 199 * at / 99)[1] for at in (40, 80)}
    assert found == {"29 µs – 69 µs", "69 µs – 99 µs"}


def test_many_threads_of_the_timeline(kaa, tmp_path, show):
    """Where many wait at a time, each is as high as it can be; how much lower all together are drawn stands there."""
    names = [b"thread %d" % i for i in range(5)]
    with planted.recording(tmp_path / "perf.data", {name: {(MAIN,): 20} for name in names},
                           more=[(SLEEP, name, (MAIN, LOAD), 99000, 99000) for name in names]) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "nolanes")
    page.select_option('select[aria-label="Event"]', label=SLEEP.decode())
    settle(page)
    found = heights_of(page)
    assert len(found) == 6 and all(heights[len(heights) // 2] > 15 for heights in found.values())
    assert page.inner_text(".track .threadnumber") == "1 : 5"
    page.select_option('select[aria-label="Event"]', label="task-clock")
    settle(page)
    assert page.text_content(".track .threadnumber") == ""


def test_the_legend_has_the_colours_of_the_boxes(kaa, tmp_path, show):
    """Also of kinds that have no time themselves."""
    program, package = ("run", "/srv/app/run.py", 1, 2), ("get", "/srv/lib/python3.12/site-packages/requests/api.py", 3, 4)
    data = planted.sampled(kaa, tmp_path / "perf.data", {(program, package, program): 20})
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "view=flame")
    legend = {item.inner_text().strip(): item.query_selector(".swatch").evaluate("mark => getComputedStyle(mark).backgroundImage")
              for item in page.query_selector_all(".legend li")}
    assert set(legend) == {"this program 100.0%", "installed packages"}
    column = page.evaluate("[...document.querySelector('.stage canvas').getContext('2d').getImageData(900, 0, 1, 80).data]")
    for row, word in (1, "this program 100.0%"), (2, "installed packages"):
        red, green, blue, _ = column[4 * (21 * row + 4):][:4]
        assert f"rgb({red}, {green}, {blue})" in legend[word], (column, legend)


def test_tips_of_the_timeline(several, show):
    """Each track says what it has at the pointer: which wait, how long, where; or which part of the time, and where."""
    path, _ = several
    page = show(path, "event=0")
    waits, has = f"first waits: {SLEEP.decode()}", f"first has the GIL: {GIL.decode()}"
    name, when, where, *_, event = track_tip(page, waits, 30)
    assert (name, when, event) == ("first waits: 40 µs", "10 µs – 50 µs", SLEEP.decode())
    assert where.startswith("load, /srv/app/load.py")
    name, when, where, *_ = track_tip(page, waits, 180)
    assert (name, when) == ("first waits: 20 µs", "170 µs – 190 µs") and where.startswith("main, ")
    name, when, event = track_tip(page, waits, 100)
    assert name == "first waits" and event == SLEEP.decode()
    assert all(98 < float(time) < 102 for time in re.fullmatch(r"nothing from ([\d.]+) µs to ([\d.]+) µs", when).groups())
    gil = f"first waits for the GIL: {SLEEP.decode()}"
    assert track_tip(page, gil, 30)[0] == "first waits for the GIL" and track_tip(page, gil, 180)[0] == "first waits for the GIL: 20 µs"
    # Moments; a twentieth of all time is drawn as one.
    for microsecond, name in ((15, ": 1.0 µs"), (25, ": 3.0 µs"), (35, "")):
        assert track_tip(page, has, microsecond)[0] == f"first has the GIL{name}"
    # Of 200 samples eight are drawn as one: a millisecond each.
    for track in ("first", "all threads"):
        name, when, where, event = track_tip(page, f"{track}: task-clock", 60)
        assert re.fullmatch(rf"{track}: [789]\.0 ms", name) and re.search(r", [789] samples$", when)
        assert where.startswith("work, /srv/app/app.py") and event == "task-clock"
    press(page, "c")
    assert track_tip(page, waits, 180)[2].startswith(RESTORE.decode())
    press(page, "c")
    assert not page.is_visible(".timeline .tip")
    # It stays in the window, and is gone where no track is.
    track_tip(page, "second: task-clock", 199)
    tip = page.locator(".timeline .tip").bounding_box()
    assert tip["x"] > 0 and tip["x"] + tip["width"] <= 1280
    page.mouse.move(640, 600)
    settle(page)
    assert not page.is_visible(".timeline .tip")


def test_tips_of_the_timeline_by_keys(several, show):
    """Of the track that is chosen: what it has in the range, or in all."""
    path, _ = several
    page = show(path, "event=0")
    page.focus(".timeline")
    press(page, "ArrowDown")
    name, when, where, _ = timeline_tip(page)
    assert (name, when) == (f"all threads: {ALL} ms", f"0 – 199 µs, {ALL} samples") and re.match(r"[\d.]+% in ", where)
    press(page, "ArrowDown", "ArrowDown")
    name, when, where, *_ = timeline_tip(page)
    assert (name, when) == ("first waits: 40 µs", "10 µs – 50 µs, the longest of 2 here") and where.startswith("load, ")
    assert page.inner_text(".track.told .label") == "waits"
    # The first fifth.
    press(page, "ArrowRight")
    assert timeline_tip(page)[1] == "10 µs – 50 µs"
    for _ in range(4):
        press(page, "Shift+ArrowLeft")
    press(page, "ArrowUp")
    assert re.fullmatch(r"first: 2\d ms", timeline_tip(page)[0])
    press(page, "Escape")
    assert "range" not in words_of(page) and timeline_tip(page)[0] == "first: 120 ms"
    press(page, "Escape")
    assert not page.is_visible(".timeline .tip") and not page.query_selector(".told")


def test_one_event_has_no_sides(draw, show):
    page = show(draw(THREADS))
    press(page, "e", "w")
    assert not page.is_visible("#sides") and not page.is_visible("#lanes") and "nolanes" not in page.evaluate("location.hash")
    assert "alone" not in page.evaluate("location.hash")


def test_one_thread(draw, show):
    page = show(draw(THREADS))
    page.click('.track button:has-text("second")')
    settle(page)
    for name, symbol in NAMES.items():
        assert rows(page, "Functions").get(name, ("", "")) == (percent(own(symbol, threads=[b"second"]), 80),
                                                               percent(total(symbol, threads=[b"second"]), 80)), name
    assert f"{percent(80)} of all: 80 samples" in page.inner_text(".chips")


def test_threads_of_one_name(kaa, tmp_path, show):
    """The number of the process tells them apart; in one process that of the thread does."""
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("main", "/srv/a.py", 1, 2),): 30},
                           threads=("MainThread", "MainThread", "only", "pool", "pool"), pids=(70, 71, 71, 71, 71))
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html")
    wanted = {"all threads", "MainThread 70", "MainThread 71", "only", "pool 73", "pool 74"}
    assert {canvas.get_attribute("aria-label").split(":")[0] for canvas in page.query_selector_all(".track canvas")} == wanted
    shown = {" ".join(filter(None, (label.query_selector(part).inner_text() for part in (".threadname", ".threadnumber"))))
             for label in page.query_selector_all(".track .label")[1:]}
    assert shown == wanted - {"all threads"}
    page.click('.track button:has-text("71")')
    settle(page)
    assert "thread MainThread 71" in page.inner_text(".chips")


def test_a_range_of_time(draw, show):
    """Drawn by the pointer, and moved by keys: all views have as many samples."""
    page = show(draw(THREADS))
    axis = page.locator(".axis").bounding_box()
    page.mouse.move(axis["x"] + axis["width"] * 0.25, axis["y"] + 5)
    page.mouse.down()
    page.mouse.move(axis["x"] + axis["width"] * 0.5, axis["y"] + 5, steps=4)
    page.mouse.up()
    settle(page)
    said = page.inner_text(".selected")
    count = int(re.search(r": ([\d,]+) samples", said)[1])
    assert ALL * 0.2 < count < ALL * 0.3 and "range" in words_of(page)
    own_shares = [float(own.rstrip("%") or 0) for own, _ in rows(page, "Functions").values()]
    assert abs(sum(own_shares) - 100) < 0.5
    page.focus(".timeline")
    before = words_of(page)["range"]
    press(page, "ArrowRight")
    assert words_of(page)["range"] != before
    press(page, "Escape")
    assert "range" not in words_of(page) and not page.is_visible(".chips")


def test_waits_in_a_range_of_time(several, show):
    """One that overlaps the range counts with the part that lies in it, in all views; without a range all of it does."""
    def selected(page):
        return page.inner_text(".selected").partition(": ")[2]

    path, expected = several
    page = show(path)
    page.select_option('select[aria-label="Event"]', label=SLEEP.decode())
    press(page, "e")
    assert {name: own for name, (own, _) in rows(page, "Functions").items()} == expected[SLEEP.decode()]
    base = page.evaluate("location.hash")
    # load waits from 10 to 50 µs, deep from 90 to 150: in neither do all ends lie.
    for begin, end, said, own in ((20, 30, "1 sample, 10 µs", {"load": "100.0%"}), (100, 140, "1 sample, 40 µs", {"deep": "100.0%"}),
                                  (40, 100, "2 samples, 20 µs", {"load": "50.0%", "deep": "50.0%"}),
                                  (0, 199, "3 samples, 120 µs", expected[SLEEP.decode()]), (60, 80, "0 samples, 0.0 µs", {})):
        again = show(path, f"{base}&range={begin / 1000}-{end / 1000}")
        assert selected(again) == said
        assert {name: cells[0] for name, cells in rows(again, "Functions").items() if cells[0]} == own, (begin, end)
    # The graph by time, too, is drawn from where the wait begins.
    again = show(path, f"{base}&range=0.02-0.03&view=flame&bytime")
    assert tip_at(again, 2, 0.1).startswith("load\n") and tip_at(again, 2, 0.9).startswith("load\n")
    press(again, "?")
    assert "A wait counts in a range of time with the part" in again.inner_text("dialog")


def details(page):
    return page.inner_text(".details .what")


def test_what_has_no_python_code_is_looked_at_as_a_function_is(kaa, tmp_path, show):
    """By a click, by keys and by a link, in table, graph and tree; it says whose time it is."""
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("main", "/srv/a.py", 1, 2),): 30, (("c", "/lib/libc.so"),): 10},
                           threads=("MainThread", "bash", "sleep"), pids=(70, 80, 90), processes=("python3", "bash", "sleep"))
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html")
    nobody = "[no Python code]"
    choose(page, nobody)
    said = details(page)
    assert said.startswith(nobody) and "own 25.0% (30 ms)" in said and "of bash 8.3%, python3 8.3%, sleep 8.3%" in said
    assert page.inner_text('.row[aria-selected="true"] .symbol') == nobody
    link = page.evaluate("location.hash")
    assert details(show(tmp_path / "out.html", link)) == said
    page.click('.details button[aria-label="Close"]')
    assert not page.is_visible(".details")
    page.focus('[aria-label="Functions"].list')
    press(page, "End", "Enter")
    assert details(page) == said
    press(page, "3")
    page.click(f'.treerow:has(.symbol:text-is("{nobody}")) .name')
    assert details(page) == said
    press(page, "2")
    page.focus(".stage")
    press(page, "ArrowDown", "ArrowRight")
    assert details(page) == said
    # Of one thread; and what has no name is no function that could be hidden.
    page.click('.track button:has-text("bash")')
    settle(page)
    assert "of bash 25.0%" in details(page)
    press(page, "h", "o", "g")
    assert page.is_visible(".details") and "hide" not in words_of(page) and "focus" not in words_of(page)
    page.click('.details button:has-text("C code")')
    settle(page)
    assert page.get_attribute("#native", "aria-pressed") == "true"


def test_a_function_in_the_graph(draw, show):
    """Just its boxes are marked, wherever they are; one of them is in view, and a search is another mark."""
    short, long, deep = py("comp"), py("_compile_bytecode"), [py(f"f{i}") for i in range(60)]
    path = draw({b"main": {(MAIN, long, short): 10, (MAIN, short): 5, (MAIN, long): 20, (MAIN, *deep, short): 8}})
    page = show(path, "view=flame&zoom=0")
    press(page, "1")
    choose(page, "comp")
    page.click('.details button:has-text("In the graph")')
    settle(page)
    assert view_of(page) == "flame" and "zoom" not in words_of(page) and page.input_value("#search") == ""
    said = page.inner_text(".flame h2")
    assert "comp ×" in said and f"found: {percent(23, 43)} in 3 boxes" in said
    link = page.evaluate("location.hash")
    assert "in 3 boxes" in show(path, link).inner_text(".flame h2")
    press(page, "3")
    assert {row.inner_text() for row in page.query_selector_all(".treerow .symbol.hit")} == {"comp"}
    press(page, "2")
    page.fill("#search", "comp")
    settle(page)
    assert "in 4 boxes" in page.inner_text(".flame h2") and not page.is_visible("#marked")
    page.go_back()
    settle(page)
    page.click("#marked")
    settle(page)
    assert "found" not in page.inner_text(".flame h2")
    # The heaviest of them may be far down.
    press(page, "1")
    page.fill("#search", "f59")
    settle(page)
    choose(page, "f59")
    press(page, "g")
    top = page.evaluate("document.querySelector('.stage').scrollTop")
    height = page.locator(".stage").bounding_box()["height"]
    assert top <= 21 * 61 <= top + height
    press(page, "Escape")
    assert "mark" not in words_of(page)


def test_what_own_time_was_spent_in_adds_up(kaa, tmp_path, show):
    """The rest of a few parts is 'others'; the tip and the bar of details have all of them."""
    main = ("main", "/srv/a.py", 1, 2)
    parts = {"a": 40, "b": 20, "c": 15, "d": 10, "e": 8, "f": 7}
    data = planted.sampled(kaa, tmp_path / "perf.data",
                           {(main, ("work", f"/usr/lib/lib{name}.so")): count for name, count in parts.items()})
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", viewport={"width": 1600, "height": 800})
    cell = page.locator('[aria-label="Functions"].list .row .spent')
    assert cell.inner_text() == "work (liba) 40, work (libb) 20, work (libc) 15, others 25"
    whole = ", ".join(f"work (lib{name}) {count}" for name, count in parts.items())
    assert cell.get_attribute("title") == whole
    choose(page, "main")
    assert f"spent in {whole}" in details(page)


def drawn_texts(page, width=1281):
    """[[text, contrast to what it is drawn on]] of the flame graph, drawn anew: the most frequent colour beside the text counts."""
    page.evaluate("""() => {
        const old = CanvasRenderingContext2D.prototype.fillText, found = window.drawnTexts = [];
        const light = parts => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
            const value = parts[i] / 255;
            return sum + part * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
        }, 0);
        const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const behind = (canvas, x, y) => {
            const ratio = devicePixelRatio, counts = {};
            probe.globalAlpha = 1;
            probe.fillStyle = getComputedStyle(document.body).backgroundColor;
            probe.fillRect(0, 0, 14, 12);
            probe.drawImage(canvas, (x - 3) * ratio, (y - 6) * ratio, 14, 12, 0, 0, 14, 12);
            const pixels = probe.getImageData(0, 0, 14, 12).data;
            for (let i = 0; i < pixels.length; i += 4)
                counts[pixels.slice(i, i + 3)] = (counts[pixels.slice(i, i + 3)] || 0) + 1;
            return Object.entries(counts).sort((a, b) => b[1] - a[1])[0][0].split(",").map(Number);
        };
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
            if (this.canvas.closest(".stage") && text) {
                const box = behind(this.canvas, x, y);
                probe.fillStyle = `rgb(${box})`;
                probe.fillRect(0, 0, 1, 1);
                probe.globalAlpha = this.globalAlpha;
                probe.fillStyle = this.fillStyle;
                probe.fillRect(0, 0, 1, 1);
                const [one, other] = [light(probe.getImageData(0, 0, 1, 1).data), light(box)].sort((a, b) => a - b);
                found.push([text, (other + 0.05) / (one + 0.05)]);
            }
            return old.call(this, text, x, y, ...more);
        };
    }""")
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("() => window.drawnTexts.length > 1")
    settle(page)
    return page.evaluate("window.drawnTexts")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("words", ["view=flame", "view=flame&search=work", "view=flame&native", "view=flame&native&zoom=0.2"])
def test_texts_of_boxes_can_be_read(draw, show, scheme, words):
    package, standard = py("get").replace(b"/srv/app", b"/srv/lib/python3.12/site-packages/requests"), b"py::dumps:/usr/lib/python3.12/json/a.py"
    page = show(draw({b"main": {(MAIN, WORK, C): 20, (MAIN, package): 20, (MAIN, standard): 20, (C,): 20, (MAIN, WORK): 10,
                                (MAIN, LOAD, DEEP): 20}}), words, color_scheme=scheme)
    found = drawn_texts(page)
    assert {text.split()[0] for text, _ in found} >= {"all", "main"}
    assert not [(text, contrast) for text, contrast in found if contrast < 4.5]


def test_paths_are_cut_at_their_beginning(kaa, tmp_path, show):
    """The file and the line are there: in tables, tree, list of files and graph."""
    path = "/srv/" + "long_folder/" * 20 + "module_at_the_end.py"
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("main", path, 7, 9),): 10})
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    for width in 1440, 1100, 390:
        page = show(tmp_path / "out.html", viewport={"width": width, "height": 844})
        for view, cell in (("1", ".functions .place"), ("1", ".lines .symbol"), ("3", ".treerow .place")):
            press(page, view)
            cut = page.evaluate("""cell => {
                const outer = document.querySelector(`.list ${cell}`), text = outer.querySelector("bdi").firstChild;
                const range = document.createRange();
                range.setStart(text, text.length - 1);
                range.setEnd(text, text.length);
                const [last, room] = [range.getBoundingClientRect(), outer.getBoundingClientRect()];
                range.selectNodeContents(text);
                return [range.getBoundingClientRect().left < room.left, last.right <= room.right + 1 && last.left >= room.left];
            }""", cell)
            assert cut == [True, True], (width, cell)
        press(page, "4")
        option = page.inner_text('select[aria-label="File"] option')
        assert "…" in option and option.endswith("module_at_the_end.py")
    page = show(tmp_path / "out.html", "view=flame", viewport={"width": 600, "height": 844})
    assert [text for text, _ in drawn_texts(page, 500) if text.startswith("main   …") and text.endswith("_at_the_end.py:7")]


def test_names_have_room_beside_events(several, show):
    path, _ = several
    page = show(path, "event=0", viewport={"width": 1100, "height": 800})
    for name in page.query_selector_all('[aria-label="Functions"].list .name'):
        assert name.bounding_box()["width"] >= 190
    heads, cells = (page.query_selector_all(f'[aria-label="Functions"] {where} > .name') for where in (".head", ".list .row"))
    assert abs(heads[0].bounding_box()["x"] - cells[0].bounding_box()["x"]) < 1


@pytest.mark.parametrize("words, why", [("search=zzzz", "No name and no file has “zzzz”."), ("only=zzzz", "has “zzzz” in its stack"),
                                        ("thread=1&range=0.000-0.050", "has a time in this range and the thread second")])
def test_what_is_empty_says_why(draw, show, words, why):
    path = draw(THREADS)
    page = show(path, words)
    notes = [note.inner_text() for note in page.query_selector_all(".note.none") if note.is_visible()]
    assert len(notes) == 2 and all(why in note for note in notes)
    if "search" not in words:
        press(page, "3")
        assert why in page.inner_text(".tree")
        press(page, "2")
        assert why in page.inner_text(".flame")
        painted = page.evaluate("""() => {
            const canvas = document.querySelector(".stage canvas");
            return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(part => part);
        }""")
        assert not painted
    press(page, "x")
    assert not [note for note in page.query_selector_all(".note.none") if note.is_visible()]


def test_heads_of_lines_sort_them(draw, show):
    page = show(draw(THREADS))
    page.click('[aria-label="Lines"] .sort[data-sort="total"]')
    settle(page)
    assert words_of(page)["sort"] == "total"
    shares = [float(total.rstrip("%") or 0) for _, total in rows(page, "Lines").values()]
    assert shares == sorted(shares, reverse=True)
    for table in "Functions", "Lines":
        assert [head.get_attribute("data-sort") for head in page.query_selector_all(f'[aria-label="{table}"] .sort[aria-pressed="true"]')] == ["total"]


def test_threads_are_one_stop_of_tab(draw, show):
    """The arrow keys go from one to the next."""
    page = show(draw(THREADS))
    page.focus(".timeline")
    press(page, "Tab")
    names = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        names.append(page.evaluate("document.activeElement.querySelector('.threadname').textContent"))
        press(page, key)
    assert names == ["all threads", "first", "second"]
    press(page, "Enter")
    assert "thread first" in page.inner_text(".chips")
    press(page, "Tab")
    assert not page.evaluate("document.activeElement.closest('.timeline')")
    press(page, "Shift+Tab")
    assert page.evaluate("document.activeElement.querySelector('.threadname').textContent") == "first"


def test_the_graph_by_time_has_its_own_axis_and_legend(several, show):
    """Of the time and of the thread that are drawn."""
    path, _ = several
    page = show(path, "event=0&view=flame")
    assert not page.is_visible(".flame .axis")
    press(page, "b", "c")
    # Of the first thread's 120 samples 40 are C code; of both threads' 65 of 200.
    assert page.inner_text(".flame .legend").split("\n") == [f"this program {percent(80, 120)}", f"C code {percent(40, 120)}"]
    stage, axis = (page.locator(f".flame {part}").bounding_box() for part in (".stage", ".axis"))
    assert abs(stage["x"] - axis["x"]) < 1 and abs(stage["width"] - axis["width"]) < 20 and axis["y"] < stage["y"]


def test_back_and_links(draw, show):
    path = draw(THREADS)
    page = show(path)
    press(page, "2", "c", "3")
    assert (view_of(page), page.get_attribute("#native", "aria-pressed")) == ("tree", "true")
    page.go_back()
    settle(page)
    assert view_of(page) == "flame"
    page.go_back()
    settle(page)
    assert page.get_attribute("#native", "aria-pressed") == "false"
    page.go_back()
    settle(page)
    assert view_of(page) == "functions"
    page.go_forward()
    settle(page)
    assert view_of(page) == "flame"
    press(page, "3", "i", "c")
    page.focus('[aria-label="Call tree"].list')
    press(page, "ArrowDown", "o")
    link = page.evaluate("location.hash")
    again = show(path, link)
    assert again.inner_text(".chips") == page.inner_text(".chips") and view_of(again) == "tree"
    assert again.get_attribute("#native", "aria-pressed") == "true"
    # What means nothing is as if it were not there.
    odd = show(path, "#view=nothing&event=99&thread=-4&fn=1e99&range=9-1&zoom=0.x.99999&file=77&sort=<b>")
    assert view_of(odd) == "functions" and rows(odd, "Functions")["main"][1] == percent(total(MAIN))


def test_all_by_keys(draw, show):
    """From the first view to the source, without a pointer; focus is always to be seen."""
    page = show(draw(THREADS))
    for _ in range(40):
        press(page, "Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Functions":
            break
    else:
        pytest.fail("the table is not reached")
    press(page, "ArrowDown", "ArrowDown")
    assert page.inner_text('[aria-label="Functions"].list .row[aria-selected="true"] .symbol') in page.inner_text(".details")
    active = page.get_attribute('[aria-label="Functions"].list', "aria-activedescendant")
    assert page.get_attribute(f"#{active}", "aria-selected") == "true"
    press(page, "g")
    assert view_of(page) == "flame"
    press(page, "?")
    assert page.is_visible("dialog")
    press(page, "Escape")
    assert not page.is_visible("dialog")
    press(page, "x")
    assert "search" not in words_of(page)


def test_dark_mode(draw, show):
    path = draw(THREADS)

    def light_of(scheme):
        page = show(path, color_scheme=scheme)
        back, text = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color"))
        return [sum(int(part) for part in re.findall(r"\d+", colour)[:3]) for colour in (back, text)]

    back, text = light_of("light")
    assert back > 600 and text < 200
    back, text = light_of("dark")
    assert back < 150 and text > 600


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone(draw, show, view):
    page = show(draw(THREADS), f"view={view}", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("main .panel").first.bounding_box()["height"] > 150


@pytest.mark.parametrize("width", [1280, 390])
def test_long_lines_of_source(kaa, tmp_path, show, width):
    """They are read to their end by scrolling sideways, with the heads above them; names have all letters of Python."""
    program = tmp_path / "wide.py"
    text = f"def größe_berechnen(n):\n    return n\n\n\nclass Ünïcode_:\n    def 数据計算(wert):\n        return {' + '.join(['wert'] * 90)} + 数据\n"
    program.write_text(text)
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("größe_berechnen", program, 1, 2),): 5, (("数据計算", program, 6, 7),): 5})
    planted.with_source(data, program, text.encode())
    kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    page = show(tmp_path / "out.html", "view=source", viewport={"width": width, "height": 844})
    assert [name.inner_text() for name in page.query_selector_all(".py-name")] == ["größe_berechnen", "Ünïcode_", "数据計算"]
    moved = page.evaluate("""() => {
        const list = document.querySelector('[aria-label="Source"].list');
        list.scrollLeft = 1e6;
        return list.scrollLeft;
    }""")
    settle(page)
    ends = page.evaluate("""() => [document.querySelector(".list.wide").getBoundingClientRect().right,
        ...[...document.querySelectorAll(".wide .row")].map(row => row.getBoundingClientRect().right),
        ...[...document.querySelectorAll(".wide code")].map(code => code.getBoundingClientRect().right),
        document.querySelector(".wide .number").getBoundingClientRect().right -
        document.querySelector(".source .head .number").getBoundingClientRect().right]""")
    assert moved > 0 and all(end <= ends[0] + 1 for end in ends[1:-1]) and abs(ends[-1]) < 1
    # All rows are as wide.
    assert max(ends[1:8]) - min(ends[1:8]) < 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize("view", VIEWS)
def test_a_phone_has_room_to_search_and_act(draw, show, view):
    page = show(draw(THREADS), f"view={view}&fn=0", **PHONE)
    assert page.locator("#search").bounding_box()["width"] > 150
    for button in page.query_selector_all(".details button, #only"):
        box = button.bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844, button.inner_text()


def test_the_keys_on_a_phone(draw, show):
    """They open at their beginning."""
    page = show(draw(THREADS), **PHONE)
    page.click('button[aria-label="Keys"]')
    title, first, dialog = (page.locator(selector).first.bounding_box() for selector in ("dialog h2", "dialog dt", "dialog"))
    assert dialog["y"] >= 0 and dialog["y"] <= title["y"] < first["y"] < dialog["y"] + dialog["height"]
    page.keyboard.press("Escape")
    assert not page.is_visible("dialog")


def test_a_deep_call_tree_on_a_phone(draw, show):
    """However deep it is, a name has room."""
    stack = tuple(py(f"function_{i}") for i in range(80))
    page = show(draw({b"main": {stack: 20}}), "view=tree", **PHONE)
    page.evaluate("document.querySelector('.tree .list').scrollTop = 1e6")
    page.wait_for_selector('.treerow .symbol:text-is("function_79")')
    for symbol in page.query_selector_all(".treerow .symbol"):
        box = symbol.bounding_box()
        assert box["width"] > 60 and box["x"] + box["width"] <= 390, symbol.inner_text()


def test_hostile_names(draw, show):
    """Nothing of a name runs, or becomes an element; all views show what it is."""
    stacks = {(MAIN, name): 1 for name in HOSTILE}
    page = show(draw({b"</script><b>": stacks, b"\xff\x1b[1m": stacks}, "--lines"))
    for view in VIEWS:
        for words in (f"view={view}", f"view={view}&native&search=%3C", f"view={view}&fn=1&only=pwned"):
            page.evaluate("words => { location.hash = words; }", words)
            settle(page)
            assert page.evaluate("document.querySelectorAll('img, b b, script[src], main script').length") == 0
    page.evaluate("location.hash = 'native'")
    settle(page)
    shown = " ".join(rows(page, "Functions"))
    assert "</script><img src=x onerror=pwned()>" in shown and "@DATA@ javascript:pwned()" in shown
    assert "&lt;b&gt;" in shown and "\u202e" not in shown and "\ufffd" in shown
    assert page.evaluate("typeof pwned") == "undefined"


def test_without_javascript(draw, opened):
    page = opened(draw(THREADS), java_script_enabled=False)
    assert "needs JavaScript" in page.inner_text("body")
