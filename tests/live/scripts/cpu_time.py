# SPDX-License-Identifier: GPL-2.0-only
"""Programs whose CPU time a clock for each thread does not see, as docs/clock.md says; each writes down what it took.

    cpu_time.py threads SECONDS    threads of half a millisecond, one after the other, and as much in between
    cpu_time.py processes SECONDS  processes of about a millisecond
    cpu_time.py pool SECONDS       four threads that share short tasks
    cpu_time.py builds SECONDS     `make -j4` of small files of C, again and again
    cpu_time.py rhythm SECONDS     even() has 40 % of each millisecond of the clock, odd() the rest

SECONDS are of CPU time. The last line: CPU time of the process and those that it waited for, and of a function; and how
many threads there were, in all processes.
"""
import concurrent.futures
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

MS = 0.001
of_function = 0.0
made = 1


def used():
    return sum(u.ru_utime + u.ru_stime
               for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


# Loops of their own, so that the function is the innermost one of its samples.

def short():
    global of_function
    began = time.thread_time()
    while time.thread_time() < began + MS / 2:
        pass
    of_function += time.thread_time() - began


def between():
    end = time.thread_time() + MS / 2
    while time.thread_time() < end:
        pass


def threads():
    global made
    made += 1
    thread = threading.Thread(target=short)
    thread.start()
    thread.join()
    between()


def processes():
    global made
    made += 1
    pid = os.fork()
    if not pid:
        sum(range(10000))
        os._exit(0)
    os.waitpid(pid, 0)


def pool():
    global made
    made += 4
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        for _ in range(100):
            executor.submit(between)


def builds():
    with tempfile.TemporaryDirectory() as folder:
        for number in range(24):
            with open(f"{folder}/f{number}.c", "w") as file:
                file.write("".join(f"int f{number}_{i}(int a) {{ return a * {i} + {number}; }}\n" for i in range(40)))
        with open(f"{folder}/Makefile", "w") as file:
            file.write("all: $(patsubst %.c,%.o,$(wildcard *.c))\n")
        subprocess.check_call(["make", "-s", "-j4", "-C", folder])


def even(end):
    while time.monotonic() < end:
        pass


def odd(end):
    while time.monotonic() < end:
        pass


def rhythm():
    global of_function
    beat = time.monotonic_ns() // 1000000 * MS
    began = time.thread_time()
    even(beat + 0.4 * MS)
    of_function += time.thread_time() - began
    odd(beat + MS)


def main():
    work, end = globals()[sys.argv[1]], float(sys.argv[2])
    while used() < end:
        work()
    print(used(), of_function, made, flush=True)
    # Without what the end of an interpreter takes.
    os._exit(0)


main()
