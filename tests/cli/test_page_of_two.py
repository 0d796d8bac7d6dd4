# SPDX-License-Identifier: GPL-2.0-only
"""`kaa export --format html BEFORE AFTER`: what changed, in columns, held against `kaa diff`. docs/page.md has the rules."""
import os

import pytest

from harness import compared, exports
from harness.planted import sampled


def page_of(kaa, tmp_path, *words):
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "out.html", *words)
    return exports.Page((tmp_path / "out.html").read_bytes())


def written(page, row):
    """As `kaa diff` prints it: before, after, change."""
    before, after, mark = row
    decimals = page["compare"][4]
    value = lambda number: f"{number:.{decimals}f}" if number else "-"  # noqa: E731
    return (value(before), value(after), f"{after - before:+.{decimals}f}", mark)


def check(kaa, tmp_path, before, after, *words):
    """All rows of both tables are the same; the page."""
    page = page_of(kaa, tmp_path, *words, before, after)
    functions, lines = page.changes()
    said = compared.differences(kaa, *words, before, after)
    shown = {}
    for key, row in functions.items():
        place = ("[no Python code]", "") if key is None else (key[0], f"{key[1]}:{key[2]}")
        shown[place] = written(page, row)
    assert shown == said[0] and len(shown) > 4
    shown = {"[no Python code]" if key is None else f"{key[0]}:{key[1]}": written(page, row) for key, row in lines.items()}
    # Of edited functions the text says so.
    edited = {f"{file}:{line}" for (file, line), unpaired in zip([key or ("", 0) for key in lines], page["line.unpaired"]) if unpaired}
    wanted = {place: row for (place, _), row in said[1].items()}
    assert shown == wanted
    assert {place for place, text in said[1] if text == "[changed]"} == edited
    return page


@pytest.mark.parametrize("words", [(), ("--by", "share")], ids=["time", "share"])
def test_changes_are_those_of_diff(kaa, tmp_path, words):
    page = check(kaa, tmp_path, *compared.two(kaa, tmp_path), *words)
    marks = dict(zip([key and key[0] for key in page.changes()[0]], page.words("change.mark")))
    assert marks["new"] == "new?" and marks["old"] == "gone?" and marks["work"] == "real?"


def test_a_file_that_was_edited_in_place(kaa, tmp_path):
    """Its lines have other numbers on either side, and its text is that of the recording after."""
    path = tmp_path / "main.py"
    text = ["def main(): pass\n"] * 70
    for line, name in ((15, "work"), (35, "edited"), (41, "new")):
        text[line - 1] = f"def {name}(): pass\n"
    path.write_text("".join(text))
    os.utime(path, (1, 1))
    before, after = compared.two(kaa, tmp_path, path, path)
    os.utime(before, (0.5, 0.5))
    page = check(kaa, tmp_path, before, after)
    assert page.sources() == {str(path): "".join(text)}
    # The file of the other recording is in no page.
    before = sampled(kaa, tmp_path / "old.data", compared.stacks(tmp_path / "old.py", False))
    (tmp_path / "old.py").write_text("secret")
    os.utime(tmp_path / "old.py", (1, 1))
    page = page_of(kaa, tmp_path, before, after)
    assert set(page.sources()) == {str(path)} and page.why()[str(tmp_path / "old.py")] == 6


def test_several_functions_of_one_name(kaa, tmp_path):
    """Lambdas cannot be told apart where the file was edited."""
    def stacks(file, by):
        return {(("<module>", file, 1, 5), ("<lambda>", file, 20 + by, 20 + by)): 30 - 10 * by,
                (("<module>", file, 1, 6), ("<lambda>", file, 22 + by, 22 + by)): 40,
                (("<module>", file, 1, 7), ("f", file, 30 + by, 31 + by)): 50}
    before = sampled(kaa, tmp_path / "a.data", stacks("/srv/a.py", 0))
    after = sampled(kaa, tmp_path / "b.data", stacks("/srv/a.py", 2))
    page = page_of(kaa, tmp_path, before, after)
    said = compared.differences(kaa, before, after)
    rows = {key[0]: (count, written(page, row)) for (key, row), count in zip(page.changes()[0].items(), page["change.functions"])}
    assert rows["<lambda>"] == (2, said[0]["<lambda> (2)", "/srv/a.py:24"])
    assert rows["f"] == (1, said[0]["f", "/srv/a.py:32"])


def test_samples_are_those_of_the_recording_after(kaa, tmp_path):
    before, after = compared.two(kaa, tmp_path, threads=("main", "second"))
    alone, both = page_of(kaa, tmp_path, "-i", after), page_of(kaa, tmp_path, before, after)
    for page in alone, both:
        page.stacks = sorted((thread, time, page.paths()[stack], weight, spent) for _, thread, time, stack, weight, spent in page.samples())
    assert both.stacks == alone.stacks and both["thread.tid"] == alone["thread.tid"]
    facts = [dict(zip(page.words("fact.label"), page.words("fact.text"))) for page in (alone, both)]
    assert facts[1].pop("Compared with") == f"{before}, which took 654 ms CPU: 654 samples, none lost, Python 3.13.0"
    assert facts[0] == facts[1] and "compare" not in alone.columns
    notes = both.words("note.text")
    assert any("CPU time" in note and "new +" in note for note in notes)
    assert "/srv/old/main.py is compared with /srv/new/main.py" in notes


def test_one_event_of_both(kaa, tmp_path):
    before, after = compared.two(kaa, tmp_path, event="page-faults", period=1)
    page = check(kaa, tmp_path, before, after, "--event", "page-faults")
    facts = dict(zip(page.words("fact.label"), page.words("fact.text")))
    assert facts["Compared with"] == f"{before}: 327 samples, none lost, Python 3.13.0"
    said = kaa("export", "--format", "html", "-o", tmp_path / "out.html", "--event", "nothing", before, after, status=1).stderr
    assert "has no event 'nothing'" in said


def test_mistakes(kaa, recording, tmp_path):
    out = ("-o", tmp_path / "out")
    said = kaa("export", "--format", "pprof", *out, recording, recording, status=129).stderr
    assert "pprof holds one recording" in said and "--format html" in said
    assert "collapsed holds one recording" in kaa("export", *out, recording, recording, status=129).stderr
    assert "a recording is named twice" in kaa("export", "--format", "html", *out, "-i", recording, recording, recording, status=129).stderr
    assert "'none' does not exist" in kaa("export", "--format", "html", *out, "none", recording, status=1).stderr
    assert "not 'x'" in kaa("export", "--format", "html", *out, "--by", "x", recording, recording, status=129).stderr
    assert "one recording is shown" in kaa("view", recording, recording, recording, status=129).stderr
    assert "one recording is shown" in kaa("view", "-i", recording, recording, recording, status=129).stderr
    assert not (tmp_path / "out").exists()
