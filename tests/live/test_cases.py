# SPDX-License-Identifier: GPL-2.0-only
"""Programs whose stacks are hard to read: each sample is right, or has a mark. `tests/tools/cases` does so for more of them, and
for as many samples as one likes."""
import re

import pytest

from harness import cases
from harness.case_packages import packages_of

pytestmark = pytest.mark.usefixtures("bpf")

CASES = {case.name: case for case in cases.CASES}


def counted(kaa, python, name, folder, seconds=0.7):
    """Counted, and what it was counted of."""
    case, data, result = CASES[name], folder / "perf.data", cases.Counted()
    truth = case.truth(python.prefix, [python.path], folder)
    cases.record(python.kaa(kaa), python.prefix, case, [python.path], seconds, data)
    text = cases.text_of(python.kaa(kaa), data)
    cases.count(result, truth, python.unstripped, text)
    return result, truth, text


def check(result):
    assert result.asked > 200
    assert not result.problems, result.problems.most_common(5)
    assert result.right > 0.95 * result.asked, result.marks


def test_calls_with_frames_of_all_sizes(kaa, python, tmp_path):
    check(counted(kaa, python, "inlined-gathered", tmp_path)[0])


@pytest.mark.parametrize("name", ["inlined-made", "recursion", "generators", "asyncgens", "callbacks", "interpreters"])
def test_others(kaa, newest_python, tmp_path, name):
    check(counted(kaa, newest_python, name, tmp_path)[0])


def test_greenlets_that_switch_are_whole(kaa, newest_python, tmp_path, monkeypatch):
    """But for the first: the recorder learns of greenlet by a stack that has it, and may not have a processor for a while."""
    python, packages = newest_python, packages_of(newest_python, status=None)
    if not packages:
        pytest.skip("greenlet cannot be had from PyPI")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    _, truth, text = counted(kaa, python, "greenlets", tmp_path, 2)
    blocks, result = text.split("\n\n"), cases.Counted()
    cases.count(result, truth, python.unstripped, "\n\n".join(blocks[3 * len(blocks) // 4:]))
    assert result.asked > 200
    assert not result.problems, result.problems.most_common(5)
    assert result.marked < 0.01 * result.asked, (result.asked, result.marks)


def test_what_is_wrong_is_found(kaa, newest_python, tmp_path):
    """The check can fail: of stacks that lack a caller."""
    result, truth, text = counted(kaa, newest_python, "inlined-gathered", tmp_path)
    lost = re.compile(r"(py::innermost:[^\n]*\n[^\n\t]*)\n\t[^\n]* py::second:[^\n]*\n[^\n\t]*(?=\n)")
    count, torn = len(lost.findall(text)), cases.Counted()
    assert count > 50 and not result.wrong
    cases.count(torn, truth, newest_python.unstripped, lost.sub(r"\1", text))
    assert torn.wrong == count, torn.problems
