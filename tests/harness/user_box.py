# SPDX-License-Identifier: GPL-2.0-only
"""A user who may use sudo and doas, and su for root, on a copy of /etc that only the programs of a UserBox see.

Needs root. Nothing of the machine is changed: the copy is mounted over /etc in a mount namespace of each program's own.
The user's name is ann; ann's home and root's are in the box too.
"""
import os
import pathlib
import shutil

from harness.agent import find_library
from harness.process import run

UID = 4242
SUDOERS = """Defaults env_reset
Defaults use_pty
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
ann ALL=(ALL:ALL) NOPASSWD:SETENV: ALL
"""
# What a shell has, where it is opened.
ENVIRON = {"SHELL": "/bin/bash", "PATH": "/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8"}
# On a terminal of its own, to the last byte that is written there.
ON_TERMINAL = ["/usr/bin/python3", "-c",
               "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"]
ENTER = 'mount --bind "$1" /etc && shift && exec "$@"'


def public_copy(kaa, folder):
    """A copy of kaa, with its agent, that every user may run."""
    shutil.copy(kaa.command[-1], folder / "kaa")
    (folder / "kaa").chmod(0o755)
    agent = folder / "src" / "agent" / "libkaa_agent.so"
    agent.parent.mkdir(parents=True)
    shutil.copy(find_library(pathlib.Path(kaa.command[-1]).parent), agent)
    return folder / "kaa"


def home_of(folder, uid):
    folder.mkdir()
    os.chown(folder, uid, uid)
    return folder


def write(path, text, mode=0o644):
    path.write_text(text)
    path.chmod(mode)
    return path


def change_passwd(etc, homes):
    lines = [line.split(":") for line in (etc / "passwd").read_text().splitlines()]
    for words in lines:
        if words[0] == "root":
            words[5:] = [str(homes["root"]), "/bin/bash"]
    lines.append(["ann", "x", str(UID), str(UID), "", str(homes["ann"]), "/bin/bash"])
    (etc / "passwd").write_text("".join(":".join(words) + "\n" for words in lines))


class UserBox:
    def __init__(self, folder):
        folder.chmod(0o755)
        self.folder, self.etc = folder, folder / "etc"
        self.homes = {"ann": home_of(folder / "ann", UID), "root": home_of(folder / "root", 0)}
        run(["cp", "-a", "/etc", self.etc])
        change_passwd(self.etc, self.homes)
        for name, line in ("shadow", "ann:*:19000:0:99999:7:::\n"), ("group", f"ann:x:{UID}:\n"):
            with open(self.etc / name, "a") as file:
                file.write(line)
        self.rules(SUDOERS)
        write(self.etc / "doas.conf", "permit nopass ann\n", 0o400)

    def rules(self, text):
        """The whole of sudo's rules."""
        (self.etc / "sudoers").unlink(missing_ok=True)
        write(self.etc / "sudoers", text, 0o440)

    def shell(self, text, user="ann", terminal=False, **options):
        """Result of lines that the user types in a shell; what they export is younger than that shell."""
        home = self.homes[user]
        words = ["/usr/bin/unshare", "--mount", "sh", "-c", ENTER, "sh", self.etc]
        if user != "root":
            words += ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--init-groups"]
        # The second line keeps the shell from becoming its last command.
        inner = ["bash", "-c", f"{text}\nexit $?"]
        if terminal:
            inner = [*ON_TERMINAL, *inner]
        env = {**ENVIRON, "HOME": str(home), "USER": user, "LOGNAME": user}
        return run([*words, *inner], env=env, cwd=home, **options)
