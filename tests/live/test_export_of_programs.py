# SPDX-License-Identifier: GPL-2.0-only
"""`kaa export` of real recordings, held against `kaa script`."""
import collections

import pytest

from harness import exports, script_output
from harness.collapsed import collapsed, counts, differing
from harness.noticed import noticed_in

pytestmark = pytest.mark.usefixtures("bpf")


def python_part(stacks):
    """The Python frames of each stack."""
    found = collections.Counter()
    for stack, count in stacks.items():
        found[";".join(frame for frame in stack.split(";") if frame.endswith(")"))] += count
    return found


def test_collapsed_of_a_real_program(kaa, newest_python, scripts, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-F", "999", "-g", "-o", data, "--", *newest_python.command, scripts / "shapes.py", "0.5")
    samples = script_output.parse(kaa("script", "--no-inline", "-i", data, "-F", "+srcline").stdout)
    assert len(samples) > 20
    whole = counts(kaa("export", "--no-inline", "--interpreter-frames", "-i", data).stdout)
    assert not differing(whole, collapsed(samples))
    assert not differing(python_part(counts(kaa("export", "-i", data).stdout)), python_part(whole))


READERS = {"speedscope": exports.speedscope, "pprof": exports.pprof, "otlp": exports.otlp, "firefox": exports.firefox,
           "chrome": exports.chrome, "perfetto": exports.perfetto, "json": exports.kaa_json}


# The shapes in two threads: those that a round of them starts live too briefly to be met for sure.
THREADS = """\
import sys, threading
sys.path.insert(0, sys.argv[1])
import shapes
thread = threading.Thread(target=shapes.main, args=(0.3,))
thread.start()
shapes.main(0.3)
thread.join()
"""


def test_stacks_of_a_real_program(kaa, newest_python, scripts, tmp_path):
    """Every stack with its lines, thread and weight, in each format that holds stacks."""
    data, out = tmp_path / "perf.data", tmp_path / "out"
    kaa("record", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", *newest_python.command, "-c", THREADS, scripts)
    samples = script_output.parse(kaa("script", "--no-inline", "-i", data, "-F", "+srcline").stdout)
    wanted = exports.expected(samples)
    assert len(wanted) > 20 and len({tid for tid, _ in wanted}) > 1
    for name, read in READERS.items():
        kaa("export", "--no-inline", "--interpreter-frames", "--lines", "-i", data, "--format", name, "-o", out)
        assert not differing(read(out.read_bytes()), wanted), name


IMPORTED = ["speedscope", "pprof", "firefox", "json"]


def test_import_of_a_real_program(kaa, newest_python, scripts, tmp_path):
    """Each export comes back with every stack, and so does the text of `kaa script`; kernel, native and Python code, all threads."""
    data, out, back = tmp_path / "perf.data", tmp_path / "out", tmp_path / "back.data"
    kaa("record", "-e", "cpu-clock", "-F", "999", "-g", "-o", data, "--", *newest_python.command, "-c", THREADS, scripts)
    samples = script_output.parse(kaa("script", "--no-inline", "-i", data, "-F", "+srcline").stdout)
    assert len({sample.tid for sample in samples}) > 1
    wanted = exports.expected(samples)
    for name in [*IMPORTED, "script"]:
        if name == "script":
            out.write_text(kaa("script", "--no-inline", "-i", data, "-F", "+pid,+srcline").stdout)
        else:
            kaa("export", "--no-inline", "--interpreter-frames", "--lines", "-i", data, "--format", name, "-o", out)
        kaa("import", out, "-o", back)
        found = script_output.parse(kaa("script", "-i", back, "-F", "+srcline").stdout)
        assert not differing(exports.expected(found), wanted), name
    raw = kaa("export", "--lines", "-i", data).stdout
    out.write_text(raw)
    kaa("import", out, "-o", back)
    assert not differing(counts(kaa("export", "--lines", "-i", back).stdout), counts(raw))


def evaluations(stacks):
    """How many of foo's samples show the evaluation function. One that lacks Python frames does, and says so."""
    return sum(count for stack, count in stacks.items()
               if "foo (" in stack and "_PyEval_EvalFrameDefault" in stack and "[unreadable Python frames]" not in stack)


def test_interpreter_is_folded(kaa, newest_python, scripts, tmp_path):
    """No evaluation function is left in a stack that has a Python frame."""
    data = tmp_path / "perf.data"
    kaa.inside(noticed_in(data))("record", "-F", "999", "-g", "-o", data, "--", *newest_python.command, scripts / "doc_script.py", "0.6")
    folded = counts(kaa("export", "-i", data).stdout)
    whole = counts(kaa("export", "-i", data, "--interpreter-frames").stdout)
    assert evaluations(folded) == 0 < evaluations(whole)


def test_several_events(kaa, newest_python, scripts, tmp_path):
    """One is chosen, and which others there are is said."""
    data = tmp_path / "perf.data"
    kaa("record", "-e", "cpu-clock,page-faults", "-F", "999", "-g", "-o", data, "--", *newest_python.command,
        scripts / "shapes.py", "0.2")
    first = kaa("export", "-i", data)
    assert "page-faults" in first.stderr and "--event" in first.stderr
    second = kaa("export", "-i", data, "--event", "page-faults")
    assert "--event" not in second.stderr
    samples = script_output.parse(kaa("script", "-i", data).stdout)
    of_event = collections.Counter(sample.event.partition(":")[0] for sample in samples)
    assert sum(counts(first.stdout).values()) == of_event["cpu-clock"]
    assert sum(counts(second.stdout).values()) == of_event["page-faults"]
    wrong = kaa("export", "-i", data, "--event", "cycles", status=129).stderr
    assert "no event 'cycles'" in wrong and "page-faults" in wrong
