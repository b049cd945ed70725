"""Links between pages lead somewhere, names of rnnlib exist, and what is cited stands in the bibliography."""

import importlib
import re
from pathlib import Path
from urllib.parse import unquote

from .citations import missing
from .files import ROOT, files, read
from .prose import Paragraph, paragraphs, slugs

OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
NAME = re.compile(r"(?<![\w./])rnnlib(?:\.[A-Za-z_]\w*)+(?![\w/])")


def problems(path: Path, root: Path = ROOT) -> list[str]:
    """The broken links and unknown names of one notebook or page."""
    found = []
    for paragraph in paragraphs(*_source(path)):
        texts = [_link_problem(path, link, root) for link in paragraph.links + paragraph.images]
        texts += [f"`{name}` cannot be imported" for name in _names(paragraph) if not importable(name)]
        found += [f"paragraph {paragraph.start!r}: {text}" for text in texts if text]
    return found


def importable(name: str) -> bool:
    """Whether a dotted name is a module, or can be reached from one, fields of a dataclass included."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for attribute in parts[cut:]:
            fields = getattr(thing, "__annotations__", {})
            if not hasattr(thing, attribute) and attribute not in fields:
                return False
            thing = getattr(thing, attribute, None)
        return True
    return False


def _source(path: Path) -> tuple[str, bool]:
    """The Markdown of a notebook or page, and whether it may hold MyST."""
    if path.suffix == ".ipynb":
        return "\n\n".join(c.source for c in read(path).cells if c.cell_type == "markdown"), False
    return path.read_text(encoding="utf-8"), True


def _names(paragraph: Paragraph) -> list[str]:
    code = paragraph.code + [text for _, text in paragraph.roles]
    return [name for text in code for name in NAME.findall(text)]


def _link_problem(path: Path, link: str, root: Path) -> str | None:
    if missing(link, root):
        return f"{link} is not in references.bib"
    if OUTSIDE.match(link):
        return None
    address, _, anchor = unquote(link).partition("#")
    target = (path.parent / address).resolve() if address else path
    if not target.exists():
        return f"{link} leads to no file"
    if target.is_file() and target not in files(str(target), root=root):
        return f"{link} leads to a file that git ignores or that lies outside of the repository"
    if not anchor or target.suffix not in {".md", ".ipynb"}:
        return None
    if anchor.startswith("rnnlib"):
        return None if importable(anchor) else f"{link} leads to a name that cannot be imported"
    if anchor not in slugs(*_source(target)):
        return f"{link} leads to no heading of {target.name}"
    return None
