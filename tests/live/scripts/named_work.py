# SPDX-License-Identifier: GPL-2.0-only
"""Threads that work, and what each was called when: a line of JSON in OUT for each name of a thread.

    named_work.py OUT SECONDS        of CPU time, of each thread that is one of several

[native_id, name, which]: "whole" if the thread had that name all the time that it worked, else "part".
"""
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()
out = open(sys.argv[1], "a", encoding="utf-8")
seconds = float(sys.argv[2])


def tell(which="whole"):
    with lock:
        out.write(json.dumps([threading.get_native_id(), threading.current_thread()._name, which]) + "\n")
        out.flush()


def work(share=1.0):
    end = time.thread_time() + seconds * share
    while time.thread_time() < end:
        sum(range(100))


def job():
    tell()
    work()


def renamed():
    tell("part")
    work()
    threading.current_thread().name = "renamed to this"
    tell("part")
    work(3)


def forks():
    tell()
    pid = os.fork()
    if not pid:
        tell()
        work()
        os._exit(0)
    os.waitpid(pid, 0)


def short():
    tell()
    sum(range(20000))


def main():
    tell("part")
    for name in ["alpha", "\u65e5\u672c", "y" * 200]:
        threading.Thread(target=job, name=name).start()
    threading.Thread(target=renamed, name="to be renamed").start()
    with ThreadPoolExecutor(2, thread_name_prefix="pool") as pool:
        for _ in range(2):
            pool.submit(job)
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    forker = threading.Thread(target=forks, name="forker")
    forker.start()
    forker.join()
    for i in range(200):
        thread = threading.Thread(target=short, name=f"short {i}")
        thread.start()
        thread.join()
    work()


main()
