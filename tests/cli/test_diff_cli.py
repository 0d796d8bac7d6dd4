# SPDX-License-Identifier: GPL-2.0-only
"""`kaa diff` as a user types it; what its numbers are is held in tests/live/test_diff.py."""
import json
import re

from harness import answer, compared, flame_data, planted


def test_a_recording_with_itself(kaa, recording):
    text = kaa("diff", recording, recording).stdout
    assert "CPU time as before: no function changed beyond the noise." in text
    assert "One run each" in text
    # 300 samples before and after, in each of the two tables.
    sums = re.findall(r"^ *([\d.]+) +([\d.]+) +[+-]0\.0+ .*all$", text, re.M)
    assert len(sums) == 2 and all(before == after for before, after in sums), text
    assert not re.search(r" (real|new|gone)\? ", text.partition("own")[2])


def test_several_recordings_of_each(kaa, recording):
    three = ",".join([str(recording)] * 3)
    text = kaa("diff", three, three).stdout
    assert text.count("300 samples") == 6
    assert "One run each" not in text
    many = ",".join([str(recording)] * 6)
    assert text != kaa("diff", many, recording).stdout
    assert "before  2 more recordings" in kaa("diff", many, recording).stdout


def test_the_default_names_are_those_that_record_leaves(kaa, recording, tmp_path):
    for name in ("perf.data", "perf.data.old"):
        (tmp_path / name).write_bytes(recording.read_bytes())
    assert kaa("diff", cwd=tmp_path).stdout.count("300 samples") == 2
    assert "300 samples" in kaa("diff", "perf.data.old", "perf.data", cwd=tmp_path).stdout


def test_one_recording_is_not_enough(kaa, recording, tmp_path):
    (tmp_path / "perf.data").write_bytes(recording.read_bytes())
    said = kaa("diff", cwd=tmp_path, status=1).stderr
    assert "record once more" in said and f"'{kaa.command[-1]} diff OLD NEW'" in said and " -i " not in said


def test_a_name_with_a_comma_is_one_file(kaa, recording, tmp_path):
    path = tmp_path / "a,b.data"
    path.write_bytes(recording.read_bytes())
    assert kaa("diff", path, recording).stdout.count("300 samples") == 2


def test_what_is_wrong_with_a_recording_is_said(kaa, recording, tmp_path):
    cut = tmp_path / "cut.data"
    cut.write_bytes(recording.read_bytes()[:len(recording.read_bytes()) // 2 - 3])
    said = kaa("diff", recording, cut, status=1)
    assert f"{cut}: " in said.stderr and f"{recording}: " not in said.stderr and "300 samples" in said.stdout


def test_recordings_without_a_common_event(kaa, recording, tmp_path):
    """It says what each has, and what is to be recorded again."""
    (tmp_path / "stacks.txt").write_text("main (/a/x.py:3);f (/a/x.py:9) 20\n")
    other = tmp_path / "other.data"
    kaa("import", "-o", other, tmp_path / "stacks.txt")
    said = kaa("diff", recording, other, status=1).stderr
    found = re.search(r"'(.*?)' has no event '(\S+)' \('(.*?)' has (\S+); '(.*?)' has (\S+)\): (.*)\n$", said)
    assert found and found[1] == found[5] == str(other) and found[3] == str(recording), said
    assert found[2] == found[4] != found[6] == "samples", said
    way = "what was imported has no other events, and can be compared with the like of it alone"
    assert found[7] == way and kaa("diff", other, recording, status=1).stderr.endswith(f": {way}\n"), said
    assert "no function changed" in kaa("diff", other, other).stdout
    # py-spy's file has time, which need not be a CPU's.
    (tmp_path / "spy").write_text(json.dumps({"exporter": "py-spy@0.4.3", "shared": {"frames": [{"name": "f", "file": "x.py", "line": 9}]},
                                              "profiles": [{"type": "sampled", "name": "Thread 7", "unit": "seconds", "startValue": 0,
                                                            "endValue": 1, "samples": [[0]], "weights": [1]}]}))
    kaa("import", "-o", tmp_path / "spy.data", tmp_path / "spy")
    assert kaa("diff", tmp_path / "spy.data", recording, status=1).stderr.endswith(f": {way}\n")
    for event, option in ("wall-clock", "--mode wall"), ("async-clock", "--async"):
        polled = planted.sampled(kaa, tmp_path / "polled.data", {(("f", "/a/x.py", 1, 2),): 9}, event=event)
        said = kaa("diff", recording, polled, status=1).stderr
        assert said.endswith(f"record that one again with '-e {found[2]}' instead of '{option}'\n"), said
        said = kaa("diff", "--event", event, polled, recording, status=1).stderr
        assert said.endswith(f"record that one again with '{option}'\n"), said
    said = kaa("diff", "--event", "faults", recording, other, status=1).stderr
    assert said.endswith(": record them again with the same events\n"), said


def test_a_recording_that_is_named_twice(kaa, recording, tmp_path):
    copy, link = tmp_path / "copy.data", tmp_path / "link.data"
    copy.write_bytes(recording.read_bytes())
    link.symlink_to(copy)
    assert f"warning: '{link}' is before and after" in kaa("diff", copy, link).stderr
    said = kaa("diff", f"{copy},{link}", recording).stderr
    assert f"warning: '{link}' is named twice for one side" in said and "before and after" not in said
    assert "warning" not in kaa("diff", copy, recording).stderr


def test_without_libraries(kaa, tmp_path):
    """The changes are those between two reports --no-libraries, of functions and of lines; the flame graph has no others."""
    venv, own = "/srv/venv/lib/python3.12/site-packages", "/srv/app/main.py"
    command, get = ("<module>", "/srv/venv/bin/tool", 1, 2), ("get", f"{venv}/requests/api.py", 30, 31)
    hook, gone = ("hook", own, 30, 32), ("gone", f"{venv}/six.py", 3, 4)

    def main(line):
        return ("main", own, 10, line)

    before = {(command, main(14), get): 100, (command, main(14), get, hook): 50, (command, main(15), gone): 90, (command, get): 40}
    after = {(command, main(14), get): 300, (command, main(14), get, hook): 50, (command, main(15)): 10, (command, get): 60}
    files = [planted.with_python(planted.sampled(kaa, tmp_path / f"{name}.data", stacks))
             for name, stacks in (("old", before), ("new", after))]
    functions, lines = compared.differences(kaa, "--no-libraries", *files)
    nobody = "[not in your files]"
    milliseconds = {name: row[:3] for (name, _), row in functions.items()}
    assert milliseconds == {"main": ("190.0", "310.0", "+120.0"), "hook": ("50.0", "50.0", "+0.0"), nobody: ("40.0", "60.0", "+20.0")}
    assert {place: row[:3] for (place, _), row in lines.items()} == {
        f"{own}:14": ("100.0", "300.0", "+200.0"), f"{own}:15": ("90.0", "10.0", "-80.0"), f"{own}:32": ("50.0", "50.0", "+0.0"),
        nobody: ("40.0", "60.0", "+20.0")}
    # What a report of each says, in shares.
    for side, file in enumerate(files):
        report = answer.functions_of(kaa("report", "--no-libraries", "--stdio", "-i", file, env=answer.WIDE).stdout)
        all_of = sum((before, after)[side].values())
        assert {name: own for (name, _), (own, _) in report.items()} == {
            name: round(100 * float(row[side]) / all_of, 1) for name, row in milliseconds.items() if name != nobody}
    said = "What libraries do counts for the functions of your own files that call them."
    assert said in kaa("diff", "--no-libraries", *files).stdout and said not in kaa("diff", *files).stdout
    page = flame_data.Page(kaa("diff", "--no-libraries", "-o", "-", *files).stdout)
    assert {tuple(f.name for f in node.path()[1:]): (node.before, node.samples) for node in page.nodes
            if node.before or node.samples} == {("main",): (190, 310), ("main", "hook"): (50, 50), (nobody,): (40, 60)}
    assert said in page.head


def test_filters(kaa, recording):
    text = kaa("diff", "--time", "0%-50%", recording, recording).stdout
    counts = re.findall(r"([\d,]+) samples", text)
    assert len(counts) == 2 and counts[0] == counts[1] != "300"


def test_by_share(kaa, recording):
    assert "own, %" in kaa("diff", "--by", "share", recording, recording).stdout


def test_total(kaa, recording):
    text = kaa("diff", "--total", "--percent-limit", "0", recording, recording).stdout
    assert " total" in text and "own" not in text.split("\n\n")[2]


def test_mistakes(kaa, recording, tmp_path):
    assert f"'{recording}' is one recording" in kaa("diff", recording, status=129).stderr
    assert "'none' does not exist, and diff takes two" in kaa("diff", "none", status=129, cwd=tmp_path).stderr
    assert f"'{recording},x' are runs of one side" in kaa("diff", f"{recording},x", status=129).stderr
    said = kaa("diff", recording, recording, recording, status=129).stderr
    assert "3 recordings are named" in said and "'a1,a2 b1,b2'" in said
    assert "names no recording" in kaa("diff", ",", recording, status=129).stderr
    assert "not 'shares'" in kaa("diff", "--by", "shares", recording, recording, status=129).stderr
    assert "not a percentage" in kaa("diff", "--percent-limit", "x", recording, recording, status=129).stderr
    said = kaa("diff", "--event", "page-faults", recording, recording, status=1).stderr
    assert "has no event 'page-faults'" in said and re.search(r"choose '--event \S+', which all have$", said), said
    assert "does not exist" in kaa("diff", tmp_path / "none", recording, status=1).stderr
    assert "pass the filters" in kaa("diff", "--comms", "nobody", recording, recording, status=1).stderr
