# SPDX-License-Identifier: GPL-2.0-only
"""A thread forks, and its child is a process whose first thread runs on another thread's stack; so does that child's child.

Prints the functions that work, each with its process, the name of its thread, and the functions above it.
"""
import json
import os
import sys
import threading
import time


def burn(name):
    stack, frame = [], sys._getframe(1)
    while frame:
        stack.append(frame.f_code.co_name)
        frame = frame.f_back
    line = json.dumps([name, os.getpid(), threading.current_thread().name, stack])
    os.write(1, line.encode() + b"\n")
    end = time.process_time() + 0.4
    while time.process_time() < end:
        sum(range(500))


def in_parent():
    burn("in_parent")


def in_child():
    burn("in_child")


def in_thread_of_child():
    burn("in_thread_of_child")


def in_grandchild():
    burn("in_grandchild")


def forked(work):
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    os.waitpid(pid, 0)


def in_another_thread(work, name):
    thread = threading.Thread(target=work, name=name)
    thread.start()
    thread.join()


def child():
    in_child()
    in_another_thread(in_thread_of_child, "of child")
    forked(in_grandchild)


in_parent()
in_another_thread(lambda: forked(child), "forker")
