# SPDX-License-Identifier: GPL-2.0-only
"""`kaa.profile`: a part of a program records itself."""
import collections
import os
import pathlib
import shutil
import tempfile

import pytest

from harness import script_output
from harness.nobody import NOBODY, WITHOUT_RIGHTS
from harness.process import TOP, run


BEGIN = """
import os, sys, threading, time
import kaa

def hot(seconds):
    last = time.process_time()
    while seconds > 0:
        now = time.process_time()
        # A machine that stands still takes no samples, but the clock may go on.
        seconds -= min(now - last, 0.001)
        last = now

def before():
    hot(0.3)

def inside():
    hot(0.3)

def behind():
    hot(0.3)

"""


def runner(python, build_dir, tmp_path):
    """run_it(text): runs BEGIN and the text where the package and kaa are found; its Result."""
    def run_it(text, prefix=(), folder=tmp_path, package=TOP / "python", programs=build_dir, **options):
        script = folder / "program.py"
        script.write_text(BEGIN + text)
        env = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1",
               "PATH": f"{programs}:{os.environ['PATH']}"}
        return run([*prefix, *python.command, script], env=env, cwd=folder, **options)
    return run_it


@pytest.fixture
def program(python, build_dir, tmp_path):
    return runner(python, build_dir, tmp_path)


@pytest.fixture
def newest_program(newest_python, build_dir, tmp_path):
    return runner(newest_python, build_dir, tmp_path)


def functions(kaa, data):
    """{function: samples that have it}"""
    found = collections.Counter(name for sample in script_output.parse(kaa("script", "-f", "--no-inline", "-i", data).stdout)
                                for name in {name for name, _, _ in sample.python})
    return {name: found[name] for name in ("before", "inside", "behind")}


@pytest.mark.few_versions
def test_the_block_and_nothing_else(root, bpf, kaa, python, program, tmp_path):
    program("""
before()
with kaa.profile("out.data", frequency=999) as profile:
    inside()
behind()
assert "samples" in profile.messages and "failed" not in profile.messages, profile.messages
""")
    found = functions(python.kaa(kaa), tmp_path / "out.data")
    assert found["inside"] > 3 and not found["before"] and not found["behind"], found


def test_the_end_of_a_block_is_not_in_it(root, bpf, kaa, newest_python, newest_program, tmp_path):
    """Nothing of what waits for kaa: at this rate it would have samples."""
    most = int(pathlib.Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text())
    newest_program(f"""
with kaa.profile("out.data", frequency={min(most, 9999)}):
    inside()
""")
    text = newest_python.kaa(kaa)("script", "-f", "--no-inline", "-i", tmp_path / "out.data").stdout
    found = {file for sample in script_output.parse(text) for _, file, _ in sample.python}
    assert any(file.endswith("program.py") for file in found) and not any(file.endswith("subprocess.py") for file in found), found


class System:
    """One that every user may run."""
    command = ["/usr/bin/python3"]


def test_without_any_right(root, kaa, build_dir, tmp_path):
    """Where only parents may read the memory of a process, it allows that to kaa as long as kaa records."""
    with tempfile.TemporaryDirectory(prefix="kaa-profile-", dir="/tmp") as folder:
        place = pathlib.Path(folder)
        shutil.copy(build_dir / "kaa", place)
        shutil.copytree(TOP / "python" / "kaa", place / "kaa-package" / "kaa")
        os.chown(place, NOBODY, NOBODY)
        runner(System, build_dir, tmp_path)("""
before()
with kaa.profile("out.data", mode="wall", frequency=499):
    # Until it has been seen: a machine may give kaa no CPU for longer than that takes.
    for _ in range(2):
        size = os.path.getsize("out.data")
        inside()
        while os.path.getsize("out.data") == size:
            inside()
    time.sleep(0.3)
with kaa.profile("cpu.data"):
    inside()
behind()
""", prefix=WITHOUT_RIGHTS, folder=place, package=place / "kaa-package", programs=place)
        # This process will be gone: what can be typed is the whole program.
        assert "record --native COMMAND'" in " ".join(kaa("report", "-f", "-i", place / "cpu.data").stdout.split())
        found = functions(kaa, place / "out.data")
        assert found["inside"] and not found["before"] and not found["behind"], found
        # This process and its one thread alone: neither kaa nor what it starts.
        assert len(set(kaa("script", "-f", "-F", "tid", "-i", place / "out.data").stdout.split())) == 1


def test_functions(root, bpf, kaa, newest_program, tmp_path):
    """Each call has a recording; of calls in calls there is one."""
    newest_program("""
@kaa.profile
def once():
    inside()

@kaa.profile("nested.data", 499, "cpu", ["-v"])
def nested(depth):
    "documented"
    if depth:
        return nested(depth - 1) + 1
    inside()
    return 0

before()
once()
assert nested(3) == 3 and nested.__name__ == "nested" and nested.__doc__ == "documented"
behind()
""")
    for name in "perf.data", "nested.data":
        found = functions(kaa, tmp_path / name)
        assert found["inside"] > 3 and not found["before"] and not found["behind"], (name, found)
    assert not (tmp_path / "nested.data.old").exists()


def test_threads_and_forked_children(root, bpf, kaa, newest_program, tmp_path):
    """They are recorded, too. A child that outlives the block holds nothing up, and one that leaves it ends nothing."""
    newest_program("""
import signal

with kaa.profile("out.data", frequency=999):
    leaves = os.fork()
    if leaves:
        os.waitpid(leaves, 0)
        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        stays = os.fork()
        if not stays:
            time.sleep(1000)
    else:
        before()
if not leaves:
    os._exit(0)
os.kill(stays, signal.SIGKILL)
""")
    found = functions(kaa, tmp_path / "out.data")
    assert found["inside"] > 3 and found["before"] > 3, found


def test_what_goes_wrong(root, bpf, kaa, newest_program, tmp_path):
    newest_program("""
def fails(wanted, *arguments, **settings):
    try:
        with kaa.profile(*arguments, **settings):
            raise AssertionError("it has begun")
    except kaa.ProfileError as error:
        assert wanted in str(error) and not str(error).startswith("kaa"), error

fails("cannot be written: there is no folder 'no/such/folder'", "no/such/folder/x.data")
fails("no mode 'no' for --mode", mode="no")
fails("unknown option '--nonsense'", options=["--nonsense"])

# What the block raises is what is seen, and the file is there.
try:
    with kaa.profile("failed.data"):
        hot(0.2)
        raise KeyError("own")
except KeyError as error:
    assert error.args == ("own",)
assert os.path.getsize("failed.data") > 1000

async def coroutine(): pass
def generator(): yield
for function in coroutine, generator:
    try:
        kaa.profile(function)
        raise AssertionError(function)
    except TypeError as error:
        assert "use 'with kaa.profile()'" in str(error)

os.environ["PATH"] = "/nowhere"
try:
    kaa.profile().__enter__()
    raise AssertionError("it has begun")
except kaa.ProfileError as error:
    assert "Install the package again" in str(error)
""")
