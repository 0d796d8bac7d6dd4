# SPDX-License-Identifier: GPL-2.0-only
"""What `kaa report` opens with on a terminal: own time of Python code, beside `kaa script` of the same recording.

What is compared is what pyte draws, in windows of several sizes.
"""
import collections
import os
import re
import shutil
import sys
import time

import pytest

from harness import script_output
from harness.noticed import noticed_in
from harness.terminal import Terminal

# Threads, a package beside the script, a long name, native code, callers, lines of several functions.
SHOP = """\
import sys
import threading
import time

from parts import stock

class Orders:
    class Index:
        def sorted_by_the_remainder_of_the_number_of_its_supplier(self, rows):
            def key_of_one_row_of_the_index_of_orders(row):
                return row * 7919 % 1009
            return sorted(rows, key=key_of_one_row_of_the_index_of_orders)

    def dedupe(self, rows):
        seen = []
        for row in rows:
            if row not in seen:
                seen.append(row)
        return seen

def spin(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total

def left():
    return spin(3000)

def right():
    return spin(9000)

def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        left()
        right()
        stock.count(3000)

def main(seconds):
    orders = Orders()
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        orders.dedupe(range(700))
        Orders.Index().sorted_by_the_remainder_of_the_number_of_its_supplier(range(3000))

threads = [threading.Thread(target=work, args=(float(sys.argv[1]),), name=f"stock keeper {i}") for i in range(2)]
for thread in threads:
    thread.start()
main(float(sys.argv[1]))
for thread in threads:
    thread.join()
"""
STOCK = """\
def count(n):
    return sum([i * 7 for i in range(n)])
"""
SIZES = [(24, 80), (40, 120), (50, 200)]
VIEWS = "12345"
WIDE = {**os.environ, "COLUMNS": "250"}
# A row with what it weighs itself, and in all unless it has no room.
ROW = re.compile(r"^([-+ ]) ( *\d+\.\d)%  (?:( *\d+\.\d)%  | {8})? *(\S.*)$")


@pytest.fixture(scope="module")
def recording(tmp_path_factory, root, bpf, kaa):
    folder = tmp_path_factory.mktemp("answer")
    (folder / "parts").mkdir()
    for name, text in (("shop.py", SHOP), ("parts/stock.py", STOCK)):
        (folder / name).write_text(text)
        # Older than the recording, by more than a file system's clock is coarse.
        os.utime(folder / name, (time.time() - 60, time.time() - 60))
    # Without site: what is searched for has no match in names of others, as "righ" has in setcopyright().
    kaa("record", "-c", "1001001", "-g", "-o", folder / "perf.data", sys.executable, "-S", folder / "shop.py", "0.8")
    return folder / "perf.data"


@pytest.fixture(scope="module")
def samples(kaa, recording):
    return script_output.parse(kaa("script", "-F", "+srcline", "-i", recording).stdout)


def report(kaa, data, *options, rows=50, columns=200, **settings):
    terminal = Terminal([*kaa.command, "report", "-i", data, *options], rows=rows, columns=columns, cwd=data.parent, **settings)
    terminal.wait_for("h: keys")
    return terminal


def rows_of(terminal):
    """[sign, own, total or None, cells] of each row of the screen."""
    matches = filter(None, map(ROW.match, terminal.lines()[1:-1]))
    return [(match[1], float(match[2]), match[3] and float(match[3]), re.split(r" {2,}", match[4])) for match in matches]


def frames_of(sample):
    """(function, file, line) of the Python frames, the innermost first."""
    return [(*frame.python_name, frame.line) for frame in sample.frames if frame.is_python]


class Counts:
    """Own and total by function ("name file"), line ("file:number") and file, in percent of these samples."""

    def __init__(self, samples, folder):
        self.own, self.total = collections.Counter(), collections.Counter()
        for sample in samples:
            stack = [self.names(frame, folder) for frame in frames_of(sample)] or [[None] * 3]
            for name in stack[0]:
                self.own[name] += 100 / len(samples)
            for name in {name for names in stack for name in names}:
                self.total[name] += 100 / len(samples)

    @staticmethod
    def names(frame, folder):
        function, file, line = frame
        file = file.removeprefix(f"{folder}/")
        return [f"{function} {file}", f"{file}:{line}", file]

    def own_of(self, name):
        return next(own for key, own in self.own.items() if key and key.split()[0] == name)


def check(rows, counts, least=3):
    """Rows say what was counted. CPython before 3.11 calls many functions by one name, and some rows lost a beginning."""
    checked = 0
    for _, own, total, (name, *more) in rows:
        if more and re.search(r":\d+$", more[0]) and not re.search(r":\d+$", name):
            name += " " + more[0].rpartition(":")[0]
        if name not in counts.total or name.startswith("<"):
            continue
        assert abs(own - counts.own[name]) < 0.06, (name, own, counts.own[name])
        assert total is None or abs(total - counts.total[name]) < 0.06, (name, total, counts.total[name])
        checked += 1
    assert checked >= least, rows


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_each_view_fits_and_tells_rows_apart(kaa, recording, samples, size):
    lines, columns = size
    names = {name for sample in samples for frame in frames_of(sample) for name in (frame[0], f"{frame[1]}:{frame[2]}", frame[1])}
    names |= {name for sample in samples for frame in sample.frames for name in (frame.symbol, frame.dso)}
    with report(kaa, recording, rows=lines, columns=columns) as terminal:
        for view in (*VIEWS, "v", *VIEWS[1:]):
            terminal.press(view)
            rows = rows_of(terminal)
            # A fast machine has no sample in the interpreter's start, and so in no fourth file.
            assert len(rows) >= (3 if view in "45" else 4), terminal.text()
            cells = [tuple(row[3][:2]) for row in rows]
            assert len(set(cells)) == len(cells), terminal.text()
            # What ends with dots is code; a name loses its beginning, and ends as one does.
            for name, *_ in cells:
                assert not name.endswith("..."), terminal.text()
                cut = name.removeprefix("...")
                assert cut == name or any(known.endswith(cut) for known in names), name
            assert terminal.lines()[-1].startswith(("h: keys", "with native"))
            assert len(terminal.lines()[0]) <= columns


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_first_screen_has_all_sections(kaa, recording, samples, size):
    counts = Counts(samples, recording.parent)
    with report(kaa, recording, rows=size[0], columns=size[1]) as terminal:
        text = terminal.text()
        assert terminal.lines()[0].startswith("shop.py   ") and f"   {len(samples):,} samples" in text
        assert re.search(r"^Spent in: [a-zA-Z ]+ \d", terminal.lines()[1])
        headings = [line for line in terminal.lines() if re.match(r" +(own|share)  ", line)]
        assert [re.split(r" {2,}", heading.strip())[-1] for heading in headings][1:] == ["source", "name"]
        check(rows_of(terminal), counts)
        # The line with its text; what is selected is the heaviest function.
        assert "total += i & 3" in text and "if row not in seen:" in text
        heaviest = max(map(counts.own_of, ("spin", "Orders.dedupe")))
        assert counts.own_of(rows_of(terminal)[0][3][0]) == heaviest
        # Each section has all samples.
        shares = [[row[1] for row in map(ROW.match, part.splitlines()) if row]
                  for part in re.split(r"^ +(?:own|share)  .*$", text, flags=re.M)[1:]]
        for part in re.split(r"^ +(?:own|share)  .*$", text, flags=re.M)[1:]:
            own = [float(match[2]) for match in map(ROW.match, part.splitlines()) if match]
            assert abs(sum(own) - 100) < 0.06 * len(own), part
        assert len(shares) == 3


def test_views_count_what_script_shows(kaa, recording, samples):
    counts = Counts(samples, recording.parent)
    with report(kaa, recording, rows=200) as terminal:
        for view, heading in (("2", "Functions: "), ("3", "Lines: "), ("4", "Files: ")):
            terminal.press(view)
            assert terminal.lines()[0].startswith(heading)
            rows = rows_of(terminal)
            check(rows, counts, 2)
            if len(rows) < 190:
                assert abs(sum(row[1] for row in rows) - 100) < 0.06 * len(rows)
            assert rows == sorted(rows, key=lambda row: -row[1])
        terminal.press("2", "o")
        rows = rows_of(terminal)
        assert rows == sorted(rows, key=lambda row: -row[2]) and rows[0][2] > rows[0][1]
        terminal.press("o", "5")
        threads = collections.Counter(sample.tid for sample in samples)
        for _, share, _, (tid, *_) in rows_of(terminal):
            assert abs(share - 100 * threads[int(tid)] / len(samples)) < 0.06
        assert len(rows_of(terminal)) == len(threads) == 3
        terminal.press("2", "l")
        assert "libraries count for your functions that call them" in terminal.lines()[-1]
        rows = rows_of(terminal)
        assert abs(sum(row[1] for row in rows) - 100) < 0.06 * len(rows)
        terminal.press("l")
        assert "libraries count for their own functions" in terminal.lines()[-1]


def test_the_same_rows_as_the_text(kaa, recording):
    text = kaa("report", "--stdio", "-i", recording, env=WIDE, cwd=recording.parent).stdout
    row = re.compile(r"^ *(\d+\.\d)% +(\d+\.\d)%  (\S.*)$", re.M)
    functions, lines = text.split("\n\n")[1:3]
    expected = [[(float(match[1]), float(match[2]), re.split(r" {2,}", match[3])) for match in row.finditer(part)]
                for part in (functions, lines)]
    with report(kaa, recording, columns=250) as terminal:
        for view, rows in zip("23", expected):
            terminal.press(view)
            drawn = rows_of(terminal)
            assert len(rows) >= 5
            for (own, total, cells), row in zip(rows, drawn):
                assert (own, total, cells[:2]) == (row[1], row[2], row[3][:2])
                # What it was spent in, as far as there is room.
                assert " ".join(cells[2:]).startswith(re.sub(r",? ?others \d+$| \+$", "", " ".join(row[3][2:])))


def test_threads_have_the_names_of_the_text(kaa, recording):
    text = kaa("report", "--stdio", "-i", recording, env=WIDE, cwd=recording.parent).stdout
    expected = re.findall(r"^ *(\d+\.\d)% +(\d+) +(\S.*)$", text.partition(" total          thread   name\n")[2], re.M)
    with report(kaa, recording, rows=24, columns=80) as terminal:
        terminal.press("5")
        assert [(str(share), tid, name) for _, share, _, (tid, name) in rows_of(terminal)] == expected
        assert len(expected) == 3
        terminal.press("enter")
        assert f"in thread {expected[0][1]} ({expected[0][2]})" in terminal.lines()[0]


def test_native_code_and_then_all(kaa, recording, samples):
    with report(kaa, recording) as terminal:
        terminal.press("2", "v")
        rows = rows_of(terminal)
        assert abs(sum(row[1] for row in rows) - 100) < 0.06 * len(rows)
        row = next(row for row in rows if row[3][0].startswith(("list_contains", "list_richcompare", "allocation", "builtin_sorted")))
        terminal.press("s", row[3][0], "enter", "+")
        below = [row for row in rows_of(terminal) if row[3][0] in ("Orders.dedupe", "count", "main", "spin",
                 "Orders.Index.sorted_by_the_remainder_of_the_number_of_its_supplier")]
        assert below and f"- {row[1]:5.1f}%" in terminal.text()
        terminal.press("v")
        assert "Children" in terminal.lines()[1] and f"Samples: {len(samples)} of" in terminal.lines()[0]
        terminal.press("v")
        assert terminal.lines()[0].startswith("Functions: ")
        terminal.press("x")
        assert "Children" in terminal.lines()[1]
        terminal.press("x", "q", "q")
        assert terminal.wait() == 0


def test_what_own_time_was_spent_in(kaa, recording):
    with report(kaa, recording) as terminal:
        terminal.press("2", "s", "Orders.dedupe", "enter", "right")
        lines = terminal.lines()
        at = next(i for i, line in enumerate(lines) if line.startswith("- "))
        own = float(lines[at][2:7])
        parts = []
        while re.match(r"^ {2} *\d+\.\d% +[\w ]+", lines[at + 1 + len(parts)]):
            parts.append(float(lines[at + 1 + len(parts)].split("%")[0]))
        assert len(parts) >= 2 and abs(sum(parts) - own) < 0.06 * (len(parts) + 1)
        terminal.press("left")
        assert not any(line.startswith("- ") for line in terminal.lines())


def test_the_source_of_a_row(kaa, recording, samples):
    """Own and total of each line of the file; the cursor is on the function's heaviest."""
    counts = Counts(samples, recording.parent)
    with report(kaa, recording, rows=70) as terminal:
        for keys in (("2", "s", "spin", "enter", "enter"), ("esc", "3", "s", "total += i", "enter", "a"),
                     ("esc", "4", "s", "shop.py", "enter", "a")):
            terminal.press(*keys)
            assert str(recording.parent / "shop.py") in terminal.lines()[0]
            found = {}
            for line in terminal.lines():
                match = re.match(r"^ +(?:(\d+\.\d\d)%)? {1,9}(?:(\d+\.\d\d)%)? +(\d+)  (.*)$", line)
                if match and match[2]:
                    found[int(match[3])] = (float(match[1] or 0), float(match[2]), match[4])
            source = SHOP.splitlines()
            assert len(found) > 8
            for number, (own, total, text) in found.items():
                assert text == source[number - 1]
                assert abs(own - counts.own[f"shop.py:{number}"]) < 0.01, number
                assert abs(total - counts.total[f"shop.py:{number}"]) < 0.01, number
            if "4" not in keys:
                row = int(re.search(r" (\d+)/\d+$", terminal.lines()[0])[1])
                assert "total" in source[row - 1] or "range(n)" in source[row - 1]
        terminal.press("left", "5", "a")
        assert "no Python source" in terminal.lines()[-1]


def test_the_source_of_a_row_of_a_changed_file(kaa, recording, tmp_path):
    """It opens where the function is, and says what is wrong with the file."""
    data = shutil.copytree(recording.parent, tmp_path / "changed") / recording.name
    shop = recording.parent / "shop.py"
    text, before = shop.read_text(), shop.stat()
    try:
        shop.write_text(text + "# edited\n")
        with report(kaa, data) as terminal:
            assert "shop.py has changed since the recording (i: notes)" in terminal.lines()[-1] and "(i: notes)" in terminal.lines()[0]
            terminal.press("i")
            assert "shop.py has changed since the recording, so its lines have no text" in " ".join(terminal.text().split())
            # Said once.
            terminal.press("q")
            assert "has changed" not in terminal.text()
        with report(kaa, data, rows=12) as terminal:
            terminal.press("2", "s", "spin", "enter", "enter")
            lines = terminal.lines()
            assert int(re.search(r" (\d+)/\d+$", lines[0])[1]) > 1 and "def spin" in "\n".join(lines[2:-1]), lines
            assert "was changed after the recording" in lines[-1]
            terminal.press("home")
            assert "was changed after the recording" in terminal.lines()[2]
    finally:
        shop.write_text(text)
        os.utime(shop, (before.st_atime, before.st_mtime))


def callers_of(samples, function):
    """How many samples pass through it, and from which (function, line) its innermost frame was called."""
    through, callers = 0, collections.Counter()
    for sample in samples:
        frames = frames_of(sample)
        at = next((i for i, frame in enumerate(frames) if frame[0] == function), None)
        if at is not None:
            through += 1
            # Of one of thousands the callers may be in a page that the kernel is moving.
            callers.update((name, line) for name, _, line in frames[at + 1:at + 2])
    return through, callers


def test_who_calls_it(kaa, recording, samples):
    through, callers = callers_of(samples, "spin")
    with report(kaa, recording) as terminal:
        first = terminal.lines()
        terminal.press("s", "spin", "enter", "w")
        assert terminal.lines()[0].startswith("Callers of spin: ")
        rows = [(own, *cells) for _, own, _, cells in rows_of(terminal)]
        assert rows[0][1] == "spin" and abs(rows[0][0] - 100 * through / len(samples)) < 0.06
        assert {name for name, _ in callers} == {"left", "right"}
        for (name, line), count in callers.items():
            share, place, source = next((row[0], *row[2:4]) for row in rows if row[1] == name)
            assert place.endswith(f"shop.py:{line}") and source.startswith("return spin("), rows
            assert abs(share - 100 * count / len(samples)) < 0.06
        # One caller alone is behind what it calls: right < work < ... (of one sample of thousands it may be unreadable)
        at = next(i for i, row in enumerate(rows) if row[1] == "right")
        by_work = sum(["spin", "right", "work"] in (names[i:i + 3] for i in range(len(names)))
                      for names in ([frame[0] for frame in frames_of(sample)] for sample in samples))
        assert rows[at + 1][1] == "< work" and abs(rows[at + 1][0] - 100 * by_work / len(samples)) < 0.06
        # The source of the call; and back to where it was.
        terminal.press("s", "right", "enter", "a")
        assert "return spin(9000)" in terminal.text()
        terminal.press("esc", "esc")
        assert terminal.lines() == [*first[:-1], terminal.lines()[-1]]
        # Who calls the caller; left goes back, too, once all is closed.
        terminal.press("w", "s", "righ", "enter", "w")
        assert terminal.lines()[0].startswith("Callers of right: ")
        terminal.press("left", "left")
        assert terminal.lines()[1:3] == first[1:3]
        terminal.press("x")
        assert f"Samples: {len(samples)} of" in terminal.lines()[0]


def test_who_calls_it_as_text(kaa, recording, samples):
    """report --callers: the same rows without a terminal; a line means its function."""
    through, callers = callers_of(samples, "spin")
    text = kaa("report", "--callers", "spin", "-i", recording).stdout
    rows = re.findall(r"^[ +] +([\d.]+)% +(?:< )?(\S+) +\S*shop\.py:(\d+)", text, re.M)
    shares = {(name, int(line)): float(share) for share, name, line in rows}
    assert text.startswith("Callers of spin: ") and rows[0][1] == "spin", text
    assert abs(float(rows[0][0]) - 100 * through / len(samples)) < 0.06
    for caller, count in callers.items():
        assert abs(shares[caller] - 100 * count / len(samples)) < 0.06, (caller, text)
    (_, line), _ = callers.most_common(1)[0]
    (name,) = {name for name, at in callers if at == line}
    assert kaa("report", "--callers", f"shop.py:{line}", "-i", recording).stdout.startswith(f"Callers of {name}: ")
    native = next(frame.symbol for sample in samples for frame in sample.frames
                  if not frame.is_python and frame.symbol.startswith("_PyEval_"))
    said = kaa("report", "--callers", native, "-i", recording, status=1).stderr
    assert f"'{native}' is no Python function; its callers: " in said
    assert native in kaa(*said.rpartition("its callers: ")[2].split()[1:], "--interpreter-frames", "--children").stdout


def test_who_calls_it_in_a_zoom(kaa, recording, samples):
    chosen = [sample for sample in samples if any(frame[0] == "right" for frame in frames_of(sample))]
    inside = sum(any(frame.dso == "[kernel.kallsyms]" for frame in sample.frames) for sample in chosen)
    through, callers = callers_of(chosen, "spin")
    with report(kaa, recording) as terminal:
        terminal.press("2", "s", "righ", "enter", "z", "s", "spin", "enter", "w")
        assert terminal.lines()[0].startswith("Callers of spin: in function right ")
        rows = [(own, *cells) for _, own, _, cells in rows_of(terminal)]
        assert abs(rows[0][0] - 100 * through / len(chosen)) < 0.06 and rows[1][1] == "right"
        assert {name for name, _ in callers} == {"right"} and not any("left" in row[1] for row in rows)
        # Out of the zoom it is those of all samples again.
        terminal.press("z")
        assert any(row[3][0] == "left" for row in rows_of(terminal))
        # In the table: no entry is the function and the kernel's, and the last zoom is shown.
        terminal.press("s", "righ", "enter", "z", "x", "k")
        assert f"in function right  kernel  Samples: {inside} of" in terminal.lines()[0]
        entries = re.findall(r"^.* \[([.k])\] ", terminal.text(), re.M)
        assert set(entries) == {"k"} if inside else not entries


def test_zooms_count_their_samples(kaa, recording, samples):
    folder = recording.parent
    main = next(sample.tid for sample in samples if any(frame[0] == "main" for frame in frames_of(sample)))
    with report(kaa, recording, rows=200) as terminal:
        # A thread, of a list; then by its row.
        terminal.press("t", "s", str(main), "enter", "enter")
        assert f"in thread {main} " in terminal.lines()[0]
        check(rows_of(terminal), Counts([sample for sample in samples if sample.tid == main], folder))
        terminal.press("F", "2")
        chosen = Counts([sample for sample in samples if sample.tid == main], folder)
        share = sum(sample.tid == main for sample in samples) / len(samples)
        own = next(row[1] for row in rows_of(terminal) if row[3][0] == "Orders.dedupe")
        assert abs(own - chosen.own_of("Orders.dedupe") * share) < 0.06
        terminal.press("F", "t", "5", "s", str(main), "enter", "enter")
        assert f"in thread {main} " in terminal.lines()[0]
        # The table is of the same samples, and so is the answer again.
        terminal.press("x")
        assert f"in thread {main}  Samples: {sum(sample.tid == main for sample in samples)} of" in terminal.lines()[0]
        # Back out of the table, and then out of the zoom in which it was opened.
        terminal.press("esc")
        assert f"in thread {main} " in terminal.lines()[0] and "Children" not in terminal.lines()[1]
        terminal.press("esc", "2")
        check(rows_of(terminal), Counts(samples, folder))
        assert "in thread" not in terminal.lines()[0]
        # A function, and a file: all samples that pass through it.
        terminal.press("s", "righ", "enter", "z")
        assert "in function right " in terminal.lines()[0]
        through = [sample for sample in samples if any(frame[0] == "right" for frame in frames_of(sample))]
        check(rows_of(terminal), Counts(through, folder), 2)
        terminal.press("z", "4", "s", "stock.py", "enter", "d")
        assert "in source " in terminal.lines()[0]
        inside = [sample for sample in samples if any(frame[1].endswith("stock.py") for frame in frames_of(sample))]
        check(rows_of(terminal), Counts(inside, folder), 2)
        terminal.press("esc", "/", "py::left:", "enter", "2")
        assert "symbol 'py::left:'" in terminal.lines()[0]
        through = [sample for sample in samples if any(frame[0] == "left" for frame in frames_of(sample))]
        check(rows_of(terminal), Counts(through, folder), 2)
        terminal.press("/", "enter", "k")
        assert "in kernel" in terminal.lines()[0]
        terminal.press("k", "c", "p")
        assert "one process" in terminal.lines()[-1]


def test_going_back(kaa, recording):
    with report(kaa, recording, rows=24, columns=80) as terminal:
        first = terminal.lines()
        rest = next(i for i, line in enumerate(first) if "more functions" in line or "more lines" in line)
        terminal.press(*["down"] * (rest - 3), "enter")
        assert terminal.lines()[0].startswith(("Functions: ", "Lines: "))
        terminal.press("left")
        assert terminal.lines() == first
        terminal.press("home", "enter")
        assert terminal.lines()[0].startswith("Functions: ")
        terminal.press("esc", "esc")
        assert terminal.lines()[:-1] == first[:-1] and terminal.lines()[-1] == "q quits"


def test_the_window_changes(kaa, recording):
    drawn = {}
    for size in SIZES:
        with report(kaa, recording, rows=size[0], columns=size[1]) as terminal:
            drawn[size] = terminal.lines()
    with report(kaa, recording, rows=30, columns=100) as terminal:
        for size in (*SIZES, (4, 20), (1, 1), (3, 40), *reversed(SIZES)):
            terminal.resize(*size)
            if size in drawn:
                assert terminal.lines() == drawn[size], size
        terminal.press("2", "+", "3", "v", "h", "q", "m", "esc")
        terminal.resize(2, 10)
        terminal.press("down", "right", "enter", "q", "q", "q")
        assert terminal.wait() == 0


def test_menu_information_and_keys(kaa, recording):
    with report(kaa, recording) as terminal:
        terminal.press("m")
        assert "Who calls function " in terminal.text() and "Show the source" in terminal.text()
        terminal.press("w")
        assert "function, its callers" in terminal.lines()[1]
        terminal.press("esc", "h")
        help_text = terminal.text()
        for key in ("Enter", "a  ", "w  ", "m  ", "+  ", "2 3 4 5", "v  ", "x  ", "o  ", "s  ", "n  N", "z  ", "t  p  c", "d  k",
                    "/  ", "Esc", "F  ", "Tab", "i  ", "D  ", "H  ", "q  "):
            assert re.search(rf"^{re.escape(key)}", help_text, re.M), key
        assert max(map(len, terminal.lines()[1:-1])) <= 60
        terminal.press("q", "i")
        assert "cmdline" in terminal.text()
        terminal.press("q", "H")
        assert not any("Spent in" in line for line in terminal.lines())
        terminal.press("H", "tab")
        assert "only one event" in terminal.lines()[-1]
        terminal.press("g")
        assert "a key of the table, which x shows" in terminal.lines()[-1]


def test_information_is_whole_in_a_narrow_window(kaa, recording):
    """Its lines end between words."""
    words = []
    for columns in (1000, 60):
        with report(kaa, recording, rows=150, columns=columns) as terminal:
            terminal.press("i")
            # A word that is too wide by itself is cut.
            words.append([word[:50] for line in terminal.lines()[1:-1] for word in line.split()])
    assert words[0] == words[1], terminal.text()


def test_details_of_a_row(kaa, recording, samples):
    """Names that a narrow window has no room for."""
    counts = Counts(samples, recording.parent)
    with report(kaa, recording, rows=24, columns=60) as terminal:
        terminal.press("2", "s", "dedupe", "enter", "D")
        text = terminal.text()
        # A path that is too wide is cut.
        assert f"source  : {recording.parent}/shop.py"[:60] in text and "name    : Orders.dedupe" in text
        own, count = re.search(r"own     : (\d+\.\d\d)%, (\d+) samples", text).groups()
        assert abs(float(own) - counts.own_of("Orders.dedupe")) < 0.01
        assert abs(int(count) - counts.own_of("Orders.dedupe") * len(samples) / 100) < 0.5
        parts = re.findall(r"^ +(\d+\.\d\d)%  \S", text, re.M)
        assert abs(sum(map(float, parts)) - float(own)) < 0.01 * len(parts)


def test_events_have_an_answer_each(kaa, root, bpf, recording, tmp_path):
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-e", "cpu-clock,page-faults", "-g", "-o", data, sys.executable, recording.parent / "shop.py", "0.2")
    with report(kaa, data) as terminal:
        first = terminal.lines()
        terminal.press("tab")
        assert "page-faults" in terminal.lines()[0] and rows_of(terminal)
        terminal.press("x")
        assert "page-faults" in terminal.lines()[0] and "Children" in terminal.lines()[1]
        terminal.press("x", "backtab")
        assert terminal.lines() == first


def test_all_columns_have_room(kaa, recording):
    """Long names are cut, not columns; each function says what its time was spent in, the words of a wide window first."""
    with report(kaa, recording) as terminal:
        terminal.press("2")
        wide = rows_of(terminal)[:3]
    for columns in (80, 66, 60):
        with report(kaa, recording, rows=24, columns=columns) as terminal:
            for view in "12":
                terminal.press(view)
                heading = next(line for line in terminal.lines() if line.startswith("     own "))
                assert re.split(r" {2,}", heading.strip()) == ["own", "total", "function", "defined in", "spent in, %"]
                at = heading.index("spent in, %")
                below = terminal.lines()[terminal.lines().index(heading) + 1:]
                for line, (_, own, total, cells) in zip(below, wide):
                    # What began before kaa had noticed the Python is in no function.
                    if cells[0].startswith("["):
                        continue
                    known, place, *spent = cells
                    match = re.match(r"\+ ( *\d+\.\d)%  ( *\d+\.\d)%  (\S+)", line)
                    assert (float(match[1]), float(match[2])) == (own, total), line
                    assert line[at - 2:at] == "  " and line[at:at + 4] == spent[0][:4], line
                    name = match[3]
                    assert name == known or ("..." in name and name[-3:] == known[-3:]), (line, known)
                    assert place[-6:] in line


def test_the_title_names_events_and_what_all_is(kaa, root, bpf, tmp_path):
    """In a window of 80 columns: which event it is, which others Tab shows, and how long 100 % of the waits are."""
    script = "docs/examples/waiting.py"
    data, wall = tmp_path / "perf.data", tmp_path / "wall.data"
    shutil.copy(os.path.join(os.path.dirname(__file__), "../..", script), tmp_path)
    os.utime(tmp_path / "waiting.py", (time.time() - 60, time.time() - 60))
    kaa("record", "-F", "999", "--off-cpu", "-o", data, sys.executable, tmp_path / "waiting.py")
    kaa("record", "--mode", "wall", "-o", wall, sys.executable, tmp_path / "waiting.py")

    def time_of(file, what):
        text = kaa("report", "--stdio", "-i", file, cwd=tmp_path, env=WIDE).stdout
        return re.search(rf"   ([\d.]+ s {what}) in [\d.]+ s   ", text.splitlines()[0])[1]

    with report(kaa, data, rows=24, columns=80) as terminal:
        title = terminal.lines()[0]
        assert title.startswith(f"waiting.py   off-cpu (Tab: cpu-clock)   100% is {time_of(data, 'off the CPU')}"), title
        terminal.press("tab")
        assert terminal.lines()[0].startswith("waiting.py   cpu-clock (Tab: off-cpu)   "), terminal.lines()[0]
        assert "100%" not in terminal.lines()[0]
        terminal.press("tab")
        assert terminal.lines()[0] == title
        # The table has no room for names; its last line has the key.
        terminal.press("x")
        assert re.match(r"h: keys  Tab: event  .*  q: back$", terminal.lines()[-1]), terminal.text()
    with report(kaa, wall, rows=24, columns=80) as terminal:
        title = terminal.lines()[0]
        assert f"   100% is {time_of(wall, 'of threads')}" in title and "Tab" not in title, title


@pytest.mark.parametrize("options", [("--native",), ("-g",), ("--sort", "symbol"), ("--no-children",), ("-n",)], ids=" ".join)
def test_options_that_open_the_table(kaa, recording, options):
    with report(kaa, recording, *options) as terminal:
        assert re.search(r"Children|Overhead", terminal.lines()[1])
        terminal.press("x")
        assert terminal.lines()[0].startswith("shop.py   ")
        terminal.press("x")
        assert re.search(r"Children|Overhead", terminal.lines()[1])


def test_without_python_code_it_is_the_table(kaa, root, bpf, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-F", "999", "-g", "-o", data, "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done")
    with report(kaa, data) as terminal:
        assert "Children" in terminal.lines()[1]
        terminal.press("x")
        assert "[no Python code]" in terminal.text()
