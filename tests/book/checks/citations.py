"""What counts as a citation: a DOI, an arXiv page, or an address that the bibliography lists."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from .files import ROOT

DOI = re.compile(r"https?://(?:dx\.)?doi\.org/(10\..+)", re.IGNORECASE)
ARXIV = re.compile(
    r"https?://arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5}|[\w.-]+/\d{7})(?:v\d+)?(?:\.pdf)?/?", re.IGNORECASE
)


@cache
def bibliography(root: Path = ROOT) -> str:
    path = root / "book" / "references.bib"
    return path.read_text(encoding="utf-8").lower() if path.is_file() else ""


def cites(link: str) -> bool:
    return bool(DOI.fullmatch(link) or ARXIV.fullmatch(link) or _listed_address(link))


def missing(link: str, root: Path = ROOT) -> bool:
    """Whether a link to a DOI or to arXiv has no entry in the bibliography."""
    if match := DOI.fullmatch(link) or ARXIV.fullmatch(link):
        return not re.search(rf"(?<![\w.]){re.escape(unquote(match[1]).lower())}(?![\w])", bibliography(root))
    return False


def _listed_address(link: str) -> bool:
    address = link.lower().rstrip("/")
    return "://" in address and bool(re.search(rf"{re.escape(address)}/?[}}\"\s]", bibliography()))
