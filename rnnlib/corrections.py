"""How a chapter puts its source text right; the book collects these tables on one page."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from .table import Table


@dataclass(frozen=True)
class Correction:
    """What the text says, in our words; what is right; how far apart they are; the section that shows it."""

    claim: str
    right: str
    off_by: str
    section: str


def corrections(*rows: Correction) -> Table:
    """The corrections of a chapter as a table.

    >>> print(corrections(Correction("one and one is 3", f"{1 + 1} is", f"by {3 - 2}", "Sums")))
    the text says     what is right  off by  shown in
    ----------------  -------------  ------  --------
    one and one is 3  2 is           by 1    Sums
    """
    return Table(("the text says", "what is right", "off by", "shown in"), [astuple(row) for row in rows])
