"""The order in which the book is read, as its table of contents has it."""

from pathlib import Path

import yaml

from .files import ROOT


def chapters(root: Path = ROOT) -> list[Path]:
    """The notebooks of the part "Chapters", in order."""
    return _part("Chapters", root)


def systems(root: Path = ROOT) -> list[Path]:
    """The notebooks of the part "Landmark systems", in order."""
    return [path for path in _part("Landmark systems", root) if path.suffix == ".ipynb"]


def solutions(path: Path, root: Path = ROOT) -> Path:
    """The notebook that answers the exercises of a chapter or a system."""
    book = root / "book"
    return book / "solutions" / path.relative_to(book)


def _part(caption: str, root: Path) -> list[Path]:
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    (part,) = (part for part in toc["parts"] if part["caption"] == caption)
    stems = [root / entry["file"] for entry in part["chapters"]]
    return [next(p for p in (s.with_suffix(".ipynb"), s.with_suffix(".md")) if p.exists()) for s in stems]
