# SPDX-License-Identifier: GPL-2.0-only
"""The table of releases and the layouts of src/python against the headers of each release."""
import pytest

from harness import parameters, pythons
from harness.probe import compile_with_headers, path, read_values
from harness.process import TOP, Program, run

TABLE = TOP / "src" / "python" / "releases.def"
FREE_THREADED = TOP / "src" / "python" / "free_threaded.def"


def pytest_generate_tests(metafunc):
    """Those that only the agent supports, too."""
    if "interpreter" in metafunc.fixturenames:
        found = pythons.chosen(pythons.find_for_agent(), metafunc.config.getoption("--python"))
        metafunc.parametrize("interpreter", parameters.of_pythons(found))


@pytest.fixture
def probe(request):
    return Program(path(request.config))


def derive(python, tmp_path, *options):
    """The program that knows the layout by the headers."""
    code = "import sysconfig; print(sysconfig.get_paths()['include'])"
    include = run([*python.command, "-c", code]).stdout.strip()
    program = tmp_path / "derive-layout"
    if not compile_with_headers(python, include, program, *options):
        pytest.skip(f"the headers of {python.id} are not installed")
    return Program(program)


@pytest.fixture
def derived(python, tmp_path):
    return derive(python, tmp_path)


READ_RUNTIME = """
import ctypes, sys
runtime = ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime")
open(sys.argv[1], "wb").write(ctypes.string_at(ctypes.addressof(runtime), 1024))
"""


def debug_offsets(python, tmp_path):
    """What stands at _PyRuntime in a live process; the same is in the file, for builds without ctypes."""
    file = tmp_path / "offsets"
    if python.free_threaded:
        run(["objcopy", "-O", "binary", "--only-section=.PyRuntime", python.file, file])
        return file.read_bytes()[:1024]
    run([*python.command, "-c", READ_RUNTIME, file])
    return file.read_bytes()


def rows(table=TABLE):
    """The table's rows by minor version, each without its first line, which no header tells."""
    pieces = table.read_text().split("PY_RELEASE(")[1:]
    return {int(piece.split(",")[0]): piece[piece.index("\n") + 1:piece.index("})") + 3] for piece in pieces}


@pytest.mark.every_version
def test_row_is_what_the_headers_print(interpreter, tmp_path):
    expected = derive(interpreter, tmp_path)("row").stdout
    assert rows()[interpreter.version[1]] == expected[expected.index("\n") + 1:]


@pytest.mark.half_of_the_versions
def test_free_threaded_row_is_what_the_headers_print(python, tmp_path):
    """The same headers say it, if they are told that there is no GIL."""
    if python.version[1] not in rows(FREE_THREADED):
        return
    expected = derive(python, tmp_path, *[] if python.free_threaded else ["-DPy_GIL_DISABLED=1"])("row").stdout
    assert rows(FREE_THREADED)[python.version[1]] == expected[expected.index("\n") + 1:]


@pytest.mark.half_of_the_versions
@pytest.mark.and_free_threaded
def test_list_of_tasks_is_where_the_headers_say(python, tmp_path):
    """Of free-threaded builds from 3.14 on: there micro releases differ."""
    if python.version[1] not in rows(FREE_THREADED) or python.version < (3, 14):
        return
    line = derive(python, tmp_path, *[] if python.free_threaded else ["-DPy_GIL_DISABLED=1"])("list").stdout.strip()
    assert line and line in (TOP / "src/python/tasks.c").read_text(encoding="ascii")


@pytest.mark.half_of_the_versions
@pytest.mark.old_versions
@pytest.mark.and_free_threaded
def test_row_is_what_the_headers_say(python, derived, probe, tmp_path):
    expected = read_values(derived().stdout)
    if python.version < (3, 13):
        actual = probe("layout", f"{python.hexversion:x}")
    else:
        actual = probe("debug-offsets", data=debug_offsets(python, tmp_path))
    # Another micro release's headers are as good.
    expected["version"] = str(python.hexversion)
    assert read_values(actual.stdout) == expected


# Each: what is done to the debug offsets, and what the refusal says.
DAMAGES = [
    (lambda good: b"", "cut off"),
    (lambda good: good[:400], "cut off"),
    (lambda good: bytes(len(good)), "not started"),
    (lambda good: b"?" + good[1:], "no debug offsets"),
    # interpreter_state.threads_head, beyond the structure.
    (lambda good: good[:75] + b"\1" + good[76:], "are not valid"),
    (lambda good: good[:8] + b"\xb1" + good[9:], "beta"),
    (lambda good: good[:10] + b"\x10" + good[11:], "not supported"),
]


@pytest.mark.half_of_the_versions
def test_other_layouts_are_refused(python, probe, tmp_path):
    if python.version < (3, 13):
        alpha = python.hexversion & 0xffff0000 | 0xa1
        assert "alpha or beta" in probe("layout", f"{alpha:x}", status=1).stderr
        return
    good = debug_offsets(python, tmp_path)
    for change, words in DAMAGES:
        assert words in probe("debug-offsets", data=change(good), status=1).stderr
    if python.version[1] not in rows(FREE_THREADED):
        changed = good[:16] + b"\1" + good[17:]
        assert "is a free-threaded build; of these only 3.13 is supported" in probe("debug-offsets", data=changed, status=1).stderr
