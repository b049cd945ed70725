"""Whether a submission can be graded, and if not, why: nbgrader would give 0 points in silence."""

import ast
from collections import Counter
from dataclasses import dataclass, field

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from .table import grading

NEW_CELL = {"code": new_code_cell, "markdown": new_markdown_cell, "raw": new_raw_cell}
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
KEPT = ("grade", "solution", "locked", "task", "points")


@dataclass
class Checked:
    """A submission, tidied up; why it is not graded; and what whoever grades should know."""

    notebook: NotebookNode | None = None
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def check(data: bytes, name: str, releases: dict[str, NotebookNode]) -> Checked:
    """Compare a submission with what its student was given."""
    try:
        cells = _cells(data)
    except (*UNREADABLE, nbformat.ValidationError) as error:
        return Checked(problems=[f"not a notebook: {str(error)[:200] or type(error).__name__}"])
    given = {grading(cell)["grade_id"]: cell for cell in releases[name].cells if grading(cell)}
    if problems := _identity_problems([i for cell in cells if (i := _id(cell))], name, releases):
        return Checked(problems=problems)
    remarks = [text for cell in cells if (text := _restore(cell, given))]
    order = [_id(cell) for cell in cells if _id(cell)]
    if order != list(given):
        remarks.append("cells stand in another order than in the release")
    remarks += [text for cell in cells if (text := _syntax_remark(cell))]
    return Checked(new_notebook(cells=cells, metadata=releases[name].metadata), remarks=remarks)


def _cells(data: bytes) -> list[NotebookNode]:
    """The cells with source and grading metadata, and nothing else that a program might have stored."""
    notebook = nbformat.reads(data.decode("utf-8"), as_version=4)
    cells = []
    for cell in notebook.cells:
        source = cell.source if isinstance(cell.source, str) else "".join(cell.source)
        fresh = NEW_CELL[cell.cell_type](source)
        if mark := grading(cell):
            fresh.metadata["nbgrader"] = mark
        if isinstance(cell.get("attachments"), dict) and cell.cell_type == "markdown":
            fresh["attachments"] = cell.attachments
        cells.append(fresh)
    nbformat.validate(new_notebook(cells=cells))
    return cells


def _id(cell: NotebookNode) -> str:
    return grading(cell).get("grade_id", "")


def _identity_problems(ids: list[str], name: str, releases: dict[str, NotebookNode]) -> list[str]:
    expected = {other: {_id(c) for c in nb.cells if _id(c)} for other, nb in releases.items()}
    if not ids:
        return [
            "lost its grading metadata: no cell can be told from another; "
            "answers have to be pasted into a fresh copy of the assignment"
        ]
    nearest = max(expected, key=lambda other: len(expected[other] & set(ids)))
    if len(expected[nearest] & set(ids)) > len(expected[name] & set(ids)):
        return [f"wrong assignment: holds the cells of {nearest}"]
    twice = [cell for cell, count in Counter(ids).items() if count > 1]
    missing = sorted(expected[name] - set(ids))
    unknown = sorted(set(ids) - expected[name])
    problems = [f"cell {cell!r} is there twice" for cell in twice]
    problems += [f"cell {cell!r} is missing" for cell in missing]
    if missing and unknown:
        problems.append(f"unknown cells, renamed perhaps: {', '.join(map(repr, unknown))}")
    return problems


def _restore(cell: NotebookNode, given: dict[str, NotebookNode]) -> str:
    """Give a cell the metadata that it was handed out with; what had been changed."""
    if not (mark := grading(cell)):
        return ""
    if (name := mark["grade_id"]) not in given:
        del cell.metadata["nbgrader"]
        return f"unknown cell {name!r} was not graded"
    original = given[name]
    locked = grading(original)["locked"] or not grading(original)["solution"]
    changed = [key for key in KEPT if mark.get(key) != grading(original).get(key)]
    if cell.cell_type != original.cell_type:
        changed.append("cell type")
        source = cell.source
        cell.clear()
        cell.update(NEW_CELL[original.cell_type](source))
    if locked and cell.source.strip() != original.source.strip():
        changed.append("source")
        cell.source = original.source
    cell.metadata["nbgrader"] = nbformat.from_dict(grading(original))
    return f"cell {name!r} had its {', '.join(changed)} changed; graded as it was given" if changed else ""


def _syntax_remark(cell: NotebookNode) -> str:
    if cell.cell_type != "code":
        return ""
    try:
        ast.parse(TransformerManager().transform_cell(cell.source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        first = (cell.source.strip().splitlines() or [""])[0]
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        return f"syntax error in cell {_id(cell) or first[:40]!r}{line}: {error.args[0]}"
    return ""
