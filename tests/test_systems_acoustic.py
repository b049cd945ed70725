"""The acoustic model in miniature, and its sweep."""

import math
from collections import Counter
from itertools import groupby, product

import pytest
import torch
from torch import nn
from torch.nn import functional

import rnnlib.systems.acoustic as module
from experiments import acoustic as sweep
from experiments.fitting import numbers
from experiments.grid import HERE, best_rates, key, to_score, to_tune
from rnnlib import StackSpec, data
from rnnlib.measure import parameters
from rnnlib.runs import load
from rnnlib.systems.acoustic import (
    BLANK,
    SILENCE,
    AcousticModel,
    Recordings,
    batches,
    best_path,
    deepen,
    fit,
    frame_error,
    frame_loss,
    label_loss,
    recordings,
    standardised,
)
from rnnlib.training import Record

VOWELS = data.japanese_vowels()


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def made(scores, speakers=None, labels=None):
    """Recordings of which only what a loss looks at is there."""
    labels = torch.tensor([[1]] if labels is None else labels)
    speakers = torch.tensor([[0]] if speakers is None else speakers)
    return Recordings(scores, speakers, labels, (labels != BLANK).sum(1))


# --- Data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_a_recording_is_utterances_of_one_part_in_order_and_silence(split):
    part = getattr(VOWELS, split)
    some = recordings(part, 40, generator())
    known = {
        (int(y) + 1, *x[:length].flatten().tolist())
        for x, length, y in zip(part.x, part.lengths, part.y, strict=True)
    }
    whole = 0
    for n in range(40):
        speakers = some.speakers[:, n].tolist()
        assert not some.x[some.speakers[:, n] == SILENCE, n].any()
        runs, start = [], 0
        for speaker, frames in groupby(speakers):
            stop = start + len(list(frames))
            if speaker != SILENCE:
                runs.append((speaker + 1, *some.x[start:stop, n].flatten().tolist()))
            start = stop
        labels = some.labels[n][: some.label_lengths[n]].tolist()
        assert 3 <= len(labels) <= 5 and not some.labels[n][len(labels) :].any()
        if [run[0] for run in runs] == labels:  # else two utterances of one speaker touch
            whole += 1
            assert all(run in known for run in runs)
    assert whole >= 30


def test_no_utterance_is_in_two_parts():
    first = {tuple(x.flatten().tolist()) for x in VOWELS.train.x}
    for part in (VOWELS.valid, VOWELS.test):
        assert not first & {tuple(x.flatten().tolist()) for x in part.x}


def test_utterances_that_do_not_fit_are_left_out():
    some = recordings(VOWELS.train, 50, generator(), least=1, most=5, frames=29)
    spoken = (some.speakers != SILENCE).sum(0)
    assert spoken.max() <= 29 and some.label_lengths.min() == 1 < some.label_lengths.max() <= 4
    assert [len(row[row != BLANK]) for row in some.labels] == some.label_lengths.tolist()


def test_noise_has_the_deviation_asked_for_and_the_rest_stays():
    quiet, loud = (recordings(VOWELS.train, 50, generator(), noise) for noise in (0.0, 2.0))
    assert all(torch.equal(a, b) for a, b in zip(quiet[1:], loud[1:], strict=True))
    assert (loud.x - quiet.x).std().item() == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count=0: expected a positive integer"),
        ({"least": 0}, "least=0: expected a positive integer"),
        ({"least": 4, "most": 3}, "most=3: expected an integer >= 4"),
        ({"noise": -1.0}, r"noise=-1.0: expected a deviation of at least 0"),
        ({"noise": math.nan}, "noise=nan: expected"),
        ({"frames": 80}, "frames=80: expected an integer >= "),
    ],
)
def test_recordings_that_cannot_be_made_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        recordings(VOWELS.test, **{"count": 2, "generator": generator(), **arguments})


def test_all_parts_are_scaled_by_the_training_part():
    scaled = standardised(VOWELS)
    length = int(VOWELS.test.lengths[0])
    frames = torch.cat([x[:n] for x, n in zip(VOWELS.train.x, VOWELS.train.lengths, strict=True)])
    expected = (VOWELS.test.x[0, :length] - frames.mean(0)) / frames.std(0)
    torch.testing.assert_close(scaled.test.x[0, :length], expected)
    assert not scaled.test.x[0, length:].any()


def test_batches_depend_on_the_seed_alone():
    one, same, other = (next(batches(VOWELS.train, 4, seed, 1.0))[0] for seed in (0, 0, 1))
    assert torch.equal(one, same) and not torch.equal(one, other)


# --- Model ------------------------------------------------------------------------------------------------


def test_scores_are_those_of_directions_run_one_by_one():
    torch.manual_seed(0)
    model = AcousticModel(4, 3, 2, outputs=5)
    x = torch.randn(7, 2, 4)
    hidden = x
    for layer in range(2):
        sides = []
        for suffix, there in (("", lambda h: h), ("_reverse", lambda h: h.flip(0))):
            lstm = nn.LSTM(hidden.shape[2], 3)
            names = [name for name, _ in lstm.named_parameters()]
            own = model.stack.state_dict()
            lstm.load_state_dict({n: own[n.replace("l0", f"l{layer}{suffix}")] for n in names})
            sides.append(there(lstm(there(hidden))[0]))
        hidden = torch.cat(sides, 2)
    torch.testing.assert_close(model(x), hidden @ model.output.weight.T + model.output.bias)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_only_two_directions_hear_what_comes_later(bidirectional):
    torch.manual_seed(0)
    model = AcousticModel(4, 3, 2, outputs=5, bidirectional=bidirectional)
    x = torch.randn(7, 2, 4)
    later = torch.cat([x[:4], torch.randn(3, 2, 4)])
    assert torch.equal(model(x)[:4], model(later)[:4]) != bidirectional


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_deeper_model_keeps_its_layers_and_starts_a_fresh_one(bidirectional):
    torch.manual_seed(0)
    model = AcousticModel(4, 3, 2, outputs=5, bidirectional=bidirectional)
    before = {name: value.clone() for name, value in model.stack.state_dict().items()}
    deeper = deepen(model)
    after = deeper.stack.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())
    new = set(after) - set(before)
    assert {name.removesuffix("_reverse")[-3:] for name in new} == {"_l2"}
    assert not torch.equal(after["weight_hh_l2"], before["weight_hh_l1"])
    assert (deeper.stack.bias_ih_l2 + deeper.stack.bias_hh_l2)[3:6].tolist() == [1.0] * 3
    assert not torch.equal(deeper.output.weight, model.output.weight)
    assert parameters(deeper.stack) == StackSpec.of(deeper.stack).parameters()
    with torch.no_grad():
        deeper.stack.weight_hh_l0.zero_()
    assert torch.equal(model.stack.weight_hh_l0, before["weight_hh_l0"])


# --- Training ---------------------------------------------------------------------------------------------


def small(depth=1):
    torch.manual_seed(0)
    return AcousticModel(12, 3, depth, outputs=9)


def test_grown_and_plain_take_the_same_steps_and_see_the_same_batches():
    seen = []

    def watched(source):
        for x, y in source:
            seen[-1].append(x)
            yield x, y

    for start in (1, 3):
        seen.append([])
        training = watched(batches(VOWELS.train, 2, 0, 1.0))
        model, losses = fit(small(start), 3, training, frame_loss, 0.01, 7, 2)
        assert model.stack.num_layers == 3 and len(losses) == 7
    assert len(seen[0]) == len(seen[1]) == 7
    assert all(torch.equal(a, b) for a, b in zip(*seen, strict=True))


def test_the_rate_at_a_step_is_the_same_however_a_model_grows(monkeypatch):
    rates, depths = [], []

    def steps_only(model, batches, loss, optimizer, steps, clip):
        for _ in range(steps):
            rates.append(optimizer.param_groups[0]["lr"])
            depths.append(model.stack.num_layers)
            optimizer.step()
        return Record([0.0] * steps, steps, False, 0.0)

    monkeypatch.setattr(module, "train", steps_only)
    fit(small(1), 3, [], frame_loss, 0.1, 8, 2)
    assert depths == [1, 1, 2, 2, 3, 3, 3, 3]
    expected = [0.1 * (1 + math.cos(math.pi * step / 8)) / 2 for step in range(8)]
    assert rates == pytest.approx(expected)
    rates.clear()
    fit(small(3), 3, [], frame_loss, 0.1, 8, 2)
    assert rates == pytest.approx(expected)


def test_what_was_learned_is_kept_on_the_way():
    model = small()
    first = model.stack.weight_hh_l0.detach().clone()
    deeper, _ = fit(model, 2, batches(VOWELS.train, 2, 0, 1.0), frame_loss, 0.1, 5, 4)
    learned = model.stack.weight_hh_l0  # of the shallow model, after its own steps
    assert not torch.equal(learned, first)
    change = (deeper.stack.weight_hh_l0 - learned).norm()
    assert 0 < change < (learned - first).norm()


def test_a_loss_that_is_no_number_ends_the_growth():
    model, losses = fit(
        small(), 3, batches(VOWELS.train, 2, 0, 1.0), lambda s, r: frame_loss(s, r) * math.nan, 0.1, 9, 2
    )
    assert len(losses) == 1 and model.stack.num_layers == 1


@pytest.mark.parametrize(
    ("depth", "steps", "per_layer", "message"),
    [
        (1, 9, 2, "depth=1: expected at least the 2 layers"),
        (4, 4, 2, "steps=4: expected an integer >= 5"),
        (3, 9, 0, "per_layer=0: expected a positive integer"),
        (2, 0, 1, "steps=0: expected a positive integer"),
    ],
)
def test_growth_that_cannot_be_is_refused(depth, steps, per_layer, message):
    with pytest.raises(ValueError, match=message):
        fit(small(2), depth, batches(VOWELS.train, 2, 0, 1.0), frame_loss, 0.1, steps, per_layer)


# --- Losses and errors ------------------------------------------------------------------------------------


def test_silence_does_not_count():
    scores = torch.randn(3, 2, 4, generator=generator())
    speakers = [[1, SILENCE], [SILENCE, 3], [0, 2]]
    own = [(0, 0, 1), (1, 1, 3), (2, 0, 0), (2, 1, 2)]
    expected = -sum(scores[t, n].log_softmax(0)[k] for t, n, k in own) / 4
    torch.testing.assert_close(frame_loss(scores, made(scores, speakers)), expected)

    class Said(nn.Module):
        def forward(self, x):
            return functional.one_hot(torch.tensor([[1, 0], [0, 0], [0, 2]]), 4)

    assert frame_error(Said(), made(scores, speakers)) == 0.25


def collapsed(path):
    return [label for label, _ in groupby(path) if label != BLANK]


@pytest.mark.parametrize("labels", [[1], [1, 2], [2, 2], [1, 2, 1]])
def test_ctc_sums_over_every_path(labels):
    frames, outputs = 5, 3
    scores = torch.randn(frames, 1, outputs, dtype=torch.float64, generator=generator())
    p = scores[:, 0].softmax(-1)
    paths = [path for path in product(range(outputs), repeat=frames) if collapsed(path) == labels]
    total = sum(math.prod(p[t, k].item() for t, k in enumerate(path)) for path in paths)
    loss = label_loss(scores, made(scores, labels=[labels])).item()
    assert loss == pytest.approx(-math.log(total) / len(labels), rel=1e-9)


def test_ctc_divides_each_loss_by_its_labels_and_ignores_what_follows_them():
    scores = torch.randn(6, 2, 4, dtype=torch.float64, generator=generator())
    both = label_loss(scores, made(scores, labels=[[1, 2, 3], [2, 0, 0]])).item()
    single = [
        label_loss(scores[:, n : n + 1], made(scores, labels=[labels])).item()
        for n, labels in enumerate(([1, 2, 3], [2]))
    ]
    assert both == pytest.approx(sum(single) / 2)


@pytest.mark.parametrize(
    ("labels", "least"), [([1, 2, 3], 3), ([1, 1], 3), ([1, 1, 1], 5), ([1, 1, 2, 2], 6)]
)
def test_repeated_labels_need_a_blank_between(labels, least):
    finite = [
        math.isfinite(label_loss(torch.zeros(frames, 1, 4), made(None, labels=[labels])).item())
        for frames in range(1, 8)
    ]
    assert finite == [frames >= least for frames in range(1, 8)]


@pytest.mark.parametrize(
    ("path", "labels"),
    [
        ([0, 0, 0], []),
        ([1, 1, 1], [1]),
        ([1, 0, 1], [1, 1]),
        ([2, 2, 0, 2, 1, 1, 0], [2, 2, 1]),
        ([3, 1, 3], [3, 1, 3]),
    ],
)
def test_the_best_path_is_merged_before_blanks_are_dropped(path, labels):
    scores = functional.one_hot(torch.tensor(path), 4).unsqueeze(1).float()
    other = functional.one_hot(torch.tensor([2] * len(path)), 4).unsqueeze(1).float()
    assert best_path(torch.cat([scores, other], 1)) == [labels, [2]]


def test_scores_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"scores of shape \(3, 4\): expected \(T, N, K\)"):
        best_path(torch.zeros(3, 4))


# --- The sweep --------------------------------------------------------------------------------------------

SETTING = ["task", "cell", "depth", "variant", "directions", "steps"]
COLUMNS = [*SETTING, "seed", "lr", "split", "width", "parameters", "error", "baseline", "failed", "diverged",
           "losses", "by_position", "seconds", "version"]  # fmt: skip


def test_positions_start_anew_with_every_speaker():
    speakers = torch.tensor([[SILENCE, 5], [5, 5], [5, 2], [SILENCE, 2], [5, 2]])
    assert sweep.positions(speakers).T.tolist() == [[0, 1, 2, 0, 1], [1, 2, 1, 2, 3]]


def test_the_error_by_position_adds_up_to_the_error():
    model, some = small(2), sweep.held_out("valid")
    places = sweep.positions(some.speakers)
    wrong = sweep.by_position(model, some)
    assert len(wrong) == sweep.POSITIONS
    early = (places > 0) & (places <= sweep.POSITIONS)
    counts = [int((places == k).sum()) for k in range(1, sweep.POSITIONS + 1)]
    masked = some._replace(speakers=torch.where(early, some.speakers, SILENCE))
    assert frame_error(model, masked) == pytest.approx(
        sum(w * n for w, n in zip(wrong, counts, strict=True)) / sum(counts)
    )


@pytest.mark.parametrize("split", ["valid", "test"])
def test_baselines_are_those_of_one_speaker(split):
    some = sweep.held_out(split)
    named = some.speakers[some.speakers != SILENCE]
    frames = [(named != speaker).double().mean().item() for speaker in range(sweep.SPEAKERS)]
    assert sweep.baseline("frames", split) == pytest.approx(min(frames))

    class Says(nn.Module):
        def __init__(self, label, times):
            super().__init__()
            self.path = torch.tensor([label, BLANK] * times + [BLANK])

        def forward(self, x):
            return functional.one_hot(self.path, sweep.SPEAKERS + 1).unsqueeze(1).expand(-1, x.shape[1], -1)

    said = product(range(1, sweep.SPEAKERS + 1), range(1, 5))
    labels = [sweep.label_error(Says(*one), some) for one in said]
    assert sweep.baseline("labels", split) == pytest.approx(min(labels))


@pytest.mark.parametrize("depth", [1, 3])
def test_one_direction_is_as_large_as_two(depth):
    two, one = (
        AcousticModel(12, sweep.width_of(depth, directions, 9), depth, 9, directions == 2)
        for directions in (2, 1)
    )
    assert abs(parameters(one) / parameters(two) - 1) < 0.03


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("acoustic")
    sweep.main(["--quick", "--folder", str(folder), "--processes", "1"])
    return load(folder / "acoustic-tuning.csv"), load(folder / "acoustic.csv")


def runs(table):
    return Counter((key(row, SETTING), row["lr"], row["seed"]) for row in table)


def expected(blocks, seeds, tuning):
    """The tuning runs and the test runs that these blocks ask for, every block at rates of its own tuning."""
    tuned, scored = Counter(), Counter()
    for block in blocks:
        wanted = runs(to_tune(block, seeds))
        tuned |= wanted
        own = [row for row in tuning if runs([row]) <= wanted]
        scored |= runs(to_score(block, seeds, best_rates(own, block.tuned_as)))
    return tuned, scored


def test_a_quick_sweep_from_end_to_end(quick):
    tuning, rows = quick
    assert (runs(tuning), runs(rows)) == expected(sweep.quick(), sweep.QUICK_SEEDS, tuning)
    for row in tuning + rows:
        assert list(row) == COLUMNS
        assert row["error"] > 0 and row["diverged"] == 0
        assert row["failed"] == (row["error"] > 0.9 * row["baseline"])
        assert len(numbers(row["losses"])) == 4  # a step each
        assert len(numbers(row["by_position"])) == (sweep.POSITIONS if row["task"] == "frames" else 0)
        assert row["split"] == ("test" if row in rows else "valid")


def test_only_a_grown_net_starts_as_a_shallow_one(quick):
    first = {
        (row["depth"], row["variant"]): numbers(row["losses"])[0]
        for row in quick[1]
        if (row["task"], row["directions"]) == ("frames", 2)
    }
    assert first[2, "grown"] == first[1, "plain"] != first[2, "plain"]


def test_a_run_repeats_exactly(quick):
    row = quick[1][0]
    again = sweep.run(**{name: row[name] for name in (*SETTING, "seed", "lr", "split")})
    assert {n: again[n] for n in ("error", "losses")} == {n: row[n] for n in ("error", "losses")}


def test_committed_results_are_the_whole_grid():
    tuning, rows = load(HERE / "acoustic-tuning.csv"), load(HERE / "acoustic.csv")
    assert (runs(tuning), runs(rows)) == expected(sweep.blocks(), sweep.SEEDS, tuning)
    assert not set(sweep.SEEDS.tuning) & set(sweep.SEEDS.test)
    assert len({row["version"] for row in rows + tuning}) == 1
    assert all(list(row) == COLUMNS for row in rows + tuning)


def test_the_grid_pairs_every_depth_with_and_without_growth():
    arms = [arm for block in sweep.blocks() for arm in block.arms if arm["task"] == "frames"]
    both = {(arm["depth"], arm["variant"]) for arm in arms if arm["directions"] == 2}
    assert both == {(1, "plain"), *product((2, 3, 4, 6), ("plain", "grown"))}
    assert {arm["steps"] for arm in arms} == {sweep.STEPS["frames"]}
    written = [arm for block in sweep.blocks() for arm in block.arms if arm["task"] == "labels"]
    assert {(arm["depth"], arm["variant"]) for arm in written} == {(1, "plain"), (3, "plain"), (3, "grown")}


def test_six_layers_are_scored_with_and_without_growth_at_both_rates():
    rows = [row for row in load(HERE / "acoustic.csv") if (row["task"], row["depth"]) == ("frames", 6)]
    found = {(row["variant"], row["lr"]) for row in rows}
    assert found == set(product(("plain", "grown"), {lr for _, lr in found})) and len(rows) == 5 * len(found)
