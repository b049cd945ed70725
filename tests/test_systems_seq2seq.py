"""The encoder and decoder: against a computation word by word, and its beam against all targets there are."""

import math
from itertools import product

import pytest
import torch
from torch import nn

from experiments import seq2seq
from experiments.fitting import numbers
from experiments.grid import HERE
from experiments.models import Transducer
from experiments.problems import Phones
from rnnlib.runs import load
from rnnlib.systems.seq2seq import Seq2Seq, padding_first
from rnnlib.systems.transduction import teacher_forcing
from rnnlib.training import IGNORED, cross_entropy

SOURCES, TARGETS, EMBEDDING, WIDTH = 6, 4, 5, 6
WORDS = [[3, 1, 5, 2], [4, 4], [1, 2, 3], [5]]
CELLS = [nn.LSTM, nn.GRU, nn.RNN]


def model(cell=nn.LSTM, reverse_source=True, seed=0, targets=TARGETS):
    """A network with large weights, so that its choices differ, in double precision."""
    torch.manual_seed(seed)
    network = Seq2Seq(
        lambda size: cell(size, WIDTH, num_layers=2),
        EMBEDDING,
        SOURCES,
        targets,
        reverse_source=reverse_source,
    ).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)
    return network


def column(word, length=0):
    return torch.tensor([*word, *[0] * (length - len(word))])[:, None]


def batch(words=WORDS):
    return torch.cat([column(word, max(map(len, words))) for word in words], 1)


def log_probability(network, source, target):
    """Of one target, its end included, from the scores of the forward pass."""
    so_far = column([0, *target])[: len(target)] if len(target) else column([])
    after = network((source, so_far)).log_softmax(-1)[:, 0]
    return sum(after[step, symbol].item() for step, symbol in enumerate(target))


def all_targets(steps, symbols=TARGETS):
    """Those that end within so many steps, with their end, and those that do not end."""
    open_ended = [()]
    for _ in range(steps):
        yield from ([*one, 0] for one in open_ended)
        open_ended = [(*one, symbol) for one in open_ended for symbol in range(1, symbols)]
    yield from map(list, open_ended)


# --- The network ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reverse_source", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_scores_are_those_of_two_stacks_run_word_by_word(cell, reverse_source):
    network = model(cell, reverse_source)
    so_far = torch.randint(TARGETS, (3, len(WORDS)), generator=torch.Generator().manual_seed(1))
    scores = network((batch(), so_far))
    assert scores.shape == (3, len(WORDS), TARGETS)
    for place, word in enumerate(WORDS):
        states = None
        for symbol in [0] * (4 - len(word)) + (word[::-1] if reverse_source else word):
            _, states = network.encoder(network.source(torch.tensor([[symbol]])), states)
        for step, symbol in enumerate(so_far[:, place].tolist()):
            h, states = network.decoder(network.target(torch.tensor([[symbol]])), states)
            torch.testing.assert_close(network.output(h)[0, 0], scores[step, place], rtol=0, atol=1e-12)


def test_reading_from_the_end_is_reading_what_was_written_from_the_end():
    backwards = batch([word[::-1] for word in WORDS])
    states, other = model(reverse_source=True).encode(batch()), model(reverse_source=False).encode(backwards)
    assert all(one.equal(two) for one, two in zip(states, other, strict=True))
    assert Seq2Seq(lambda size: nn.GRU(size, 2), 3, 4, 5).reverse_source  # as in the paper


def test_padding_moves_to_the_front_and_letters_keep_their_order():
    moved = padding_first(batch())
    for place, word in enumerate(WORDS):
        assert moved[:, place].tolist() == [0] * (4 - len(word)) + word


@pytest.mark.parametrize("reverse_source", [False, True])
def test_neighbours_and_what_comes_later_do_not_leak(reverse_source):
    network = model(reverse_source=reverse_source)
    so_far = torch.tensor([[0, 0, 0, 0], [1, 2, 3, 1], [2, 2, 1, 0]])
    scores = network((batch(), so_far))
    later = so_far.clone()
    later[2] = 3
    torch.testing.assert_close(network((batch(), later))[:2], scores[:2], rtol=0, atol=1e-12)
    alone = network((batch()[:, 1:2], so_far[:, 1:2]))
    torch.testing.assert_close(alone, scores[:, 1:2], rtol=0, atol=1e-12)


def test_what_stands_behind_the_end_of_a_target_does_not_count():
    network = model()
    so_far, y = torch.tensor([[0, 0], [1, 2], [0, 3]]), torch.tensor([[1, 2], [0, 3], [IGNORED, 0]])
    beyond = so_far.clone()
    beyond[2, 0] = 3
    two = batch(WORDS[:2])
    assert cross_entropy(network((two, so_far)), y).item() == pytest.approx(
        cross_entropy(network((two, beyond)), y).item()
    )


def test_a_projected_stack_has_outputs_of_its_own_width():
    network = Seq2Seq(lambda size: nn.LSTM(size, 8, proj_size=3), 4, 6, 5)
    assert network((batch(), torch.zeros(2, 4, dtype=torch.int64))).shape == (2, 4, 5)


# --- What it says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(cell, seed):
    network = model(cell, seed=seed)
    said, _ = network.beam_search(batch(), 6, 1)
    assert said.shape == (6, 1, 4)
    assert said[:, 0].equal(network.decode(batch(), 6))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_wide_enough_finds_the_best_of_all_targets_in_order(cell, seed):
    steps, symbols = 4, 3
    network = model(cell, seed=seed, targets=symbols)
    targets = list(all_targets(steps, symbols))
    said, scores = network.beam_search(batch(), steps, len(targets))
    for place, word in enumerate(WORDS):
        source = column(word, 4)
        ranked = sorted(((log_probability(network, source, one), one) for one in targets), reverse=True)
        assert scores[:, place].tolist() == pytest.approx([score for score, _ in ranked])
        best = ranked[0][1]
        assert said[:, 0, place].tolist() == best + [0] * (steps - len(best))
        assert math.fsum(scores[:, place].exp().tolist()) == pytest.approx(1)


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_a_score_is_the_log_probability_of_what_is_said(beam):
    network = model()
    said, scores = network.beam_search(batch(), 5, beam)
    for row, place in product(range(beam), range(len(WORDS))):
        target = said[:, row, place].tolist()
        target = target[: target.index(0) + 1] if 0 in target else target
        expected = log_probability(network, column(WORDS[place], 4), target)
        assert scores[row, place].item() == pytest.approx(expected)


def test_hypotheses_differ_come_best_first_and_are_silent_after_their_end():
    said, scores = model().beam_search(batch(), 5, 6)
    assert (scores.diff(dim=0) <= 0).all()
    for place in range(len(WORDS)):
        assert len({tuple(one) for one in said[:, :, place].T.tolist()}) == 6
    after_the_end = (said == 0).cummax(0).values[:-1]
    assert after_the_end.any() and (said[1:][after_the_end] == 0).all()


def test_a_word_finds_alone_what_it_finds_among_others():
    network = model()
    said, scores = network.beam_search(batch(), 5, 3)
    for place in range(len(WORDS)):
        one, score = network.beam_search(batch()[:, [place]], 5, 3)
        assert one.equal(said[:, :, [place]])
        torch.testing.assert_close(score, scores[:, [place]], rtol=0, atol=1e-12)


def test_an_end_keeps_its_place_until_likelier_ones_push_it_out():
    """Greedily the end is likeliest, at 0.4; the two ways on share the rest, and one of them is then sure."""
    network = Seq2Seq(lambda size: nn.GRU(size, 1), 1, 2, 3)
    after = {0: [0.4, 0.35, 0.25], 1: [0.5, 0.25, 0.25], 2: [1.0, 1e-9, 1e-9]}
    network.decoder.forward = lambda x, states: (x, states)
    network.target.forward = lambda codes: torch.tensor([[after[c] for c in codes[0].tolist()]]).log()
    network.output.forward = lambda scores: scores
    source = torch.ones(1, 1, dtype=torch.int64)
    said, scores = network.beam_search(source, 3, 3)
    assert said[:, :, 0].T.tolist() == [[0, 0, 0], [2, 0, 0], [1, 0, 0]]
    assert scores[:, 0].exp().tolist() == pytest.approx([0.4, 0.25, 0.175])


def test_more_hypotheses_than_targets_leave_the_rest_without_a_score():
    _, scores = model(targets=2).beam_search(batch(), 1, 5)
    assert scores[:2].isfinite().all() and (scores[2:] == -math.inf).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.beam_search(batch(), 5, 0), "beam=0"),
        (lambda m: m.beam_search(batch(), 0, 2), "steps=0"),
        (lambda m: m.decode(batch(), 0), "steps=0"),
        (
            lambda m: m.encode(torch.ones(3, dtype=torch.int64)),
            r"source: shape \(3,\); expected \(steps, batch\)",
        ),
        (
            lambda m: Seq2Seq(lambda size: nn.GRU(size, 2, bidirectional=True), 3, 4, 5),
            "bidirectional=True; exp",
        ),
        (lambda m: Seq2Seq(lambda size: nn.GRU(size, 2, batch_first=True), 3, 4, 5), "batch_first=True; exp"),
        (lambda m: Seq2Seq(nn.GRU, 3, 0, 5), "source_symbols=0"),
        (lambda m: Seq2Seq(nn.GRU, 3, 4, 0), "target_symbols=0"),
        (lambda m: Seq2Seq(nn.GRU, 0, 4, 5), "embedding_size=0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(model())


# --- In the sweeps ----------------------------------------------------------------------------------------


def test_the_networks_of_the_sweeps_are_this_one():
    network = Transducer("lstm", 8, 2, "residual", 27, 40)
    assert isinstance(network, Seq2Seq) and network.reverse_source
    parts = list(dict.fromkeys(name.split(".")[0] for name in network.state_dict()))
    assert parts == ["source", "target", "encoder", "decoder", "output"]
    assert network.stacks == (network.encoder, network.decoder)


def test_both_orders_start_from_the_same_weights():
    networks = []
    for reverse_source in seq2seq.ORDERS.values():
        torch.manual_seed(0)
        networks.append(Transducer("lstm", 8, 2, "plain", 27, 40, reverse_source=reverse_source))
    one, other = (network.state_dict() for network in networks)
    assert all(one[name].equal(other[name]) for name in one)


def test_columns_are_those_of_a_count_by_hand():
    network = Transducer("lstm", 8, 1, "plain", SOURCES, TARGETS)
    y = torch.tensor([[1, 2, 3, 0], [2, 0, 3, IGNORED], [0, IGNORED, 0, IGNORED], [IGNORED] * 4])
    so_far = torch.cat([torch.zeros_like(y[:1]), y[:-1].clamp(min=0)])
    row = seq2seq.scores(network, [((batch(), so_far), y)])
    for beam in seq2seq.BEAMS:
        said, scores = network.beam_search(batch(), 4, beam)
        words = [[code for code in one if code] for one in said[:, 0].T.tolist()]
        right = [[1, 2], [2], [3, 3], []]
        assert row[f"exact_{beam}"] == sum(a == b for a, b in zip(words, right, strict=True)) / 4
        assert row[f"error_{beam}"] == round(sum(Phones.edits(said[:, 0], y)) / 5, 5)
        assert row[f"score_{beam}"] == pytest.approx(scores[0].mean().item(), abs=1e-4)
    each = network((batch(), so_far)).log_softmax(-1)
    by_hand = [
        -sum(each[t, n, y[t, n]].item() for n in range(4) if y[t, n] != IGNORED)
        / int((y[t] != IGNORED).sum())
        for t in range(3)
    ]
    assert numbers(row["nats_by_step"]) == pytest.approx(by_hand, rel=1e-3)
    assert row["nats"] == pytest.approx(cross_entropy(each, y).item(), abs=1e-4)


@pytest.mark.parametrize("name", ["seq2seq", "seq2seq-tuning"])
def test_in_the_committed_runs_a_beam_of_one_is_greedy(name):
    rows = load(HERE / f"{name}.csv")
    assert len(rows) >= 16
    assert all(row["error_1"] == row["error"] for row in rows)
    assert all(row["score_1"] <= row["score_2"] <= row["score_12"] < 0 for row in rows)


def test_the_reversed_residual_arm_is_that_of_the_depth_limits():
    def errors(name, **wanted):
        rows = (row for row in load(HERE / f"{name}.csv") if all(row[k] == v for k, v in wanted.items()))
        return [row["error"] for row in sorted(rows, key=lambda row: row["seed"])]

    same = {"task": "letters to phones", "depth": 4, "variant": "residual", "steps": 800}
    there = errors("limits", clip=1, **same)
    assert errors("seq2seq", order="reversed", **same) == pytest.approx(there, abs=0.01)
    assert errors("seq2seq", order="forward", **same) != pytest.approx(there, abs=0.01)


def test_a_batch_has_as_many_targets_as_sources():
    with pytest.raises(ValueError, match=r"^target: 2 sequences; expected as many as in source, 3"):
        teacher_forcing(torch.zeros(3, 4), torch.zeros(2, 5))
