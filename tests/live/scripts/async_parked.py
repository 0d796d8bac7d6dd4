# SPDX-License-Identifier: GPL-2.0-only
"""Tasks that wait at known places, and what they are: one line of JSON on standard output.

The loop then waits for a byte on standard input, and the program ends. What a task is in is told by its coroutine and
the attributes cr_await, gi_yieldfrom and ag_await of this and those beyond.
"""
import asyncio
import collections.abc
import gc
import json
import os
import socket
import sys
import threading
import types

PAIR = socket.socketpair()


async def sleeper(seconds):
    await asyncio.sleep(seconds)


async def deep(count):
    if count:
        return await deep(count - 1)
    await asyncio.sleep(4000)


class Awaitable:
    """What has an __await__ of its own, a generator."""

    def __init__(self, future):
        self.future = future

    def __await__(self):
        yield from self.future


async def through_object(future):
    await Awaitable(future)


@types.coroutine
def old_style(future):
    yield from future


async def through_generator(future):
    await old_style(future)


async def produce(future):
    yield 1
    await future
    yield 2


async def through_async_generator(future):
    async for _ in produce(future):
        pass


async def through_async_with(lock):
    async with lock:
        pass


async def locks(lock):
    await lock.acquire()


async def events(event):
    await event.wait()


async def takes(queue):
    await queue.get()


async def receives():
    await asyncio.get_event_loop().sock_recv(PAIR[0], 1)


async def streams():
    reader, _ = await asyncio.open_connection(sock=PAIR[1])
    await reader.readline()


async def in_thread(stay):
    await asyncio.get_event_loop().run_in_executor(None, stay.wait)


def called(stay):
    return asyncio.get_event_loop().run_in_executor(None, stay.wait)


class Other(collections.abc.Coroutine):
    """A coroutine of another kind, as compilers of Python make them: it has no frame."""

    def __init__(self, future):
        self.steps = future.__await__()

    def send(self, value):
        return self.steps.send(value)

    def throw(self, *error):
        return self.steps.throw(*error)

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    __await__ = __iter__


async def through_other(future):
    await Other(future)


async def joins(task):
    await task


async def gathers(*tasks):
    await asyncio.gather(*tasks)


async def waits(*tasks):
    await asyncio.wait(tasks)


async def waits_for(task):
    await asyncio.wait_for(task, 5000)


async def shields(task):
    await asyncio.shield(task)


async def groups(name):
    async with asyncio.TaskGroup() as group:
        for number in range(2):
            group.create_task(sleeper(3000 + number), name=f"{name}-{number}")


class Named(asyncio.Task):
    """A class derived from asyncio's."""


async def never():
    pass


def line_of(frame):
    return [frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name,
            frame.f_code.co_filename, frame.f_lineno]


def step(coroutine):
    """Its frame, and what it awaits."""
    for prefix, awaits in (("cr", "cr_await"), ("gi", "gi_yieldfrom"), ("ag", "ag_await")):
        if hasattr(coroutine, prefix + "_frame"):
            return getattr(coroutine, prefix + "_frame"), getattr(coroutine, awaits)
    return None, None


def variables_of(frame):
    """Names, and the values of those that are words of their own; None: another object."""
    return {name: repr(value) if isinstance(value, (int, float, str, type(None))) else None
            for name, value in frame.f_locals.items()}


def chain(coroutine, told=line_of):
    """Of the frames of a coroutine and those that it awaits what is told of them, innermost first."""
    frames = []
    while coroutine is not None:
        frame, awaited = step(coroutine)
        if frame is None:
            # An object that belongs to an asynchronous generator, of which only the collector knows.
            beyond = [other for other in gc.get_referents(coroutine) if hasattr(other, "ag_frame")]
            if not beyond:
                break
            coroutine = beyond[0]
            continue
        frames.insert(0, told(frame))
        coroutine = awaited
    return frames


def tell(parents, seconds):
    tasks = []
    for task in asyncio.all_tasks():
        if task is asyncio.current_task():
            continue
        tasks.append({"id": id(task), "name": task.get_name(), "frames": chain(task.get_coro()), "locals": chain(task.get_coro(), variables_of),
                      "waits": task._fut_waiter is not None})
    told = {"pid": os.getpid(), "tid": threading.get_native_id(), "tasks": tasks, "awaits": parents,
            "current": asyncio.current_task().get_name(), "unstarted": seconds, "sockets": [end.fileno() for end in PAIR]}
    print(json.dumps(told), flush=True)


async def main():
    loop, stay = asyncio.get_event_loop(), threading.Event()
    for end in PAIR:
        end.setblocking(False)
    kept, future, lock = [], loop.create_future(), asyncio.Lock()

    def start(coroutine, name, maker=asyncio.create_task):
        kept.append(maker(coroutine, name=name))
        return kept[-1]
    await lock.acquire()
    sleeps = [start(sleeper(1000 + number), f"sleep-{number}") for number in range(7)]
    start(deep(20), "deep")
    start(through_object(future), "object")
    start(through_generator(future), "generator")
    start(through_async_generator(future), "async generator")
    start(Other(future), "other")
    start(through_other(future), "through other")
    start(through_async_with(lock), "with lock")
    start(locks(lock), "lock")
    start(events(asyncio.Event()), "event")
    start(takes(asyncio.Queue()), "queue")
    start(receives(), "socket")
    start(streams(), "stream")
    start(in_thread(stay), "thread")
    start(joins(sleeps[0]), "join")
    start(gathers(sleeps[1], sleeps[2]), "gather")
    start(waits(sleeps[3], sleeps[4]), "wait")
    start(waits_for(sleeps[5]), "wait for")
    start(shields(sleeps[6]), "shield")
    start(sleeper(77), "caf\xe9\n", lambda coroutine, name: Named(coroutine, loop=loop, name=name))
    start(waits_for(future), "wait for future")
    start(waits(future, loop.create_future()), "wait futures")
    start(gathers(future, loop.create_future()), "gather futures")
    start(shields(future), "shield future")
    start(waits_for(called(stay)), "wait for thread")
    start(gathers(called(stay), called(stay)), "gather threads")
    parents = {"join": ["sleep-0"], "gather": ["sleep-1", "sleep-2"], "wait": ["sleep-3", "sleep-4"],
               "wait for": ["sleep-5"], "shield": ["sleep-6"]}
    if hasattr(asyncio, "TaskGroup"):
        start(groups("child"), "group")
        parents["group"] = ["child-0", "child-1"]
    for _ in range(8):
        await asyncio.sleep(0.01)
    done = start(never(), "done")
    await done
    start(never(), "unstarted")
    tell(parents, "unstarted")
    # The loop stands still, in this task.
    sys.stdin.read(1)
    os._exit(0)


asyncio.run(main())
