"""AWD-LSTM in miniature: the data, the model and its dropouts, averaging, and the sweep over its parts."""

import math
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest
import torch
from cut_off import assert_resumes
from torch import nn
from torch.nn import functional

from experiments import awd_lstm as sweep
from experiments.grid import HERE, best_rates, key
from rnnlib.data import Splits
from rnnlib.measure import parameters
from rnnlib.runs import load
from rnnlib.systems.awd_lstm import (
    AWDLSTM,
    UNKNOWN,
    Average,
    Carried,
    Dropouts,
    Trigger,
    columns,
    corpus,
    fit,
    mean_loss,
    split_words,
    windows,
)
from rnnlib.training import cross_entropy

ROOT = Path(__file__).parents[1]
ALL = Dropouts(weight=0.5, word=0.3, input=0.4, hidden=0.25, output=0.4)


def make(words=12, embedding_size=5, hidden_size=7, **options):
    torch.manual_seed(0)
    return AWDLSTM(words, embedding_size, hidden_size, **options)


def codes(steps=6, batch=3, words=12):
    return torch.randint(words, (steps, batch), generator=torch.Generator().manual_seed(1))


# --- Data -------------------------------------------------------------------------------------------------


def test_words_and_lines_and_marks_are_told_apart():
    said = "  HAM. Who's there?\n\n   Nay--answer 'twas\n"
    assert split_words(said) == [
        "ham", ".", "who's", "there", "?", "\n", "nay", "-", "-", "answer", "'", "twas", "\n"
    ]  # fmt: skip


def test_the_vocabulary_comes_from_the_training_part_alone():
    text = corpus(train=200, held_out=50, least=2)
    counts = text.splits.train.bincount(minlength=len(text.words))
    assert text.words[0] == UNKNOWN and len(set(text.words)) == len(text.words)
    assert len(text.splits.train) == 7 * 200 and len(text.splits.valid) == 7 * 50
    assert counts[1:].min() == 2  # a word that occurs once has no code
    assert counts[0] > 0 and (text.splits.test == 0).any()
    everything = corpus(train=200, held_out=50, least=1)
    assert (everything.splits.train > 0).all()
    assert [text.words[c] for c in text.splits.train[:5]] == [
        everything.words[c] if everything.words[c] in text.words else UNKNOWN
        for c in everything.splits.train[:5]
    ]


def test_windows_read_every_word_once_and_in_order():
    text = torch.arange(23)
    found = list(windows(text, batch=2, steps=4))
    assert [fresh for (_, fresh), _ in found] == [True, False, False]
    x, y = torch.cat([x for (x, _), _ in found]), torch.cat([y for _, y in found])
    assert torch.equal(x, columns(text, 2)[:-1]) and torch.equal(y, columns(text, 2)[1:])
    assert [len(y) for _, y in found] == [4, 4, 2]


# --- The model --------------------------------------------------------------------------------------------


def test_equals_torch_layers_by_hand():
    model = make()
    x = codes()
    y = functional.embedding(x, model.embedding.weight)
    for layer, width in zip(model.layers, (7, 7, 5), strict=True):
        by_torch = nn.LSTM(y.shape[-1], width)
        by_torch.load_state_dict(layer.state_dict())
        y, _ = by_torch(y)
    scores, _ = model(x)
    torch.testing.assert_close(scores, y @ model.embedding.weight.T + model.output.bias)


def test_tied_tables_are_one_tensor_counted_once():
    tied, untied = make(), make(tied=False)
    assert tied.output.weight is tied.embedding.weight
    assert untied.output.weight is not untied.embedding.weight
    assert parameters(untied) - parameters(tied) == 12 * 5
    stack = sum(4 * (o * (i + o) + 2 * o) for i, o in ((5, 7), (7, 7), (7, 5)))
    assert parameters(tied) == 12 * 5 + stack + 12
    cross_entropy(tied(codes())[0], codes()).backward()
    assert (tied.embedding.weight.grad.abs().sum(1) > 0).all()  # unread words learn as outputs


def test_arms_with_one_seed_start_from_the_same_weights():
    one, other = make(tied=False).state_dict(), make(dropouts=ALL).state_dict()
    same = {name for name in one if torch.equal(one[name], other[name])}
    assert set(one) - same == {"output.weight"}


def test_forget_gates_start_open():
    for layer in make().layers:
        forget = slice(layer.hidden_size, 2 * layer.hidden_size)
        bias = layer.bias_ih_l0 + layer.bias_hh_l0
        assert (bias[forget] == 1).all() and bias.sum() == layer.hidden_size


def test_evaluation_drops_nothing_and_draws_nothing():
    bare, dropping = make().eval(), make(dropouts=ALL).eval()
    before = torch.get_rng_state()
    assert torch.equal(bare(codes())[0], dropping(codes())[0])
    assert torch.equal(torch.get_rng_state(), before)
    dropping.train()
    assert not torch.equal(dropping(codes())[0], bare(codes())[0])


def test_a_dropped_word_is_gone_from_every_place_of_the_batch():
    model = make(words=40, dropouts=Dropouts(word=0.5)).train()
    seen = []
    model.layers[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    x = codes(steps=30, batch=8, words=40)
    model(x)
    scale = seen[0].abs().sum(-1) / model.embedding.weight[x].abs().sum(-1)
    assert set(scale.unique().round(decimals=4).tolist()) == {0.0, 2.0}  # dropped, or made up for
    for word in range(40):
        assert len(scale[x == word].round(decimals=4).unique()) == 1


@pytest.mark.parametrize("place", ["input", "hidden", "output"])
@pytest.mark.parametrize("mask", ["sequence", "step"])
def test_masks_last_a_window_or_a_step(place, mask):
    model = make(embedding_size=30, hidden_size=30, dropouts=Dropouts(**{place: 0.5}, mask=mask))
    after = {"input": [model.layers[0]], "hidden": list(model.layers[1:]), "output": [model.output]}
    seen, unseen = {}, []
    for name, modules in after.items():
        for module in modules:
            store = seen.setdefault(name, []) if name == place else unseen
            module.register_forward_pre_hook(lambda _, inputs, s=store: s.append(inputs[0].detach()))
    model.train()(codes(steps=10, batch=4))
    for x in seen[place]:
        dropped = x == 0
        assert 0.3 < dropped.double().mean() < 0.7
        held = (dropped == dropped[0]).all().item()
        assert held == (mask == "sequence")
        assert not (dropped[:, 0] == dropped[:, 1]).all()  # sequences have masks of their own
    assert unseen and not any((x == 0).any() for x in unseen)


def test_dropping_keeps_the_mean():
    model = make(words=40, embedding_size=4, dropouts=replace(ALL, weight=0, hidden=0, output=0)).train()
    seen = []
    model.layers[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    x = codes(steps=2, batch=2, words=40)
    for _ in range(2000):
        model(x)
    mean, exact = torch.stack(seen).mean(0), model.embedding.weight[x].detach()
    spread = exact.abs() * (1 / (0.7 * 0.6) - 1) ** 0.5 / 2000**0.5
    assert ((mean - exact).abs() < 4.5 * spread).all()


def test_recurrent_weights_are_dropped_in_every_layer():
    model = make(dropouts=Dropouts(weight=0.5))
    assert [layer.weight_dropout for layer in model.layers] == [0.5] * 3
    x = codes()
    first, second = model.train()(x)[0], model(x)[0]
    assert torch.equal(first[0], second[0])  # nothing recurs at the first step
    assert not torch.equal(first[1], second[1])


def test_writing_goes_on_from_the_start_and_repeats():
    model = make(dropouts=ALL).train()
    one = model.write(torch.tensor([3, 4]), 20, seed=5, never=[0, 7])
    assert model.training and one.shape == (20,)
    assert torch.equal(one, model.write(torch.tensor([3, 4]), 20, seed=5, never=[0, 7]))
    assert not {0, 7} & set(one.tolist())
    assert not torch.equal(one, model.write(torch.tensor([3, 4]), 20, seed=6, never=[0, 7]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make(words=0), "words=0: expected a positive integer"),
        (lambda: make(hidden_size=2.5), "hidden_size=2.5: expected a positive integer"),
        (lambda: make(num_layers=0), "num_layers=0: expected a positive integer"),
        (lambda: Dropouts(word=1.5), "word=1.5: expected a probability"),
        (lambda: Dropouts(mask="window"), "mask='window': expected one of 'step', 'sequence'"),
        (lambda: corpus(train=0), "train=0: expected a positive integer"),
        (lambda: columns(torch.arange(5), 3), "batch=3: expected at most 2 columns"),
        (lambda: next(windows(torch.arange(9), 2, 0)), "steps=0: expected a positive integer"),
        (lambda: Trigger(-1), "patience=-1: expected a non-negative integer"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        call()


# --- Training ---------------------------------------------------------------------------------------------


def test_states_are_carried_from_window_to_window():
    model = make().eval()
    text = torch.randint(12, (40,), generator=torch.Generator().manual_seed(2))
    whole = columns(text, 2)
    by_windows = Carried(model)
    scores = torch.cat([by_windows(x) for x, _ in windows(text, 2, 4)])
    torch.testing.assert_close(scores, model(whole[:-1])[0])
    expected = cross_entropy(scores, whole[1:]).item()
    assert mean_loss(model, text, batch=2, steps=3) == pytest.approx(expected, rel=1e-5)
    first = by_windows(next(windows(text, 2, 4))[0])  # a fresh window forgets what was before
    torch.testing.assert_close(first, scores[:4])


def test_no_gradient_goes_back_beyond_a_window():
    carried = Carried(make())
    (first, _), (second, y) = islice(windows(torch.arange(12).repeat(3), 2, 4), 2)
    carried(first)
    assert not any(state.requires_grad for pair in carried.states for state in pair)
    cross_entropy(carried(second), y).backward()


def test_the_average_is_that_of_asgd():
    """But for the first step, whose weights torch's overwrites."""
    model = make()
    optimizer = torch.optim.ASGD(model.parameters(), lr=0.5, t0=0, lambd=0, weight_decay=0)
    average = Average(model)
    for step in range(5):
        optimizer.zero_grad()
        cross_entropy(model(codes())[0], codes()).backward()
        optimizer.step()
        if step > 0:
            average.add()
    for mean, parameter in zip(average.model.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(mean, optimizer.state[parameter]["ax"])
    assert average.model.output.weight is average.model.embedding.weight


def test_the_trigger_waits():
    falling = Trigger(2)
    assert not any(falling(value) for value in (5, 4, 3, 2, 1))
    early = Trigger(2)
    assert [early(value) for value in (1.0, 2.0, 2.0, 2.0)] == [False, False, False, True]
    at_once = Trigger(0)
    assert [at_once(value) for value in (1.0, 1.0, 1.1)] == [False, False, True]


def small(seed=3):
    generator = torch.Generator().manual_seed(seed)
    return Splits(*(torch.randint(12, (size,), generator=generator) for size in (240, 80, 80)))


def test_fit_keeps_the_weights_of_its_best_look():
    model, splits = make(), small()
    history = fit(model, splits, 0.03, 40, every=5, patience=1, batch=4, window=6)
    assert [step for step, _ in history.looks] == list(range(5, 41, 5))
    by_step = dict(history.looks)
    assert by_step[history.best] == min(by_step.values())
    assert history.averaged_from in by_step and not history.diverged
    assert mean_loss(model, splits.valid) == pytest.approx(by_step[history.best], abs=1e-5)


def test_averaging_changes_nothing_before_it_begins():
    runs = {}
    for average in (True, False):
        model = make(dropouts=ALL)
        runs[average] = fit(model, small(), 0.03, 40, average=average, every=5, patience=1, batch=4, window=6)
    begin = runs[True].averaged_from
    assert begin and runs[False].averaged_from is None

    def until(average):
        return [look for look in runs[average].looks if look[0] <= begin]

    assert until(True) == until(False) and runs[True].looks != runs[False].looks


def test_a_run_that_diverges_says_so():
    model = make()
    nn.init.constant_(model.output.bias, math.nan)
    assert fit(model, small(), 0.01, 3, batch=4, window=6).diverged


# --- The sweep --------------------------------------------------------------------------------------------

COLUMNS = ["task", "depth", "variant", "rate_of", "steps", "seed", "lr", "split", "parameters", "error",
           "baseline", "train_error", "averaged_from", "best", "last", "diverged", "seconds",
           "version"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the quick version has run."""
    where = tmp_path_factory.mktemp("awd_lstm")
    command = [sys.executable, "-m", "experiments.awd_lstm", "--quick", "--folder", str(where)]
    subprocess.run([*command, "--processes", "1"], cwd=ROOT, check=True, capture_output=True, timeout=300)
    return where


def tables(folder):
    return load(folder / "awd_lstm-tuning.csv"), load(folder / "awd_lstm.csv")


def settings(row, names):
    return tuple((name, row[name]) for name in names)


def test_a_quick_sweep_fills_the_tables_of_its_grid(folder):
    tuning, rows = tables(folder)
    (block,) = sweep.quick()
    names = list(block.arms[0])
    arms = [settings(arm, names) for arm in block.arms]
    seeds = sweep.QUICK_SEEDS
    found = Counter((settings(row, names), row["seed"]) for row in rows)
    assert found == Counter(product(arms, seeds.test))
    assert {row["variant"] for row in tuning} == {"full", "none"}
    assert {row["split"] for row in rows} == {"test"} and {row["split"] for row in tuning} == {"valid"}
    for row in tuning + rows:
        assert list(row) == COLUMNS
        assert row["error"] > 0 and row["diverged"] == 0 and row["best"] <= row["steps"]
    rates = best_rates(tuning, sweep.TUNED_AS)
    assert all(row["lr"] == rates[key(row, sweep.TUNED_AS)] for row in rows)


def test_a_sweep_that_was_cut_off_resumes(folder):
    assert_resumes(sweep.main, folder / "awd_lstm.csv")


def test_each_arm_lacks_one_part():
    full, none = sweep.VARIANTS["full"], sweep.VARIANTS["none"]
    assert full.tied and full.average and none == sweep.Variant(Dropouts(), False, False)
    for name, variant in sweep.VARIANTS.items():
        if name not in ("full", "none"):
            changed = [variant.tied != full.tied, variant.average != full.average,
                       variant.dropouts != full.dropouts]  # fmt: skip
            assert sum(changed) == 1, name
    dropouts = {name: variant.dropouts for name, variant in sweep.VARIANTS.items()}
    assert dropouts["no weight dropout"] == replace(sweep.FULL, weight=0)
    assert dropouts["no word dropout"] == replace(sweep.FULL, word=0)
    assert dropouts["no unit dropout"] == replace(sweep.FULL, input=0, hidden=0, output=0)
    assert dropouts["a mask per step"] == replace(sweep.FULL, mask="step")


def test_no_seed_serves_for_choosing_and_for_scoring():
    for seeds in (sweep.SEEDS, sweep.QUICK_SEEDS):
        assert not set(seeds.tuning) & set(seeds.test)
    assert len(sweep.SEEDS.test) >= 5


def test_committed_results_are_the_whole_grid():
    """Every arm once on every seed, at the rate that the tuning runs chose."""
    rows, tuning = load(HERE / "awd_lstm.csv"), load(HERE / "awd_lstm-tuning.csv")
    (block,) = sweep.blocks()
    names = list(block.arms[0])
    expected = set(product([settings(arm, names) for arm in block.arms], sweep.SEEDS.test))
    found = [(settings(row, names), row["seed"]) for row in rows]
    assert len(found) == len(set(found)) and set(found) == expected
    rates = best_rates(tuning, sweep.TUNED_AS)
    assert all(row["lr"] == rates[key(row, sweep.TUNED_AS)] for row in rows)
    assert {row["lr"] for row in tuning} == set(sweep.SEEDS.rates)
    assert all(list(row) == COLUMNS for row in rows + tuning)
    assert len({row["version"] for row in rows + tuning}) == 1


def test_the_baseline_is_that_of_word_frequencies():
    words, splits = sweep.text()
    counts = Counter(splits.train.tolist())
    total = len(splits.train) + len(words)
    chances = [(counts[word] + 1) / total for word in splits.test.tolist()]
    assert sweep.baseline() == pytest.approx(-sum(map(math.log, chances)) / len(chances), rel=1e-5)
