"""Answers to the assignments that the graders are tried on, right and wrong.

A variant is a file ``answers/<assignment>/<variant>.py``. Comments at its top say how many points the tests
must give it, whether it starts from the student's release or from the reference solution, and why it is as it
is. Every cell after a line ``# %% <grade_id>`` takes the place of the solution cell of that name; an answer
in words is commented out. After ``# %% <grade_id>, changed`` come lines of the cell, ``# - <line>``, each
with the lines that take its place wherever it stands, ``# + <line>``; all are replaced at once.
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
CHANGE = re.compile(r"^# - (.+)((?:\n# \+ .+)*)", re.MULTILINE)


@dataclass(frozen=True)
class Variant:
    """One set of answers and what it is worth."""

    name: str
    points: float
    base: str
    answers: dict[str, tuple[bool, str]]
    """By the name of the solution cell: whether the text changes the cell's lines or stands in its place."""

    def notebook(self, release: NotebookNode, solution: NotebookNode) -> NotebookNode:
        """The submission with these answers."""
        made = nbformat.from_dict({"release": release, "solution": solution}[self.base])
        for name, (changes, text) in self.answers.items():
            target = cell(made, name)
            assert grading(target)["solution"], f"{self.name}: {name} is no solution cell"
            words = target.cell_type == "markdown"
            in_place = re.sub(r"^# ?", "", text, flags=re.MULTILINE) if words else text
            target.source = changed(target.source, text) if changes else in_place
        return made


def changed(source: str, text: str) -> str:
    """The source with the lines that the text names replaced, all at once and indented as they were."""
    new = {old: re.findall(r"^# \+ (.+)$", lines, re.MULTILINE) for old, lines in CHANGE.findall(text)}
    unread, lines = CHANGE.sub("", text).strip(), source.splitlines()
    missing = new.keys() - {line.strip() for line in lines}
    assert not unread and not missing, f"no change: {unread!r}; no lines of the cell: {missing}"
    return "\n".join(
        line[: len(line) - len(line.lstrip())] + instead
        for line in lines
        for instead in new.get(line.strip(), [line.strip()])
    )


def read(path: Path) -> Variant:
    head, *pieces = CELL.split(path.read_text(encoding="utf-8"))
    header = dict(HEADER.findall(head))
    cells = zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    answers = {name: (bool(change), text.strip()) for name, change, text in cells}
    return Variant(path.stem, float(header["points"]), header["base"], answers)


def variants(assignment: str) -> list[Variant]:
    return [read(path) for path in sorted((ANSWERS / assignment).glob("*.py"))]
