"""A small table that reads well in a terminal, in a notebook and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return text == "-"
    return True


def text(value: Any) -> str:
    """A value as a reader sees it: integers in thousands, a truth value as yes or no, a dash for none."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


@dataclass(frozen=True)
class Table:
    """Rows under column headings, with remarks below.

    Integers are grouped in thousands and columns of numbers set to the right; a truth value reads yes or no.

    >>> print(Table(("cell", "parameters"), [("lstm", 1200), ("rnn", 45)]))
    cell  parameters
    ----  ----------
    lstm       1,200
    rnn           45
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    remarks: Sequence[str] = ()

    def _numeric(self, column: int) -> bool:
        return all(_is_number(text(row[column])) for row in self.rows)

    def __str__(self) -> str:
        cells = [[text(value) for value in row] for row in self.rows]
        table = [list(self.columns), *cells]
        widths = [max(len(line[k]) for line in table) for k in range(len(self.columns))]
        sides = [">" if self._numeric(k) else "<" for k in range(len(self.columns))]
        lines = [
            "  ".join(f"{c:{s}{w}}" for c, s, w in zip(line, sides, widths, strict=True)) for line in table
        ]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join(line.rstrip() for line in (*lines, *self.remarks))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        sides = ["right" if self._numeric(k) else "left" for k in range(len(self.columns))]

        def cell(tag: str, value: Any, side: str) -> str:
            return f'<{tag} style="text-align: {side}">{escape(text(value))}</{tag[:2]}>'

        head = "".join(cell('th scope="col"', c, s) for c, s in zip(self.columns, sides, strict=True))
        body = "".join(
            f"<tr>{''.join(cell('td', v, s) for v, s in zip(row, sides, strict=True))}</tr>\n"
            for row in self.rows
        )
        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks)
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>{remarks}"

    def _repr_markdown_(self) -> str:
        rule = ["---:" if self._numeric(k) else "---" for k in range(len(self.columns))]
        lines = [self.columns, rule, *([text(v).replace("|", r"\|") for v in row] for row in self.rows)]
        return "\n".join(
            [*("| " + " | ".join(line) + " |" for line in lines), *(f"\n{r}" for r in self.remarks)]
        )
