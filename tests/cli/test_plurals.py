# SPDX-License-Identifier: GPL-2.0-only
"""Of one there is "1 sample", wherever numbers are said."""
import re

import pytest

from harness import planted
from harness.terminal import Terminal

WRONG = re.compile(r"\b1 (of 1 )?(\w+ )?(samples|others|functions|files|rows|threads|lines|events|recordings|boxes|have|were)\b")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    stacks = {(b"py::<module>:/srv/a.py", b"py::leaf:/srv/a.py"): 1}
    with planted.recording(tmp_path_factory.mktemp("one") / "perf.data", {b"python3": stacks}, count=3) as path:
        yield path


@pytest.mark.parametrize("words", [["report", "--stdio"], ["report", "--stdio", "-g"], ["annotate"], ["diff"], ["flamegraph", "-o", "-"]],
                         ids=" ".join)
def test_texts(kaa, data, words):
    inputs = [data, data] if words == ["diff"] else ["-i", data]
    text = kaa(*words, *inputs).stdout
    assert "1 sample" in text or words[0] in ("annotate", "flamegraph") or words[-1] == "-g"
    assert not WRONG.search(text), WRONG.search(text)[0]


def test_a_terminal(kaa, data):
    with Terminal([*kaa.command, "report", "-i", data], columns=120) as terminal:
        for keys in (["/", "leaf", "enter"], ["D"], ["esc"], ["enter"], ["esc"], ["x"], ["a"], ["esc"]):
            terminal.press(*keys)
            assert not WRONG.search(terminal.text()), terminal.text()
