"""The table that an audit prints: a closed form and a measurement in every row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape

COLUMNS = ("name", "quantity", "convention", "closed form", "measured", "agrees")


@dataclass(frozen=True)
class Row:
    """One quantity of one part. ``None`` stands where there is no closed form or nothing to measure."""

    name: str
    quantity: str
    convention: str
    closed_form: int | None
    measured: int | None
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether both sides are there and equal; ``None`` if one is missing."""
        if self.closed_form is None or self.measured is None:
            return None
        return self.closed_form == self.measured

    def without_closed_form(self, note: str) -> Row:
        """This row with its measurement alone, and why."""
        return replace(self, closed_form=None, note=note)

    def with_note(self, note: str) -> Row:
        """This row with a remark under the table."""
        return replace(self, note=note)

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of the table's columns."""
        numbers = ("-" if n is None else f"{n:,}" for n in (self.closed_form, self.measured))
        verdict = {True: "yes", False: "NO", None: "-"}[self.agrees]
        return (self.name, self.quantity, self.convention, *numbers, verdict)


@dataclass(frozen=True)
class Audit:
    """What `audit` found. Prints as a table in a terminal and in a notebook."""

    rows: tuple[Row, ...]
    uncounted: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether no row disagrees and nothing was left uncounted."""
        return not self.uncounted and all(row.agrees is not False for row in self.rows)

    def measured(self, quantity: str, convention: str) -> int | None:
        """A total that was read off the live module."""
        wanted = ("total", quantity, convention)
        return next(r.measured for r in self.rows if (r.name, r.quantity, r.convention) == wanted)

    @property
    def parameters(self) -> int | None:
        """Measured parameters, as torch holds them."""
        return self.measured("parameters", "pytorch")

    @property
    def macs(self) -> int | None:
        """Measured multiply-accumulates of a forward pass."""
        return self.measured("MACs", "forward")

    @property
    def storage(self) -> int | None:
        """Measured bytes kept for the backward pass, input and initial states included."""
        return self.measured("bytes kept", "all")

    def _remarks(self) -> list[str]:
        notes = [f"{row.name}, {row.quantity}, {row.convention}: {row.note}" for row in self.rows if row.note]
        return notes + [f"not counted: {name}" for name in self.uncounted]

    def __str__(self) -> str:
        table = [COLUMNS, *(row.cells() for row in self.rows)]
        widths = [max(len(line[k]) for line in table) for k in range(len(COLUMNS))]
        align = "<<<>><"
        lines = [
            "  ".join(f"{cell:{side}{w}}" for cell, side, w in zip(line, align, widths, strict=True))
            for line in table
        ]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join(line.rstrip() for line in lines + self._remarks())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{column}</th>' for column in COLUMNS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row.cells()) + "</tr>\n"
            for row in self.rows
        )
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self._remarks())
        return (
            f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
            + f"<ul>{remarks}</ul>" * bool(remarks)
        )
