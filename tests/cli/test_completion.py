# SPDX-License-Identifier: GPL-2.0-only
"""Completion in the shells themselves; what they have to offer is what `kaa help` says of each command."""
import contextlib
import os
import re
import shutil
import sys

import pytest

from harness.process import run, started
from harness.terminal import Terminal

# What runs in the tests' bash instead of readline.
ASK_BASH = r"""
compopt() { :; }
ask() { COMP_POINT=${#COMP_LINE} COMP_TYPE=9 COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kaa; printf '%s\n' "${COMPREPLY[@]}" '<end>'; }
"""


def commands(kaa):
    listed = kaa("help").stdout.split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def option_rows(kaa, command):
    """(short, long, argument) of each option in the help of a command; '' for what it has not. An argument that has to
    stand in the word of the option begins with =."""
    rows = []
    for line in kaa("help", command).stdout.splitlines():
        found = re.match(r"    (-\w\b)?(?:, )?(--[\w-]+)?(?: ?\[?(=?[^\s\]]+))?", line)
        if found and (found[1] or found[2]):
            rows.append((found[1] or "", found[2] or "", found[3] or ""))
    return rows


def long_options(kaa, command):
    return {long for _, long, _ in option_rows(kaa, command) if long} | {"--help"}


def need(shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}: tests/tools/deps check installs it")


@pytest.fixture(scope="module")
def scripts(kaa, tmp_path_factory):
    """The three scripts, named as the shells look for them."""
    folder = tmp_path_factory.mktemp("completion")
    for shell, name in (("bash", "kaa"), ("zsh", "_kaa"), ("fish", "kaa.fish")):
        (folder / name).write_text(kaa("help", "--completion", shell).stdout)
    return folder


def split_as_readline(line):
    """= and : are words of their own, with what stands around them."""
    words = re.findall(r"[=:]+|[^\s=:]+", line)
    return words + [""] if line[-1].isspace() else words


def quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


def bash_offers(scripts, lines, cwd):
    need("bash")
    asked = "".join(f"COMP_LINE={quoted(line)}; COMP_WORDS=({' '.join(map(quoted, split_as_readline(line)))}); ask\n" for line in lines)
    result = run(["bash", "--norc", "-c", f"source {scripts}/kaa\n{ASK_BASH}\n{asked}"], cwd=cwd)
    assert not result.stderr, result
    return [set(filter(None, part.split("\n"))) for part in result.stdout.split("<end>\n")[:-1]]


def fish_offers(scripts, lines, cwd):
    need("fish")
    asked = "".join(f"complete -C {quoted(line)}; echo '<end>'\n" for line in lines)
    result = run(["fish", "--no-config", "-c", f"source {scripts}/kaa.fish\n{asked}"], cwd=cwd, env={**os.environ, "HOME": str(cwd)})
    assert not result.stderr, result
    return [{offer.split("\t")[0] for offer in part.split("\n") if offer} for part in result.stdout.split("<end>\n")[:-1]]


@contextlib.contextmanager
def shell_on_terminal(shell, scripts, cwd):
    """An interactive shell that has the script, with room for long lists."""
    need(shell)
    words = {"bash": ["bash", "--norc", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "--no-config", "-i"]}[shell]
    start = {
        "bash": f"source {scripts}/kaa; bind 'set completion-query-items 0'; bind 'set page-completions off'; bind 'set show-all-if-ambiguous on'",
        "zsh": f"fpath=({scripts} $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=9999; setopt no_list_ambiguous",
        "fish": f"source {scripts}/kaa.fish",
    }[shell]
    env = {"PS1": "> ", "HOME": str(cwd), "ZDOTDIR": str(cwd), "HISTFILE": None, "INPUTRC": "/dev/null"}
    with Terminal(words, rows=400, columns=160, env=env, cwd=cwd) as terminal:
        terminal.write(f"{start}; echo rea'dy'\r".encode())
        terminal.wait_for("ready")
        yield terminal


def lists(terminal, line, wanted):
    """Types the line and a tab, waits until all that is wanted is listed, and wipes both away."""
    terminal.write(b"\x15clear\r" + line.encode() + b"\t")
    terminal.wait_until(lambda: line.rstrip() in terminal.text() and
                        all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", terminal.text()) for word in wanted),
                        f"list of {line!r} with {sorted(wanted)}")


OFFERS = {"bash": bash_offers, "fish": fish_offers}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_every_command_and_option(kaa, scripts, tmp_path, shell):
    """Exactly those of help."""
    names = commands(kaa)
    offered = OFFERS[shell](scripts, ["kaa ", *[f"kaa {name} --" for name in names]], tmp_path)
    assert offered[0] == set(names)
    for name, options in zip(names, offered[1:]):
        # Fish offers --fix and --fix= where the argument can be left out.
        assert {option.rstrip("=") for option in options} == long_options(kaa, name), name


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_short_options(kaa, scripts, tmp_path, shell):
    names = commands(kaa)
    for name, options in zip(names, OFFERS[shell](scripts, [f"kaa {name} -" for name in names], tmp_path)):
        assert {short for short, _, _ in option_rows(kaa, name) if short} | {"-h"} <= options, name


def test_every_command_and_option_in_zsh(kaa, scripts, tmp_path):
    with shell_on_terminal("zsh", scripts, tmp_path) as terminal:
        lists(terminal, "kaa ", commands(kaa))
        for name in commands(kaa):
            lists(terminal, f"kaa {name} --", long_options(kaa, name))
        lists(terminal, "kaa report --no-", {"--no-children", "--no-inline"})


def words_of(argument):
    """The words that the name of an argument spells out."""
    argument = argument.removeprefix("=")
    if "|" not in argument or "(" in argument:
        return set()
    inner = argument[1:-1] if argument[0] == "<" and argument[-1] == ">" else argument
    return {word for word in inner.split("|") if word[0] != "<"}


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_values_that_help_spells_out(kaa, scripts, tmp_path, shell):
    lines, wanted = [], []
    for name in commands(kaa):
        for short, long, argument in option_rows(kaa, name):
            for option in filter(None, (short, long)) if words_of(argument) else ():
                lines.append(f"kaa {name} {option}{'=' if argument[0] == '=' else ' '}")
                wanted.append(words_of(argument))
    # Fish has the whole word.
    offered = [{re.sub("^--[a-z-]+=", "", word) for word in words} for words in OFFERS[shell](scripts, lines, tmp_path)]
    assert lines and offered == wanted


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize("command, option", [("report", "--sort"), ("report", "--fields"), ("report", "-g"), ("script", "-F")])
def test_values_that_the_command_accepts(kaa, scripts, recording, tmp_path, shell, command, option):
    """Each word that is offered is one that kaa takes."""
    words, = OFFERS[shell](scripts, [f"kaa {command} {option} "], tmp_path)
    assert len(words) > 8
    assert {"comm", "symbol"} <= words or {"comm", "sym"} <= words or {"caller", "graph"} <= words
    for word in words:
        # Some fields need others beside them.
        result = kaa(command, "-i", recording, option, ("+" if command == "script" else "") + word, status=None)
        assert result.status != 129, result


def test_formats_clocks_shells_events(kaa, scripts, tmp_path):
    asked = ["kaa export --format ", "kaa record -k ", "kaa help --completion ", "kaa record -e ", "kaa help "]
    formats, clocks, shells, events, names = bash_offers(scripts, asked, tmp_path)
    assert formats and all(f"--format {name}" in kaa("help", "export").stdout for name in formats)
    assert clocks == {"monotonic", "monotonic_raw", "realtime", "boottime", "tai"}
    assert shells == {"bash", "zsh", "fish"}
    assert {"cycles", "instructions", "cpu-clock", "page-faults", "context-switches", "LLC-load-misses"} <= events
    assert names == set(commands(kaa))


@pytest.mark.parametrize("shell, line, offered", [
    ("bash", "kaa report -s comm,sym", {"comm,symbol"}),
    ("bash", "kaa report -s +d", {"+dso"}),
    ("bash", "kaa report -scomm,d", {"-scomm,dso"}),
    ("bash", "kaa report --sort=comm,d", {"comm,dso"}),
    ("bash", "kaa report --sort comm -qs d", {"dso"}),
    ("bash", "kaa record -qk t", {"tai"}),
    ("bash", "kaa report --no-ch", {"--no-children"}),
    ("bash", "kaa record --p", {"--pid", "--python"}),
    ("bash", "kaa record true --p", set()),
    ("bash", "kaa record -- --p", set()),
    ("bash", "kaa record -F ", {"max"}),
    ("bash", "kaa record -C ", set()),
    ("bash", "kaa nonsense --", set()),
    ("fish", "kaa report -s comm,sym", {"comm,symbol"}),
    ("fish", "kaa report -s +d", {"+dso"}),
    ("fish", "kaa report --sort=comm,d", {"--sort=comm,dso"}),
    ("fish", "kaa report --no-ch", {"--no-children"}),
    ("fish", "kaa record --p", {"--pid", "--python"}),
    ("fish", "kaa record true --p", set()),
    ("fish", "kaa record -qk t", {"tai"}),
])
def test_one_line(scripts, tmp_path, shell, line, offered):
    assert OFFERS[shell](scripts, [line], tmp_path) == [offered]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_on_a_terminal(scripts, tmp_path, shell):
    """What is typed, a tab, and the line as it then stands."""
    (tmp_path / "recording of today.data").touch()
    (tmp_path / "zebra_orders.py").touch()
    (tmp_path / "folder only").mkdir()
    with shell_on_terminal(shell, scripts, tmp_path) as terminal:
        for typed, line in (("kaa rec", "kaa record"), ("kaa report --percenta", "kaa report --percentage"),
                            ("kaa report --percentage rel", "--percentage relative"),
                            ("kaa record -F 99 zebra", "-F 99 zebra_orders.py"), ("kaa inject --symfs fol", r"--symfs folder\ only/")):
            terminal.write(b"\x15" + typed.encode() + b"\t")
            terminal.wait_for(line)
        terminal.write(b"\x15kaa report -i rec\t")
        terminal.wait_for(r"-i recording\ of\ today.data")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_started_command_completes_itself(scripts, tmp_path, shell):
    """Its options are its own, also those that kaa has, too."""
    if shell == "bash" and not os.path.exists("/usr/share/bash-completion/bash_completion"):
        pytest.skip("no bash-completion: tests/tools/deps check installs it")
    defines = {
        "bash": "source /usr/share/bash-completion/bash_completion; complete -W '--pigment --zenith' paint",
        "zsh": "_paint() { _arguments --pigment --zenith }; compdef _paint paint",
        "fish": "complete -c paint -l pigment; complete -c paint -l zenith",
    }
    with shell_on_terminal(shell, scripts, tmp_path) as terminal:
        terminal.write(f"{defines[shell]}; echo defi'ned'\r".encode())
        terminal.wait_for("defined")
        for line in ("kaa record -F 99 -qo x.data paint --pi", "kaa run paint --pi", "kaa record -p 1 -- paint --pi"):
            terminal.write(b"\x15" + line.encode() + b"\t")
            terminal.wait_for(line + "gment")


@pytest.fixture
def hostile(tmp_path):
    """Processes whose names are code of a shell, and steer terminals."""
    names = ["$(>pwned)", "`>pwned`", "(>pwned);>pwned", "x\x1b[31m\ty:[z]", "-n '\"\\"]
    script = "import sys; open('/proc/self/comm', 'w').write(sys.argv[1]); print(flush=True); sys.stdin.read()"
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(started([sys.executable, "-c", script, name], stdin=-1, stdout=-1)) for name in names]
        for process in processes:
            process.stdout.readline()
        (tmp_path / "$(>pwned).py").touch()
        (tmp_path / "`>pwned`.data").touch()
        yield [str(process.pid) for process in processes]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_names_of_processes_and_files_run_nothing(scripts, hostile, tmp_path, shell):
    with shell_on_terminal(shell, scripts, tmp_path) as terminal:
        for pid in hostile:
            terminal.write(f"\x15kaa record -p 1,{pid[:-1]}\t".encode())
            terminal.wait_for(pid)
        for line in ("kaa record -p ", "kaa record ./", "kaa report -i "):
            terminal.write(f"\x15{line}\t\t".encode())
        terminal.write(b"\x15echo still' 'here\r")
        terminal.wait_for("still here")
    assert not list(tmp_path.glob("**/pwned"))
    assert b"\x1b[31m\ty:" not in terminal.raw


def test_a_process_is_offered_with_its_name(scripts, tmp_path):
    """Bash shows names beside numbers, and puts a number alone into the line."""
    with started(["sleep", "1000"]) as one:
        alone, = bash_offers(scripts, [f"kaa record -p {one.pid}"], tmp_path)
        assert str(one.pid) in {offer.split()[0] for offer in alone}
        everything, listed = bash_offers(scripts, ["kaa record -p ", "kaa doctor -p "], tmp_path)
        assert f"{one.pid}  sleep" in everything and f"{one.pid}  sleep" in listed
        offered, = fish_offers(scripts, ["kaa record -p "], tmp_path)
        assert str(one.pid) in offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_made_of_what_the_shell_understands(scripts, shell):
    need(shell)
    name = {"bash": "kaa", "zsh": "_kaa", "fish": "kaa.fish"}[shell]
    result = run([shell, "-n", scripts / name])
    assert not result.stderr, result


def test_a_shell_that_there_is_none_for(kaa):
    said = kaa("help", "--completion", "tcsh", status=129).stderr
    assert "no completion script for 'tcsh', only for bash, zsh, fish" in said
