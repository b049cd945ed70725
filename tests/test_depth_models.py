"""`experiments`: the networks, their budgets, the problems they are given and what is watched in them."""

import doctest
import importlib
import math

import pytest
import torch
from torch import nn

from experiments import fitting, models, watch
from experiments.fitting import fit, numbers, several
from experiments.problems import edit_distance, problem, shuffled
from experiments.width import DEPTHS, TASKS
from experiments.width import VARIANTS as SHAPES
from rnnlib.measure import parameters
from rnnlib.tasks import lookup_tables
from rnnlib.training import IGNORED, cross_entropy, train

PHONES = "letters to phones"


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize(
    "name", ["fitting", "grid", "limits", "models", "problems", "recall", "watch", "width"]
)
def test_examples_in_docstrings(name):
    results = doctest.testmod(importlib.import_module(f"experiments.{name}"))
    assert results.failed == 0


# --- Networks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", models.VARIANTS)
@pytest.mark.parametrize("task", TASKS)
def test_every_network_takes_the_batches_of_its_problem(task, variant):
    given = problem(task)
    model = given.build("lstm", 8, 2, variant)
    for batch in (next(given.training(0)), *given.held_out("valid")[:1]):
        x, y = batch
        assert model(x).shape[:-1] == y.shape
        assert cross_entropy(model(x), y).isfinite()
    assert len(list(watch.layers(model))) == 2 * len(model.stacks)


def test_the_forget_bias_is_one_in_every_stack():
    model = problem(PHONES).build("lstm", 4, 2, "residual")
    for stack in model.stacks:
        for layer in range(2):
            bias = getattr(stack, f"bias_ih_l{layer}") + getattr(stack, f"bias_hh_l{layer}")
            assert bias[4:8].tolist() == [1] * 4


@pytest.mark.parametrize("variant", SHAPES)
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("task", TASKS)
def test_every_shape_has_the_parameters_of_its_budget(task, depth, variant):
    given = problem(task)
    width = models.matched_to(given.budget, lambda w: given.build("lstm", w, depth, variant))
    count = parameters(given.build("lstm", width, depth, variant))
    assert abs(count - given.budget) / given.budget < 0.01


def test_a_budget_that_no_width_meets_raises():
    with pytest.raises(
        ValueError, match=r"^budget=1000: the nearest width \d+ has \d+ parameters, .*less than"
    ):
        models.matched_to(1000, lambda w: models.Classifier("lstm", w, 6, "plain", 1, 10))


def test_a_transducer_says_what_its_scores_say():
    """Decoding step by step chooses what the whole forward pass ranks first, given what it has said."""
    model = models.Transducer("lstm", 16, 2, "residual + output norm", 27, 40)
    letters, _ = next(problem(PHONES).training(0))[0]
    said = model.decode(letters, 6)
    so_far = torch.cat([torch.zeros_like(said[:1]), said[:-1]])
    best = model((letters, so_far)).argmax(-1)
    still = (so_far[1:] > 0).cumprod(0) > 0
    assert best[0].equal(said[0]) and best[1:][still].equal(said[1:][still])


def test_after_its_end_a_transducer_is_silent():
    model = models.Transducer("lstm", 4, 1, "plain", 5, 3)
    script = iter([1, 0, 2])
    model.output.forward = lambda h: nn.functional.one_hot(torch.full(h.shape[:2], next(script)), 3)
    assert model.decode(torch.ones(2, 1, dtype=torch.int64), 3).flatten().tolist() == [1, 0, 0]


# --- Problems ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_batches_depend_on_the_seed_alone(task):
    given = problem(task)
    first, again, other = (next(given.training(seed)) for seed in (0, 0, 1))
    assert first[1].equal(again[1]) and not first[1].equal(other[1])
    assert cross_entropy(torch.zeros(*first[1].shape, 80), first[1]) == pytest.approx(math.log(80))


@pytest.mark.parametrize("task", TASKS)
def test_valid_and_test_are_not_the_same(task):
    given = problem(task)
    valid, test = given.held_out("valid"), given.held_out("test")
    assert not valid[0][1].equal(test[0][1])
    assert valid[0][1].equal(given.held_out("valid")[0][1])


def test_the_phones_to_say_are_those_of_the_word_and_then_nothing():
    given = problem(PHONES)
    words = given.data.splits.valid
    (_, so_far), y = given.held_out("valid")[0]
    for n in (0, 17, 200):
        phones = [phone for phone in words.phones[n].tolist() if phone]
        length = len(phones)
        assert y[:, n].tolist() == [*phones, 0] + [IGNORED] * (len(y) - length - 1)
        assert so_far[: length + 1, n].tolist() == [0, *phones]


def test_characters_are_to_be_followed_by_the_next():
    given = problem("characters")
    x, y = next(given.training(0))
    assert x[1:].equal(y[:-1])
    text = given.data.decode(torch.cat([x[:1, 0], y[:, 0]]))
    assert text in given.data.decode(given.data.splits.train)


def test_pixels_come_row_by_row():
    given = problem("digits")
    x, y = given.held_out("valid")[0]
    assert x[:, 3, 0].equal(given.data.valid.x[3]) and y[3] == given.data.valid.y[3]


def test_a_speaker_is_read_off_the_last_frame_of_an_utterance_not_off_its_padding():
    given = problem("speakers")
    model = given.build("lstm", 8, 2, "residual + output norm")
    part = given.data.valid
    ((x, y),) = given.held_out("valid")
    alone = [model(frames[:length].unsqueeze(1)) for frames, length in zip(part.x, part.lengths, strict=True)]
    assert part.lengths.unique().numel() > 5 and y.equal(part.y)
    torch.testing.assert_close(model(x), torch.cat(alone))


def test_fewer_examples_are_a_part_of_all_and_repeat():
    given = problem(PHONES)
    batches = given.training(3, examples=50)
    words = {tuple(word) for _ in range(20) for word in next(batches)[0][0].T.tolist()}
    assert len(words) == 50
    train = {tuple(word) for word in given.data.splits.train.letters.tolist()}
    assert words <= train


def test_every_example_comes_once_before_any_comes_again():
    places = shuffled(10, 4, seed=0)
    drawn = torch.cat([next(places) for _ in range(5)])
    assert sorted(drawn[:10].tolist()) == sorted(drawn[10:].tolist()) == list(range(10))
    assert drawn[:10].tolist() != drawn[10:].tolist()


@pytest.mark.parametrize(
    ("one", "other", "edits"), [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("abc", "bcd", 2)]
)
def test_edit_distance(one, other, edits):
    assert edit_distance([*map(ord, one)], [*map(ord, other)]) == edits
    assert edit_distance([*map(ord, other)], [*map(ord, one)]) == edits


class Says(nn.Module):
    """A transducer that says the same of every word."""

    def __init__(self, *phones):
        super().__init__()
        self.phones = torch.tensor(phones)

    def decode(self, source, steps):
        said = nn.functional.pad(self.phones, (0, steps - len(self.phones)))
        return said[:, None].expand(steps, source.shape[1])


def test_the_baseline_of_the_phones_is_what_saying_one_phone_costs():
    given = problem(PHONES)
    test = given.held_out("test")
    commonest = given.data.phones.index("AH")
    assert given.error(Says(commonest), test) == pytest.approx(given.baseline)
    assert given.error(Says(), test) == 1


def test_baselines_of_the_other_tasks():
    assert problem("composition").baseline == 0.8
    assert 0.85 < problem("digits").baseline < 0.95
    assert problem("speakers").baseline == pytest.approx(1 - 88 / 370)
    characters = problem("characters")
    frequencies = nn.Module()
    frequencies.forward = lambda x: characters.data.splits.train.bincount().log().expand(*x.shape, -1)
    frequencies.error = characters.error(frequencies, characters.held_out("test"))
    assert frequencies.error == pytest.approx(characters.baseline, abs=1e-2)


def test_the_symbol_last_is_the_same_chain_from_its_end():
    """A result that is looked up by hand, table by table, in the order in which the tables apply."""
    given = problem("composition, symbol last")
    table = lookup_tables(given.symbols, given.tables)
    batches = [next(given.training(0)), *given.held_out("valid")[:1], *given.held_out("test")[:1]]
    assert not batches[1][0].equal(batches[2][0])
    for x, y in batches:
        *applied, symbol = x.argmax(-1)
        for step in reversed(applied):
            symbol = table[step - given.symbols, symbol]
        assert symbol.equal(y)


# --- What is watched --------------------------------------------------------------------------------------


def test_gradient_norms_are_those_of_the_layers_and_leave_no_trace():
    given = problem("characters")
    model = given.build("lstm", 8, 3, "residual + output norm")
    batch = next(given.training(0))
    norms = watch.gradient_norms(model, batch)
    assert all(p.grad is None for p in model.parameters())
    cross_entropy(model(batch[0]), batch[1]).backward()
    for layer, norm in enumerate(norms):
        squares = [
            p.grad.square().sum() for name, p in model.stack.named_parameters() if name.endswith(f"_l{layer}")
        ]
        assert len(squares) == 6
        assert norm == pytest.approx(math.sqrt(sum(squares)), rel=1e-4)


def test_layers_beyond_the_ninth_are_told_apart():
    model = problem("composition").build("lstm", 2, 12, "plain")
    assert [len(layer) for layer in watch.layers(model)] == [4] * 12


def test_how_far_weights_have_moved():
    model = problem("composition").build("lstm", 4, 2, "plain")
    then = watch.Weights(model)
    assert then.moved() == [0, 0]
    with torch.no_grad():
        for name, p in model.stack.named_parameters():
            if name.endswith("_l1"):
                p *= 1.5
    assert then.moved() == pytest.approx([0, 0.5])


def test_the_best_weights_come_back_and_nan_never_wins():
    given = problem("composition")
    model = given.build("lstm", 4, 1, "plain")
    best = watch.Best(model, given.held_out("valid")[:1])
    kept = model.output.bias.clone()
    for value in (5.0, float("nan")):
        with torch.no_grad():
            model.output.bias[0] = value
        best.look()
    best.restore()
    assert model.output.bias.equal(kept)


# --- A run ------------------------------------------------------------------------------------------------


def short(task="composition", seed=0, lr=1e-2, steps=4, split="valid", **options):
    given = problem(task)
    return fit(given, lambda: given.build("lstm", 8, 2, "plain"), seed, lr, steps, split, **options)


def test_a_run_is_reproducible_under_its_seed():
    first = short()
    torch.rand(3)
    again, other = short(), short(seed=1)
    for row in (first, again, other):
        row.pop("seconds")
    assert first == again != other


def test_a_run_reports_the_split_asked_for():
    assert short(PHONES)["error"] != short(PHONES, split="test")["error"]


def test_a_network_that_learns_has_not_failed():
    given = problem("digits")
    row = fit(given, lambda: given.build("lstm", 16, 1, "output norm"), 0, 1e-2, 150, "valid")
    assert row["error"] < 0.7 and row["failed"] == 0
    assert short("digits", lr=1e-5)["failed"] == 1


def test_a_run_that_diverges_is_scored_by_its_best_weights():
    row = short("digits", lr=1e39, steps=10, clip=None)
    assert row["diverged"] == 1 and row["failed"] == 1 and row["error"] <= 1


def test_clipping_reaches_the_training_loop():
    assert short(clip=None)["moved"] != short(clip=1e-9)["moved"]


def test_the_learning_rate_falls_to_nothing(monkeypatch):
    rates = []

    def watched(model, batches, loss, optimizer, steps, **options):
        optimizer.register_step_pre_hook(lambda *_: rates.append(optimizer.param_groups[0]["lr"]))
        return train(model, batches, loss, optimizer, steps, **options)

    monkeypatch.setattr(fitting, "train", watched)
    short(steps=4, lr=1e-2)
    assert rates == pytest.approx([1e-2 * (1 + math.cos(math.pi * step / 4)) / 2 for step in range(4)])


def test_several_numbers_in_a_field():
    assert numbers(several([1e-5, 2, 0.12345])) == [1e-5, 2, 0.1235]
    assert several([]) == "" and numbers(several([0.5])) == [0.5]
