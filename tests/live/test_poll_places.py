# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record --python=poll` where services run: in a container, and beside many threads and workers that come and go."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from harness import script_output
from harness.nobody import AS_NOBODY, NOBODY
from harness.process import run, started
from harness.waiting import until, while_busy

# A user of a container: its own ids and numbers of processes, and no capability outside.
CONTAINERS = {"user": ["unshare", "-U", "-r"], "user and pid": ["unshare", "-U", "-r", "-p", "-f", "--mount-proc"]}
# Starts a program, and records it until it has run for a second.
ATTACH = """
import json, subprocess, sys

kaa, data, busy, *program = sys.argv[1:]
process = subprocess.Popen(program, stdout=subprocess.PIPE)
process.stdout.readline()
pid = str(process.pid)
recorder = subprocess.run([kaa, "record", "-F", "1999", "-o", data, "-p", pid, "--",
                           *[pid if word == "PID" else word for word in json.loads(busy)]])
process.kill()
sys.exit(recorder.returncode)
"""
# Its lines say who was called.
APP = """
import sys, time

def inner():
    end = time.process_time() + 0.01
    while time.process_time() < end:
        pass

def outer():
    inner()  # here

print("ready", flush=True)
for _ in range(int(sys.argv[1])):
    outer()
"""
CALL = next(number for number, line in enumerate(APP.splitlines(), 1) if "# here" in line)


@pytest.fixture
def place():
    """A folder of nobody's that nobody can reach."""
    with tempfile.TemporaryDirectory(prefix="kaa-poll-", dir="/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield pathlib.Path(folder)


@pytest.fixture
def own_kaa(place, kaa):
    own = place / "kaa"
    shutil.copy(kaa.command[-1], own)
    return own


@pytest.mark.parametrize("way", ["command", "attached"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_in_a_container(root, kaa, own_kaa, scripts, place, container, way):
    """Docker's filter denies perf_event_open and bpf to who has no rights outside; what is left gives functions and lines."""
    enter = [*AS_NOBODY, *CONTAINERS[container]]
    if (refused := run([*enter, "true"], status=None)).status:
        pytest.skip(f"no user namespaces: {refused.stderr.strip()}")
    shutil.copy(scripts / "without_events.py", place)
    (place / "app.py").write_text(APP)
    (place / "attach.py").write_text(ATTACH)
    filtered, data = [*enter, "/usr/bin/python3", place / "without_events.py"], place / "perf.data"
    if way == "command":
        command = [own_kaa, "record", "-F", "1999", "-o", data, "--", "/usr/bin/python3", place / "app.py", "100"]
    else:
        busy = json.dumps(list(map(str, while_busy("PID", 1))))
        command = ["/usr/bin/python3", place / "attach.py", own_kaa, data, busy, "/usr/bin/python3", place / "app.py", "1000000"]
    said = run([*filtered, *command], cwd=place).stderr
    assert "Python frames by polling" in said, said
    text = kaa("script", "-f", "--no-inline", "-F", "comm,pid,tid,time,period,event,ip,sym,dso,srcline", "-i", data).stdout
    found = [sample.python for sample in script_output.parse(text)]
    # Outermost first.
    pairs = [(outer[0], outer[2], inner[0]) for stack in found for outer, inner in zip(stack, stack[1:])]
    assert pairs.count(("outer", CALL, "inner")) >= 5, said
    assert {pair[1] for pair in pairs if pair[0] == "outer" and pair[2] == "inner"} == {CALL}


# 50 threads, and two generations of 8 workers; what each of them was is printed.
SERVICE = """
import json, multiprocessing, os, sys, threading, time

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def serve(number):
    while not over.wait(0.05 + number / 1000):
        spin(0.002)

def work(number):
    spin(0.05)
    time.sleep(1.5)

print(os.getpid(), flush=True)
over, threads = threading.Event(), {}
for number in range(50):
    thread = threading.Thread(target=serve, args=(number,), name=f"server {number}")
    thread.start()
    threads[thread.native_id] = thread.name
print("ready", flush=True)
sys.stdin.readline()
workers = []
for _ in range(2):
    generation = [multiprocessing.Process(target=work, args=(number,)) for number in range(8)]
    for worker in generation:
        worker.start()
        workers.append(worker.pid)
    for worker in generation:
        worker.join()
        worker.close()
print(json.dumps([threads, workers]), flush=True)
sys.stdin.readline()
over.set()
"""


def open_files(pid):
    found = []
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        # It may be closed meanwhile.
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(entry))
    return found


def status(pid):
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return fields["State"].split()[0], int(fields["TracerPid"])


def test_a_service_of_threads_and_workers(root, own_kaa, kaa, place):
    """All of them have their names; nothing is stopped or traced, and no descriptor or file is left behind."""
    program, data = place / "service.py", place / "perf.data"
    program.write_text(SERVICE)
    user = [*AS_NOBODY, "--inh-caps=-all", "--bounding-set=-all"]
    with started([*user, "/usr/bin/python3", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as service:
        pid = int(service.stdout.readline())
        assert service.stdout.readline() == b"ready\n"
        files = open_files(pid)
        # Threads that sleep have samples, too, however few moments this machine has; so all sleep for a while.
        record = [*user, own_kaa, "record", "--mode", "wall", "-F", "499", "-o", data, "-p", pid]
        with started(record, stderr=subprocess.PIPE) as recorder:
            until(data.exists, "that kaa records")
            service.stdin.write(b"go\n")
            seen = set()
            said = b""
            os.set_blocking(service.stdout.fileno(), False)

            def answered():
                nonlocal said
                seen.add(status(pid))
                said += service.stdout.read() or b""
                return said.endswith(b"\n")

            until(answered, "that all workers have ended")
            threads, workers = json.loads(said)
            # Three files of each task that is left, and none of those that are gone.
            until(lambda: not any(re.match(rf"/proc/{worker}\b", name) for name in open_files(recorder.pid)
                                  for worker in workers), "that the files of workers are closed")
            assert sorted(open_files(pid)) == sorted(files)
            recorder.send_signal(2)
            message = recorder.communicate()[1].decode()
            assert recorder.returncode == 0, message
        assert service.poll() is None
        seen.add(status(pid))
        service.stdin.write(b"end\n")
        assert service.wait() == 0
    assert {state for state, _ in seen} <= {"R", "S", "D"} and {tracer for _, tracer in seen} == {0}, seen
    assert {entry.name for entry in place.iterdir()} - {"kaa", "service.py"} >= {"perf.data"}
    assert all(entry.name.startswith(("perf.data", "kaa", "service.py")) for entry in place.iterdir()), list(place.iterdir())
    text = kaa("script", "-f", "-F", "pid,tid,thread,pysym", "-i", data).stdout
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    print(message)
    for tid, name in threads.items():
        own = [rest for numbers, rest in lines if numbers.split("/")[-1] == tid]
        assert own and all(name in rest for rest in own), (tid, name, own, message)
    for worker in workers:
        own = [rest for numbers, rest in lines if numbers.split("/")[0] == str(worker)]
        # Whoever had no processor for all of a worker's life says that it came too late.
        assert any("spin" in rest or "work" in rest for rest in own) or "came too late" in message, (worker, own, message)
    worked = {int(numbers.split("/")[0]) for numbers, rest in lines if "spin" in rest or "work" in rest}
    # Whoever had none for a whole generation has missed much.
    late = re.search(r"came too late to take \d+ samples? \(([\d.]+) %\)", message)
    least = 2 if late and float(late[1]) > 10 else len(workers) / 2
    assert len(worked.intersection(workers)) > least, (worked, workers, message)
