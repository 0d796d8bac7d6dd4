# SPDX-License-Identifier: GPL-2.0-only
"""`kaa inject` on the command line: copies, what perf inject has and kaa has not, and what makes no sense."""
import re
import subprocess

import pytest

from harness.image import image_of, images_in
from harness.process import run


def test_a_copy_reads_the_same(kaa, recording, tmp_path):
    copy = tmp_path / "copy.data"
    result = kaa("inject", "-i", recording, "-o", copy)
    assert not result.stdout and not result.stderr
    for command in ("script", "report"):
        # What to type next names the file.
        said = kaa(command, "-i", copy).stdout.replace(str(copy), str(recording))
        assert said == kaa(command, "-i", recording).stdout
    # A copy of the copy is the same bytes: nothing is lost, nothing grows.
    again = tmp_path / "again.data"
    kaa("inject", "-i", copy, "-o", again)
    assert again.read_bytes() == copy.read_bytes()


def test_a_pipe_reads_the_same(kaa, recording):
    piped = run(["sh", "-c", '"$0" inject -i "$1" | "$0" script -i -', *kaa.command, recording])
    assert piped.stdout == kaa("script", "-i", recording).stdout


def test_verbose_counts(kaa, recording, tmp_path):
    assert "records written" in kaa("inject", "-v", "-i", recording, "-o", tmp_path / "copy").stderr


def test_no_mark_of_a_jitdump(kaa, recording, tmp_path):
    result = kaa("inject", "--jit", "-i", recording, "-o", tmp_path / "copy")
    assert result.stderr == "kaa inject: warning: the recording names no jitdump, so nothing was added\n"


def test_pythons_image(kaa, recording, tmp_path):
    copy = tmp_path / "copy.data"
    kaa("inject", "--python", "-i", recording, "-o", copy)
    symbols = run(["readelf", "-sW", image_of(copy)]).stdout
    assert symbols.count("py::") > 0 and "[truncated stack]" in symbols
    assert str(image_of(copy)) in kaa("script", "-i", copy).stdout


def path_in(kaa, recording):
    """The base name of the image that the recording itself names."""
    return re.search(r"/(perf\.data\.python-[0-9a-f]+)\)", kaa("script", "-i", recording).stdout)[1]


def test_each_recording_keeps_its_image(kaa, recording, tmp_path):
    """The recordings name their images by path: one that is renamed, by kaa or by hand, must not lose it."""
    copy = tmp_path / "perf.data"
    kaa("inject", "--python", "-i", recording, "-o", copy)
    assert images_in(tmp_path) == {image_of(copy).name}
    first = copy.rename(tmp_path / "monday.data")
    alike = {"perf.data.python-notes", "perf.data.python-311"}
    for round in range(4):
        # Files that only look alike are not touched.
        (tmp_path / "perf.data.python-notes").touch()
        (tmp_path / "perf.data.python-311").write_bytes(recording.read_bytes())
        (tmp_path / "perf.data.python").touch()
        kaa("inject", "--python", "-i", recording, "-o", copy)
        there = [path for path in (copy, tmp_path / "perf.data.old", first) if path.exists()]
        assert len(there) == (3 if round else 2)
        expected = {path_in(kaa, path) for path in there}
        assert len(expected) == len(there) and images_in(tmp_path) == expected | alike
    first.unlink()
    kaa("inject", "--python", "-i", recording, "-o", copy)
    assert len(images_in(tmp_path) - alike) == 2 and (tmp_path / "perf.data.python").exists()


@pytest.mark.parametrize("words, text", [
    (["--itrace=i100us"], "kaa does not decode hardware traces"),
    (["--strip"], "--itrace"),
    (["-s"], "perf inject --sched-stat"),
    (["--buildid-all"], "--build-ids"),
    (["--guestmount", "/"], "virtual machines"),
    (["--no-such-option"], "unknown option"),
    (["--sampled-only", "-o", "x"], "--sampled-only needs --jit"),
    (["--python"], "name a file with -o"),
    (["word"], "unexpected argument 'word'"),
])
def test_what_makes_no_sense(kaa, recording, tmp_path, words, text):
    result = kaa("inject", "-i", recording, *words, status=129, cwd=tmp_path)
    assert result.stderr.startswith("kaa inject: ") and text in result.stderr.splitlines()[0]
    assert not result.stdout and not list(tmp_path.iterdir())


def test_the_input_is_no_output(kaa, recording):
    before = recording.read_bytes()
    assert "is the input" in kaa("inject", "-i", recording, "-o", recording, status=129).stderr
    assert recording.read_bytes() == before


def test_a_pipe_is_read_once(kaa, recording, tmp_path):
    with open(recording, "rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        result = kaa("inject", "--jit", "--sampled-only", "-i", "-", "-o", tmp_path / "x", status=None, stdin=cat.stdout)
        cat.stdout.close()
        cat.wait()
    assert result.status in (1, 129) and result.stderr.startswith("kaa inject: ")


@pytest.mark.parametrize("cut", [0, 50, 104, 1000])
def test_damaged_recordings(kaa, recording, tmp_path, cut):
    """Cut off: an error, or a copy of what is there; never a file that cannot be read."""
    damaged, copy = tmp_path / "damaged", tmp_path / "copy"
    damaged.write_bytes(recording.read_bytes()[:cut])
    result = kaa("inject", "--jit", "-i", damaged, "-o", copy, status=None)
    assert result.status == 1 and result.stderr
    assert copy.exists() == ("the file was cut off" in result.stderr)
    if copy.exists():
        kaa("script", "-i", copy)


def test_no_room(kaa, recording):
    """The output cannot be written: an error that names it."""
    result = kaa("inject", "-i", recording, "-o", "/dev/full", status=1)
    assert "/dev/full" in result.stderr or "No space" in result.stderr


def test_help(kaa):
    out = kaa("inject", "--help").stdout
    assert "--jit" in out and "--itrace" not in out and "perf.jit.data" in out
