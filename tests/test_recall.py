"""`experiments.recall` and `rnnlib.runs`: a small sweep from end to end, stopped and resumed."""

import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
import torch
from cut_off import assert_resumes

from experiments import recall
from rnnlib.runs import load, mean_interval, sweep

ROOT = Path(__file__).parents[1]
COLUMNS = ["task", "cell", "depth", "seed", "lag", "between", "lr", "steps", "accuracy", "chance", "solved",
           "seconds", "version"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where a quick sweep has run."""
    folder = tmp_path_factory.mktemp("recall")
    command = [sys.executable, "-m", "experiments.recall", "--quick", "--folder", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    return folder


def expected_runs(grid):
    kinds = [("random", d) for d in grid.depths] + [("blank", d) for d in grid.blank_depths]
    runs = product(recall.CELLS, kinds, grid.lags, grid.seeds)
    return Counter((cell, depth, between, lag, seed) for cell, (between, depth), lag, seed in runs)


def runs_in(rows):
    return Counter((r["cell"], r["depth"], r["between"], r["lag"], r["seed"]) for r in rows)


# --- The sweep, end to end --------------------------------------------------------------------------------


def test_rows_are_complete_and_unique(folder):
    rows = load(folder / "recall.csv")
    assert runs_in(rows) == expected_runs(recall.QUICK)
    for row in rows:
        assert list(row) == COLUMNS
        assert 0 <= row["accuracy"] <= 1 and row["chance"] == 1 / 8
        assert row["solved"] is None or (row["solved"] <= row["steps"] and row["accuracy"] > 0.95)


def test_quick_runs_solve_a_lag_of_two(folder):
    assert all(row["accuracy"] > 0.5 for row in load(folder / "recall.csv") if row["lag"] == 2)


def test_learning_rates_are_chosen_on_seeds_of_their_own(folder):
    tuning, rows = load(folder / "recall-tuning.csv"), load(folder / "recall.csv")
    assert not {row["seed"] for row in tuning} & {row["seed"] for row in rows}
    assert not set(recall.Grid.seeds) & set(recall.Grid.tuning_seeds)
    rates = recall.best_rates(tuning)
    assert len(rates) == 6
    assert all(row["lr"] == rates[row["cell"], row["depth"]] for row in rows)


def test_a_sweep_that_was_cut_off_resumes(folder):
    assert_resumes(recall.main, folder / "recall.csv")


def test_the_two_tables_of_the_full_sweep_would_be_complete():
    grid = recall.Grid()
    assert len(list(grid.tuning())) == 6 * 3 * 2
    settings = list(grid.test(dict.fromkeys(grid.arms(), 0.01)))
    assert len({tuple(s.values()) for s in settings}) == len(settings) == 6 * 6 * 5 + 3 * 6 * 5


def test_committed_results_are_complete():
    if not (recall.HERE / "recall.csv").exists():
        pytest.skip("the sweep has not been run")
    grid = recall.Grid()
    rows = load(recall.HERE / "recall.csv")
    assert runs_in(rows) == expected_runs(grid)
    rates = recall.best_rates(load(recall.HERE / "recall-tuning.csv"))
    assert all(row["lr"] == rates[row["cell"], row["depth"]] for row in rows)
    assert len({row["steps"] for row in rows}) == 1


# --- One run ----------------------------------------------------------------------------------------------


@pytest.fixture
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_a_run_is_reproducible_under_its_seed(one_thread):
    def score(seed):
        row = recall.run("delayed recall", "gru", 1, seed, lag=6, between="random", lr=3e-3, steps=30)
        return row["accuracy"], row["solved"]

    first = score(0)
    torch.rand(3)
    assert score(0) == first
    assert score(1) != first


def test_batches_differ_by_seed_and_purpose_and_repeat():
    purposes = ("training", "validation", "test")
    drawn = [next(recall.batches(seed, purpose, 20))[0] for seed in (0, 1, 100) for purpose in purposes]
    again = [next(recall.batches(seed, purpose, 20))[0] for seed in (0, 1, 100) for purpose in purposes]
    for (i, a), (j, b) in product(enumerate(drawn), enumerate(again)):
        assert a.equal(b) == (i == j)


def test_blanks_are_one_symbol_and_random_ones_are_not():
    def kinds(between):
        x, _ = next(recall.batches(0, "training", 20, between))
        return x[1:-1].argmax(-1).unique().numel()

    assert kinds("blank") == 1 and kinds("random") == recall.SYMBOLS


@pytest.mark.parametrize("depth", [1, 3])
def test_the_forget_bias_of_every_layer_is_one(depth):
    stack = recall.Reader("lstm", depth).stack
    for layer in range(depth):
        bias = getattr(stack, f"bias_ih_l{layer}") + getattr(stack, f"bias_hh_l{layer}")
        _, forget, *_ = bias.chunk(4)
        assert bool((forget == 1).all()) and bias.unique().numel() > 64


def test_of_equal_accuracies_the_sooner_solved_wins():
    row = {"cell": "rnn", "depth": 1, "steps": 200}
    rows = [row | {"lr": lr, "accuracy": a, "solved": s}
            for lr, a, s in ((0.1, 1.0, 80), (0.1, 0.5, None), (0.2, 1.0, 90), (0.2, 1.0, 90), (0.3, 1.0, 60),
                             (0.3, 1.0, 100), (0.4, 1.0, 200), (0.4, 1.0, None))]  # fmt: skip
    assert recall.best_rates(rows) == {("rnn", 1): 0.3}


# --- Tables of runs ---------------------------------------------------------------------------------------


def test_only_what_has_no_row_is_run(tmp_path):
    path = tmp_path / "new" / "table.csv"
    settings = [{"arm": arm, "residual": r, "lr": lr, "clip": clip}
                for arm, r, lr, clip in product("ab", (True, False), (0.1, 1e-5), (None, 1))]  # fmt: skip
    seen = []

    def run(**setting):
        seen.append(setting)
        return {"score": 0.5}

    sweep(run, settings[:3], path, progress=False)
    sweep(run, settings, path, progress=False)
    sweep(run, settings, path, progress=False)
    assert seen == settings
    assert len(load(path)) == len(settings)


def test_a_run_that_fails_keeps_the_rows_before_it(tmp_path):
    path = tmp_path / "table.csv"

    def run(seed):
        return {"score": 1 / (2 - seed)}

    with pytest.raises(ZeroDivisionError):
        sweep(run, [{"seed": seed} for seed in range(4)], path, progress=False)
    assert [row["seed"] for row in load(path)] == [0, 1]


def test_a_table_with_other_columns_is_not_touched(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("seed,loss\n0,1.5\n")
    with pytest.raises(
        ValueError, match=r"^path=.*table.csv': expected a table with the columns seed, score$"
    ):
        sweep(lambda seed: {"score": seed}, [{"seed": 1}], path, progress=False)
    assert path.read_text() == "seed,loss\n0,1.5\n"


def test_every_run_has_one_thread_and_the_caller_keeps_its_own(tmp_path):
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        sweep(lambda seed: {"threads": torch.get_num_threads()}, [{"seed": 0}], tmp_path / "t.csv",
              progress=False)  # fmt: skip
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert load(tmp_path / "t.csv") == [{"seed": 0, "threads": 1}]


def test_values_are_read_by_kind(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b,c,d,e\n1,0.5,,"x, 2.0",1e-05\n')
    (row,) = load(path)
    assert row == {"a": 1, "b": 0.5, "c": None, "d": "x, 2.0", "e": 1e-5}
    assert isinstance(row["a"], int)


# --- Bootstrap --------------------------------------------------------------------------------------------


def test_the_interval_of_two_values_is_known():
    """Means of two draws: the smaller value a quarter of the time, so both quantiles are the extremes."""
    assert mean_interval([0.0, 1.0]) == (0.5, 0.0, 1.0)
    assert mean_interval([0.0, 1.0], level=0.4) == (0.5, 0.5, 0.5)


def test_the_interval_of_many_values_is_the_normal_one():
    values = torch.randn(400, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    mean, lower, upper = mean_interval(values.tolist())
    half = 1.96 * values.std().item() / 20
    assert mean == pytest.approx(values.mean().item())
    assert (upper - mean, mean - lower) == pytest.approx((half, half), rel=0.05)


def test_the_interval_is_deterministic():
    values = [0.1, 0.4, 0.2, 0.9, 0.3]
    before = torch.get_rng_state()
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, resamples=50) != mean_interval(values, resamples=50, seed=1)
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5],), r"values=\[0\.5\]: expected one for each seed, at least two"),
        (([0.5, 1.0], 95), "level=95: expected a share"),
        (([0.5, 1.0], 0.9, 0), "resamples=0: expected a positive integer"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        mean_interval(*arguments)
