# SPDX-License-Identifier: GPL-2.0-only
"""Waiting until something has happened. A fixed time may be too short for it, on a machine that others use.

Samples are counted in CPU time: what a process of which many samples are wanted has run is asked, not how long it is there.
"""
import contextlib
import os
import pathlib
import shlex
import time

from harness.process import HANG

TICKS = os.sysconf("SC_CLK_TCK")

# For sh: ends once process $1 has run for $2 ticks more, or is gone.
WHILE_BUSY = """
pid=$1 more=$2
look() {
    read -r stat <"/proc/$pid/stat" || exit 0
    set -- ${stat##*) }
    ticks=$((${12} + ${13}))
}
look
end=$((ticks + more))
while [ $ticks -lt $end ]; do
    sleep 0.02
    look
done
"""


def until(condition, what, timeout=HANG):
    end = time.time() + timeout
    while not condition():
        assert time.time() < end, f"not within {timeout} s: {what}"
        time.sleep(0.01)


def process_state(pid):
    """The letter of /proc/PID/stat: R, S, T, Z and so on."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# System calls of x86-64; time.sleep() has been each of these.
CALLS = {"0": "read", "23": "sleep", "35": "sleep", "230": "sleep", "270": "sleep"}


def calls_of(pid):
    """What the threads of a process wait in, as far as CALLS has it."""
    found = []
    for file in pathlib.Path(f"/proc/{pid}/task").glob("*/syscall"):
        # A thread may have ended since.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.append(CALLS.get(file.read_text().split()[0]))
    return list(filter(None, found))


def innermost_child(pid):
    """Of programs that lead to another one (those into the chroot, a recorder): that one."""
    while True:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if not children:
            return pid
        pid = int(children[0])


def cpu_seconds(pid):
    """For how long a process has run, in CPU time."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def until_busy(pid, seconds):
    """Until the process has run for that much longer."""
    end = cpu_seconds(pid) + seconds
    until(lambda: cpu_seconds(pid) >= end, f"that process {pid} has run for {seconds} s")


def while_busy(pid, seconds):
    """Words of a command that lasts so long: `record -p PID -- ...` has samples of that much."""
    return ["sh", "-c", WHILE_BUSY, "sh", str(pid), str(round(seconds * TICKS))]


def while_each_busy(pids, seconds):
    """Such a command for several processes: until the last of them has run for so long."""
    return ["sh", "-c", "; ".join(shlex.join(while_busy(pid, seconds)) for pid in pids)]


def until_recorded(recorder, data, seconds):
    """Until the program that a recorder has started has run for that much longer, and the file has what was sampled."""
    until_busy(innermost_child(recorder.pid), seconds)
    size = data.stat().st_size
    until(lambda: data.stat().st_size > size, f"that {data} grows")
