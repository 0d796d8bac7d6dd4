# SPDX-License-Identifier: GPL-2.0-only
"""Qualified names before 3.11, against the __qualname__ of the functions themselves."""
import json
import os
import pathlib

import pytest

from harness import pythons
from harness.process import run

HERE = pathlib.Path(__file__).parent


def interpreters():
    """Those that have no co_qualname: 3.6 and 3.7 too, which kaa's other tests do not take."""
    given = [pathlib.Path(path) for path in os.environ.get("KAA_PYTHONS", "").split(":") if path]
    found = {}
    for path in [*given, *pythons.in_pyenv("3.*/bin/python3"), pathlib.Path("/usr/bin/python3")]:
        if path.exists():
            version = run([path, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"]).stdout.strip()
            if (3, 6) <= tuple(map(int, version.split("."))) < (3, 11):
                found.setdefault(version, path)
    return found


INTERPRETERS = interpreters()


@pytest.fixture(params=sorted(INTERPRETERS))
def ask(request, build_dir, tmp_path):
    def ask(how):
        probe = build_dir / "tests" / "live" / "agent" / "libqualname_probe.so"
        out = run([INTERPRETERS[request.param], "-I", "-W", "ignore", HERE / "qualnames.py", probe, how],
                  cwd=tmp_path)
        return json.loads(out.stdout.splitlines()[-1])

    return ask


def test_as_the_agent_sees_it(ask):
    """Every function that came to be while all code objects were told of."""
    got = ask("told")
    assert not got["library"]["wrong"] and not got["shapes"]["wrong"], got
    assert got["library"]["checked"] > 3000 and got["library"]["nested"] > 2000
    assert got["shapes"]["checked"] == 23


def test_switched_on_late(ask):
    """Functions that were made before: found in the heap."""
    got = ask("heap")
    assert not got["library"]["wrong"], got["library"]["wrong"][:20]
    assert got["library"]["checked"] > 3000 and got["library"]["nested"] > 2000
    # Class bodies say it themselves; what no function holds any more has its plain name.
    for _, answer, (expected,) in got["shapes"]["wrong"]:
        assert expected.endswith("." + answer)


def test_addresses_are_used_again(ask):
    got = ask("dead")
    assert not got["wrong"], got["wrong"][:20]
    # How often, the allocator decides: nine to fifty times on average was seen.
    assert got["addresses"] * 2 < got["rounds"]
    assert got["entries"] < 2 * got["addresses"] + 2048 and got["cleared"] == 0
