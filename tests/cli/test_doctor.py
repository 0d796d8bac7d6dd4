# SPDX-License-Identifier: GPL-2.0-only
"""`kaa doctor` beside what the machine, and each Python itself, say."""
import json
import os
import pathlib
import platform
import re
import subprocess
import tempfile

import pytest

from harness.nobody import AS_NOBODY
from harness.process import HANG, run
from harness.waiting import innermost_child

MARKS = {"ok", "no", "warn", "-"}


class Doctor:
    """The printed verdict, and the facts: sections["Machine"] is a list of (mark, text)."""

    def __init__(self, text):
        # What is too long for a line goes on in the next, further in than a fact begins.
        head, *sections = re.sub(r"\n {8,}", " ", text.rstrip("\n")).split("\n\n")
        version, *verdict = head.split("\n")
        self.verdict = " ".join(map(str.strip, verdict))
        assert re.fullmatch(r"kaa \d+\.\d+\.\d+", version)
        self.sections = {}
        for section in sections:
            title, *lines = section.split("\n")
            self.sections[title] = [self.fact(line) for line in lines]

    @staticmethod
    def fact(line):
        found = re.fullmatch(r"  (\S+) +(\S.*)", line)
        assert found and found[1] in MARKS, line
        return found[1], found[2]

    def one(self, title, start):
        """The one fact of a section that begins so."""
        facts = [fact for fact in self.sections[title] if fact[1].startswith(start)]
        assert len(facts) == 1, (start, self.sections[title])
        return facts[0]


@pytest.fixture(scope="module")
def report(kaa):
    return Doctor(kaa("doctor").stdout)


def setting(name):
    path = pathlib.Path("/proc/sys/kernel") / name
    return path.read_text().strip() if path.exists() else None


def test_sections(report):
    assert list(report.sections) == ["Machine", "Python frames", "Tools", "Python: python3"]


def test_machine(report):
    assert report.one("Machine", "kernel ")[1] == f"kernel {platform.release()}, {platform.machine()}"
    for name in ("perf_event_paranoid", "perf_event_max_stack", "kptr_restrict"):
        if setting(name) is not None:
            assert report.one("Machine", f"kernel.{name} = {setting(name)}:")
    there = os.path.exists("/sys/kernel/btf/vmlinux")
    assert report.one("Machine", "BTF")[0] == ("ok" if there else "no")
    pmus = set(os.listdir("/sys/bus/event_source/devices")) & {"cpu", "cpu_core", "cpu_atom"}
    if not pmus:
        assert report.one("Machine", "hardware counters")[0] == "warn"


def test_capabilities(report):
    status = pathlib.Path("/proc/self/status").read_text()
    effective = int(re.search(r"CapEff:\s*(\w+)", status)[1], 16)
    named = set(report.one("Machine", "capabilities:")[1].split()[1:]) - {"none"}
    bits = {"CAP_BPF": 39, "CAP_PERFMON": 38, "CAP_SYS_ADMIN": 21, "CAP_SYS_PTRACE": 19, "CAP_SYSLOG": 34}
    assert named == {name for name, bit in bits.items() if effective >> bit & 1}


def test_source_needs_what_the_machine_has(report, bpf):
    assert report.one("Python frames", "source")[1].startswith("source: bpf")
    assert re.fullmatch("Ready: '.*kaa record' shows .* native functions .*", report.verdict)


@pytest.fixture
def public_folder():
    """A folder that every user may enter and write."""
    with tempfile.TemporaryDirectory(prefix="kaa-test-", dir="/tmp") as folder:
        os.chmod(folder, 0o777)
        yield pathlib.Path(folder)


def fake_tool(folder, name, answer):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("version, fault", [
    ("6.1.187", True), ("6.7-3", True), ("6.7.1", True), ("5.15.189", True),
    ("6.7.2", False), ("6.8.g1234", False), ("7.2.13", False)])
def test_faults_of_perf(kaa, tmp_path, version, fault):
    fake_tool(tmp_path, "perf", f"echo 'perf version {version}'")
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    doctor = Doctor(kaa("doctor", env=env).stdout)
    assert doctor.one("Tools", "perf version ") == ("ok", f"perf version {version} at {tmp_path}/perf")
    assert doctor.one("Tools", "perf: ")[0] == ("warn" if fault else "ok")
    assert ("has the jit fault" in doctor.one("Tools", "perf: ")[1]) is fault


def test_tools_that_misbehave(kaa, tmp_path):
    fake_tool(tmp_path, "perf", "printf 'perf \\033[31m not found for kernel 6.8\\n'")
    fake_tool(tmp_path, "samply", "exit 1")
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    text = kaa("doctor", env=env).stdout
    assert "\033" not in text
    doctor = Doctor(text)
    assert doctor.one("Tools", "perf: ")[0] == "warn"
    assert doctor.one("Tools", "samply ")[0] == "warn"


def test_no_tools(kaa, tmp_path):
    doctor = Doctor(kaa("doctor", env={**os.environ, "PATH": str(tmp_path)}).stdout)
    assert doctor.one("Tools", "perf") == ("-", "perf: not on the PATH")
    assert doctor.one("Tools", "samply") == ("-", "samply: not on the PATH")
    assert doctor.sections["Python: python3"] == [("no", "there is no program 'python3'")]


def sysconfig_of(command):
    """What `python -m sysconfig | grep` answers, and more that only that Python knows."""
    variables = subprocess.run([*map(str, command), "-m", "sysconfig"], capture_output=True, text=True, timeout=HANG).stdout
    script = """if 1:
        import json, os, sys, sysconfig
        print(json.dumps({
            "version": sys.version.split()[0],
            "program": os.path.realpath(sys.executable),
            "free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
            "shared": "/libpython" in open("/proc/self/maps").read(),
            "jit": getattr(sys, "_jit", None) is not None and sys._jit.is_available(),
        }))"""
    facts = json.loads(subprocess.run([*map(str, command), "-c", script], capture_output=True, timeout=HANG).stdout)
    found = re.search(r'PY_HAVE_PERF_TRAMPOLINE = "(.*)"', variables)
    facts["perf_trampoline"] = bool(found) and found[1] == "1"
    facts["frame_pointers"] = "no-omit-frame-pointer" in variables
    return facts


def check_against(doctor, title, facts, exact=True):
    version = doctor.one(title, "CPython ")[1]
    assert version.startswith(f"CPython {facts['version']} at ")
    if exact:
        assert version.endswith(" at " + facts["program"])
    assert doctor.one(title, "interpreter: ")[1].startswith("interpreter: " + ("shared" if facts["shared"] else "static"))
    trampoline = facts["perf_trampoline"]
    assert doctor.one(title, f"PY_HAVE_PERF_TRAMPOLINE: {int(trampoline)}")[0] == ("ok" if trampoline else "-")
    flag = facts["frame_pointers"]
    assert doctor.one(title, "compiled with -fno-omit-frame-pointer: " + ("yes" if flag else "no"))[0] == ("ok" if flag else "-")
    # The code and the flags agree: builds that keep frame pointers say so.
    assert doctor.one(title, "frame pointers: " + ("yes" if flag else "no"))
    assert doctor.one(title, "GIL: " + ("no" if facts["free_threaded"] else "yes"))
    assert doctor.one(title, "JIT: " + ("built in" if facts["jit"] else "no"))


def test_python_by_path(kaa, python):
    doctor = Doctor(python.kaa(kaa)("doctor", python.path).stdout)
    check_against(doctor, f"Python: {python.path}", sysconfig_of(python.command))


def test_python_by_pid(kaa, python):
    """Nothing runs in the process: the same answers come out of its files."""
    process = subprocess.Popen([*map(str, python.command), "-c", "import sys; print(flush=True); sys.stdin.read()"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        pid = innermost_child(process.pid)
        doctor = Doctor(kaa("doctor", "-p", pid).stdout)
    finally:
        process.stdin.close()
        process.wait(timeout=HANG)
        process.stdout.close()
    check_against(doctor, f"Python: process {pid}", sysconfig_of(python.command), exact=not python.prefix)


def test_names_of_c_functions(kaa, python):
    """A stripped interpreter is named by its build-id, and so is the package that has its names, where that is known."""
    title = f"Python: {python.path}"
    doctor = Doctor(python.kaa(kaa)("doctor", python.path).stdout)
    file = doctor.one(title, "interpreter: ")[1].split()[-1]
    inside = lambda *words: run([*python.prefix, *words], status=None).stdout
    answer = doctor.one(title, "names of C functions: ")
    if ".symtab" in inside("readelf", "-SW", file):
        assert answer == ("ok", "names of C functions: all")
        return
    build_id = re.search(r"Build ID: ([0-9a-f]+)", inside("readelf", "-n", file))[1]
    assert answer[1].endswith(f"(build-id {build_id})")
    debug = f"{build_id[:2]}/{build_id[2:]}.debug"
    if inside("ls", f"/usr/lib/debug/.build-id/{debug}"):
        assert answer[0] == "ok"
        return
    advice, = [text for _, text in doctor.sections[title] if "the other names" in text]
    package = re.search(r"apt install (\S+)'", advice)
    if package:
        assert f"Package: {package[1]}\n" in inside("apt-cache", "show", package[1])
    else:
        assert debug in advice


def test_several_pythons_in_order(kaa, newest_python):
    text = kaa("doctor", "nosuchpython", newest_python.path, "/bin/ls", status=2).stdout
    doctor = Doctor(text)
    assert list(doctor.sections)[3:] == ["Python: nosuchpython", f"Python: {newest_python.path}", "Python: /bin/ls"]
    assert doctor.sections["Python: nosuchpython"] == [("no", "there is no program 'nosuchpython'")]
    # Above all that is said of the machine.
    assert text.splitlines()[2] == "there is no program 'nosuchpython'"
    assert doctor.sections["Python: /bin/ls"] == [("no", "there is no Python in /bin/ls")]
    # One that is there does not make good for one that is not; which of them is first does not matter.
    kaa("doctor", newest_python.path, "nosuchpython", status=2)
    kaa("doctor", newest_python.path)


def test_a_python_that_is_none(kaa, tmp_path):
    fake_tool(tmp_path, "python3", "echo hello")
    doctor = Doctor(kaa("doctor", tmp_path / "python3", status=2).stdout)
    assert doctor.one(f"Python: {tmp_path}/python3", "it does not answer")[0] == "no"


def test_what_a_python_that_fails_says(kaa, tmp_path):
    """As much of it as helps, and nothing that steers the terminal."""
    said = "one\\n\\n  two \\033[31m\\nthree\\nfour\\nfive\\n"
    fake_tool(tmp_path, "python3", f"printf '{said}' >&2; yes noise | head -c 1000000 >&2; exit 4")
    facts = Doctor(kaa("doctor", tmp_path / "python3", status=2).stdout).sections[f"Python: {tmp_path}/python3"]
    assert facts[0] == ("no", f"'{tmp_path}/python3' does not run as a Python: exit status 4; it says:")
    assert facts[1:] == [("-", "one"), ("-", "two ?[31m"), ("-", "three"), ("-", "four")]
    fake_tool(tmp_path, "python3", "kill -9 $$")
    facts = Doctor(kaa("doctor", tmp_path / "python3", status=2).stdout).sections[f"Python: {tmp_path}/python3"]
    assert facts == [("no", f"'{tmp_path}/python3' does not run as a Python: ended by signal 9")]


def test_a_pipe_gets_lines_of_120_columns(kaa, tmp_path):
    words = [f"word{i}" for i in range(40)]
    fake_tool(tmp_path, "python3", f"echo '{' '.join(words)}' >&2; exit 4")
    said = kaa("doctor", tmp_path / "python3", status=2).stdout
    facts = Doctor(said).sections[f"Python: {tmp_path}/python3"]
    assert facts[1] == ("-", " ".join(words))
    lines = [line for line in said.splitlines() if "word" in line]
    assert len(lines) > 1 and max(map(len, lines)) <= 120 < sum(map(len, lines))


@pytest.fixture(params=["versions/{}/bin", "installs/python/{}/bin"], ids=["pyenv", "asdf"])
def shims(request, tmp_path, newest_python):
    """A folder of shims, as pyenv and asdf have it, and two versions behind it; PYTHON_VERSION activates one of them."""
    root = tmp_path / "root"
    names = [f"python{newest_python.version[0]}.{minor}" for minor in (8, 9)]
    (root / "shims").mkdir(parents=True)
    for name in names:
        folder = root / request.param.format(name[6:])
        folder.mkdir(parents=True)
        fake_tool(folder, name, f'exec {newest_python.path} "$@"')
        path = root / request.param.format('$PYTHON_VERSION')
        fake_tool(root / "shims", name, f'[ -x {path}/{name} ] && exec {path}/{name} "$@"\n'
                                        f'echo "fake: {name}: command not found" >&2; exit 127')
    return root, [f"{root / request.param.format(name[6:])}/{name}" for name in names]


def test_a_shim_is_looked_through(kaa, shims, newest_python):
    root, _ = shims
    env = {**os.environ, "PYTHON_VERSION": "3.8", "PATH": f"{root}/shims:{os.environ['PATH']}"}
    check_against(Doctor(kaa("doctor", "python3.8", env=env).stdout), "Python: python3.8", sysconfig_of(newest_python.command))


def test_a_shim_that_starts_no_python(kaa, shims, newest_python):
    """What it says, and the Python that it would start if it were activated."""
    root, behind = shims
    env = {**os.environ, "PYTHON_VERSION": "3.8", "PATH": f"{root}/shims:{os.environ['PATH']}"}
    doctor = Doctor(kaa("doctor", "python3.9", env=env).stdout)
    assert doctor.one("Python: python3.9", "fake: ")[1] == "fake: python3.9: command not found"
    assert list(doctor.sections)[3:] == ["Python: python3.9", f"Python: {behind[1]}"]
    check_against(doctor, f"Python: {behind[1]}", sysconfig_of(newest_python.command))


def test_processes_that_are_none(kaa):
    doctor = Doctor(kaa("doctor", "-p", 4194305, status=2).stdout)
    assert doctor.sections["Python: process 4194305"][0][0] == "no"
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            doctor = Doctor(kaa("doctor", "-p", process.pid, status=2).stdout)
        finally:
            process.kill()
    assert doctor.sections[f"Python: process {process.pid}"] == [("no", f"there is no Python in process {process.pid}")]
    for bad in ("x", "0", "-1", "99999999999"):
        kaa("doctor", f"-p{bad}", status=129)


def test_without_rights(kaa, root, public_folder, build_dir):
    """As a user without capabilities: what is missing is named, and the way out."""
    copy = public_folder / "kaa"
    copy.write_bytes((build_dir / "kaa").read_bytes())
    copy.chmod(0o755)
    python = [str(path) for path in pathlib.Path("/usr/bin").glob("python3.[0-9]*") if path.name[8:].isdigit()][:1]

    def ask():
        done = subprocess.run([*AS_NOBODY, copy, "doctor", *python], capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, done.stderr
        return Doctor(done.stdout)

    doctor = ask()
    assert doctor.one("Machine", "capabilities:") == ("no", "capabilities: none")
    assert "sudo" in doctor.one("Python frames", "source bpf")[1]
    assert doctor.one("Python frames", f"'{copy} doctor --fix'")[0] == "-"
    if (6, 6) <= tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (6, 12):
        return  # There kaa polls only for those without events: docs/poll.md.
    assert doctor.one("Python frames", "source: poll")[0] == "warn"
    assert doctor.verdict.startswith("Ready, within limits: ") and f"'sudo {copy} record' has no" in doctor.verdict
    if python:
        assert doctor.one(f"Python: {python[0]}", "Python frames: from source poll")[0] == "warn"


def test_under_sudo_programs_run_as_the_user(kaa, root, public_folder):
    """What sudo sets, without sudo: the named Python sees the user's id, not root's."""
    fake_tool(public_folder, "python3", f"id -u > {public_folder}/uid; exit 1")
    env = {**os.environ, "SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
    kaa("doctor", public_folder / "python3", env=env, status=2)
    assert (public_folder / "uid").read_text().strip() == "65534"
    env["SUDO_USER"] = "root"
    assert "do not belong together" in kaa("doctor", env=env, status=129).stderr
