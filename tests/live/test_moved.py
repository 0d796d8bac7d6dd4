# SPDX-License-Identifier: GPL-2.0-only
"""A recording names its Python frames wherever it goes: moved, without the image that lay beside it, and with /tmp, where
CPython's perf maps are, emptied."""
import pathlib
import shutil
import tempfile

import pytest

from harness import script_output
from harness.image import image_of
from harness.losses import without_losses
from harness.noticed import noticed_in
from harness.process import Program

pytestmark = pytest.mark.usefixtures("bpf")

# In a mount namespace of its own, with an empty /tmp.
EMPTY_TMP = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]


@pytest.fixture
def elsewhere():
    """A folder that is not in /tmp."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kaa-test-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def moved(kaa, newest_python, scripts, tmp_path, elsewhere):
    """moved(*options): records, and returns what is read at first, and a function that reads the moved file again."""
    maps = set()

    def record(*options):
        data = tmp_path / "perf.data"
        kaa.inside(noticed_in(data))("record", "-q", "-F", "999", "-g", "-o", data, "--", *newest_python.command, *options,
            scripts / "doc_script.py", "0.5")
        before = read(kaa, data)
        maps.update(frame.dso for sample in before for frame in sample.frames if frame.dso.endswith(".map"))
        image_of(data).unlink()
        shutil.move(data, elsewhere / "moved.data")
        for path in maps:
            pathlib.Path(path).unlink(missing_ok=True)
        # The build directory may be in /tmp itself.
        shutil.copy(kaa.command[0], elsewhere / "kaa")
        return before, Program(*EMPTY_TMP, elsewhere / "kaa"), elsewhere / "moved.data"

    return record


def read(kaa, data):
    return script_output.parse(kaa("script", "--ns", "-F", "+srcline", "-i", data).stdout)


def named(samples):
    return [(sample.tid, sample.time, [(f.ip, f.symbol, f.file, f.line) for f in sample.frames]) for sample in samples]


def test_python_frames_keep_names_and_lines(moved):
    before, kaa, data = moved()
    after = read(kaa, data)
    assert sum(frame.is_python and frame.line is not None for sample in after for frame in sample.frames) > 100
    assert named(after) == named(before)
    report = kaa("report", "--stdio", "-n", "-g", "-i", data)
    assert without_losses(report.stderr) == ""
    for name in ("foo", "bar", "baz", "<module>"):
        assert f"py::{name}:" in report.stdout


def test_perf_map_names_are_kept(moved, newest_python):
    if not newest_python.perf_trampoline:
        pytest.skip("this CPython has no perf support of its own")
    before, kaa, data = moved("-X", "perf")
    after = read(kaa, data)
    from_map = [frame for sample in after for frame in sample.frames if frame.dso.endswith(".map")]
    assert len(from_map) > 100 and all(frame.is_python for frame in from_map)
    assert named(after) == named(before)
    report = kaa("report", "--stdio", "--no-children", "-g", "-i", data)
    assert without_losses(report.stderr) == "" and "py::foo:" in report.stdout
