"""What grading writes: grades.csv, a page of feedback for every submission, and a summary on the screen.

`total` are the points that the tests gave; `by_hand` those that somebody can still give by reading an answer;
`max` all points of the assignment. So a submission is worth `total` now and at most `total + by_hand`. A free
answer that was left as it was handed out brings 0 and is not in `by_hand`. A refused or missing submission
has no total, which is not the same as 0.
"""

import csv
import html
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from .collect import Submission
from .gradebook import POLICY, Score
from .isolation import Isolation
from .table import grading

COLUMNS = ("student", "assignment", "status", "total", "by_hand", "max", "tasks", "remarks")
PAGE = """<!DOCTYPE html>
<html lang="en"><head>{policy}<meta charset="utf-8"><title>{title}</title></head>
<body><h1>{title}</h1><p>This submission was not graded.</p><ul>{reasons}</ul></body></html>
"""


@dataclass
class Result:
    """How one submission did."""

    student: str
    assignment: str
    status: str  # graded, refused or missing
    scores: list[Score]
    remarks: list[str] = field(default_factory=list)
    page: str = ""

    @property
    def total(self) -> float | None:
        """Points of the tests; none where nothing was graded."""
        return sum(s.points or 0 for s in self.scores) if self.status == "graded" else None

    @property
    def by_hand(self) -> float:
        """Points of the answers that somebody has to read."""
        return sum(s.max for s in self.scores if s.points is None) if self.status == "graded" else 0

    @property
    def max(self) -> float:
        return sum(score.max for score in self.scores)


def refused(submission: Submission, reasons: list[str], release: NotebookNode) -> Result:
    """The result of a submission that was not graded, with what it could have had."""
    status = "missing" if any(reason.startswith("missing:") for reason in reasons) else "refused"
    marks = [mark for cell in release.cells if (mark := grading(cell)).get("grade")]
    scores = [Score(mark["grade_id"], None, mark["points"]) for mark in marks]
    items = "".join(f"<li>{html.escape(reason)}</li>" for reason in reasons)
    title = html.escape(f"{submission.assignment}: {submission.student}")
    page = PAGE.format(policy=POLICY, title=title, reasons=items)
    return Result(submission.student, submission.assignment, status, scores, reasons, page)


def row(result: Result) -> dict[str, str]:
    """A line of grades.csv."""
    graded = result.status == "graded"
    tasks = [
        f"{s.task} {'by hand' if s.points is None else f'{s.points:g}'}/{s.max:g}" for s in result.scores
    ]
    return {
        "student": result.student,
        "assignment": result.assignment,
        "status": result.status,
        "total": f"{result.total:g}" if graded else "",
        "by_hand": f"{result.by_hand:g}" if graded else "",
        "max": f"{result.max:g}",
        "tasks": "; ".join(tasks) if graded else "",
        "remarks": "; ".join(result.remarks),
    }


def write(results: list[Result], folder: Path) -> None:
    """Write grades.csv and feedback/<student>/<assignment>.html."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "grades.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(map(row, results))
    for result in results:
        page = folder / "feedback" / result.student / f"{result.assignment}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(result.page, encoding="utf-8")


def summary(results: list[Result], aside: list[str], isolation: Isolation, folder: Path) -> str:
    """What to read when grading has ended."""
    lines = [f"Isolation: {isolation}."]
    lines += [f"left aside: {text}" for text in aside]
    for result in results:
        lines += [f"{result.student}, {result.assignment}: {remark}" for remark in result.remarks]
    counts = Counter(result.status for result in results)
    waiting = sum(result.by_hand > 0 for result in results)
    lines.append(
        ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "nothing found"
    )
    lines.append(f"{waiting} with answers to be graded by hand: by_hand says how many points they can bring")
    lines.append(f"Grades are in {folder / 'grades.csv'}, feedback is in {folder / 'feedback'}.")
    return "\n".join(lines)
