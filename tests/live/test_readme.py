# SPDX-License-Identifier: GPL-2.0-only
"""README.md and docs/install.md as a new user reads them: in a clean clone, after ./demo alone, each command as it stands
there, in that order.

Typed otherwise are: PID, which is a running Python's; sudo, which is left out where there is none, as README says; samply,
which is in the chroot and would wait for a browser; `kaa top`, which would not end. Not typed is `kaa view`, which would wait
for a browser, too (tests/cli/test_view.py types it). What is installed goes to a /usr/local of the test's own. ./check and
./package check are not typed, nor what stands between fences: it installs packages, which ./package check does in systems
of its own.
"""
import json
import os
import re
import shutil
import subprocess

import pytest

from harness import exports, machine, samply_profile
from harness.process import HANG, TOP, run, started
from harness.waiting import until_busy

pytestmark = pytest.mark.usefixtures("bpf")

SCRIPT_FUNCTIONS = {"py::foo:", "py::bar:", "py::baz:"}

# A namespace in which what is written to /usr/local is nowhere else.
OWN_LOCAL = """
set -e
mount --make-rprivate /
mkdir -p "$0" && mount -t tmpfs none "$0"
mkdir "$0/new" "$0/work"
mount -t overlay overlay -o "lowerdir=/usr/local,upperdir=$0/new,workdir=$0/work" /usr/local
echo ready
exec sleep 100000
"""


def commands_of(page):
    """The lines of its indented blocks; those in a list stand further in."""
    lines = page.read_text().splitlines()
    return [line.strip() for line in lines if re.match(" {4}( {3})?[^ ]", line)]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    if not (TOP / ".git").exists():
        pytest.skip("this is no git repository to be cloned")
    folder = tmp_path_factory.mktemp("readme") / "kaa"
    trust = {**os.environ, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    run(["git", "clone", "-q", TOP, folder], env=trust)
    demo = run(["./demo"], cwd=folder, timeout=3 * HANG)
    assert SCRIPT_FUNCTIONS <= set(re.findall(r"py::\w+:", demo.stdout)), demo
    return folder


@pytest.fixture(scope="module")
def typed(clone, tmp_path_factory):
    """typed(command): what a shell in the clone answers."""
    with started(["unshare", "--mount", "sh", "-c", OWN_LOCAL, tmp_path_factory.mktemp("local") / "local"],
                 stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"ready\n"

        def type_it(command, **options):
            if not shutil.which("sudo"):
                command = command.replace("sudo ", "")
            return run(["nsenter", "--mount", "--target", str(holder.pid), f"--wd={clone}", "bash", "-c", command],
                       cwd=clone, status=None, timeout=3 * HANG, **options)

        yield type_it


def of_a_running_python(typed, command):
    with started(["python3", TOP / "tests" / "live" / "scripts" / "doc_script.py", "2000000000"]) as target:
        until_busy(target.pid, 0.5)
        return typed(command.replace("PID", str(target.pid)))


def in_samply(clone, command):
    level = clone / "build" / "paranoid"
    level.write_text("1\n")
    command = command.replace("samply record", "samply record --save-only -o build/profile.json")
    return run(["unshare", "--mount", "sh", "-c", "mount --bind build/paranoid /proc/sys/kernel/perf_event_paranoid && "
                'exec "$0" run "$@"', TOP / "tests" / "tools" / "chroot", *command.split()], cwd=clone, status=None)


def functions_in(text):
    return set(re.findall(r"py::\w+:", text))


def problem_of(command, done, typed):
    """None, or what the page promises and this is not."""
    if done.status:
        return "fails"
    if re.search("already configured|not found|no such file", done.stdout + done.stderr, re.I):
        return "complains"
    words = command.removeprefix("sudo ").split()
    if words[:2] == ["build/kaa", "record"] and not re.search(r"wrote 'perf\.data': .* [1-9]\d* with Python frames", done.stderr):
        return "records no Python frames"
    if words[:2] in (["build/kaa", "report"], ["build/kaa", "script"], ["perf", "report"]):
        text = done.stdout
        if words[-1].startswith(">"):
            text = typed(f"cat {words[-1][1:]}").stdout
        # By itself foo does all the work; and some commands ask for it alone.
        if words == ["build/kaa", "report", "--stdio"]:
            # Own time is foo's alone, but for the start, which on a busy machine takes its time.
            return None if re.search(r"^ *([7-9]\d|100)\.\d% +\d+\.\d%  foo  ", text, re.M) else "does not begin with the hot function"
        if "-S" in words and "--stdio" not in words:
            return None if re.search(r"^(foo|\S*my_script\.py)\b.*\n*.*\bown +[1-9]", text) else "shows not what it was asked for"
        alone = "--no-children" in words or words[-1] in ("foo", "my_script.py:4")
        expected = {"py::foo:"} if alone else SCRIPT_FUNCTIONS
        return None if functions_in(text) >= expected else "names not the functions of the example"
    if words[:2] in (["build/kaa", "annotate"], ["build/kaa", "diff"]) and "foo" not in done.stdout:
        return "does not show the hot function"
    if words[:2] == ["build/kaa", "doctor"] and not re.search("ok +CPython 3", done.stdout):
        return "finds no Python"
    if words[:2] == ["meson", "install"]:
        return None if typed("kaa help").stdout.startswith("usage: kaa") else "installs no kaa that runs"
    # Another kaa may stand behind it in PATH, such as that of a Debian package.
    if words[0] == "ninja" and words[-1] == "uninstall" and not typed("test -e /usr/local/bin/kaa").status:
        return "leaves kaa there"
    if words[0] == "setcap" and ("cap_bpf" in typed("getcap build/kaa").stdout) is ("-r" in words):
        return "gives other capabilities"
    return None


# ./demo built the clone; ./check, which these tests are part of, makes the packages and tries them. samply has a test of its own.
TYPED_ELSEWHERE = ("./check", "./demo", "./package", "samply")


def type_page(page, clone, typed):
    problems, typed_commands = [], []
    for command in commands_of(clone / page):
        if command.startswith(TYPED_ELSEWHERE):
            continue
        done = of_a_running_python(typed, command) if "PID" in command.split() else typed(command)
        typed_commands.append(command)
        problem = problem_of(command, done, typed)
        if problem:
            problems.append(f"$ {command}: {problem}\n{done}")
    assert not problems, "\n".join(problems)
    return typed_commands


def commands_of_table(page):
    """What stands in code in the rows of a table; names in capitals stand for what the reader has."""
    rows = [line for line in page.read_text().splitlines() if line.startswith("| ")]
    words = [code for row in rows for code in re.findall(r"`([^`]+)`", row)]
    return [code for code in words if re.match(r"(sudo )?build/kaa ", code) and not re.search(r" (OLD|NEW|NAME)\b", code)]


def nothing_but_the_build_is_left(clone):
    """What a page's commands leave is ignored by git."""
    assert run(["git", "-C", clone, "status", "--porcelain"]).stdout == ""


@pytest.mark.slow
def test_readme(clone, typed):
    words = " ".join(type_page("README.md", clone, typed))
    nothing_but_the_build_is_left(clone)
    for command in ("kaa record", "kaa report", "kaa annotate", "kaa script", "kaa flamegraph", "kaa diff", "kaa doctor",
                    "kaa run", "perf report", "meson install"):
        assert command in words


@pytest.mark.slow
def test_readme_samply(clone, samply):
    """Whole stacks, whether the Python has frame pointers or not; its server names what the saved profile has as addresses."""
    if reason := machine.no_chroot():
        pytest.skip(reason)
    command, = (command for command in commands_of(clone / "README.md") if command.startswith("samply "))
    done = in_samply(clone, command)
    assert samply_profile.recorded(done), done
    saved = clone / "build" / "profile.json"
    profile = json.loads(saved.read_text())
    image = next(lib["name"] for lib in profile["libs"] if re.fullmatch(r"kaa-\d+-0-\w+\.elf", lib["name"]))
    stacks = samply_profile.symbolicated(samply, saved, *samply_profile.stacks_in(profile, image))
    names = [re.findall(r"py::(.*?):", "\n".join(name or "" for name, _, _ in stack)) for stack in stacks]
    assert ["foo", "bar", "baz", "<module>"] in names, done
    nothing_but_the_build_is_left(clone)


def test_readme_table(clone, typed):
    """Which question, which command: each answers, in this order."""
    # A thread has Python's name, or its comm where the program does not import threading.
    names, typed_commands = {"dedupe", "foo", "MainThread", "python3"}, []
    for command in commands_of_table(clone / "README.md"):
        if command == "build/kaa view":
            continue
        command = command.replace("kaa top", "kaa top --once -d 2")
        done = of_a_running_python(typed, command) if "PID" in command.split() else typed(command)
        assert not done.status and not re.search("no such file|not found", done.stderr, re.I), (command, done)
        if " record " in command:
            assert re.search(r"wrote 'perf\.data': .* [1-9]\d* with Python frames", done.stderr), done
        elif "--format html" in command:
            page = exports.Page((clone / command.split()[-1]).read_bytes())
            assert names & set(page.words("function.name"))
        elif "flamegraph" in command:
            assert any(name in (clone / command.split()[-1]).read_text() for name in names)
        else:
            assert any(name in done.stdout for name in names), (command, done)
        typed_commands.append(command)
    words = " ".join(typed_commands)
    for command in ("record", "report", "annotate", "flamegraph", "diff"):
        assert f"build/kaa {command}" in words
    nothing_but_the_build_is_left(clone)


@pytest.mark.slow
def test_install_page(clone, typed):
    if not shutil.which("setcap"):
        pytest.skip("no setcap: it is in the package libcap2-bin")
    assert any("setcap" in command for command in type_page("docs/install.md", clone, typed))
    nothing_but_the_build_is_left(clone)


def test_links(clone):
    """Pages that README and the pages it names lead to are there."""
    for page in [clone / "README.md", *(clone / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), (page.name, link)
