# SPDX-License-Identifier: GPL-2.0-only
"""The shapes of shapes.py that CPython 2.7 has, and its classes of old style.

    shapes_27.py [SECONDS]     goes round all shapes until so much CPU time is over; 0: each shape once

The top of shapes.py says what a shape has to be.
"""
from __future__ import print_function

import contextlib
import functools
import re
import sys
import threading
import time

WORK = 3000


def spin(n=WORK):
    total = 0
    for i in xrange(n):  # noqa: F821
        total += i & 3
    return total


class Shape(object):
    scale = 2

    def __init__(self, size):
        self.size = size
        self.warm = spin()

    def area(self):
        return self.width() * self.height

    def width(self):
        return spin() + self.size

    @property
    def height(self):
        return spin(
            self.size + WORK
        )

    @height.setter
    def height(self, value):
        self.size = value % 7 + spin() % 3

    @classmethod
    def make(cls):
        return cls(spin() % 5)

    @staticmethod
    def free():
        return spin()

    def __add__(self, other):
        return Shape(self.size + other.width())

    def __call__(self):
        return self.width()

    def __getitem__(self, index):
        return spin() + index

    def __eq__(self, other):
        return spin() == other.size

    def __hash__(self):
        return spin() & 15

    def __getattr__(self, name):
        if name.startswith("lazy_"):
            return spin()
        raise AttributeError(name)


class Square(Shape):
    def area(self):
        return (
            super(Square, self).area()
            + super(Square, self)
            .area()
        )


class Old:
    """Of the old style."""

    def __init__(self, size):
        self.size = size + spin() % 2

    def __len__(self):
        return spin() % 7

    def __add__(self, other):
        return Old(self.size + len(other))

    def __getattr__(self, name):
        if name.startswith("lazy_"):
            return spin()
        raise AttributeError(name)

    def __cmp__(self, other):
        return spin() % 3 - 1

    def __call__(self):
        return spin()


class Older(Old):
    def __init__(self):
        Old.__init__(self, 3)


def shape_methods():
    square = Square.make()
    square.area()
    square.height = square.height
    square.free()
    (square + square)()
    square[3]
    square.lazy_size
    {square: 1}.get(square)


def shape_old_classes():
    old = Older()
    (old + old)()
    old.lazy_size
    sorted([old, Old(1), Old(2)])


def traced(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        spin()
        return function(*args, **kwargs)

    return wrapper


def twice(times):
    def decorate(function):
        def wrapper(*args):
            return [function(*args) for _ in range(times)]

        return wrapper

    return decorate


@traced
@twice(2)
@traced
def decorated(n):
    return spin(n)


def shape_decorators():
    decorated(WORK)
    functools.partial(
        decorated,
        WORK)()


def numbers(n):
    for i in range(n):
        yield spin() + i


def nested(depth):
    if depth:
        for value in nested(depth - 1):
            yield value
    for _ in range(2):
        spin(WORK // 4)
        yield depth


def echo():
    try:
        value = 0
        while True:
            value = yield spin() + value
    finally:
        spin()


def shape_generators():
    for _ in numbers(3):
        spin()
    sum(numbers(3))
    list(nested(12))
    generator = echo()
    next(generator)
    generator.send(1)
    generator.send(
        2
    )
    try:
        generator.throw(
            ValueError)
    except ValueError:
        spin()
    for _ in (spin() for _ in range(2)):
        spin()


def square_of(n):
    return spin() + n * n


def shape_comprehensions():
    [square_of(i) for i in range(3)]
    {square_of(i): spin() for i in range(2)}
    {square_of(i)
     for i in range(2)}
    map(
        square_of,
        range(2))
    filter(lambda n: spin() > n,
           range(2))


def sort_key(n):
    return -spin() - n


class Ordered(object):
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return spin() + self.n < other.n


def compare(a, b):
    return spin() + a - b


def shape_sorting():
    sorted(range(4), key=sort_key)
    sorted(range(4), cmp=compare)
    sorted([Ordered(n) for n in (3, 1, 2)])
    max(range(3),
        key=lambda n: spin() - n)
    reduce(lambda a, b: spin() + a + b, range(3))  # noqa: F821


def replace(match):
    return str(spin() + len(match.group()))


PATTERN = re.compile("[a-z]+")


def shape_regular_expressions():
    PATTERN.sub(replace, "ab cd ef")


class Held(object):
    def __enter__(self):
        return spin()

    def __exit__(self, *exception):
        spin()
        return True


@contextlib.contextmanager
def held():
    spin()
    try:
        yield spin()
    finally:
        spin()


def shape_context_managers():
    with Held():
        raise ValueError(spin())
    with held(), \
            Held():
        spin()


def thread_main(depth):
    if depth:
        return thread_main(depth - 1)
    return spin(WORK * 4)


class Worker(threading.Thread):
    def run(self):
        spin(WORK * 2)
        thread_main(5)


def shape_threads():
    threads = [threading.Thread(target=thread_main, args=(3,)), Worker()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def descend(n):
    if n == 0:
        return spin(WORK * 4)
    below = descend(n - 1)
    return below + 1


def even(n):
    return True if n == 0 else odd(
        n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def shape_recursion():
    descend(500)
    even(60)


def failing(depth):
    if depth == 0:
        raise KeyError(spin())
    try:
        failing(depth - 1)
    finally:
        spin()


def shape_exceptions():
    try:
        failing(8)
    except KeyError:
        spin()


def keyword(first, *rest, **others):
    return spin() + len(rest) + len(others)


def shape_arguments():
    values = (1, 2)
    keyword(*values, last=3, **{"x": spin()})
    apply(keyword, values, {"last": spin()})  # noqa: F821
    keyword(
        spin(),
        keyword(spin(), spin()),
        last=keyword(
            1
        ),
    )
    eval("spin()")
    exec(compile("def inner():\n    return spin()\ninner()\n", "<made>", "exec"), {"spin": spin})


SHAPES = [
    shape_methods, shape_old_classes, shape_decorators, shape_generators, shape_comprehensions, shape_sorting,
    shape_regular_expressions, shape_context_managers, shape_threads, shape_recursion, shape_exceptions, shape_arguments,
]


def one_round():
    for shape in SHAPES:
        shape()


def main(seconds):
    """For that much CPU time, and one round at least."""
    end = time.clock() + seconds
    while True:
        one_round()
        if time.clock() >= end:
            break


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
