"""Debian's headless Chromium, and reports of sites that are opened in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from coldaisle.check import open_site
from coldaisle.render.report import site_report
from tests.bench import large_site

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True)
class Opened:
    """A page in the browser, with what it complained of and what it asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the browser for one module; as long as it runs, Playwright's event loop lets no other one start."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.fail(f"no browser on PATH ({', '.join(BROWSERS)}); make test installs the first where there is apt")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the reports of three sites, small, of 127 nodes, and of 2,048, and return their folder."""
    folder = tmp_path_factory.mktemp("reports")
    large_site.write(folder / "large")
    for name, spec in (
        ("sim", ROOT / "inventory" / "sim"),
        ("h100-pod", ROOT / "inventory" / "h100-pod"),
        ("large", folder / "large"),
    ):
        checked = open_site(spec)
        text = site_report(checked.spec, checked.plan, checked.findings)
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


def show(browser: Browser, file: Path, *, width: int = 1440, dark: bool = False) -> Opened:
    """Open a report in a window of some width."""
    viewport: dict[str, int] = {"width": width, "height": 900}
    context = browser.new_context(viewport=viewport, color_scheme="dark" if dark else "light")  # type: ignore[arg-type]
    opened = Opened(context.new_page())
    opened.page.on("console", lambda message: opened.complaints.append(message.text))
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.goto(file.as_uri())
    return opened
