# SPDX-License-Identifier: GPL-2.0-only
"""Threads that run code in interpreters which another thread has made, and run Python code themselves meanwhile."""
import sys
import threading
import time
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SECONDS = float(sys.argv[1])
CODE = """
import time
def inside_%s():
    end = time.thread_time() + %f
    while time.thread_time() < end:
        sum(range(500))
inside_%s()
"""


def runs_one(interpreter):
    interpreters.run_string(interpreter, CODE % ("one", SECONDS, "one"))


def runs_two(interpreter):
    interpreters.run_string(interpreter, CODE % ("two", SECONDS, "two"))


def maker():
    end = time.thread_time() + SECONDS
    while time.thread_time() < end:
        sum(range(500))


made = [interpreters.create(), interpreters.create()]
threads = [threading.Thread(target=run, args=(int(interpreter),)) for run, interpreter in zip((runs_one, runs_two), made)]
for thread in threads:
    thread.start()
maker()
for thread in threads:
    thread.join()
