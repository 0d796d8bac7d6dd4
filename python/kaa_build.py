# SPDX-License-Identifier: GPL-2.0-only
"""Makes the wheel of the package `kaa`: the standard library is enough, and no network.

A build backend as PEP 517 has them (`pip wheel ./python`), and what `build-wheel` calls. The agent is built by meson,
before: libkaa_agent.so is taken from KAA_AGENT, else from ../build/src/agent.
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent
# No file has a time: the same input makes the same wheel.
TIME = (1980, 1, 1, 0, 0, 0)

METADATA = """Metadata-Version: 2.1
Name: kaa
Version: {version}
Summary: Python functions for perf, samply and other profilers, on CPython 3.6 to 3.15
License: GPL-2.0-only
Requires-Python: >=3.6
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: Implementation :: CPython
Description-Content-Type: text/markdown

{description}"""

WHEEL = """Wheel-Version: 1.0
Generator: kaa_build
Root-Is-Purelib: false
Tag: {tag}
"""


def version():
    return re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text()).group(1)


def find_agent():
    path = pathlib.Path(os.environ.get("KAA_AGENT") or TOP / "build" / "src" / "agent" / "libkaa_agent.so")
    if not path.is_file():
        raise SystemExit("kaa: no '%s': build kaa with meson and ninja first, or name the library in KAA_AGENT" % path)
    return path


def machine(library):
    """That of the library, which need not be this one."""
    code = int.from_bytes(library.read_bytes()[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}.get(code) or platform.machine()


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel:
    def __init__(self, path):
        self.archive, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, TIME)
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(info, data)
        self.record.append("%s,%s,%d\n" % (name, digest(data), len(data)))

    def close(self, folder):
        name = folder + "/RECORD"
        self.record.append(name + ",,\n")
        self.archive.writestr(zipfile.ZipInfo(name, TIME), "".join(self.record))
        self.archive.close()


def make(library, folder):
    """Writes the wheel into the folder; its name."""
    tag = "py3-none-linux_" + machine(library)
    name = "kaa-%s-%s.whl" % (version(), tag)
    info = "kaa-%s.dist-info" % version()
    wheel = Wheel(pathlib.Path(folder, name))
    for source in sorted((HERE / "kaa").glob("*.py")):
        wheel.add("kaa/" + source.name, source.read_bytes())
    wheel.add("kaa/_kaa_agent.so", library.read_bytes(), 0o755)
    wheel.add("kaa-agent.pth", (HERE / "kaa-agent.pth").read_bytes())
    description = (HERE / "README.md").read_text(encoding="utf-8")
    wheel.add(info + "/METADATA", METADATA.format(version=version(), description=description).encode())
    wheel.add(info + "/LICENSE", (TOP / "LICENSE").read_bytes())
    wheel.add(info + "/WHEEL", WHEEL.format(tag=tag).encode())
    wheel.close(info)
    return name


# --- PEP 517 ---

def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return make(find_agent(), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the sources are those of kaa: there is no archive of this folder alone")
