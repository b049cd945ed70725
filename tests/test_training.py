"""`rnnlib.training`: what happens in a step, when a run ends, and that a seed decides everything."""

import itertools

import pytest
import torch
from torch import nn

from rnnlib.tasks import delayed_recall
from rnnlib.training import IGNORED, accuracy, cross_entropy, mean_loss, train

X, Y = torch.linspace(-1, 1, 8).unsqueeze(1), torch.zeros(8, 1)


class Scale(nn.Module):
    """x times one weight, which is 0 at first."""

    def __init__(self, size=4):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))

    def forward(self, x):
        return (self.weight * x).sum()


def sgd(model, lr=1.0):
    return torch.optim.SGD(model.parameters(), lr)


def product(output, y):
    """A loss whose gradient is the input times y."""
    return output * y


# --- Clipping ---------------------------------------------------------------------------------------------

TEN = torch.tensor([6.0, 0.0, 8.0, 0.0])  # a gradient of norm 10


@pytest.mark.parametrize(("clip", "moved"), [(None, 10), (1.0, 1), (4, 4), (20.0, 10)])
def test_the_gradient_is_clipped_before_the_step(clip, moved):
    model = Scale()
    train(model, [(TEN, 1.0)], product, sgd(model), steps=1, clip=clip)
    assert model.weight.norm().item() == pytest.approx(moved, rel=1e-5)
    assert torch.allclose(model.weight / moved, -TEN / 10, atol=1e-5)


def test_the_norm_is_that_of_all_parameters_together():
    model = nn.ModuleList([Scale(), Scale()])
    model.forward = lambda x: model[0](x) + model[1](x)
    train(model, [(TEN, 1.0)], product, sgd(model), steps=1, clip=1.0)
    moved = torch.cat([scale.weight for scale in model]).norm()
    assert moved.item() == pytest.approx(1, rel=1e-5)


# --- Steps and batches ------------------------------------------------------------------------------------


def test_gradients_do_not_accumulate():
    model = Scale()
    train(model, [(TEN, 1.0)], product, sgd(model), steps=3)
    assert torch.allclose(model.weight, -3 * TEN)


def test_one_batch_a_step_in_order_and_none_too_many():
    seen = []

    def batches():
        for k in itertools.count():
            seen.append(k)
            yield torch.full((4,), float(k)), 1.0

    model = Scale()
    record = train(model, batches(), product, sgd(model), steps=4)
    assert seen == [0, 1, 2, 3]
    assert model.weight.tolist() == [-6.0] * 4
    assert (record.steps, record.stopped, len(record.losses)) == (4, False, 4)
    assert record.losses[:3] == [0, 0, -8]  # each before its step: 0, then 0, then -1 · 2, four times
    assert record.seconds > 0


def test_a_collection_of_batches_starts_again():
    model = Scale()
    ones = torch.ones(4)
    train(model, [(ones, 1.0), (10 * ones, 1.0)], product, sgd(model), steps=5)
    assert model.weight.tolist() == [-23.0] * 4


@pytest.mark.parametrize("batches", [[], iter([(TEN, 1.0)])])
def test_batches_that_run_out_raise(batches):
    model = Scale()
    with pytest.raises(ValueError, match=r"^batches=.*: expected one for every step"):
        train(model, batches, product, sgd(model), steps=2)


def test_every_step_is_taken_in_training_mode():
    modes = []
    model = Scale()
    model.register_forward_pre_hook(lambda module, _: modes.append(module.training))
    model.eval()
    train(
        model, [(TEN, 1.0)], product, sgd(model), steps=2, every=1, stop=lambda step: model.eval() and False
    )
    assert modes == [True, True]


@pytest.mark.parametrize("name", ["steps", "every", "clip"])
def test_bad_arguments_are_named(name):
    model = Scale()
    options = {"steps": 1, name: 0}
    with pytest.raises(ValueError, match=f"^{name}=0: expected a positive"):
        train(model, [(TEN, 1.0)], product, sgd(model), **options)


# --- The end ----------------------------------------------------------------------------------------------


def test_stop_ends_the_run():
    model, asked = Scale(), []

    def stop(step):
        asked.append(step)
        return step >= 6

    record = train(model, [(TEN, 1.0)], product, sgd(model), steps=100, stop=stop, every=3)
    assert asked == [3, 6]
    assert (record.steps, record.stopped, len(record.losses)) == (6, True, 6)
    assert torch.allclose(model.weight, -6 * TEN)


def test_stop_is_asked_after_the_last_step_too():
    model, asked = Scale(), []
    record = train(model, [(TEN, 1.0)], product, sgd(model), steps=5, stop=asked.append, every=3)
    assert asked == [3, 5] and not record.stopped


def test_stop_sees_the_gradients_of_its_step():
    model, norms = Scale(), []
    train(model, [(TEN, 1.0)], product, sgd(model), steps=1, clip=2.0, every=1,
          stop=lambda step: norms.append(model.weight.grad.norm().item()))  # fmt: skip
    assert norms == pytest.approx([2])


def test_a_run_that_diverges_ends_before_the_step():
    model = Scale()
    targets = iter([1.0, float("nan"), 1.0])
    record = train(model, ((TEN, y) for y in targets), product, sgd(model), steps=3)
    assert record.steps == 1 and len(record.losses) == 2 and record.losses[1] != record.losses[1]
    assert torch.allclose(model.weight, -TEN)


def test_no_progress_bar_unless_asked_for(capfd):
    model = Scale()
    train(model, [(TEN, 1.0)], product, sgd(model), steps=3)
    assert capfd.readouterr() == ("", "")
    train(model, [(TEN, 1.0)], product, sgd(model), steps=3, progress=True)
    assert "3/3" in capfd.readouterr().err


# --- Seeds ------------------------------------------------------------------------------------------------


def with_dropout(seed, disturb=0):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 16), nn.Dropout(0.5), nn.Linear(16, 1))
    torch.rand(disturb)
    losses = train(model, [(X, Y)], nn.functional.mse_loss, sgd(model, 0.1), steps=5, seed=seed).losses
    return losses, model[0].weight.detach()


def test_a_run_is_determined_by_its_seed():
    losses, weight = with_dropout(1)
    again, weight_again = with_dropout(1, disturb=7)
    assert losses == again and weight.equal(weight_again)
    assert with_dropout(2)[0] != losses
    assert with_dropout(None)[0] != with_dropout(None, disturb=7)[0]


def test_a_seed_leaves_the_global_generator_as_it_was():
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(1, 1))
    before = torch.get_rng_state()
    train(model, [(X, Y)], nn.functional.mse_loss, sgd(model), steps=2, seed=1)
    assert torch.get_rng_state().equal(before)


# --- Accuracy ---------------------------------------------------------------------------------------------


class Knows(nn.Module):
    """Names the token shown at one step."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, x):
        return x[self.step, :, :8]


def recall_batches(count=16):
    generator = torch.Generator().manual_seed(0)
    return (delayed_recall(10, 256, generator=generator) for _ in range(count))


def test_who_knows_the_first_symbol_scores_one():
    assert accuracy(Knows(0), recall_batches()) == 1


class Guesses(nn.Module):
    """Names a symbol, by what the distractors are."""

    def forward(self, x):
        return x[1:-1, :, 8:16].sum(0)


@pytest.mark.parametrize("model", [Knows(-1), Guesses()], ids=["constant", "distractors"])
def test_who_ignores_it_scores_chance(model):
    assert accuracy(model, recall_batches()) == pytest.approx(1 / 8, abs=0.026)  # five standard deviations


def test_accuracy_counts_targets_not_batches():
    y = torch.tensor([0, 1, 1, 1])
    wrong = nn.functional.one_hot(1 - y)
    right = nn.functional.one_hot(y)
    assert accuracy(nn.Identity(), [(right, y), (wrong[:1], y[:1])]) == 4 / 5


def test_accuracy_takes_no_gradient_uses_evaluation_mode_and_puts_it_back():
    model = nn.Sequential(nn.Linear(1, 2), nn.Dropout(0.5))
    seen = []
    model[1].register_forward_hook(lambda module, _, out: seen.append((module.training, out.requires_grad)))
    for mode in (True, False):
        model.train(mode)
        accuracy(model, [(X, Y[:, 0].long())])
        assert model.training is mode and model[1].training is mode
    assert seen == [(False, False)] * 2


def test_accuracy_of_nothing_raises():
    with pytest.raises(ValueError, match=r"^batches=\[\]: expected at least one"):
        accuracy(nn.Identity(), [])


def test_the_mean_loss_weighs_batches_by_their_targets():
    scores = torch.randn(3, 5, 4)
    y = torch.tensor([[0, 1, 2, 3, 0], [1, IGNORED, IGNORED, IGNORED, 2], [3, 3, 3, 3, IGNORED]])
    together = cross_entropy(scores, y).item()
    assert mean_loss(nn.Identity(), list(zip(scores, y, strict=True))) == pytest.approx(together)


@pytest.mark.parametrize("targets", [[], [IGNORED, IGNORED]])
def test_the_mean_loss_of_nothing_raises(targets):
    batches = [(torch.zeros(len(targets), 3), torch.tensor(targets))] if targets else []
    with pytest.raises(ValueError, match=r"^batches: no target counts; expected at least one"):
        mean_loss(nn.Identity(), batches)


def test_the_mean_loss_uses_evaluation_mode_and_puts_the_mode_back():
    model, y = nn.Dropout(0.9), torch.tensor([2, 0])
    scores = nn.functional.one_hot(y, 3).float()
    assert mean_loss(model, [(scores, y)]) == pytest.approx(cross_entropy(scores, y).item())
    assert model.training and torch.is_grad_enabled()
