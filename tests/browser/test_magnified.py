# SPDX-License-Identifier: GPL-2.0-only
"""The timeline of a part of the time: what is drawn is what was planted there, and the way in and out."""
import re

import pytest

from harness.drawn import MAIN, THREADS, WORK
from harness.planted import recording
from test_page import (GIL, PHONE, SLEEP, draw, heights_of, lanes_of, press, rows, settle, show,  # noqa: F401
                       timeline_tip, track_tip, words_of)

# A millisecond, 300 s after the first sample of ten minutes; in ns.
BASE, PART, SPAN = 300 * 10**9, 10**6, 600 * 10**9
LINK = "300000.000-300001.000"
# What has the GIL: when in the part, and for how long. The timeline has a twentieth of so few samples in one bin.
BINS, HEIGHT = 20, 21
MOMENTS = {b"first": {(2 * i + 0.5) / BINS: 1000 * (i % 5 + 1) for i in range(10)},
           b"second": {(4 * i + 1.5) / BINS: 4000 for i in range(5)}}
# When threads wait: shares of the part.
WAITS = [(0.05, 0.15), (0.35, 0.45), (0.451, 0.551)]


def at(share):
    return BASE + round(share * PART)


@pytest.fixture
def long(kaa, tmp_path):
    """Nearly all of it is empty. What has more weight than all of the part is before and behind it."""
    moments = [(GIL, thread, (MAIN, WORK), at(share), weight) for thread, found in MOMENTS.items() for share, weight in found.items()]
    waits = [(SLEEP, b"first", (MAIN,), at(end), round((end - begin) * PART)) for begin, end in WAITS]
    ends = [(GIL, b"first", (MAIN,), 10**9, 90000), (GIL, b"second", (MAIN,), SPAN, 90000)]
    with recording(tmp_path / "perf.data", THREADS, more=sorted([*moments, *waits, *ends], key=lambda one: one[3])) as data:
        kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    return tmp_path / "out.html"


def of_gil(page):
    page.select_option('select[aria-label="Event"]', label=GIL.decode())
    settle(page)


def part_of(page):
    return page.inner_text(".magnified span") if page.is_visible(".magnified span") else ""


def usable(page):
    """The buttons in and out that can do something."""
    return [button.get_attribute("id") for button in page.query_selector_all(".magnified button:not(#earlier, #later)") if button.is_enabled() and button.is_visible()]


def steps_of(page):
    return [[float(ms) for ms in step.split("-")] for step in words_of(page).get("magnified", "").split("_") if step]


def columns(heights):
    """The height in the middle of each bin."""
    return [heights[int((i + 0.5) / BINS * len(heights))] for i in range(BINS)]


def weights_in_bins(threads):
    found = [0] * BINS
    for thread in threads:
        for share, weight in MOMENTS[thread].items():
            found[int(share * BINS)] += weight
    return found


def test_the_picture_has_what_was_planted_in_the_part(long, show):
    page = show(long, f"range={LINK}")
    of_gil(page)
    # Of all of the time two bins have something.
    assert len([height for height in heights_of(page)["first"] if height > 2]) < 1.1 * len(heights_of(page)["first"]) / 10
    press(page, "z")
    found = heights_of(page)
    top = max(weights_in_bins(MOMENTS))
    for name, threads in (("first", [b"first"]), ("second", [b"second"]), ("all threads", MOMENTS)):
        wanted = [HEIGHT * weight / top for weight in weights_in_bins(threads)]
        assert all(abs(one - other) <= 1 for one, other in zip(columns(found[name]), wanted, strict=True)), (name, found[name], wanted)
        assert 0 in columns(found[name])
    # Weights are those of the views, and each track says its own.
    assert page.inner_text(".selected").endswith(": 15 samples, 50 µs")
    page.focus(".timeline")
    tips = []
    for _ in range(2):
        press(page, "ArrowDown")
        tips.append(timeline_tip(page)[:2])
    assert tips[0] == ["all threads: 50 µs", "300.0000 s – 300.0010 s, 15 samples"]
    assert tips[1][0] in ("first: 30 µs", "second: 20 µs")
    # And so does each bin.
    for share, weight in MOMENTS[b"first"].items():
        name, when, *_ = track_tip(page, f"first: {GIL.decode()}", 199 * share)
        begin, end = (float(time) for time in re.findall(r"(\d+\.\d+) s", when))
        assert name == f"first: {weight / 1000:.1f} µs" and begin <= at(share) / 1e9 <= end and when.endswith(", 1 sample")


def test_waits_are_drawn_where_they_are(long, show):
    page = show(long, f"event=0&range={LINK}")
    press(page, "z")
    (places,) = [places for _, word, places in lanes_of(page) if word == "waits"]
    # One pixel of rounding.
    off = 1.5 / page.evaluate("document.querySelector('.track.lane canvas').width")
    assert all(any(begin - 3 * off <= place <= end + 3 * off for begin, end in WAITS) for place in places)
    for begin, end in WAITS:
        inside = [place for place in places if begin <= place <= end]
        assert inside[0] - begin <= 3 * off and end - inside[-1] <= 3 * off
        share = (begin + end) / 2
        name, when, *_ = track_tip(page, f"first waits: {SLEEP.decode()}", 199 * share)
        assert name == "first waits: 100 µs" and when == f"{at(begin) / 1e9:.5f} s – {at(end) / 1e9:.5f} s"
    assert track_tip(page, f"first waits: {SLEEP.decode()}", 199 * 0.25)[1].startswith("nothing from 300.000")


def test_the_axis_tells_its_times_apart(long, show):
    page = show(long, f"event=0&range={LINK}")
    page.evaluate("""() => {
        const old = CanvasRenderingContext2D.prototype.fillText;
        window.texts = [];
        CanvasRenderingContext2D.prototype.fillText = function (text, x, ...more) {
            if (this.canvas.matches(".timeline .axis"))
                window.texts.push([text, x / this.canvas.offsetWidth]);
            return old.call(this, text, x, ...more);
        };
    }""")
    press(page, "z")
    texts = page.evaluate("window.texts")
    assert len(texts) > 3 and len({text for text, _ in texts}) == len(texts)
    for text, share in texts:
        assert abs(float(text.removesuffix(" s")) * 1e9 - at(share)) < PART / 100, texts


def drag(page, begin, end):
    axis = page.locator(".timeline .axis").bounding_box()
    page.mouse.move(axis["x"] + axis["width"] * begin, axis["y"] + 5)
    page.mouse.down()
    page.mouse.move(axis["x"] + axis["width"] * end, axis["y"] + 5, steps=4)
    page.mouse.up()
    settle(page)


def test_in_and_out_by_buttons(long, show):
    """What is selected stays selected, in all views; links and the browser's history know each step."""
    page = show(long, "event=0")
    assert not page.is_visible(".magnified")
    drag(page, 0.4, 0.6)
    assert usable(page) == ["magnify"] and not part_of(page)
    before = page.inner_text(".selected"), rows(page, "Functions")
    page.click("#magnify")
    settle(page)
    (first,) = steps_of(page)
    assert all(abs(ms - wanted) < 5000 for ms, wanted in zip(first, (240000, 360000)))
    assert re.fullmatch(r"2[34]\d\.\d\d s to 3[56]\d\.\d\d s of 600\.00 s", part_of(page)) and not page.is_visible(".brush")
    assert usable(page) == ["unmagnify", "unmagnify-all"] and (page.inner_text(".selected"), rows(page, "Functions")) == before
    # The button that had the focus can do nothing more.
    assert page.evaluate("document.activeElement.matches('.timeline')")
    drag(page, 0.25, 0.5)
    brush, axis = (page.locator(f".timeline {part}").bounding_box() for part in (".brush", ".axis"))
    assert abs(brush["x"] - axis["x"] - axis["width"] / 4) < 3 and abs(brush["width"] - axis["width"] / 4) < 4
    begin, end = (float(ms) for ms in words_of(page)["range"].split("-"))
    assert abs(begin - first[0] - (first[1] - first[0]) / 4) < 1000 and abs(end - first[0] - (first[1] - first[0]) / 2) < 1000
    page.click("#magnify")
    settle(page)
    assert steps_of(page) == [first, [begin, end]]
    deepest = part_of(page), heights_of(page)
    again = show(long, page.evaluate("location.hash"))
    assert (part_of(again), heights_of(again)) == deepest
    # Back and forward, then out as far as it goes.
    page.go_back()
    settle(page)
    assert steps_of(page) == [first]
    page.go_forward()
    settle(page)
    assert (part_of(page), heights_of(page)) == deepest
    page.click("#unmagnify")
    settle(page)
    assert steps_of(page) == [first] and len(usable(page)) == 3 and page.is_visible(".brush")
    page.click("#magnify")
    settle(page)
    page.click("#unmagnify-all")
    settle(page)
    assert not steps_of(page) and not part_of(page) and words_of(page)["range"]
    page.go_back()
    settle(page)
    assert (part_of(page), heights_of(page)) == deepest
    # Two clicks are two steps, and no double click on a time, which would select all.
    page.dblclick("#unmagnify")
    settle(page)
    assert not steps_of(page) and words_of(page)["range"]
    page.dblclick("#magnify")
    settle(page)
    assert len(steps_of(page)) == 1 and words_of(page)["range"]


def test_in_and_out_by_keys(long, show):
    page = show(long, "event=0")
    press(page, "z", "Shift+Z")
    assert "magnified" not in words_of(page)
    press(page, "t", "ArrowRight")
    page.evaluate("document.querySelector('main .row').dataset.mark = 'same'")
    press(page, "z")
    # The views, which have nothing of it, are not drawn anew.
    assert page.is_visible("main .row[data-mark]")
    assert steps_of(page) == [[0, 120000]] and part_of(page) == "0 to 120.00 s of 600.00 s"
    # In the part, a fifth and a fiftieth of it; never out of it.
    press(page, "ArrowRight")
    assert words_of(page)["range"] == "0.000-24000.000"
    press(page, "ArrowRight")
    assert words_of(page)["range"] == "2400.000-26400.000"
    press(page, "Shift+ArrowRight")
    assert words_of(page)["range"] == "2400.000-28800.000"
    press(page, "z")
    assert steps_of(page) == [[0, 120000], [2400, 28800]]
    press(page, "ArrowLeft", "ArrowLeft")
    assert words_of(page)["range"] == "2400.000-7680.000"
    press(page, "Shift+Z")
    assert steps_of(page) == [[0, 120000]] and words_of(page)["range"] == "2400.000-7680.000"
    press(page, "z")
    assert len(steps_of(page)) == 2
    # First the range, then all of time.
    press(page, "Escape")
    assert len(steps_of(page)) == 2 and "range" not in words_of(page)
    press(page, "Escape")
    assert not steps_of(page) and not page.is_visible(".magnified")
    # The buttons, by Tab.
    press(page, "ArrowRight")
    page.focus("#magnify")
    press(page, "Enter")
    assert steps_of(page) == [[0, 120000]] and page.evaluate("document.activeElement.matches('.timeline')")
    page.focus("#unmagnify")
    press(page, "Enter")
    assert not steps_of(page)
    press(page, "?")
    assert "magnify the timeline to the range" in page.inner_text("dialog")


def test_a_range_that_is_not_all_in_the_part(long, show):
    """What of it lies there is drawn, moved and magnified; of one that does not lie there nothing is."""
    page = show(long, "event=0&magnified=100000.000-200000.000&range=150000.000-400000.000")
    brush, axis = (page.locator(f".timeline {part}").bounding_box() for part in (".brush", ".axis"))
    assert abs(brush["x"] - axis["x"] - axis["width"] / 2) < 3 and brush["x"] + brush["width"] <= axis["x"] + axis["width"] + 1
    press(page, "z")
    assert steps_of(page) == [[100000, 200000], [150000, 200000]]
    page = show(long, "event=0&magnified=100000.000-200000.000&range=300000.000-400000.000")
    assert not page.is_visible(".brush") and usable(page) == ["unmagnify", "unmagnify-all"]
    press(page, "z", "t", "ArrowRight")
    assert len(steps_of(page)) == 1 and words_of(page)["range"] == "100000.000-120000.000"


def test_earlier_and_later(long, show):
    """By half of what is drawn, as far as there is time. What was magnified before holds it; views stay as they are."""
    page = show(long, "event=0")
    press(page, ".", ",")
    assert not steps_of(page) and not page.is_visible("#later")
    page = show(long, f"range={LINK}&magnified=299999.500-300001.500_{LINK}")
    of_gil(page)
    inside, selected, steps = heights_of(page), page.inner_text(".selected"), page.evaluate("history.length")
    press(page, ".")
    assert steps_of(page) == [[299999.5, 300001.5], [300000.5, 300001.5]] and page.inner_text(".selected") == selected
    # The first half has what the second one had; behind it there is nothing.
    moved, second = columns(heights_of(page)["second"]), columns(inside["second"])
    assert [height > 0 for height in moved] == [height > 0 for height in second[BINS // 2:]] + [False] * (BINS // 2)
    assert any(moved) and page.is_visible(".brush")
    press(page, ".")
    assert steps_of(page) == [[300000, 300002], [300001, 300002]] and page.is_hidden(".brush")
    press(page, ",", ",")
    assert steps_of(page) == [[300000, 300002], [300000, 300001]] and heights_of(page) == inside
    press(page, ",")
    assert steps_of(page) == [[299999.5, 300001.5], [299999.5, 300000.5]]
    # No step of the browser's history, however far it went.
    assert page.evaluate("history.length") == steps


def test_as_far_as_there_is_time(long, show):
    page = show(long, "event=0&magnified=1000.000-3000.000_1500.000-2500.000")
    page.click("#earlier")
    assert steps_of(page) == [[1000, 3000], [1000, 2000]] and page.is_enabled("#earlier")
    page.click("#earlier")
    page.click("#earlier")
    assert steps_of(page) == [[0, 2000], [0, 1000]] and not page.is_enabled("#earlier") and page.is_enabled("#later")
    assert part_of(page) == "0 to 1.00 s of 600.00 s" and page.evaluate("document.activeElement.matches('.timeline')")
    page = show(long, "event=0&magnified=598500.000-599700.000")
    page.click("#later")
    assert steps_of(page) == [[598800, 600000]] and not page.is_enabled("#later")
    press(page, ".")
    assert steps_of(page) == [[598800, 600000]]


def test_the_wheel_moves_a_part_sideways(long, show):
    page = show(long, "event=0&magnified=100000.000-200000.000")
    axis = page.locator(".timeline .axis").bounding_box()
    page.mouse.move(axis["x"] + axis["width"] / 2, axis["y"] + 5)
    page.mouse.wheel(0, 300)
    settle(page)
    assert steps_of(page) == [[100000, 200000]]
    page.mouse.wheel(axis["width"] / 4, 0)
    settle(page)
    (begin, end), = steps_of(page)
    assert abs(begin - 125000) < 1000 and abs(end - begin - 100000) < 1
    page.mouse.wheel(-axis["width"] * 3, 0)
    settle(page)
    assert steps_of(page) == [[0, 100000]]
    page.keyboard.down("Shift")
    page.mouse.wheel(0, axis["width"] / 2)
    page.keyboard.up("Shift")
    settle(page)
    (begin, _), = steps_of(page)
    assert abs(begin - 50000) < 1000
    press(page, "Shift+Z")
    page.mouse.wheel(axis["width"] / 4, 0)
    settle(page)
    assert not steps_of(page)


@pytest.mark.parametrize("words, steps", [
    ("5-1", []), ("-", []), ("x-y", []), ("NaN-NaN", []), ("-Infinity-Infinity", []), ("0-1e999", []), ("700000-800000", []),
    ("0.0001-0.0002", []), ("1-2-3", []), ("<img src=x onerror=pwned()>", []), ("100-200_300-400", [[100, 200]]),
    ("100-200_100-200", [[100, 200]]), ("100-200_50-150", [[100, 200], [100, 150]]), ("500000-900000", [[500000, 600000]]),
    pytest.param("_".join(f"{i}-100000" for i in range(100000)), [[i, 100000] for i in range(16)], id="many")])
def test_hostile_links(long, show, words, steps):
    """Steps that are no part of the one before them are none, nor are those after them; there are sixteen at most."""
    page = show(long, f"event=0&magnified={words}")
    press(page, "2")
    assert steps_of(page) == steps and bool(part_of(page)) == bool(steps)
    for _ in steps:
        press(page, "Shift+Z")
    assert not part_of(page) and page.evaluate("typeof pwned") == "undefined"


def test_a_search_is_marked_in_the_part(long, show):
    """In the place of what it is of: all that has the GIL there is in one function."""
    page = show(long, f"range={LINK}&magnified={LINK}&search=work")
    of_gil(page)
    colours = page.evaluate("""() => {
        const canvas = document.querySelector(".track canvas"), {width, height} = canvas, found = new Set();
        const pixels = canvas.getContext("2d").getImageData(0, 0, width, height - 2).data;
        for (let i = 0; i < pixels.length; i += 4)
            if (pixels[i + 3] === 255)
                found.add(pixels.slice(i, i + 3).join());
        return [...found];
    }""")
    assert len(colours) == 1


def test_on_a_phone(long, show):
    page = show(long, f"event=0&range=300000.200-300000.300&magnified=299000.000-301000.000_{LINK}", **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for part in ("#magnify", "#unmagnify", "#unmagnify-all", "#earlier", "#later", ".magnified span"):
        box = page.locator(part).bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= 390 and box["height"] > 15, part
    page.tap("#unmagnify-all")
    settle(page)
    assert not steps_of(page)
