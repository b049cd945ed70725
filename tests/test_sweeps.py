"""`benchmarks.sweeps`: what the tables of timings look like."""

import csv

import torch

from benchmarks import scaling, sweeps, transformer
from rnnlib.measure import TimeRatio


def test_a_row_for_every_setting_and_blanks_where_nothing_was_measured(tmp_path):
    threads = torch.get_num_threads()

    def sweep():
        yield "one", "a / b", 16, TimeRatio(1.23456, 1, 1.5, 0.001)
        yield "one", "a / b", 0.5, TimeRatio(2, 1, 3, 1), 42

    sweeps.write(
        tmp_path / "t.csv", ("sweep", "what", "x", "median", "lower", "upper", "seconds", "bytes"), [sweep]
    )
    torch.set_num_threads(threads)
    conditions, *lines = (tmp_path / "t.csv").read_text().splitlines()
    assert conditions.startswith("# ") and conditions.endswith("float32")
    assert lines == [
        "sweep,what,x,median,lower,upper,seconds,bytes",
        "one,a / b,16,1.235,1,1.5,0.001,",
        "one,a / b,0.5,2,1,3,1,42",
    ]


def test_the_committed_tables_have_the_columns_of_their_scripts():
    for script in (scaling, transformer):
        conditions, *lines = script.RESULTS.read_text().splitlines()
        columns, *rows = csv.reader(lines)
        assert conditions.startswith("# ") and columns == list(script.COLUMNS)
        assert rows and all(len(row) == len(columns) for row in rows)


def test_the_lstm_and_the_transformer_have_the_same_size():
    counts = [
        sum(p.numel() for p in module.parameters())
        for module in (transformer.lstm(), transformer.transformer())
    ]
    assert abs(counts[1] / counts[0] - 1) < 0.002
