"""ELMo in miniature: the model, the pseudowords, the probes and the sweep."""

import re
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from experiments import elmo as sweep
from experiments.fitting import numbers
from experiments.grid import HERE, best_rates, key
from rnnlib import StackSpec, data
from rnnlib.measure import parameters
from rnnlib.runs import load
from rnnlib.systems.elmo import BiLM, WeightedSum, targets, windows
from rnnlib.systems.pseudowords import (
    UNKNOWN,
    Part,
    Probe,
    best_probe,
    cosine_distances,
    occurrences,
    pseudowords,
)
from rnnlib.training import cross_entropy

ROOT = Path(__file__).parents[1]
SYMBOLS, WIDTH, HIDDEN_SIZE = 11, 4, 6
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections")


@pytest.fixture
def model():
    torch.manual_seed(0)
    return BiLM(SYMBOLS, WIDTH, HIDDEN_SIZE).double()


@pytest.fixture
def tokens():
    return torch.randint(SYMBOLS, (7, 3), generator=torch.Generator().manual_seed(1))


def other(tokens, k):
    """The same with another token at place k of every sequence."""
    changed = tokens.clone()
    changed[k] = (changed[k] + 1) % SYMBOLS
    return changed


# --- The model ---------------------------------------------------------------------------------------------


def torchs(layer):
    """torch's own LSTM with the weights of ours."""
    twin = nn.LSTM(WIDTH, HIDDEN_SIZE, proj_size=WIDTH).double()
    twin.load_state_dict(layer.state_dict())
    return twin


@torch.no_grad()
def test_layers_are_those_of_torchs_own_read_from_either_end(model, tokens):
    """Token by token: what a direction says there, it says after reading no more than its own side."""
    found = model.layers(tokens)
    assert found.shape == (3, len(tokens), tokens.shape[1], 2 * WIDTH)
    stacks = {
        side: [torchs(layer) for layer in getattr(model, side)] for side in ("left_to_right", "right_to_left")
    }
    for k in range(len(tokens)):
        read = {"left_to_right": tokens[: k + 1], "right_to_left": tokens[k:].flip(0)}
        for half, (side, (first, second)) in zip(found.chunk(2, -1), stacks.items(), strict=True):
            x = model.embedding.weight[read[side]]
            one = first(x)[0]
            two = second(one)[0] + one
            expected = torch.stack([x[-1], one[-1], two[-1]])
            torch.testing.assert_close(half[:, k], expected, rtol=1e-10, atol=1e-12)


@torch.no_grad()
def test_no_prediction_depends_on_its_target_and_all_depend_on_what_was_read(model, tokens):
    before = model(tokens)
    steps = len(tokens)
    for k in range(steps):
        moved = (model(other(tokens, k)) - before).abs().amax((2, 3)) > 0
        ahead = [target > k for target in range(1, steps)]
        back = [target < k for target in range(steps - 1)]
        assert moved.tolist() == [ahead, back]


@torch.no_grad()
def test_vectors_of_a_token_depend_on_both_sides_and_the_embedding_on_the_token_alone(model, tokens):
    before = model.layers(tokens)
    for k in range(len(tokens)):
        moved = (model.layers(other(tokens, k)) - before).abs().amax((2, 3)) > 0
        assert moved[0].tolist() == [place == k for place in range(len(tokens))]
        assert moved[1:].all()


@torch.no_grad()
def test_targets_are_the_tokens_that_scores_are_for(model, tokens):
    scores, wanted = model(tokens), targets(tokens)
    assert scores.shape == (*wanted.shape, SYMBOLS)
    torch.testing.assert_close(wanted[0], tokens[1:])
    torch.testing.assert_close(wanted[1], tokens[:-1])
    picked = scores.log_softmax(-1).gather(-1, wanted[..., None])
    torch.testing.assert_close(cross_entropy(scores, wanted), -picked.mean())


def test_directions_share_embedding_and_output_and_nothing_else(model):
    spec = StackSpec("lstm", WIDTH, HIDDEN_SIZE, num_layers=2, proj_size=WIDTH, residual=2)
    shared = SYMBOLS * WIDTH + SYMBOLS * WIDTH + SYMBOLS
    assert parameters(model) == 2 * spec.parameters() + shared
    assert [layer.residual for layer in model.left_to_right] == [False, True]


def test_training_lowers_the_loss_of_both_directions():
    torch.manual_seed(0)
    model = BiLM(SYMBOLS, WIDTH, HIDDEN_SIZE)
    text = torch.arange(200) % SYMBOLS
    optimizer = torch.optim.Adam(model.parameters(), 0.03, fused=True)
    for _, (x, y) in zip(range(60), windows(text, 12, 4, seed=0), strict=False):
        optimizer.zero_grad()
        cross_entropy(model(x), y).backward()
        optimizer.step()
    x, y = next(windows(text, 12, 4, seed=1))
    assert all(cross_entropy(s, t) < 1.0 < np.log(SYMBOLS) for s, t in zip(model(x), y, strict=True))


def test_windows_are_pieces_of_the_text_that_the_seed_chooses():
    text = torch.arange(40)
    x, y = next(windows(text, 5, 64, seed=3))
    assert x.shape == (5, 64) and (x.diff(dim=0) == 1).all()
    assert x[0].unique().tolist() != [x[0, 0].item()] and x.max() <= 39
    torch.testing.assert_close(y, targets(x))
    assert (next(windows(text, 5, 64, seed=3))[0] == x).all()
    assert not (next(windows(text, 5, 64, seed=4))[0] == x).all()
    assert next(windows(text, 40, 2, seed=0))[0].tolist() == [[k, k] for k in range(40)]


def test_weighted_sum_starts_as_the_mean_and_is_what_it_says():
    mix, x = WeightedSum(3), torch.randn(3, 5, 2, 4)
    torch.testing.assert_close(mix(x), x.mean(0))
    with torch.no_grad():
        mix.scalars.copy_(torch.tensor([0.0, 1.0, 2.0]))
        mix.scale.fill_(2.0)
    e = np.exp([0.0, 1.0, 2.0])
    expected = sum(2 * float(w) * layer for w, layer in zip(e / e.sum(), x, strict=True))
    torch.testing.assert_close(mix(x), expected)
    assert mix.weights.sum().item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BiLM(5, 8, 8), "width=8: expected a positive number less than hidden_size=8"),
        (lambda: BiLM(5, 0, 8), "width=0"),
        (lambda: BiLM(5, 2, 4)(torch.zeros(6).long()), r"tokens of shape \(6,\): expected \(T, N\)"),
        (lambda: next(windows(torch.arange(4), 5, 1, 0)), "steps=5: expected at most the 4"),
        (lambda: WeightedSum(0), "layers"),
        (lambda: WeightedSum(2)(torch.zeros(3, 4)), r"shape \(3, 4\): expected 2"),
        (lambda: occurrences(Part(torch.arange(9), torch.zeros(9)), 8, 1), "code=8: expected a token"),
        (lambda: pseudowords(symbols=30), "symbols=30: expected a vocabulary that holds all 12"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- Pseudowords -------------------------------------------------------------------------------------------


def spelled(name):
    """A part of Shakespeare in small words, split here once more by another rule."""
    text = data.shakespeare()
    marks = re.sub(r"([^A-Za-z'\s])", r" \1 ", text.decode(getattr(text.splits, name)))
    pieces = re.findall(r"[a-z]+(?:'[a-z]+)*|'", marks.lower())
    marked = Counter(c for c in marks if not (c.isalpha() or c.isspace() or c == "'"))
    return pieces, marked


@pytest.mark.parametrize("name", ["train", "valid", "test"])
def test_the_text_can_be_put_back_together_from_codes_and_senses_alone(name):
    text = pseudowords()
    part = getattr(text.splits, name)
    named = []
    for code, sense in zip(part.codes.tolist(), part.senses.tolist(), strict=True):
        word = text.words[code]
        if sense >= 0:
            word = word.split("/")[sense]
        named.append((code, word))
    original, marks = spelled(name)
    letters = [(code, word) for code, word in named if code == UNKNOWN or re.match(r"[a-z']", word)]
    assert len(part.codes) == len(original) + sum(marks.values())
    known = Counter(word for code, word in letters if code != UNKNOWN)
    assert known == Counter(word for word in original if word in known)


def test_the_language_model_cannot_tell_the_words_of_a_pair_apart():
    text = pseudowords()
    merged = {word for pair in text.pairs for word in pair}
    assert len(merged) == 2 * len(text.pairs) == 24
    assert not merged & set(text.words) and len(set(text.words)) == len(text.words) == 1000
    codes = {text.code(pair) for pair in text.pairs}
    for part in (text.splits.train, text.splits.valid, text.splits.test):
        assert set(part.codes[part.senses >= 0].tolist()) == codes
        assert not set(part.codes[part.senses < 0].tolist()) & codes
        assert part.codes.max() < len(text.words)


def test_a_pair_is_two_words_of_nearly_the_same_frequency_and_none_is_a_name():
    text = pseudowords()
    counts = Counter(spelled("train")[0])
    at = [counts[word] for pair in text.pairs for word in pair]
    assert at == sorted(at, reverse=True) and at[0] <= 550
    assert all(counts[b] > 0.9 * counts[a] for a, b in text.pairs)
    assert not {"antony", "caesar", "enter", "brutus"} & {word for pair in text.pairs for word in pair}


def test_occurrences_stand_in_the_middle_of_their_surroundings():
    text = pseudowords()
    part, code = text.splits.test, text.code(text.pairs[1])
    tokens, senses = occurrences(part, code, around=3)
    assert tokens.shape == (7, len(senses)) and (tokens[3] == code).all()
    places = (part.codes == code).nonzero().squeeze(1)
    assert abs(len(places) - len(senses)) <= 1
    place = next(p for p in places.tolist() if p >= 3)
    assert part.codes[place - 3 : place + 4].tolist() == tokens[:, 0].tolist()
    assert part.senses[place] == senses[0] and set(senses.tolist()) == {0, 1}
    few = occurrences(part, code, around=3, most=5)[1]
    assert few.tolist() == senses[:5].tolist()


# --- Probes and distances ----------------------------------------------------------------------------------


def test_a_probe_is_ridge_regression_with_a_free_bias():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(40, 3, generator=generator, dtype=torch.float64) + 2
    senses = (x[:, 0] > 2).long()
    probe, strength = Probe(x, senses, 0.1), 0.1
    rows = np.vstack([np.c_[x, np.ones(40)], np.c_[np.sqrt(40 * strength) * np.eye(3), np.zeros(3)]])
    wanted = np.linalg.lstsq(rows, np.r_[2.0 * senses.numpy() - 1, np.zeros(3)], rcond=None)[0]
    np.testing.assert_allclose(probe.weights, wanted[:3], rtol=1e-8)
    np.testing.assert_allclose(probe.bias - probe.middle @ probe.weights, wanted[3], rtol=1e-8)
    assert (probe(x) == torch.tensor((np.c_[x, np.ones(40)] @ wanted > 0).astype(int))).all()


@pytest.mark.parametrize("share", [0.4, 0.6])
def test_from_a_constant_vector_a_probe_answers_with_the_commoner_sense(share):
    x, senses = torch.full((100, 5), 0.1), (torch.arange(100) < 100 * share).long()
    probe = best_probe((x, senses), (x, senses))
    assert (probe(x) == int(share > 0.5)).all()
    assert probe.accuracy(x, senses) == pytest.approx(0.6)


def test_the_strength_is_chosen_on_the_second_set():
    """One feature tells the sense a little, nine others tell it by chance in the first set alone."""
    generator = torch.Generator().manual_seed(0)
    senses = torch.arange(12) % 2
    x = torch.randn(12, 10, generator=generator)
    train, valid = (x, senses), (torch.randn(200, 10, generator=generator), torch.arange(200) % 2)
    scores = {s: Probe(*train, s).accuracy(*valid) for s in (1e-4, 1e-1, 10.0)}
    assert len(set(scores.values())) > 1
    assert best_probe(train, valid, list(scores)).accuracy(*valid) == max(scores.values())


def test_distances_are_means_over_pairs_of_different_places():
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    senses = torch.tensor([0, 1, 1, 0, 1, 0])
    found = {True: [], False: []}
    for i in range(6):
        for j in range(i):
            distance = 1 - nn.functional.cosine_similarity(x[i], x[j], dim=0).item()
            found[bool(senses[i] == senses[j])].append(distance)
    same, different = cosine_distances(x, senses)
    assert (same, different) == pytest.approx((np.mean(found[True]), np.mean(found[False])))
    assert cosine_distances(torch.full((6, 4), 0.3), senses) == pytest.approx((0, 0), abs=1e-12)


# --- The sweep ---------------------------------------------------------------------------------------------

COLUMNS = [
    "task", "depth", "steps", "seed", "lr", "split", "parameters", "error", "forward_loss", "backward_loss",
    "baseline", *sweep.VIEWS, "weighted", "weights", "same", "different", "apart", "seconds", "version",
]  # fmt: skip
BY_WORD = [*sweep.VIEWS, "weighted"]
LAYERS = ["weights", "same", "different", "apart"]


@pytest.fixture(scope="module")
def quick_tables(tmp_path_factory):
    """Tuning and test rows of the quick version."""
    folder = tmp_path_factory.mktemp("elmo")
    command = [sys.executable, "-m", "experiments.elmo", "--quick", "--folder", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=600)
    return load(folder / "elmo-tuning.csv"), load(folder / "elmo.csv")


def check_values(rows):
    for row in rows:
        assert list(row) == COLUMNS
        assert row["depth"] == 2 and row["parameters"] == 428_008
        assert row["error"] == pytest.approx((row["forward_loss"] + row["backward_loss"]) / 2, abs=2e-5)
        for name in BY_WORD:
            accuracies = numbers(row[name])
            assert len(accuracies) == 12 and all(0 <= a <= 1 for a in accuracies)
        assert {len(numbers(row[name])) for name in LAYERS} == {3}
        assert sum(numbers(row["weights"])) == pytest.approx(1, abs=1e-3)
        assert max(map(abs, (numbers(row["same"])[0], numbers(row["different"])[0]))) < 1e-12
        assert numbers(row["apart"])[0] == 0


def test_a_quick_sweep_from_end_to_end(quick_tables):
    tuning, rows = quick_tables
    seeds, (block,) = sweep.QUICK_SEEDS, sweep.quick()
    check_values([*tuning, *rows])
    assert Counter((row["steps"], row["seed"]) for row in rows) == Counter(
        product([arm["steps"] for arm in block.arms], seeds.test)
    )
    assert {(row["steps"], row["seed"], row["lr"]) for row in tuning} == set(
        product([block.arms[0]["steps"]], seeds.tuning, seeds.rates)
    )
    rates = best_rates(tuning, sweep.TUNED_AS)
    assert all(row["lr"] == rates[key(row, sweep.TUNED_AS)] for row in rows)
    assert {row["split"] for row in rows} == {"test"} and {row["split"] for row in tuning} == {"valid"}


def test_an_untrained_model_has_taken_no_step(quick_tables):
    rows = {row["steps"]: row for row in quick_tables[1]}
    assert rows[0]["seconds"] == 0 < rows[4]["seconds"]
    assert rows[0]["error"] > rows[4]["error"]
    assert rows[0]["token"] == rows[4]["token"]


def test_committed_results_are_the_whole_grid_at_the_best_rate_of_the_tuning_seed():
    rows, tuning = load(HERE / "elmo.csv"), load(HERE / "elmo-tuning.csv")
    seeds, arms = sweep.SEEDS, {tuple(arm.values()) for block in sweep.blocks() for arm in block.arms}
    check_values([*tuning, *rows])
    found = [(row["task"], row["depth"], row["steps"], row["seed"]) for row in rows]
    assert sorted(found) == sorted((*arm, seed) for arm in arms for seed in seeds.test)
    assert {arm[2] for arm in arms} == {0, 500} and {row["steps"] for row in tuning} == {500}
    assert sorted(row["lr"] for row in tuning) == sorted(seeds.rates)
    rates = best_rates(tuning, sweep.TUNED_AS)
    assert all(row["lr"] == rates[key(row, sweep.TUNED_AS)] for row in rows)
    assert not set(seeds.tuning) & set(seeds.test) and len(seeds.test) >= 5
    assert len({row["version"] for row in rows + tuning}) == 1


def test_the_static_probe_of_the_committed_runs_is_the_commoner_sense_in_training():
    text = pseudowords()
    expected = []
    for pair in text.pairs:
        train, test = (
            occurrences(part, text.code(pair), sweep.AROUND)[1]
            for part in (text.splits.train, text.splits.test)
        )
        said = int(train.double().mean() > 0.5)
        expected.append((test == said).double().mean().item())
    for row in load(HERE / "elmo.csv"):
        assert numbers(row["token"]) == pytest.approx(expected, abs=1e-3)
