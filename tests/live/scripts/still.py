# SPDX-License-Identifier: GPL-2.0-only
"""A process that holds still and says where: threads in many kinds of Python frames, each waiting for a lock.

Prints one JSON object: "pid", and "threads", pthread id to its stack, innermost first: [name, file, line] each. Then it
waits for the end of its standard input.
"""
import json
import os
import sys
import threading
import time
import traceback

released = threading.Event()
started = []
gate = threading.Lock()
gate.acquire()


def wait():
    started.append(threading.get_ident())
    gate.acquire(); gate.release()


def waits(ident):
    """The thread is in the line of wait() in which it stays."""
    frame = sys._current_frames()[ident]
    return frame.f_code is wait.__code__ and frame.f_lineno == wait.__code__.co_firstlineno + 2


def generator():
    yield wait()


def through_generators():
    yield from generator()


class Called:
    def __init__(self):
        wait()

    def method(self):
        return [wait() for _ in range(1)]

    def __del__(self):
        pass


def by_sort():
    sorted([2, 1], key=lambda value: wait() or value)


def by_class_body():
    class Inner:
        wait()


def by_exec():
    exec(compile("\n\n\nwait()", "names\nof \u00e9\u20ac\U0001f40d\udc80", "exec"))


def häßlich():
    wait()


def many_lines():
    for _ in range(1):
        if (_ ==
                0):
            wait(
            )


def deep(n=300):
    return deep(n - 1) if n else wait()


async def coroutine():
    wait()


def by_coroutine():
    coroutine().send(None)


def by_context():
    with open(os.devnull), open(os.devnull):
        try:
            raise KeyError
        except KeyError:
            wait()
        finally:
            pass


SHAPES = [wait, lambda: list(through_generators()), Called, lambda: Called.method(None), by_sort, by_class_body, by_exec,
          häßlich, many_lines, deep, by_coroutine, by_context]


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def stack_of(frame):
    return [[name_of(f.f_code), f.f_code.co_filename, line] for f, line in reversed(list(traceback.walk_stack(frame)))]


def main():
    threads = [threading.Thread(target=shape, daemon=True) for shape in SHAPES]
    for thread in threads:
        thread.start()
    while len(started) < len(threads) or not all(map(waits, started)):
        time.sleep(0.01)
    # Where the last one is has its line; it has still to call.
    time.sleep(0.2)
    stacks = {}
    for ident, frame in sys._current_frames().items():
        if ident != threading.get_ident():
            stacks[ident] = list(reversed(stack_of(frame)))
    print(json.dumps({"pid": os.getpid(), "threads": stacks}), flush=True)
    sys.stdin.read()
    os._exit(0)


main()
