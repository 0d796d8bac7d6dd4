# SPDX-License-Identifier: GPL-2.0-only
"""`kaa flamegraph`: the file it writes, and that its numbers are those of `kaa script`."""
import base64
import hashlib
import re
import xml.etree.ElementTree

import pytest

from harness import answer, planted, script_output
from harness.flame_data import REST, THREAD, Page

SVG = "{http://www.w3.org/2000/svg}"


def page(kaa, recording, *options):
    return Page(kaa("flamegraph", "-i", recording, "-o", "-", *options).stdout)


def boxes(text):
    """(title, width) of each box of a picture."""
    root = xml.etree.ElementTree.fromstring(text)
    group = next(g for g in root.iter(f"{SVG}g") if g.get("id") == "boxes")
    return [(g.find(f"{SVG}title").text, float(g.get("data-w"))) for g in group]


def test_numbers_are_those_of_script(kaa, recording):
    samples = script_output.parse(kaa("script", "-i", recording).stdout)
    own, total = page(kaa, recording).python()
    assert len(samples) == 300 == sum(own.values())
    counted = {}
    for sample in samples:
        for name, file, _ in set(sample.python):
            counted[name, file] = counted.get((name, file), 0) + 1
    assert dict(total) == counted and len(counted) == 3
    assert own == {samples[0].python[-1][:2]: 300}


def test_lines(kaa, recording):
    lines = {(f.name, f.line) for f in page(kaa, recording, "--lines").functions if f.kind == 0}
    samples = script_output.parse(kaa("script", "-i", recording, "-F", "+srcline").stdout)
    assert lines == {(name, line) for sample in samples for name, _, line in sample.python} and len(lines) == 4


def test_without_libraries(kaa, tmp_path):
    """Own and total of each function are those of `kaa report --no-libraries`."""
    venv, own = "/srv/venv/lib/python3.12/site-packages", "/srv/app/main.py"
    command, main, get = ("<module>", "/srv/venv/bin/tool", 1, 2), ("main", own, 10, 14), ("get", f"{venv}/requests/api.py", 30, 31)
    hook, deflate = ("hook", own, 20, 21), ("deflate", "/usr/lib/libz.so.1")
    data = planted.sampled(kaa, tmp_path / "perf.data", {
        (command, main, get, deflate): 50, (command, main): 10, (command, main, get, hook): 20, (command, main, get, hook, get): 5,
        (command, get): 12, (("_start", "/usr/bin/python3"),): 3})
    drawn = page(kaa, data, "--no-libraries")
    samples, total = drawn.python()
    report = answer.functions_of(kaa("report", "--no-libraries", "--stdio", "-i", data, env=answer.WIDE).stdout)
    # There are 100 samples.
    assert {function: (samples[function], total[function]) for function in total} == report == {
        ("main", own): (60, 85), ("hook", own): (25, 25)}
    nobody = "[not in your files]"
    assert {function.name for function in drawn.functions if function.kind not in (THREAD, REST)} == {"main", "hook", nobody}
    assert "libraries count for their callers" in drawn.head and "libraries 67 %" in drawn.head
    # A function of a library is nothing to begin at; one of the program is.
    assert "--no-libraries" in kaa("flamegraph", "-i", data, "--no-libraries", "--from", "get", "-o", "-", status=129).stderr
    assert page(kaa, data, "--no-libraries", "--from", "hook").python()[0] == {("hook", own): 25}
    kaa("flamegraph", "-i", data, "--no-libraries", "-o", tmp_path / "out.svg")
    assert any(title.startswith(nobody) for title, _ in boxes((tmp_path / "out.svg").read_text()))


def test_samples_can_be_chosen(kaa, recording):
    part = script_output.parse(kaa("script", "-i", recording, "--time", "10%/2").stdout)
    assert 0 < sum(page(kaa, recording, "--time", "10%/2").python()[0].values()) == len(part) < 300
    assert "no sample" in kaa("flamegraph", "-i", recording, "--tid", "1", "-o", "-", status=1).stderr


def test_a_page_can_run_nothing_but_its_own_script(kaa, recording):
    text = page(kaa, recording).text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    for what, content in (("script", re.findall(r"<script>(.*?)</script>", text, re.S)),
                          ("style", re.findall(r"<style>(.*?)</style>", text, re.S))):
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert len(content) == 1 and f"{what}-src 'sha256-{digest}';" in policy
    assert not re.search(r"https?:|src=|href=|@import|url\(", re.sub(r'id="profile">.*?</script>', "", text, flags=re.S))


def test_a_picture(kaa, recording, tmp_path):
    out = tmp_path / "out.svg"
    kaa("flamegraph", "-i", recording, "-o", out)
    found = boxes(out.read_text())
    own, total = page(kaa, recording).python()
    assert found[0][1] == 1200 and "300 samples" in found[0][0]
    for (name, _), count in total.items():
        title = next(title for title, _ in found if title.startswith(name))
        assert f"total {100 * count / 300:.2f} %" in title
    assert kaa("flamegraph", "-i", recording, "--svg", "-o", "-").stdout == out.read_text()
    native = boxes(kaa("flamegraph", "-i", recording, "--svg", "--native", "-o", "-").stdout)
    threads = boxes(kaa("flamegraph", "-i", recording, "--svg", "--threads", "-o", "-").stdout)
    assert len(native) > len(found) and len(threads) == len(found) + 1
    assert [f.kind for f in page(kaa, recording).functions].count(THREAD) == 1


def test_the_file(kaa, recording, tmp_path):
    said = kaa("flamegraph", "-i", recording, cwd=tmp_path)
    assert not said.stdout and "wrote 'flamegraph.html'" in said.stderr and said.stderr.endswith("xdg-open flamegraph.html\n")
    assert kaa("flamegraph", "-i", recording, "-o", "my own.html", cwd=tmp_path).stderr.endswith("xdg-open 'my own.html'\n")
    first = (tmp_path / "flamegraph.html").read_text()
    assert first == page(kaa, recording).text
    # Its own is written over, also by the other format.
    kaa("flamegraph", "-i", recording, "--lines", cwd=tmp_path)
    assert (tmp_path / "flamegraph.html").read_text() != first
    kaa("flamegraph", "-i", recording, "--svg", cwd=tmp_path)
    assert (tmp_path / "flamegraph.svg").read_text().startswith("<!-- kaa flamegraph")
    for name in ("mine.html", "mine.svg"):
        (tmp_path / name).write_text("my own work")
        said = kaa("flamegraph", "-i", recording, "-o", name, cwd=tmp_path, status=1).stderr
        assert name in said and "-o" in said and (tmp_path / name).read_text() == "my own work"
    (tmp_path / "empty.html").touch()
    kaa("flamegraph", "-i", recording, "-o", "empty.html", cwd=tmp_path)


@pytest.mark.parametrize("name", ["out.txt", "out", "out.html.gz", "html"])
def test_other_endings(kaa, recording, name, tmp_path):
    said = kaa("flamegraph", "-i", recording, "-o", tmp_path / name, status=129).stderr
    assert ".html" in said and ".svg" in said and not (tmp_path / name).exists()


def test_mistakes(kaa, recording, tmp_path):
    assert "'x.html'" in kaa("flamegraph", "--svg", "-o", "x.html", status=129).stderr
    said = kaa("flamegraph", "-i", recording, "-o", tmp_path / "none" / "out.html", status=1).stderr
    assert "none/out.html" in said and "there is no folder" in said
    (tmp_path / "full.html").symlink_to("/dev/full")
    assert "No space left" in kaa("flamegraph", "-i", recording, "-o", tmp_path / "full.html", status=1).stderr
    assert "no event 'x'" in kaa("flamegraph", "-i", recording, "--event", "x", status=129).stderr
    assert "does not exist" in kaa("flamegraph", "-i", tmp_path / "none", status=1).stderr
    (tmp_path / "text").touch()
    assert "'text'; name the recording with -i and" in kaa("flamegraph", "text", cwd=tmp_path, status=129).stderr
    assert "there is no recording of that name: name one with -i" in kaa("flamegraph", "none.data", cwd=tmp_path, status=129).stderr


def test_two_sides(kaa, tmp_path):
    """kaa diff -o: what each side has is in the page, whatever folder its program was in."""
    old, kept, moved = (f"py::{name}:/srv/old/app.py".encode() for name in ("old", "kept", "moved"))
    new, kept2, moved2 = (f"py::{name}:/srv/new/app.py".encode() for name in ("new", "kept", "moved"))
    before = {b"main": {(kept,): 50, (kept, moved): 30, (kept, old): 20}}
    after = {b"main": {(kept2,): 50, (kept2, moved2): 10, (moved2,): 5, (kept2, new): 40}}
    with planted.recording(tmp_path / "a.data", before, 1) as a, planted.recording(tmp_path / "b.data", after, 2) as b:
        page = Page(kaa("diff", "-o", "-", a, b).stdout)
        kaa("diff", "-o", tmp_path / "out.svg", a, b)
        assert ".html" in kaa("diff", "-o", tmp_path / "out.txt", a, b, status=129).stderr
    found = {tuple(f.name for f in node.path()[1:]): (node.before, node.samples) for node in page.nodes if node.before or node.samples}
    assert found == {("kept",): (50, 50), ("kept", "moved"): (30, 10), ("moved",): (0, 5), ("kept", "old"): (20, 0),
                     ("kept", "new"): (0, 40)}
    assert "100 samples" in page.head and "105 samples" in page.head
    titles = [title for title, _ in boxes((tmp_path / "out.svg").read_text())]
    assert any(title.startswith("old") and "20.0 ms before, 0.0 ms after" in title for title in titles)
