"""The table of the assignments, which the teaching guide shares."""

import csv
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = ROOT / "assignments"
TABLE = ASSIGNMENTS / "assignments.csv"
SOURCE = ASSIGNMENTS / "source"
RELEASE = ASSIGNMENTS / "release"


@dataclass(frozen=True)
class Assignment:
    """One line of assignments.csv."""

    name: str
    title: str
    chapter: str
    points: float
    minutes: int
    goals: str

    @property
    def source(self) -> Path:
        return SOURCE / self.name / f"{self.name}.ipynb"

    def read(self) -> NotebookNode:
        return nbformat.read(self.source, as_version=4)


def assignments(only: str = "") -> list[Assignment]:
    """All assignments in the order of the table, or the one that is asked for."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        listed = [
            Assignment(**row | {"points": float(row["points"]), "minutes": int(row["minutes"])})
            for row in csv.DictReader(file)
        ]
    if only and only not in {a.name for a in listed}:
        raise SystemExit(f"ONLY={only!r}: expected one of {', '.join(a.name for a in listed)}")
    return [a for a in listed if only in ("", a.name)]


def grading(cell: NotebookNode) -> dict:
    """A cell's grading metadata; empty where there is none that can be read."""
    found = cell.metadata.get("nbgrader")
    return found if isinstance(found, dict) and isinstance(found.get("grade_id"), str) else {}


def points(notebook: NotebookNode, by_hand: bool | None = None) -> float:
    """Points of a notebook's tasks: all, or only those that are (not) graded by hand."""
    marks = [grading(cell) for cell in notebook.cells]
    return sum(
        float(mark["points"])
        for mark in marks
        if mark.get("grade") and by_hand in (None, bool(mark.get("solution")))
    )
