# SPDX-License-Identifier: GPL-2.0-only
"""`kaa diff`, held against what programs know of themselves and against `kaa script` of the same recordings."""
import collections
import os
import re
import time

import pytest

from harness import script_output
from harness.noticed import noticed_in
from harness.waiting import while_busy

pytestmark = pytest.mark.usefixtures("bpf")

WIDE = {**os.environ, "COLUMNS": "300"}
NUMBER = r"(-|[\d.]+)"
# before, after, change, how far off, mark (with one run each it has a '?'), function, file and line
ROW = re.compile(rf"^ *{NUMBER} +{NUMBER} +([+-][\d.]+) \+-([\d.]+) +(real|maybe|noise|new|gone)\?? +(?:[+-][\d.]+|noise)?  +"
                 r"(\S.*?)(?: {2,}(\S.*?):(\d+))?$")
SUM = re.compile(rf"^ *{NUMBER} +{NUMBER} +([+-][\d.]+) .*?(\d+ others?|all)(?:, \d+ real\??)?$")

Row = collections.namedtuple("Row", "before after change width mark name file line")


def number(text):
    return 0.0 if text == "-" else float(text)


def functions_of(text):
    """{function: Row} of the first table."""
    rows = [ROW.match(line) for line in text.split("\n\n")[2].splitlines()]
    return {row[6]: Row(*map(number, row.groups()[:4]), *row.groups()[4:]) for row in rows if row}


def record(kaa, python, data, *words, cwd=None):
    # With a count, each sample weighs the same.
    return python.kaa(kaa)("record", "-c", "1001001", "-g", "-o", data, "--", python.path, *words, cwd=cwd).stdout


def diff(kaa, *words):
    return kaa("diff", *words, env=WIDE).stdout


def planted(kaa, python, scripts, data, share, seconds=1):
    """Records two functions with that share; their own account of it, in seconds."""
    light, heavy = map(float, record(kaa, python, data, scripts / "planted.py", str(share), str(seconds)).split())
    return {"light": light, "heavy": heavy}


def check_changes(text, before, after, slack=None):
    """Changes are those of the shares that the program knows, of the time that was sampled: a machine that is itself held up
    takes fewer samples than the program has time."""
    rows = functions_of(text)
    sampled = [sum(getattr(rows[name], side) for name in before if name in rows) for side in ("before", "after")]
    of_all = [{name: took / sum(account.values()) for name, took in account.items()} for account in (before, after)]
    for name in set(before) & set(rows):
        expected = sampled[1] * of_all[1][name] - sampled[0] * of_all[0][name]
        # Six standard errors, and a sample.
        assert abs(rows[name].change - expected) < 3 * rows[name].width + (slack or (2 if "own, ms" in text else 0.002)), text
    return rows


def check_sums(text):
    """Rows, the others, and all: each column adds up in each table that has rows of own time."""
    for table in text.split("\n\n")[2:4]:
        values = [(number(row[1]), number(row[2]), float(row[3])) for line in table.splitlines()
                  if (row := ROW.match(line) or SUM.match(line))]
        *parts, every = values
        for column in range(3):
            allowed = 0.0006 * len(values) * max(1, every[0], every[1])
            assert abs(sum(part[column] for part in parts) - every[column]) < allowed, table


@pytest.mark.few_versions
def test_planted_shares(kaa, python, scripts, tmp_path):
    """A change of 50 points is real, and as large as the program itself says; what less is, tests/unit/test_diff.c holds."""
    before = planted(kaa, python, scripts, tmp_path / "a", 20)
    after = planted(kaa, python, scripts, tmp_path / "b", 70)
    text = diff(kaa, tmp_path / "a", tmp_path / "b")
    rows = check_changes(text, before, after)
    assert {"light", "heavy"} <= set(rows), text
    check_sums(text)
    # Of what kaa took before it had noticed the Python no function is known.
    shares = check_changes(diff(kaa, "--by", "share", tmp_path / "a", tmp_path / "b"), before, after, slack=2)
    for name in before:
        assert shares[name].mark == "real", shares


def test_the_same_twice(kaa, newest_python, scripts, tmp_path):
    """Whether chance makes a difference is held in tests/unit/test_diff.c, where it has no part."""
    before = planted(kaa, newest_python, scripts, tmp_path / "a", 30)
    after = planted(kaa, newest_python, scripts, tmp_path / "b", 30)
    text = diff(kaa, tmp_path / "a", tmp_path / "b")
    check_changes(text, before, after)
    check_sums(text)


def test_a_halved_wait(kaa, newest_python, tmp_path):
    """One sample of wall time stands for a wait of a second, and it was measured: that half of it is gone is no chance."""
    program = tmp_path / "fetch.py"
    program.write_text("import sys, time\ndef fetch():\n    time.sleep(float(sys.argv[1]))\n"
                       "begin = time.monotonic()\nfetch()\nprint(time.monotonic() - begin)\ntime.sleep(0.3)\n")

    def waited(data, seconds):
        recorder = kaa.inside(noticed_in(tmp_path / data))
        return float(recorder("record", "--mode", "wall", "-o", tmp_path / data, "--", newest_python.path, program, seconds).stdout)
    # The shorter one first: how long it was is up to the machine, too.
    after = waited("b", 1)
    before = waited("a", 2 * after)
    text = diff(kaa, tmp_path / "a", tmp_path / "b")
    row = functions_of(text)["fetch"]
    assert row.mark == "real" and abs(row.change - (after - before)) < 0.3 * (before - after) and row.width < 0.5 * after, text


def test_it_counts_what_script_shows(kaa, newest_python, scripts, tmp_path):
    counts = []
    for name, share in (("a", 10), ("b", 60)):
        planted(kaa, newest_python, scripts, tmp_path / name, share, 0.6)
        samples = script_output.parse(kaa("script", "-i", tmp_path / name).stdout)
        frames = [[frame for frame in sample.frames if frame.is_python] for sample in samples]
        counts.append(collections.Counter(found[0].python_name if found else None for found in frames))
    text = diff(kaa, "--by", "share", "--percent-limit", "0", tmp_path / "a", tmp_path / "b")
    rows = [row for row in map(ROW.match, text.split("\n\n")[2].splitlines()) if row]
    seen = 0
    for row in rows:
        keys = {key for own in counts for key in own if key and key[0] == row[6] and key[1].endswith(row[7] or "-")}
        # A file may have several of one name, as "<lambda>".
        if not keys or "<" in row[6]:
            continue
        assert len(keys) == 1, keys
        for own, share in zip(counts, row.groups()[:2]):
            assert abs(100 * own[min(keys)] / own.total() - number(share)) < 0.051, (keys, row)
        seen += 1
    assert seen >= 2, text


METHODS = """\
import time

class First:
    def run(self):
        end = time.thread_time() + 0.02
        while time.thread_time() < end:
            pass

class Second:
    def run(self):
        end = time.thread_time() + 0.04
        while time.thread_time() < end:
            pass

def main():
    for _ in range(20):
        First().run()
        Second().run()

main()
"""


@pytest.mark.few_versions
def test_versions_of_python(kaa, python, newest_python, tmp_path):
    """The same functions, whatever a version calls them."""
    script = tmp_path / "methods.py"
    script.write_text(METHODS)
    record(kaa, python, tmp_path / "a", script)
    record(kaa, newest_python, tmp_path / "b", script)
    text = diff(kaa, tmp_path / "a", tmp_path / "b")
    rows = [row for row in map(ROW.match, text.split("\n\n")[2].splitlines()) if row and row[6].endswith("run")]
    found = {int(row[8]): row for row in rows}
    assert all(row[5] in ("real", "maybe", "noise") for row in rows) and set(found) <= {4, 10}, text
    wider = functions_of(diff(kaa, "--percent-limit", "0", tmp_path / "a", tmp_path / "b"))
    assert not any(row.mark in ("new", "gone") for name, row in wider.items() if name.endswith("run")), wider
    lines = kaa("diff", "--percent-limit", "0", tmp_path / "a", tmp_path / "b", env=WIDE).stdout.split("\n\n")[3]
    assert "methods.py:12" in lines and "not paired" not in "".join(
        line for line in lines.splitlines() if "methods.py" in line), lines


SLOW = """\
import time

def quick():
    return sum(range(50))

def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        quick()

def other(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

for _ in range(20):
    work(0.04)
    other(0.01)
"""
FAST = SLOW.replace("def quick():\n    return sum(range(50))\n", "def quick():\n    # added\n    return sum(\n        range(\n            50))\n")
FAST = FAST.replace("work(0.04)", "work(0.005)").replace("other(0.01)", "other(0.045)")


def record_an_edit(kaa, python, folder, before, after):
    """edited.py before and after, as "a" and "b": kaa can tell by the times that it was edited in between."""
    script = folder / "edited.py"
    now = time.time()
    for name, text, moment in (("a", before, now), ("b", after, now + 20)):
        script.write_text(text)
        record(kaa, python, folder / name, script)
        os.utime(folder / name, (moment, moment))
    os.utime(script, (now + 10, now + 10))


def test_an_edited_file(kaa, newest_python, tmp_path):
    record_an_edit(kaa, newest_python, tmp_path, SLOW, FAST)
    # Of the time of a run a machine that is itself held up may leave some out.
    text = diff(kaa, "--by", "share", "--percent-limit", "0", tmp_path / "a", tmp_path / "b")
    rows = functions_of(text)
    # Where it is now.
    assert int(rows["work"].line) == 1 + FAST[:FAST.index("def work")].count("\n"), text
    assert rows["work"].mark == "real" and rows["quick"].mark == "real", text
    lines = text.split("\n\n")[3].splitlines()
    # work() only moved; the text is that of now. quick() has more lines than before.
    assert any(re.search(r" real\? .*edited\.py:11 +while time\.thread_time\(\) < end:$", line) for line in lines), text
    assert any(re.search(r" real\? .*edited\.py:3 +\[changed\]$", line) for line in lines), text
    assert "[changed]: which lines were which before cannot be told, so they are one row." in text
    assert "has changed since" not in text
    check_sums(text)


PLAIN = """\
import time

def work(seconds):
    total, end = 0, time.thread_time() + seconds
    while time.thread_time() < end:
        for i in range(1000):
            total += i * i
    return total

work(0.6)
"""
COMMENTED = PLAIN.replace("    total, end", "    # What it does.\n\n    total, end").replace(
    "            total +=", "            # And why.\n            # Twice.\n            total +=")


@pytest.mark.few_versions
def test_comments_in_an_edited_file(kaa, python, tmp_path):
    """A line is known by which of its code's lines it is."""
    record_an_edit(kaa, python, tmp_path, PLAIN, COMMENTED)
    text = diff(kaa, "--by", "share", "--percent-limit", "0", tmp_path / "a", tmp_path / "b")
    rows = {int(number): words for words, number in re.findall(r"^(.*?) +\S*edited\.py:(\d+) ", text, re.M)}
    # The two lines that take the time; the text is that of now.
    for line in ("for i in range(1000):", "total += i * i"):
        before, after = rows[1 + COMMENTED[:COMMENTED.index(line)].count("\n")].split()[:2]
        assert number(before) and number(after), text
    assert not re.search(r"edited\.py:\d+ +\[changed\]", text) and "No line tables" not in text, text


def test_two_checkouts(kaa, newest_python, tmp_path):
    for name, text in (("old", SLOW), ("new", FAST)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "edited.py").write_text(text)
        record(kaa, newest_python, tmp_path / name / "data", tmp_path / name / "edited.py")
        os.utime(tmp_path / name / "edited.py", (1000, 1000))
    text = diff(kaa, "--by", "share", "--percent-limit", "0", tmp_path / "old" / "data", tmp_path / "new" / "data")
    rows = functions_of(text)
    assert rows["work"].mark == "real" and rows["quick"].mark == "real", text
    assert f"{tmp_path}/old/edited.py is compared with {tmp_path}/new/edited.py" in text
    lines = text.split("\n\n")[3]
    # Both texts are known: a line that is gone is where it was.
    assert re.search(r" gone\? .*old/edited\.py:4 +return sum\(range\(50\)\)$", lines, re.M), text
    assert not re.search(r"edited\.py.*not paired", lines) and re.search(r" real\? .*new/edited\.py:11 +while ", lines, re.M), text
    check_sums(text)


def test_several_runs_of_each(kaa, newest_python, scripts, tmp_path):
    for i in range(3):
        planted(kaa, newest_python, scripts, tmp_path / f"a{i}", 20, 0.5)
        planted(kaa, newest_python, scripts, tmp_path / f"b{i}", 70, 0.5)
    names = [",".join(str(tmp_path / f"{side}{i}") for i in range(3)) for side in "ab"]
    # Of the time of a run a machine that is itself held up may leave some out.
    text = diff(kaa, "--by", "share", *names)
    rows = functions_of(text)
    # On a busy machine kaa may notice a Python late, and the samples before that show no function: then less is certain.
    held_up = any(10 * int(incomplete) > int(count) for count, incomplete in re.findall(r"  (\d+) samples, .*?(\d+) incomplete", text))
    certain = ("real", "maybe") if held_up else ("real",)
    assert rows["light"].mark in certain and rows["heavy"].mark in certain, text
    check_sums(text)
    text = diff(kaa, *names)
    assert "One run each" not in text and re.search(r"\+-[\d.]+ +(real|maybe|noise) +all$", text, re.M), text
    check_sums(text)


def test_what_is_to_be_recorded_again(kaa, newest_python, scripts, tmp_path):
    """Of an event that is no word of -e it is the option."""
    kaa.inside(noticed_in(tmp_path / "a"))("record", "--mode", "wall", "-o", tmp_path / "a", "--", newest_python.path, "-c",
                                           "import time; time.sleep(0.2)")
    planted(kaa, newest_python, scripts, tmp_path / "b", 30, 0.2)
    said = kaa("diff", "--event", "wall-clock", tmp_path / "a", tmp_path / "b", status=1).stderr
    assert f"'{tmp_path}/b' has no event 'wall-clock'" in said and said.endswith("again with '--mode wall'\n"), said


@pytest.mark.parametrize("attach", [("-g", "-p", "{}"), ("-gp{}",)])
def test_what_ran_already_is_compared_by_share(kaa, newest_python, scripts, tmp_path, attach):
    with newest_python.running(scripts / "planted.py", "30", "1000000") as (_, pid):
        for name, seconds in (("a", 0.3), ("b", 0.9)):
            kaa("record", "-F", "999", "-o", tmp_path / name, *(word.format(pid) for word in attach), "--",
                *while_busy(pid, seconds))
    text = diff(kaa, tmp_path / "a", tmp_path / "b")
    assert "own, %" in text and "Shares are compared" in text
    assert "own, ms" in diff(kaa, "--by", "time", tmp_path / "a", tmp_path / "b")


def test_events_are_paired_by_name(kaa, newest_python, scripts, tmp_path):
    kaa("record", "-e", "cpu-clock,page-faults", "-F", "999", "-g", "-o", tmp_path / "a", "--", *newest_python.command,
        scripts / "shapes.py", "0.3")
    kaa("record", "-e", "cpu-clock", "-F", "999", "-g", "-o", tmp_path / "b", "--", *newest_python.command,
        scripts / "shapes.py", "0.3")
    text = diff(kaa, tmp_path / "a", tmp_path / "b")
    assert re.search(rf"^Not compared: [\d,]+ samples of page-faults in {tmp_path}/a$", text, re.M), text
    said = kaa("diff", "--event", "page-faults", tmp_path / "a", tmp_path / "b", status=1).stderr
    assert (f"'{tmp_path}/b' has no event 'page-faults' ('{tmp_path}/a' has cpu-clock, page-faults; "
            f"'{tmp_path}/b' has cpu-clock)") in said
    assert "choose '--event cpu-clock', which all have, or record that one again with '-e page-faults'" in said
    text = diff(kaa, "--event", "page-faults", tmp_path / "a", tmp_path / "a")
    assert "\npage-faults as before: no function" in text and "Compared are the counts of a run" in text, text
