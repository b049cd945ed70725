"""A chapter ends in one self-check, right before its exercises, and no number of it is typed."""

import ast

from nbformat import NotebookNode

from .execution import python
from .numbers import numbers

COUNTS = range(4, 6)


def problems(notebook: NotebookNode) -> list[str]:
    places = [k for k, cell in enumerate(notebook.cells) if "quiz" in cell.metadata.get("tags", [])]
    if len(places) != 1:
        return [f"{len(places)} cells are tagged quiz: expected 1"]
    (place,) = places
    cell, found = notebook.cells[place], []
    after = notebook.cells[place + 1].source if place + 1 < len(notebook.cells) else ""
    if not after.startswith("## Exercises"):
        found.append("the self-check does not stand right before the exercises")
    if not notebook.cells[place - 1].source.startswith("## Check yourself"):
        found.append("the self-check has no heading 'Check yourself'")
    if "hide-input" not in cell.metadata.tags or not cell.metadata.get("jupyter", {}).get("source_hidden"):
        found.append("the source, which has the answers, is not folded away")
    shown = "".join(str(output.get("data", {}).get("text/html", "")) for output in cell.outputs)
    if (asked := shown.count('role="group"')) not in COUNTS:
        found.append(f"{asked} questions are stored: expected {COUNTS.start} to {COUNTS.stop - 1}")
    return found + [f"{number!r} is typed, not computed" for number in _typed(cell.source)]


def _typed(source: str) -> list[str]:
    """Numbers in the words of the questions, and answers that are nothing but a number."""
    found = []
    for call in ast.walk(ast.parse(python(source))):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in {"Choice", "Question"}:
            for argument in call.args:
                pieces = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
                words = [p.value for p in pieces if isinstance(p, ast.Constant)]
                found += [n for word in words if isinstance(word, str) for n in numbers(word)]
                found += [str(word) for word in words if isinstance(word, int | float) and abs(word) > 1]
    return found
