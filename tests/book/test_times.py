"""The times that the front page and the teaching guide give are those that the chapters state."""

import re
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from checks import files, prose, toc

BOOK = files.ROOT / "book"
STATED = re.compile(r"\*\*Time\.\*\* (?:About )?(\d+) minutes")
TIME = re.compile(r"\b(\d+) min\b")


def stated(pages: Callable[[], list[Path]] = toc.chapters) -> dict[str, int]:
    """Minutes for the text of every chapter, by the name of its file."""
    found = {}
    for path in pages():
        [minutes] = STATED.findall(files.read(path).cells[0].source)
        found[path.name] = int(minutes)
    return found


def quoted(source: str, names: Collection[str]) -> list[tuple[str, int]]:
    """Chapters and minutes of all table rows that link to one chapter and give a time in "min"."""
    rows = [row for row in prose.paragraphs(source, myst=True) if TIME.search(row.text)]
    named = [({link.partition("#")[0] for link in row.links} & set(names), row) for row in rows]
    return [(found.pop(), int(TIME.findall(row.text)[0])) for found, row in named if len(found) == 1]


def sums(source: str) -> list[tuple[int, int]]:
    """What the column of minutes adds up to, and what its last row says, for every table that has a total."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", source, flags=re.MULTILINE):
        rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
        if "minutes" in rows[0] and "total" in rows[-1]:
            column = rows[0].index("minutes")
            minutes = [int(re.match(r"[\d,]+", row[column])[0].replace(",", "")) for row in rows[2:]]
            found.append((sum(minutes[:-1]), minutes[-1]))
    return found


@pytest.mark.parametrize(
    ("page", "pages", "times"),
    [("index.md", toc.chapters, 1), ("teaching.md", toc.chapters, 2), ("systems/index.md", toc.systems, 1)],
)
def test_times_are_the_pages_own(page, pages, times):
    of = stated(pages)
    found = quoted((BOOK / page).read_text(encoding="utf-8"), of)
    assert {name for name, _ in found} == set(of) and len(found) == times * len(of)
    assert not (wrong := [(name, minutes) for name, minutes in found if minutes != of[name]]), wrong


def test_the_schedules_add_up():
    found = sums((BOOK / "teaching.md").read_text(encoding="utf-8"))
    assert len(found) == 2
    assert all(total == said for total, said in found), found


def test_faults_are_noticed():
    name = next(iter(stated()))
    assert quoted(f"| a | b |\n|---|---|\n| [x]({name}#y) | 7 min |\n| x | 7 min |", stated()) == [(name, 7)]
    assert sums("| minutes | a |\n|---|---|\n| 1 min | x |\n| 20 | y |\n| 22 minutes | total |\n") == [
        (21, 22)
    ]
