"""What an audit reports: a closed form and a measurement in every row."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..table import Table

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

    def without_measurement(self, note: str) -> Row:
        """This row with its closed form alone, and why."""
        return replace(self, measured=None, note=note)

    def with_note(self, note: str) -> Row:
        """This row with a remark under the table."""
        return replace(self, note=note)


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

    def table(self) -> Table:
        """The rows under their headings, with every note and every uncounted module below."""
        rows = [(r.name, r.quantity, r.convention, r.closed_form, r.measured, r.agrees) for r in self.rows]
        notes = [f"{row.name}, {row.quantity}, {row.convention}: {row.note}" for row in self.rows if row.note]
        return Table(COLUMNS, rows, [*notes, *(f"not counted: {name}" for name in self.uncounted)])

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
