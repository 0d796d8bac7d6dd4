# SPDX-License-Identifier: GPL-2.0-only
"""Generators, context managers and coroutines inside each other, which begin, go on, are closed and thrown into.

    generators.py [SECONDS]     0: one round
"""
import asyncio
import contextlib
import itertools
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0


def spin(count=40):
    total = 0
    for number in range(count):
        total += number
    return total


def leaf(count):
    for number in range(count):
        spin()
        yield number


def nested(depth, count):
    if depth:
        yield from nested(depth - 1, count)
    else:
        yield from leaf(count)


def consumers():
    sum(nested(8, 10))
    list(map(lambda value: spin(10), leaf(5)))
    max(spin(5) + number for number in range(10))
    tuple(itertools.islice((number for number in nested(3, 20)), 10))
    sorted(leaf(5), key=lambda value: spin(5))


@contextlib.contextmanager
def managed():
    spin()
    try:
        yield 1
    finally:
        spin()


def managers():
    with managed(), managed(), contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(managed())
        spin()


def answers():
    answer = 0
    while True:
        answer = yield spin(answer % 30)


def conversation():
    generator = answers()
    next(generator)
    for number in range(20):
        generator.send(number)
    try:
        generator.throw(ValueError)
    except ValueError:
        pass


class Resource:
    async def __aenter__(self):
        spin()
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *exception):
        spin()


async def down(depth):
    if depth == 0:
        spin()
        await asyncio.sleep(0)
        return spin()
    return await down(depth - 1)


async def numbers(count):
    for number in range(count):
        spin()
        await asyncio.sleep(0)
        yield number


async def task(until):
    while True:
        async with Resource():
            async for number in numbers(3):
                spin(10)
        await down(10)
        [number async for number in numbers(2)]
        await asyncio.gather(down(3), down(4))
        if time.process_time() >= until:
            return


async def several(until):
    await asyncio.gather(*[task(until) for _ in range(4)])


def go_round():
    consumers()
    managers()
    conversation()


while True:
    go_round()
    if time.process_time() >= SECONDS / 2:
        break
asyncio.run(several(SECONDS))
