"""A sweep that was stopped in the middle of writing goes on where it was."""

import csv
from collections.abc import Callable
from pathlib import Path


def assert_resumes(main: Callable[[list[str]], None], table: Path) -> None:
    """Cut a quick sweep's table off, run the sweep again, and demand what was lost, and nothing else."""
    whole = table.read_text()
    lines = whole.splitlines(keepends=True)
    kept = "".join(lines[:-2])
    table.write_text(kept + lines[-2][:25])  # killed in the middle of a line
    main(["--quick", "--folder", str(table.parent), "--processes", "1"])
    assert table.read_text().startswith(kept)

    def scores(text: str) -> list[list[str]]:
        head, *rows = csv.reader(text.splitlines())
        seconds = head.index("seconds")
        return sorted(row[:seconds] + row[seconds + 1 :] for row in rows)

    assert scores(table.read_text()) == scores(whole)  # the runs made again are those of the first time
