# SPDX-License-Identifier: GPL-2.0-only
"""The reader of script output that other tests lean on, against what the stock perfs print."""
from harness.chance import most
from harness.script_output import parse


# Some hundred milliseconds of work, wherever it runs.
LOOP = ["sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done"]


def test_samples_and_frames_are_all_read(root, perf, tmp_path):
    data = tmp_path / "perf.data"
    perf("record", "-q", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", *LOOP)
    text = perf("script", "-i", data).stdout
    samples = parse(text)
    count = sum(1 for line in text.splitlines() if "cpu-clock:" in line)
    frames = sum(1 for line in text.splitlines() if line.startswith("\t"))
    assert len(samples) == count > 5
    assert sum(len(sample.frames) for sample in samples) == frames > count
    assert all(sample.comm and sample.time and sample.event.startswith("cpu-clock") for sample in samples)
    assert any("libc.so" in frame.dso for sample in samples for frame in sample.frames)


def test_source_lines_are_read_past(root, perf_sid, tmp_path):
    data = tmp_path / "perf.data"
    perf_sid("record", "-q", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", *LOOP)
    samples = parse(perf_sid("script", "-i", data, "-F", "+srcline").stdout)
    assert len(samples) > 5
    # Seldom the kernel records an empty callchain.
    assert sum(not sample.frames for sample in samples) <= most(0.001, len(samples))


def test_python_frames_and_markers():
    text = ("python3 12/34 [001] 5.000001:    1001001 cpu-clock:u: \n"
            "\t    6b6100001003 py::A.f:/x y.py+0x2 (/t/perf.data.python)\n"
            "  /x y.py:7\n"
            "\t    6b6100002001 py::<module>:/x y.py+0x0 (/t/perf.data.python)\n"
            "\t    6b6100000011 [truncated stack] (/t/perf.data.python)\n")
    sample, = parse(text)
    assert (sample.comm, sample.tid, sample.period, sample.event) == ("python3", 34, 1001001, "cpu-clock:u")
    assert sample.python == [("<module>", "/x y.py", None), ("A.f", "/x y.py", 7)]
    assert sample.markers == ["[truncated stack]"]
