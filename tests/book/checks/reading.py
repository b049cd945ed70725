"""A page says what comes before it and how long it takes, and ends in the next step."""

import re
from pathlib import Path

from . import files
from .prose import Paragraph, paragraphs

LASTS = re.compile(r"\b(?:minutes?|hours?)\b")
OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|#", re.IGNORECASE)
HOURS = {
    "an hour and a half": 90,
    "two hours": 120,
    "two and a half hours": 150,
    "three hours": 180,
}


def problems(path: Path) -> list[str]:
    found, said = [], _paragraphs(path)
    opening = introduction(said)
    if not any(p.text.startswith("Before you start. ") for p in opening):
        found.append("no paragraph before the first section begins with **Before you start.**")
    if not any(p.text.startswith("Time. ") and LASTS.search(p.text) for p in opening):
        found.append("no paragraph before the first section gives minutes or hours after **Time.**")
    if not next_pages(path):
        found.append("the last paragraph is not **Next.** with a link to a page")
    return found


def introduction(said: list[Paragraph]) -> list[Paragraph]:
    """What stands under the title, before the first section."""
    sections = [k for k, paragraph in enumerate(said) if paragraph.heading][1:]
    return said[: sections[0]] if sections else said


def next_pages(path: Path) -> list[Path]:
    """The pages that the last paragraph leads to, if it is the next step."""
    if path.suffix == ".ipynb" and files.read(path).cells[-1].cell_type != "markdown":
        return []
    last = _paragraphs(path)[-1]
    links = [link for link in last.links if not OUTSIDE.match(link)]
    return [(path.parent / link).resolve() for link in links] if last.text.startswith("Next. ") else []


def minutes(path: Path) -> tuple[int, int]:
    """What a chapter says its text takes, and its exercises."""
    (said,) = (p.text for p in introduction(_paragraphs(path)) if p.text.startswith("Time. "))
    text = re.match(r"Time\. About (\d+) minutes", said)
    (exercises,) = (length for words, length in HOURS.items() if f"and {words} more" in said)
    return int(text[1]) if text else 0, exercises


def _paragraphs(path: Path) -> list[Paragraph]:
    if path.suffix == ".md":
        return paragraphs(path.read_text(encoding="utf-8"), myst=True)
    cells = files.read(path).cells
    return paragraphs("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
