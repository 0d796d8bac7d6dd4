# SPDX-License-Identifier: GPL-2.0-only
"""The page and the picture of `kaa flamegraph` in Chromium, offline, opened from disk."""
import os
import re

import pytest

from harness import drawn
from harness.drawn import C, DEEP, HOSTILE, LOAD, MAIN, THREADS, WORK, own, py, samples, total
from harness.noticed import noticed_in
from harness.planted import recording


TOTAL = sum(count for _, count in samples())


def percent(samples):
    share = samples / TOTAL
    return "0 %" if not samples else f"{100 * share:.{2 if share < 0.01 else 1}f} %"


@pytest.fixture
def draw(kaa, tmp_path):
    """draw(threads, *options, name=...) is the path of a file."""
    def write(threads, *options, name="out.html"):
        with recording(tmp_path / "perf.data", threads) as data:
            kaa("flamegraph", "-i", data, "-o", tmp_path / name, *options)
        return tmp_path / name
    return write


def details(page):
    return page.inner_text("#details")


def find(page, word):
    """What the page says of a word, and its first box, selected."""
    page.fill("#search", word)
    page.press("#search", "Enter")
    return page.inner_text("#found"), details(page)


def at(page, row, share):
    """Where the row is at that share of the width, in the stage."""
    box = page.locator("#stage").bounding_box()
    return {"x": box["width"] * share, "y": row * 20 + 10}


def hover(page, row, share):
    page.hover("#canvas", position=at(page, row, share))
    return details(page)


def test_numbers_are_the_planted_ones(draw, opened):
    page = opened(draw(THREADS))
    assert details(page).startswith(f"all samples\ntotal 100.0 %, own 0 % ({TOTAL} samples, ")
    assert f"{TOTAL} samples, none lost" in page.inner_text("#summary")
    for name, word in ((MAIN, "main"), (LOAD, "load  /srv/app/load.py"), (WORK, "work"), (DEEP, "deep")):
        found, box = find(page, word.split()[0] if word != "load  /srv/app/load.py" else "load.py")
        assert found.startswith(f"{percent(total(name))} ({total(name)} samples) in "), (word, found)
        assert f"everywhere: own {percent(own(name))}, total {percent(total(name))}" in box, box
    assert find(page, "no such thing")[0] == "nothing found"


def test_without_libraries(draw, opened):
    """What libraries call is theirs, with C code shown and without."""
    get = b"py::get:/srv/venv/lib/python3.12/site-packages/requests/api.py"
    page = opened(draw({b"main": {(MAIN, get, C): 60, (MAIN, C): 20, (get,): 15, (C,): 5}}, "--no-libraries"))
    for shown in ("main /srv/app/app.py\ntotal 80.0 %, own 80.0 %", "main /srv/app/app.py\ntotal 80.0 %, own 60.0 %"):
        assert hover(page, 1, 0.2).startswith(shown)
        assert hover(page, 1, 0.99).startswith("[not in your files]\ntotal 20.0 %")
        assert "not in your files" in page.inner_text("#legend") and "no Python code" not in page.inner_text("body")
        page.keyboard.press("c")
    assert find(page, "get")[0] == "nothing found"


def rows_of(text):
    """{function: (own, total)} of kaa report."""
    return {row[3]: (float(row[1]), float(row[2])) for row in
            re.finditer(r"^ *(\d+\.\d)% +(\d+\.\d)%  (\S+) +\S+:\d+ ", text, re.M)}


def test_numbers_of_a_real_program(kaa, bpf, newest_python, tmp_path, opened):
    """They are the report's."""
    data = tmp_path / "perf.data"
    (tmp_path / "program.py").write_text(drawn.PROGRAM)
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "--", *newest_python.command, tmp_path / "program.py")
    kaa("flamegraph", "-i", data, "-o", tmp_path / "out.html")
    rows = rows_of(kaa("report", "-i", data, env={**os.environ, "COLUMNS": "200"}).stdout)
    page = opened(tmp_path / "out.html")
    assert len(rows) > 2
    compared = 0
    for name, (own, total) in rows.items():
        box = find(page, f"{name} ")[1]
        said = re.search(r"everywhere: own <?([\d.]+) %, total <?([\d.]+) %", box)
        # Some names are a part of others.
        if box.startswith(f"{name} ") and list(rows).count(name) == 1:
            assert abs(float(said[1]) - own) < 0.11 and abs(float(said[2]) - total) < 0.11, (name, own, total, box)
            compared += 1
    assert compared > 1


def test_native_code_is_shown_when_asked_for(draw, opened):
    page = opened(draw(THREADS))
    assert find(page, "c_function")[0] == "nothing found"
    assert "no Python code" in hover(page, 1, 0.99)
    page.fill("#search", "")
    page.focus("#stage")
    page.keyboard.press("c")
    assert page.get_attribute("#native", "aria-pressed") == "true"
    assert find(page, "c_function")[0].startswith(f"{percent(65)} (65 samples) in 2 boxes")
    page.click("#native")
    assert page.get_attribute("#native", "aria-pressed") == "false"
    assert opened(draw(THREADS, "--native")).get_attribute("#native", "aria-pressed") == "true"


def test_native_code_is_shown_where_there_is_no_other(draw, opened):
    page = opened(draw({b"one": {(b"start", C): 3}}))
    assert find(page, "c_function")[0].startswith("100.0 % (3 samples)")


def test_zoom_by_pointer(draw, opened):
    page = opened(draw(THREADS))
    assert hover(page, 2, 0.1).startswith("work") and not hover(page, 2, 0.9).startswith("work")
    page.click("#canvas", position=at(page, 2, 0.1))
    assert hover(page, 2, 0.9).startswith("work")
    # Its callers stay above it, and bring back what they have.
    assert hover(page, 0, 0.9).startswith("all samples")
    page.click("#canvas", position=at(page, 0, 0.5))
    assert not hover(page, 2, 0.9).startswith("work")
    page.click("#canvas", position=at(page, 2, 0.1))
    page.click("#out")
    assert not hover(page, 2, 0.9).startswith("work")


def test_everything_by_keyboard(draw, opened):
    page = opened(draw(THREADS))
    page.focus("#stage")
    page.keyboard.press("ArrowDown")
    assert details(page).startswith("main")
    page.keyboard.press("ArrowDown")
    assert details(page).startswith("work")
    page.keyboard.press("ArrowRight")
    first = details(page)
    page.keyboard.press("ArrowLeft")
    assert details(page).startswith("work") and not first.startswith("work")
    page.keyboard.press("Enter")
    assert hover(page, 2, 0.95).startswith("work")
    page.keyboard.press("Backspace")
    assert details(page).startswith("main") and not hover(page, 2, 0.95).startswith("work")
    page.keyboard.press("Escape")
    assert details(page).startswith("all samples")
    page.keyboard.press("/")
    page.keyboard.type("load")
    page.keyboard.press("Enter")
    assert details(page).startswith("load") and page.inner_text("#found").startswith(percent(total(LOAD)))
    page.keyboard.press("n")
    assert details(page).startswith("load")
    page.keyboard.press("f")
    assert page.get_attribute("#flip", "aria-pressed") == "true"
    # Callers are at the bottom now: up goes to what is called.
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    assert details(page).startswith("main")


def test_threads(draw, opened):
    page = opened(draw(THREADS))
    options = page.locator("#thread option").all_inner_texts()
    assert options[:2] == ["all 2 together", "all side by side"]
    assert [option.split("  ")[1].split()[0] for option in options[2:]] == ["first", "second"]
    page.select_option("#thread", index=3)
    own = sum(THREADS[b"second"].values())
    assert f"({own} samples" in details(page)
    assert find(page, "deep")[0].startswith(f"{100 * 50 / own:.1f} % (50 samples)")
    page.select_option("#thread", index=1)
    assert find(page, "main")[0].startswith(f"{percent(total(MAIN))} ({total(MAIN)} samples) in 2 boxes")
    alone = opened(draw({b"only": THREADS[b"first"]}))
    assert not alone.is_visible("#threads")


def test_narrow_boxes_are_one_and_counted(draw, opened):
    small = {(MAIN, py(f"small_{i}")): 1 for i in range(300)}
    path = draw({b"one": {(MAIN, WORK): 1000, **small}})
    assert hover(opened(path), 2, 0.9).startswith("small_")
    page = opened(path, viewport={"width": 390, "height": 800})
    assert hover(page, 2, 0.9).startswith(f"300 more boxes, too narrow to be drawn\ntotal {100 * 300 / 1300:.1f} %")
    assert find(page, "small_")[0].startswith(f"{100 * 300 / 1300:.1f} % (300 samples) in 300 boxes")


def test_hostile_names_run_nothing(draw, opened):
    threads = {comm: {(name, other): 2 for name in HOSTILE for other in HOSTILE} for comm in (b"<b>\x1b'\"", b"</script>")}
    page = opened(draw(threads, "--native"))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    assert page.evaluate("typeof pwned") == "undefined"
    assert find(page, "</script>")[1].startswith("</script><img src=x onerror=pwned()>")
    assert find(page, "&lt;b")[1].startswith("&lt;b&gt;")
    page.select_option("#thread", index=1)
    page.mouse.move(200, 300)
    tags = page.evaluate("[...new Set([...document.querySelectorAll('*')].map(e => e.tagName))]")
    assert not {"IMG", "B>", "IFRAME", "SVG", "OBJECT"} & set(tags)
    assert page.locator("script").count() == 2
    text = page.inner_text("body")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u200b]", text)
    # What gets into the page all the same is not run either; the browser says so on its console.
    other = page.context.new_page()
    other.goto(page.url)
    other.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned = 1'}))")
    assert other.evaluate("typeof pwned") == "undefined"


def test_picture(draw, opened, tmp_path):
    path = draw(THREADS, name="out.svg")
    page = opened(path)
    work = page.locator("#boxes g", has_text=re.compile("^work .*")).first
    assert f"total {100 * total(WORK) / TOTAL:.2f} %" in work.locator("title").text_content()
    assert page.locator("#boxes g:visible").count() == page.locator("#boxes g").count()
    work.click()
    assert float(work.locator("rect").get_attribute("width")) > 1190
    assert page.locator("#boxes g:visible").count() < page.locator("#boxes g").count()
    page.keyboard.press("Escape")
    page.once("dialog", lambda dialog: dialog.accept("load"))
    page.keyboard.press("/")
    assert page.text_content("#found").startswith(f"{100 * total(LOAD) / TOTAL:.1f} % in ")
    # As an image no script runs; it has its size all the same.
    holder = tmp_path / "holder.html"
    holder.write_text(f'<!doctype html><link rel="icon" href="data:,"><img src="{path.as_uri()}">')
    context = page.context.browser.new_context(offline=True)
    image = context.new_page()
    image.goto(holder.as_uri())
    assert image.evaluate("document.images[0].naturalWidth") == 1200
    context.close()


def test_hostile_names_in_a_picture(draw, opened):
    page = opened(draw({b"<b>": {(name, other): 2 for name in HOSTILE for other in HOSTILE}}, "--native", name="out.svg"))
    assert page.evaluate("typeof pwned") == "undefined"
    assert page.locator("script").count() == 1 and page.locator("img").count() == 0
    assert "</script><img src=x onerror=pwned()>" in page.locator("#boxes").text_content()


def test_a_phone(draw, opened):
    page = opened(draw(THREADS), viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#stage").bounding_box()["height"] > 250
    page.tap("#canvas", position={"x": 40, "y": 26 * 2 + 10})
    assert details(page).startswith("work")


def test_light_and_dark(draw, opened):
    path = draw(THREADS)
    back = [opened(path, color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
            for scheme in ("light", "dark")]
    assert back == ["rgb(255, 255, 255)", "rgb(21, 25, 30)"]


def test_without_a_script_the_page_says_so(draw, browser):
    path = draw(THREADS)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert "flamegraph.svg" in page.inner_text("body") and f"{TOTAL} samples" in page.inner_text("#summary")
    context.close()


def test_two_sides(kaa, tmp_path, opened):
    before = {b"main": {(MAIN,): 50, (MAIN, WORK): 30, (MAIN, DEEP): 20}}
    after = {b"main": {(MAIN,): 50, (MAIN, WORK): 40, (MAIN, LOAD): 10}}
    with recording(tmp_path / "a.data", before, 1) as a, recording(tmp_path / "b.data", after, 2) as b:
        kaa("diff", "-o", tmp_path / "out.html", a, b)
    page = opened(tmp_path / "out.html")
    assert find(page, "work")[0].startswith("30.0 ms before, 40.0 ms after")
    for name, told in (("deep", "20.0 ms before, 0.0 ms after"), ("load", "0.0 ms before, 10.0 ms after")):
        assert f"everywhere: own {told}" in find(page, name)[1]
    # Of what is gone there is a blue box, of what is new a red one.
    page.fill("#search", "")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    row = page.evaluate("""() => {
        const canvas = document.getElementById("canvas"), ratio = canvas.width / canvas.clientWidth;
        return Array.from(canvas.getContext("2d").getImageData(0, 45 * ratio, canvas.width, 1).data);
    }""")
    colours = list(zip(row[::4], row[2::4]))
    assert any(blue > red + 60 for red, blue in colours) and any(red > blue + 60 for red, blue in colours)
