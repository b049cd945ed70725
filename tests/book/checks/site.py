"""The built site on disk: nothing points nowhere, nothing comes from another host, every image has words."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from bs4 import BeautifulSoup

ELSEWHERE = re.compile(r"(?:https?:)?//")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
LOADS = (("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"))
LOADING_LINKS = {"stylesheet", "icon", "shortcut icon", "preload", "modulepreload", "prefetch", "preconnect"}
CSS_URL = re.compile(r"(?:@import\s+[\"']|url\(\s*[\"']?)((?:https?:)?//[^\"')\s]+)")


@dataclass
class Html:
    """One page, read once."""

    soup: BeautifulSoup
    names: set[str] = field(default_factory=set)


def pages(site: Path) -> list[Path]:
    """All pages of a built site, those that the theme makes included."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def readable_pages(site: Path) -> list[Path]:
    """The same without pages that only send the reader on."""
    return [path for path in pages(site) if not redirects(path)]


def redirects(path: Path) -> list[str]:
    """Where a page sends its reader on."""
    found = read(path).soup.find_all("meta", attrs={"http-equiv": re.compile("^refresh$", re.IGNORECASE)})
    return [str(meta["content"]).partition("url=")[2].strip("'\" ") for meta in found]


def content_pages(site: Path) -> list[Path]:
    """The pages that are written: chapters, their solutions and what surrounds them."""
    return [path for path in pages(site) if path.is_relative_to(site / "book")]


@cache
def read(path: Path) -> Html:
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    names = {
        str(tag.get("id") or tag.get("name")) for tag in soup.find_all(lambda t: t.get("id") or t.get("name"))
    }
    return Html(soup, names)


def image_problems(path: Path) -> list[str]:
    """Images without alternative text; a file's name, which is what is put there by default, is none."""
    found = []
    for image in read(path).soup.find_all("img"):
        alt, source = str(image.get("alt", "")).strip(), str(image.get("src", ""))
        if not alt or alt == source or Path(alt).suffix in {".png", ".svg", ".jpg"}:
            found.append(f"{source} has no alternative text: {alt!r}")
    return found


def link_problems(path: Path, site: Path) -> list[str]:
    """Links to pages that are not there, or to no place on them."""
    found = []
    for link in [str(tag["href"]) for tag in read(path).soup.find_all("a", href=True)] + redirects(path):
        if SCHEME.match(link) or ELSEWHERE.match(link):
            continue
        address, _, anchor = unquote(link).partition("#")
        address = address.partition("?")[0]
        target = (path.parent / address).resolve() if address else path
        if not target.is_file() or not target.is_relative_to(site.resolve()):
            found.append(f"{link} leads to no file")
        elif anchor and target.suffix == ".html" and anchor not in read(target).names:
            found.append(f"{link} leads to no place on the page")
    return found


def foreign_loads(path: Path) -> list[str]:
    """What a page would fetch from another host as soon as it is opened."""
    soup = read(path).soup
    found = [
        str(tag[attribute]) for name, attribute in LOADS for tag in soup.find_all(name, **{attribute: True})
    ]
    for link in soup.find_all("link", href=True):
        if " ".join(link.get("rel") or []).lower() in LOADING_LINKS:
            found.append(str(link["href"]))
    styles = [str(style.string or "") for style in soup.find_all("style")]
    found += [address for style in styles for address in CSS_URL.findall(style)]
    return [f"loads {address}" for address in found if ELSEWHERE.match(address)]


def foreign_styles(site: Path) -> list[str]:
    """Addresses on other hosts in the style sheets of the site."""
    return [
        f"{path.name} loads {address}"
        for path in sorted(site.rglob("*.css"))
        for address in CSS_URL.findall(path.read_text(encoding="utf-8", errors="replace"))
    ]
