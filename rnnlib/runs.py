"""Tables with a row per run: filled by a sweep that can stop and resume anywhere, read back, summarised.

A sweep needs joblib and tqdm; reading and summarising need neither.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import torch

from .cost.checks import integer

Row = dict[str, Any]


def sweep(
    run: Callable[..., Mapping[str, Any]],
    settings: Iterable[Mapping[str, Any]],
    path: Path,
    processes: int | None = None,
    progress: bool = True,
) -> None:
    """Run every setting that has no row in the table yet, and append its row as soon as it ends.

    A row holds the setting and then what the run returned. Whoever stops a sweep loses the runs under way;
    the same call does these and the rest later. A setting that differs in anything is another run.

    Parameters
    ----------
    run
        called with a setting as keyword arguments, in a process of its own on one thread; returns the other
        columns. It must depend on the setting alone, so the seed is part of that.
    settings
        one mapping a run, all with the same keys.
    path
        the CSV file, created when it is not there.
    processes
        how many runs at a time. None leaves it to ``joblib.parallel_config``, which may name a cluster.
    progress
        show a progress bar.

    Raises
    ------
    ValueError
        If the table that is there has other columns.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "squares.csv")
    >>> for seeds in (range(2), range(3)):
    ...     sweep(lambda seed: {"square": seed**2}, [{"seed": s} for s in seeds], path, progress=False)
    >>> load(path)
    [{'seed': 0, 'square': 0}, {'seed': 1, 'square': 1}, {'seed': 2, 'square': 4}]
    """
    from joblib import Parallel, delayed
    from tqdm.auto import tqdm

    settings = [dict(setting) for setting in settings]
    _drop_unfinished_line(path)
    columns = list(settings[0]) if settings else []
    done = {tuple(row.get(c) for c in columns) for row in load(path)} if path.exists() else set()
    todo = [s for s in settings if tuple(_value(_text(s[c])) for c in columns) not in done]
    kept = len(settings) - len(todo)
    with tqdm(total=len(settings), initial=kept, unit="run", disable=not progress) as bar:
        rows = Parallel(processes, batch_size=1, return_as="generator_unordered")(
            delayed(_on_one_thread)(run, setting) for setting in todo
        )
        for row in rows:
            _append(path, row)
            bar.update()


def load(path: str | Path) -> list[Row]:
    """The rows of a CSV file, each a dict; numbers are read as numbers and an empty field as None.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    with Path(path).open(newline="") as file:
        return [{column: _value(text) for column, text in row.items()} for row in csv.DictReader(file)]


def versions() -> str:
    """What a run was made with, for its row: the versions of rnnlib and torch.

    >>> versions().startswith("rnnlib ")
    True
    """
    return f"rnnlib {version('rnnlib')}, torch {torch.__version__.split('+')[0]}"


class Interval(NamedTuple):
    """A mean and the interval that holds it."""

    mean: float
    lower: float
    upper: float


def mean_interval(
    values: Sequence[float], level: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> Interval:
    """Mean and its bootstrap interval: quantiles of the means of samples drawn from the values again.

    The same arguments give the same interval. To compare two arms that share their seeds, pass the
    differences by seed. From few values the interval comes out too narrow, and five are few; it never leaves
    their range.

    Parameters
    ----------
    values
        one for each seed, at least two.
    level
        share of the resampled means inside the interval.
    resamples
        how many.
    seed
        of the resampling.

    Raises
    ------
    ValueError
        If there are fewer than two values, or ``level`` is no share.

    Examples
    --------
    >>> mean_interval([0.5, 0.5, 0.5])
    Interval(mean=0.5, lower=0.5, upper=0.5)
    >>> mean, lower, upper = mean_interval([0.0, 1.0, 1.0, 1.0])
    >>> mean, lower, upper
    (0.75, 0.25, 1.0)
    """
    if len(values) < 2:
        raise ValueError(f"values={values!r}: expected one for each seed, at least two")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: expected a share between 0 and 1")
    sample = torch.tensor(values, dtype=torch.float64)
    shape = (integer("resamples", resamples, 1), len(values))
    draws = torch.randint(len(values), shape, generator=torch.Generator().manual_seed(seed))
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    lower, upper = sample[draws].mean(1).quantile(ends).tolist()
    return Interval(sample.mean().item(), lower, upper)


def _on_one_thread(run: Callable[..., Mapping[str, Any]], setting: Row) -> Row:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {**setting, **run(**setting)}
    finally:
        torch.set_num_threads(threads)


def _append(path: Path, row: Row) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", newline="") as file:
        file.seek(0)
        columns = next(csv.reader(file), None)
        if columns and set(columns) != set(row):
            raise ValueError(f"path={str(path)!r}: expected a table with the columns {', '.join(row)}")
        table = csv.DictWriter(file, columns or list(row), lineterminator="\n")
        if not columns:
            table.writeheader()
        table.writerow(row)


def _drop_unfinished_line(path: Path) -> None:
    """Cut off what a run was writing when it was killed."""
    if path.exists():
        content = path.read_bytes()
        if not content.endswith(b"\n"):
            path.write_bytes(content[: content.rfind(b"\n") + 1])


def _text(value: Any) -> str:
    """As the csv module writes it."""
    return "" if value is None else str(value)


def _value(text: str) -> int | float | str | None:
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
