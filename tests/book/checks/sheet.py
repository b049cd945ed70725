"""The cheat sheet as data: its sizes, the Python that names its stacks, and every row of its tables."""

import re
from dataclasses import dataclass
from pathlib import Path

from .files import ROOT

PATH = ROOT / "book" / "cheat-sheet.md"
MATHS = re.compile(r"\$([^$]+)\$")
SIZE = re.compile(r"([A-Za-z]) = (\d+)")
NAME = re.compile(r"\\?[A-Za-z]+(?:_t)?")
EXAMPLE = re.compile(r"(?P<formula>.+) (?P<relation>=|\\approx) (?P<value>\d+(?:\.\d+)?)")


@dataclass
class Row:
    """A line of a table: what it counts, its formulas, and what Python gives the same."""

    what: str
    formulas: list[str]
    code: str

    @property
    def example(self) -> re.Match[str] | None:
        """Formula, relation and value, if the row is a count."""
        return EXAMPLE.fullmatch(self.formulas[-1]) if self.formulas else None


@dataclass
class Sheet:
    sizes: dict[str, int]
    setup: str
    rows: list[Row]
    problems: list[str]


def read(path: Path = PATH) -> Sheet:
    """The sheet, and what on it no test could prove."""
    text = path.read_text(encoding="utf-8")
    setup = "".join(re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE))
    prose, rows = [], []
    for line in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) == 3 and cells[2] != "`rnnlib`":
            codes = re.findall("`([^`]+)`", cells[2])
            rows.append(Row(cells[0], MATHS.findall(cells[1]), codes[0] if codes else ""))
            prose.append(cells[0])
        else:
            prose.append(line)
    said = MATHS.findall("\n".join(prose))
    sizes = {match[1]: int(match[2]) for formula in said if (match := SIZE.fullmatch(formula))}
    problems = [
        f"{formula}: a formula outside of the tables"
        for formula in said
        if not SIZE.fullmatch(formula) and not NAME.fullmatch(formula)
    ]
    problems += [f"{row.what}: no formula" for row in rows if not row.formulas]
    problems += [f"{row.what}: no Python" for row in rows if not row.code]
    return Sheet(sizes, setup, rows, problems)
