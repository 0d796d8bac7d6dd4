# SPDX-License-Identifier: GPL-2.0-only
"""Functions by the names that people give them, wherever `kaa report` and `kaa script` take one; and what is said of names
that nothing has."""
import os
import re

import pytest

from harness import answer, planted
from harness.script_output import parse
from harness.terminal import Terminal

LEAF = "py::leaf.<locals>.<lambda>:<string>"
MIDDLE = "py::Worker.middle:/srv/app/work.py"
MODULE = "py::<module>:/srv/app/main.py"
# What each word calls, of the functions of make_perfdata.
WORDS = {
    "<lambda>": {LEAF},
    "leaf.<locals>.<lambda>": {LEAF},
    "<string>": {LEAF},
    "middle": {MIDDLE},
    "py::middle": {MIDDLE},
    "Worker.middle": {MIDDLE},
    "py::Worker.middle": {MIDDLE},
    "work.Worker.middle": {MIDDLE},
    "work.py": {MIDDLE},
    "app/work.py": {MIDDLE},
    "/srv/app/work.py": {MIDDLE},
    "work.py:2000": {MIDDLE},
    "work.py:10": {MIDDLE},
    "middle:work.py": {MIDDLE},
    MIDDLE: {MIDDLE},
    "main.py": {MODULE},
    "main.py:40": {MODULE},
    "middle,<string>": {MIDDLE, LEAF},
    "main.py,work.py:2000": {MIDDLE, MODULE},
}
NONE = ["leaf", "Worker", "iddle", "ork.py", "work.py:2001", "work.py:9", "work.py:0", "main.py:1", "other.py:2000", MIDDLE[:-1]]


@pytest.fixture
def report(kaa, recording):
    return lambda *words: kaa("report", "--stdio", "-i", recording, "-g", "none", *words)


@pytest.fixture
def empty_report(kaa, recording):
    """Where nothing is called so: no table, and a failure."""
    def run(*words):
        result = kaa("report", "--stdio", "-i", recording, "-g", "none", *words, status=1)
        assert not result.stdout
        return result
    return run


@pytest.fixture
def script(kaa, recording):
    return lambda *words: kaa("script", "-i", recording, *words)


def functions(text):
    return set(re.findall(r"^ .*\[\.\] (py::.*?) *$", text, re.M))


@pytest.mark.parametrize("word", WORDS)
def test_symbols(report, word):
    """The whole list as --sort alone prints it, to which a single whole name gives no column."""
    for option in ("-S", "--symbols"):
        result = report(option, word, "--sort", "symbol")
        assert functions(result.stdout) == WORDS[word] and not result.stderr


@pytest.mark.parametrize("word", [word for word in WORDS if "," not in word])
def test_symbol_filter(report, word):
    assert WORDS[word] <= functions(report("--symbol-filter", word).stdout)
    if ":" in word:
        assert functions(report("--symbol-filter", word).stdout) == WORDS[word]


@pytest.mark.parametrize("word", ["middle", "^Worker\\.middle$", "py::Worker", "work.py", "work.py:2000", "middle:work.py"])
def test_parent(report, word):
    rows = report("-p", word, "--sort", "parent", "--no-children").stdout
    assert re.findall(r"^ +(\S+%) +(\S+)", rows, re.M) == [("100.00%", MIDDLE)]


@pytest.mark.parametrize("word", ["middle", "^Worker\\.middle$", "work.py", "work.py:2000", "middle:work.py"])
def test_ignore_callees(report, word):
    rows = re.findall(r"^ +\S+% +(\S+%).*\[\.\] (py::.*?) *$", report("--ignore-callees", word).stdout, re.M)
    assert sorted(rows) == [("0.00%", MODULE), ("100.00%", MIDDLE)]


@pytest.mark.parametrize("keys", [["--sort", "symbol,srcline"], []])
def test_a_line_is_itself(report, keys):
    """Where entries are lines, as they are by themselves if a line is asked for and no keys are."""
    rows = report("-S", "main.py:40", *keys).stdout
    assert re.findall(r"^ +(\S+%) .* (main\.py:\d+) *$", rows, re.M) == [("50.00%", "main.py:40")]


@pytest.mark.parametrize("word", ["middle", "py::Worker.middle", "work.py", "work.py:2000", "nope,middle:work.py"])
def test_stop_bt(script, word):
    """All stacks end where the word is."""
    text = script("--stop-bt", word, "-F", "ip,sym").stdout
    stacks = [re.findall(r"^\s+[0-9a-f]+ (.*)$", stack, re.M) for stack in text.strip("\n").split("\n\n")]
    assert len(stacks) == 300 and all(stack[1:] == [LEAF, MIDDLE] for stack in stacks)


def test_one_function_and_nothing_else_names_the_reports_of_it(kaa, recording):
    """Of --stdio -S perf's table comes; who wanted to know the function's lines and callers is told how."""
    own, at = kaa.command[-1], f"-i {recording}"
    said = kaa("report", "--stdio", "-i", recording, "-S", "middle")
    assert functions(said.stdout) == {MIDDLE}
    assert said.stderr == f"With the source:   {own} annotate middle {at}\nWho calls it:      {own} report --callers middle {at}\n"
    for words in ["annotate", "middle"], ["report", "--callers", "middle"]:
        assert "Worker.middle" in kaa(*words, "-i", recording).stdout
    # Who asks for a table gets one, and no word beside it.
    for more in ["-g", "none"], ["--children"], ["--sort", "symbol"], ["-q"], ["-S", "middle,main.py"]:
        assert not kaa("report", "--stdio", "-i", recording, "-S", "middle", *more).stderr, more
    assert not kaa("report", "--like-perf", "-i", recording, "-S", MIDDLE).stderr


def test_commands_to_copy_are_lines_of_their_own_where_they_are_long(kaa, tmp_path):
    """Behind what they are for where both fit, as on a wide terminal; nowhere is a command broken."""
    stacks = {(("<module>", "/srv/app.py", 1, 9), ("made", "/srv/app.py", 3, 4)): 100}
    path = planted.sampled(kaa, tmp_path / f"{'long' * 20}.data", stacks)
    own, at = kaa.command[-1], f"-i {path}"
    for columns, gap in ("80", "\n  "), ("2000", "      "):
        env = {**os.environ, "COLUMNS": columns}
        text = kaa("report", "-i", path, env=env).stdout
        assert f"\nWho calls it:{gap}{own} report --callers made {at}\n" in text
        assert all(len(line) <= int(columns) or line.startswith(f"  {own} ") for line in text.splitlines() if at in line), text
        said = kaa("report", "--stdio", "-i", path, "-S", "made", env=env).stderr
        assert f"\nWho calls it:{gap}{own} report --callers made {at}\n" in said
        assert f"\nAll of a function:{gap.replace('      ', '  ')}{own} annotate FUNCTION {at}\n" in \
            kaa("annotate", "-i", path, env=env).stdout


def lines_of_work(kaa, folder):
    """work() is called by main() at line 4 and by the module at line 9."""
    (folder / "app.py").write_text("def work():\n    pass\ndef main():\n    work()\n\n\n\n\nwork(); main()\n")
    file = str(folder / "app.py")
    module, main, work = ("<module>", file, 1, 9), ("main", file, 3, 4), ("work", file, 1, 2)
    return planted.sampled(kaa, folder / "perf.data", {(module, main, work): 60, (module, work): 30, (module, main): 10})


def test_what_is_no_time_is_not_called_that(kaa, tmp_path):
    """Of page faults shares are of how many there are."""
    library = "/srv/venv/lib/python3.12/site-packages/got.py"
    stack = (("main", "/srv/app.py", 1, 2), ("get", library, 1, 2))
    for event, is_time in ("cpu-clock", True), ("page-faults", False):
        data = planted.sampled(kaa, tmp_path / f"{event}.data", {stack: 600}, event=event)
        callers = kaa("report", "--callers", "get", "-i", data).stdout
        report = kaa("report", "-i", data, "--stdio", env=answer.WIDE).stdout
        assert "passes through it" in callers and "is in libraries" in report
        assert ("of the time" in callers) == ("of the time is in libraries" in report) == is_time, (callers, report)


@pytest.mark.parametrize("word", ["work", "work:app.py", "app.py:2", "app.py:1"])
def test_one_function_has_its_lines_and_callers(kaa, tmp_path, word):
    """What annotate and --callers say of it; perf's table comes if one asks for it."""
    data = lines_of_work(kaa, tmp_path)
    text = kaa("report", "-S", word, "-i", data).stdout
    assert re.match(r"work +\S*app\.py:[12]\s+own 90\.0%, total 90\.0%\n", text), text
    assert re.search(r"^ 90\.0% +90\.0% +2[> ] +pass", text, re.M), text
    assert kaa("report", "--callers", "work", "-i", data).stdout in text, text
    command = f"{kaa.command[-1]} report --stdio -S {word} -i {data}"
    assert f"As perf's table:   {command}\n" in text and "# Children" not in text, text
    for more in ["--stdio"], ["-g", "none"], ["-n"], ["--like-perf"]:
        assert "# Children" in kaa("report", "-S", word, *more, "-i", data).stdout, more


def test_a_file_and_several_functions(kaa, tmp_path):
    """A file has its lines; of functions each has its lines and callers."""
    data = lines_of_work(kaa, tmp_path)
    text = kaa("report", "-S", "app.py", "-i", data).stdout
    assert re.match(r"\S*app\.py\s+own 100\.0%, total 100\.0%\n", text) and "Callers of" not in text, text
    text = kaa("report", "-S", "main,work", "-i", data).stdout
    assert re.findall("Callers of (\\w+)", text) == ["main", "work"], text
    assert f"{kaa.command[-1]} annotate -S main,work -i {data}\n" in text, text


@pytest.mark.parametrize("own", [0, 1])
def test_a_function_that_only_calls_has_the_line_of_the_call(kaa, tmp_path, own):
    """Little of all time goes by there, and it is all that the function has."""
    (tmp_path / "app.py").write_text("def heavy():\n    pass\ndef light(n):\n    n += 1\n" + 10 * "    #\n" + "    heavy()\nlight(1); heavy()\n")
    file = str(tmp_path / "app.py")
    module, light, heavy = ("<module>", file, 1, 16), ("light", file, 3, 15), ("heavy", file, 1, 2)
    stacks = {(module, light, heavy): 6, (module, heavy): 94 - own}
    if own:
        stacks[(module, ("light", file, 3, 4))] = own
    text = kaa("report", "-S", "light", "-i", planted.sampled(kaa, tmp_path / "perf.data", stacks)).stdout
    assert re.search(r"^ +6\.0% +15[> ] +heavy\(\)", text, re.M), text
    assert bool(own) == bool(re.search(r"^ +1\.0% +1\.0% +4[> ] +n \+= 1", text, re.M)), text


def test_samples_of_others_are_left_out(kaa, tmp_path):
    """As in the first screen, filters leave samples out."""
    data = lines_of_work(kaa, tmp_path)
    assert "own 90.0%" in kaa("report", "-S", "work", "--comms", "main", "-i", data).stdout
    result = kaa("report", "-S", "work", "--comms", "nobody", "-i", data, status=1)
    assert not result.stdout and "nobody" in result.stderr


def test_time_without_python_code_is_no_function(kaa, tmp_path):
    """The first screen has a row of it: -S shows what it was spent in, and others say which command does."""
    with planted.recording(tmp_path / "data", {b"MainThread": {(python("main"),): 70, (b"dgemm",): 30}}) as data:
        row, spent = "[no Python code]", kaa("annotate", "[no Python code]", "-i", tmp_path / "data").stdout
        assert row in kaa("report", "-i", data).stdout and "30.0%  dgemm" in spent
        assert kaa("report", "-S", row, "-i", data).stdout.startswith(spent)
        assert "Callers of main" in kaa("report", "-S", f"{row},main", "-i", data).stdout
        command = f"what it was spent in: {kaa.command[-1]} annotate '{row}' -i {data}\n"
        for words in ["--callers", row], ["--stdio", "-S", row], ["--native", "-S", row]:
            result = kaa("report", *words, "-i", data, status=1)
            assert not result.stdout and result.stderr.endswith(command) and result.stderr.count("\n") == 1, result.stderr


@pytest.mark.parametrize("columns", ["80", "100"])
def test_names_of_rows_with_little_time_are_whole_where_there_is_room(kaa, tmp_path, columns):
    """A row is not as narrow as the name of the hottest function."""
    names = {(python("f"), b"dgemm"): 990, (python("g"),): 5, (b"dgemm",): 5}
    with planted.recording(tmp_path / "data", {b"MainThread": names}) as data:
        text = kaa("report", "--stdio", "-i", data, env={"COLUMNS": columns}).stdout
    assert re.search(r"^ +0\.5% +0\.5%  \[no Python code\]  ", text, re.M), text


def test_native_functions_are_in_the_table(kaa, tmp_path):
    with planted.recording(tmp_path / "data", {b"MainThread": {(python("main"), b"dgemm"): 30}}) as data:
        for words in ["dgemm"], ["dgemm,main"]:
            assert "# Children" in kaa("report", "-S", *words, "-i", data).stdout


@pytest.mark.parametrize("percent", [5, 20])
def test_what_comes_next_where_the_hottest_function_has_no_source(kaa, percent, tmp_path):
    """Its callers; or, of another function that takes much, the source and the callers: "it" is one function."""
    stacks = {(("<module>", "/srv/app.py", 1, 9), ("made", "<string>", 1, 2)): 100 - percent,
              (("<module>", "/srv/app.py", 1, 8), ("aside", "/srv/aside.py", 3, 4)): percent}
    path = planted.sampled(kaa, tmp_path / "perf.data", stacks)
    text = kaa("report", "-i", path).stdout
    own, at = kaa.command[-1], f"-i {path}"
    assert f"\nWho calls it:      {own} report --callers {'aside' if percent > 10 else 'made'} {at}\n" in text
    assert (f"\nWith the source:   {own} annotate aside {at}\n" in text) == (percent > 10) == ("annotate" in text), text
    assert "app.py:9" in kaa("report", "--callers", "made", "-i", path).stdout


@pytest.mark.parametrize("words", [["report", "-S", "middle"], ["report", "--symbol-filter", "work.py:2000"],
                                   ["report", "-p", "work.py:2000", "-x", "--sort", "parent"], ["script", "-S", "middle"]])
def test_perf_knows_whole_names_alone(kaa, recording, words):
    assert "middle:" not in kaa(words[0], "-i", recording, "--like-perf", *words[1:]).stdout


# --- What nothing has ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", NONE)
def test_nothing_is_called_so(empty_report, script, word):
    result = empty_report("-S", word)
    assert re.fullmatch(rf"kaa report: no .*'{re.escape(word)}'.*\n", result.stderr)
    result = script("-S", word)
    assert not result.stdout and re.fullmatch(rf"kaa script: no .*'{re.escape(word)}'.*\n", result.stderr)


@pytest.mark.parametrize("typed, meant", [
    ("midle", "Worker.middle:work.py"), ("Worker.midlde", "Worker.middle:work.py"), ("worker.middle", "Worker.middle:work.py"),
    ("wrok.py", "work.py"), ("app/works.py", "work.py"),
])
def test_near_names_are_said_and_work(report, empty_report, script, typed, meant):
    stderr = empty_report("-S", typed).stderr
    assert f"no sample is in a function called '{typed}': did you mean " in stderr and f"'{meant}'" in stderr
    assert f"'{meant}'" in script("--stop-bt", typed).stderr
    assert functions(report("-S", meant, "--sort", "symbol").stdout) == {MIDDLE}


def test_lines_around_are_said(empty_report):
    assert empty_report("-S", "main.py:41").stderr == \
        "kaa report: no sample is at 'main.py:41'; the nearest lines with samples are 40 and 44\n"


def test_each_word_of_a_list(report, script):
    stderr = report("-S", "middle,nope,<string>,neither").stderr
    assert re.findall(r"'(\w+)'", stderr) == ["nope", "neither"]
    stderr = script("--stop-bt", "middle,nope,<string>,neither").stderr
    assert re.findall(r"'(\w+)'", stderr) == ["nope", "neither"]


def test_a_caller_is_no_place_hit(report, script):
    """The samples hit native code: middle is in their stacks alone."""
    for result in (script("-S", "middle"), report("-S", "middle", "--no-children")):
        assert "no sample hit 'middle' itself, only functions that it called" in result.stderr
    assert not report("-S", "middle").stderr


@pytest.mark.parametrize("option", ["-p", "--ignore-callees", "--symbol-filter"])
def test_parts_of_names_that_nothing_has(report, option):
    assert re.fullmatch(r"kaa report: no function .*'xyzzy'\n", report(option, "xyzzy").stderr)
    assert not report(option, "midd").stderr


def test_notes_are_no_part_of_the_output(report, empty_report):
    for words in (["-p", "nope"], ["-d", "nope"], ["--like-perf", "-S", "middle"], ["--like-perf", "-c", "nope"]):
        assert "kaa report" not in report(*words).stdout and report(*words).stderr
        assert not report("-q", *words).stderr
    for words in (["-S", "nope"], ["-c", "nope"]):
        assert empty_report(*words).stderr and not empty_report("-q", *words).stderr


@pytest.mark.parametrize("words, said", [
    (["-c", "pyton3"], "no sample is of a thread called 'pyton3': did you mean 'python3'?"),
    (["-c", "sh"], "no sample is of a thread called 'sh'; there is 'python3'"),
    (["-c", "python3 (some_long_name.py)"], "no sample is of a thread called 'python3 (some_long_name.py)': did you mean 'python3'?"),
    (["--comms", "python3,sh"], "no sample is of a thread called 'sh'; there is 'python3'"),
    (["--pid", "1"], "no sample is of process 1; there is 4242 (python3)"),
    (["--tid", "4242,1"], "no sample is of thread 1; there is 4242 (python3)"),
])
def test_threads_that_are_not_there(report, empty_report, script, words, said):
    some_are_there = words[1] in ("python3,sh", "4242,1")
    for extra, run in (([], report if some_are_there else empty_report), (["--like-perf"], report)):
        assert run(*words, *extra).stderr == f"kaa report: {said}\n"
        assert script(*words, *extra).stderr == f"kaa script: {said}\n"


@pytest.mark.parametrize("words, said", [
    (["-c", "sh"], "no sample is of a thread called 'sh'; there is 'python3'"),
    (["-S", "nope"], "no sample is in a function called 'nope'"),
    (["-S", "nope,middl"], "no sample is in a function called 'nope'\n"
     "kaa report: no sample is in a function called 'middl': did you mean 'Worker.middle:work.py'?"),
])
def test_nothing_to_show_on_a_terminal(kaa, recording, words, said):
    """An empty table says nothing; the command says why, and fails."""
    with Terminal([*kaa.command, "report", "-i", recording, *words], columns=100) as terminal:
        assert terminal.wait() == 1
        assert [line.rstrip() for line in terminal.screen.display if line.strip()] == f"kaa report: {said}".splitlines()


def test_something_to_show_on_a_terminal(kaa, recording):
    with Terminal([*kaa.command, "report", "-i", recording, "-S", "nope,middle"], columns=100, env={"KAA_PAGER": "cat"}) as terminal:
        terminal.wait_for("Worker.middle")


def test_files_that_are_not_there(report, script):
    assert report("-d", "imge").stderr == "kaa report: no sample is in a file called 'imge': did you mean 'image'?\n"
    assert script("--dsos", "nope").stderr == "kaa script: no sample hit a file called 'nope'; there is 'make_perfdata'\n"
    assert not report("-d", "image,make_perfdata").stderr and not script("--dsos", "make_perfdata").stderr


def test_long_lists_are_said_in_short(empty_report):
    lines = empty_report("-S", ",".join(f"nope{i}" for i in range(1000))).stderr.splitlines()
    assert len(lines) == 11 and "990" in lines[-1]


def test_what_others_leave_out_is_said_once(empty_report):
    """Without a sample nothing else can be found; that has been said."""
    assert empty_report("--pid", "1", "-S", "nope").stderr.count("\n") == 1


def test_names_cannot_drive_the_terminal(empty_report, script):
    for command in (empty_report, script):
        assert "\33" not in command("-S", "\33[31mx").stderr and "\33" not in command("-c", "\33[31mx").stderr


def test_help_says_how_functions_are_called(kaa):
    for command in ("report", "script"):
        assert all(word in kaa("help", command).stdout for word in ("Orders.dedupe", "orders.py:37", "py::dedupe"))


def test_callers_of_what_is_not_there(kaa, recording):
    """Near names are Python's; and no other report goes with it."""
    def refused(*words):
        return kaa("report", "--callers", *words, "-i", recording, status=1).stderr
    assert "no sample is in a Python function called 'midle': did you mean 'Worker.middle" in refused("midle")
    assert "options of other reports" in kaa("report", "--callers", "leaf", "--native", "-i", recording, status=129).stderr


def callers_of(kaa, path, stacks, function):
    with planted.recording(path, {b"MainThread": stacks}):
        return kaa("report", "--callers", function, "-i", path, env={**os.environ, "COLUMNS": "80"}).stdout


def python(name):
    return f"py::{name}:/srv/x.py".encode()


def test_recursion_of_several_functions_is_folded(kaa, tmp_path):
    """Each has one row, however deep it is, and what called the first of them follows."""
    pairs = (python("even"), python("odd")) * 60
    stacks = {(python("<module>"), *pairs[:n], python("leaf")): 3 for n in (1, 2, 40, 41, 118)}
    text = callers_of(kaa, tmp_path / "perf.data", stacks, "leaf")
    rows = [line for line in text.splitlines() if re.match("[ +] +[0-9.]+%  ", line)]
    assert len(rows) <= 9 and sum("<module>" in row for row in rows) >= 2, text
    assert "Recursion is folded" in text and max(map(len, text.splitlines())) <= 80, text
    text = callers_of(kaa, tmp_path / "perf.data", {(python("<module>"), python("leaf")): 3}, "leaf")
    assert "ecursion" not in text and "not shown" not in text, text


def test_callers_have_few_rows(kaa, tmp_path):
    """What is left out is said: how far up a chain goes, and how many call."""
    chain = tuple(python(f"f{i}") for i in range(90))
    text = callers_of(kaa, tmp_path / "perf.data", {(*chain, python("leaf")): 3}, "leaf")
    assert text.count("%  ") <= 41 and "'+' has callers that are not shown" in text, text
    # A command is as long as the names of its files.
    assert max(len(line) for line in text.splitlines() if "--tui" not in line) <= 80, text
    wide = {(caller, python("leaf")): 3 for caller in chain}
    text = callers_of(kaa, tmp_path / "perf.data", wide, "leaf")
    # The function itself is a row, too.
    assert text.count("%  ") <= 41 and "51 other rows are not shown:" in text, text
    assert re.search(r"report --tui -i \S+., .w. has them\.", text), text


def test_callers_of_a_program_with_umlauts(kaa, tmp_path):
    """The terminal's characters are asked for before anything is cut to its width."""
    main, function = (f"py::{name}:/srv/pr\u00fcf.py".encode() for name in ("<module>", "gr\u00f6\u00dfe"))
    with planted.recording(tmp_path / "perf.data", {b"MainThread": {(main, function): 9}}):
        text = kaa("report", "--callers", "gr\u00f6\u00dfe", "-i", tmp_path / "perf.data", env={**os.environ, "LC_ALL": "C.UTF-8"}).stdout
    assert re.match("Callers of gr\u00f6\u00dfe: \\S*pr\u00fcf[.]py ", text), text


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_callers_fit(kaa, recording, columns):
    text = kaa("report", "--callers", "middle", "-i", recording, env={**os.environ, "COLUMNS": columns}).stdout
    assert "Worker.middle" in text and max(map(len, text.splitlines())) <= int(columns), text


def test_tasks_of_asyncio_are_named_as_threads_are(kaa, tmp_path):
    """Where what was recorded is their time. A name with N is that of all that differ in their numbers."""
    def task(name, function):
        return ((name, "<asyncio>", 1, 1), (function, "/srv/a.py", 1, 2))

    counts = {"task cpu": 5, "task job-1": 3, "task job-2": 4, "task": 2}
    stacks = {task(name, f"f{i}"): count for i, (name, count) in enumerate(counts.items())}
    stacks[(("<module>", "/srv/a.py", 1, 9),)] = 6
    stacks[(("task cpu", "/srv/a.py", 1, 9),)] = 1
    data = planted.sampled(kaa, tmp_path / "perf.data", stacks, event="async-clock", threads=("loop",))
    for name, wanted in {"cpu": 5, "job-N": 7, "job-2": 4, "cpu,job-1": 8, "loop": 21, "loop,cpu": 21}.items():
        said = kaa("report", "-i", data, "--comms", name)
        assert f"  {wanted} samples" in said.stdout.splitlines()[0] and not said.stderr, name
        assert len(parse(kaa("script", "-i", data, "--comms", name).stdout)) == wanted
    assert "f0" in kaa("report", "-i", data, "--comms", "cpu").stdout
    said = kaa("report", "-i", data, "--comms", "jobs-1", status=1).stderr
    assert said == "kaa report: no sample is of a thread called 'jobs-1': did you mean 'job-1' or 'job-2'?\n"
    # A name may have any letters; and other threads are listed, too, whose comm is another thread's name.
    odd = {task("task GET http://x:80/a (1)", "f"): 3, task("task cpu", "g"): 2, (("<module>", "/srv/a.py", 1, 9),): 1}
    data = planted.sampled(kaa, tmp_path / "odd.data", odd, event="async-clock", threads=("loop", "python3"))
    for name, wanted in {"GET http://x:80/a (1)": 6, "GET http://x:N/a (N)": 6, "cpu": 4, "loop": 6}.items():
        assert f"  {wanted} samples" in kaa("report", "-i", data, "--comms", name).stdout.splitlines()[0], name
    assert " GET http://x:80/a (1)\n" in kaa("report", "-i", data).stdout
    # Of other events such a frame is a function.
    cpu = planted.sampled(kaa, tmp_path / "cpu.data", stacks, threads=("loop",))
    assert "called 'cpu'; there are 'loop' and 'python3'" in kaa("report", "-i", cpu, "--comms", "cpu", status=1).stderr
