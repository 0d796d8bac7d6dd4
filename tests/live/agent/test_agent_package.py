# SPDX-License-Identifier: GPL-2.0-only
"""The package `kaa`: made without a network, installed by pip, used, removed, nothing left."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from harness import parameters, pythons
from harness.process import HANG, TOP, run

# The hook is a slot, takes interpreter frames; CPython's own: with perf alone, with perf_jit too, with a chain of hooks.
VERSIONS = ("3.8.", "3.11.", "3.12.", "3.13.0", "3.15.")

STATE = """
import sys, json
with open("/proc/self/maps") as stream:
    maps = stream.read()
f = getattr(sys, "is_stack_trampoline_active", None)
print(json.dumps([f() if f else None, sorted(n for n in sys.modules if "kaa" in n),
                  "_kaa_agent" in maps]))
"""


def pytest_generate_tests(metafunc):
    if "interpreter" in metafunc.fixturenames:
        wanted = metafunc.config.getoption("--python")
        found = pythons.find_for_agent()
        first = {prefix: python for prefix in VERSIONS for python in reversed(found) if python.id.startswith(prefix)}
        found = pythons.chosen(found, wanted) if wanted else list(first.values())
        metafunc.parametrize("interpreter", parameters.of_pythons(found))


@pytest.fixture(scope="module")
def wheel(build_dir, tmp_path_factory):
    library = build_dir / "src" / "agent" / "libkaa_agent.so"
    out = run([sys.executable, TOP / "python" / "build-wheel", "--library", library, tmp_path_factory.mktemp("dist")]).stdout
    return pathlib.Path(out.strip())


class Venv:
    """A virtual environment without pip of its own."""

    def __init__(self, interpreter, folder):
        self.prefix, self.folder = interpreter.prefix, folder
        run([*interpreter.command, "-m", "venv", "--without-pip", folder])
        self.site = next(folder.glob("lib/python*/site-packages"))
        self.path = folder / "bin" / "python"

    def __call__(self, *words, env=(), **options):
        return run([*self.prefix, "env", *env, self.path, *words], **options)

    def pip(self, folder, *words):
        return self("-m", "pip", "--disable-pip-version-check", "-q", *words,
                    env=[f"PYTHONPATH={folder}", "PIP_ROOT_USER_ACTION=ignore"])

    def state(self, *options, env=()):
        """Is it active, what of kaa is imported, is the agent in the process?"""
        result = self(*options, "-c", STATE, env=env)
        assert not result.stderr
        return json.loads(result.stdout)

    def files(self):
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*")}


def pip_of(interpreter, folder):
    """The folder with a copy of the interpreter's pip, or None."""
    if interpreter.prefix:
        return None
    ask = "import os, pip; print(os.path.dirname(os.path.dirname(pip.__file__)))"
    found = run([*interpreter.command, "-c", ask], status=None)
    if found.status:
        return None
    shutil.copytree(pathlib.Path(found.stdout.strip(), "pip"), folder / "pip")
    return folder


class Installed:
    """A venv with the package in it, by the interpreter's own pip, else by that of another interpreter."""

    def __init__(self, interpreter, wheel, folder):
        self.venv = Venv(interpreter, folder / "v")
        self.before = self.venv.files()
        assert self.venv.state()[1:] == [[], False]
        self.pip = pip_of(interpreter, folder / "own")
        if self.pip:
            self.venv.pip(self.pip, "install", "--no-index", wheel)
        else:
            self.install_from_outside(wheel)
        assert str(self.venv.site.relative_to(self.venv.folder) / "kaa-agent.pth") in self.venv.files() - self.before

    def install_from_outside(self, wheel):
        for donor in reversed([python for python in pythons.find_for_agent() if not python.prefix]):
            words = [*donor.command, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index", "--target"]
            if not run([*words, self.venv.site, wheel], status=None).status:
                return
        pytest.skip("no interpreter here has pip")

    def uninstall(self):
        if self.pip:
            self.venv.pip(self.pip, "uninstall", "-y", "kaa")
            return
        record, = self.venv.site.glob("kaa-*.dist-info/RECORD")
        for line in record.read_text().splitlines():
            (self.venv.site / line.split(",")[0]).unlink(missing_ok=True)
        # Of licences.
        for folder in sorted(record.parent.rglob("*"), reverse=True):
            folder.rmdir()
        record.parent.rmdir()
        shutil.rmtree(self.venv.site / "kaa" / "__pycache__", ignore_errors=True)
        (self.venv.site / "kaa").rmdir()

    def check_removal(self):
        """Nothing is left, and nothing of it comes up."""
        self.uninstall()
        # Old pips take empty folders along.
        assert self.venv.files() <= self.before
        assert self.venv.state("-X", "perf_elf")[1:] == [[], False]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """installed(interpreter): made once each; at the end all are uninstalled."""
    made = {}

    def get(interpreter):
        if interpreter.id not in made:
            made[interpreter.id] = Installed(interpreter, wheel, tmp_path_factory.mktemp("venv"))
        return made[interpreter.id].venv
    yield get
    for each in made.values():
        each.check_removal()


@pytest.fixture
def venv(installed, interpreter):
    return installed(interpreter)


def test_nothing_is_loaded_without_a_switch(venv, interpreter):
    for options in ([], ["-I"], ["-X", "utf8"], ["-X", "dev"], ["-W", "error"]):
        code = STATE.replace("f() if f else None", "f is not None")
        result = venv(*options, "-c", code)
        assert json.loads(result.stdout) == [True, [], False] and not result.stderr, options


def test_functions_of_sys(venv, interpreter):
    """As CPython 3.12 has them, on any version; the stand-ins give way at the first call."""
    code = ("import sys; f = sys.activate_stack_trampoline\n"
            "for bad in (1, None): \n try: f(bad)\n except TypeError as e: print(e)\n"
            "try: f('other')\nexcept ValueError as e: print(e)\n"
            "print(sys.is_stack_trampoline_active()); f('perf'); print(sys.is_stack_trampoline_active())\n"
            "def ran(): import os; return open('/tmp/perf-%d.map' % os.getpid()).read()\n"
            "print('py::ran:<string>' in ran()); sys.deactivate_stack_trampoline()\n"
            "print(sys.is_stack_trampoline_active(), type(sys.activate_stack_trampoline).__name__)\n"
            "import os; os.unlink('/tmp/perf-%d.map' % os.getpid())\n")
    assert venv("-c", code).stdout.splitlines() == [
        "activate_stack_trampoline() argument must be str, not int",
        "activate_stack_trampoline() argument must be str, not None",
        "invalid backend: other", "False", "True", "True", "False builtin_function_or_method"]


SWITCHES = [
    (["-X", "perf"], [], True), (["-I", "-X", "perf"], [], True), (["-X", "perf=0"], [], True),
    ([], ["PYTHONPERFSUPPORT=1"], True), ([], ["PYTHONPERFSUPPORT=0"], False), ([], ["PYTHONPERFSUPPORT=yes"], False),
    (["-E"], ["PYTHONPERFSUPPORT=1"], False), (["-I"], ["PYTHONPERFSUPPORT=1"], False),
    (["-X", "perf_jit"], [], True), ([], ["PYTHON_PERF_JIT_SUPPORT=1"], True),
    ([], ["KAA_TRAMPOLINE_BACKEND=perf_elf"], True), (["-E"], ["KAA_TRAMPOLINE_BACKEND=perf_elf"], True)]


def test_switches(venv, tmp_path):
    """CPython's own and the agent's, on every version."""
    for options, env, active in SWITCHES:
        settings = ["KAA_TRAMPOLINE_KEEP=0", f"KAA_TRAMPOLINE_DIR={tmp_path}"]
        assert venv.state(*options, env=[*env, *settings])[0] is active, (options, env)


def test_module(venv, tmp_path):
    code = ("import kaa, os, sys\nassert not kaa.is_active()\n"
            "for backend in 'perf', 'perf_jit', 'perf_elf':\n"
            " try: kaa.activate(backend)\n"
            " except ValueError as e: print(e); continue\n"
            " assert kaa.is_active() and sys.is_stack_trampoline_active()\n"
            " kaa.deactivate()\n assert not kaa.is_active() and not sys.is_stack_trampoline_active()\n"
            "try: kaa.activate('other')\nexcept ValueError as e: print(e)\n")
    result = venv("-W", "error", "-X", "dev", "-c", code, env=["KAA_TRAMPOLINE_KEEP=0", f"KAA_TRAMPOLINE_DIR={tmp_path}"])
    # Early releases of 3.12 and 3.13 have no perf_jit there.
    assert set(result.stdout.split("\n")) <= {"invalid backend: perf_jit", "invalid backend: other", ""}
    assert "invalid backend: other" in result.stdout


def test_current_folder_does_not_count(venv, tmp_path):
    """Nor PYTHONPATH: neither at the start nor when a stand-in is called."""
    (tmp_path / "kaa").mkdir()
    trap = "open('/proc/self/fd/2', 'w').write('TRAP'); raise SystemExit(9)"
    for name in ("kaa/__init__.py", "kaa/_start.py", "_kaa_agent.py"):
        (tmp_path / name).write_text(trap)
    for env in ([], [f"PYTHONPATH={tmp_path}"]):
        env = [*env, "KAA_TRAMPOLINE_BACKEND=perf_elf", "KAA_TRAMPOLINE_KEEP=0", f"KAA_TRAMPOLINE_DIR={tmp_path}"]
        code = "import sys; sys.deactivate_stack_trampoline(); print(sys.is_stack_trampoline_active())"
        result = venv("-c", code, env=env, cwd=tmp_path)
        assert result.stdout == "False\n" and not result.stderr


def test_beside_kaa_run(venv, interpreter, kaa, tmp_path):
    """The preloaded agent and the package in one process: one agent."""
    run_it = kaa.inside(interpreter.prefix) if interpreter.prefix else kaa
    code = ("import os, sys; f = sys.activate_stack_trampoline; import kaa; kaa._start.load()\n"
            "def ran(): print(os.getpid(), f is sys.activate_stack_trampoline, kaa.is_active())\nran()")
    pid, same, active = run_it("run", "--always", "--dir", tmp_path, venv.path, "-c", code).stdout.split()
    assert (same, active) == ("True", "True")
    assert " py::ran:" in (tmp_path / f"perf-{pid}.map").read_text()


# --- the wheel ---

def test_wheel_is_the_same_each_time(wheel, build_dir, tmp_path):
    library = build_dir / "src" / "agent" / "libkaa_agent.so"
    again = run([sys.executable, TOP / "python" / "build-wheel", "--library", library, tmp_path]).stdout.strip()
    assert pathlib.Path(again).read_bytes() == wheel.read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        assert archive.read("kaa/_kaa_agent.so") == library.read_bytes()


def test_build_wheel_says_what_is_missing(tmp_path):
    """The program with its parts, as pip makes it, is a matter of ./package check."""
    for options, missing in ((["--library", "/nowhere"], "no file '/nowhere'"),
                             (["--installed", tmp_path, "--platform", "linux_x86_64"], "libkaa_agent.so'")):
        words = [sys.executable, TOP / "python" / "build-wheel", *options, tmp_path]
        failed = subprocess.run(list(map(str, words)), stderr=subprocess.PIPE, text=True, timeout=HANG)
        assert failed.returncode == 2 and missing in failed.stderr
    assert not list(tmp_path.iterdir())


def test_wheel_of_all(build_dir, tmp_path):
    """Of a tree as meson installs it: each file is in its place, and programs can be run."""
    prefix = tmp_path / "prefix"
    files = {"bin/kaa": build_dir / "kaa", "lib/kaa/libkaa_agent.so": build_dir / "src" / "agent" / "libkaa_agent.so",
             "share/man/man1/kaa.1": TOP / "LICENSE"}
    for place, source in files.items():
        (prefix / place).parent.mkdir(parents=True)
        shutil.copy(source, prefix / place)
    path = run([sys.executable, TOP / "python" / "build-wheel", "--installed", prefix, "--platform", "linux_x86_64",
                "--licenses", prefix / "share" / "man" / "man1", tmp_path]).stdout.strip()
    assert path.endswith("-py3-none-linux_x86_64.whl")
    with zipfile.ZipFile(path) as archive:
        names = {re.sub(r"^kaa-[0-9.]+\.(data|dist-info)/", r"\1/", name): name for name in archive.namelist()}
        assert {"data/scripts/kaa", "data/data/lib/kaa/libkaa_agent.so", "data/data/share/man/man1/kaa.1", "kaa/__main__.py",
                "kaa/_kaa_agent.so", "kaa-agent.pth", "dist-info/licenses/LICENSE", "dist-info/licenses/linked/kaa.1",
                "dist-info/RECORD"} <= set(names)
        assert archive.getinfo(names["data/scripts/kaa"]).external_attr >> 16 & 0o777 == 0o755
        assert archive.read(names["data/scripts/kaa"]) == (build_dir / "kaa").read_bytes()
