# SPDX-License-Identifier: GPL-2.0-only
"""What happens between two functions, as docs/python-frames.md says it, in docs/examples/between.py."""
import pathlib

import pytest

from harness.script_output import parse

EXAMPLE = pathlib.Path("docs/examples/between.py").resolve()


@pytest.mark.few_versions
def test_as_the_page_says(kaa, root, bpf, tmp_path, python):
    data, stacks = tmp_path / "between.data", []
    # Where most ticks are lost, the example's second of CPU time has a few samples of it.
    for _ in range(5):
        python.kaa(kaa)("record", "-q", "-F", "999", "-g", "-o", data, "--", python.path, EXAMPLE)
        stacks += [[name for name, file, _ in sample.python if file == str(EXAMPLE)]
                   for sample in parse(kaa("script", "-i", data).stdout) if not sample.markers]
        freeing = [stack for stack in stacks if stack[-1:] == ["caller"]]
        iterating = [stack for stack in stacks if stack and stack[-1].endswith("__iter__")]
        if len(freeing) > 20 and len(iterating) > 5:
            break
    assert len(freeing) > 5 and len(iterating) > 0, (len(stacks), len(freeing), len(iterating))
    between = ["total.<locals>.<genexpr>"] if python.version >= (3, 15) else []
    for stack in iterating:
        assert stack[:-1] == ["<module>", "total", *between]
