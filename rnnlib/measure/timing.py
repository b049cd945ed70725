"""Times, compared alternately."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from time import perf_counter
from typing import NamedTuple


class TimeRatio(NamedTuple):
    """How long a function takes in units of a reference: median and quartiles over the rounds."""

    median: float
    lower: float
    upper: float
    seconds: float
    """Median time of one call, in seconds."""

    @classmethod
    def of(cls, seconds: Sequence[float], reference: Sequence[float]) -> TimeRatio:
        """Compare times taken in the same rounds."""
        ratios = [a / b for a, b in zip(seconds, reference, strict=True)]
        lower, middle, upper = quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        return cls(middle, lower, upper, median(seconds))


def alternate(
    functions: Mapping[str, Callable[[], object]], rounds: int = 15, seconds: float = 0.0, warm_up: int = 2
) -> dict[str, list[float]]:
    """Time functions alternately: one call of each a round, in an order that turns from round to round.

    What slows a machine down slows neighbours in time alike, so the ratio of two times of a round is
    steadier than either.

    Parameters
    ----------
    functions
        what to call, by name.
    rounds, seconds
        at least so many rounds, and more until so much time is over.
    warm_up
        how often each is called before that.

    Returns
    -------
    dict
        Seconds of every call, by name, a list as long as there were rounds.
    """
    names = list(functions)
    for name in names * warm_up:
        functions[name]()
    times: dict[str, list[float]] = {name: [] for name in names}
    end = perf_counter() + seconds
    while len(times[names[-1]]) < rounds or perf_counter() < end:
        for name in names:
            start = perf_counter()
            functions[name]()
            times[name].append(perf_counter() - start)
        names = names[1:] + names[:1]
    return times


def time_ratios(
    functions: Mapping[str, Callable[[], object]], reference: str, rounds: int = 15, warm_up: int = 2
) -> dict[str, TimeRatio]:
    """Time functions alternately and compare each with the one that is named as the reference.

    Examples
    --------
    >>> ratios = time_ratios({"short": lambda: sum(range(100)), "long": lambda: sum(range(10_000))}, "short")
    >>> ratios["short"].median, ratios["long"].median > 10
    (1.0, True)
    """
    times = alternate(functions, rounds, warm_up=warm_up)
    return {name: TimeRatio.of(seconds, times[reference]) for name, seconds in times.items()}
