# SPDX-License-Identifier: GPL-2.0-only
"""`kaa dump --async` beside what programs say of their tasks, and beside `python -m asyncio` of 3.14."""
import contextlib
import json
import pathlib
import re
import subprocess

import pytest

from harness import parameters, pythons
from harness.answer import NARROW
from harness.cores import allow_core, dies_with_core
from harness.process import run, started
from harness.terminal import Terminal
from harness.waiting import calls_of, until

# Kinds of waiting, and what is said of it; {socket} and {other} are numbers of sockets.
WAITS = {
    "deep": ("sleep", "4000"), "sleep-3": ("sleep", "1003"), "caf\xe9\\x0a": ("sleep", "77"),
    "object": ("future", "Future 0x[0-9a-f]+"), "generator": ("future", "Future 0x[0-9a-f]+"),
    "async generator": ("future", "Future 0x[0-9a-f]+"),
    "lock": ("lock", "Lock.acquire 0x[0-9a-f]+"), "with lock": ("lock", "Lock.acquire 0x[0-9a-f]+"),
    "event": ("lock", "Event.wait 0x[0-9a-f]+"), "queue": ("queue", "Queue.get 0x[0-9a-f]+"),
    "socket": ("socket", "socket {socket}"), "stream": ("socket", "socket {other}"), "thread": ("thread", None),
    "join": ("tasks", None), "gather": ("tasks", None), "wait": ("tasks", None), "wait for": ("tasks", None),
    "shield": ("tasks", None), "group": ("tasks", None),
    "wait for future": ("future", "Future 0x[0-9a-f]+"), "wait futures": ("future", "2 futures"),
    "gather futures": ("future", "2 futures"), "shield future": ("future", "Future 0x[0-9a-f]+"),
    "wait for thread": ("thread", None), "gather threads": ("thread", None),
}

# Their coroutines lead to one of another kind.
OTHERS = ("other", "through other")

# Fields of a task, found by the objects that it was given.
FIELDS = """
import asyncio, json, struct, sys
def words_at(thing, size, kind):
    with open("/proc/self/mem", "rb") as memory:
        memory.seek(id(thing))
        return list(struct.unpack(f"{size // struct.calcsize(kind)}{kind}", memory.read(size)))
async def child(future):
    await future
def first(_): pass
def second(_): pass
async def main():
    loop = asyncio.get_event_loop()
    future = loop.create_future()
    coroutine = child(future)
    task = asyncio.Task(coroutine, loop=loop, name="its name")
    task.add_done_callback(first)
    task.add_done_callback(second)
    for _ in range(3):
        await asyncio.sleep(0)
    async def parent():
        await task
    other = asyncio.ensure_future(parent())
    for _ in range(3):
        await asyncio.sleep(0)
    size, bases = type(task).__basicsize__, asyncio.Future.__basicsize__
    words = words_at(task, size, "Q")
    place = lambda thing: words.index(id(thing)) * 8 if id(thing) in words else None
    found = {"task_size": size, "future_size": bases, "waiter": place(future), "coroutine": place(coroutine),
             "name": place(task.get_name()), "loop": place(loop), "callback": place(first), "awaited_by": place(other)}
    before = words_at(task, size, "I")
    future.set_result(None)
    await other
    after = words_at(task, size, "I")
    print(json.dumps([found, before, after]))
asyncio.run(main())
"""

# More tasks than may be told in one moment, of which some end and others begin all the time.
BUSY = """
import asyncio, os
async def leaf(n):
    await asyncio.sleep(0.001 * (n % 7))
async def branch(n):
    await leaf(n)
async def tree(n):
    while True:
        await branch(n)
async def main():
    tasks = [asyncio.ensure_future(tree(n)) for n in range(20)]
    while True:
        sum(range(12000))
        await asyncio.sleep(0)
print(os.getpid(), flush=True)
asyncio.run(main())
"""

# Loops of three threads at once, in the same functions; the first has ended, and its tasks are left.
THREADS = """
import asyncio, json, os, sys, threading, time
async def leaf(n):
    if n % 2:
        await asyncio.sleep(1000)
    await asyncio.sleep(2000)
async def branch(n):
    for _ in range(300):
        await asyncio.sleep(0)
    await leaf(n)
def lines_of(task):
    found, coroutine = [], task.get_coro()
    while hasattr(coroutine, "cr_frame"):
        found.insert(0, [coroutine.cr_code.co_name, coroutine.cr_frame.f_lineno])
        coroutine = coroutine.cr_await
    return found
told, kept, again = {}, [], []
async def main(which):
    kept.extend(asyncio.ensure_future(branch(n)) for n in range(which, which + 4))
    tasks = kept[-4:]
    for n, task in enumerate(tasks):
        task.set_name(f"{which}-{n}")
    while not all(task._fut_waiter for task in tasks):
        await asyncio.sleep(0.01)
    told.update((task.get_name(), lines_of(task)) for task in tasks)
def run(which):
    loop = asyncio.new_event_loop()
    kept.append(loop)
    loop.run_until_complete(main(which))
    loop.call_soon(again.append, which)
    if which:
        loop.run_forever()
threads = [threading.Thread(target=run, args=(which,), daemon=True) for which in range(3)]
threads[0].start()
threads[0].join()
for thread in threads[1:]:
    thread.start()
while len(told) < 12 or len(again) < 2:
    time.sleep(0.01)
print(json.dumps([os.getpid(), told]), flush=True)
sys.stdin.read()
os._exit(0)
"""

# As BUSY's tasks can be at any moment, innermost first.
TREES = [["sleep", "leaf", "branch", "tree"], ["leaf", "branch", "tree"], ["branch", "tree"], ["tree"]]


def pytest_generate_tests(metafunc):
    """Those that have pstree."""
    if "some_python" in metafunc.fixturenames:
        found = [python for python in pythons.chosen(pythons.find(), metafunc.config.getoption("--python"))
                 if python.version >= (3, 14)]
        metafunc.parametrize("some_python", parameters.of_pythons(found[-1:]))


@contextlib.contextmanager
def parked(python, scripts, *words, **options):
    command = [*python.command, *words, scripts / "async_parked.py"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options) as process:
        told = json.loads(process.stdout.readline())
        until(lambda: "read" in calls_of(told["pid"]), "that the loop stands still")
        yield process, told


def dumped(kaa, *words):
    return json.loads(kaa("dump", "--async", "--json", *words).stdout)


def escaped(name):
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda match: f"\\x{ord(match[0]):02x}", name)


def check_tasks(dump, told):
    """All tasks, with their names, coroutines and who awaits whom."""
    tasks = {task["name"]: task for task in dump["tasks"] if task["state"] != "done"}
    current = tasks.pop(told["current"])
    # It may still be in what writes all this.
    *inner, outermost = [frame["function"] for frame in current["frames"]]
    assert current["state"] == "running" and outermost == "main" and inner in ([], ["tell"])
    assert current["waits_for"] is None
    assert set(tasks) == {escaped(task["name"]) for task in told["tasks"]}
    assert dump["tasks_complete"] and dump["unknown_tasks"] == 0
    for task in told["tasks"]:
        found = tasks[escaped(task["name"])]
        assert found["id"] == task["id"] and found["tid"] == told["tid"]
        assert found["problem"] == ("other coroutine" if task["name"] in OTHERS else None)
        assert found["proven"]
        assert [[frame["function"], frame["file"], frame["line"]] for frame in found["frames"]] == task["frames"], task["name"]
        assert found["state"] == ("waiting" if task["waits"] else "scheduled"), task["name"]
    awaits = {name: sorted(dump["tasks"][index]["name"] for index in task["awaits"]) for name, task in tasks.items()}
    assert {name: awaited for name, awaited in awaits.items() if awaited} == told["awaits"]
    return tasks


def check_waits(tasks, told):
    numbers = dict(zip(("socket", "other"), told["sockets"]))
    for name, (kind, detail) in WAITS.items():
        if name not in tasks:
            assert name == "group" and name not in told["awaits"]
            continue
        assert tasks[name]["waits_for"] == kind, name
        assert re.fullmatch((detail or "None").format(**numbers), str(tasks[name]["detail"])), name


@pytest.mark.half_of_the_versions
@pytest.mark.and_free_threaded
def test_tasks_are_those_of_the_program(kaa, python, scripts):
    with parked(python, scripts) as (_, told):
        dump = dumped(python.kaa(kaa), str(told["pid"]))
    check_waits(check_tasks(dump, told), told)


@pytest.mark.and_free_threaded
@pytest.mark.few_versions
def test_tasks_of_pure_python(kaa, python, scripts):
    """Where the module of C cannot be had, asyncio has classes of Python."""
    block = "import sys, runpy; sys.modules['_asyncio'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    command = [*python.command, "-c", block, scripts / "async_parked.py"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        told = json.loads(process.stdout.readline())
        until(lambda: "read" in calls_of(told["pid"]), "that the loop stands still")
        dump = dumped(python.kaa(kaa), str(told["pid"]))
    tasks = {task["name"]: task for task in dump["tasks"] if task["state"] != "done"}
    assert set(tasks) - {told["current"]} == {escaped(task["name"]) for task in told["tasks"]}
    for task in told["tasks"]:
        found = tasks[escaped(task["name"])]
        assert [[frame["function"], frame["file"], frame["line"]] for frame in found["frames"]] == task["frames"], task["name"]
        assert found["state"] == ("waiting" if task["waits"] else "scheduled"), task["name"]
        # Which thread runs a loop such asyncio does not tell.
        assert found["tid"] is None and not found["proven"]


def variables_of(frame):
    return {local["name"]: local["value"] for local in frame["locals"]}


@pytest.mark.few_versions
def test_variables_of_suspended_coroutines(kaa, python, scripts):
    with parked(python, scripts) as (_, told):
        dump = dumped(python.kaa(kaa), "--locals", str(told["pid"]))
        text = python.kaa(kaa)("dump", "--async", "--locals", str(told["pid"]), env=NARROW).stdout
    tasks = check_tasks(dump, told)
    for task in told["tasks"]:
        for frame, expected in zip(tasks[escaped(task["name"])]["frames"], task["locals"]):
            found = variables_of(frame)
            assert set(found) == set(expected), (task["name"], frame)
            assert {name: found[name] for name, value in expected.items() if value} == \
                {name: value for name, value in expected.items() if value}
    # The task that runs has those of its thread.
    frame = next(task for task in dump["tasks"] if task["name"] == told["current"])["frames"][-1]
    beside = next(thread for thread in dump["threads"] if thread["tid"] == told["tid"])["frames"]
    assert frame["function"] == "main" and {"kept", "sleeps"} <= set(variables_of(frame))
    assert variables_of(frame) in [variables_of(other) for other in beside if other["function"] == "main"]
    # Below their function, which is below their task.
    assert re.search(r"\n( *)sleeper \(.*async_parked.py:\d+\)\n\1    arg seconds = 1003\n", text)
    assert all(len(line) <= 80 for line in text.splitlines())


def test_text_fits_80_columns_and_has_a_tree(kaa, python, scripts):
    with parked(python, scripts) as (process, told):
        lines = python.kaa(kaa)("dump", "--async", str(told["pid"]), env=NARROW).stdout.splitlines()
        # It was not harmed.
        process.stdin.close()
        assert process.wait() == 0
    assert max(map(len, lines)) <= 80
    # From 3.14 on asyncio forgets a task when it is done.
    done = python.version < (3, 14)
    assert re.fullmatch(rf"{len(told['tasks']) + 1 + done} tasks: 1 running, \d+ waiting, 1 scheduled{', 1 done' * done}", lines[3])
    assert lines[4].startswith(f"waiting for: tasks {len(told['awaits'])}, ")
    assert sum(line.startswith("gather  ") and "waits for 2 tasks" in line for line in lines) == 1
    place = lines.index("gather (waits for 2 tasks)")
    assert re.fullmatch(r"    gathers \(.*async_parked.py:\d+\)", lines[place + 1])
    assert lines[place + 2] == "    < sleep-1 (sleeps for 1001 s)"
    assert lines[place + 5] == "    < sleep-2 (sleeps for 1002 s)"


@pytest.mark.and_free_threaded
@pytest.mark.few_versions
def test_core(kaa, root, python, scripts, tmp_path, cores):
    with parked(python, scripts, cwd=tmp_path, preexec_fn=allow_core) as (process, told):
        core = dies_with_core(process, told["pid"], tmp_path)
    check_waits(check_tasks(dumped(python.kaa(kaa), core), told), told)


@pytest.mark.and_free_threaded
@pytest.mark.few_versions
def test_no_task_is_torn(kaa, python):
    """Each coroutine is one that can be, and so is what waits."""
    kaa, seen = python.kaa(kaa), 0
    with started([*python.command, "-c", BUSY], stdout=subprocess.PIPE, text=True) as process:
        pid = process.stdout.readline().strip()
        while seen < 40:
            for task in dumped(kaa, pid)["tasks"]:
                functions = [frame["function"] for frame in task["frames"]]
                if not functions or functions[-1] != "tree":
                    continue
                seen += 1
                assert task["problem"] is None
                if task["state"] == "waiting":
                    assert functions == TREES[0] and task["waits_for"] == "sleep"
                else:
                    # sleep(0) and what it calls, too.
                    assert any(functions[-len(tree):] == tree for tree in TREES)


@pytest.mark.and_free_threaded
@pytest.mark.few_versions
def test_loops_of_threads(kaa, python):
    """Lines, though free-threaded builds have a copy of the instructions for each thread; and what a thread leaves."""
    with started([*python.command, "-c", THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        pid, told = json.loads(process.stdout.readline())
        until(lambda: "read" in calls_of(pid), "that the first thread waits")
        dump = dumped(python.kaa(kaa), str(pid))
    tasks = {task["name"]: task for task in dump["tasks"] if task["state"] != "done"}
    own = {name: [[frame["function"], frame["line"]] for frame in task["frames"]] for name, task in tasks.items()}
    assert own == told and dump["tasks_complete"]
    threads = [{tasks[f"{which}-{n}"]["tid"] for n in range(4)} for which in range(3)]
    assert [len(tids) for tids in threads] == [1, 1, 1] and len(set.union(*threads)) == 3


@pytest.mark.half_of_the_versions
@pytest.mark.and_free_threaded
def test_fields_of_tasks(python):
    """Where src/python/tasks.c says that this version has them."""
    fields, before, after = json.loads(run([*python.command, "-c", FIELDS]).stdout)
    table = (pathlib.Path(__file__).parents[2] / "src/python/tasks.c").read_text(encoding="ascii")
    rows = [list(map(int, row.split(","))) for row in re.findall(r"^\t\{ ((?:\d+, )+\d+) \},$", table, re.M)]
    # The rows of 3.8 to 3.15, then those of free-threaded builds from 3.13 on.
    row = python.version[1] - 13 + 8 if python.free_threaded else python.version[1] - 8
    size, future, state, waiter, coroutine, name, awaited_by, _, _ = rows[row]
    assert (fields["task_size"], fields["future_size"]) == (size, future)
    assert (fields["waiter"], fields["coroutine"], fields["name"]) == (waiter, coroutine, name)
    assert fields["awaited_by"] == (awaited_by or None)
    head = 32 if python.free_threaded else 16
    assert (fields["loop"], fields["callback"]) == (head, head + 8)
    # PENDING, then FINISHED.
    assert (before[state // 4], after[state // 4]) == (0, 2)


def paths_of(text):
    """The tree of `python -m asyncio pstree` as paths of tasks' names."""
    paths, names = set(), {}
    for line in text.splitlines():
        found = re.search(r"^(.*?)\(T\) (.*)$", line)
        if not found:
            continue
        depth = len(found[1])
        names = {place: name for place, name in names.items() if place < depth}
        names[depth] = found[2]
        paths.add(tuple(names[place] for place in sorted(names)))
    return paths


def paths_in(dump):
    tasks, paths = dump["tasks"], set()

    def walk(index, before):
        path = (*before, tasks[index]["name"])
        paths.add(path)
        for awaited in tasks[index]["awaits"]:
            walk(awaited, path)
    awaited = {index for task in tasks for index in task["awaits"]}
    for task in tasks:
        if task["index"] not in awaited and task["state"] != "done":
            walk(task["index"], ())
    return paths


def test_beside_pstree(kaa, some_python, scripts):
    """Which awaits which, by `python -m asyncio pstree`, which cannot read a name that is not ASCII."""
    with parked(some_python, scripts) as (_, told):
        theirs = run([*some_python.command, "-m", "asyncio", "pstree", told["pid"]]).stdout
        ours = dumped(some_python.kaa(kaa), str(told["pid"]))
    expected = {path for path in paths_of(theirs) if all(name.isascii() and name.isprintable() for name in path)}
    assert len(expected) > 20
    assert expected == {path for path in paths_in(ours) if all(name.isascii() for name in path)}


# Many tasks: what is read within 0.4 s has no line.
CROWD = """
import asyncio, sys
async def main():
    kept = [asyncio.ensure_future(asyncio.sleep(10000)) for _ in range(int(sys.argv[1]))]
    await asyncio.sleep(0)
    print(flush=True)
    await asyncio.sleep(10000)
asyncio.run(main())
"""


def dump_on_a_terminal(kaa, python, tasks):
    with started([*python.command, "-c", CROWD, str(tasks)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with Terminal([*python.kaa(kaa).command, "dump", "--async", process.pid], draw=False) as terminal:
            terminal.wait()
    return terminal.raw.decode()


def test_progress_of_many_tasks(kaa, newest_python):
    """One line of a terminal, and nothing of it stays. So many that it takes a while on a processor of any speed."""
    for tasks in 12000, 60000:
        line, _, rest = dump_on_a_terminal(kaa, newest_python, tasks).rpartition("\r\x1b[K")
        if line:
            break
    assert re.search(r"^\rreading tasks \[[# ]{40}\] +\d+%", line) and line.count("\n") == 0
    assert "\nprocess " in f"\n{rest}" and f"{tasks + 1} tasks:" in rest
