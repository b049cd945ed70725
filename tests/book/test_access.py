"""The book can be read with a keyboard, a screen reader and in either theme: axe-core finds nothing."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest
from checks import access, files, site, toc
from checks import browser as chrome
from playwright.sync_api import Browser, Page

from rnnlib.plotting import use_book_style

PAGE = "<!DOCTYPE html><html lang=en><title>t</title><body><main><h1>One</h1>{}</main></body></html>"
DARK = "<style>[data-theme=dark] body { background: #111 }</style>"
PIECES = "<span class=k>one</span> <span class=c>two</span> <span class=c>three</span>"
CODE = "<style>.c {{ color: {} }}</style><pre>" + PIECES + "</pre>"
WIDE = "<div style='overflow-x: auto' {}><p style='width: 3000px'>wide</p></div>"
GOOD = [
    "<h2>Two</h2><h3>Three</h3><p>Text</p>" + CODE.format("#555"),
    WIDE.format("tabindex=0") + "<table><tr><th scope=col>a</th></tr><tr><td>1</td></tr></table>",
]
FAULTS = {
    "<h3>Three</h3>": "heading-order (moderate)",
    "<img src=a.png>": "image-alt (critical)",
    "<input>": "label (critical)",
    "<details><summary><i></i></summary>x</details>": "summary-name (serious)",
    "<style>a {text-decoration: none; color: #333}</style><p>Some <a href=x>words</a> here</p>": (
        "light: link-in-text-block (serious)"
    ),
    "<p style='color: #999'>pale</p>": "light: color-contrast (serious)",
    DARK + "<p style='color: #555'>dim</p>": "dark: color-contrast (serious)",
    DARK + "<details><summary>fold</summary><p style='color: #555'>folded</p></details>": "dark: color",
    CODE.format("#bbb"): "light: color-contrast (serious)",
    "<table><tr><td>1</td></tr></table>": "table-headers",
    WIDE.format("tabindex=-1"): "scrollable-by-keyboard",
}  # fmt: skip
# What book/_static/access.js mends, and a page that needs it.
MENDED = {
    "summary-name (serious)": "book/index.html",
    "region (moderate)": "book/index.html",
    "aria-required-children (critical)": "book/references.html",
    "aria-deprecated-role (minor)": "book/references.html",
    "table-headers": "genindex.html",
}
READABLE = 9  # pixels, the height of a figure's words
FIGURES = """[...document.querySelectorAll(".cell_output img")].map(figure => {
    const scale = figure.clientWidth / figure.naturalWidth, box = figure.parentElement;
    return [scale * %f, box.tabIndex === 0 || box.scrollWidth <= box.clientWidth];
})"""


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    with chrome.tab(browser, min(chrome.WIDTHS)) as page:
        yield page


@pytest.fixture
def page(tmp_path):
    def write(body: str):
        (tmp_path / "page.html").write_text(PAGE.format(body), encoding="utf-8")
        return tmp_path / "page.html"

    return write


@pytest.mark.parametrize("body", GOOD)
def test_a_good_page_passes(tab, page, body):
    assert access.problems(tab, page(body)) == []


@pytest.mark.parametrize("body", FAULTS)
def test_a_fault_is_named(tab, page, body):
    found = access.problems(tab, page(body))
    assert any(text.startswith(FAULTS[body]) for text in found), found


def test_every_page_is_open_to_everybody(tab, site_folder):
    found = [
        f"{path.relative_to(site_folder)}: {text}"
        for path in site.readable_pages(site_folder)
        for text in access.problems(tab, path)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", toc.chapters(), ids=files.name)
def test_the_words_of_a_figure_can_be_read_on_a_phone(tab, site_folder, path):
    """A figure too wide for the screen scrolls in a box that the keyboard reaches."""
    with plt.rc_context():
        use_book_style()
        pixels = plt.rcParams["font.size"] / 72 * plt.rcParams["figure.dpi"]
    chrome.load(tab, site_folder / path.relative_to(files.ROOT).with_suffix(".html"))
    found = tab.evaluate(FIGURES % pixels)
    assert found
    assert all(height >= READABLE and reached for height, reached in found), found


def test_every_mend_is_still_needed(tab, site_folder):
    """Without the script the theme's faults come back; where one does not, its mend can go."""
    tab.route("**/access.js*", lambda route: route.abort())
    found = {name: access.problems(tab, site_folder / name) for name in {*MENDED.values()}}
    tab.unroute("**/access.js*")
    gone = [rule for rule, name in MENDED.items() if not any(text.startswith(rule) for text in found[name])]
    assert not gone, gone
