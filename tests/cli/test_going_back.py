# SPDX-License-Identifier: GPL-2.0-only
"""In the report on a terminal q and Esc go one step back, and q ends it on the first screen only."""
import contextlib

import pytest

from harness import planted
from harness.terminal import Terminal

# What opens something, and how many steps back it takes.
STEPS = {
    "callers": (["w"], 1), "functions": (["2"], 1), "lines": (["3"], 1), "threads": (["5"], 1), "function": (["z"], 1),
    "text": (["/", "leaf", "enter"], 1), "thread": (["5", "down", "enter"], 1), "table": (["x"], 1),
    "source": (["enter"], 1), "zoom in the table": (["x", "/", "leaf", "enter"], 2), "callers of a list": (["2", "w"], 2),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    main, work, leaf = b"py::<module>:/srv/a.py", b"py::work:/srv/a.py", b"py::leaf:/srv/b.py"
    threads = {b"first": {(main, work, leaf): 9, (main, work): 4}, b"second": {(main, leaf): 8}}
    with planted.recording(tmp_path_factory.mktemp("back") / "perf.data", threads, count=2) as path:
        yield path


@contextlib.contextmanager
def report(kaa, data, *words):
    with Terminal([*kaa.command, "report", "-i", data, *words], rows=40, columns=100) as terminal:
        terminal.wait_for("q: quit")
        yield terminal


@pytest.mark.parametrize("key", ["q", "esc"])
def test_one_step_back(kaa, data, key):
    with report(kaa, data) as terminal:
        first = terminal.lines()
        assert first[-1].endswith("q: quit")
        for name, (keys, steps) in STEPS.items():
            terminal.press(*keys)
            for _ in range(steps):
                assert terminal.lines()[:-1] != first[:-1], name
                terminal.press(key)
                assert not terminal.ended(), name
            assert terminal.lines()[:-1] == first[:-1], name
            terminal.press("home", "down")
        terminal.press(key)
        if key == "esc":
            assert terminal.lines()[-1] == "q quits"
            terminal.press("q")
        assert terminal.wait() == 0


def test_the_table_came_first(kaa, data):
    with report(kaa, data, "-g") as terminal:
        table = terminal.lines()
        assert "Children" in table[1] and table[-1].endswith("q: quit")
        terminal.press("/", "leaf", "enter")
        assert terminal.lines()[-1].endswith("q: back")
        terminal.press("q")
        assert terminal.lines()[1:] == table[1:]
        terminal.press("x", "2")
        assert terminal.lines()[0].startswith("Functions: ")
        terminal.press("q")
        assert "Functions: " not in terminal.lines()[0] and "Children" not in terminal.lines()[1]
        terminal.press("q")
        assert terminal.lines()[1:] == table[1:]
        terminal.press("q")
        assert terminal.wait() == 0


def test_the_keys_say_so(kaa, data):
    for words in ([], ["-g"]):
        with report(kaa, data, *words) as terminal:
            terminal.press("h")
            assert "q  Esc      go one step back" in terminal.text() and "q           on the first screen: quit" in terminal.text()


@pytest.mark.parametrize("words", [[], ["-g"]])
def test_the_prompt_says_what_becomes_of_the_text(kaa, data, words):
    """And no text shows all again."""
    with report(kaa, data, *words) as terminal:
        first = terminal.lines()[1:-1]
        terminal.press("/")
        assert terminal.lines()[-1].rstrip() == "Only functions whose name contains (empty: all):"
        terminal.press("leaf", "enter")
        assert terminal.lines()[1:-1] != first
        terminal.press("/", "enter")
        assert terminal.lines()[1:-1] == first
