# SPDX-License-Identifier: GPL-2.0-only
"""A line of a recording that knows functions and not their lines: why nothing is found, and which function has the line."""
import re

import pytest

from harness import planted

SOURCE = """class Orders:
    @property
    def total(self):
        return sum(
            row.price
            for row in self.rows)

    async def fetch(self):
        await self.more()


def dedupe(rows):
    return set(rows)
"""
# What is at a line, as far as samples have it.
INSIDE = {4: "Orders.total", 6: "Orders.total", 9: "Orders.fetch", 13: "dedupe"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    (folder / "orders.py").write_text(SOURCE)
    functions = ["<module>", "Orders.total", "Orders.fetch", "dedupe"]
    names = [f"py::{function}:{folder}/orders.py".encode() for function in functions]
    stacks = {(names[0], name): 5 for name in names[1:]}
    with planted.recording(folder / "perf.data", {b"python3": stacks}, count=4) as path:
        yield folder, path


def test_the_function_of_a_line(kaa, place):
    folder, data = place
    for line, function in INSIDE.items():
        text = kaa("annotate", "-i", data, f"orders.py:{line}", cwd=folder).stdout
        assert f"'orders.py:{line}' is in this function, of which the recording knows no lines" in text
        assert re.search(rf"^{re.escape(function)}   orders.py", text, re.M), text


def test_what_is_in_no_function(kaa, place):
    folder, data = place
    assert "knows functions, and not their lines" in kaa("annotate", "-i", data, "orders.py:1", cwd=folder, status=1).stderr
    result = kaa("report", "--stdio", "-i", data, "-S", "orders.py:4", cwd=folder, status=1)
    assert "knows functions, and not their lines" in result.stderr and "name a function" in result.stderr
