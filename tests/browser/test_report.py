"""Reports in a real browser: for people who do not see them, on paper, on a phone, with no network, and very large."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.browser.conftest import Opened, show

SITES = ("sim", "h100-pod", "large")
VIEWS = [(name, width, dark) for name in ("sim", "h100-pod") for width in (1440, 390) for dark in (False, True)]


def violations(opened: Opened) -> str:
    """Return what axe has against a page."""
    found = Axe().run(opened.page)
    return found.generate_report() if found.violations_count else ""


@pytest.mark.parametrize(("name", "width", "dark"), VIEWS)
def test_axe_has_nothing_against_it(browser: Browser, reports: Path, name: str, width: int, *, dark: bool) -> None:
    """On a wide and a narrow screen, light and dark, the whole page is as axe wants it."""
    assert violations(show(browser, reports / f"{name}.html", width=width, dark=dark)) == ""


def test_axe_has_nothing_against_a_large_site(browser: Browser, reports: Path) -> None:
    """The page of 2,048 nodes is as axe wants it too."""
    assert violations(show(browser, reports / "large.html")) == ""


@pytest.mark.parametrize("name", SITES)
def test_nothing_leaves_the_page(browser: Browser, reports: Path, name: str) -> None:
    """The file is all that is read, and the browser has nothing to complain of."""
    opened = show(browser, reports / f"{name}.html")
    opened.page.fill("#filter", "r01")
    assert opened.requests == [(reports / f"{name}.html").as_uri()]
    assert opened.complaints == []


@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_the_page_is_no_wider_than_the_window(browser: Browser, reports: Path, width: int) -> None:
    """What is wider than the window is moved by itself, not with the page."""
    page = show(browser, reports / "h100-pod.html", width=width).page
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_every_table_is_whole_on_a_usual_screen(browser: Browser, reports: Path) -> None:
    """At 1280 pixels nothing of a table or a picture is cut off, so that nobody needs to move it."""
    page = show(browser, reports / "h100-pod.html", width=1280).page
    cut = "[...document.querySelectorAll('.scroll')].filter(it => it.scrollWidth > it.clientWidth)"
    assert page.evaluate(f"{cut}.map(it => it.getAttribute('aria-label'))") == []


def test_words_leave_the_racks_that_have_them(browser: Browser, reports: Path) -> None:
    """Every word must be there; the count is said, and empty words bring all racks back."""
    page = show(browser, reports / "h100-pod.html").page
    page.fill("#filter", "row2 r11")
    assert page.inner_text("#said") == "1 of 38 racks"
    assert page.locator("tr[data-find]:visible th").all_inner_texts() == ["r11"]
    assert page.locator("section.row:visible").count() == 1
    page.fill("#filter", "no such rack")
    assert page.inner_text("#said") == "0 of 38 racks"
    page.fill("#filter", "")
    assert page.locator("tr[data-find]:visible").count() == 38
    assert page.inner_text("#said") == ""


def test_a_node_is_found_among_thousands(browser: Browser, reports: Path) -> None:
    """In a large report elevations are closed; the name of a node leads to its rack and opens its picture."""
    page = show(browser, reports / "large.html").page
    assert page.locator("details.elevations[open]").count() == 0
    page.fill("#filter", "r0300-n2")
    assert page.locator("tr[data-find]:visible th").all_inner_texts() == ["r0300"]
    assert page.locator("details.elevations[open] figure[data-find]:visible").count() == 1
    page.fill("#filter", "")
    assert page.locator("details.elevations[open]").count() == 0


def test_without_a_script_everything_is_readable(browser: Browser, reports: Path) -> None:
    """Where no script may run, the filter is not shown and all racks are."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((reports / "h100-pod.html").as_uri())
    assert page.locator("#filter").is_hidden()
    assert page.locator("tr[data-find]").count() == 38


@pytest.mark.parametrize(("name", "least", "most"), [("sim", 3, 15), ("h100-pod", 20, 60)])
def test_it_prints_on_a_sensible_number_of_pages(
    browser: Browser, reports: Path, name: str, least: int, most: int
) -> None:
    """On paper the tables and pictures of a site take some tens of pages, in landscape."""
    pdf = show(browser, reports / f"{name}.html").page.pdf(prefer_css_page_size=True)
    pages = re.findall(rb"/Type\s*/Page\b(?!s)", pdf)
    assert least <= len(pages) <= most
    width, height = map(float, re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pdf)[0])
    assert width > height
