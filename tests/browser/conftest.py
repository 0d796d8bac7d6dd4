# SPDX-License-Identifier: GPL-2.0-only
"""Chromium, driven by Playwright; tests/tools/browser installs both and runs these tests."""
import shutil

import pytest

from harness.process import HANG

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright: run these tests by tests/tools/browser test")
    if not CHROMIUM:
        pytest.skip("no Chromium: tests/tools/browser setup installs it")
    with sync_api.sync_playwright() as playwright:
        # Root has no sandbox.
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """opened(path, **context) is a page that shows the file, without a network; it must run without an error."""
    contexts, problems = [], []

    def show(path, **options):
        contexts.append(browser.new_context(offline=True, viewport=options.pop("viewport", {"width": 1280, "height": 800}),
                                            **options))
        contexts[-1].set_default_timeout(1000 * HANG)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("console", lambda message: problems.append(f"console: {message.text}"))
        page.on("request", lambda request: request.url == path.as_uri() or problems.append(f"request: {request.url}"))
        page.goto(path.as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert not problems
