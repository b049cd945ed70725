"""Open a built page in headless Chromium, from the disk and without a network, and read what is wrong."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (1440, 390)
THEMES = ("light", "dark")
LOCAL = ("file:", "data:", "blob:", "about:", "chrome-error:")
THEMES_OWN = ("THEBE_JS_URL",)  # declared twice by the theme itself
SEARCHED = "() => /found|did not match/.test(document.querySelector('#search-results')?.innerText)"
FUNCTIONS = (Path(__file__).parent / "page.js").read_text(encoding="utf-8")


@dataclass
class Visit:
    """What one page gets wrong."""

    overflow: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    contrast: list[str] = field(default_factory=list)


def chromium() -> str:
    """The path of Chromium; without one the tests are skipped, and fail where they have to run."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    if os.environ.get("CI", "").lower() in {"true", "1"}:
        pytest.fail("CI is set and there is no Chromium: the built pages cannot be checked", pytrace=False)
    pytest.skip("no Chromium on this machine: install it from your distribution to check the built pages")


@contextmanager
def tab(browser: Browser, width: int, visit: Visit | None = None) -> Iterator[Page]:
    """An empty page in a fresh profile that reaches no network."""
    visit = visit or Visit()

    def gate(route: Route) -> None:
        if route.request.url.startswith(LOCAL):
            route.continue_()
        else:
            route.abort()

    context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
    context.set_default_timeout(60_000)
    context.route("**/*", gate)
    page = context.new_page()
    page.on(
        "request", lambda r: None if r.url.startswith(LOCAL) else visit.requests.append(f"asks for {r.url}")
    )
    page.on("websocket", lambda socket: visit.requests.append(f"asks for {socket.url}"))
    page.on("pageerror", lambda error: _note(visit, str(error)))
    page.on("console", lambda message: _note(visit, message.text) if message.type == "error" else None)
    try:
        yield page
    finally:
        context.close()


def load(page: Page, path: Path) -> None:
    """Show a page from the disk, its formulas set."""
    page.goto(path.as_uri())
    page.wait_for_load_state()
    page.evaluate("() => window.MathJax?.startup?.promise")


@contextmanager
def opened(browser: Browser, path: Path, width: int, visit: Visit | None = None) -> Iterator[Page]:
    with tab(browser, width, visit) as page:
        load(page, path)
        yield page


def visit(browser: Browser, path: Path) -> Visit:
    """Look at a page at each width and in both themes, with everything unfolded."""
    found = Visit()
    with opened(browser, path, WIDTHS[0], found) as page:
        ask(page, "prepare")
        found.formulas += ask(page, "formulas")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found.overflow += [f"at {width} px: {text}" for text in ask(page, "overflow")]
        for theme in THEMES:
            found.contrast += [f"{theme}: {text}" for text in ask(page, "contrast", theme)]
    return found


def ask(page: Page, function: str, *arguments: str):
    """Call one of the functions of page.js."""
    return page.evaluate(f"(given) => {FUNCTIONS.strip()}.{function}(...given)", list(arguments))


def keyboard_problems(browser: Browser, path: Path, width: int, presses: int = 40) -> list[str]:
    """Tab has to reach a link of the navigation, opening the menu on the way where it is folded away."""
    seen = []
    with opened(browser, path, width) as page:
        for _ in range(presses):
            page.keyboard.press("Tab")
            focus = ask(page, "focus")
            if focus["navigation"] or focus["menu"]:
                if not focus["visible"]:
                    return [f"focus is not visible on {focus['what']}"]
                if focus["navigation"]:
                    return []
                if focus["what"] not in seen:
                    page.keyboard.press("Enter")
                    page.wait_for_timeout(300)
            seen.append(focus["what"])
    return [f"{presses} presses of Tab reach no link of the navigation, only {', '.join(sorted(set(seen)))}"]


def search(browser: Browser, path: Path, words: str) -> list[str]:
    """Type words into the page's search field; the addresses of the results."""
    with opened(browser, path, WIDTHS[0]) as page:
        page.keyboard.press("Control+k")
        page.keyboard.type(words)
        page.keyboard.press("Enter")
        page.wait_for_function(SEARCHED)
        return [str(link.get_attribute("href")) for link in page.locator("#search-results li a").all()]


def _note(visit: Visit, message: str) -> None:
    if not any(own in message for own in THEMES_OWN):
        visit.console.append(message.splitlines()[0])
