"""The repository's address has one source; every other place repeats it."""

import re
from pathlib import Path

from nbformat import NotebookNode

from .files import ROOT, files

PLACES = re.compile(
    r"(?:github\.com[/:]|raw\.githubusercontent\.com/|colab\.research\.google\.com/github/|mybinder\.org/v2/gh/)"
    r"(?P<slug>[\w.-]+/[\w.-]*\w)"
)
SITES = re.compile(r"https?://(?P<owner>[\w-]+)\.github\.io/(?P<name>[\w.-]*\w)")
DECLARED = re.compile(
    r"^\s*[\"']?(?:url|repository|repository-code|repository_url|homepage|source|issues)[\"']?\s*[:=].*?"
    r"github\.com/(?P<slug>[\w.-]+/[\w.-]*\w)",
    re.IGNORECASE | re.MULTILINE,
)
DECLARING = {"_config.yml", "CITATION.cff", "pyproject.toml"}
CLONE = re.compile(r"git\s+clone\s(?:[^\n]*\s)?[\"']?https://github\.com/(?P<slug>[\w.-]+/[\w.-]*\w)")


def problems(path: Path, slug: str) -> list[str]:
    """Addresses in a file that mean this repository and are not `slug`."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    owner, name = slug.split("/")
    meant = {match["slug"] for match in CLONE.finditer(text)}
    if path.name in DECLARING:
        meant |= {match["slug"] for match in DECLARED.finditer(text)}
    for match in PLACES.finditer(text):
        near = match["slug"].removesuffix(".git").lower().split("/")
        if owner.lower() == near[0] or name.lower() == near[1]:
            meant.add(match["slug"])
    for match in SITES.finditer(text):
        if match["name"].lower() == name.lower() or match["owner"].lower() == owner.lower():
            meant.add(f"{match['owner']}/{match['name']}")
    return [f"{other} stands where {slug} is meant" for other in sorted(meant) if _bare(other) != slug]


def uses(slug: str, root: Path = ROOT) -> list[Path]:
    """The files that name the address."""
    return [path for path in files(root=root) if slug.encode() in path.read_bytes()]


def folder_names(path: Path, name: str) -> list[str]:
    """Where a text takes a repository's name for the folder of its clone, so that a stamp has to know it."""
    text = path.read_bytes().decode("utf-8", errors="replace")
    return re.findall(rf"(?:\./|\bcd\s+(?:-q\s+)?|\\?[\"']){re.escape(name)}(?![\w-])", text)


def first_code(notebook: NotebookNode) -> str:
    """The first code cell, which in a book's notebook is the Colab cell."""
    return next((cell.source for cell in notebook.cells if cell.cell_type == "code"), "")


def colab_cell_problems(source: str, slug: str) -> list[str]:
    found = []
    source = re.sub(r"^\s*#.*$", "", source, flags=re.MULTILINE)
    if f"https://github.com/{slug}" not in source:
        found.append(f"does not clone https://github.com/{slug}")
    if not re.search(r"\bpip\b.*\binstall\b", source, re.DOTALL) or "rnnlib" not in source:
        found.append("does not install rnnlib where it is missing")
    if re.search(r"install[^\n]*\btorch\b|--upgrade|-U\b|--force-reinstall", source):
        found.append("touches the torch that is there")
    return found


def _bare(slug: str) -> str:
    return slug.removesuffix(".git")
