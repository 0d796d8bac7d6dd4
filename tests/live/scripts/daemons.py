# SPDX-License-Identifier: GPL-2.0-only
"""Daemon threads that wait when the program ends, in the ordinary way or by a signal: daemons.py [SIGNAL].

Once they have all waited for three seconds, and the recorder has been at its rings often since, it prints JSON: the stack of
each as Python has it, outermost frame first, with the thread's number. One thread is then woken, and waits elsewhere: `moved`
is when, by CLOCK_MONOTONIC."""
import json
import os
import socket
import sys
import threading
import time

import native_ids  # noqa: F401
import noticed

LONG = 3
FOREVER = 100000


def in_condition():
    condition = threading.Condition()
    with condition:
        condition.wait()


def in_accept():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        listener.accept()


def in_sleep():
    time.sleep(FOREVER)


def before():
    woken.wait()


def after():
    moved.append(time.monotonic())
    time.sleep(FOREVER)


def in_two():
    before()
    after()


def switches(thread):
    """How often it has lost its CPU, if it sleeps."""
    with open("/proc/self/task/%d/status" % thread.native_id) as status:
        fields = dict(line.split(":", 1) for line in status)
    if fields["State"].split()[0] != "S":
        return None
    return fields["voluntary_ctxt_switches"], fields["nonvoluntary_ctxt_switches"]


def all_have_waited():
    """Without the GIL nobody who wants it sleeps for so long."""
    was = [switches(thread) for thread in threads]
    time.sleep(LONG)
    return None not in was and was == [switches(thread) for thread in threads]


def stack_of(thread):
    frame, stack = sys._current_frames()[thread.ident], []
    while frame:
        stack.insert(0, (frame.f_code.co_name, frame.f_lineno))
        frame = frame.f_back
    return thread.native_id, stack


def main():
    while not all_have_waited():
        pass
    for _ in range(5):
        noticed.until_noticed(os.environ["KAA_TEST_RECORDING"])
    told = {thread.name: stack_of(thread) for thread in threads}
    woken.set()
    while not moved:
        time.sleep(0.001)
    print(json.dumps({"threads": told, "moved": moved[0]}), flush=True)
    if sys.argv[1:]:
        os.kill(os.getpid(), int(sys.argv[1]))


woken, moved = threading.Event(), []
threads = [threading.Thread(target=function, name=function.__name__, daemon=True)
           for function in (in_condition, in_accept, in_sleep, in_two)]
for thread in threads:
    thread.start()
main()
