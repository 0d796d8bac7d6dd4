# SPDX-License-Identifier: GPL-2.0-only
"""`kaa annotate`, held against `kaa script` of the same recording, the sources, and programs that know their own shares."""
import ast
import collections
import math
import os
import re
import shlex

import pytest

from harness import script_output
from harness.noticed import noticed_in
from harness.process import run
from harness.terminal import Terminal

pytestmark = pytest.mark.usefixtures("bpf")

WIDE = {**os.environ, "COLUMNS": "250"}


def record(kaa, python, data, *words, events=()):
    python.kaa(kaa)("record", "-F", "1999", "-g", *events, "-o", data, "--", python.path, *words)


def annotate(kaa, python, data, *words, env=WIDE, **options):
    return python.kaa(kaa)("annotate", "-i", data, *words, env=env, **options)


class Row:
    """own and total of each event (None: blank), the number of the line (None: folded lines), its text."""

    def __init__(self, line, ends):
        cells = [line[start:end].strip() for start, end in zip([0] + ends, ends)]
        values = [float(cell.rstrip("%")) if cell else None for cell in cells[:-1]]
        self.own, self.total = values[::2], values[1::2]
        self.line = None if cells[-1] == "..." else int(cells[-1])
        self.is_marked = line[ends[-1]:ends[-1] + 1] == ">"
        self.text = line[ends[-1] + 2:]

    def __repr__(self):
        return f"{self.own} {self.total} {self.line} {self.text}"


class Part:
    """What is below one heading."""

    def __init__(self, lines):
        self.heading = lines[0]
        titles = next(i for i, line in enumerate(lines) if re.match(r" *own +total .*line", line))
        self.notes = lines[1:titles]
        ends = [match.end() for match in re.finditer(r"own|total|line", lines[titles])]
        rows = [line for line in lines[titles + 1:] if line[:ends[-1]].strip()]
        self.rows = [Row(line, ends) for line in rows]

    @property
    def name(self):
        return self.heading.split("   ")[0]

    def lines(self, event=0):
        """{line: (own, total)} of those that have either."""
        return {row.line: (row.own[event] or 0, row.total[event] or 0) for row in self.rows
                if row.line and (row.own[event] or row.total[event])}

    def own(self, event=0):
        """The sum of the column, folded lines included."""
        return sum(row.own[event] or 0 for row in self.rows)


def parts(text):
    chunks = [chunk.splitlines() for chunk in re.split(r"\n\n", text)]
    # Source has empty lines, but these have numbers.
    return [Part(lines) for lines in chunks if any(re.match(r" *own +total ", line) for line in lines)]


def python_frames(sample):
    """(function, file, line) of each, the innermost first."""
    return [(*frame.python_name, frame.line) for frame in sample.frames if frame.is_python]


class Counted:
    """What `kaa script` says of a file: own and total of its lines, of its functions, and of the file."""

    def __init__(self, samples, path):
        self.own, self.total = collections.Counter(), collections.Counter()
        self.function_own, self.function_total = collections.Counter(), collections.Counter()
        self.file_total = 0
        self.samples = len(samples)
        for sample in samples:
            frames = [frame for frame in python_frames(sample)]
            if frames and frames[0][1] == str(path):
                self.own[frames[0][2]] += 1
                self.function_own[frames[0][0]] += 1
            here = [frame for frame in frames if frame[1] == str(path)]
            self.total.update({frame[2] for frame in here})
            self.function_total.update({frame[0] for frame in here})
            self.file_total += bool(here)

    def lines(self, first=1, last=math.inf):
        return {line: (self.own[line], self.total[line]) for line in self.total if first <= line <= last}


def script_samples(kaa, python, data):
    return script_output.parse(python.kaa(kaa)("script", "-F", "+srcline", "-i", data).stdout)


# Recursion, comprehensions, generators, decorators, several lambdas in one file and line, a class body, a nested function.
SHAPES = "# A long comment\n" * 40 + """\
import functools
import time


def deco(function):
    @functools.wraps(function)
    def inner(*args):
        for _ in range(300):
            pass
        return function(*args)
    return inner


def leaf(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total


def down(depth):
    if depth:
        return down(depth - 1) + leaf(300)
    return leaf(3000)


def numbers(n):
    for i in range(n):
        yield i * 3


@deco
@deco
def use(n):

    def nested(k):
        return sum(i for i in range(k))

    text = '''
not indented
'''
    return (sum(numbers(n)) + nested(n) + len(text)
            + sum([i * 7 for i in range(n)]) + sum({i: 1 for i in range(n)}))


def keyed(n):
    one = sorted(range(n), key=lambda x: -x)
    return sorted(one, key=lambda x: x % 3) + list(map(lambda x: x + 1, filter(lambda x: x & 1, one)))


class Body:
    squares = []
    for i in range(20000):
        squares.append(i * i)

    def method(self):
        return max(self.squares, key=lambda x: (x % 7,
                                                x % 11))


while time.process_time() < 1.5:
    down(20)
    use(3000)
    keyed(3000)
    Body().method()
    for i in range(2000):
        i * 2
"""


RECORDED = {}


@pytest.fixture
def shapes(kaa, python, tmp_path_factory):
    """The script's path, the recording, and its samples; one recording for each interpreter."""
    if str(python) not in RECORDED:
        folder = tmp_path_factory.mktemp("shapes")
        script, data = folder / "mix.py", folder / "perf.data"
        script.write_text(SHAPES)
        record(kaa, python, data, script)
        RECORDED[str(python)] = script, data, script_samples(kaa, python, data)
    return RECORDED[str(python)]


@pytest.mark.few_versions
def test_lines_are_those_that_script_counts(kaa, python, shapes):
    script, data, samples = shapes
    counted = Counted(samples, script)
    assert counted.samples > 100 and len(counted.total) > 10
    text = annotate(kaa, python, data, "-n", "--all", "mix.py").stdout
    part, = parts(text)
    assert part.lines() == counted.lines(), text
    # All lines, each with its text.
    source = SHAPES.splitlines()
    assert [row.line for row in part.rows] == list(range(1, len(source) + 1))
    assert [row.text.rstrip() for row in part.rows] == [line.rstrip() for line in source]
    own, total = map(float, re.search(r"own (\d+\.\d)%, total (\d+\.\d)%", part.heading).groups())
    assert abs(own - 100 * sum(counted.own.values()) / counted.samples) < 0.051
    assert abs(total - 100 * counted.file_total / counted.samples) < 0.051
    # Folded, nothing is lost.
    for words in (["mix.py"], ["--context", "0", "mix.py"]):
        folded, = parts(annotate(kaa, python, data, "-n", *words).stdout)
        assert folded.lines() == counted.lines() and folded.own() == sum(counted.own.values())
        assert len(folded.rows) < len(source)


def spans_of(source):
    """{name: [(first line with decorators, last line)]} of functions and classes, as CPython's parser has them."""
    spans = collections.defaultdict(list)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            spans[node.name].append((first, node.end_lineno))
    return spans


@pytest.mark.few_versions
def test_functions_have_the_lines_that_they_have(kaa, python, shapes):
    script, data, samples = shapes
    counted, spans = Counted(samples, script), spans_of(SHAPES)
    shown = 0
    for name in ("inner", "leaf", "down", "numbers", "use", "nested", "keyed", "Body", "method"):
        (first, last), = spans[name]
        if not any(function.split(".")[-1] == name for function in counted.function_total):
            continue
        part, = parts(annotate(kaa, python, data, "-n", "--all", f"{name}:mix.py").stdout)
        assert [row.line for row in part.rows] == list(range(first, last + 1)), part.heading
        assert part.lines() == counted.lines(first, last), part.heading
        function, = [function for function in counted.function_total if function.split(".")[-1] == name]
        own, total = map(float, re.search(r"own (\d+\.\d)%, total (\d+\.\d)%", part.heading).groups())
        assert abs(own - 100 * counted.function_own[function] / counted.samples) < 0.051
        assert abs(total - 100 * counted.function_total[function] / counted.samples) < 0.051
        shown += 1
    assert shown >= 6, counted.function_total


@pytest.mark.few_versions
def test_functions_of_one_name(kaa, python, shapes):
    """Lambdas: each def is one, with the statement that it is in; what is hot in it says whose time it is."""
    script, data, samples = shapes
    counted = Counted(samples, script)
    found = parts(annotate(kaa, python, data, "-n", "<lambda>:mix.py").stdout)
    lambdas = {line for sample in samples for name, file, line in python_frames(sample)
               if name.endswith("<lambda>") and file == str(script)}
    assert len(found) >= 2 and lambdas
    seen = {line for part in found for line in part.lines()}
    assert lambdas <= seen
    for part in found:
        assert all(counted.lines()[line] == weights for line, weights in part.lines().items())
    source = SHAPES.splitlines()
    line = next(i for i, text in enumerate(source, 1) if "return max" in text)
    for part in found:
        if any(row.line == line for row in part.rows):
            assert [row.line for row in part.rows] == [line, line + 1]
    nested = annotate(kaa, python, data, "use:mix.py").stdout
    assert re.search(r"return sum\(i for i in range\(k\)\) .*in (<genexpr>|nested): ", nested), nested


@pytest.mark.few_versions
def test_a_line_with_its_surroundings(kaa, python, shapes):
    script, data, samples = shapes
    counted = Counted(samples, script)
    line = SHAPES.splitlines().index("        total += i & 3") + 1
    part, = parts(annotate(kaa, python, data, "-n", f"mix.py:{line}").stdout)
    assert part.name == "leaf" and f"mix.py:{line} " in part.heading
    assert [row.line for row in part.rows if row.is_marked] == [line]
    assert part.lines()[line] == counted.lines()[line]


@pytest.mark.few_versions
def test_a_line_of_several_functions(kaa, newest_python, tmp_path):
    """A lambda and what is in it: its heading weighs the line, as the row below does."""
    script, data = tmp_path / "lambda.py", tmp_path / "perf.data"
    script.write_text("import time\nf = lambda n: sum(i ** 3 for i in range(n))\nend = time.process_time() + 0.5\n"
                      "while time.process_time() < end: f(20000)\n")
    kaa.inside(noticed_in(data))("record", "-q", "-F", "999", "-o", data, *newest_python.command, script)
    shown = kaa("annotate", "lambda.py:2", "-i", data).stdout
    heading = re.search(r"lambda\.py:2\s+own ([\d.]+)%, total ([\d.]+)%$", shown, re.M)
    row = re.search(r"^ *([\d.]+)% +([\d.]+)% +2> f = lambda", shown, re.M)
    assert heading and row, shown
    assert heading.groups() == row.groups() and float(row[1]) > 50, shown


def test_words(kaa, python, shapes):
    script, data, _ = shapes
    texts = {annotate(kaa, python, data, word).stdout
             for word in ("leaf", "py::leaf", "leaf:mix.py", "mix.leaf", f"leaf:{script}", f"py::leaf:{script}")}
    assert len(texts) == 1
    assert texts == {annotate(kaa, python, data, "-S", "leaf").stdout}
    names = [part.name for part in parts(annotate(kaa, python, data, "leaf", "down").stdout)]
    assert names == ["leaf", "down"]
    wrong = annotate(kaa, python, data, "leav", "down", status=1)
    assert "did you mean 'leaf:mix.py'" in wrong.stderr and parts(wrong.stdout)[0].name == "down"
    blank = SHAPES.splitlines().index("def down(depth):")
    assert "nearest lines with samples are" in annotate(kaa, python, data, f"mix.py:{blank}", status=1).stderr


@pytest.mark.few_versions
def test_the_hottest_without_a_word(kaa, python, shapes):
    script, data, samples = shapes
    own = collections.Counter(python_frames(sample)[0][:2] for sample in samples if python_frames(sample))
    text = annotate(kaa, python, data, "-n").stdout
    found = parts(text)
    assert 2 <= len(found) <= 8
    # How many they are after lambdas have joined others is a matter of chance; no hot function is left out.
    lines = collections.Counter(python_frames(sample)[0] for sample in samples if python_frames(sample))
    hot = {name for name, count in own.items() if name[1] == str(script) and count > len(samples) / 10}
    hottest_lines = {max((count, line) for (*name, line), count in lines.items() if tuple(name) == of)[1] for of in hot}
    assert hottest_lines <= {line for part in found for line in part.lines()}, (hot, hottest_lines, text)
    sums = [float(re.search(r"own (\d+\.\d)%", part.heading)[1]) for part in found]
    # A function that shows the lines of a lambda stands at its place.
    lambdas = [100 * count / len(samples) for (name, _), count in own.items() if re.search(r"<(?!module)\w+>$", name)]
    assert all(after <= max(sums[i], *lambdas, 0) + 0.051 for i in range(len(sums)) for after in sums[i + 1:]), (sums, lambdas)
    assert "kaa annotate FUNCTION" in text
    # Before 3.11 several functions have one name.
    hottest = [count for (name, _), count in own.most_common() if name.split(".")[-1] == found[0].name.split(".")[-1]]
    assert sums[0] <= 100 * hottest[0] / len(samples) + 0.051
    folded = sum(part.own() for part in found)
    assert folded and len(text.splitlines()) < 200


def test_the_command_that_a_report_names(kaa, newest_python, tmp_path, spinning):
    """It shows what the screen begins with, however it has to be quoted."""
    odd, data = tmp_path / "it's mine.py", tmp_path / "odd perf.data"
    odd.write_text(BUSY + "    pass\n")
    record(kaa, newest_python, data, odd)
    for recording, name in ((spinning[1], "spin"), (data, str(odd))):
        typed = re.search(r"^With the source: +(.*)$", kaa("report", "-i", recording).stdout, re.M)[1]
        part = parts(run(["sh", "-c", typed]).stdout)[0]
        assert name.endswith(part.name.lstrip(".")) and part.own() > 50, typed


@pytest.mark.few_versions
@pytest.mark.parametrize("share", [30, 5])
def test_planted_shares(kaa, python, scripts, tmp_path, share):
    data = tmp_path / "perf.data"
    took = python.kaa(kaa)("record", "-F", "999", "-g", "-o", data, "--", python.path, scripts / "planted.py",
                           str(share), "1.2").stdout
    light, heavy = map(float, took.split())
    found = {part.name: part for part in parts(annotate(kaa, python, data, "-n", "light", "heavy").stdout)}
    samples = found["light"].own() + found["heavy"].own()
    planted = light / (light + heavy)
    allowed = 5 * math.sqrt(planted * (1 - planted) / samples) + 0.002
    assert samples > 50 and abs(found["light"].own() / samples - planted) < allowed
    # The loop has it all.
    source = (scripts / "planted.py").read_text().splitlines()
    for part in found.values():
        loop = sum(own for line, (own, _) in part.lines().items() if not re.match(r"def | +return | +took, last ", source[line - 1]))
        assert loop > 0.9 * part.own() - 2


@pytest.mark.few_versions
def test_several_events(kaa, python, tmp_path):
    script, data = tmp_path / "mix.py", tmp_path / "perf.data"
    # Each round has page faults.
    script.write_text(SHAPES.replace("import time\n", "import mmap\nimport time\n", 1) + "    mmap.mmap(-1, 1 << 16).write(bytes(1 << 16))\n")
    record(kaa, python, data, script, events=["-e", "cpu-clock", "-e", "page-faults"])
    samples = collections.defaultdict(list)
    for sample in script_samples(kaa, python, data):
        samples[sample.event.partition(":")[0]].append(sample)
    counted = [Counted(samples[event], script) for event in ("cpu-clock", "page-faults")]
    part, = parts(annotate(kaa, python, data, "-n", "mix.py").stdout)
    assert counted[1].total
    for i, count in enumerate(counted):
        assert part.lines(i) == count.lines()
    only, = parts(annotate(kaa, python, data, "-n", "-e", "page-faults", "mix.py").stdout)
    assert only.lines() == counted[1].lines()
    one = {**os.environ, "COLUMNS": "60"}
    text = annotate(kaa, python, data, "mix.py", env=one).stdout
    assert len(parts(text)[0].rows[0].own) == 1
    assert f"Not shown: {len(samples['page-faults'])} samples of page-faults" in text
    wrong = annotate(kaa, python, data, "-e", "cycles", status=1).stderr
    assert "no event with samples is called 'cycles'; the recording has cpu-clock" in wrong


# Until most of the time was spent here, however slow the interpreter's start was.
BUSY = "import time\nend = time.process_time()\nend += max(0.5, 5 * end)\nwhile time.process_time() < end:\n"


@pytest.fixture
def spinning(kaa, newest_python, tmp_path):
    script, data = tmp_path / "spins.py", tmp_path / "perf.data"
    script.write_text("import time\n\n\ndef spin(n):\n    while n:\n        n -= 1\n\n\n" + BUSY + "    spin(100000)\n")
    record(kaa, newest_python, data, script)
    return script, data


def test_source_that_is_not_there(kaa, newest_python, tmp_path, spinning):
    script, data = spinning
    before, = parts(annotate(kaa, newest_python, data, "-n", "spin").stdout)
    assert any("n -= 1" in row.text for row in before.rows)
    other = tmp_path / "elsewhere"
    (other / str(tmp_path).lstrip("/")).mkdir(parents=True)
    script.rename(other / str(script).lstrip("/"))
    gone, = parts(annotate(kaa, newest_python, data, "-n", "spin").stdout)
    assert gone.lines() == before.lines() and all(not row.text for row in gone.rows)
    assert "there is no source to show: " in gone.notes[0] and "spins.py" in gone.notes[0]
    moved, = parts(annotate(kaa, newest_python, data, "-n", "--symfs", other, "spin").stdout)
    assert [row.text for row in moved.rows] == [row.text for row in before.rows] and not moved.notes


def test_source_that_has_changed(kaa, newest_python, spinning):
    script, data = spinning
    before, = parts(annotate(kaa, newest_python, data, "-n", "spins.py").stdout)
    script.write_text("# other\n" * 20)
    # Within the second, too.
    os.utime(script, ns=(os.stat(data).st_mtime_ns + 1_000_000,) * 2)
    part, = parts(annotate(kaa, newest_python, data, "-n", "spins.py").stdout)
    assert "spins.py has changed since the recording" in part.notes[0]
    assert part.lines() == before.lines() and part.rows[0].text == "# other"
    script.write_text("# other\n")
    part, = parts(annotate(kaa, newest_python, data, "-n", "spins.py").stdout)
    assert re.search(r"has 1 line, but samples are on line \d+: it is not the file that ran", part.notes[0])
    assert part.lines() == before.lines()
    # And so the lines have no text.
    assert not any(row.text.strip() for row in part.rows if row.line) and "# other" not in str(part.rows)


def test_hostile_source(kaa, newest_python, spinning):
    script, data = spinning
    script.write_bytes(b"# \x1b[31m\x07\xff\x00\xe2\x80\xae\n\n\ndef spin(n):\n\twhile n:\t# tab\n" +
                       b"        n -= 1 " + b"x" * 5000000 + b"\n" * 20)
    os.utime(script, (0, 0))
    narrow = {**os.environ, "COLUMNS": "80"}
    for words in (["--all", "spins.py"], ["spin"], []):
        text = annotate(kaa, newest_python, data, *words, env=narrow).stdout
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
        assert max(map(len, text.splitlines())) <= 200
        rows = [row for part in parts(text) for row in part.rows]
        assert any(row.text.startswith("        while n:        # tab") for row in rows), text
        assert all(len(line) <= 80 for line in text.splitlines() if re.match(r"[ \d.%]{16}", line)), text
        assert "n -= 1 xxx" in text and "xxx..." in text


def test_code_without_a_file(kaa, newest_python, tmp_path):
    script, data = tmp_path / "runs.py", tmp_path / "perf.data"
    script.write_text("import time\ncode = 'def spin(n):\\n    while n:\\n        n -= 1\\n'\nexec(code)\n"
                      "while time.process_time() < 0.5:\n    spin(100000)\n")
    record(kaa, newest_python, data, script)
    part, = parts(annotate(kaa, newest_python, data, "-n", "spin").stdout)
    counted = Counted(script_samples(kaa, newest_python, data), "<string>")
    assert part.lines() == counted.lines() and part.lines()
    assert part.notes == ["<string> is no file, so there is no source to show"]


def test_a_recording_without_lines(kaa, newest_python, spinning, tmp_path):
    script, _ = spinning
    data = tmp_path / "trampolines.data"
    newest_python.kaa(kaa)("record", "--python=trampoline", "-F", "1999", "-g", "-o", data, "--", newest_python.path, script)
    part, = parts(annotate(kaa, newest_python, data, "-n", "spin").stdout)
    assert "the recording does not contain lines of this function" in part.notes[0]
    assert list(part.lines()) == [4] and part.lines()[4][0] > 20


def test_colors(kaa, newest_python, spinning):
    _, data = spinning
    command = [*kaa.command, "annotate", "-i", data, "spin"]
    with Terminal(command, rows=40, columns=80, env={"PAGER": "cat"}) as terminal:
        terminal.wait_for("n -= 1")
        line = next(i for i, text in enumerate(terminal.screen.display) if "n -= 1" in text)
        own = terminal.screen.display[line].index("%")
        assert terminal.screen.buffer[line][own].fg == "red"
        assert all(len(text.rstrip()) <= 80 for text in terminal.screen.display)
    with Terminal(command, rows=40, columns=80, env={"PAGER": "cat", "NO_COLOR": "1"}) as terminal:
        terminal.wait_for("n -= 1")
        assert b"\x1b[" not in terminal.raw
    assert "\x1b" not in kaa("annotate", "-i", data, "spin").stdout
    assert "\x1b[31m" in kaa("annotate", "-i", data, "--color", "spin").stdout
    assert "\x1b" not in kaa("annotate", "-i", data, "--color=never", "spin").stdout


def test_native_functions(kaa, newest_python, tmp_path):
    """Instructions that were hit have what script counts for the function; the kernel's cannot be read everywhere."""
    script, data = tmp_path / "sorts.py", tmp_path / "perf.data"
    script.write_text("import time\nrows = [i * 7919 % 10007 for i in range(10000)]\n"
                      "while time.process_time() < 1:\n    sorted(rows)\n")
    record(kaa, newest_python, data, script)
    hits = collections.Counter(sample.frames[0].symbol for sample in script_samples(kaa, newest_python, data)
                               if sample.frames and not sample.frames[0].is_inlined and not sample.frames[0].is_python
                               and not sample.frames[0].dso.startswith("["))
    name = next(name for name, _ in hits.most_common() if re.fullmatch(r"\w+", name) and name != "_PyEval_EvalFrameDefault")
    text = annotate(kaa, newest_python, data, "-n", name).stdout
    assert re.search(r"^ *own +address +instruction$", text, re.M), text
    own = sum(int(number) for number in re.findall(r"^ *(\d+)  +(?:[0-9a-f]+|\.\.\.)  \S", text, re.M))
    # What is inlined into it is hit in it, too.
    assert own >= hits[name] > 0, (name, text)
    assert re.search(r"^ *\d+  +[0-9a-f]+  \w+ +\S+", text, re.M), text
