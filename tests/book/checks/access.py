"""What stands between a built page and a reader who uses a keyboard, a screen reader or large print."""

from importlib.resources import files
from pathlib import Path

from playwright.sync_api import Browser, Page

from .browser import THEMES, WIDTHS, ask, opened

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
FUNCTIONS = (Path(__file__).parent / "access.js").read_text(encoding="utf-8")
COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """async (options) => {
    const { violations } = await axe.run({ resultTypes: ["violations"], preload: false, ...options });
    return violations.flatMap(({ id, impact, nodes }) => nodes.map(
        ({ target, html }) => `${id} (${impact}): ${target.join(" ")}: ${html.slice(0, 80)}`
    ));
}"""


def problems(browser: Browser, path: Path, mended: bool = True) -> list[str]:
    """All that axe-core finds, of any severity, and what it leaves out, with everything unfolded.

    Colours are looked at in both themes, the rest at both widths. `mended=False` leaves out the book's script.
    """
    narrow, wide = sorted(WIDTHS)
    with opened(browser, path, narrow) as page:
        if not mended:
            page.route("**/access.js*", lambda route: route.abort())
            page.reload()
        ask(page, "prepare")
        found = _call(page, "headers") + _call(page, "reach")
        page.evaluate(AXE)
        _call(page, "thin")
        found += page.evaluate(RUN, {"rules": {rule: {"enabled": False} for rule in COLOURS}})
        page.set_viewport_size({"width": wide, "height": 900})
        found += _call(page, "reach")
        found += page.evaluate(RUN, {"rules": {rule: {"enabled": False} for rule in COLOURS}})
        for theme in THEMES:
            _call(page, "dress", theme)
            found += [f"{theme}: {text}" for text in page.evaluate(RUN, {"runOnly": COLOURS})]
    return list(dict.fromkeys(found))


def _call(page: Page, function: str, *arguments: str):
    return page.evaluate(f"(given) => {FUNCTIONS.strip()}.{function}(...given)", list(arguments))
