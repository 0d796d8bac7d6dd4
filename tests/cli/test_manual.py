# SPDX-License-Identifier: GPL-2.0-only
"""The manual pages, held to `kaa help`, to the tools that read them, and to what `meson install` installs."""
import os
import re
import shutil

import pytest

from harness.process import run

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"]


def commands(kaa):
    """The commands that `kaa help` lists, with their summaries."""
    listed = kaa("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return dict(line.split(None, 1) for line in listed.splitlines())


def options(kaa, command):
    return set(re.findall(r"^    (?:-., )?(--[A-Za-z0-9-]+)", kaa("help", command).stdout, re.M))


@pytest.fixture(scope="module")
def pages(kaa, tmp_path_factory):
    """File of each page by its name."""
    folder = tmp_path_factory.mktemp("pages")
    words = {"kaa": []} | {f"kaa-{name}": [name] for name in commands(kaa)}
    for page, command in words.items():
        (folder / f"{page}.1").write_text(kaa("help", "--man", *command).stdout)
    return {page: folder / f"{page}.1" for page in words}


def need(tool):
    if not shutil.which(tool):
        pytest.skip(f"no {tool}: tests/tools/deps check installs it")


def shown(page):
    """As `man` shows it, without bold and underlines, in one line a paragraph."""
    need("man")
    env = {**os.environ, "MANWIDTH": "1000", "MAN_KEEP_FORMATTING": "", "MANPAGER": "cat", "LC_ALL": "C.UTF-8", "GROFF_NO_SGR": "1"}
    result = run(["man", "-l", page], env=env)
    assert not result.stderr, result
    return re.sub(".\b", "", result.stdout)


def test_sections(pages):
    for name, page in pages.items():
        found = re.findall(r'^\.SH "?([A-Z ]+)"?$', page.read_text(), re.M)
        wanted = [title for title in SECTIONS if name != "kaa" or title != "OPTIONS"]
        assert [title for title in found if title in wanted] == wanted, name
    for name in ("kaa", "kaa-record", "kaa-report", "kaa-script"):
        text = pages[name].read_text()
        assert ".SH FILES\n" in text and ".SH ENVIRONMENT\n" in text and ".SH EXAMPLES\n" in text
        assert "perf.data" in text


def test_every_option_with_its_text(kaa, pages):
    for name in commands(kaa):
        text = " ".join(shown(pages[f"kaa-{name}"]).replace("\N{HYPHEN}", "-").split())
        for option in options(kaa, name):
            assert re.search(rf"(?<!\S){option}(?![\w-])", text), (name, option)
        for help_text in re.findall(r"^    -\S.{28,}?  +(\S.*(?:\n {34}\S.*)*)", kaa("help", name).stdout, re.M):
            assert " ".join(help_text.split()) in text, (name, help_text)


def test_the_overview_names_every_command(kaa, pages):
    text = shown(pages["kaa"])
    for name, summary in commands(kaa).items():
        assert f"kaa-{name}(1)" in text and summary in text


def test_exit_status(kaa, pages):
    """What the pages say, tried."""
    for name in commands(kaa):
        text = shown(pages[f"kaa-{name}"])
        assert re.search(r"^ *129 ", text, re.M), name
        kaa(name, "--no-such-option", status=129)
        assert bool(re.search("^ *126, 127", text, re.M)) == (name in ("record", "run", "top")), name
        assert bool(re.search("^ *any other", text, re.M)) == (name in ("record", "run")), name


@pytest.mark.parametrize("variable", ["COLUMNS", "NO_COLOR", "PAGER", "KAA_PAGER", "HOME", "PATH", "SUDO_USER", "LESS", "TERM"])
def test_variables_are_named(pages, variable):
    assert re.search(rf"\b{variable}\b", shown(pages["kaa"]))


def test_columns_is_true(kaa, pages, recording):
    """COLUMNS, as the page of report has it: the rows of the tables."""
    def width(columns):
        text = kaa("report", "--stdio", "-i", recording, env={**os.environ, "COLUMNS": str(columns)}).stdout
        return max(len(line) for line in text.splitlines() if re.match(r" *\d+\.\d%", line))
    assert width(60) <= 60 < width(200)


def test_groff_finds_no_fault(pages):
    need("groff")
    for page in pages.values():
        result = run(["groff", "-man", "-Tutf8", "-ww", page])
        assert not result.stderr, result


def test_mandoc_finds_no_fault(pages):
    """A page that is the same from every build has no date."""
    need("mandoc")
    for page in pages.values():
        result = run(["mandoc", "-Tlint", "-Wwarning", page], status=None)
        said = [line for line in result.stdout.splitlines() if "missing date" not in line]
        assert not said and not result.stderr, result


def test_what_is_installed(kaa, build_dir, pages):
    """The pages of all commands, and the scripts, stand in the build as this kaa prints them."""
    folder = build_dir / "src" / "cmd" / "pages"
    assert {path.name for path in folder.glob("kaa*.1")} == {f"{name}.1" for name in pages}
    for name, page in pages.items():
        assert (folder / f"{name}.1").read_bytes() == page.read_bytes(), name
    for shell, name in (("bash", "kaa"), ("zsh", "_kaa"), ("fish", "kaa.fish")):
        assert (folder / name).read_text() == kaa("help", "--completion", shell).stdout
