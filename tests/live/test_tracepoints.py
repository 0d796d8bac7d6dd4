# SPDX-License-Identifier: GPL-2.0-only
"""`kaa record -e subsystem:tracepoint`: stock perf reads the file, with the tracepoint's fields, and counts as kaa does."""
import re
import struct

import pytest

from harness.machine import TRACEFS
from harness.process import run
from harness.waiting import until

pytestmark = pytest.mark.usefixtures("root")

SLEEPS = 60
PROGRAM = f"import time\nfor _ in range({SLEEPS}): time.sleep(0.001); sum(range(20000))"
COMM = "kaa-tracepoint"
TRACING_DATA = 1

# The same in a mount namespace of its own.
UNMOUNTED = ["unshare", "--mount", "sh", "-c",
             'for at in tracing debug; do umount --lazy --all-targets /sys/kernel/$at; done 2>/dev/null; exec "$@"', "sh"]
DEBUGFS_ONLY = ["unshare", "--mount", "sh", "-c",
                'mountpoint -q /sys/kernel/debug || mount -t debugfs nodev /sys/kernel/debug; '
                '[ -d /sys/kernel/debug/tracing/events ] && umount --lazy --all-targets /sys/kernel/tracing 2>/dev/null; '
                'exec "$@"', "sh"]


@pytest.fixture(scope="module", autouse=True)
def tracefs():
    result = run([*TRACEFS, "test", "-r", "/sys/kernel/tracing/events/sched/sched_switch/format"], status=None)
    if result.status:
        pytest.skip("tracefs cannot be mounted here, or the kernel has no sched:sched_switch")


@pytest.fixture
def program(newest_python, tmp_path):
    """A Python that sleeps SLEEPS times, under a name of its own."""
    script = tmp_path / "sleeps.py"
    script.write_text(f"open('/proc/self/comm', 'w').write('{COMM}')\n{PROGRAM}\n")
    return [*newest_python.command, script]


def feature(path, bit):
    """One feature section of a perf.data file, or None."""
    data = path.read_bytes()
    data_offset, data_size = struct.unpack_from("<QQ", data, 40)
    bits = int.from_bytes(data[72:104], "little")
    if not bits >> bit & 1:
        return None
    number = bin(bits & ((1 << bit) - 1)).count("1")
    offset, size = struct.unpack_from("<QQ", data, data_offset + data_size + 16 * number)
    return data[offset:offset + size]


def counts(text):
    """Samples of each event, without kaa's own."""
    found = re.findall(r"^# Samples: (\S+) +of events? '(.*?)'", text, re.M)
    return {event: number for number, event in found if event != "kaa"}


EVENTS = ["sched:sched_switch", "cpu-clock,sched:sched_switch", "sched:sched_switch,cpu-clock:u,sched:sched_wakeup",
          "sched:sched_w*,irq:*,sched:sched_switch"]


@pytest.mark.parametrize("words, options", [*((words, ["-g"]) for words in EVENTS), (EVENTS[-1], [])])
def test_stock_perf_reads_it(kaa, perf, program, tmp_path, words, options):
    data = tmp_path / "perf.data"
    kaa.inside(TRACEFS)("record", *options, "-e", words, "-o", data, "--", *program)
    ours = kaa("report", "--native", "-i", data)
    report = perf("report", "--stdio", "-i", data)
    assert counts(report.stdout) == counts(ours.stdout)
    assert "sched:sched_switch" in counts(report.stdout)
    assert "incompatible" not in report.stderr and "rror" not in report.stderr, report
    check_fields(perf("script", "-i", data), counts(report.stdout)["sched:sched_switch"])


def check_fields(script, switches):
    lines = [line for line in script.stdout.splitlines() if " sched:sched_switch: " in line]
    assert len(lines) == int(switches)
    assert all(" ==> next_comm=" in line for line in lines), lines[:3]
    asleep = [line for line in lines if f"prev_comm={COMM} " in line and "prev_state=S " in line]
    # A process that is told apart by its new name may be late with the first; one that has no CPU for a moment may wake up
    # before it sleeps.
    assert len(asleep) >= 0.5 * SLEEPS, lines[:3]
    assert "rror" not in script.stderr, script


def test_section_is_perfs(kaa, perf_system, tmp_path):
    """Byte by byte what stock perf writes about the same tracepoints."""
    ours, theirs = tmp_path / "kaa.data", tmp_path / "perf.data"
    words = ["record", "-q", "-e", "sched:sched_switch"]
    kaa.inside(TRACEFS)(*words, "-o", ours, "true")
    perf_system.inside(TRACEFS)(*words, "-o", theirs, "true")
    section = feature(theirs, TRACING_DATA)
    # At its end perf has the names of threads, if somebody else traces; perf.data has them in records.
    size = len(feature(ours, TRACING_DATA))
    assert feature(ours, TRACING_DATA)[:size - 8] == section[:size - 8]
    names = struct.unpack_from("<Q", section, size - 8)[0]
    assert len(section) == size + names


def test_other_events_have_no_section(kaa, tmp_path):
    data = tmp_path / "perf.data"
    kaa("record", "-q", "-e", "cpu-clock", "-o", data, "true")
    assert feature(data, TRACING_DATA) is None


def test_by_number(kaa, perf, tmp_path):
    """A tracepoint whose name says nothing about it."""
    data = tmp_path / "perf.data"
    number = run([*TRACEFS, "cat", "/sys/kernel/tracing/events/sched/sched_switch/id"]).stdout.strip()
    kaa.inside(TRACEFS)("record", "-q", "-e", f"tracepoint/config={number}/", "-c", "1", "-o", data, "sleep", "0.1")
    assert "prev_comm=sleep" in perf("script", "-i", data).stdout


def test_as_the_user_behind_sudo(kaa, perf_system, tmp_path_factory):
    """The texts are root's to read: they are read before root is given up."""
    folder = tmp_path_factory.mktemp("sudo")
    for path in (folder, folder.parent):
        path.chmod(0o777)
    sudo = ["env", "SUDO_USER=nobody", "SUDO_UID=65534", "SUDO_GID=65534"]
    data = folder / "perf.data"
    kaa.inside([*TRACEFS, *sudo])("record", "-q", "-e", "sched:sched_switch", "-o", data, "sleep", "0.1")
    assert data.stat().st_uid == 65534
    assert "prev_comm=sleep" in perf_system("script", "-f", "-i", data).stdout


def test_through_a_pipe(kaa, perf, tmp_path):
    """In a pipe the section stands before the first sample."""
    pipe = tmp_path / "pipe"
    into_file = ["sh", "-c", 'out=$1; shift; "$@" | cat >"$out"', "sh", pipe]
    kaa.inside([*TRACEFS, *into_file])("record", "-q", "-e", "cpu-clock,sched:sched_switch", "-o", "-", "sleep", "0.05")
    script = perf("script", "-i", "-", data=pipe.read_bytes())
    assert "prev_comm=sleep" in script.stdout and "mismatch" not in script.stderr


def test_debugfs_will_do(kaa, perf_system, tmp_path):
    data = tmp_path / "perf.data"
    kaa.inside(DEBUGFS_ONLY)("record", "-q", "-e", "sched:sched_switch", "-o", data, "sleep", "0.1")
    assert "prev_comm=sleep" in perf_system("script", "-i", data).stdout


def test_not_mounted(kaa, perf_system, tmp_path):
    """kaa has it for itself then: the machine stays as it is."""
    data = tmp_path / "perf.data"
    kaa.inside([*UNMOUNTED, "sh", "-c", '"$@" && ! grep -q tracefs /proc/self/mounts', "sh"])(
        "record", "-q", "-e", "sched:sched_switch", "-o", data, "--", "sleep", "0.1")
    assert "prev_comm=sleep" in kaa("script", "-i", data).stdout
    assert "prev_comm=sleep" in perf_system("script", "-i", data).stdout


def test_may_not_be_mounted(kaa, tmp_path):
    """Says how to mount it, and leaves no file."""
    data = tmp_path / "perf.data"
    result = kaa.inside([*UNMOUNTED, "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"])(
        "record", "-e", "sched:sched_switch", "-o", data, "true", status=1)
    assert "mount -t tracefs nodev /sys/kernel/tracing" in result.stderr and result.stderr.count("\n") == 1
    assert not data.exists()


def test_killed_recorder(kaa, tmp_path):
    """What was written is kaa's to read, with the event's name."""
    data = tmp_path / "perf.data"
    ticks = "import time\nfor _ in range(30000): time.sleep(0.02)"
    command = ["record", "-q", "-e", "sched:sched_switch", "-o", data, "python3", "-c", ticks]
    with kaa.inside(TRACEFS).start(*command) as process:
        found = lambda: counts(kaa("report", "--native", "-i", data, status=None).stdout)
        until(lambda: data.exists() and found().get("sched:sched_switch", "0") not in "012", "the first samples")
        process.kill()
        process.wait()
    assert feature(data, TRACING_DATA) is None
    assert list(found()) == ["sched:sched_switch"]
