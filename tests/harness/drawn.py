# SPDX-License-Identifier: GPL-2.0-only
"""What the tests in tests/browser have drawn: planted stacks, hostile names, and a real program."""

HOSTILE = [b"py::</script><img src=x onerror=pwned()>:/srv/a.py", b"py::\"'`${pwned()}]]>\\:/srv/'b\".py",
           "py::\u2028\u202e\u200bpwned()\u2029:/srv/c.py".encode(), b"py::\x1b[31m\xff\xfe\x01:/srv/d.py",
           b"py::<!--<script>:/srv/-->.py", b"@DATA@ javascript:pwned()", b"py::&lt;b&gt;:/srv/e.py"]


def py(name, file="app.py"):
    return f"py::{name}:/srv/app/{file}".encode()


MAIN, LOAD, WORK, DEEP, C = py("main"), py("load", "load.py"), py("work"), py("deep"), b"c_function"
# By thread, the stacks and their samples: the truth that the page is held against.
THREADS = {
    b"first": {(MAIN,): 10, (MAIN, LOAD): 30, (MAIN, WORK): 20, (MAIN, WORK, C): 40, (MAIN, WORK, WORK, LOAD): 20},
    b"second": {(MAIN, WORK): 5, (MAIN, WORK, C): 15, (C,): 10, (MAIN, DEEP): 50},
}


def samples(threads=tuple(THREADS)):
    return [(stack, count) for thread in threads for stack, count in THREADS[thread].items()]


def total(name, **which):
    return sum(count for stack, count in samples(**which) if name in stack)


def own(name, **which):
    return sum(count for stack, count in samples(**which) if ([f for f in stack if f.startswith(b"py::")] or [None])[-1] == name)


# It works for 0.8 s of CPU time, in functions that call themselves, and in C.
PROGRAM = """\
import json, time

def leaf(n):
    return sum([i & 3 for i in range(n)])

def down(depth):
    return down(depth - 1) + leaf(300) if depth else leaf(3000)

def encode():
    return json.dumps([{"row": i, "name": str(i)} for i in range(3000)])

end = time.process_time() + 0.8
while time.process_time() < end:
    down(20)
    encode()
"""
