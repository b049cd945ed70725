"""An exercise has a title, stars, minutes and a folded hint, and its answer stands on a page of its own."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

HEAD = re.compile(
    r"\*\*(?P<number>\d+)\. (?P<title>[^*]+)\*\* \((?P<stars>★{1,3}), (?P<minutes>\d+) minutes\)\. "
)
HINT = re.compile(
    r"^<details><summary>Hint</summary>\n\n(?P<text>.+?)\n\n</details>$", re.DOTALL | re.MULTILINE
)
ANSWER = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)


@dataclass
class Exercise:
    """What a chapter says of one exercise, and what is missing."""

    number: int
    title: str
    minutes: int
    problems: list[str]


def exercises(notebook: NotebookNode) -> list[Exercise]:
    """The exercises of a chapter, also the faulty ones: whatever begins with a number in bold."""
    source = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    section = re.split(r"^## Exercises$", source, flags=re.MULTILINE)[-1]
    section = re.split(r"^(?:## |\*\*Next)", section, flags=re.MULTILINE)[0]
    return [_exercise(part) for part in re.split(r"^(?=\*\*\d)", section, flags=re.MULTILINE)[1:]]


def problems(notebook: NotebookNode, solutions: NotebookNode) -> list[str]:
    asked = exercises(notebook)
    found = [f"exercise {e.number}, {e.title}: {text}" for e in asked for text in e.problems]
    if [e.number for e in asked] != list(range(1, len(asked) + 1)) or not asked:
        found.append(f"exercises are numbered {[e.number for e in asked]}")
    parts = _answers(solutions)
    if list(parts) != [(e.number, e.title) for e in asked]:
        found.append(
            f"the solutions answer {list(parts)}, the chapter asks {[(e.number, e.title) for e in asked]}"
        )
    return found + [
        f"answer {number}, {title}: asserts nothing"
        for (number, title), code in parts.items()
        if "assert" not in code
    ]


def _exercise(part: str) -> Exercise:
    head, found = HEAD.match(part), []
    if not head:
        found.append("does not begin with **number. Title** (stars, minutes).")
    hint = HINT.search(part)
    if not hint or not hint["text"].strip():
        found.append("has no folded hint")
    elif not re.sub(HEAD, "", part[: hint.start()]).strip():
        found.append("asks nothing before its hint")
    first = re.match(r"\*\*(\d+)\.? *([^*]*)", part)
    number, title = (int(first[1]), first[2].strip()) if first else (0, part[:40])
    return Exercise(number, title, int(head["minutes"]) if head else 0, found)


def _answers(solutions: NotebookNode) -> dict[tuple[int, str], str]:
    """The code under every heading with a number."""
    parts: dict[tuple[int, str], str] = {}
    for cell in solutions.cells:
        if cell.cell_type == "markdown":
            parts |= {(int(number), title): "" for number, title in ANSWER.findall(cell.source)}
        elif parts:
            parts[list(parts)[-1]] += cell.source
    return parts
