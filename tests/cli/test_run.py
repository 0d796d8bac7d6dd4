# SPDX-License-Identifier: GPL-2.0-only
"""`kaa run` as a user types it: what it becomes, what it refuses, and why. tests/live/agent has the rest."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from harness.process import HANG, run

USAGE, FAILED = 129, 1
NOT_FOUND, NOT_EXECUTABLE = 127, 126

SCRIPT = """
import os, sys
def a_function_with_a_name():
    return os.getpid()
print(a_function_with_a_name())
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def command(newest_python):
    return newest_python.path


@pytest.fixture
def run_in(kaa, tmp_path):
    """Runs with kaa's own trampolines, whose files go to tmp_path; gives the map of the one process."""
    def run(*words, options=(), **rest):
        result = kaa("run", "--always", "--dir", tmp_path, *options, *words, **rest)
        pid = int(result.stdout.split()[-1])
        result.map = tmp_path / f"perf-{pid}.map"
        return result
    return run


def names_the_function(path):
    return " py::a_function_with_a_name:" in path.read_text()


def executable(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def compiled(path, *options, source="int main(void) { return 0; }", compiler="cc"):
    run([compiler, "-x", "c", "-", "-o", path, *options], data=source.encode())
    return path


def fails(kaa, *words, status=FAILED, **options):
    result = kaa("run", *words, status=status, **options)
    assert not result.stdout
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("kaa run: "), result
    return result.stderr


# --- what it becomes ---

def test_is_the_program_itself(kaa, command, script, tmp_path):
    """exec: the same process, arguments and exit status."""
    with kaa.start("run", "--always", "--dir", tmp_path, command, script, "7", stdout=subprocess.PIPE) as process:
        out, _ = process.communicate(timeout=HANG)
        assert int(out) == process.pid
        assert process.returncode == 7
    assert names_the_function(tmp_path / f"perf-{process.pid}.map")


def test_default_is_a_perf_map_in_tmp(kaa, command, script):
    result = kaa("run", command, script)
    path = pathlib.Path(f"/tmp/perf-{result.stdout.strip()}.map")
    try:
        assert names_the_function(path)
    finally:
        path.unlink()


def test_perf_jit_is_a_jitdump(run_in, command, script, tmp_path):
    pid = run_in(command, script, options=["--perf-jit"]).stdout.strip()
    dump = (tmp_path / f"jit-{pid}.dump").read_bytes()
    assert dump[:4] == b"DTiJ"
    assert b"py::a_function_with_a_name:" in dump
    assert not (tmp_path / f"perf-{pid}.map").exists()


def test_files_can_be_removed(run_in, command, script):
    assert not run_in(command, script, options=["--no-keep"]).map.exists()
    assert run_in(command, script).map.exists()


def test_options_of_the_program_are_its_own(kaa, command):
    assert kaa("run", command, "--version").stdout.startswith("Python 3")
    assert kaa("run", "--", command, "--version").stdout.startswith("Python 3")


def test_says_what_it_runs(kaa, command):
    said = kaa("run", "-v", "--perf", command, "--version").stderr
    assert f"'{command}' with perf" in said and "libkaa_agent.so'" in said


def test_found_in_path(run_in, command, script, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "anything").symlink_to(command)
    env = {**os.environ, "PATH": f"/nowhere:{folder}:{os.environ['PATH']}"}
    assert names_the_function(run_in("anything", "-I", script, env=env).map)


# --- frame pointers ---

SAYS = "kaa run: this Python has no frame pointers, so 'perf record -g' shows no Python functions; "


SAY_PID = "import os; print(os.getpid(), flush=True)"


@pytest.fixture
def below_perf(kaa, tmp_path):
    """below_perf(perf's options, kaa run's options and command): what is said below a program called perf."""
    perf = executable(tmp_path / "perf", '#!/bin/sh\nwhile [ "$1" != : ]; do shift; done\nshift\n"$@"\nexit $?\n')

    def said(perf_options, *words, prefix=()):
        done = run([*prefix, perf, "record", *perf_options, ":", *kaa.command, "run", *words])
        for pid in done.stdout.split():
            pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
            for left in pathlib.Path("/tmp").glob(f"*-{pid}[-.]*"):
                left.unlink()
        return done.stderr
    return said


def test_says_that_frame_pointers_are_missing(python, below_perf):
    """Once, on stderr, however many Pythons there are. What the build says is right; kaa looks at the machine code."""
    program = f"{SAY_PID}; import subprocess; subprocess.run([{python.path!r}, '-c', {SAY_PID!r}])"
    said = below_perf(["-g"], python.path, "-c", program, prefix=python.prefix)
    assert said.count("\n") == (0 if python.frame_pointers else 1)
    assert said.startswith(SAYS) or not said


@pytest.mark.parametrize("options", [["-ag"], ["-F", "99", "--call-graph", "fp"], ["--call-graph=fp"], ["-e", "cycles", "-g"]])
def test_frame_pointers_that_perf_follows(newest_python, below_perf, options):
    assert bool(below_perf(options, newest_python.path, "-c", SAY_PID)) is not newest_python.frame_pointers


@pytest.mark.parametrize("perf_options, options", [
    (["--call-graph", "dwarf,32768"], []), (["-g", "--call-graph=lbr"], []), (["-F", "999"], []), (["-eg"], []),
    (["-g"], ["-q"]), (["-g"], ["--perf-jit"]), (["-g"], ["--perf-elf"])])
def test_frame_pointers_that_nobody_needs(command, below_perf, perf_options, options):
    assert below_perf(perf_options, *options, command, "-c", SAY_PID) == ""


def test_frame_pointers_without_perf(kaa, command, script):
    result = kaa("run", command, script)
    pathlib.Path(f"/tmp/perf-{result.stdout.strip()}.map").unlink()
    assert result.stderr == ""


def test_frame_pointers_of_a_shim(newest_python, below_perf, tmp_path):
    """Only the shim knows which Python it becomes."""
    shim = executable(tmp_path / "python3", f'#!/bin/sh\nexec {newest_python.path} "$@"\n')
    assert bool(below_perf(["-g"], shim, "-c", SAY_PID)) is not newest_python.frame_pointers


# --- what starts a Python ---

def test_scripts(run_in, command, script, tmp_path):
    """Whatever stands behind '#!': the interpreter, with options, env with the interpreter's name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "my-python").symlink_to(command)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    for line in (f"#!{command}", f"#! {command} -I", "#!/usr/bin/env my-python", "#!/usr/bin/env -S my-python -E"):
        path = executable(tmp_path / "a-script", line + SCRIPT)
        assert names_the_function(run_in(path, env=env).map), line


def test_script_of_a_script(run_in, command, tmp_path):
    first = executable(tmp_path / "first", f"#!/bin/sh\nexec {command} \"$@\"\n")
    second = executable(tmp_path / "second", f"#!{first}" + SCRIPT)
    assert names_the_function(run_in(second).map)


def test_shim_that_is_a_shell_script(run_in, command, script, tmp_path):
    """As pyenv has them: bash runs bash runs a Python."""
    inner = executable(tmp_path / "pyenv", f"#!/usr/bin/env bash\nshift\nexec {command} \"$@\"\n")
    shim = executable(tmp_path / "python3", f"#!/usr/bin/env bash\nset -e\nexec {inner} exec \"$@\"\n")
    assert names_the_function(run_in(shim, script).map)


@pytest.mark.parametrize("launcher", [["env", "-i"], ["nice"], ["timeout", "60"], ["sh", "-c", 'exec "$@"', "sh"],
                                      ["sh", "-c", '"$@"; exit $?', "sh"], ["xargs", "-n", "9", "-a", "/dev/null"]])
def test_launchers(run_in, launcher, command, script):
    assert names_the_function(run_in(*launcher, command, script).map)


def test_venv(run_in, command, script, tmp_path):
    subprocess.run([command, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=HANG)
    inside = tmp_path / "venv" / "bin" / "python"
    assert names_the_function(run_in(inside, script).map)
    code = "import sys; print(sys.prefix)"
    assert run_in(inside, "-c", code + "\nimport os; print(os.getpid())").stdout.split()[0] == str(tmp_path / "venv")


# --- what it refuses ---

def test_nothing_to_run(kaa):
    assert "name a command" in fails(kaa, status=USAGE)


def test_backends_exclude_each_other(kaa, command):
    result = kaa("run", "--perf", "--perf-jit", command, status=USAGE)
    assert "only one of --perf, --perf-jit and --perf-elf" in result.stderr


def test_commands_that_are_not_there(kaa, tmp_path):
    assert "'no-such-command': command not found" in fails(kaa, "no-such-command", status=NOT_FOUND)
    (tmp_path / "plain").write_text("no program")
    assert "Permission denied" in fails(kaa, tmp_path / "plain", status=NOT_EXECUTABLE)
    assert "Is a directory" in fails(kaa, tmp_path, status=NOT_EXECUTABLE)


def test_script_without_its_interpreter(kaa, tmp_path):
    path = executable(tmp_path / "script", "#!/nowhere/python3\n")
    assert "is a script of '/nowhere/python3', which cannot be read" in fails(kaa, path)


def test_no_python(kaa, tmp_path):
    assert "'cat' is not a Python" in fails(kaa, "cat")
    text = executable(tmp_path / "text", "print(1)\n")
    assert "nor a script that begins with '#!'" in fails(kaa, text)
    script = executable(tmp_path / "script", "#!/usr/bin/awk -f\n")
    assert "is a script of '/usr/bin/awk', which is not a Python" in fails(kaa, script)


def test_scripts_in_a_ring_end(kaa, tmp_path):
    path = tmp_path / "ring"
    executable(path, f"#!{path}\n")
    fails(kaa, path)


def test_setuid_program(kaa, tmp_path):
    path = tmp_path / "sudo"
    shutil.copy("/bin/true", path)
    path.chmod(0o4755)
    assert "put kaa after it" in fails(kaa, path)


def test_static_program(kaa, tmp_path):
    assert "is linked statically" in fails(kaa, compiled(tmp_path / "static", "-static"))


@pytest.mark.parametrize("options", [["-fsanitize=address"], ["-fsanitize=thread"]])
def test_sanitized_program(kaa, tmp_path, options):
    assert "built with a sanitizer" in fails(kaa, compiled(tmp_path / "sanitized", *options))


def test_sanitizer_in_the_program(kaa, tmp_path):
    """clang links the runtime into the program."""
    assert "built with a sanitizer" in fails(kaa, compiled(tmp_path / "sanitized", "-fsanitize=address", compiler="clang"))


def test_folder_for_files(kaa, command, tmp_path):
    assert "'/nowhere': cannot be used for files: No such file" in fails(kaa, "--dir", "/nowhere", command)
    (tmp_path / "file").write_text("")
    assert "cannot be used for files" in fails(kaa, "--dir", tmp_path / "file", command)


def test_broken_elf_files(kaa, tmp_path):
    """Whatever the headers say: an answer, and no crash."""
    good = bytearray(pathlib.Path(sys.executable).read_bytes()[:64 * 1024])
    path = executable(tmp_path / "broken", "")
    path.write_bytes(good[:40])
    fails(kaa, path)
    for at in range(16, 64, 2):
        bad = bytearray(good)
        bad[at:at + 2] = b"\xff\xff"
        path.write_bytes(bad)
        fails(kaa, path)


def test_agent_is_missing(kaa, command, tmp_path):
    program = tmp_path / "kaa"
    shutil.copy(kaa.command[0], program)
    done = subprocess.run([program, "run", command, "-c", "print(1)"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == FAILED and not done.stdout
    assert f"no libkaa_agent.so beside kaa, neither in '{tmp_path}/src/agent'" in done.stderr
    assert "'ninja -C build'" in done.stderr


def test_installed_agent(kaa, build_dir, command, script, tmp_path):
    """<prefix>/bin/kaa and <prefix>/lib/kaa/libkaa_agent.so."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib" / "kaa").mkdir(parents=True)
    shutil.copy(kaa.command[0], tmp_path / "bin" / "kaa")
    shutil.copy(build_dir / "src" / "agent" / "libkaa_agent.so", tmp_path / "lib" / "kaa")
    out = subprocess.run([tmp_path / "bin" / "kaa", "run", "--always", "--dir", tmp_path, command, script], check=True,
                         capture_output=True, text=True, timeout=HANG).stdout
    assert names_the_function(tmp_path / f"perf-{out.strip()}.map")


def test_path_that_cannot_be_preloaded(kaa, build_dir, command, tmp_path):
    folder = tmp_path / "with blank"
    (folder / "src" / "agent").mkdir(parents=True)
    shutil.copy(kaa.command[0], folder / "kaa")
    shutil.copy(build_dir / "src" / "agent" / "libkaa_agent.so", folder / "src" / "agent")
    done = subprocess.run([folder / "kaa", "run", command, "-c", "1"], capture_output=True, text=True, timeout=HANG)
    assert done.returncode == FAILED and "a blank" in done.stderr
