"""Answers to the assignments that the graders are tried on, right and wrong.

A variant is a file ``answers/<assignment>/<variant>.py``. Comments at its top say how many points the tests
must give it, whether it starts from the student's release or from the reference solution, and why it is as it
is. Every cell after a line ``# %% <grade_id>`` takes the place of the solution cell of that name; an answer
in words is commented out. After ``# %% <grade_id>, changed`` come lines of the cell, ``# - <line>``, each
with the lines that take its place wherever it stands, ``# + <line>``.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from samples_course import cell

from tools.course.table import grading

ANSWERS = Path(__file__).parent / "answers"
HEADER = re.compile(r"^# (points|base|why): (.+)$", re.MULTILINE)
CELL = re.compile(r"^# %% (\S+?)(, changed)?\s*$", re.MULTILINE)
CHANGE = re.compile(r"^# - (.+)\n((?:# \+ .+\n?)*)", re.MULTILINE)


@dataclass(frozen=True)
class Variant:
    """One set of answers and what it is worth."""

    name: str
    points: float
    base: str
    sources: dict[str, str]
    changes: dict[str, str]

    def notebook(self, release: NotebookNode, solution: NotebookNode) -> NotebookNode:
        """The submission with these answers."""
        made = nbformat.from_dict({"release": release, "solution": solution}[self.base])
        for name, source in self.sources.items():
            target = cell(made, name)
            assert grading(target)["solution"], f"{self.name}: {name} is no solution cell"
            words = target.cell_type == "markdown"
            target.source = re.sub(r"^# ?", "", source, flags=re.MULTILINE) if words else source
        for name, changes in self.changes.items():
            target = cell(made, name)
            target.source = changed(target.source, changes)
        return made


def changed(source: str, changes: str) -> str:
    """The source with every line that the changes name replaced, indented as it was."""
    for old, new in CHANGE.findall(changes):
        lines = re.findall(r"^# \+ (.+)$", new, re.MULTILINE)
        source, count = re.subn(
            rf"^( *){re.escape(old)}$",
            lambda found: "\n".join(found[1] + line for line in lines),  # noqa: B023
            source,
            flags=re.MULTILINE,
        )
        assert count, f"{old!r}: no line of the cell"
    return source


def read(path: Path) -> Variant:
    head, *pieces = CELL.split(path.read_text(encoding="utf-8"))
    header = dict(HEADER.findall(head))
    cells = list(zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True))
    sources = {name: text.strip() for name, change, text in cells if not change}
    changes = {name: text for name, change, text in cells if change}
    return Variant(path.stem, float(header["points"]), header["base"], sources, changes)


def variants(assignment: str) -> list[Variant]:
    return [read(path) for path in sorted((ANSWERS / assignment).glob("*.py"))]
