"""The committed table of counters: complete, exact where rnnlib reports, and reproduced for torch itself."""

import re
from collections import Counter
from pathlib import Path

import pytest
import torch
from packaging.version import Version

from benchmarks.counters import TOOLS, module_and_input
from benchmarks.counters_table import CSV, SETTINGS, Row, markdown, read_table, write_table
from rnnlib import StackSpec

ROWS = read_table()
CASES = [(setting, cell) for setting in SETTINGS for cell in setting.cells]


def test_every_tool_setting_and_cell_has_one_row():
    expected = [(tool.name, setting.name, cell) for tool in TOOLS for setting, cell in CASES]
    assert Counter((row.tool, row.setting, row.cell) for row in ROWS) == Counter(expected)


def test_versions_are_the_pinned_ones():
    requirements = CSV.with_name("counters-requirements.txt").read_text()
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)", requirements, re.MULTILINE))
    distributions = {tool.name: tool.distribution for tool in TOOLS}
    rows = [row for row in ROWS if not row.tool.startswith("rnnlib")]
    assert [row for row in rows if Version(row.version) != Version(pinned[distributions[row.tool]])] == []


def test_rnnlib_is_exact_in_every_cell():
    rows = [row for row in ROWS if row.tool.startswith("rnnlib")]
    assert len(rows) == 2 * len(CASES)
    assert [row for row in rows if row.reported_macs != row.true_macs] == []


@pytest.mark.parametrize(("setting", "cell"), CASES, ids=lambda value: getattr(value, "name", value))
def test_true_macs_are_those_of_the_closed_form(setting, cell):
    spec = StackSpec(
        cell.lower(),
        setting.input_size,
        setting.hidden_size,
        setting.num_layers,
        bidirectional=setting.bidirectional,
        proj_size=setting.proj_size,
    )
    if setting.lengths:
        expected = spec.macs(lengths=setting.lengths)
    else:
        steps = 1 if setting.layout == "one step" else setting.steps
        expected = spec.macs(steps, 1 if setting.layout == "unbatched" else setting.batch)
    committed = {row.true_macs for row in ROWS if (row.setting, row.cell) == (setting.name, cell)}
    assert committed == {setting.true_macs(cell)} == {expected}


@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if tool.distribution == "torch"], ids=lambda t: t.name
)
def test_flop_counter_mode_is_reproduced(tool):
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this build of torch has no oneDNN, whose effect the committed rows show")
    live = {
        (setting.name, cell): tool.count(*module_and_input(setting, cell))
        for setting, cell in CASES
        if setting.hidden_size == 5  # the wide stack takes too long for a test
    }
    rows = {(row.setting, row.cell): row.reported_macs for row in ROWS if row.tool == tool.name}
    assert live == {key: rows[key] for key in live}


def test_a_table_survives_its_file_and_reads_as_ratios(tmp_path: Path):
    rows = [
        Row("a", "1", "x", "RNN", 5, 4, "MACs"),
        Row("a", "1", "x", "GRU", 12, 12, "MACs"),
        Row("a", "1", "x", "LSTM", 0, 16, "MACs"),
        Row("b", "2", "x", "RNN", None, 4, "crash: TypeError"),
        Row("b", "2", "x", "GRU", None, 12, "crash: TypeError"),
    ]
    write_table(rows, tmp_path / "table.csv")
    assert read_table(tmp_path / "table.csv") == rows
    assert markdown(rows).splitlines() == [
        "| tool | x |",
        "| --- | --- |",
        "| a (1) | 1.250/1/**0** |",
        "| b (2) | crash: TypeError |",
    ]
