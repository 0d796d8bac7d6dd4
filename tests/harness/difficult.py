# SPDX-License-Identifier: GPL-2.0-only
"""A recording that is hard to export: names of every kind, functions of one name, recursion, marks, threads of several
processes that are called alike, several events."""
import itertools
import json
import random

EVENTS = [("cpu-clock", "cpu", "nanoseconds"), ("wall-clock", "wall", "nanoseconds"), ("off-cpu", "wait", "nanoseconds"),
          ("page-faults", "occurrence", "count")]
# Name, file, line of the def. What closes strings, lines, steps, elements and brackets; what looks like something of a format.
PYTHON = [
    ("<module>", "/srv/app.py", 1), ("f", "/srv/app.py", 3), ("f", "/srv/app.py", 9), ("f", "/srv/other.py", 3),
    ("f", "/srv/sp ace;x (y):3.py", 3), ("Größe.метод_日本語🎉", "/srv/größe/数.py", 12), ("long_" + "x" * 3000, "/srv/app.py", 20),
    ("semi;colon;name", "/srv/app.py", 30), ('quote"s\'and`back\\slash', "/srv/app.py", 31), ("new\nline\r\ttab", "/srv/app.py", 32),
    ("rec", "/srv/app.py", 40), ("a b (c) 12", "/srv/app.py", 44), ("<lambda>", "/srv/app.py", 50), ("<lambda>", "/srv/app.py", 51),
    ("g.<locals>.<listcomp>", "/srv/app.py", 52), ("made 7", "<string>", 60), ("&lt;b&gt;</script>", "/srv/app.py", 70),
    ("x'2", "/srv/app.py", 80), ("f (line 9)", "/srv/app.py", 90), ("%s%d\x1b[31m", "/srv/app.py", 91),
    ("turned\u202earound", "/srv/app.py", 92), ("[not a mark]", "/srv/app.py", 94), ("fn=(1) x", "/srv/app.py", 95)]
RECURSIVE = 10
NATIVE = [("malloc", "native", "/usr/lib/libc.so.6"), ("malloc", "native", "/opt/jemalloc.so"), ("f", "native", "/usr/lib/l.so"),
          ("std::map<int, char>::operator[](int const&)", "native", "/usr/lib/l.so"), ("operator;()", "native", "/usr/lib/l;2.so"),
          ("do_syscall_64", "kernel", "[kernel.kallsyms]")]
OUTERMOST, INNER, INNERMOST = ["[truncated stack]"], ["[unreadable Python frames]", "[missing native frames]"], ["[idle]", "[CPU wait]"]
ALONE = "[no Python code]"
PROCESSES = [(700, "python3"), (800, 'py;th"on')]
THREADS = ["main", "worker", 'wörker;"x" 2']


def stacks(rng, functions):
    """Paths of (function, line), the outermost first."""
    number = {key: i for i, key in enumerate(functions)}
    python, native = [number[row] for row in PYTHON], [number[row] for row in NATIVE]

    def step(function):
        row = functions[function]
        return (function, row[2] + rng.randrange(3) if row in PYTHON else 0)

    for i in range(150):
        path = [python[0], *rng.choices(python, k=rng.randrange(1, 9))]
        if i % 5 == 0:
            path += [python[RECURSIVE]] * 3 + [python[1]] + [python[RECURSIVE]] * 2
        if i % 3 == 0:
            path += rng.choices(native, k=rng.randrange(1, 4))
        for every, marks, at in (17, INNER, 1), (13, INNER, 2), (7, OUTERMOST, 0), (11, INNERMOST, len(path)):
            if i % every == 0:
                path.insert(at, number[rng.choice(marks), "mark"])
        yield [step(function) for function in path]
    yield [step(number[ALONE, "mark"])]
    yield [step(native[-1])]


def document():
    """As docs/formats/export-json.md has it; always the same."""
    rng = random.Random(7)
    functions = [*PYTHON, *NATIVE, *((mark, "mark") for mark in (*OUTERMOST, *INNER, *INNERMOST, ALONE))]
    table, leaves = {}, []
    for path in stacks(rng, functions):
        parent = -1
        for function, line in path:
            parent = table.setdefault((parent, function, line), len(table))
        leaves.append(parent)
    threads = [(pid, pid + i, name, process) for pid, process in PROCESSES for i, name in enumerate(THREADS)]
    samples = []
    for event, thread in itertools.product(range(len(EVENTS)), range(len(threads))):
        time = 1000 * event
        for _ in range(120):
            # Some are taken at the same time. Periods are as large as a second, and as small as a nanosecond.
            time += rng.choice([0, 1000000, 1234567])
            weight = rng.choice([1, 1, 2] if EVENTS[event][2] == "count" else [1, 999, 1000000, 1001001, 10**9 + 7])
            samples.append((event, thread, rng.choice(leaves), time, weight))
    return {
        "format": "kaa", "version": 1, "start": 1700000000 * 10**9, "recordings": [{"command": "python3 app.py", "hostname": "host"}],
        "events": [{"name": name, "kind": kind, "unit": unit, "frequency": 999, "lost": 0} for name, kind, unit in EVENTS],
        "threads": [{"recording": 0, **dict(zip(("pid", "tid", "name", "process"), row))} for row in threads],
        "functions": [{"name": row[0], "kind": "python", "file": row[1], "object": "", "line": row[2]} if row in PYTHON else
                      {"name": row[0], "kind": row[1], "file": "", "object": "".join(row[2:]), "line": 0} for row in functions],
        "stacks": dict(zip(("parent", "function", "line"), map(list, zip(*table)))),
        "samples": dict(zip(("event", "thread", "stack", "time", "weight"), map(list, zip(*samples))))}


def recording(kaa, path):
    """kaa("import", ...) makes it."""
    text = path.with_suffix(".json")
    text.write_text(json.dumps(document()))
    kaa("import", text, "-o", path)
    return path
