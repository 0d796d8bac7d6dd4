# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's account of BPF programs: how long they ran, and how often."""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import sys
import typing

from harness.process import run

SYS_BPF, BPF_ENABLE_STATS = 321, 32


class Account(typing.NamedTuple):
    # BPF_PROG_TYPE_... of linux/bpf.h
    kind: int
    nanoseconds: int
    runs: int


@contextlib.contextmanager
def bpf_stats():
    """The kernel keeps account until the block ends. The switch is held by a descriptor: it goes back, however that happens."""
    attr = ctypes.create_string_buffer(128)
    fd = ctypes.CDLL(None, use_errno=True).syscall(SYS_BPF, BPF_ENABLE_STATS, attr, len(attr))
    if fd < 0:
        sys.exit(f"cannot switch on bpf_stats: {os.strerror(ctypes.get_errno())}; run it as root")
    try:
        yield
    finally:
        os.close(fd)


def programs_of(pid):
    """The account of each program that a process holds; several descriptors of one program are one."""
    found = {}
    for path in pathlib.Path("/proc", str(pid), "fdinfo").iterdir():
        facts = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        if "prog_id" in facts and "run_time_ns" in facts:
            found[int(facts["prog_id"])] = Account(int(facts["prog_type"]), int(facts["run_time_ns"]), int(facts["run_cnt"]))
    return list(found.values())


def process_map(recorder, bpftool):
    """The number of the map of processes that the walker of a recorder has. There may be other recorders."""
    for info in pathlib.Path(f"/proc/{recorder.pid}/fdinfo").iterdir():
        found = None
        # It may have closed one since.
        with contextlib.suppress(FileNotFoundError):
            found = re.search(r"^map_id:\s*(\d+)", info.read_text(), re.M)
        if found and json.loads(run([bpftool, "-j", "map", "show", "id", found[1]]).stdout)["name"] == "processes":
            return found[1]
    raise AssertionError("no map of processes")
