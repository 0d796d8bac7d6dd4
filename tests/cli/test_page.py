# SPDX-License-Identifier: GPL-2.0-only
"""`kaa export --format html`: the columns in the page. test_export.py holds its stacks against `kaa script`."""
import collections
import os
import re
import shutil
import struct

import pytest

from harness import exports, planted, spots
from harness.process import Program

NONE, THERE, MISSING, CHANGED, OTHER = range(5)
SOURCE = """\
import json


class Orders:
    @staticmethod
    def load(path):
        return path


def work():
    return [i for i in range(3)]
"""


def page_of(kaa, recording, tmp_path, *options):
    kaa("export", "-i", recording, "--format", "html", "-o", tmp_path / "out.html", *options)
    return exports.Page((tmp_path / "out.html").read_bytes())


@pytest.fixture
def plant(kaa, tmp_path):
    """plant(stacks, *options) is the page of a recording with these stacks in a thread."""
    def make(stacks, *options):
        with planted.recording(tmp_path / "perf.data", {b"main": stacks}) as data:
            return page_of(kaa, data, tmp_path, *options)
    return make


def py(name, path):
    return f"py::{name}:{path}".encode()


def test_what_is_called_alike_is_one_part(plant):
    main = py("main", "/srv/a.py")
    page = plant({(main, b"malloc"): 2, (main, b"free"): 1, (main, b"deflate"): 1})
    texts = page.words("spent.text")
    assert texts.count("allocation") == 1 and len(texts) == len(set(texts)) == 2, texts


def test_what_own_time_was_spent_on_is_the_reports(kaa, recording, tmp_path):
    """Its sums by function are what the report prints behind each."""
    page = page_of(kaa, recording, tmp_path)
    sums, total = collections.Counter(), 0
    paths = page.paths()
    for _, _, _, stack, weight, spent in page.samples():
        python = [step for step in paths[stack] if step[2] is not None]
        sums[python[-1][0] if python else "[no Python code]", spent] += weight
        total += weight
    text = kaa("report", "-i", recording, "--stdio", env={**os.environ, "COLUMNS": "300"}).stdout
    rows = re.findall(r"^ *[\d.]+% +[\d.]+%  (\S+(?: \S+ code\])?) +(?:\S+:\d+)? +(\S.*)$", text, re.M)
    assert rows
    compared = 0
    for name, parts in rows:
        for part in parts.split(", "):
            words, _, share = part.rpartition(" ")
            if words and words != "others" and share.isdigit():
                assert abs(100 * sums[name, words] / total - int(share)) <= 0.51, (name, part)
                compared += 1
    assert compared


def test_what_the_report_says_of_waiting(kaa, tmp_path):
    """A program that had no processor most of the time: the page says so as the report does, first."""
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("main", "/srv/a.py", 1, 2),): 600})
    counters = {b"recorded time in us": 2400000, b"time without a CPU in us": 1600000}
    planted.with_payload(data, 4, struct.pack("<I", len(counters)) + b"".join(
        struct.pack("<H", len(name)) + name + struct.pack("<Q", value) for name, value in counters.items()))
    notes = page_of(kaa, data, tmp_path).words("note.text")
    said = kaa("report", "-i", data, "--stdio", env={**os.environ, "COLUMNS": "300"}).stdout.splitlines()
    assert notes[0].startswith("It had a processor for 25 % of the time, and waited for one for 1.60 s") and notes[0] in said


def test_files_of_libraries_are_told(kaa, plant):
    """And what is spent in them, where that is time of who called them: of stacks that have samples."""
    venv = "/srv/venv/lib/python3.12/site-packages"
    main, tool, get = py("main", "/srv/app.py"), py("<module>", "/srv/venv/bin/tool"), py("get", f"{venv}/requests/api.py")
    dumps, frozen = py("dumps", "/usr/lib/python3.12/json/encoder.py"), py("_run_code", "<frozen runpy>")
    page = plant({(tool, main): 1, (tool, main, get, b"deflate"): 2, (tool, main, get, main): 3, (frozen, dumps): 4, (main, b"read"): 5})
    libraries = {path for path, flag in zip(page.words("file.path"), page["file.library"]) if flag}
    assert libraries == {"/srv/venv/bin/tool", f"{venv}/requests/api.py", "/usr/lib/python3.12/json/encoder.py", "<frozen runpy>"}
    paths, spent = page.paths(), page.words("spent.text")
    told = {tuple(step[0] for step in paths[stack]): spent[number] for stack, number in zip(page["library.stack"], page["library.spent"])}
    assert told == {("<module>", "main", "get", "deflate"): "requests", ("_run_code", "dumps"): "json"}


def test_times_begin_with_the_first_sample(kaa, recording, tmp_path):
    page = page_of(kaa, recording, tmp_path)
    times = sorted(time for _, _, time, *_ in page.samples())
    said = sorted(float(time) for time in
                  re.findall(r"(\d+\.\d+):", kaa("script", "-i", recording, "-F", "time,event").stdout))
    assert len(times) == len(said) and times[0] == 0
    assert abs(times[-1] / 1e9 - (said[-1] - said[0])) < 1e-5


def test_the_source_of_unchanged_files_is_there(plant, tmp_path):
    path = tmp_path / "orders.py"
    path.write_text(SOURCE)
    os.utime(path, (1, 1))
    page = plant({(py("<module>", path), py("Orders.load", path)): 2, (py("<module>", path), py("work", path)): 1})
    assert page.sources() == {str(path): SOURCE} and page.why() == {str(path): THERE}


def test_functions_of_many_files(kaa, tmp_path):
    """Each is looked for in its own file, in whatever order they were recorded."""
    paths = [tmp_path / f"module_{i}.py" for i in range(40)]
    for i, path in enumerate(paths):
        path.write_text(f"def first_{i}():\n    pass\n\n\ndef second_{i}():\n    pass\n")
        os.utime(path, (1, 1))
    # Each function of a file calls one of another file.
    stacks = {((f"first_{i}", path, 1, 2), (f"second_{3 * i % 40}", paths[3 * i % 40], 5, 6)): 1
              for i, path in enumerate(paths)}
    stacks[("first_8", paths[7], 1, 2), ("<module>", "<string>", 1, 1)] = 1
    page = page_of(kaa, planted.sampled(kaa, tmp_path / "perf.data", stacks), tmp_path)
    assert page.why() == {**{str(path): THERE for path in paths}, str(paths[7]): OTHER, "<string>": NONE}
    assert page.sources() == {str(path): path.read_text() for i, path in enumerate(paths) if i != 7}


def test_no_file_is_kept(kaa, tmp_path):
    """Files of 16 MiB, which take no room on the disk. Of each the recorded function is not in it."""
    paths = [tmp_path / f"module_{i}.py" for i in range(30)]
    for path in paths:
        path.touch()
        os.truncate(path, 16 << 20)
        os.utime(path, (1, 1))
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("f", path, 1, 1),): 1 for path in paths})
    result = Program("/usr/bin/python3", "-c", (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True)\n"
        "print('maxrss', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"))(
        *kaa.command, "export", "-i", data, "--format", "html", "-o", tmp_path / "out.html")
    assert set(exports.Page((tmp_path / "out.html").read_bytes()).why().values()) == {OTHER}
    assert int(re.search(r"maxrss (\d+)", result.stdout)[1]) < 240 * 1024


# What is in it, and a function with its line that a recording says to be there.
SECRETS = {
    "part of a word": ("[default]\nkey=x\n", "fault", 1),
    "a word alone": ("def\ninition of done\n", "done", 2),
    "not at its line": ("\n\ndef work():\n    pass\n", "work", 1),
    "not at its line, but near": ("x = 1\n@decorated\ndef work():\n    pass\n", "work", 1),
    "longer name": ("def work_more():\n    pass\n", "work", 1),
    "no function": ("TOKEN = 'x'\n", "<module>", 1),
}


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("suffix", ["", ".py"])
def test_a_recording_that_asks_for_a_file(kaa, tmp_path, kind, suffix):
    """Who makes a recording may name any file of who makes the page of it, and guess what is in there."""
    text, name, line = SECRETS[kind]
    path = tmp_path / f"secret{suffix}"
    path.write_text(text)
    os.utime(path, (1, 1))
    data = planted.sampled(kaa, tmp_path / "perf.data", {((name, path, line, line),): 3})
    page = page_of(kaa, data, tmp_path)
    assert not page.sources() and page.why() == {str(path): OTHER}


@pytest.mark.parametrize("first, name, why", [("#!/usr/bin/env python3", "tool", THERE), ("# tool", "tool", OTHER),
                                              ("# tool", "tool.py", THERE)])
def test_decorated_functions_and_scripts(kaa, tmp_path, first, name, why):
    path = tmp_path / name
    path.write_text(f"{first}\n@decorated(\n    1)\n@twice\nasync def gr\u00f6\u00dfe(n):\n    pass\n")
    os.utime(path, (1, 1))
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("gr\u00f6\u00dfe", path, 2, 6),): 3})
    assert page_of(kaa, data, tmp_path).why() == {str(path): why}


def test_long_lines_and_bytes_of_no_character(plant, tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"x = '" + b"n" * 5000 + b"'\ny = '\xff\x1b</script>\xe2\x80\xae'\n\tz = 1\ndef f(): pass\n")
    os.utime(path, (1, 1))
    text = plant({(py("f", path),): 1}).sources()[str(path)].split("\n")
    assert text[0] == "x = '" + "n" * 1995 + "\u2026"
    assert text[1] == "y = '\ufffd\ufffd</script>\ufffd'" and text[2] == "\tz = 1"


@pytest.mark.parametrize("kind", ["changed", "no name of Python", "missing", "folder", "fifo", "no file"])
def test_other_files_are_not(plant, tmp_path, kind):
    path = tmp_path / ("secret" if kind == "no name of Python" else "a.py")
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind != "missing":
        path.write_text("password")
    if path.exists() and kind != "changed":
        os.utime(path, (1, 1))
    if kind == "changed":
        os.utime(path, (4e9, 4e9))
    name = "<string>" if kind == "no file" else path
    page = plant({(py("<module>", name),): 1})
    assert not page.sources()
    assert page.why() == {str(name): {"changed": CHANGED, "no name of Python": OTHER, "no file": NONE}.get(kind, MISSING)}


@pytest.mark.parametrize("time", [1, 4e9])
@pytest.mark.parametrize("now, line, why", [
    (SOURCE, 4, THERE), (SOURCE, 5, OTHER), (SOURCE + "\n", 4, CHANGED), (SOURCE.replace("range", "RANGE"), 4, CHANGED)],
    ids=["same", "elsewhere", "longer", "another"])
def test_a_recorded_hash_tells_the_file(kaa, tmp_path, now, line, why, time):
    """Whenever the file was changed. That a function stands elsewhere is no less wrong for it."""
    path = tmp_path / "orders.py"
    path.write_text(now)
    os.utime(path, (time, time))
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("Orders", path, line, line + 1),): 3})
    planted.with_source(data, path, SOURCE.encode())
    page = page_of(kaa, data, tmp_path)
    assert page.why() == {str(path): why} and page.sources() == ({str(path): SOURCE} if why == THERE else {})


@pytest.mark.parametrize("line, why", [(4, THERE), (5, OTHER)])
def test_a_function_that_is_elsewhere(kaa, tmp_path, line, why):
    """The file says that it is old, and what was recorded does not stand in it."""
    path = tmp_path / "orders.py"
    path.write_text(SOURCE)
    os.utime(path, (1, 1))
    data = planted.sampled(kaa, tmp_path / "perf.data", {(("Orders", path, line, line + 1),): 3})
    assert page_of(kaa, data, tmp_path).why() == {str(path): why}


def test_a_recording_has_the_hash_of_its_script(kaa, bpf, newest_python, tmp_path):
    """Another checkout of the same text is the file that ran, an older one of another is not."""
    program = "import time\n\ndef work():\n    end = time.process_time() + 0.3\n    while time.process_time() < end: pass\n\nwork()\n"
    path = tmp_path / "program.py"
    path.write_text(program)
    kaa("record", "-F", "999", "-g", "-o", tmp_path / "perf.data", "--", *newest_python.command, path)
    os.utime(path, (4e9, 4e9))
    assert page_of(kaa, tmp_path / "perf.data", tmp_path).sources()[str(path)] == program
    path.write_text(program + "# a line more\n")
    os.utime(path, (1, 1))
    page = page_of(kaa, tmp_path / "perf.data", tmp_path)
    assert str(path) not in page.sources() and page.why()[str(path)] == CHANGED


def test_the_policy_allows_what_is_in_the_page_alone(kaa, recording, tmp_path):
    import base64
    import hashlib
    page_of(kaa, recording, tmp_path)
    text = (tmp_path / "out.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'" and "unsafe" not in policy and "http" not in policy
    for name, key in ("script", "script-src"), ("style", "style-src"):
        body = re.search(rf"<{name}>(.*?)</{name}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert parts[key] == f"'sha256-{digest}'"
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)


MAIN = py("main", "/srv/a.py")


def annotated(kaa, data, *words):
    """{address: (own of each event, instruction)} of what `kaa annotate -n` prints of rows that were hit."""
    text = kaa("annotate", "-n", "-i", data, *words, env={**os.environ, "COLUMNS": "200"}).stdout
    titles = next(line for line in text.splitlines() if "address" in line)
    ends = [match.end() for match in re.finditer(r"own", titles)]
    found = {}
    for line in text.partition(titles)[2].splitlines():
        cells = [line[begin:end].strip() for begin, end in zip([0] + ends, ends)]
        place = re.match(r" +([0-9a-f]+)  (.*)", line[ends[-1]:])
        if place and any(cells):
            found[place[1]] = (tuple(int(cell or 0) for cell in cells), place[2].strip())
    return found


def test_instructions_and_their_weights_are_those_of_annotate(kaa, tmp_path):
    """Of a function whose rows are not all in the page, in two events."""
    library = spots.Library(tmp_path)
    stacks = {(MAIN, library.spot(4)): 30, (MAIN, library.spot(6)): 7, (library.spot(150),): 20, (MAIN,): 43}
    more = [(b"page-faults", b"main", (MAIN, library.spot(number)), 1000 * number, 1) for number in (6, 6, 90)]
    with planted.recording(tmp_path / "perf.data", {b"main": stacks}, more=more, mapped=library.mapped([4, 6, 90, 150])) as data:
        said = annotated(kaa, data, library.name)
        page = page_of(kaa, data, tmp_path)
    assert {address: own for address, (own, _) in said.items()} == {
        f"{library.address(number):x}": own for number, own in {4: (30, 0), 6: (7, 2), 90: (0, 1), 150: (20, 0)}.items()}
    (code,) = page.code()
    assert (code.function, code.why) == (library.name, "")
    period = (planted.PERIOD, 1)
    hit = {row.label: (tuple(row.weights.get(event, 0) / period[event] for event in (0, 1)), row.text)
           for row in code.rows if row.weights}
    assert hit == said and all(row.function == (library.name if row.weights else None) for row in code.rows)
    # What is far from these is left out, and counted.
    gaps = [int(row.text.split()[0]) for row in code.rows if row.is_gap]
    assert len(gaps) == 3 and sum(gaps) + len(code.rows) - len(gaps) == spots.COUNT + 1
    assert all("without samples" in row.text and not row.weights for row in code.rows if row.is_gap)


def test_which_functions_have_instructions(kaa, tmp_path):
    """Those with a hundredth of all samples in C, the heaviest first; why there are none."""
    library = spots.Library(tmp_path)
    # What takes no time first: that objdump is slow changes nothing.
    stacks = {(MAIN, library.spot(4)): 30, (MAIN, b"c_function"): 60, (MAIN, b"light"): 1, (MAIN,): 110}
    with planted.recording(tmp_path / "perf.data", {b"main": stacks}, mapped=library.mapped([4])) as data:
        codes = page_of(kaa, data, tmp_path).code()
        assert [code.function for code in codes] == ["c_function", library.name]
        assert "has names, but no code" in codes[0].why
        assert [(row.text, row.weights) for row in codes[0].rows] == [("", {0: 60 * planted.PERIOD})]
        assert not page_of(kaa, data, tmp_path, "--python-only").code()
        library.path.unlink()
        (code,) = [code for code in page_of(kaa, data, tmp_path).code() if code.function == "c_function"]
        assert code.why


def test_inlined_functions_lead_to_the_one_that_holds_them(kaa, tmp_path):
    library = spots.Library(tmp_path, "outer", spots.INLINED)
    stacks = {(MAIN, library.spot(100)): 30, (MAIN, library.spot(170)): 10, (MAIN,): 60}
    with planted.recording(tmp_path / "perf.data", {b"main": stacks}, mapped=library.mapped([100, 170])) as data:
        page = page_of(kaa, data, tmp_path)
    (code,) = page.code()
    assert code.function == "outer"
    # Where it was hit, a row says whose code it is.
    assert [(row.label, row.function) for row in code.rows if row.weights or row.function] == [
        (f"{library.address(100):x}", "inner"), (f"{library.address(170):x}", "last")]
    leaves = {path[-1][0]: code for path, code in zip(page.paths(), page["stack.code"]) if code != 0xFFFFFFFF}
    assert leaves == {"inner": 0, "last": 0}


def test_how_many_functions_have_instructions(kaa, tmp_path):
    """The others are named, and say why."""
    stacks = {(MAIN, b"c_%d" % number): 80 - number for number in range(40)}
    with planted.recording(tmp_path / "perf.data", {b"main": stacks}) as data:
        codes = page_of(kaa, data, tmp_path).code()
    assert [code.function for code in codes] == [f"c_{number}" for number in range(40)]
    assert all(code.why == "a page has the instructions of 30 functions, and others are heavier" and not code.rows
               for code in codes[30:])


@pytest.fixture
def disassembler(tmp_path):
    """disassembler(script) is an environment whose objdump is that shell script."""
    def make(script):
        folder = tmp_path / "bin"
        folder.mkdir()
        if script:
            (folder / "objdump").write_text(f"#!{shutil.which('sh')}\nPATH={os.environ['PATH']}\n{script}\n")
            (folder / "objdump").chmod(0o755)
        return {**os.environ, "PATH": str(folder)}
    return make


@pytest.fixture
def two_functions(kaa, tmp_path):
    """two_functions(env) is what the page has of the code of a heavy function and of another."""
    def make(env):
        library = spots.Library(tmp_path)
        stacks = {(MAIN, library.spot(number)): 10 for number in range(0, 200, 10)}
        stacks[MAIN, b"c_function"] = 20
        with planted.recording(tmp_path / "perf.data", {b"main": stacks}, mapped=library.mapped(range(0, 200, 10))) as data:
            kaa("export", "-q", "-i", data, "--format", "html", "-o", tmp_path / "out.html", env=env)
        heavy, other = exports.Page((tmp_path / "out.html").read_bytes()).code()
        assert (heavy.function, other.function) == (library.name, "c_function")
        return library, heavy, other
    return make


def test_without_objdump(two_functions, disassembler):
    library, heavy, _ = two_functions(disassembler(None))
    assert "objdump was not found; install binutils" in heavy.why
    assert [(row.label, row.text, row.weights) for row in heavy.rows] == [
        (f"{library.address(number):x}", "", {0: 10 * planted.PERIOD}) for number in range(0, 200, 10)]


def test_what_objdump_prints_is_bounded(two_functions, disassembler):
    """As text, by line, and by function: the next one says so."""
    numbers = "$(seq 0 200)"
    env = disassembler("printf '<spotted>:\\n'; begin=$(printf '%d' ${4#*=}); text=$(head -c 30000 /dev/zero | tr '\\0' '<')\n"
                       f"for i in {numbers}; do printf '  %x:\\t\\033\\377%s\\n' $((begin + i)) $text; done")
    library, heavy, other = two_functions(env)
    assert library.step > 1 or heavy.rows[0].text == "\ufffd\ufffd" + "<" * 1998 + "\u2026"
    assert heavy.rows[-1].is_gap and "no room" in heavy.rows[-1].text
    assert sum(len(row.text) for row in heavy.rows) < 2 << 20
    assert "take all the room" in other.why and not other.rows


def test_time_for_code_is_bounded(two_functions, disassembler):
    _, _, other = two_functions(disassembler("sleep 2.2"))
    assert "took all the time" in other.why and not other.rows
