"""The sweeps over depth, of seq2seq and of GNMT: small ones from end to end, resumed, and on two workers."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from cut_off import assert_resumes
from joblib import parallel_config

from experiments import gnmt, initialisation, limits, seq2seq, width
from experiments.fitting import numbers
from experiments.grid import HERE, Block, Seeds, best_rates, fill, key, to_score, to_tune
from experiments.models import make_stack, matched_to
from experiments.problems import problem
from rnnlib.runs import load

ROOT = Path(__file__).parents[1]
SWEEPS = {
    "limits": limits,
    "width": width,
    "initialisation": initialisation,
    "seq2seq": seq2seq,
    "gnmt": gnmt,
}
RESULT = ["parameters", "error", "baseline", "failed", "diverged", "gradient_start", "gradient_mid",
          "gradient_last", "update_mid", "moved", "seconds", "version"]  # fmt: skip
COLUMNS = {
    "limits": ["task", "cell", "depth", "variant", "clip", "steps", "seed", "lr", "split", *RESULT],
    "width": ["task", "cell", "budget", "depth", "variant", "examples", "steps", "seed", "lr", "split",
              "width", *RESULT],
    "initialisation": ["task", "cell", "depth", "variant", "initialisation", "steps", "seed", "lr", "split",
                       *RESULT],
    "seq2seq": ["task", "cell", "depth", "variant", "order", "steps", "seed", "lr", "split", *RESULT, "nats",
                "nats_by_step", "error_1", "exact_1", "score_1", "error_2", "exact_2", "score_2", "error_12",
                "exact_12", "score_12"],
    "gnmt": ["task", "depth", "variant", "steps", "seed", "lr", "split", *RESULT, "valid_loss"],
}  # fmt: skip


@pytest.fixture(scope="module", params=SWEEPS)
def swept(request, tmp_path_factory):
    """The name of a sweep, and the folder where its quick version has run."""
    folder = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, "-m", f"experiments.{request.param}", "--quick", "--folder", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=300)
    return request.param, folder


def tables(swept):
    name, folder = swept
    return load(folder / f"{name}-tuning.csv"), load(folder / f"{name}.csv")


# --- A sweep, end to end ----------------------------------------------------------------------------------


def test_rows_are_those_of_the_grid(swept):
    tuning, rows = tables(swept)
    module = SWEEPS[swept[0]]
    seeds = module.QUICK_SEEDS
    arms = {tuple(arm.items()) for block in module.quick() for arm in block.arms}

    def runs(table):
        return Counter((tuple((k, row[k]) for k in next(map(dict, arms))), row["seed"]) for row in table)

    assert runs(rows) == Counter(product(arms, seeds.test))
    assert {arm for arm, _ in runs(tuning)} <= arms
    assert {row["seed"] for row in tuning} == set(seeds.tuning)
    assert {row["split"] for row in rows} == {"test"} and {row["split"] for row in tuning} == {"valid"}


def test_columns_and_values(swept):
    for table in tables(swept):
        for row in table:
            assert list(row) == COLUMNS[swept[0]]
            assert row["error"] > 0 and row["diverged"] == 0
            assert row["failed"] == (row["error"] > 0.9 * row["baseline"])
            recorded = [numbers(row[name]) for name in RESULT if name[:4] in ("grad", "upda", "move")]
            stacks = 2 if row["task"] == "letters to phones" else 1
            assert {len(values) for values in recorded} == {stacks * row["depth"]}
            assert all(value > 0 for values in recorded for value in values)


def test_learning_rates_are_the_best_of_their_own_seeds(swept):
    tuning, rows = tables(swept)
    names = SWEEPS[swept[0]].TUNED_AS
    rates = best_rates(tuning, names)
    assert all(row["lr"] == rates[key(row, names)] for row in rows)


@pytest.mark.parametrize("name", SWEEPS)
def test_committed_results_are_whole_blocks_of_the_grid(name):
    """Every arm of the first blocks once on every seed, at the rate that its own tuning runs chose."""
    sweep, seeds = SWEEPS[name], Seeds()
    rows, tuning = load(HERE / f"{name}.csv"), load(HERE / f"{name}-tuning.csv")

    def settings(row, columns):
        return tuple((column, row[column]) for column in columns)

    expected: set = set()
    for block in sweep.blocks():
        columns = list(block.arms[0])
        expected |= {(settings(arm, columns), seed) for arm in block.arms for seed in seeds.test}
        if len(expected) >= len(rows):
            break
    found = [(settings(row, columns), row["seed"]) for row in rows]
    assert len(found) == len(set(found)) and set(found) == expected
    rates = best_rates(tuning, sweep.TUNED_AS)
    assert all(row["lr"] == rates[key(row, sweep.TUNED_AS)] for row in rows)
    assert {row["lr"] for row in tuning} == set(seeds.rates)
    assert len({row["version"] for row in rows + tuning}) == 1


def test_a_sweep_that_was_cut_off_resumes(swept):
    name, folder = swept
    assert_resumes(SWEEPS[name].main, folder / f"{name}.csv")


def test_a_cluster_of_two_workers_fills_the_same_table(tmp_path):
    """On two Dask workers through joblib's backend, and here: the same scores."""
    from distributed import Client, LocalCluster, get_worker

    def on_a_worker(**setting):
        return {**limits.run(**setting), "worker": get_worker().name}

    block = replace_arms(limits.quick()[0], 2)
    seeds = Seeds(rates=(3e-3,), test=(0, 1))
    fill(limits.run, [block], seeds, tmp_path / "here", "limits", 1, progress=False)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
        parallel_config(backend="dask", n_jobs=-1),
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        fill(on_a_worker, [block], seeds, tmp_path / "there", "limits", None, progress=False)
    one, other = (
        {(row["depth"], row["seed"], row["error"], row["gradient_last"]) for row in load(path / "limits.csv")}
        for path in (tmp_path / "here", tmp_path / "there")
    )
    assert one == other and len(one) == 4
    assert {row["worker"] for row in load(tmp_path / "there" / "limits.csv")} <= {0, 1}


def replace_arms(block, count):
    return block._replace(arms=block.arms[:count])


# --- The grids --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", SWEEPS.values(), ids=SWEEPS)
def test_no_seed_serves_for_choosing_and_for_scoring(module):
    for seeds in (Seeds(), module.QUICK_SEEDS):
        assert not set(seeds.tuning) & set(seeds.test)
    assert len(Seeds().test) >= 5


def test_the_grid_of_the_limits_holds_what_chapter_3_asks_for():
    arms = [arm for block in limits.blocks() for arm in block.arms]
    clipped = {(a["task"], a["depth"], a["variant"]) for a in arms if a["clip"]}
    variants = {variant for _, _, variant in clipped}
    assert variants == set(limits.VARIANTS) and len(variants) == 6
    for task, depth, variant in product(("letters to phones", "characters"), (2, 4, 6, 8, 12), variants):
        assert (task, depth, variant) in clipped
    unclipped = {(a["depth"], a["variant"]) for a in arms if a["clip"] is None}
    assert unclipped == set(product((4, 8), limits.MAIN))
    longer = {(a["depth"], a["variant"]) for a in arms if a["steps"] == 4 * problem(a["task"]).steps}
    assert longer == set(product((4, 8), ["plain"]))
    assert {a["steps"] / problem(a["task"]).steps for a in arms} == {1, 4}


def test_one_layer_has_no_residual_to_differ_by():
    assert [arm["variant"] for arm in limits.arms("letters to phones", [1], limits.VARIANTS)] == [
        "plain", "output norm", "gate norm"
    ]  # fmt: skip


def test_the_grid_of_the_shapes_holds_what_chapter_2_asks_for():
    arms = [arm for block in width.blocks() for arm in block.arms]
    depths, own = (1, 2, 3, 4, 6), {task: problem(task).budget for task in width.TASKS}

    def of(**wanted):
        chosen = (a for a in arms if all(a[k] == v for k, v in wanted.items()))
        return {(a["depth"], a["variant"]) for a in chosen}

    both = set(product(depths, width.VARIANTS))
    for task, budget in own.items():
        assert of(task=task, cell="lstm", budget=budget, examples=None) >= both
    phones = {"task": "letters to phones"}
    for size in (1_000, 4_000):
        assert of(**phones, cell="lstm", budget=own[phones["task"]], examples=size) == both
    assert of(**phones, cell="gru") == of(**phones, budget=width.LARGE_BUDGET) == both
    assert of(**phones, variant="residual") == set(product(depths[1:], ["residual"]))


def test_every_network_of_the_shapes_comes_within_a_per_cent_of_its_budget():
    for arm in (arm for block in width.blocks() for arm in block.arms):
        build = problem(arm["task"]).build
        cell, depth, variant = arm["cell"], arm["depth"], arm["variant"]
        matched_to(arm["budget"], lambda w: build(cell, w, depth, variant))  # noqa: B023


def test_the_grid_of_the_initialisations_tunes_with_torchs_own():
    (block,) = initialisation.blocks()
    assert {arm["initialisation"] for arm in to_tune(block, Seeds())} == {"torch"}
    arms = {(arm["variant"], arm["initialisation"]) for arm in block.arms}
    assert arms == set(product((*limits.MAIN, *limits.NORMS), ("torch", "half", "double", "orthogonal")))


def test_initialisations_do_to_the_weights_what_they_say():
    def weights(name):
        torch.manual_seed(0)
        stack = make_stack("lstm", 8, 16, 2, "gate norm")
        initialisation.INITIALISATIONS[name](stack)
        return dict(stack.named_parameters())

    own = weights("torch")
    for name, factor in (("half", 0.5), ("double", 2.0)):
        for key_, value in weights(name).items():
            torch.testing.assert_close(value, own[key_] * (factor if key_.startswith("weight") else 1))
    orthogonal = weights("orthogonal")
    for block in orthogonal["weight_hh_l1"].chunk(4):
        torch.testing.assert_close(block @ block.T, torch.eye(16))
    bound = (6 / (8 + 16)) ** 0.5
    assert 0.9 * bound < orthogonal["weight_ih_l0"].abs().max() <= bound


@pytest.mark.parametrize("module", SWEEPS.values(), ids=SWEEPS)
def test_no_run_of_a_block_is_there_twice(module):
    for block in module.blocks():
        rates = {key(arm, block.tuned_as): 0.01 for arm in block.arms}
        for settings in (to_tune(block, Seeds()), to_score(block, Seeds(), rates)):
            runs = [tuple(setting.items()) for setting in settings]
            assert len(set(runs)) == len(runs) > 0


# --- Choosing learning rates ------------------------------------------------------------------------------


def test_arms_that_share_a_learning_rate_are_tuned_once_and_scored_each():
    block = Block([{"depth": 4, "clip": clip} for clip in (1.0, None)], ["depth"])
    seeds = replace(Seeds(), rates=(0.1, 0.2), test=(0, 1))
    assert list(to_tune(block, seeds)) == [
        {"depth": 4, "clip": 1.0, "seed": 100, "lr": lr, "split": "valid"} for lr in (0.1, 0.2)
    ]
    scored = list(to_score(block, seeds, {(4,): 0.2}))
    assert [(s["clip"], s["seed"], s["lr"]) for s in scored] == [
        (1.0, 0, 0.2), (1.0, 1, 0.2), (None, 0, 0.2), (None, 1, 0.2)
    ]  # fmt: skip


def test_rows_of_other_rates_or_arms_do_not_choose(tmp_path):
    """A table that holds more than the block asks for, say from a wider grid, changes nothing."""

    def run(depth, seed, lr, split):
        return {"error": abs(lr - 0.2)}

    block = Block([{"depth": 4}], ["depth"])
    wide, narrow = (replace(Seeds(), rates=rates, test=(0,)) for rates in ((0.1, 0.2, 0.4), (0.1, 0.4)))
    fill(run, [block], wide, tmp_path, "t", 1, progress=False)
    fill(run, [block], narrow, tmp_path, "t", 1, progress=False)
    assert [row["lr"] for row in load(tmp_path / "t.csv")] == [0.2, 0.1]


def test_of_equal_errors_the_smaller_rate_wins():
    rows = [{"depth": 1, "lr": lr, "error": 0.5} for lr in (0.3, 0.1, 0.2)]
    assert best_rates(rows, ["depth"]) == {(1,): 0.1}
