"""Answers to the assignments that the graders are tried on, right and wrong.

A variant is a file ``answers/<assignment>/<variant>.py``. Comments at its top say how many points the tests
must give it, whether it starts from the student's release or from the reference solution, and why it is as it
is. Every cell after a line ``# %% <grade_id>`` takes the place of the solution cell of that name; an answer
in words is commented out.
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
CELL = re.compile(r"^# %% (\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Variant:
    """One set of answers and what it is worth."""

    name: str
    points: float
    base: str
    sources: dict[str, str]

    def notebook(self, release: NotebookNode, solution: NotebookNode) -> NotebookNode:
        """The submission with these answers."""
        made = nbformat.from_dict({"release": release, "solution": solution}[self.base])
        for name, source in self.sources.items():
            target = cell(made, name)
            assert grading(target)["solution"], f"{self.name}: {name} is no solution cell"
            words = target.cell_type == "markdown"
            target.source = re.sub(r"^# ?", "", source, flags=re.MULTILINE) if words else source
        return made


def read(path: Path) -> Variant:
    head, *pieces = CELL.split(path.read_text(encoding="utf-8"))
    header = dict(HEADER.findall(head))
    sources = {name: text.strip() for name, text in zip(pieces[::2], pieces[1::2], strict=True)}
    return Variant(path.stem, float(header["points"]), header["base"], sources)


def variants(assignment: str) -> list[Variant]:
    return [read(path) for path in sorted((ANSWERS / assignment).glob("*.py"))]
