# SPDX-License-Identifier: GPL-2.0-only
"""Tasks that say how long each of them ran and waited: name, seconds of its life, of these running. SECONDS"""
import asyncio
import json
import sys
import time

told = {}
END = float(sys.argv[1])


def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


class Clock:
    """What the task around it ran."""
    def __init__(self):
        self.began = time.perf_counter()
        self.ran = 0

    def run(self, function, *args):
        began = time.perf_counter()
        function(*args)
        self.ran += time.perf_counter() - began

    def goes_on(self):
        return time.perf_counter() - self.began < END

    def tell(self, name):
        told[name] = [time.perf_counter() - self.began, self.ran]


async def nap(seconds):
    await asyncio.sleep(seconds)


async def sleeper():
    clock = Clock()
    while clock.goes_on():
        await nap(0.03)
    clock.tell("sleeper")


async def worker():
    clock = Clock()
    while clock.goes_on():
        clock.run(compute, 0.02)
        await nap(0.03)
    clock.tell("worker")


async def blocker():
    clock = Clock()
    while clock.goes_on():
        clock.run(time.sleep, 0.01)
        await nap(0.04)
    clock.tell("blocker")


async def holder(lock):
    clock = Clock()
    while clock.goes_on():
        async with lock:
            await nap(0.04)
        await asyncio.sleep(0)
    clock.tell("holder")


async def wanter(lock):
    clock = Clock()
    while clock.goes_on():
        async with lock:
            pass
        await asyncio.sleep(0)
    clock.tell("wanter")


async def numbers():
    while True:
        await nap(0.02)
        yield 1


async def iterator():
    clock = Clock()
    async for _ in numbers():
        if not clock.goes_on():
            break
    clock.tell("iterator")


async def caller():
    clock = Clock()
    loop = asyncio.get_event_loop()
    while clock.goes_on():
        await loop.run_in_executor(None, time.sleep, 0.02)
    clock.tell("caller")


async def gatherer():
    clock = Clock()
    while clock.goes_on():
        await asyncio.gather(nap(0.02), nap(0.03))
    clock.tell("gatherer")


async def main():
    lock = asyncio.Lock()
    tasks = [asyncio.ensure_future(coroutine) for coroutine in (
        sleeper(), worker(), blocker(), holder(lock), wanter(lock), iterator(), caller(), gatherer())]
    for task in tasks:
        task.set_name(getattr(task.get_coro(), "__name__"))
    await asyncio.wait(tasks)


asyncio.run(main())
print(json.dumps(told))
