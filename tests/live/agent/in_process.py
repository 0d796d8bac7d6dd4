# SPDX-License-Identifier: GPL-2.0-only
"""What a program and its children can see of their environment, as one line of JSON; on stderr its pid.

The same with and without the agent. Runs on CPython 3.6 and later.

    in_process.py [COMMAND...]      COMMAND: children too, one at a time
"""
import ctypes
import json
import os
import subprocess
import sys

NAMES = ("LD_PRELOAD", "KAA_RUN", "KAA_TRAMPOLINE", "KAA_TRAMPOLINE_BACKEND", "KAA_TRAMPOLINE_DIR", "PYTHONPERFSUPPORT",
         "PATH", "MARKED")


def text(data):
    return data.decode("latin-1")


def by_getenv():
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    return {name: repr(getenv(name.encode())) for name in NAMES}


def environ_array():
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found = []
    while environ[len(found)]:
        found.append(text(environ[len(found)]))
    return found


def output(*words, **options):
    return text(subprocess.check_output(words, **options))


def spawned():
    read, write = os.pipe()
    pid = os.posix_spawn("/usr/bin/env", ["env"], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)])
    os.close(write)
    os.waitpid(pid, 0)
    with os.fdopen(read, "rb") as stream:
        return text(stream.read())


def by_system():
    sys.stdout.flush()
    return os.system("exit 3"), os.system("kill -9 $$"), os.system("test -z \"$LD_PRELOAD$KAA_RUN\"")


def children():
    """Programs that are no Python. /usr/bin/env is a launcher, printenv none."""
    yield "env", output("env")
    yield "printenv", output("printenv")
    yield "printenv with env", output("printenv", env={"A": "b"})
    yield "printenv without", output("printenv", "-0", env={"LC_ALL": "C"})
    yield "shell", output("env; printenv; cat /proc/self/environ", shell=True)
    yield "bash", output("bash", "-c", "export -p; set | grep -a ^LD_; env | sort")
    yield "close_fds", output("env", close_fds=False)
    yield "preexec_fn", output("env", preexec_fn=os.getpid)
    yield "system", by_system()
    yield "popen", os.popen("env").read()
    if hasattr(os, "posix_spawn"):
        yield "posix_spawn", spawned()


def inheritable():
    """Files that children get: none of the agent's."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:
            pass
    return found


def main():
    with open("/proc/self/environ", "rb") as stream:
        as_the_kernel = text(stream.read())
    with open("/proc/self/cmdline", "rb") as stream:
        cmdline = text(stream.read())
    seen = {
        "os.environ": sorted(os.environ.items()),
        "order": list(os.environ),
        "/proc/self/environ": as_the_kernel,
        "/proc/self/cmdline": cmdline,
        "getenv": by_getenv(),
        "environ": environ_array(),
        "argv": sys.argv,
        "orig_argv": getattr(sys, "orig_argv", None),
        "xoptions": sorted(sys._xoptions.items()),
        "flags": str(sys.flags),
        "path": sys.path,
        "modules": sorted(name for name in sys.modules if "kaa" in name),
        "inheritable": inheritable(),
        "children": dict(children()),
    }
    for word in sys.argv[1:]:
        done = subprocess.run([word], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        seen[word] = [done.returncode, text(done.stdout)]
    print(json.dumps(seen))
    sys.stderr.write("%d\n" % os.getpid())


if __name__ == "__main__":
    main()
