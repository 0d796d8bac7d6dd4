# SPDX-License-Identifier: GPL-2.0-only
"""Threads with names of all kinds, which hold still; then what each is called, as threading has it.

    named_threads.py [few | HOSTILITY]   a line of JSON: [ident, native_id, name] of each thread; runs until its input ends

HOSTILITY, a function below, changes what a reader of the process's memory comes by.
"""
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import native_ids  # noqa: F401

MANY = 200
done = threading.Event()


class Slotted(threading.Thread):
    __slots__ = ("slot",)


class Computing(threading.Thread):
    @property
    def name(self):
        return "computed"

    @name.setter
    def name(self, value):
        self._name = value


def start(kind=threading.Thread, **options):
    thread = kind(target=done.wait, daemon=True, **options)
    thread.start()
    return thread


def few():
    """As start_all(), for a small image of the memory."""


def start_all():
    for name in ["worker", "caf\xe9", "\u65e5\u672c", "\U0001f40d snake", "x" * 200, "", "a b\tc", None]:
        start(name=name)
    start(name="before").name = "after"
    start(Slotted, name="slotted")
    start(Computing, name="computing")
    # Attributes that instances of the class do not share, and a dict of its own.
    for i in range(3 if "few" in sys.argv else 40):
        setattr(start(name=f"with more {i}"), f"attribute_{i}", i)
    start(name="asked for its dict").__dict__["other"] = 1
    for i in range(0 if "few" in sys.argv else MANY):
        start(name=f"one of many {i}")
    pool = ThreadPoolExecutor(2, thread_name_prefix="pool")
    pool.submit(done.wait)
    pool.submit(done.wait)
    # Entries that were deleted, in a table that has grown.
    gone = [threading.Thread(target=int) for _ in range(20 if "few" in sys.argv else 100)]
    for thread in gone:
        thread.start()
    for thread in gone:
        thread.join()


# --- what a hostile or strange program does ---

def active_is_none():
    threading._active = None


def active_is_a_list():
    threading._active = [1, 2, 3]


def active_is_another_dict():
    class Other(dict):
        pass
    threading._active = Other(threading._active)


def active_has_strings():
    threading._active = {str(key): value for key, value in threading._active.items()}


def active_has_other_things():
    threading._active = dict(zip(threading._active, [1, "two", 3.0, [], {}, threading, object(), int, None, ()] * 100))


def active_has_itself():
    for key in list(threading._active):
        threading._active[key] = threading._active


def active_is_huge():
    threading._active = {i: thread for i in range(300000) for thread in [threading.current_thread()]}


def names_are_no_texts():
    for i, thread in enumerate(threading.enumerate()):
        thread._name = [None, 5, b"bytes", ["list"], thread, type("Text", (str,), {})("a text of another type")][i % 6]


def numbers_are_no_numbers():
    for i, thread in enumerate(threading.enumerate()):
        thread._native_id = [None, "5", 5.0, 1 << 90, True, -3][i % 6]


def names_are_long():
    for thread in threading.enumerate():
        thread._name = "\U0001f40d" * 1000000


def module_is_a_number():
    sys.modules["threading"] = 3


def module_is_gone():
    del sys.modules["threading"]


def module_is_empty():
    threading.__dict__.clear()


def no_attributes():
    for thread in threading.enumerate():
        thread.__dict__.clear()


def main():
    start_all()
    told = [(thread.ident, thread.native_id, thread._name) for thread in threading.enumerate()]
    if len(sys.argv) > 1:
        globals()[sys.argv[1]]()
    print(json.dumps({"pid": os.getpid(), "threads": told}), flush=True)
    sys.stdin.read()
    os._exit(0)


main()
