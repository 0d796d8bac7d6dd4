# SPDX-License-Identifier: GPL-2.0-only
"""Python code that calls in many shapes, for CPython 3.6 and later.

    shapes.py [SECONDS]     goes round all shapes until so many seconds are over; 0: each shape once

It does the same things in every round, so that the stacks of one round are all that there are: what oracle.py sees
in one round is the list of the possible ones.

Adding a shape: a function shape_x, without arguments, that takes a few milliseconds, and its line in SHAPES. It must not
depend on time or chance, and must spend its time in this file or in C.
"""
import asyncio
import collections
import contextlib
import functools
import re
import sys
import threading
import time
import types

WORK = 3000


def spin(n=WORK):
    total = 0
    for i in range(n):
        total += i & 3
    return total


class Shape:
    """Methods of all kinds, and properties."""

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
            super().area()
            + super()
            .area()
        )


def shape_methods():
    square = Square.make()
    square.area()
    square.height = square.height
    square.free()
    (square + square)()
    square[3]
    square.lazy_size
    {square: 1}.get(square)


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


@functools.lru_cache(maxsize=None)
def cached(n):
    return spin(n)


def shape_decorators():
    decorated(WORK)
    cached.cache_clear()
    cached(WORK)
    functools.partial(
        decorated,
        WORK)()


def numbers(n):
    for i in range(n):
        yield spin() + i


def relayed(n):
    yield from numbers(n)
    yield spin()


def nested(depth):
    if depth:
        yield from nested(depth - 1)
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
    for _ in relayed(3):
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


class Switch:
    """Awaited, it hands control to the loop once."""

    def __await__(self):
        spin()
        yield self
        return spin()


async def leaf_task():
    await Switch()
    return spin()


async def middle_task(n):
    total = 0
    for _ in range(n):
        total += await leaf_task()
    return total


@types.coroutine
def old_style():
    spin()
    yield
    return spin()


async def ticks(n):
    for i in range(n):
        await old_style()
        yield i


async def outer_task():
    await middle_task(2)
    async for _ in ticks(2):
        spin()
    return [spin() async for _ in ticks(2)]


def drive(tasks):
    ready = collections.deque(tasks)
    while ready:
        task = ready.popleft()
        try:
            task.send(None)
        except StopIteration:
            continue
        ready.append(task)


def shape_coroutines():
    drive([outer_task(), middle_task(2)])


async def asyncio_leaf():
    spin()
    await asyncio.sleep(0)
    return spin()


async def asyncio_main():
    await asyncio.gather(
        asyncio_leaf(),
        asyncio_leaf())
    await asyncio_leaf()


def shape_asyncio():
    if hasattr(asyncio, "run"):
        asyncio.run(asyncio_main())
    else:
        asyncio.get_event_loop().run_until_complete(asyncio_main())


def square_of(n):
    return spin() + n * n


def shape_comprehensions():
    [square_of(i) for i in range(3)]
    {square_of(i): spin() for i in range(2)}
    {square_of(i)
     for i in range(2)}
    [[square_of(j) for j in range(2)]
     for _ in range(2)]
    list(
        map(
            square_of,
            range(2)))
    list(filter(lambda n: spin() > n,
                range(2)))


def sort_key(n):
    return -spin() - n


class Ordered:
    def __init__(self, n):
        self.n = n

    def __lt__(self, other):
        return spin() + self.n < other.n


def shape_sorting():
    sorted(range(4), key=sort_key)
    sorted([Ordered(n) for n in (3, 1, 2)])
    max(range(3),
        key=lambda n: spin() - n)
    functools.reduce(lambda a, b: spin() + a + b, range(3))


def replace(match):
    return str(spin() + len(match.group()))


PATTERN = re.compile("[a-z]+")


def shape_regular_expressions():
    PATTERN.sub(replace, "ab cd ef")
    re.sub(
        "[a-z]+",
        replace,
        "gh ij")


class Held:
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
    with contextlib.ExitStack() as stack:
        stack.callback(spin, WORK)
        stack.enter_context(held())


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


def keyword(first, *rest, last=None, **others):
    return spin() + len(rest) + len(others)


def shape_arguments():
    values = (1, 2)
    keyword(*values, last=3, **{"x": spin()})
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
    shape_methods, shape_decorators, shape_generators, shape_coroutines, shape_asyncio, shape_comprehensions,
    shape_sorting, shape_regular_expressions, shape_context_managers, shape_threads, shape_recursion,
    shape_exceptions, shape_arguments,
]


def one_round():
    for shape in SHAPES:
        shape()


def main(seconds):
    """For that much CPU time, and one round at least."""
    end = time.process_time() + seconds
    while True:
        one_round()
        if time.process_time() >= end:
            break


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 3.0)
