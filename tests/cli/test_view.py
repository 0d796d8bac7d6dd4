# SPDX-License-Identifier: GPL-2.0-only
"""`kaa view`: who gets what from the server, and who does not."""
import contextlib
import http.client
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import sys
import urllib.parse

import pytest

from harness import exports


class View:
    """One that runs."""

    def __init__(self, process):
        self.process = process
        self.said = ""
        while "Ctrl-C" not in self.said:
            line = process.stdout.readline()
            assert line, f"kaa view ended: {self.said}"
            self.said += line
        self.link = re.search(r"http://\S+", self.said)[0]
        self.port = urllib.parse.urlsplit(self.link).port
        self.entry = self.link.removeprefix(f"http://127.0.0.1:{self.port}")

    def ask(self, path, method="GET", host=None, **headers):
        """(status, headers, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if host != "":
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def enter(self):
        """The cookie for the link, which leads to the folder."""
        status, headers, body = self.ask(self.entry)
        assert status == 200
        cookie, *rest = headers["Set-Cookie"].split("; ")
        self.folder, = (word.removeprefix("Path=").rstrip("/") for word in rest if word.startswith("Path="))
        assert re.fullmatch("/[0-9a-f]{32}", self.folder) and f'content="0;url={self.folder}/"'.encode() in body
        return cookie

    def get(self, path, **asked):
        """Of a path in the folder."""
        return self.ask(self.folder + path, **asked)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(60)


@contextlib.contextmanager
def viewing(build_dir, *words, command="view", **options):
    command = [build_dir / "kaa", command, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            yield View(process)
        finally:
            process.kill()


@pytest.fixture
def view(build_dir, recording):
    with viewing(build_dir, "--no-browser", recording) as started:
        yield started


def test_the_page_and_its_data(view, kaa, recording, tmp_path):
    cookie = view.enter()
    status, headers, page = view.get("/", Cookie=cookie)
    assert status == 200 and headers["Content-Type"].startswith("text/html") and b"<!-- kaa page -->" in page
    status, _, data = view.get("/data", Cookie=cookie)
    kaa("export", "-q", "-i", recording, "--format", "html", "-o", tmp_path / "out.html")
    file = (tmp_path / "out.html").read_bytes()
    assert status == 200 and data == exports.Page.data_of(file)
    # The same but for the data, and where it is had from.
    policy = re.compile(rb"; connect-src 'self'")
    assert policy.sub(b"", page) == re.sub(rb'(id="profile">)[^<]*', rb"\1", file)


def test_two_recordings(build_dir, kaa, recording, tmp_path):
    with viewing(build_dir, "--no-browser", recording, recording) as view:
        cookie = view.enter()
        status, _, data = view.get("/data", Cookie=cookie)
    kaa("export", "-q", "--format", "html", "-o", tmp_path / "out.html", recording, recording)
    assert status == 200 and data == exports.Page.data_of((tmp_path / "out.html").read_bytes())
    assert b"before.weight" in data


def test_the_link_works_once(view):
    assert view.enter()
    status, headers, body = view.ask(view.entry)
    assert status == 403 and "Set-Cookie" not in headers and b"works once" in body


@pytest.mark.parametrize("path", ["/", "/data", "/nothing", "/enter", "/enter?token=", "/enter?token=" + "0" * 32, "/../etc/passwd",
                                  "/%2e%2e/etc/passwd", "//", "/enter?token=" + "a" * 20000])
def test_nothing_without_the_link(view, path):
    status, headers, body = view.ask(path)
    assert status in (403, 414, 431) and "Set-Cookie" not in headers and len(body) < 500
    assert b"kaapage1" not in body
    # It goes on.
    assert view.enter()


@pytest.mark.parametrize("cookie", ["", "kaa=1", "kaa-{port}=", "kaa-{port}=" + "0" * 32, "{right}0", "x{right}"])
def test_other_cookies(view, cookie):
    right = view.enter()
    status, _, body = view.get("/data", Cookie=cookie.format(port=view.port, right=right))
    assert status == 403 and len(body) < 500


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.example",
                                  "[::1]:{port}", ""])
def test_other_hosts(view, host):
    """A name that is made to lead here is another host."""
    cookie = view.enter()
    status, _, body = view.get("/data", host=host.format(port=view.port), Cookie=cookie)
    assert status in (400, 403) and len(body) < 500
    assert view.get("/data", host=f"localhost:{view.port}", Cookie=cookie)[0] == 200


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1:{port}"])
def test_other_origins(view, origin):
    cookie = view.enter()
    assert view.get("/data", Cookie=cookie, Origin=origin.format(port=view.port))[0] == 403
    assert view.get("/data", Cookie=cookie, Origin=f"http://127.0.0.1:{view.port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "HEAD", "OPTIONS", "DELETE", "X"])
def test_other_methods(view, method):
    cookie = view.enter()
    assert view.get("/data", method=method, Cookie=cookie)[0] == 405


def test_other_paths(view):
    cookie = view.enter()
    for path in "/nothing", "/data/", "/../../etc/passwd", "/etc/passwd", "/source?file=/etc/passwd":
        assert view.get(path, Cookie=cookie)[0] == 404, path


def test_the_folder_is_a_secret(view):
    """Who has the cookie, and not the folder, has nothing: browsers send cookies to all ports of a host."""
    cookie = view.enter()
    secret = view.folder
    for folder in "", "/" + "0" * 32, secret[:-1], secret + "0", secret[1:], "/" + secret, secret.upper() if secret != secret.upper() else "/x":
        for path in "/", "/data":
            assert view.ask(folder + path, Cookie=cookie)[0] == 403, folder
    assert view.ask(secret, Cookie=cookie)[0] == 403 and view.get("/data")[0] == 403
    assert view.get("/data", Cookie=cookie)[0] == 200


def test_every_answer_has_its_rules(view):
    for path in view.entry, "/", "/data", "/nothing":
        _, headers, _ = view.ask(path)
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
        assert headers["Cache-Control"] == "no-store" and headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in headers


def test_the_cookie_is_for_this_page_alone(view):
    cookie = view.ask(view.entry)[1]["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and f"kaa-{view.port}=" in cookie


def test_what_is_no_request(view):
    for bytes_sent in b"\0" * 5000, b"GET / HTTP/9.9\r\n\r\n", b"GET" + b" " * 70000, b"\r\n" * 3000, b"GET / HTTP/1.1\r\nHost:" + b"a" * 90000:
        with socket.create_connection(("127.0.0.1", view.port), 60) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(bytes_sent)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
    assert view.enter()


def sockets_of(pid):
    """Numbers of /proc/net/tcp: others on the machine may have the same port, of another address or at the other end."""
    files = [os.readlink(path) for path in pathlib.Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    return {match[1] for match in map(re.compile(r"socket:\[(\d+)\]").fullmatch, files) if match}


def test_it_listens_on_this_machine_alone(view):
    files = [path for path in (pathlib.Path("/proc/net/tcp"), pathlib.Path("/proc/net/tcp6")) if path.exists()]
    rows = [line.split() for path in files for line in path.read_text().splitlines()[1:]]
    own = sockets_of(view.process.pid)
    assert [row[1] for row in rows if row[3] == "0A" and row[9] in own] == [f"0100007F:{view.port:04X}"]


def test_it_is_never_root(view):
    status = pathlib.Path(f"/proc/{view.process.pid}/status").read_text()
    assert "0" not in re.search(r"Uid:\s+(.*)", status)[1].split()
    assert int(re.search(r"CapPrm:\s+(\w+)", status)[1], 16) == 0


def test_under_sudo_its_user_reads_and_serves(root, build_dir, kaa, recording, tmp_path):
    user = pwd.getpwnam("daemon")
    environment = {**os.environ, "SUDO_UID": str(user.pw_uid), "SUDO_GID": str(user.pw_gid), "SUDO_USER": user.pw_name}
    mine = tmp_path / "perf.data"
    mine.write_bytes(recording.read_bytes())
    for folder in tmp_path, *tmp_path.parents[:-1]:
        if folder.name.startswith(("pytest", "test_")):
            folder.chmod(0o755)
    mine.chmod(0o600)
    assert "Permission denied" in kaa("view", mine, env=environment, status=1).stderr
    os.chown(mine, user.pw_uid, user.pw_gid)
    with viewing(build_dir, "--no-browser", mine, env=environment) as view:
        status = pathlib.Path(f"/proc/{view.process.pid}/status").read_text()
        assert set(re.search(r"Uid:\s+(.*)", status)[1].split()) == {str(user.pw_uid)}
        assert int(re.search(r"CapPrm:\s+(\w+)", status)[1], 16) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends(view, number):
    assert view.end(number) == 0 and not view.process.stderr.read()


def test_the_browser_gets_a_link_of_its_own(build_dir, recording, tmp_path):
    """By a private file, and not on a command line; which is gone when kaa is."""
    tools = tmp_path / "bin"
    tools.mkdir(mode=0o755)
    tmp_path.chmod(0o777)
    opened = tmp_path / "opened"
    (tools / "xdg-open").write_text(f'#!/bin/sh\numask 0\nstat -c "%a" "$1" "$(dirname "$1")" >{opened}.part\ncat "$1" >>{opened}.part\n'
                                    f'echo "$1" >>{opened}.part\nmv {opened}.part {opened}\n')
    (tools / "xdg-open").chmod(0o755)
    environment = {**os.environ, "DISPLAY": ":99", "PATH": f"{tools}:{os.environ['PATH']}"}
    environment.pop("XDG_RUNTIME_DIR", None)
    for above in tmp_path.parents:
        if above.name.startswith("pytest"):
            above.chmod(0o755)
    with viewing(build_dir, recording, env=environment) as view:
        assert "opens in your browser" in view.said
        while not opened.exists():
            assert view.process.poll() is None
        text = opened.read_text()
        modes, link, path = text.split()[:2], re.search(r"url=(http[^\"]*)", text)[1], text.split()[-1]
        assert modes == ["600", "700"]
        # Each works once.
        assert link != view.link
        assert view.ask(link.removeprefix(f"http://127.0.0.1:{view.port}"))[0] == 200
        assert view.enter()
        assert view.end() == 0
        assert not pathlib.Path(path).exists() and not pathlib.Path(path).parent.exists()


def test_mistakes(kaa, recording, tmp_path):
    assert "does not exist" in kaa("view", tmp_path / "none", status=1).stderr
    assert "one recording is shown" in kaa("view", "a", "b", "c", status=129).stderr
    assert "'a' does not exist" in kaa("view", "a", "b", status=1).stderr
    assert "no port above" in kaa("view", "--port", "65536", status=129).stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"port {port}" in kaa("view", recording, "--no-browser", "--port", port, status=1).stderr


BUSY = "import sys, time\nwhile time.process_time() < 0.5: pass\nsys.exit(3)"


def test_what_was_just_recorded(build_dir, tmp_path):
    """`record --view` ends as the program did."""
    data = tmp_path / "perf.data"
    words = ["--mode", "wall", "--view", "-o", data, "--", sys.executable, "-c", BUSY]
    # There is no desktop, so no browser.
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
    with viewing(build_dir, *words, command="record", env=env) as started:
        cookie = started.enter()
        status, _, page = started.get("/", Cookie=cookie)
        assert status == 200 and b"<!-- kaa page -->" in page
        assert data.exists() and started.end() == 3


def test_nothing_was_recorded_to_be_seen(kaa, tmp_path):
    data = tmp_path / "perf.data"
    # So few that a program which does nothing has none, also where it takes its time.
    said = kaa("record", "--python=poll", "-F", 1, "--view", "-o", data, "--", "true")
    assert "http" not in said.stdout and "Ctrl-C" not in said.stdout
    assert "--view shows a file" in kaa("record", "--view", "-o", "-", "--", "true", status=129).stderr
