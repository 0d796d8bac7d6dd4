# SPDX-License-Identifier: GPL-2.0-only
"""The command under sudo, doas and su: by the Python, and in the environment, that the same words have without kaa.

Each test types a line twice: with `kaa record` in it and without. What the program says of itself is to be the same.
"""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from harness.process import HANG
from harness.user_box import SUDOERS, UID, UserBox, public_copy, write

pytestmark = pytest.mark.usefixtures("bpf")

TELL = """
import json, os, sys
try:
    import only_in_venv as module
except ImportError:
    module = None
print("told", json.dumps([os.getuid(), sys.prefix, sys.executable, module and module.__name__, dict(os.environ)]))
"""
# The shim, and what it leads to, as pyenv has them.
SHIM = """#!/usr/bin/env bash
export PYENV_ROOT=PLACE
exec "$PYENV_ROOT/libexec/pyenv" exec "${0##*/}" "$@"
"""
PYENV = """#!/usr/bin/env bash
shift
program=$1
shift
export PYENV_VERSION=${PYENV_VERSION:-$(cat "$PYENV_ROOT/version")}
export PATH=$PYENV_ROOT/versions/$PYENV_VERSION/bin:$PATH
exec "$PYENV_ROOT/versions/$PYENV_VERSION/bin/$program" "$@"
"""


def make_venv(path):
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", path], check=True, timeout=HANG)
    [packages] = path.glob("lib/python3*/site-packages")
    (packages / "only_in_venv.py").write_text("")
    return path


def make_pyenv(root):
    (root / "shims").mkdir(parents=True)
    (root / "libexec").mkdir()
    write(root / "shims" / "python3", SHIM.replace("PLACE", str(root)), 0o755)
    write(root / "libexec" / "pyenv", PYENV, 0o755)
    write(root / "version", "3.98\n")
    for version in "3.98", "3.99":
        make_venv(root / "versions" / version)
    return root


@pytest.fixture(scope="module")
def box(root, kaa):
    if not shutil.which("sudo"):
        pytest.skip("needs sudo; run 'tests/tools/deps check'")
    with tempfile.TemporaryDirectory(prefix="kaa-sudo-") as name:
        box = UserBox(pathlib.Path(name))
        box.kaa = public_copy(kaa, box.folder)
        box.venv, box.other = make_venv(box.folder / "venv"), make_venv(box.folder / "other")
        box.pyenv = make_pyenv(box.folder / "pyenv")
        box.data = box.folder / "data" / "perf.data"
        box.data.parent.mkdir()
        box.data.parent.chmod(0o777)
        box.tell = write(box.folder / "tell.py", TELL)
        # A login shell of root searches a folder of its own.
        write(box.homes["root"] / ".bash_profile", f"PATH={box.other}/bin:/usr/bin:/bin\n")
        yield box


@pytest.fixture
def doas(box):
    if not shutil.which("doas"):
        pytest.skip("needs doas; run 'tests/tools/deps check'")


class Told:
    """What the program said of itself, and what kaa said."""

    def __init__(self, result):
        line = re.search(r"^told (.*?)\r?$", result.stdout, re.M)
        assert line, result
        self.uid, self.prefix, self.executable, self.module, self.environ = json.loads(line[1])
        # bash sets that to the path of what it runs.
        self.environ.pop("_", None)
        self.running = re.findall(r"running '(.*?)'; in the shell before \w+ '(.*?)' is '(.*?)'",
                                  result.stderr + result.stdout)


def type_line(box, line, activate="", **options):
    """Told by the line; KAA in it is `kaa record`, PROGRAM the program of which is asked."""
    for path in box.data.parent.iterdir():
        path.unlink()
    line = line.replace("KAA", f"{box.kaa} record -o {box.data}").replace("PROGRAM", f"python3 {box.tell}")
    return Told(box.shell(f"{activate}\n{line}", **options))


def activated(box):
    return f". {box.venv}/bin/activate; export LD_LIBRARY_PATH=/nowhere PYTHONPATH=/nowhere ODD='a b'"


def in_pyenv(box, version=""):
    return f"export PATH={box.pyenv}/shims:$PATH {version}"


# --- typed in the shell before sudo ---

@pytest.mark.parametrize("sudo, plain", [
    ("sudo", ""), ("sudo -E", ""), ("sudo -n -u root -g root", ""), ("sudo --", ""), ("sudo nice -n 1 timeout 600", ""),
    ("sudo -nu root taskset -c 0 chrt -o 0 ionice -c2 -n 7 stdbuf -oL setsid -w", ""),
    ("sudo FOO=1", "FOO=1"), ("sudo env FOO='a b' BAR=", "FOO='a b' BAR="), ("FOO=1 sudo", "FOO=1")])
def test_environment_of_the_shell(box, sudo, plain):
    """All of it: the virtual environment that was activated in it, what sudo removes, what sudo's own words set."""
    expected = type_line(box, f"{plain} PROGRAM", activated(box))
    assert (expected.prefix, expected.module) == (str(box.venv), "only_in_venv")
    told = type_line(box, f"{sudo} KAA PROGRAM", activated(box))
    assert vars(told) == vars(expected)


@pytest.mark.parametrize("rules", [
    SUDOERS, SUDOERS.replace("Defaults use_pty\n", ""), SUDOERS.replace("env_reset", "!env_reset"),
    re.sub("Defaults secure_path.*\n", "", SUDOERS)], ids=["debian", "no-pty", "no-reset", "no-secure-path"])
@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_rules_of_sudo(box, rules, terminal):
    box.rules(rules)
    try:
        expected = type_line(box, "PROGRAM", activated(box), terminal=terminal)
        told = type_line(box, "sudo KAA PROGRAM", activated(box), terminal=terminal)
    finally:
        box.rules(SUDOERS)
    assert expected.module and vars(told) == vars(expected)


@pytest.mark.parametrize("version", ["", "PYENV_VERSION=3.99"])
def test_pyenv(box, version):
    expected = type_line(box, "PROGRAM", in_pyenv(box, version))
    assert expected.prefix == f"{box.pyenv}/versions/{'3.99' if version else '3.98'}"
    told = type_line(box, "sudo KAA PROGRAM", in_pyenv(box, version))
    assert vars(told) == vars(expected)


@pytest.mark.parametrize("line, plain", [("doas KAA PROGRAM", "PROGRAM"),
                                         ("doas env FOO=1 KAA PROGRAM", "FOO=1 PROGRAM")])
@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_doas(box, doas, line, plain, terminal):
    expected = type_line(box, plain, activated(box), terminal=terminal)
    told = type_line(box, line, activated(box), terminal=terminal)
    assert expected.uid == UID and expected.module and vars(told) == vars(expected)
    assert box.data.stat().st_uid == UID


def test_sudo_of_root(box):
    """Whoever is root already types sudo by habit."""
    expected = type_line(box, "PROGRAM", activated(box), user="root")
    told = type_line(box, "sudo KAA PROGRAM", activated(box), user="root")
    assert (expected.uid, expected.module) == (0, "only_in_venv") and vars(told) == vars(expected)


# --- another PATH on purpose ---

@pytest.mark.parametrize("tool", ["sudo PATH=PLACE", "sudo env PATH=PLACE", "sudo -E env PATH=PLACE FOO=1",
                                  "doas env PATH=PLACE"])
@pytest.mark.parametrize("place", ["other", "system"])
def test_explicit_path(box, request, tool, place):
    """It is obeyed, and one line says what is run, since the shell has another python3."""
    if tool.startswith("doas"):
        request.getfixturevalue("doas")
    path = f"{box.other}/bin:/usr/bin" if place == "other" else "/usr/bin:/bin"
    told = type_line(box, tool.replace("PLACE", path) + " KAA PROGRAM", activated(box))
    assert told.uid == UID and told.environ["PATH"] == path
    assert told.prefix == (str(box.other) if place == "other" else "/usr")
    assert told.running == [(told.executable, "python3", f"{box.venv}/bin/python3")]


def test_explicit_path_with_the_same_python(box):
    told = type_line(box, f"sudo env PATH=/nowhere:{box.venv}/bin:/usr/bin KAA PROGRAM", activated(box))
    assert told.prefix == str(box.venv) and told.running == []


@pytest.mark.parametrize("mode", [0o644, 0o755], ids=["script", "command"])
@pytest.mark.parametrize("tool", ["sudo", "sudo env PATH=PLACE"])
def test_python_of_a_first_line(box, mode, tool):
    """env finds it: the line names that Python, not env, and only if the shell has another."""
    script = write(box.folder / "first_line.py", "#!/usr/bin/env python3\n" + TELL, mode)
    told = type_line(box, tool.replace("PLACE", f"{box.other}/bin:/usr/bin") + f" KAA {script}", activated(box))
    other = told.executable, "python3", f"{box.venv}/bin/python3"
    assert told.prefix == str(box.venv if tool == "sudo" else box.other)
    assert told.running == ([] if tool == "sudo" else [other])


# --- typed behind sudo ---

@pytest.mark.parametrize("line", [
    "sudo sh -c 'KAA PROGRAM'", "sudo sh -c 'PATH=OTHER/bin:/usr/bin KAA PROGRAM; :'",
    "sudo bash -c 'PATH=OTHER/bin KAA PROGRAM'",
    "sudo -s KAA PROGRAM", "sudo -i KAA PROGRAM", "sudo -i sh -c 'KAA PROGRAM'", "sudo su root -c 'KAA PROGRAM'",
    "sudo SCRIPT", "sudo WRAP KAA PROGRAM", "sudo nice WRAP KAA PROGRAM",
    "sudo -u root timeout -s INT 600 WRAP nice KAA PROGRAM",
    "sudo env -u ODD KAA PROGRAM", "echo 'KAA PROGRAM' | sudo sh",
    "sudo sh -c 'sh -c \"KAA PROGRAM; :\"; :'"])
def test_behind_sudo(box, line):
    """The Python that this line has without kaa; if the shell before sudo has another, that is said."""
    write(box.folder / "wrap", f"#!/bin/sh\nPATH={box.other}/bin:/usr/bin\nexec \"$@\"\n", 0o755)
    line = line.replace("OTHER", str(box.other)).replace("WRAP", str(box.folder / "wrap"))

    def typed(kaa):
        script = f"#!/bin/sh\nexport PATH={box.other}/bin:/usr/bin\n{kaa} python3 {box.tell}\n"
        write(box.folder / "script", script, 0o755)
        words = line.replace("SCRIPT", str(box.folder / "script"))
        return type_line(box, words.replace("KAA", kaa), activated(box))

    expected, told = typed(""), typed(f"{box.kaa} record -o {box.data}")
    assert (told.prefix, told.executable) == (expected.prefix, expected.executable)
    assert told.environ["PATH"] == expected.environ["PATH"]
    assert told.prefix != str(box.venv)
    assert (expected.uid, told.uid) == (0, UID)
    assert told.running == [(told.executable, "python3", f"{box.venv}/bin/python3")]
    assert not [name for name in told.environ if name.startswith("SUDO_")]


@pytest.mark.parametrize("su", ["su root -c", "su - root -c", "su -c", "sudo su - root -c"])
def test_su(box, su):
    """Nothing is left of the user who was there before: the command is root's, and its environment su's."""
    expected = type_line(box, f"{su} 'PROGRAM'", activated(box), user="root")
    told = type_line(box, f"{su} 'KAA PROGRAM'", activated(box), user="root")
    assert told.uid == 0 and vars(told) == vars(expected)


# --- what is not known ---

def test_shell_that_is_not_known(box):
    """Nothing of sudo can be seen in a PID namespace: the login shell is asked for PATH, and that is said."""
    write(box.homes["ann"] / ".bash_profile", f"PATH={box.other}/bin:/usr/bin:/bin\n")
    line = f"sudo unshare --pid --fork --mount-proc {box.kaa} record python3 {box.tell}"
    result = box.shell(f"{activated(box)}\n{line}")
    (box.homes["ann"] / ".bash_profile").unlink()
    told = Told(result)
    assert told.uid == UID and told.prefix == str(box.other)
    assert f"running '{told.executable}': the PATH of the shell before sudo is not known" in result.stderr


@pytest.mark.parametrize("words", ["python3.99", "./no-such"])
def test_missing_command_under_sudo(box, words):
    result = box.shell(f"sudo {box.kaa} record {words}", status=127)
    assert f"'{words}': {'there is no such file' if '/' in words else 'command not found'}" in result.stderr


def test_script_of_the_user(box):
    """Found and read with the user's rights."""
    folder = box.homes["ann"] / "private"
    folder.mkdir()
    write(folder / "tell.py", TELL)
    result = box.shell(f"chmod 700 private; cd private; {activated(box)}; sudo {box.kaa} record tell.py")
    assert Told(result).prefix == str(box.venv)
    assert "running 'python3 tell.py', since 'tell.py' is not on the PATH" in result.stderr
    secret = box.homes["root"] / "tell.py"
    write(secret, TELL, 0o600)
    result = box.shell(f"sudo {box.kaa} record {secret}", status=126)
    assert f"'{secret}': cannot run the command: Permission denied" in result.stderr
