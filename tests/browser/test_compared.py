# SPDX-License-Identifier: GPL-2.0-only
"""A page of two recordings in Chromium: what changed is what `kaa diff` says, in each view."""
import os

import pytest

from harness import compared
from harness.planted import sampled
from test_page import drawn_texts, press, settle, show, tip_at, words_of  # noqa: F401

@pytest.fixture
def two(kaa, tmp_path):
    """two(words...) is a page, and the tables of `kaa diff`."""
    def write(*words, **options):
        before, after = compared.two(kaa, tmp_path, **options)
        kaa("export", "-q", "--format", "html", *words, "-o", tmp_path / "out.html", before, after)
        return tmp_path / "out.html", compared.differences(kaa, *words, before, after)
    return write


def changes(page, label):
    """[(change, mark, name, place)] of a table of the first view."""
    found = []
    for row in page.query_selector_all(f'[aria-label="{label}"].list .row'):
        cell = row.query_selector(".change")
        name = row.query_selector(".symbol" if label == "Functions" else ".name").text_content()
        other = row.query_selector(".place" if label == "Functions" else ".code").text_content()
        found.append((cell.query_selector("b").text_content(), cell.query_selector(".mark").text_content(), name, other))
    return found


def wanted(table):
    """{(name, place): (change, mark)}; what is chance has no mark."""
    return {key: (change, "" if mark == "noise" else mark) for key, (_, _, change, mark) in table.items()}


@pytest.mark.parametrize("words", [(), ("--by", "share")], ids=["time", "share"])
def test_the_tables_are_those_of_diff(two, show, words):  # noqa: F811
    path, (functions, lines) = two(*words)
    page = show(path)
    shown = changes(page, "Functions")
    assert {(name, place): (change, mark) for change, mark, name, place in shown} == wanted(functions)
    # The largest change first, whichever way it goes.
    for table in "Functions", "Lines":
        sizes = [abs(float(row[0])) for row in changes(page, table)]
        assert sizes == sorted(sizes, reverse=True) and sizes[0] > 0
    shown = {name: (change, mark) for change, mark, name, _ in changes(page, "Lines")}
    assert shown == {place: row for (place, _), row in wanted(lines).items()}
    edited = {name for _, _, name, text in changes(page, "Lines") if text == "[changed]"}
    assert edited == {place for place, text in lines if text == "[changed]"} and edited
    # What is gone is there, and counted.
    said = page.inner_text('.panel[aria-label="Functions"] h2')
    assert "1 new, 1 gone" in said and "old.data" in said
    [gone] = [row for row in page.query_selector_all('[aria-label="Functions"].list .row') if row.query_selector(".symbol").inner_text() == "old"]
    assert [cell.inner_text().strip() for cell in gone.query_selector_all(".share")] == ["", ""]
    assert gone.query_selector(".change").get_attribute("title").startswith("gone: ")


def test_without_another_recording_there_is_no_change(kaa, tmp_path, show):  # noqa: F811
    _, after = compared.two(kaa, tmp_path)
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "one.html", "-i", after)
    page = show(tmp_path / "one.html")
    assert page.locator(".change").count() == 0 and "compared" not in page.inner_text("body")
    press(page, "4")
    assert page.locator(".change").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_head_of_changes_has_its_unit(two, show, width):  # noqa: F811
    page = show(two()[0], viewport={"width": width, "height": 844})
    for head in page.query_selector_all(".head .change"):
        assert head.inner_text().startswith("change, ms")
        wide, has, lines = head.evaluate('''head => {
            const range = document.createRange();
            range.selectNodeContents(head);
            return [head.getBoundingClientRect().width, range.getBoundingClientRect().width, range.getClientRects().length];
        }''')
        assert has + 10 <= wide and lines == 1


def test_the_order(two, show):  # noqa: F811
    page = show(two()[0])
    page.click('[aria-label="Functions"] .sort[data-sort="own"]')
    settle(page)
    assert words_of(page) == {"sort": "own"}
    own = [float(row.query_selector(".share").inner_text().rstrip("%") or 0) for row in
           page.query_selector_all('[aria-label="Functions"].list .row')]
    assert own == sorted(own, reverse=True) and own[0] > 0
    page.go_back()
    settle(page)
    assert words_of(page) == {}
    assert page.get_attribute('[aria-label="Functions"] .sort[data-sort="change"]', "aria-pressed") == "true"


def of_function(page, name):
    return next((row[0] for row in changes(page, "Functions") if row[2] == name), None)


def test_filters_are_of_both_recordings(two, show):  # noqa: F811
    """By the stacks that compared.py plants: work has 205 ms before and 125 after, without what it calls."""
    page = show(two()[0])
    assert of_function(page, "work") == "-80.0"
    press(page, "/")
    page.keyboard.type("memcpy")
    settle(page)
    press(page, "Shift+Enter")
    # Before 25 in work and 7 in old, after 25 in work.
    assert of_function(page, "work") == "+0.0" and of_function(page, "old") == "-7.0" and of_function(page, "new") is None
    assert not any(row[1] for row in changes(page, "Functions"))
    press(page, "x", "c")
    assert of_function(page, "memcpy") == "-7.0" and of_function(page, "work") == "-80.0"
    press(page, "c")
    # By a link: the function of either side is the same.
    page.click('[aria-label="Functions"].list .row:has(.symbol:text-is("work")) .name')
    press(page, "o")
    assert of_function(page, "work") == "-80.0" and of_function(page, "old") is None and of_function(page, "new") == "+9.0"
    press(page, "x", "h")
    assert of_function(page, "work") is None and of_function(page, "<module>") == "-80.0"
    press(page, "x")
    page.fill("#search", "old/main")
    settle(page)
    assert {row[2] for row in changes(page, "Functions")} >= {"old"}


def test_a_thread_or_a_time_is_not_compared(two, show):  # noqa: F811
    page = show(two(threads=("main", "second"))[0])
    assert of_function(page, "work") == "-160.0"
    page.click('.track button:has-text("second")')
    settle(page)
    assert page.locator('[aria-label="Functions"].list .change').count() == 0
    assert "not compared with" in page.inner_text(".chips") and "a thread is of this recording alone" in page.inner_text(".chips")
    # Once, in each view.
    for key in "1234":
        press(page, key)
        assert page.inner_text("body").count("not compared with") == 1, key
    assert page.locator(".source .list .change").count() == 0
    press(page, "1", "x")
    assert of_function(page, "work") == "-160.0"
    page.evaluate("location.hash = 'range=0.000-50.000'")
    settle(page)
    assert page.locator('[aria-label="Functions"].list .change').count() == 0
    assert "a range of time is of this recording alone" in page.inner_text(".chips")


@pytest.mark.parametrize("has_text", [False, True])
def test_the_source_has_changes_by_line(two, show, tmp_path, has_text):  # noqa: F811
    path = tmp_path / "main.py"
    if has_text:
        text = ["def main(): pass\n"] * 70
        for line, name in ((15, "work"), (35, "edited"), (41, "new")):
            text[line - 1] = f"def {name}(): pass\n"
        path.write_text("".join(text))
        os.utime(path, (1, 1))
    file, (_, lines) = two(after=path)
    page = show(file, "view=source")
    shown = {}
    for line in 17, 18, 36, 42:
        page.evaluate(f"location.hash = 'view=source&line={line}'")
        settle(page)
        row = page.query_selector(f'.sourcerow:has(.number:text-is("{line}"))')
        shown[line] = row.query_selector(".change").text_content()
    by_line = {int(place.rpartition(":")[2]): row for (place, _), row in lines.items() if place.startswith("main.py:") or f"{path}:" in place}
    for line in 17, 18, 42:
        _, _, change, mark = by_line[line]
        assert shown[line] == change + ("" if mark == "noise" else mark)
    assert shown[36] == "changed"
    said = page.inner_text(".source")
    assert "Lines cannot be told in" in said and "edited" in said
    assert "2 lines of before, with -57.0 ms, are gone." in said


def test_the_summary_and_the_head_say_what_it_is_compared_with(two, show, tmp_path):  # noqa: F811
    page = show(two()[0])
    assert f"compared with {tmp_path / 'old.data'}" in page.inner_text("header")
    press(page, "5")
    text = page.inner_text("main")
    assert f"{tmp_path / 'old.data'}, which took 327 ms CPU: 327 samples" in text
    assert "CPU time after" in text and "[changed]: which lines were which before cannot be told" in text


def test_the_function_looked_at(two, show):  # noqa: F811
    page = show(two()[0])
    page.click('[aria-label="Functions"].list .row:has(.symbol:text-is("old")) .name')
    settle(page)
    assert "-57.0 ms (gone: 57.0 ms before" in page.inner_text(".details")


def colours_at(page, row, shares):
    """Red, green and blue of boxes of a row, above their text."""
    return page.evaluate("""([row, shares]) => {
        const canvas = document.querySelector('.stage canvas');
        const pixels = canvas.getContext('2d').getImageData(0, row * 21 + 2, canvas.width, 1).data;
        return shares.map((share) => [...pixels.slice(4 * Math.floor(canvas.width * share)).slice(0, 3)]);
    }""", [row, shares])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_flame_graph_is_red_and_blue(two, show, scheme):  # noqa: F811
    page = show(two()[0], "view=flame", color_scheme=scheme)
    boxes = {}
    for step in range(60):
        share = step / 60 + 0.008
        text = tip_at(page, 2, share)
        boxes.setdefault(text.split("\n")[0] if text else "", (text, share))
    # No box but that of the pointer has a rim.
    page.mouse.move(5, 5)
    settle(page)
    colours = dict(zip(boxes, colours_at(page, 2, [share for _, share in boxes.values()])))
    red, _, blue = colours["new"]
    assert red > blue + 60
    red, _, blue = colours["old"]
    assert blue > red + 60
    # work has 205 ms before and 134 after: less, but not as blue as what is gone.
    red, _, blue = colours["work"]
    assert 0 < blue - red < colours["old"][2] - colours["old"][0]
    assert "total -71.0 ms: 205.0 ms before, 134.0 ms after" in boxes["work"][0]
    assert "total -57.0 ms: gone: 57.0 ms before" in boxes["old"][0]
    assert "total +70.0 ms: new: 70.0 ms" in boxes["new"][0]
    legend = page.inner_text(".flame .legend")
    assert legend.startswith("less") and "more since" in legend and "mean of both" in legend
    page.fill("#search", "old")
    settle(page)
    assert "found: 0% in 1 box" in page.inner_text(".flame h2")


def test_without_a_comparison_the_flame_graph_has_its_usual_colours(two, show):  # noqa: F811
    page = show(two(threads=("main", "second"))[0], "view=flame&thread=1")
    assert "this program" in page.inner_text(".flame .legend") and "not compared with" in page.inner_text(".chips")
    assert "before" not in tip_at(page, 2, 0.1)
    page.evaluate("location.hash = 'view=flame'")
    settle(page)
    assert "more since" in page.inner_text(".flame .legend") and not page.is_visible(".chips")
    # Of one thread by time nothing is known of before.
    press(page, "b")
    assert "this program" in page.inner_text(".flame .legend") and "not compared with" in page.inner_text(".chips")
    press(page, "3")
    assert page.locator(".treerow .change").count() > 2


def test_the_call_tree_has_changes(two, show):  # noqa: F811
    page = show(two()[0], "view=tree")
    found = {row.query_selector(".symbol").inner_text(): row.query_selector(".change").inner_text().strip()
             for row in page.query_selector_all(".treerow") if row.get_attribute("aria-level") == "2"}
    assert found == {"work": "-71.0", "edited": "-15.0", "new": "+70.0", "old": "-57.0"}
    press(page, "i")
    assert page.locator(".treerow .change").count() == 0
    assert page.locator(".treerow").count() > 2 and not page.is_visible(".tree .head .change")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_of_changes_can_be_read(kaa, tmp_path, show, scheme):
    """Of all strengths, less and more; with a search, which fades the others."""
    def stacks(is_after):
        return {(("<module>", "/srv/a.py", 1, 1), (f"step{i:02}", "/srv/a.py", 10 * i, 10 * i)): 20 + (i if is_after else 40 - i)
                for i in range(0, 41, 2)}

    sides = [sampled(kaa, tmp_path / f"{is_after}.data", stacks(is_after)) for is_after in (False, True)]
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "out.html", *sides)
    for words in ("view=flame", "view=flame&search=step2"):
        page = show(tmp_path / "out.html", words, color_scheme=scheme)
        found = drawn_texts(page, width=1901)
        assert {text.split()[0] for text, _ in found} >= {"step00", "step20", "step40"}
        assert not [(text, contrast) for text, contrast in found if contrast < 4.5]
