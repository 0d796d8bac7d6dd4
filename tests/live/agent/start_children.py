# SPDX-License-Identifier: GPL-2.0-only
"""Starts Pythons in every way that a Python can; each says `way pid` and runs a function called ran_by_<way>.

Runs on CPython 3.6 and later. start_children.py FOLDER: for scripts.
"""
import multiprocessing
import os
import subprocess
import sys

CODE = """
import os
def ran_by_{0}():
    os.write(1, b"{0} %d\\n" % os.getpid())
ran_by_{0}()
"""


def code(way):
    return ["-c", CODE.format(way)]


def script(folder, way, line):
    path = os.path.join(folder, way)
    with open(path, "w") as stream:
        stream.write(line + CODE.format(way))
    os.chmod(path, 0o755)
    return path


def say(way):
    os.write(1, ("%s %d\n" % (way, os.getpid())).encode())


# multiprocessing finds them by name.
def ran_by_mp_fork():
    say("mp_fork")


def ran_by_mp_spawn():
    say("mp_spawn")


def ran_by_mp_forkserver():
    say("mp_forkserver")


def ran_by_pool(_):
    say("pool")


def by_multiprocessing():
    for method in ("fork", "spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=globals()["ran_by_mp_" + method])
        process.start()
        process.join()
        assert process.exitcode == 0, (method, process.exitcode)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.map(ran_by_pool, [0])


def by_subprocess(folder):
    me = sys.executable
    run = subprocess.check_call
    run([me] + code("list"))
    run([me, "-S"] + code("no_site"))
    run([me, "-I"] + code("isolated"))
    run([me, "-E", "-B"] + code("no_environment"))
    run([me] + code("empty_environment"), env={})
    run([me] + code("other_environment"), env={"LD_PRELOAD": "libm.so.6", "A": "b"})
    run([me] + code("preexec"), preexec_fn=os.getpid)
    run([me] + code("close_fds"), close_fds=True, start_new_session=True, cwd="/")
    run("'%s' -c '%s'" % (me, CODE.format("shell")), shell=True)
    run("exec -a other '%s' -c '%s'" % (me, CODE.format("exec_a")), shell=True, executable="/bin/bash")
    run([me] + code("argv0"), executable=me)
    run(["env", "-i", me] + code("env_i"))
    run([script(folder, "script", "#!%s -I\n" % me)])
    run([script(folder, "env_script", "#!/usr/bin/env -S %s\n" % me)])
    run(["sh", "-c", script(folder, "shell_script", "#!%s\n" % me)])


def in_a_fork(function, *args):
    pid = os.fork()
    if not pid:
        try:
            function(*args)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0, function


def by_os():
    me = sys.executable
    words = lambda way: [me] + code(way)
    in_a_fork(os.execv, me, words("execv"))
    in_a_fork(os.execve, me, words("execve"), {"A": "b"})
    in_a_fork(os.execvp, "python-by-path", words("execvp"))
    in_a_fork(os.execvpe, "python-by-path", words("execvpe"), {"PATH": os.environ["PATH"]})
    in_a_fork(os.execl, me, *words("execl"))
    fd = os.open(me, os.O_RDONLY)
    os.set_inheritable(fd, True)
    in_a_fork(os.execve, fd, words("fexecve"), {"PYTHONHOME": sys.base_prefix})
    os.close(fd)
    assert os.spawnv(os.P_WAIT, me, words("spawnv")) == 0
    assert os.system("'%s' -c '%s'" % (me, CODE.format("system"))) == 0
    with os.popen("'%s' -c '%s'" % (me, CODE.format("popen"))) as stream:
        os.write(1, stream.read().encode())
    if hasattr(os, "posix_spawn"):
        os.waitpid(os.posix_spawn(me, words("posix_spawn"), os.environ), 0)
        os.waitpid(os.posix_spawnp("python-by-path", words("posix_spawnp"), {"A": "b"}), 0)


def ran_by_fork():
    say("fork")
    os._exit(0)


if __name__ == "__main__":
    folder = sys.argv[1]
    os.symlink(sys.executable, os.path.join(folder, "python-by-path"))
    os.environ["PATH"] = folder + ":" + os.environ["PATH"]
    by_multiprocessing()
    by_subprocess(folder)
    in_a_fork(ran_by_fork)
    by_os()
