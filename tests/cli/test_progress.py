# SPDX-License-Identifier: GPL-2.0-only
"""The line that says how far reading and writing are: on a terminal, of files that take a while, and nowhere else."""
import os
import random
import re
import resource
import struct
import subprocess

import pytest

# IP, TID, TIME, CALLCHAIN, PERIOD of user space; task-clock.
SAMPLE_TYPE = 0x127
CALLCHAIN_USER = 0xFFFFFFFFFFFFFE00
REPORT = ["report", "--stdio", "--no-children", "-g", "none", "--sort", "comm", "-i"]


def write_file(path, samples, depth):
    """Samples whose addresses are all different, so that each of them costs as much as can be."""
    chance = random.Random(1)
    data = bytearray(struct.pack("<IHHII16s", 3, 0, 32, 7, 7, b"many"))
    for i in range(samples):
        size = 8 + 32 + 8 * (depth + 2)
        data += struct.pack("<IHHQIIQQQ", 9, 2, size, 0x1000, 7, 7, 1000 + i, 1000, depth + 1)
        data += struct.pack("<Q", CALLCHAIN_USER) + struct.pack(f"<{depth}Q", *(chance.getrandbits(46) for _ in range(depth)))
        if i % 1000 == 999:
            data += struct.pack("<IHH", 68, 0, 8)
    attribute = struct.pack("<IIQQQQQ", 1, 128, 1, 1000, SAMPLE_TYPE, 0, 0x220).ljust(128, b"\0") + bytes(16)
    header = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144, 248, len(data), 0, 0) + bytes(32)
    path.write_bytes(header + attribute + data)
    return path


def run_on_terminal(program, data, out, command=REPORT):
    """What it writes to a terminal that is its standard error; its output goes to the file `out`."""
    master, slave = os.openpty()
    with open(out, "wb") as output:
        process = subprocess.Popen([program, *command, data], stdin=subprocess.DEVNULL, stdout=output, stderr=slave)
    os.close(slave)
    text = b""
    try:
        while True:
            text += os.read(master, 65536)
    except OSError:
        pass  # the other end is closed
    os.close(master)
    assert process.wait() == 0
    return text.decode()


@pytest.fixture
def program(kaa):
    return str(kaa.command[0])


def cpu_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def large(kaa, tmp_path_factory):
    """It takes a while on a processor of any speed: what is read within 0.4 s has no line."""
    path, samples, took = tmp_path_factory.mktemp("large") / "large.data", 60000, 0
    while took < 0.9:
        before = cpu_seconds_of_children()
        kaa(*REPORT, write_file(path, samples, 30))
        took, samples = cpu_seconds_of_children() - before, 3 * samples
    return path


def test_bar(kaa, program, large, tmp_path):
    text = run_on_terminal(program, large, tmp_path / "out.txt")
    assert text.endswith("\r\x1b[K"), "the line is gone in the end"
    bars = re.findall(r"\rreading \[(#*)( *)\] +([0-9]+)%", text)
    assert text == "".join(f"\rreading [{full}{rest}] {int(percent):3}%" for full, rest, percent in bars) + "\r\x1b[K"
    percents = [int(percent) for _, _, percent in bars]
    assert len(percents) > 1 and percents == sorted(set(percents)) and percents[-1] <= 100
    for full, rest, percent in bars:
        assert (len(full), len(full + rest)) == (int(percent) * 40 // 100, 40)
    plain = kaa(*REPORT, large)
    assert plain.stderr == ""
    assert plain.stdout == (tmp_path / "out.txt").read_text()


def test_no_bar_for_small_files(program, tmp_path):
    data = write_file(tmp_path / "small.data", 10, 30)
    assert run_on_terminal(program, data, tmp_path / "out.txt") == ""


EXPORT = ["export", "-q", "--format", "chrome"]


def test_bar_of_writing(program, large, tmp_path):
    """Of the format whose files are much larger than the recording."""
    text = run_on_terminal(program, large, tmp_path / "out.txt", [*EXPORT, "-o", os.devnull, "-i"])
    percents = [int(percent) for percent in re.findall(r"\rwriting \[#* *\] +([0-9]+)%", text)]
    assert len(percents) > 1 and percents == sorted(set(percents)) and percents[-1] <= 100
    assert text.endswith("%\r\x1b[K"), "the line is gone in the end"
    # What reads the output may show it on the same terminal.
    assert "writing" not in run_on_terminal(program, large, os.devnull, [*EXPORT, "-i"])
