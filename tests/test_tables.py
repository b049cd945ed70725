"""Tables, the chapters' corrections, and ratios of times."""

import pytest

from rnnlib import Correction, Table, corrections, measure

TABLE = Table(("name", "count", "holds"), [("a|b", 1200, True), ("<c>", None, False)], ["a remark"])


def test_a_terminal_sees_aligned_columns():
    assert str(TABLE).splitlines() == [
        "name  count  holds",
        "----  -----  -----",
        "a|b   1,200  yes",
        "<c>       -  no",
        "a remark",
    ]


def test_a_notebook_sees_a_table_with_headings_and_escaped_text():
    html = TABLE._repr_html_()
    assert html.count('<th scope="col"') == 3
    assert "<td" in html and "&lt;c&gt;" in html and "<c>" not in html
    assert html.endswith("<p>a remark</p>")


def test_markdown_keeps_its_columns():
    header, rule, first, *_ = TABLE._repr_markdown_().splitlines()
    assert header == "| name | count | holds |"
    assert rule == "| --- | ---: | --- |"
    assert first == r"| a\|b | 1,200 | yes |"


def test_numbers_in_text_are_set_to_the_right():
    assert str(Table(("x",), [("1.5",), ("-12.25",)])).splitlines()[2:] == ["   1.5", "-12.25"]


def test_a_correction_names_claim_truth_difference_and_place():
    table = corrections(Correction("one", "two", "three", "four"))
    assert list(table.rows) == [("one", "two", "three", "four")]
    assert len(table.columns) == 4


def test_time_ratios_compare_round_by_round(monkeypatch):
    ticks = {"fast": 1, "slow": 3}
    calls = []
    monkeypatch.setattr(measure.timing, "perf_counter", lambda: sum(ticks[name] for name in calls))
    ratios = measure.time_ratios(
        {name: lambda name=name: calls.append(name) for name in ticks}, "fast", rounds=4
    )
    assert ratios["fast"] == (1, 1, 1, 1)
    assert ratios["slow"] == (3, 3, 3, 3)
    assert calls.count("fast") == calls.count("slow") == 2 + 4  # warmed up twice, timed four times


@pytest.mark.parametrize("rounds", [1, 2])
def test_few_rounds_suffice(rounds):
    assert measure.time_ratios({"a": lambda: None}, "a", rounds=rounds)["a"].median == 1
