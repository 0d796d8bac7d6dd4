# SPDX-License-Identifier: GPL-2.0-only
"""What parked.py does and tells, for CPython 2.7: threads that are parked at known places, and what they are."""
import ctypes
import json
import os
import sys
import threading
import time

SYS_GETTID = 186
STAY = threading.Event()
numbers_of = {}


class Shelf(object):
    """Attributes in a dict."""

    def __init__(self):
        self.width = 3
        self.label = "books"


class Words(list):
    pass


def note_number():
    numbers_of[threading.current_thread().ident] = ctypes.CDLL(None).syscall(SYS_GETTID)


def park():
    note_number()
    STAY.wait()


def numbers(first, second=2, *rest, **others):
    zero, small, negative, large = 0, 12, -7, 2 ** 200 + 1
    negative_large, limit, digit, short, least = -(10 ** 60), 2 ** 60, 2 ** 30, 5L, -2 ** 63
    yes, no, none, dots = True, False, None, Ellipsis
    pi, whole, tiny, huge, infinite, minus = 3.14159, 2.0, 1.5e-07, 1e300, float("inf"), -0.1
    sixteen, seventeen, third = 1e15, 1e16, 1 / 3.0
    park()


def texts():
    empty, plain, quote, both = "", "plain", "it's", "'\""
    lines, back, high = "a\nb\tc\r", "\\", "\xff\x80~"
    wide = u"plain"
    long_text = "x" * 500
    park()


def containers(shelf):
    nothing, one, some = (), (1,), [1, "two", 3.0, None, u"four"]
    mapping, group, frozen = {"a": [1, (2,)]}, {3}, frozenset([4])
    left = {5, 6}
    left.discard(6)
    no_mapping, no_group = {}, set()
    many, words = list(range(1000)), Words(["w"])
    crowd = dict.fromkeys(range(140000))
    kind = Shelf
    cell = "in a cell"

    def inner():
        return cell

    park()
    return inner, shelf


class OldStyle:
    def method(self):
        park()


def generate():
    value = 5
    park()
    yield value


THREADS = [("numbers \xc3\xbc", lambda: numbers(1, 2, 3, 4, key="k")), ("texts", texts),
           ("containers", lambda: containers(Shelf())), ("old style", lambda: OldStyle().method()),
           ("generator", lambda: list(generate()))]


def describe(frame):
    """[name, file, line, arguments, other variables], innermost first."""
    while frame:
        code = frame.f_code
        count = code.co_argcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        yield [code.co_name, code.co_filename, frame.f_lineno, list(code.co_varnames[:count]),
               {} if code.co_name == "<module>" else {name: repr(value) for name, value in frame.f_locals.items()}]
        frame = frame.f_back


def is_parked(tid):
    """It sleeps, for good."""
    with open("/proc/self/task/%d/stat" % tid) as stream:
        return stream.read().rpartition(")")[2].split()[0] == "S"


def tell():
    note_number()
    mine = threading.current_thread().ident
    threads = {thread.ident: thread for thread in threading.enumerate()}
    for _ in range(20):
        while not all(is_parked(number) for ident, number in numbers_of.items() if ident != mine):
            time.sleep(0.01)
        time.sleep(0.005)
    told = [{"ident": ident, "tid": numbers_of[ident], "name": threads[ident].name, "frames": list(describe(frame))}
            for ident, frame in sys._current_frames().items() if ident != mine]
    print(json.dumps({"pid": os.getpid(), "threads": told, "teller": numbers_of[mine]}))
    sys.stdout.flush()
    STAY.wait()


def start(target, name):
    thread = threading.Thread(target=target, name=name)
    thread.daemon = True
    thread.start()


def main():
    note_number()
    for name, work in THREADS:
        start(work, name)
    while len(numbers_of) < 1 + len(THREADS):
        time.sleep(0.01)
    start(tell, "teller")
    sys.stdin.read(1)
    os._exit(0)


main()
