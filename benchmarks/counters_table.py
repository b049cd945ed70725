"""The settings of the counter comparison, their true costs, and its table. Standard library only.

A notebook shows the committed result with ``markdown(read_table(path))``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

CSV = Path(__file__).with_name("counters.csv")
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@dataclass(frozen=True)
class Setting:
    """One column of the table: a module's options and the layout of its input.

    ``layout`` is ``"time first"``, ``"batch first"``, ``"packed"``, ``"unbatched"`` or ``"one step"``; the
    last runs ``nn.RNNCell``, ``GRUCell`` and ``LSTMCell``.
    """

    name: str
    input_size: int = 3
    hidden_size: int = 5
    num_layers: int = 1
    bias: bool = True
    bidirectional: bool = False
    proj_size: int = 0
    layout: str = "time first"
    steps: int = 6
    batch: int = 4
    lengths: tuple[int, ...] = ()

    @property
    def cells(self) -> list[str]:
        return ["LSTM"] if self.proj_size else list(GATES)

    @property
    def tokens(self) -> int:
        """Input vectors that the module really reads."""
        return {
            "packed": sum(self.lengths),
            "unbatched": self.steps,
            "one step": self.batch,
        }.get(self.layout, self.steps * self.batch)

    def true_macs(self, cell: str) -> int:
        """Multiply-accumulates of the matrix products of one forward pass, derived without rnnlib."""
        rows = GATES[cell] * self.hidden_size
        width = self.proj_size or self.hidden_size
        directions = 2 if self.bidirectional else 1
        first = rows * (self.input_size + width)
        deeper = rows * (directions * width + width)
        projection = self.proj_size * self.hidden_size
        per_token = directions * (first + (self.num_layers - 1) * deeper + self.num_layers * projection)
        return self.tokens * per_token


SETTINGS = (
    Setting("bias=True"),
    Setting("bias=False", bias=False),
    Setting("L=4, D=128, H=512", 128, 512, num_layers=4, steps=100, batch=32),
    Setting("bidirectional, L=2", num_layers=2, bidirectional=True),
    Setting("proj_size=2", proj_size=2),
    Setting("RNNCell, GRUCell, LSTMCell", layout="one step"),
    Setting("batch_first", layout="batch first"),
    Setting("packed 6,4,3,1", layout="packed", lengths=(6, 4, 3, 1)),
    Setting("unbatched", layout="unbatched"),
)


@dataclass(frozen=True)
class Row:
    """What one tool reports of one cell in one setting; ``reported_macs`` is ``None`` after a crash."""

    tool: str
    version: str
    setting: str
    cell: str
    reported_macs: int | None
    true_macs: int
    note: str

    @property
    def ratio(self) -> float | None:
        """Reported over true: 1 is right, 0 is a silent failure, ``None`` is a crash."""
        return None if self.reported_macs is None else self.reported_macs / self.true_macs

    @property
    def verdict(self) -> str:
        """The ratio to three decimals, ``1`` where it is exactly 1, or how the tool failed."""
        if self.ratio is None:
            return self.note
        if self.reported_macs == 0:
            return "**0**"
        return "1" if self.reported_macs == self.true_macs else f"{self.ratio:.3f}"


def read_table(path: str | Path = CSV) -> list[Row]:
    """The rows of a committed result."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            Row(**{
                **line,
                "reported_macs": int(line["reported_macs"]) if line["reported_macs"] else None,
                "true_macs": int(line["true_macs"]),
            })
            for line in csv.DictReader(file)
        ]  # fmt: skip


def write_table(rows: Iterable[Row], path: str | Path = CSV) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def markdown(rows: Iterable[Row]) -> str:
    """Tools as rows, settings as columns, in their order of appearance.

    An entry reads RNN/GRU/LSTM, or is a single figure where all cells agree.
    """
    entries: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        tool = f"{row.tool} ({row.version})"
        entries.setdefault(tool, {}).setdefault(row.setting, []).append(row.verdict)
    settings = list(dict.fromkeys(setting for columns in entries.values() for setting in columns))
    lines = [["tool", *settings], ["---"] * (1 + len(settings))]
    for tool, columns in entries.items():
        verdicts = (columns.get(setting, []) for setting in settings)
        lines.append([tool, *("/".join(v[:1] if len(set(v)) == 1 else v) for v in verdicts)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
