# SPDX-License-Identifier: GPL-2.0-only
"""Makes wheels of the package `kaa`: the standard library is enough.

Three callers: pip, as a build backend (PEP 517, `pip install .`); `./package wheel`, for a wheel that works elsewhere;
`build-wheel`, for the Python package with the agent alone.

What meson installs is in the wheel, at the same places below the environment: `bin/kaa` and what lies beside it. kaa
finds its agent by `../lib/kaa` from there. The Python package has a copy of the agent, as its extension module.
"""
import base64
import hashlib
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent
# No file has a time: the same input makes the same wheel.
TIME = (1980, 1, 1, 0, 0, 0)
# meson before has no prefer_static, and its pip package is taken instead of it.
MESON = (0, 63)
AGENT = "lib/kaa/libkaa_agent.so"

METADATA = """Metadata-Version: 2.1
Name: kaa
Version: {version}
Summary: {summary}
License: GPL-2.0-only
Requires-Python: {requires_python}
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: Implementation :: CPython
Classifier: Topic :: Software Development :: Debuggers
Description-Content-Type: text/markdown

{description}"""

WHEEL = """Wheel-Version: 1.0
Generator: kaa_build
Root-Is-Purelib: false
Tag: {tag}
"""


def version():
    return re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text()).group(1)


def machine(library):
    """That of the library, which need not be this one."""
    code = int.from_bytes(library.read_bytes()[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}.get(code) or platform.machine()


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel:
    def __init__(self, folder, tag):
        self.stem, self.tag = "kaa-" + version(), tag
        self.name = "%s-%s.whl" % (self.stem, tag)
        self.info = self.stem + ".dist-info"
        self.archive, self.record = zipfile.ZipFile(pathlib.Path(folder, self.name), "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, TIME)
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(info, data)
        self.record.append("%s,%s,%d\n" % (name, digest(data), len(data)))

    def add_python(self, agent, sources):
        for source in sources:
            self.add("kaa/" + source.name, source.read_bytes())
        self.add("kaa/_kaa_agent.so", agent.read_bytes(), 0o755)
        self.add("kaa-agent.pth", (HERE / "kaa-agent.pth").read_bytes())

    def add_installed(self, prefix):
        """pip puts scripts into bin, and makes them executable; data go below the environment's folder."""
        for path in sorted(path for path in prefix.rglob("*") if path.is_file()):
            place = path.relative_to(prefix)
            kind = "scripts/" + place.name if place.parts[0] == "bin" else "data/" + str(place)
            self.add("%s.data/%s" % (self.stem, kind), path.read_bytes(), path.stat().st_mode & 0o755)

    def close(self, summary, requires_python, licenses=None):
        description = (HERE / "README.md").read_text(encoding="utf-8")
        metadata = METADATA.format(version=version(), summary=summary, requires_python=requires_python,
                                   description=description)
        self.add(self.info + "/METADATA", metadata.encode())
        self.add(self.info + "/licenses/LICENSE", (TOP / "LICENSE").read_bytes())
        for path in sorted(licenses.iterdir()) if licenses else ():
            self.add("%s/licenses/linked/%s" % (self.info, path.name), path.read_bytes())
        self.add(self.info + "/WHEEL", WHEEL.format(tag=self.tag).encode())
        record = self.info + "/RECORD"
        self.archive.writestr(zipfile.ZipInfo(record, TIME), "".join(self.record) + record + ",,\n")
        self.archive.close()
        return self.name


def sources(leave_out=()):
    found = [*(HERE / "kaa").glob("*.py"), HERE / "kaa" / "py.typed"]
    return [path for path in sorted(found) if path.name not in leave_out]


def make_agent_wheel(library, folder):
    """The Python package and the agent, no program. Returns the wheel's name."""
    wheel = Wheel(folder, "py3-none-linux_" + machine(library))
    wheel.add_python(library, sources(leave_out=["__main__.py", "_jupyter.py", "_profile.py", "_program.py", "_pytest.py", "py.typed"]))
    return wheel.close("Python functions for perf, samply and other profilers, on CPython 3.6 to 3.15", ">=3.6")


def make_wheel(prefix, folder, platform_tag, licenses=None):
    """All of kaa, as meson installed it below the prefix. licenses: a folder with those of what is linked in."""
    wheel = Wheel(folder, "py3-none-" + platform_tag)
    wheel.add_python(prefix / AGENT, sources())
    wheel.add_installed(prefix)
    wheel.add(wheel.info + "/entry_points.txt", b"[pytest11]\nkaa = kaa._pytest\n")
    return wheel.close("A profiler for CPython 3.8 to 3.15 on Linux: Python lines, C functions and the kernel",
                       ">=3.8", licenses)


# --- PEP 517 ---

def meson_version():
    if not shutil.which("meson"):
        return (0,)
    text = subprocess.run(["meson", "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def build_and_install(folder):
    """With this system's compilers and libraries; those that are there as archives are linked in. Where it is."""
    def run(*words):
        subprocess.run([str(word) for word in words], check=True)

    build, prefix = folder / "build", folder / "installed"
    bpftool = subprocess.run([str(TOP / "tests" / "tools" / "deps"), "bpftool"], stdout=subprocess.PIPE,
                             universal_newlines=True, check=True).stdout.strip()
    run("meson", "setup", build, TOP, "--prefix=%s" % prefix, "-Dtests=disabled", "-Dprefer_static=true",
        "-Dwerror=false", "-Dbpftool=%s" % bpftool)
    run("ninja", "-C", build)
    run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--strip")
    return prefix


def get_requires_for_build_wheel(config_settings=None):
    needed = [] if meson_version() >= MESON else ["meson==1.7.2"]
    return needed + ([] if shutil.which("ninja") else ["ninja==1.11.1.4"])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory(prefix="kaa-wheel.") as folder:
        prefix = build_and_install(pathlib.Path(folder))
        return make_wheel(prefix, wheel_directory, "linux_" + machine(prefix / AGENT))


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("there is no archive of kaa's sources: install from a clone, by 'pip install .' there")
