"""The order in which the book is read, as its table of contents has it."""

from pathlib import Path

import yaml

from .files import ROOT


def chapters(root: Path = ROOT) -> list[Path]:
    """The notebooks of the part "Chapters", in order."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    (part,) = (part for part in toc["parts"] if part["caption"] == "Chapters")
    return [root / f"{chapter['file']}.ipynb" for chapter in part["chapters"]]


def solutions(chapter: Path) -> Path:
    """The notebook that answers a chapter's exercises."""
    return chapter.parent / "solutions" / chapter.name
