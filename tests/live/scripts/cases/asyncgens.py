# SPDX-License-Identifier: GPL-2.0-only
"""Asynchronous generators that begin beside coroutines that wait: the interpreter calls a hook, from C, for each that begins.

    asyncgens.py [SECONDS]     0: one round
"""
import asyncio
import sys
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 0


async def numbers(count):
    for number in range(count):
        await asyncio.sleep(0)
        yield number


async def outer_numbers(count):
    async for number in numbers(count):
        yield number


async def waits(depth):
    if depth == 0:
        await asyncio.sleep(0)
        return 1
    return await waits(depth - 1)


async def work():
    while True:
        async for number in numbers(1):
            pass
        await waits(2)
        kept = [number async for number in outer_numbers(2)]
        await asyncio.gather(waits(1), waits(1))
        if time.process_time() >= SECONDS:
            return kept


async def several():
    await asyncio.gather(*[work() for _ in range(4)])


asyncio.run(several())
