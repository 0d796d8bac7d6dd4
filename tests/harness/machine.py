# SPDX-License-Identifier: GPL-2.0-only
"""What this machine has and allows. Each function returns None if all is well, or the reason why not, as a skipped
test prints it."""
import functools
import os
import pathlib
import shutil
import subprocess

from harness.process import TOP, Program

CHROOT_TOOL = TOP / "tests" / "tools" / "chroot"

# Options of perf record. Its own rings hold 512 KiB, 30 dumped stacks of 16 KiB: what comes while other programs keep perf
# waiting would be lost. A user may not lock that much memory.
LARGE_RINGS = ["-m", "8M"] if os.geteuid() == 0 else []

# Before a program that needs tracefs: there it is mounted, in a mount namespace of its own, so that the machine stays as it is.
TRACEFS = ["unshare", "--mount", "sh", "-c",
           '[ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing; exec "$@"', "sh"]

# Before a perf that records what tables and call graphs are compared of: files are at the same addresses after an exec. perf
# orders the children of a step by their symbols' places in the file, but by addresses where one has no symbol; if these are
# not one order, it may find a child again or not.
SAME_PLACES = ["setarch", "-R"]

# Bits of capability sets, linux/capability.h.
CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 21, 38, 39


# The PID namespace of the machine itself: PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h.
FIRST_PID_NAMESPACE = 0xeffffffc


def is_container():
    """Processes have other numbers here than the kernel's own, and there may be some without a number."""
    return os.stat("/proc/self/ns/pid").st_ino != FIRST_PID_NAMESPACE


def effective_capabilities():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def no_root():
    return None if os.geteuid() == 0 else "needs root; run 'sudo ./check' to run this too"


def no_bpf():
    have = effective_capabilities()
    if have >> CAP_SYS_ADMIN & 1 or (have >> CAP_PERFMON & 1 and have >> CAP_BPF & 1):
        return None
    return "needs root, or CAP_BPF and CAP_PERFMON, to load a BPF program; run 'sudo ./check' to run this too"


@functools.lru_cache(maxsize=None)
def chroot_path():
    """Where the Debian sid of tests/tools/chroot is, or None if it is not ready."""
    out = subprocess.run([CHROOT_TOOL, "path"], stdout=subprocess.PIPE, text=True)
    return pathlib.Path(out.stdout.strip()) if out.returncode == 0 else None


def no_chroot():
    if not chroot_path():
        return "needs the chroot with the peers; run 'tests/tools/chroot setup' as root"
    return "needs root to enter the chroot with the peers" if os.geteuid() else None


def system_perf():
    """The distribution's own perf. Ubuntu's /usr/bin/perf is a wrapper that may refuse to work."""
    candidates = [shutil.which("perf"), *map(str, pathlib.Path("/usr/lib").glob("linux-tools*/**/perf"))]
    for path in filter(None, candidates):
        if subprocess.run([path, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return path
    raise AssertionError("no perf that works: run 'tests/tools/deps check'")


class SystemPerf(Program):
    """The distribution's perf, also while somebody records the whole system with build-ids, as perf 7 does.

    Linux 6.18 then says to other recorders, too, that build-ids of mapped files follow, where devices and inodes do:
    perf_event_mmap_output() sets PERF_RECORD_MISC_MMAP_BUILD_ID for one event and leaves it for the next. perf 6.1 takes the
    device's number for a length, and is aborted when it collects build-ids, or when it reads the file. So it asks for
    build-ids, which then do follow; the times of the first and last sample it leaves out then.

    It asks addr2line for lines of the BPF programs of whoever else records, and dies of SIGPIPE, since they are no files: it
    reads with that signal ignored, as Python has it.
    """

    def __call__(self, *args, **options):
        if "record" not in args:
            options.setdefault("restore_signals", False)
        return super().__call__(*self.told(args), **options)

    def start(self, *args, **options):
        return super().start(*self.told(args), **options)

    def told(self, args):
        if "record" not in args:
            return args
        at = args.index("record") + 1
        return (*args[:at], "--buildid-mmap", *args[at:])


UNREADABLE = "another recorder here made Linux write records that perf cannot read: docs/kernel-names.md"


def is_unreadable(perf, data):
    """Of a recording of the whole system, UNREADABLE."""
    return "KSYMBOL" in perf("script", "-f", "-i", data, status=None).stderr


class SidPerf(Program):
    """perf 7, which does not ask for what makes samply 0.13 panic meanwhile, as it does perf 6.1 (SystemPerf)."""

    def __call__(self, *args, **options):
        return super().__call__(*self.told(args), **options)

    def start(self, *args, **options):
        return super().start(*self.told(args), **options)

    def told(self, args):
        if "record" not in args or "-a" not in args:
            return args
        at = args.index("record") + 1
        return (*args[:at], "--no-buildid-mmap", *args[at:])
