# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record --async` beside what programs say of their tasks: how long each lived, and ran."""
import collections
import json
import re
import subprocess

import pytest

from harness import parameters, pythons
from harness.call_pairs import stacks
from harness.chance import deviations, deviations_of_sum
from harness.summary import without_samples

# What a task of scripts/async_times.py may wait for; none does for what is not said here, but for its turn.
WAITS = {"sleeper": "sleep", "worker": "sleep", "blocker": "sleep", "holder": "sleep", "wanter": "lock",
         "iterator": "sleep", "caller": "thread", "gatherer": "task"}
# Its coroutines while it waits, outermost first.
CHAINS = {"sleeper": ["sleeper", "nap"], "worker": ["worker", "nap"], "blocker": ["blocker", "nap"],
          "holder": ["holder", "nap"], "wanter": ["wanter"], "iterator": ["iterator", "numbers", "nap"],
          "caller": ["caller"], "gatherer": ["gatherer"]}
RUNS = ("running", "[idle]", "[CPU wait]")


def state_of(sample):
    """The marker that it begins with; a task or thread without one runs."""
    first = sample.frames[0].symbol if sample.frames else ""
    return first if first.startswith("[") else "running"


def by_task(samples):
    """Samples of each task, by its name."""
    found = collections.defaultdict(list)
    for sample in samples:
        name, file, _ = sample.python[0] if sample.python else (None, None, None)
        if file == "<asyncio>":
            found[name.partition(" ")[2]].append(sample)
    return found


def unread(samples, function):
    """Of samples by task those that stand for tasks that were not read: without a name, of a task that runs the function."""
    return [sample for sample in samples[""] if function in {name.rpartition(".")[2] for name, _, _ in sample.python}]


def seconds(samples, states=None):
    return sum(sample.period for sample in samples if not states or state_of(sample) in states) / 1e9


def by_chance(periods):
    """The part of their sum that chance does: which tasks a look reads is chance, and so is how many looks there are."""
    return deviations_of_sum(periods) / sum(periods) if periods else 1


def a_part(samples, share):
    """A share that is no more than this one, whatever chance does."""
    return share + deviations([sample.period for sample in samples], 0)


def record(kaa, python, data, *command):
    return python.kaa(kaa)("record", "--async", "-F", "499", "-o", data, "--", python.path, *command)


def check_stack(name, sample):
    """Nothing of the event loop, and nothing that the task did not await."""
    names = [function.rpartition(".")[2] for function, _, _ in sample.python]
    assert names[0] == f"task {name}", sample
    assert not {"_run_once", "_run", "run_forever"} & set(names), sample
    if state_of(sample) == f"[awaits {WAITS[name]}]" and names[1:] != CHAINS[name]:
        # It awaits sleep(0) there.
        assert names[1:] == CHAINS[name][:1], sample


@pytest.mark.and_free_threaded
def test_time_of_each_task(kaa, python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    result = record(kaa, python, data, scripts / "async_times.py", "1.2")
    told, samples = json.loads(result.stdout), by_task(stacks(kaa, data))
    assert set(told) == set(WAITS) and set(told) < set(samples), samples.keys()
    for name, (life, ran) in told.items():
        named = samples[name]
        own = named + unread(samples, name)
        chance = by_chance([sample.period for sample in own])
        allowed = (0.05 + chance) * life + without_samples(data, "wall") + 0.1
        states = collections.Counter()
        for sample in named:
            check_stack(name, sample)
        for sample in own:
            states[state_of(sample)] += sample.period / 1e9
        message = (name, life, ran, states, allowed, result.stderr)
        assert abs(seconds(own) - life) < allowed, message
        # It lives before it begins to measure itself, and awaits its turn then.
        assert seconds(named) - seconds(named, ["[awaits its turn]"]) < 1.02 * life + 0.05, message
        # While it computes the machine may give its CPU to others, and blocker sleeps.
        assert abs(seconds(own, RUNS) - ran) < allowed, message
        others = set(states) - {*RUNS, f"[awaits {WAITS[name]}]", "[awaits its turn]"}
        assert sum(states[state] for state in others) < a_part(own, 0.05) * life, message
        assert states[f"[awaits {WAITS[name]}]"] > (0.1 - chance) * life, message


# Of as many tasks only some are read at a time. COUNT
MANY = """
import asyncio, json, sys, time
lives = []
async def inner(n):
    await asyncio.sleep(0.2 + n % 10 / 20)
async def outer(n):
    began = time.perf_counter()
    while time.perf_counter() < end:
        await inner(n)
    lives.append(time.perf_counter() - began)
async def main():
    global end
    end = time.perf_counter() + 1.5
    tasks = [asyncio.ensure_future(outer(n)) for n in range(int(sys.argv[1]))]
    for number, task in enumerate(tasks):
        task.set_name(f"part {number % 4}")
    await asyncio.wait(tasks)
asyncio.run(main())
print(json.dumps(sum(lives)))
"""


@pytest.mark.few_versions
def test_some_stand_for_all(kaa, python, tmp_path):
    data = tmp_path / "perf.data"
    result = record(kaa, python, data, "-c", MANY, "2000")
    life, samples = json.loads(result.stdout), by_task(stacks(kaa, data))
    parts = [seconds(samples[f"part {n}"]) for n in range(4)]
    allowed, looks = 0.1 + without_samples(data, "wall"), collections.Counter()
    # Those of one look stand for the same time.
    for sample in sum((samples[f"part {n}"] for n in range(4)), []):
        looks[sample.time] += sample.period
    assert abs(sum(parts) / life - 1) < allowed + by_chance(list(looks.values())), (parts, life)
    for n in range(4):
        assert abs(parts[n] / life - 0.25) < 0.25 * (allowed + by_chance([sample.period for sample in samples[f"part {n}"]])), (parts, life)


# As a server has them: so many tasks at a time, each of a few ms, and then another one. COUNT
SHORT = """
import asyncio, json, sys, time
lives = {}
async def request(kind, seconds):
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    lives[kind] = lives.get(kind, 0) + time.perf_counter() - began
async def quick():
    await request("quick", 0.01)
async def slow():
    await request("slow", 0.04)
async def client(handler):
    while time.perf_counter() < end:
        await asyncio.create_task(handler())
async def main():
    global end
    end = time.perf_counter() + 2
    await asyncio.gather(*(client(handler) for handler in (quick, slow) for _ in range(int(sys.argv[1]))))
asyncio.run(main())
print(json.dumps(lives))
"""


@pytest.mark.few_versions
def test_short_tasks(kaa, python, tmp_path):
    """By their function: each task is seen once or twice, or not at all."""
    data = tmp_path / "perf.data"
    result = record(kaa, python, data, "-c", SHORT, "40")
    lives, looks = json.loads(result.stdout), collections.defaultdict(collections.Counter)
    for sample in stacks(kaa, data):
        for handler in {"quick", "slow"} & {name for name, _, _ in sample.python}:
            looks[handler][sample.time] += sample.period
    assert set(looks) <= set(lives), result.stderr
    for handler, life in lives.items():
        found, periods = sum(looks[handler].values()) / 1e9, list(looks[handler].values())
        # Of one look some stand for all.
        allowed = 0.3 + without_samples(data, "wall") + 2 * by_chance(periods)
        assert abs(found / life - 1) < allowed, (handler, found, life, allowed, result.stderr)


BLOCKS = """
import asyncio, time
def block():
    time.sleep(3)
async def inner():
    block()
async def main():
    await inner()
asyncio.run(main())
"""


@pytest.mark.few_versions
def test_report_says_who_waits(kaa, python, tmp_path, scripts):
    """The first screen has lines of the program, what they await, and that it is the time of tasks."""
    data = tmp_path / "perf.data"
    record(kaa, python, data, scripts / "async_times.py", "1")
    text = kaa("report", "--stdio", "-i", data).stdout
    assert re.search(r"\d s of tasks(, [\d.]+ m?s of threads)? in \d", text) and "--mode" not in text, text
    assert "awaits sleep" in text and "awaits lock" in text, text
    assert re.search(r"async_times.py:\d+ +await asyncio.sleep\(seconds\)", text), text
    assert re.search(r"async_times.py:\d+ +await asyncio.gather\(", text), text


@pytest.mark.few_versions
def test_task_that_blocks_its_loop(kaa, python, tmp_path):
    data = tmp_path / "perf.data"
    record(kaa, python, data, "-c", BLOCKS)
    blocks = [sample for samples in by_task(stacks(kaa, data)).values() for sample in samples
              if [name for name, _, _ in sample.python] == ["task", "main", "inner", "block"]]
    # Half of what was not seen at its end counts (docs/poll.md).
    assert blocks and seconds(blocks, ["[idle]"]) + without_samples(data, "wall") > 1, blocks


# Loops of two threads. A task that begins eagerly runs inside the one that began it.
GROUPS = """
import asyncio, json, threading, time
lives = {}
def compute(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
async def leaf():
    compute(0.02)
    await asyncio.sleep(0.03)
async def eager(end):
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    while time.perf_counter() < end:
        await asyncio.create_task(leaf(), name="child")
async def group(end):
    while time.perf_counter() < end:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(leaf(), name="member")
def run(function):
    async def main():
        asyncio.current_task().set_name(function.__name__)
        began = time.perf_counter()
        await function(began + 2)
        lives[function.__name__] = time.perf_counter() - began
    asyncio.run(main())
threads = [threading.Thread(target=run, args=(function,)) for function in (eager, group)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(lives))
"""


@pytest.mark.parametrize("series", parameters.of_pythons([python for python in pythons.find() if python.version >= (3, 12)][::3]))
def test_groups_and_eager_tasks(kaa, series, tmp_path):
    """Who waits for tasks of a group, or for one that it has begun eagerly, waits for tasks; each runs in its own name."""
    data = tmp_path / "perf.data"
    result = record(kaa, series, data, "-c", GROUPS)
    samples = by_task(stacks(kaa, data))
    for name, states in {"group": ["[awaits task]", "[awaits its turn]"], "eager": ["[awaits task]", "[awaits its turn]"],
                         "member": ["[awaits sleep]", "[awaits its turn]"], "child": ["[awaits sleep]", "[awaits its turn]"]}.items():
        own = samples[name] + unread(samples, name)
        known = seconds(own, [*states, *RUNS])
        assert seconds(own, states[:1]) > 0 and known > (2 - a_part(own, 1.05)) * seconds(own), (name, collections.Counter(map(state_of, own)))
    for name, life in json.loads(result.stdout).items():
        own = samples[name] + unread(samples, name)
        allowed = (0.05 + by_chance([sample.period for sample in own])) * life + without_samples(data, "wall") + 0.1
        assert abs(seconds(own) - life) < allowed, (name, life, seconds(own), allowed)
    # A task has its name only once it has begun.
    for name in ("member", "child"):
        assert not any({"group", "eager"} & {function for function, _, _ in sample.python} for sample in samples[name]), samples[name]


def test_where_no_loop_runs(kaa, newest_python, tmp_path):
    data = tmp_path / "perf.data"
    said = record(kaa, newest_python, data, "-c", "import time; time.sleep(2)").stderr
    assert "no event loop of asyncio ran" in said, said
    assert seconds(stacks(kaa, data), ["[idle]"]) + without_samples(data, "wall") > 0.2


@pytest.mark.parametrize("series", parameters.of_pythons([python for python in pythons.find_old() if python.version >= (3, 7)][:1]))
def test_before_3_8(kaa, series, tmp_path):
    """Said as soon as kaa has looked at it, however late that is."""
    words = ["record", "--async", "-o", tmp_path / "perf.data", "--", series.path, "-c", "import time; time.sleep(100000)"]
    with series.kaa(kaa).start(*words, stderr=subprocess.PIPE, text=True) as recorder:
        said = next(line for line in recorder.stderr if "process" in line)
    assert "tasks of asyncio can be read from CPython 3.8 on; this is 3.7" in said, said
