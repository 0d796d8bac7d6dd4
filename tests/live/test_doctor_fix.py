# SPDX-License-Identifier: GPL-2.0-only
"""`kaa doctor --fix`: what it prints it runs, nothing else, and then a user records without root; undone, it is as before.

The user is ann of harness/user_box.py, whose /etc is a copy: groups that are made there are made nowhere else.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from harness import script_output
from harness.nobody import NOBODY
from harness.process import TOP, run
from harness.user_box import UserBox, public_copy

pytestmark = pytest.mark.usefixtures("bpf", "root")

SCRIPT = TOP / "tests" / "live" / "scripts" / "doc_script.py"
TOOLS = {"groupadd", "groupdel", "usermod", "gpasswd", "chown", "chmod", "setcap", "sysctl"}


@pytest.fixture
def box(kaa):
    """A user with sudo, a kaa of root's that everybody may run, and a script."""
    for tool in ("sudo", "setcap", "groupadd"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}: tests/tools/deps check installs it")
    with tempfile.TemporaryDirectory(prefix="kaa-fix-", dir="/var/tmp") as name:
        if os.statvfs(name).f_flag & os.ST_NOSUID:
            pytest.skip("/var/tmp is mounted with nosuid")
        box = UserBox(pathlib.Path(name))
        box.kaa = public_copy(kaa, box.folder)
        shutil.copy(SCRIPT, box.homes["ann"] / "program.py")
        yield box


def commands_after(text, title):
    """The indented lines of the first block behind this text."""
    block = re.search(r"\n\n((?:    \S.*\n)+)\n", text[text.index(title):])[1]
    return [line.strip().removeprefix("sudo ") for line in block.splitlines()]


def state(box):
    """What a fix may change: the file, and the groups."""
    info = box.kaa.stat()
    caps = run(["getcap", box.kaa]).stdout
    return info.st_uid, info.st_gid, info.st_mode, caps, (box.etc / "group").read_text()


def as_root(box, commands):
    """Types them: with ann's /etc."""
    box.shell("set -e; PATH=$PATH:/usr/sbin:/sbin\n" + "\n".join(commands), user="root")


def records(box):
    """Does kaa read ann's Python frames without root?"""
    result = box.shell(f"{box.kaa} record -F 999 -g /usr/bin/python3 program.py 0.6", status=None)
    return result.status == 0 and "polling" not in result.stderr


def test_it_prints_and_changes_nothing(box):
    before = state(box)
    for words in ("--fix", "--fix=show", "--fix --group kaa"):
        text = box.shell(f"{box.kaa} doctor {words}").stdout
        assert max(map(len, text.splitlines())) <= 80 + len(str(box.kaa))
        assert commands_after(text, "Root gives them with")[-1] == f"setcap cap_bpf,cap_perfmon=ep {box.kaa}"
        assert f"sudo {box.kaa} doctor --fix=run" in text and "nosuid" in text and "virtual environment" in text
    assert state(box) == before
    assert not records(box)


def test_it_says_that_a_tool_is_missing(box):
    setcap = shutil.which("setcap")
    with_it = box.shell(f"{box.kaa} doctor --fix", user="root").stdout
    # Root needs no sudo, which a minimal Debian does not have.
    assert f"\n    {box.kaa} doctor --fix=run\n" in with_it and "    sudo " not in with_it
    without = box.shell(f"mount --bind /dev/null {setcap}; {box.kaa} doctor --fix", user="root").stdout
    assert "libcap2-bin" not in with_it
    assert "First: there is no setcap in " in without and ": 'apt install libcap2-bin' installs it" in " ".join(without.split())
    # Another user does, or has to ask root.
    others = box.shell(f"mount --bind /dev/null {setcap}; setpriv --reuid=ann {box.kaa} doctor --fix", user="root").stdout
    assert "'sudo apt install libcap2-bin' installs it" in " ".join(others.split())
    asks = box.shell(f"mount --bind /dev/null {setcap}; PATH=/nowhere /usr/bin/setpriv --reuid=ann {box.kaa} doctor --fix",
                     user="root").stdout
    assert "as root: 'apt install libcap2-bin' installs it" in " ".join(asks.split()) and "    sudo " not in asks
    assert commands_after(without, "Root gives them with") == commands_after(with_it, "Root gives them with")


def test_it_needs_root_to_run_and_says_how(box):
    before = state(box)
    result = box.shell(f"{box.kaa} doctor --fix=run --group kaa", status=1)
    assert not result.stdout
    assert result.stderr == f"kaa doctor: --fix=run needs root: 'sudo {box.kaa} doctor --fix=run --group kaa'\n"
    assert state(box) == before


@pytest.mark.parametrize("group", ["", " --group kaa", " --group ann"])
def test_it_runs_what_it_printed_and_can_be_undone(kaa, box, group):
    before = state(box)
    plan = box.shell(f"{box.kaa} doctor --fix{group}").stdout
    text = box.shell(f"sudo {box.kaa} doctor --fix=run{group}").stdout
    printed = commands_after(plan, "Root gives them with")
    # What was done comes first.
    first, title, rest = text.lstrip("\n").partition("What was run\n")
    assert not first and title
    done = [line[8:] for line in rest.split("\n\n")[0].splitlines()]
    assert done == printed and {line.split()[0] for line in printed} <= TOOLS
    assert "ok    user ann records without root" in text
    assert "cap_bpf" in run(["getcap", box.kaa]).stdout and "ptrace" not in run(["getcap", box.kaa]).stdout
    assert records(box)
    samples = script_output.parse(kaa("script", "-f", "-i", box.homes["ann"] / "perf.data").stdout)
    assert sum([name for name, _, _ in sample.python][-3:] == ["baz", "bar", "foo"] for sample in samples) > 2
    if group:
        assert box.kaa.stat().st_mode & 0o777 == 0o750
        stranger = run(["sh", "-c", f"{box.kaa} version"], status=None, user=NOBODY, group=NOBODY, extra_groups=[])
        assert stranger.status == 126, stranger
    else:
        again = box.shell(f"sudo {box.kaa} doctor --fix=run").stdout
        assert "has the capabilities that it needs" in again and "What was run" not in again
    as_root(box, commands_after(text, "To undo it"))
    assert state(box) == before
    assert not records(box)


def test_a_command_that_fails_is_said_and_the_rest_is_left(box):
    """A group that cannot be made, since the list of groups is locked."""
    before = state(box)
    (box.etc / "group.lock").write_text(str(os.getpid()))
    (box.etc / "gshadow.lock").write_text(str(os.getpid()))
    result = box.shell(f"sudo {box.kaa} doctor --fix=run --group kaa", status=1)
    assert "kaa doctor: 'groupadd kaa' failed: " in result.stderr and result.stderr.count("\n") == 1
    assert "no    groupadd kaa" in result.stdout and "ok " not in result.stdout
    assert state(box) == before


def test_tools_are_not_looked_for_where_the_user_says(box):
    """sudo may keep a user's PATH: what runs as root does not come from there."""
    fake = box.folder / "fake"
    fake.mkdir()
    for tool in TOOLS:
        (fake / tool).write_text(f"#!/bin/sh\ntouch {box.folder}/ran\n")
        (fake / tool).chmod(0o755)
    box.shell(f"sudo env PATH={fake}:$PATH {box.kaa} doctor --fix=run")
    assert not (box.folder / "ran").exists() and records(box)


def test_in_a_virtual_environment(box):
    """The program itself is in its bin; the next one that pip puts there has no capabilities."""
    venv = box.folder / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").touch()
    shutil.copy(box.kaa, venv / "bin" / "kaa")
    box.kaa = venv / "bin" / "kaa"
    assert "ok    user ann records without root" in box.shell(f"sudo {box.kaa} doctor --fix=run").stdout
    assert records(box)
    shutil.copy(box.kaa, venv / "kaa.new")
    (venv / "kaa.new").rename(box.kaa)
    assert not records(box)


def test_where_a_file_cannot_have_them(kaa, box):
    """A file with two names, and a file system that is mounted with nosuid: why, what else, and nothing is run."""
    linked = box.folder / "linked"
    shutil.copy(box.kaa, linked)
    os.link(linked, box.folder / "other")
    mounted = box.folder / "mounted"
    mounted.mkdir()
    copy = f"mount -t tmpfs -o nosuid,mode=755 none {mounted} && cp {box.kaa} {mounted}/kaa"
    for why, file, first in (("hard links", linked, "true"), ("nosuid", mounted / "kaa", copy)):
        result = box.shell(f"{first}; {file} doctor --fix; echo; {file} doctor --fix=run; echo status $?", user="root")
        assert why in " ".join(result.stdout.split()) and "setcap" not in result.stdout, result
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        if paranoid <= 2:
            assert "status 1" in result.stdout and "there is nothing to run" in result.stderr
            assert "sysctl" not in result.stdout


def test_the_setting_where_nothing_else_helps(box):
    """Users may record nothing, and the file cannot have capabilities. The setting is a file that only this test sees."""
    setting = box.folder / "perf_event_paranoid"
    setting.write_text("4\n")
    hide = f"mount --bind {setting} /proc/sys/kernel/perf_event_paranoid"
    mount = f"mount -t tmpfs -o nosuid,mode=755 none /mnt && cp {box.kaa} /mnt/kaa"
    text = box.shell(f"set -e; {hide}; {mount}; /mnt/kaa doctor --fix", user="root").stdout
    assert commands_after(text, "Root sets it with") == ["sysctl kernel.perf_event_paranoid=2"]
    assert commands_after(text, "To undo it") == ["sysctl kernel.perf_event_paranoid=4"]
    assert setting.read_text() == "4\n"
    if not any(os.path.exists(f"{folder}/sysctl") for folder in ("/usr/sbin", "/sbin", "/usr/bin")):
        pytest.skip("no sysctl: it is in the package procps")
    text = box.shell(f"set -e; {hide}; {mount}; /mnt/kaa doctor --fix=run", user="root").stdout
    assert "ok    sysctl kernel.perf_event_paranoid=2" in text
    assert setting.read_text() == "2\n"


def test_where_the_container_forbids_them(box):
    """A file with a capability that the bounding set lacks cannot be started: it gets none."""
    before = state(box)
    result = box.shell(f"setpriv --bounding-set -bpf {box.kaa} doctor --fix=run", user="root", status=1)
    assert "This container forbids CAP_BPF" in " ".join(result.stdout.split()) and "setcap" not in result.stdout
    assert state(box) == before


@pytest.mark.parametrize("name", ["", "a b", "Kaa;id", "-r", "x" * 33, "$(id)", "root:x"])
def test_names_that_are_no_group(kaa, name):
    said = kaa("doctor", "--fix", f"--group={name}", status=129).stderr
    assert f"'{name}' is not a name for a group" in said


def test_words_that_do_not_go_together(kaa):
    assert "--group needs --fix" in kaa("doctor", "--group", "kaa", status=129).stderr
    assert "name no Python with it" in kaa("doctor", "--fix", "python3", status=129).stderr
    assert "'maybe' is neither show nor run" in kaa("doctor", "--fix=maybe", status=129).stderr


def test_a_path_is_one_word_of_the_shell(box):
    """What is printed can be typed, whatever the folder is called."""
    folder = box.folder / "it's; $(touch pwned) here"
    folder.mkdir()
    shutil.copy(box.kaa, folder / "kaa")
    text = subprocess.run([folder / "kaa", "doctor", "--fix"], capture_output=True, text=True, check=True).stdout
    as_root(box, commands_after(text, "Root gives them with"))
    assert "cap_perfmon" in run(["getcap", folder / "kaa"]).stdout
    assert not list(box.folder.glob("**/pwned"))
