# SPDX-License-Identifier: GPL-2.0-only
"""`kaa export`: each format of its help, held against `kaa script`."""
import re

import pytest

from harness import script_output
from harness.collapsed import collapsed, counts, differing

FORMATS = ["collapsed"]


def test_help_lists_the_formats(kaa):
    assert re.findall(r"^--format (\w+) ", kaa("help", "export").stdout, re.M) == FORMATS


@pytest.mark.parametrize("name", FORMATS)
def test_to_a_file_or_standard_output(kaa, recording, name, tmp_path):
    path = tmp_path / "out"
    said = kaa("export", "-i", recording, "--format", name, "-o", path)
    assert not said.stdout
    assert kaa("export", "-i", recording, "--format", name).stdout == path.read_text() != ""
    assert kaa("export", "-i", recording, "--format", name, "-o", "-").stdout == path.read_text()


@pytest.mark.parametrize("options", [[], ["--max-stack", "2"], ["--time", "10%/2"], ["--tid", "1"]], ids=" ".join)
def test_collapsed_is_what_script_prints(kaa, recording, options):
    text = kaa("script", "-i", recording, *options, "-F", "+srcline").stdout
    samples = script_output.parse(text)
    assert samples or options == ["--tid", "1"]
    assert not differing(counts(kaa("export", "-i", recording, *options).stdout), collapsed(samples))
    lines = counts(kaa("export", "-i", recording, *options, "--lines").stdout)
    assert not differing(lines, collapsed(samples, with_lines=True))


def test_mistakes(kaa, recording, tmp_path):
    assert "did you mean 'collapsed'" in kaa("export", "--format", "colapsed", status=129).stderr
    assert "no format 'x'" in kaa("export", "--format", "x", status=129).stderr
    said = kaa("export", "-i", recording, "-o", tmp_path / "none" / "out", status=1).stderr
    assert "none/out" in said and "No such file" in said
    said = kaa("export", "-i", recording, "-o", "/dev/full", status=1).stderr
    assert "/dev/full" in said and "No space left" in said
    assert "does not exist" in kaa("export", "-i", tmp_path / "none", status=1).stderr


def test_words_that_find_nothing_are_said(kaa, recording):
    assert "nobody" in kaa("export", "-i", recording, "--comms", "nobody").stderr
