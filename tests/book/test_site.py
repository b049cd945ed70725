"""The built book: every link and image in order, nothing from another host, readable at two widths."""

from pathlib import Path

import pytest
from checks import browser as chrome
from checks import files, site

WHOLE = "<!DOCTYPE html><html lang=en><title>t</title><body><main>{}</main></body></html>"
TABLE = f"<table><tr>{'<td>wide_content_here</td>' * 40}</tr></table>"
RENDERED = "<span class=math><mjx-container>x</mjx-container></span>"
LINKS = "<nav><a href=x.html>one</a></nav>"
FOLDED = (
    "<button title='Open the menu' onclick='document.querySelector(`nav`).hidden = false'>=</button>"
    "<p><a href=#x>skip</a></p><nav hidden><a href=x.html>one</a></nav>"
)


@pytest.fixture
def page(tmp_path):
    """Writes a small page and returns its path."""

    def write(body: str, name: str = "page.html") -> Path:
        (tmp_path / name).write_text(WHOLE.format(body), encoding="utf-8")
        return tmp_path / name

    return write


GOOD = [
    f"<p>Hello</p><div style='overflow-x: auto'>{TABLE}</div>",
    f"<p>{RENDERED} and <code>$x$</code></p><pre>echo $HOME</pre>",
    "<p style='color: #767676'>just enough</p><h1 style='color: #949494'>large</h1>",
]
BAD = {
    f"<p>{TABLE}</p>": ("overflow", "px wide in a window"),
    f"<style>html, body {{ overflow-x: hidden }}</style>{TABLE}": ("overflow", "is cut off"),
    f"<details><summary>x</summary>{TABLE}</details>": ("overflow", "px wide in a window"),
    "<p>Costs $x$ each</p>": ("formulas", "raw TeX"),
    "<p>Costs \\(x\\) each</p>": ("formulas", "raw TeX"),
    "<p><span class=math>\\(x\\)</span></p>": ("formulas", "is not rendered"),
    "<p><mjx-container><mjx-merror>x</mjx-merror></mjx-container></p>": ("formulas", "reports an error"),
    "<script src='https://cdn.example.org/x.js'></script>": ("requests", "https://cdn.example.org/x.js"),
    "<script>fetch('http://example.org/data')</script>": ("requests", "http://example.org/data"),
    "<script>console.error('broken')</script>": ("console", "broken"),
    "<script>throw new Error('thrown')</script>": ("console", "thrown"),
    "<script src='missing.js'></script>": ("console", "ERR_FILE_NOT_FOUND"),
    "<p style='color: #777'>too pale</p>": ("contrast", "light: <p>"),
    "<style>[data-theme=dark] body { background: #111 }</style><p>dark on dark</p>": (
        "contrast",
        "dark: <p>",
    ),
    "<table style='background: #444c'><tr><td style='color: #0008'>x</td></tr></table>": ("contrast", "<td>"),
}


@pytest.mark.parametrize("body", GOOD)
def test_a_good_page_passes(browser, page, body):
    assert chrome.visit(browser, page(body)) == chrome.Visit()


@pytest.mark.parametrize("body", BAD)
def test_a_bad_page_is_noticed(browser, page, body):
    kind, message = BAD[body]
    found = getattr(chrome.visit(browser, page(body)), kind)
    assert any(message in text for text in found), found


def test_keyboard_on_good_and_bad_pages(browser, page):
    problems = [chrome.keyboard_problems(browser, page(body), 390, presses=4) for body in (LINKS, FOLDED)]
    assert problems == [[], []]
    [problem] = chrome.keyboard_problems(browser, page("<p><a href=#x>only text</a></p>"), 390, presses=4)
    assert "reach no link of the navigation" in problem
    hidden = "<style>a:focus { outline: none }</style>" + LINKS
    [problem] = chrome.keyboard_problems(browser, page(hidden), 390, presses=4)
    assert "focus is not visible" in problem


def test_images_need_words(page):
    assert site.image_problems(page("<img src=a.png alt='A falling line'>")) == []
    for image in (
        "<img src=a.png>",
        "<img src=a.png alt=' '>",
        "<img src=a.png alt=a.png>",
        "<img alt=x/b.png>",
    ):
        assert len(site.image_problems(page(image, f"{len(image)}.html"))) == 1, image


def test_links_have_to_lead_somewhere(page, tmp_path):
    page("<h2 id=there>x</h2>", "other.html")
    fine = (
        "<a href=other.html#there></a><a href=https://x.org></a><a href=mailto:a@b></a>"
        "<a href=#here id=here></a><meta http-equiv=Refresh content='0; url=other.html'>"
    )
    assert site.link_problems(page(fine, "fine.html"), tmp_path) == []
    bad = (
        "<a href=missing.html></a><a href=other.html#nowhere></a><a href=#nowhere></a><a href=../x.html></a>"
    )
    assert len(site.link_problems(page(bad, "bad.html"), tmp_path)) == 4


def test_what_comes_from_another_host_is_noticed(page, tmp_path):
    assert (
        site.foreign_loads(
            page("<img src=a.png><a href=https://x.org></a><link rel=next href=//x>", "a.html")
        )
        == []
    )
    loads = "<img src=//x.org/a.png><link rel=stylesheet href=https://x.org/a.css><style>@import 'http://x.org/b'</style>"
    assert len(site.foreign_loads(page(loads, "b.html"))) == 3
    (tmp_path / "a.css").write_text("a { background: url(https://x.org/c.png) } b { background: url(d.png) }")
    assert site.foreign_styles(tmp_path) == ["a.css loads https://x.org/c.png"]


def each(found: dict[Path, list[str]], root: Path) -> str:
    """One line for each problem, with its page."""
    return "\n".join(f"{path.relative_to(root)}: {text}" for path, texts in found.items() for text in texts)


@pytest.fixture(scope="module")
def visits(site_folder, browser):
    """Every page of the built book, looked at once."""
    return {path: chrome.visit(browser, path) for path in site.readable_pages(site_folder)}


def test_every_notebook_and_page_is_built(site_folder):
    sources = [
        path.relative_to(files.ROOT).with_suffix(".html") for path in files.book_notebooks() + files.pages()
    ]
    assert {site_folder / source for source in sources} <= set(site.content_pages(site_folder))


def test_images_have_alternative_text(site_folder):
    assert not (found := each({p: site.image_problems(p) for p in site.pages(site_folder)}, site_folder)), (
        found
    )


def test_links_lead_somewhere(site_folder):
    found = each({p: site.link_problems(p, site_folder) for p in site.pages(site_folder)}, site_folder)
    assert not found, found


def test_nothing_is_loaded_from_another_host(site_folder):
    found = each({p: site.foreign_loads(p) for p in site.pages(site_folder)}, site_folder)
    assert not found, found
    assert not (found := site.foreign_styles(site_folder)), found


@pytest.mark.parametrize("kind", ["overflow", "formulas", "requests", "console", "contrast"])
def test_pages_in_the_browser(kind, visits, site_folder):
    assert len(visits) > len(files.book_notebooks())
    found = each({path: getattr(visit, kind) for path, visit in visits.items()}, site_folder)
    assert not found, found


def test_some_page_has_formulas_and_some_page_a_table(site_folder):
    """Otherwise the tests of formulas and of overflow would have looked at nothing."""
    assert any(site.read(path).soup.select(".math") for path in site.content_pages(site_folder))
    assert any(site.read(path).soup.select("table") for path in site.content_pages(site_folder))


@pytest.mark.parametrize("width", chrome.WIDTHS)
def test_the_keyboard_reaches_the_navigation(width, site_folder, browser):
    """The navigation is the theme's and the same on every page: the first one and a chapter stand for all."""
    chapter = site_folder / files.book_notebooks()[0].relative_to(files.ROOT).with_suffix(".html")
    paths = {site_folder / site.redirects(site_folder / "index.html")[0], chapter}
    found = each({path: chrome.keyboard_problems(browser, path, width) for path in paths}, site_folder)
    assert not found, found


def test_search_works_from_the_disk(site_folder, browser):
    notebook = files.book_notebooks()[0]
    page = site_folder / notebook.relative_to(files.ROOT).with_suffix(".html")
    title = site.read(page).soup.h1.get_text().strip("# ¶")
    results = chrome.search(browser, page, max(title.split(), key=len))
    assert any(page.name in result for result in results), results
    assert chrome.search(browser, page, "xyzzyplugh") == []
