# SPDX-License-Identifier: GPL-2.0-only
"""The page that `kaa view` serves, in Chromium: it is the same, and asks nobody else."""
import http.server
import re
import subprocess
import threading

import pytest

from harness.planted import recording
from harness.process import HANG

STACKS = {b"main": {(b"py::main:/srv/a.py", b"py::work:/srv/a.py"): 30, (b"py::main:/srv/a.py",): 10}}


@pytest.fixture
def link(build_dir, tmp_path):
    with recording(tmp_path / "perf.data", STACKS) as data, \
            subprocess.Popen([build_dir / "kaa", "view", "--no-browser", data], stdout=subprocess.PIPE, text=True) as process:
        try:
            said = "".join(iter(process.stdout.readline, "Ctrl-C ends kaa view.\n"))
            yield re.search(r"http://\S+", said)[0]
        finally:
            process.kill()


@pytest.fixture
def visit(browser):
    """visit() is a page of a new browser, with a list of what it asked for."""
    contexts, problems = [], []

    def begin():
        contexts.append(browser.new_context())
        contexts[-1].set_default_timeout(1000 * HANG)
        page, asked = contexts[-1].new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        return page, asked

    yield begin, problems
    for context in contexts:
        context.close()


def test_the_page_and_what_it_asks_for(link, visit):
    begin, problems = visit
    page, asked = begin()
    page.goto(link)
    page.wait_for_selector("html[data-ready]")
    assert page.inner_text('[aria-label="Functions"].list .row .symbol') == "work"
    assert page.inner_text('[aria-label="Functions"].list .row .share') == "75.0%"
    here = page.url.split("#")[0]
    assert re.fullmatch(re.escape(link.split("/enter")[0]) + "/[0-9a-f]{32}/", here)
    assert asked == [link, here, f"{here}data"] and not problems
    # The address has no token; loading it anew, and the browser's back, work.
    assert "token" not in page.url
    page.keyboard.press("2")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert "view=flame" in page.url and all(url.startswith(here) for url in asked[1:]) and not problems


def test_a_browser_without_the_link(link, visit):
    begin, _ = visit
    page, _ = begin()
    page.goto(link)
    page.wait_for_selector("html[data-ready]")
    other, _ = begin()
    for url in link, page.url, link.split("/enter")[0] + "/":
        assert other.goto(url).status == 403
        assert "Open the link" in other.inner_text("body")


def test_a_page_of_elsewhere_reads_nothing(link, visit, tmp_path):
    """A file on disk that asks this server, in the browser that has the cookie."""
    begin, _ = visit
    page, _ = begin()
    page.goto(link)
    page.wait_for_selector("html[data-ready]")
    place = page.url.split("#")[0]
    (tmp_path / "evil.html").write_text("<p>evil</p>")
    page.goto((tmp_path / "evil.html").as_uri())
    said = page.evaluate("""async (url) => {
        try { return (await fetch(url, { credentials: "include" })).status; } catch (error) { return "refused"; }
    }""", f"{place}data")
    assert said == "refused"


class Curious(http.server.BaseHTTPRequestHandler):
    """The server of another user of this machine, which notes what it is sent."""
    cookies = []

    def do_GET(self):
        self.cookies.append(self.headers.get("Cookie"))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<img src=/x><img src=/data>")

    def log_message(self, *words):
        pass


def test_the_cookie_stays_here(link, visit):
    """Cookies know no ports: a page of another port of this machine gets none."""
    begin, _ = visit
    page, _ = begin()
    page.goto(link)
    page.wait_for_selector("html[data-ready]")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Curious) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page.goto(f"http://127.0.0.1:{server.server_port}/", wait_until="load")
        finally:
            server.shutdown()
            thread.join()
    assert len(Curious.cookies) >= 3 and set(Curious.cookies) == {None}
