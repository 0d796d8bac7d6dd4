# SPDX-License-Identifier: GPL-2.0-only
"""A server that waits in every way, and knows for how long: waits.py [ROUNDS].

Prints JSON: for each function that waits the seconds that it took by the clock of its caller, and by its own (the thread may
lose its CPU in between), and for each thread, by its number, the seconds of CLOCK_MONOTONIC at which it began and ended, and
those that it had a CPU."""
import asyncio
import collections
import contextlib
import json
import os
import socket
import sys
import tempfile
import threading
import time

took, inside = collections.defaultdict(float), collections.defaultdict(float)
threads = {}
lock = threading.Lock()


def timed(function):
    def call(*args):
        began = time.monotonic()
        try:
            return function(*args)
        finally:
            took[function.__name__] += time.monotonic() - began
    return call


@contextlib.contextmanager
def timed_inside(name):
    began = time.monotonic()
    yield
    inside[name] += time.monotonic() - began


@timed
def sleep_with_lock():
    with timed_inside("sleep_with_lock"):
        time.sleep(0.04)


def hold_lock(held):
    with lock:
        held.set()
        sleep_with_lock()


@timed
def want_lock():
    with timed_inside("want_lock"), lock:
        pass


@timed
def read_blocking(end):
    with timed_inside("read_blocking"):
        end.recv(1)


@timed
def sleep_in_asyncio():
    async def nap():
        await asyncio.sleep(0.03)
    with timed_inside("sleep_in_asyncio"):
        asyncio.run(nap())


@timed
def wait_for_disk(file):
    with timed_inside("wait_for_disk"):
        file.write(b"x" * 65536)
        file.flush()
        os.fsync(file.fileno())


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def in_thread(function, *args):
    def run():
        began = time.monotonic()
        function(*args)
        threads[threading.get_native_id()] = [began, time.monotonic(), time.thread_time()]
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def contend(rounds):
    for _ in range(rounds):
        held = threading.Event()
        holder = in_thread(hold_lock, held)
        held.wait()
        want_lock()
        holder.join()


def answer(rounds):
    ours, theirs = socket.socketpair()
    def send():
        for _ in range(rounds):
            time.sleep(0.02)
            theirs.send(b"x")
    sender = in_thread(send)
    for _ in range(rounds):
        read_blocking(ours)
    sender.join()


def store(rounds):
    with tempfile.TemporaryFile(dir=".") as file:
        for _ in range(rounds):
            wait_for_disk(file)


def main(rounds):
    began = time.monotonic()
    workers = [in_thread(contend, rounds), in_thread(answer, rounds), in_thread(store, rounds)]
    for _ in range(rounds):
        sleep_in_asyncio()
        spin(0.002)
    for worker in workers:
        worker.join()
    threads[threading.get_native_id()] = [began, time.monotonic(), time.thread_time()]
    json.dump({"took": took, "inside": inside, "threads": threads}, sys.stdout)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
