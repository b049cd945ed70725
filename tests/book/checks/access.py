"""What stands between a built page and a reader who uses a keyboard, a screen reader or large print."""

from importlib.resources import files
from pathlib import Path

from playwright.sync_api import Page

from .browser import THEMES, WIDTHS, ask, load

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
FUNCTIONS = (Path(__file__).parent / "access.js").read_text(encoding="utf-8")
COLOURS = ["color-contrast", "link-in-text-block"]
ALL_ELSE = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
RUN = """async (options) => {
    const { violations } = await axe.run({ resultTypes: ["violations"], preload: false, ...options });
    return violations.flatMap(({ id, impact, nodes }) => nodes.map(
        ({ target, html }) => `${id} (${impact}): ${target.join(" ")}: ${html.slice(0, 80)}`
    ));
}"""


def problems(page: Page, path: Path) -> list[str]:
    """All that axe-core finds, of any severity, and what it leaves out, with everything unfolded.

    Colours are looked at in both themes, the rest at both widths.
    """
    found = []
    for width in sorted(WIDTHS):
        page.set_viewport_size({"width": width, "height": 900})
        if width == min(WIDTHS):
            load(page, path)
            ask(page, "prepare")
            page.evaluate(AXE)
            found += _call(page, "headers")
        found += _call(page, "reach") + page.evaluate(RUN, ALL_ELSE)
    _call(page, "thin")
    for theme in THEMES:
        _call(page, "dress", theme)
        found += [f"{theme}: {text}" for text in page.evaluate(RUN, {"runOnly": COLOURS})]
    return list(dict.fromkeys(found))


def _call(page: Page, function: str, *arguments: str):
    return page.evaluate(f"(given) => {FUNCTIONS.strip()}.{function}(...given)", list(arguments))
