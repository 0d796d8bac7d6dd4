# SPDX-License-Identifier: GPL-2.0-only
"""The command framework, as a user types it: help, versions, mistakes, full disks."""
import os
import re
import subprocess

import pytest

from harness.process import HANG

USAGE = 129


def commands(kaa):
    """The commands that `kaa help` lists, with their summaries."""
    listed = kaa("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return dict(line.split(None, 1) for line in listed.splitlines())


def test_overview(kaa):
    names = commands(kaa)
    assert {"doctor", "help", "version"} <= set(names)
    assert all(names.values())
    for words in ([], ["help"], ["--help"], ["-h"]):
        assert kaa(*words).stdout == kaa("help").stdout


def test_version(kaa):
    said = kaa("--version").stdout
    assert re.fullmatch(r"kaa version \d+\.\d+\.\d+\n", said)
    assert kaa("version").stdout == kaa("-v").stdout == said


def test_every_command_helps(kaa):
    for name, summary in commands(kaa).items():
        text = kaa("help", name).stdout
        assert text.startswith(f"usage: kaa {name}")
        assert summary in text
        assert kaa(name, "-h").stdout == kaa(name, "--help").stdout == text


def test_every_command_refuses_an_unknown_option(kaa):
    for name in commands(kaa):
        result = kaa(name, "--no-such-option", status=USAGE)
        assert f"kaa {name}: unknown option '--no-such-option'" in result.stderr
        assert f"usage: kaa {name}" in result.stderr
        assert not result.stdout


@pytest.mark.parametrize("typed, meant", [("docto", "doctor"), ("hlep", "help"), ("verison", "version")])
def test_unknown_command_names_the_near_one(kaa, typed, meant):
    result = kaa(typed, status=USAGE)
    assert result.stderr == f"kaa: '{typed}' is not a command: did you mean '{meant}'?\n"
    assert not result.stdout


def test_unknown_command_like_no_other(kaa):
    assert kaa("xyzzy", status=USAGE).stderr == f"kaa: 'xyzzy' is not a command: see '{kaa.command[-1]} help'\n"
    assert "unknown option '--frequency'" in kaa("--frequency", status=USAGE).stderr
    assert "'nope' is not a command" in kaa("help", "nope", status=USAGE).stderr


WORDS_OF_SUBJECTS = [("job.py", "record python3 job.py"), ("job", "record ./job"), ("./job", "record ./job"),
                     ("program", "record program"), ("old.data", "report old.data"), ("notes", None), ("folder", None),
                     ("a job.py", None)]


@pytest.mark.parametrize("typed, meant", WORDS_OF_SUBJECTS)
@pytest.mark.parametrize("more", [[], ["--fast"]])
def test_what_is_to_be_recorded_is_no_command(kaa, tmp_path, typed, meant, more):
    folder, path = tmp_path / "cwd", tmp_path / "path"
    for each in (folder, path, folder / "folder"):
        each.mkdir()
    for name in ("job.py", "a job.py", "notes"):
        (folder / name).write_text("pass\n")
    (folder / "old.data").write_bytes(b"PERFILE2")
    for program in (folder / "job", path / "program"):
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    said = kaa(typed, *more, status=USAGE, cwd=folder, env={**os.environ, "PATH": str(path)}).stderr
    rest = " ..." if more and meant and meant.startswith("record") else ""
    instead = f"did you mean '{kaa.command[-1]} {meant}{rest}'?" if meant else f"see '{kaa.command[-1]} help'"
    assert said == f"kaa: '{typed}' is not a command: {instead}\n"


ABSENT = ["list", "live", "stat"]


@pytest.mark.parametrize("name", ABSENT)
def test_commands_that_people_look_for(kaa, name):
    """What does the job instead is said, in options that there are."""
    result = kaa(name, status=USAGE)
    assert result.stderr.startswith(f"kaa: there is no command '{name}' yet: ") and result.stderr.count("\n") == 1
    assert "did you mean" not in result.stderr and not result.stdout
    assert kaa("help", name, status=USAGE).stderr == result.stderr.replace("kaa:", "kaa help:", 1)
    named = re.findall(r"'(\S*kaa|perf|samply) (\w+)([^']*)'", result.stderr)
    assert named and name not in commands(kaa)
    for program, command, words in named:
        if program == kaa.command[-1]:
            help_text = kaa("help", command).stdout
            known = set(re.findall(r"(?:^|, )( *--?[A-Za-z][A-Za-z-]*)", help_text, re.M))
            typed = {word for word in words.split("|")[0].split(" -- ")[0].split() if word.startswith("-")}
            assert typed <= {option.strip() for option in known}


def test_a_full_disk_is_an_error(kaa):
    for words in (["help"], ["help", "doctor"], ["version"], ["doctor"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([*map(str, kaa.command), *words], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=HANG)
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert done.stderr.count("\n") == 1
