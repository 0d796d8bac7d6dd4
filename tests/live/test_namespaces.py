# SPDX-License-Identifier: GPL-2.0-only
"""kaa where processes have other numbers than the kernel's own, as in a container."""
import pytest

from harness.script_output import parse

PID_NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]


@pytest.mark.parametrize("depth", [1, 2])
def test_python_frames_inside_pid_namespaces(bpf, kaa, newest_python, scripts, tmp_path, depth):
    data = tmp_path / "perf.data"
    inside = kaa.inside(PID_NAMESPACE * depth)
    inside("record", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", newest_python.path,
           scripts / "doc_script.py", "20000000")
    samples = parse(kaa("script", "-i", data).stdout)
    stacks = [[name for name, _, _ in sample.python] for sample in samples]
    inner = [stack for stack in stacks if "foo" in stack]
    assert len(inner) > 100
    assert all(stack[-4:] == ["<module>", "baz", "bar", "foo"] for stack in inner)
    assert len(inner) > 0.8 * len(samples)
