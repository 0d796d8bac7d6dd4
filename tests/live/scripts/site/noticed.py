# SPDX-License-Identifier: GPL-2.0-only
"""For a program that is recorded: until the recorder knows that it is a Python. A recorder that waits for a CPU meanwhile, as
it may for long, has samples without Python frames until then."""
import os


def size_of(path):
    return os.stat(path).st_size if os.path.exists(path) else -1


def until_noticed(path):
    """The recorder has been at its rings since, and written what it found: the first time may have begun before."""
    for _ in range(3):
        size = size_of(path)
        while size_of(path) == size:
            # Works, and touches pages: whatever the event, there are samples to be written.
            bytearray(1 << 18)
            sum(range(1000))


def looks_of(pid):
    """How often the first thread of a process has gone to sleep."""
    with open("/proc/%d/status" % pid) as status:
        return int(status.read().partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def until_looked():
    """The same where samples would take room that there is not: asleep, until the recorder, which is the parent, has woken up so
    often that it has seen all."""
    import time
    end = looks_of(os.getppid()) + 20
    while looks_of(os.getppid()) < end:
        time.sleep(0.05)
