# SPDX-License-Identifier: GPL-2.0-only
"""docs/install.md, "File capabilities": a user without sudo records with a kaa that has them."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from harness import pythons, script_output
from harness.agent import find_library
from harness.image import image_of
from harness.nobody import AS_NOBODY, NOBODY, as_nobody, as_user
from harness.process import TOP, run, started
from harness.waiting import until_busy, while_busy

pytestmark = pytest.mark.usefixtures("bpf", "root")

FEW = 10
SCRIPT = TOP / "tests" / "live" / "scripts" / "doc_script.py"
DOCUMENTED = re.search(r"setcap (\S+=ep) ", (TOP / "docs" / "install.md").read_text())[1]


@pytest.fixture
def capable(kaa):
    """capable("cap_bpf=ep"): a folder of nobody's, with a copy of kaa that has these capabilities, and of its agent."""
    if not shutil.which("setcap"):
        pytest.skip("no setcap: it is in the package libcap2-bin")
    with tempfile.TemporaryDirectory(prefix="kaa-capable-", dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("/var/tmp is mounted with nosuid")
        (folder / "src" / "agent").mkdir(parents=True)
        shutil.copy(kaa.command[-1], folder / "kaa")
        shutil.copy(find_library(pathlib.Path(kaa.command[-1]).parent), folder / "src" / "agent")
        shutil.copy(SCRIPT, folder / "program.py")
        os.chown(folder, NOBODY, NOBODY)
        for path in folder.rglob("*"):
            path.chmod(0o755)

        def give(capabilities):
            if capabilities:
                run(["setcap", capabilities, folder / "kaa"])
            return folder
        yield give


@pytest.fixture(scope="module")
def public_python():
    """An interpreter that every user may run."""
    found = [python for python in pythons.find() if not python.prefix and python.path.startswith("/usr/")]
    if not found:
        pytest.skip("no CPython in /usr")
    return found[-1].path


def chains(kaa, folder):
    """Of the recording's samples those that have the chain of the script, and those with Python frames."""
    samples = script_output.parse(kaa("script", "-f", "-i", folder / "perf.data").stdout)
    names = [[name for name, _, _ in sample.python] for sample in samples]
    whole = [stack for stack in names if stack[-3:] == ["baz", "bar", "foo"]]
    return len(whole), sum(map(bool, names))


@pytest.mark.parametrize("capabilities", ["cap_bpf,cap_perfmon=ep", DOCUMENTED], ids=["needed", "documented"])
def test_a_user_records(kaa, capable, public_python, capabilities):
    folder = capable(capabilities)
    result = as_nobody("./kaa", "record", "-F", "999", "-g", public_python, "program.py", "1", cwd=folder)
    assert "polling" not in result.stderr and re.search("[1-9][0-9]* with Python frames", result.stderr), result
    whole, with_python = chains(kaa, folder)
    # There are some hundreds, of which the start and what is cut off have few.
    assert whole > FEW and whole > 0.5 * with_python
    data = folder / "perf.data"
    assert {path.stat().st_uid for path in (data, image_of(data))} == {NOBODY}


def test_without_them_kaa_polls(capable, public_python):
    """What the test above would see if kaa had no capabilities."""
    result = as_nobody("./kaa", "record", "-F", "999", "-g", public_python, "program.py", "0.01", cwd=capable(None), status=None)
    assert not result.status and "polling" in result.stderr


def test_tracepoints_are_for_root(capable, public_python):
    """Whether tracefs is there and closed, or is nowhere; to mount it would not help."""
    record = ["./kaa", "record", "-e", "sched:sched_switch", public_python, "program.py", "0.01"]
    folder = capable(None)
    for gone in ([], ["unshare", "--mount", "sh", "-c", "umount -q -l /sys/kernel/tracing; umount -q -l /sys/kernel/debug; exec \"$@\"", "sh"]):
        result = run([*gone, *AS_NOBODY, *record], cwd=folder, status=None)
        assert result.status and re.search("only root may record tracepoints: run kaa (under sudo|as root)", result.stderr), result
        assert "mount -t" not in result.stderr


def test_a_user_looks_at_another_users_process(kaa, capable, public_python):
    folder = capable(DOCUMENTED)
    with started([public_python, SCRIPT, "2000000000"], stdout=subprocess.DEVNULL) as target:
        until_busy(target.pid, 0.5)
        as_nobody("./kaa", "record", "-F", "999", "-g", "-p", str(target.pid), "--", *while_busy(target.pid, 0.5), cwd=folder)
    whole, _ = chains(kaa, folder)
    assert whole > FEW


def test_the_command_gets_none(capable, public_python):
    """Whatever kaa may do, what it runs may not."""
    show = "print([line.split()[1] for line in open('/proc/self/status') if line[:3] == 'Cap' and line[3:6] != 'Bnd'])"
    result = as_nobody("./kaa", "record", "-q", public_python, "-c", show, cwd=capable(DOCUMENTED))
    assert result.stdout == f"{['0' * 16] * 4}\n"


def test_perf_stops_where_a_kaa_with_capabilities_starts(perf_system, capable, public_python):
    """Why kaa run needs a kaa without: the page says so, and the kernel may change its mind."""
    if int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2:
        pytest.skip("kernel.perf_event_paranoid lets users record nothing")
    folder = capable(DOCUMENTED)
    # perf takes all memory that a user may lock for its buffers: other tests of the user nobody may have some of it.
    user = 61000 + os.getpid() % 4000
    os.chown(folder, user, user)
    # Build-ids: see SystemPerf. A user's rings are small: where many dumped stacks fill them, perf loses where the images are.
    words = [*as_user(user), *perf_system.command, "record", "-q", "--buildid-mmap", "-F", "99", "--call-graph", "dwarf,8192", "-o", "stock.data",
             "./kaa", "run", "--perf-elf", "--dir", ".", public_python, "program.py", "1"]

    def named():
        made = run(words, cwd=folder, status=None)
        script = perf_system("script", "-f", "-i", folder / "stock.data", status=None)
        return script.stdout.count("py::foo:"), made, script.stderr, script.stdout[-1000:]

    names, *said = named()
    assert names == 0, said
    run(["setcap", "-r", folder / "kaa"])
    names, *said = named()
    assert names > 0, said
