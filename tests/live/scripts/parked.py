# SPDX-License-Identifier: GPL-2.0-only
"""Threads that are parked at known places, and what they are: one line of JSON on standard output.

The main thread waits for a byte on standard input, then the program ends.
"""
import enum
import json
import os
import sys
import threading
import time

import native_ids  # noqa: F401

# Of a value that is written down.
LONG = 10000
READY = threading.Barrier(4)
STAY = threading.Event()


class Shelf:
    """Attributes in a dict."""

    def __init__(self):
        self.width = 3
        self.label = "books"

    def turn(self):
        pass


class Slots:
    __slots__ = ("one",)

    def __init__(self):
        self.one = 1


class Colour(enum.IntEnum):
    RED = 7


class Words(list):
    pass


class Bag(set):
    pass


class Fixed(frozenset):
    pass


class Length(float):
    pass


def park():
    READY.wait()
    STAY.wait()


def numbers(first, second=2, *rest, key=None, **others):
    zero, small, negative, large = 0, 12, -7, 2 ** 200 + 1
    negative_large, limit, digit = -(10 ** 60), 2 ** 60, 2 ** 30
    yes, no, none, dots = True, False, None, ...
    pi, whole, tiny, huge, infinite, minus = 3.14159, 2.0, 1.5e-07, 1e300, float("inf"), -0.1
    sixteen, seventeen, third = 1e15, 1e16, 1 / 3
    colour = Colour.RED
    park()
    return (zero, small, negative, large, negative_large, limit, digit, yes, no, none, dots, pi, whole, tiny, huge,
            infinite, minus, sixteen, seventeen, third, colour)


def texts():
    empty, plain, quote, both = "", "plain", "it's", "'\""
    lines, back, latin, wide, astral = "a\nb\tc\r", "\\", "caf\xe9", "\u4f60\u597d", "\U0001f40d!"
    raw, raw_quote, raw_high = b"raw\x00", b"'", b"\xff\x80~"
    control = "\x1b[31m\x7f"
    long_text = "x" * 5000
    park()
    return (empty, plain, quote, both, lines, back, latin, wide, astral, raw, raw_quote, raw_high, control, long_text)


def containers(shelf):
    nothing, one, pair, nested = (), (1,), (1, "b"), [1, [2, (3,)]]
    table, number_keys, unique, fixed = {"a": 1, "b": [2]}, {1: 2.5}, {5}, frozenset([6])
    empty_list, empty_dict, empty_set, empty_frozen = [], {}, set(), frozenset()
    cyclic = [1]
    cyclic.append(cyclic)
    many, crowd = list(range(1000)), dict.fromkeys(range(140000))
    removed = {"gone": 0, "kept": 1}
    del removed["gone"]
    words, slots, kind, method = Words(["w"]), Slots(), Shelf, shelf.turn
    bag, fixed_bag, length = Bag([5]), Fixed([6]), Length(1.5)
    captured = 11

    def inner():
        return captured
    unbound = 1
    del unbound
    park()
    return (nothing, one, pair, nested, table, number_keys, unique, fixed, empty_list, empty_dict, empty_set,
            empty_frozen, cyclic, many, crowd, removed, words, slots, kind, method, bag,
            fixed_bag, length, inner)


def generate():
    inside = "generator"
    yield park_here(inside)


def park_here(word):
    park()
    return word


def in_generator():
    return list(generate())


THREADS = [("numbers \u00fc", lambda: numbers(1, 2, 3, 4, key="k", extra=[5])), ("texts", texts),
           ("containers", lambda: containers(Shelf()))]


def describe(frame):
    """[name, file, line, arguments, other variables], innermost first."""
    while frame:
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        names = code.co_varnames[:count]
        yield [getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno, list(names),
               {} if code.co_name == "<module>" else {name: repr(value)[:LONG] for name, value in frame.f_locals.items()}]
        frame = frame.f_back


def is_parked(tid):
    """It sleeps, for good."""
    with open(f"/proc/self/task/{tid}/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0] == "S"


def tell():
    mine = threading.get_ident()
    threads = {thread.ident: thread for thread in threading.enumerate()}
    for _ in range(20):
        while not all(is_parked(thread.native_id) for ident, thread in threads.items() if ident != mine):
            time.sleep(0.01)
        time.sleep(0.005)
    told = [{"ident": ident, "tid": threads[ident].native_id, "name": threads[ident].name, "frames": list(describe(frame))}
            for ident, frame in sys._current_frames().items() if ident != mine]
    print(json.dumps({"pid": os.getpid(), "threads": told, "teller": threads[mine].native_id}), flush=True)
    STAY.wait()


def main():
    for name, work in THREADS:
        threading.Thread(target=work, name=name, daemon=True).start()
    READY.wait()
    threading.Thread(target=tell, name="teller", daemon=True).start()
    os.read(0, 1)
    # Locks of threads that stay parked are none to wait for.
    os._exit(0)


if __name__ == "__main__":
    main()
