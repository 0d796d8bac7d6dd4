# SPDX-License-Identifier: GPL-2.0-only
"""`%%kaa` in notebooks: in a kernel of Jupyter, as a browser's page talks to it, and in IPython on a terminal."""
import html
import json
import os
import re

import pytest

from harness.flame_data import PYTHON, THREAD, Page
from harness.process import HANG, TOP, run

HELPER = """\
import time

def helper(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))
"""

# Says what a kernel sent while each cell ran, as JSON. A text may come late, or in the name of the cell before.
TALK = """\
import json, queue, sys
from jupyter_client.manager import start_new_kernel
limit = float(sys.argv[1])
manager, client = start_new_kernel(limit, kernel_name="python3")
try:
    for cell in json.load(sys.stdin):
        said, number, is_idle = [], client.execute(cell, allow_stdin=False), False
        while True:
            try:
                message = client.get_iopub_msg(timeout=0.3 if is_idle else limit)
            except queue.Empty:
                break
            said.append([message["msg_type"], message["content"]])
            of_cell = message["parent_header"].get("msg_id") == number
            is_idle = is_idle or (of_cell and message["content"].get("execution_state") == "idle")
        assert is_idle
        print(json.dumps(said))
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


@pytest.fixture
def environment(build_dir):
    env = {**os.environ, "PYTHONPATH": str(TOP / "python"), "PATH": f"{build_dir}:{os.environ['PATH']}",
           "PYTHONDONTWRITEBYTECODE": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    env.pop("PYTHONHOME", None)
    return env


@pytest.fixture
def notebook(environment, tmp_path):
    """notebook(cell, ...): what Jupyter's kernel sends for each: [(kind of message, its content)]."""
    pytest.importorskip("ipykernel", reason="needs Debian's python3-ipykernel")

    def execute(*cells):
        said = run(["/usr/bin/python3", "-c", TALK, HANG], data=json.dumps(["%load_ext kaa", *cells]).encode(), env=environment,
                   cwd=tmp_path).stdout
        kinds = "status", "execute_input"
        return [[(kind, content) for kind, content in json.loads(line) if kind not in kinds] for line in said.splitlines()][1:]
    return execute


def shown(messages):
    """The text, and the page of the flame graph, of the one that shows the recording."""
    data = next(content["data"] for kind, content in messages if kind == "display_data")
    frame = re.search(r'<iframe sandbox="allow-scripts" srcdoc="([^"]*)"', data["text/html"])
    assert html.escape(data["text/plain"]) in data["text/html"]
    return data["text/plain"], frame and Page(html.unescape(frame[1]))


def of_kind(messages, kind):
    return [content for found, content in messages if found == kind]


def test_a_cell(root, bpf, notebook, tmp_path):
    _, cell, fails = notebook(
        HELPER, "%%kaa -F 999\ndef inner():\n    helper(0.5)\ninner()\nprint('printed')\n6 * 7", "%%kaa\nhelper(0.3)\nraise KeyError('mine')")
    # As without: what is printed, the value, and then what kaa says.
    assert [content["text"] for content in of_kind(cell, "stream")] == ["printed\n"]
    assert of_kind(cell, "execute_result")[0]["data"]["text/plain"] == "42"
    text, page = shown(cell)
    # Each line has its text, though it is in no file of the user's.
    row = re.search(r"^ *([\d.]+)% +([\d.]+)%  \S+:6 +sum\(range\(1000\)\)$", text, re.M)
    # Of what the cell has; the kernel's own threads depend on the machine.
    whole = re.search(r"^ *[\d.]+% +([\d.]+)%  helper  ", text, re.M)
    assert row and whole and float(row[2]) > 0.5 * float(whole[1]), text
    # The graph begins at the cell, and not at Jupyter's loops.
    stacks = [[f.name for f in stack if f.kind in PYTHON] for stack in page.stacks()]
    assert ["inner", "helper"] in [stack[1:3] for stack in stacks] and "run_cell" not in sum(stacks, [])
    assert all(stack[0].kind == THREAD for stack in page.stacks())
    assert (tmp_path / "kaa.data").exists() and (tmp_path / "kaa.data.old").exists()
    assert of_kind(fails, "error")[0]["ename"] == "KeyError"
    assert "helper" in shown(fails)[0]


def functions_of_wall(text):
    """As the rows have them."""
    return re.findall(r"^ *[\d.]+% +[\d.]+% +[\d.]+  (\S+) ", text, re.M)


def test_settings(root, bpf, notebook, tmp_path):
    _, waits, mistake, unwritable = notebook(
        HELPER, "%%kaa --mode wall -F 999 -o other.data --lines\nhelper(0.2)\ntime.sleep(0.5)", "%%kaa --mode fast\n1",
        "%%kaa -o no/such/folder/x\nprint('ran')")
    text, page = shown(waits)
    assert re.search(r"^Spent in: .*idle", text, re.M) and "time.sleep(0.5)" in text, text
    # The cell's own stands first.
    assert functions_of_wall(text)[0] in ("<module>", "helper"), text
    assert {f.line for f in page.functions if f.kind in PYTHON} >= {1, 2}
    assert (tmp_path / "other.data").exists() and not (tmp_path / "kaa.data").exists()
    for messages, said in ((mistake, "argument --mode: invalid choice: 'fast'"), (unwritable, "'no/such/folder/x' cannot be written: there is no folder")):
        assert said in "".join(content["text"] for content in of_kind(messages, "stream")), messages
        assert not of_kind(messages, "error") and "ran" not in str(of_kind(messages, "stream"))


# Of earlier cells: one that waits all the time, and one that works for a later cell.
THREADS = """\
import queue, threading, time
tasks = queue.Queue()

def waits():
    time.sleep(10000)

def takes():
    while True:
        tasks.get()()
        tasks.task_done()

for function in waits, takes:
    threading.Thread(target=function, daemon=True).start()
"""


def test_threads_that_did_nothing_for_the_cell(root, bpf, kaa, notebook, tmp_path):
    """They would have most of the wall time. Those that began in the cell, or worked for it, have not been left out."""
    cell = ("%%kaa --mode wall\ndef naps():\n    time.sleep(1)\nown = threading.Thread(target=naps)\nown.start()\n"
            "tasks.put(lambda: helper(0.5))\ntasks.join()\nown.join()\ntime.sleep(2)")
    _, _, waits = notebook(HELPER, THREADS, cell)
    text, _ = shown(waits)
    functions = set(functions_of_wall(text))
    assert {"<module>", "naps", "helper"} <= functions, text
    assert not {"waits", "Heartbeat.run", "OutStream._watch_pipe_fd"} & functions, text
    count = int(re.search(r"^Left out: (\d+) threads that waited all the time, and were there before the cell\.$", text, re.M)[1])
    assert "'kaa report -i kaa.data' has them.\n" in text and "--tid" not in text
    assert count > 3
    assert {"waits", "Heartbeat.run"} <= set(functions_of_wall(kaa("report", "-i", tmp_path / "kaa.data").stdout))


def test_on_a_terminal(root, bpf, environment, tmp_path):
    """Text alone."""
    pytest.importorskip("IPython", reason="needs Debian's python3-ipython")
    program = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in ("%load_ext kaa", {HELPER!r}, "%%kaa\\nhelper(0.3)"):
    shell.run_cell(cell)
"""
    said = run(["/usr/bin/python3", "-c", program], env={**environment, "IPYTHONDIR": str(tmp_path / "ipython")}, cwd=tmp_path).stdout
    assert re.search(r"^ *[\d.]+% +[\d.]+%  helper  ", said, re.M) and "iframe" not in said, said
