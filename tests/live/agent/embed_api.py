# SPDX-License-Identifier: GPL-2.0-only
"""Uses the C API for embedders through ctypes; prints as JSON what came of it.   python3 embed_api.py LIBRARY"""
import ctypes
import errno
import json
import os
import sys

library = ctypes.PyDLL(sys.argv[1], use_errno=True)
library.kaa_write_perf_map_entry.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
library.kaa_copy_perf_map_file.argtypes = [ctypes.c_char_p]
library.kaa_perf_trampoline_compile_code.argtypes = [ctypes.py_object]
library.kaa_perf_map_state_fini.restype = None
write = library.kaa_write_perf_map_entry
out = {}


def result(value):
    return [value, errno.errorcode.get(ctypes.get_errno()) if value else None]


def path(pid=None):
    return "/tmp/perf-%d.map" % (pid or os.getpid())


def read(pid=None):
    with open(path(pid), encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def refused():
    """What has the map's name is a link: nothing is written to what it leads to."""
    os.rename(path(), path() + ".aside")
    os.symlink(path() + ".victim", path())
    answer = result(library.kaa_perf_map_state_init())
    answer.append(os.path.exists(path() + ".victim"))
    os.unlink(path())
    os.rename(path() + ".aside", path())
    return answer


def never_called():
    pass


def child(pipe):
    copied = library.kaa_copy_perf_map_file(path(os.getppid()).encode())
    written = write(0x7000, 7, b"child")
    os.write(pipe, json.dumps([copied, written, read()]).encode())
    os.close(pipe)
    os._exit(0)


def fork():
    receive, send = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(receive)
        child(send)
    os.close(send)
    with os.fdopen(receive) as file:
        answer = json.load(file)
    os.waitpid(pid, 0)
    os.unlink(path(pid))
    return answer


def compile_code(code):
    try:
        return library.kaa_perf_trampoline_compile_code(code)
    except TypeError as error:
        return str(error)


out["init"] = result(library.kaa_perf_map_state_init())
out["mode"] = oct(os.stat(path()).st_mode)
before = read()
out["write"] = [write(0x1234, 5678, b"entry1"), write(0x3456, 1 << 33, b"big"), write(0, 0, b""),
                write(0x10, 1, b"a\nb\tc\x1b\x7f" + "naïve".encode("utf-8")), write(0x10, 1, b"x" * 100000)]
out["null"] = result(write(0x10, 1, None))
out["lines"] = read()[len(before):].splitlines()
library.kaa_perf_map_state_fini()
library.kaa_perf_map_state_fini()
out["refused"] = refused()
out["again"] = [write(0x99, 1, b"again"), read().splitlines()[-1]]
out["fork"] = fork()
out["parent"] = read()
out["missing"] = result(library.kaa_copy_perf_map_file(b"/tmp/perf-0.map.missing"))
out["folder"] = result(library.kaa_copy_perf_map_file(b"/tmp"))
out["inactive"] = [compile_code(never_called.__code__), "never_called" in read()]
out["no code"] = compile_code("never_called")
if hasattr(sys, "activate_stack_trampoline"):
    sys.activate_stack_trampoline("perf")
    out["active"] = [compile_code(never_called.__code__), read().count("py::never_called:"), compile_code(never_called.__code__)]
    never_called()
    out["once"] = read().count("py::never_called:")
    out["persist"] = [library.kaa_perf_trampoline_set_persist_after_fork(value) for value in (1, 7, 0)]
print(json.dumps(out))
