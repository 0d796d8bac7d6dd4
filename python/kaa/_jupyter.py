# SPDX-License-Identifier: GPL-2.0-only
"""`%%kaa` in a notebook: records a cell, and shows below it where its time went.

    %load_ext kaa

    %%kaa --mode wall
    work()

The cell runs as without; what it prints, its value and its exception are shown as always. Then come the first screen of
`kaa report` and, in a browser, the flame graph of what the cell did. The recording stays (`kaa.data`).
"""
from __future__ import annotations

import contextlib
import html
import linecache
import os
import re
import tempfile
import threading
import time

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from kaa import _program
from kaa._profile import ProfileError, profile

COLUMNS, HEIGHT = 100, 480
TASKS = "/proc/self/task"
OF_JUPYTER = "ipykernel", "IPython.core", "zmq"


@contextlib.contextmanager
def names_of_code(compiler):
    """The file names that IPython gives to the code that runs in the block; the first is that of the cell."""
    names, cache = [], compiler.cache

    def noted(*words, **settings):
        names.append(cache(*words, **settings))
        return names[-1]
    compiler.cache = noted
    try:
        yield names
    finally:
        del compiler.cache


def write_cells(since):
    """Cells have names of files that are not there: so that reports have the text of their lines, they are written. They
    are as old as the time `since`, from before the recording, for a younger file may have changed since."""
    folder = os.path.join(tempfile.gettempdir(), "ipykernel_%d" % os.getpid())
    for name, entry in list(linecache.cache.items()):
        if os.path.dirname(name) != folder or len(entry) < 3 or os.path.exists(name):
            continue
        with contextlib.suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            with open(name, "x", encoding="utf-8") as file:
                file.write("".join(entry[2]))
            os.utime(name, (since, since))


def ask(*words):
    """What kaa prints, or None if it fails."""
    done = _program.ask(*words, COLUMNS=str(COLUMNS))
    return done.stdout if done.returncode == 0 else None


def read_tasks(file):
    """What the file says of each thread of this process; none where it cannot be read."""
    found = {}
    for tid in os.listdir(TASKS):
        with contextlib.suppress(OSError), open(os.path.join(TASKS, tid, file)) as text:
            found[int(tid)] = text.read()
    return found


def times():
    """How long each thread of this process has had a processor, in ns."""
    return {tid: int(text.split()[0]) for tid, text in read_tasks("schedstat").items() if text}


def of_jupyter():
    """Threads in which no code of a user runs: those of the kernel, and those that ZeroMQ starts."""
    found = {tid for tid, name in read_tasks("comm").items() if name.startswith("ZMQbg/")}
    for thread in threading.enumerate():
        module = getattr(getattr(thread, "_target", None) or thread, "__module__", None) or ""
        if getattr(thread, "is_pydev_daemon_thread", False) or any((module + ".").startswith(name + ".") for name in OF_JUPYTER):
            found.add(getattr(thread, "native_id", None))
    return found


class Bystanders:
    """Threads that were there before the cell and did nothing for it. In a recording of wall time they would have most of
    the time. Of Jupyter's a little is no work for the cell; a user's that had a processor may have worked for it."""

    def __init__(self):
        self.began, self.before = time.monotonic(), times()
        self.before.pop(getattr(threading, "get_native_id", os.getpid)(), None)

    def find(self):
        """Their numbers, at the cell's end."""
        of_kernel, little = of_jupyter(), (time.monotonic() - self.began) * 1e9 / 100
        return {tid for tid, ran in times().items()
                if tid in self.before and ran - self.before[tid] <= (little if tid in of_kernel else 0)}


def report(recording, bystanders):
    """The first screen of a recording, or None. What is to be typed there is of the whole recording."""
    everything = ["report", "--stdio", "-i", recording]
    listed = ask(*everything, "-q", "--sort", "tid", "-F", "tid", "-g", "none", "-t", ",") or ""
    recorded = {int(tid) for tid in re.findall(r"^ *(\d+):", listed, re.M)}
    others = ",".join(map(str, sorted(recorded - bystanders)))
    count = len(recorded & bystanders)
    text = ask(*everything, "--tid", others) if count and others else None
    if not text:
        return ask(*everything)
    return (re.sub(r"\s+--tid\s+" + others, "", text)
            + "\nLeft out: %d thread%s that waited all the time, and %s there before the cell.\n'kaa report -i %s' has %s.\n"
            % (count, "" if count == 1 else "s", "was" if count == 1 else "were", recording, "it" if count == 1 else "them"))


class Shown:
    """Text on a terminal; in a browser the page of the flame graph below it, which may run no code but its own."""

    def __init__(self, text, page):
        self.text, self.page = text, page

    def _repr_pretty_(self, printer, cycle):
        printer.text(self.text)

    def _repr_html_(self):
        shown = "<pre>%s</pre>" % html.escape(self.text)
        if self.page:
            shown += ('<iframe sandbox="allow-scripts" srcdoc="%s" style="width: 100%%; height: %dpx; border: 0"></iframe>'
                      % (html.escape(self.page), HEIGHT))
        return shown


@magics_class
class KaaMagics(Magics):
    @magic_arguments()
    @argument("--mode", choices=["cpu", "wall", "gil"], help="CPU time (default), wall time, or time with the GIL")
    @argument("-F", "--frequency", type=int, help="samples a second")
    @argument("-o", "--output", default="kaa.data", help="the recording, for 'kaa report -i FILE' (default: kaa.data)")
    @argument("--lines", action="store_true", help="draw a box for each line of a function")
    @cell_magic
    def kaa(self, line, cell):
        """Records this cell, and shows below it where the time went."""
        settings, since = parse_argstring(self.kaa, line), time.time() - 1
        recording = profile(settings.output, settings.frequency, settings.mode)
        bystanders = Bystanders()
        try:
            recording.__enter__()
        except (ProfileError, OSError) as error:
            raise UsageError("%%%%kaa: %s" % error)
        try:
            with names_of_code(self.shell.compile) as names:
                self.shell.run_cell(cell)
        finally:
            try:
                recording.__exit__(None, None, None)
            except ProfileError as error:
                raise UsageError("%%%%kaa: %s" % error)
        idle = bystanders.find()
        write_cells(since)
        text = report(settings.output, idle)
        draw = ["flamegraph", "-i", settings.output, "-o", "-"] + ["--lines"] * settings.lines
        page = text and names and ask(*draw, "--from", names[0])
        display(Shown(text or recording.messages, page))
