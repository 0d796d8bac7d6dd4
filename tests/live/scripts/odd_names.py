# SPDX-License-Identifier: GPL-2.0-only
"""Work in functions, files and threads with names that readers of script output may stumble over.

odd_names.py SECONDS: of processor time for each function.
"""
import ctypes
import sys
import threading
import time

SECONDS = float(sys.argv[1])
PR_SET_NAME = 15


def spin():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        sum(range(1000))


class Odd:
    def method(self):
        spin()


anonymous = lambda: spin()  # noqa: E731
exec(compile("def odd():\n    spin()\n", "/tmp/odd name; (x) 'q'.py", "exec"))


def work(name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, name, 0, 0, 0)
    Odd().method()
    anonymous()
    odd()  # noqa: F821
    touched = bytearray(1 << 22)
    touched[::4096] = b"x" * 1024


for thread_name in (b"two words", b"a (b) c"):
    thread = threading.Thread(target=work, args=(thread_name,))
    thread.start()
    thread.join()
