# SPDX-License-Identifier: GPL-2.0-only
"""What several tests of the command line have in common."""
import pytest

from harness.process import run


@pytest.fixture(scope="session")
def recording(build_dir, tmp_path_factory):
    """A perf.data of 300 samples with Python frames, and no program behind it. Tests leave it as it is.

    They have one stack: native code, a lambda in leaf (line 7), Worker.middle (2000), <module> (40 or 44, in turn), native code.
    """
    folder = tmp_path_factory.mktemp("recording")
    run([build_dir / "tests" / "unit" / "make_perfdata", folder / "perf.data", folder / "image", "build-id", "300"])
    return folder / "perf.data"
