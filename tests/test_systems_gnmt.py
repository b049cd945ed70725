"""The miniature of GNMT: against torch.nn word by word, its padding, its shortcuts, its greedy decoding."""

import math

import pytest
import torch
from torch import nn

from experiments import gnmt as sweep
from experiments.fitting import LOOKS, numbers
from experiments.grid import HERE
from experiments.problems import problem
from experiments.watch import layers
from rnnlib.measure import parameters
from rnnlib.runs import load
from rnnlib.systems.gnmt import GNMT, AdditiveAttention

LETTERS, PHONES, WIDTH = 9, 7, 5
SOURCE = torch.tensor([[3, 8, 1], [4, 8, 2], [5, 0, 1], [6, 0, 0]])  # (S, N): words of 4, 2 and 3 letters
SO_FAR = torch.tensor([[0, 0, 0], [3, 1, 6], [5, 0, 2]])


def model(residual=True, num_layers=4, seed=0):
    torch.manual_seed(seed)
    return GNMT(LETTERS, PHONES, 3, WIDTH, num_layers, residual).double()


def of_torch(stack):
    """The same layers as a module of torch.nn, which knows no shortcuts."""
    twin = nn.LSTM(stack.input_size, stack.hidden_size, stack.num_layers, bidirectional=stack.bidirectional)
    twin.double().load_state_dict(stack.state_dict())
    return twin


def one_layer(stack, layer):
    """A layer of a torch.nn stack by itself."""
    width = stack.input_size if layer == 0 else stack.hidden_size
    alone = nn.LSTM(width, stack.hidden_size).double()
    weights = {k.replace(f"_l{layer}", "_l0"): v for k, v in stack.state_dict().items() if f"_l{layer}" in k}
    alone.load_state_dict(weights)
    return alone


def word_by_word(gnmt, word, so_far):
    """Scores (T, symbols) of one unpadded word, each step of the attention in a loop over places."""
    x = of_torch(gnmt.encoder_bottom)(gnmt.source(word))[0]
    upper = of_torch(gnmt.encoder_upper)
    for layer in range(upper.num_layers):
        h = one_layer(upper, layer)(x)[0]
        x = x + h if gnmt.residual and layer > 0 else h
    memory = x
    x = of_torch(gnmt.decoder_bottom)(gnmt.target(so_far))[0]
    W, U, v = (getattr(gnmt.attention, name).weight for name in ("query", "memory", "score"))
    context = []
    for query in x:
        scores = torch.stack([v[0] @ torch.tanh(W @ query + U @ place) for place in memory])
        context.append((scores.exp() / scores.exp().sum()) @ memory)
    for number, lstm in enumerate(gnmt.decoder_upper):
        h = of_torch(lstm)(torch.cat([x, torch.stack(context)], -1))[0]
        x = x + h if gnmt.residual and number > 0 else h
    return gnmt.output(x)


@pytest.mark.parametrize("residual", [False, True])
def test_scores_are_those_of_torch_nn_word_by_word(residual):
    """Which is also to say that no word of a batch sees its own padding or another word."""
    gnmt = model(residual)
    scores = gnmt((SOURCE, SO_FAR))
    assert scores.shape == (3, 3, PHONES)
    for n in range(3):
        word = SOURCE[:, n][SOURCE[:, n] > 0]
        torch.testing.assert_close(scores[:, n], word_by_word(gnmt, word, SO_FAR[:, n]))


def test_padding_does_not_leak():
    """Neither more of it, nor what its embedding holds, changes scores or gradients."""
    gnmt = model()
    scores = gnmt((SOURCE, SO_FAR))
    gradients = torch.autograd.grad(scores.square().sum(), gnmt.parameters())
    longer = nn.functional.pad(SOURCE, (0, 0, 0, 2))
    with torch.no_grad():
        gnmt.source.weight[0] += 100
    again = gnmt((longer, SO_FAR))
    torch.testing.assert_close(again, scores)
    torch.testing.assert_close(torch.autograd.grad(again.square().sum(), gnmt.parameters()), gradients)
    assert not gradients[0][0].any()  # of the embedding of padding


def test_attention_weights_sum_to_one_over_the_letters_of_the_word():
    gnmt = model()
    memory, present = gnmt.encode(SOURCE)
    weights = gnmt.run_decoder(SO_FAR, memory, present)[1]
    assert weights.shape == (3, 3, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 3, dtype=torch.double))
    assert ((weights > 0) == present.T).all()


def test_attention_looks_where_the_score_is_high():
    attention = AdditiveAttention(1, 1, 1)
    with torch.no_grad():
        for layer, weight in ((attention.query, 0.0), (attention.memory, 1.0), (attention.score, 50.0)):
            layer.weight.fill_(weight)
    memory = torch.tensor([-1.0, 2.0, 1.0]).view(3, 1, 1)
    context, weights = attention(torch.zeros(1, 1, 1), memory, torch.tensor([[True], [False], [True]]))
    assert context.item() == pytest.approx(1) and weights.argmax() == 2


def test_a_target_symbol_changes_no_score_before_it():
    gnmt = model()
    other = SO_FAR.clone()
    other[2] = 4
    before, after = gnmt((SOURCE, SO_FAR)), gnmt((SOURCE, other))
    assert torch.equal(before[:2], after[:2]) and not torch.allclose(before[2], after[2])


def test_shortcuts_are_the_only_difference():
    plain, residual = model(False), model(True)
    assert plain.state_dict().keys() == residual.state_dict().keys()
    assert all(torch.equal(p, q) for p, q in zip(plain.parameters(), residual.parameters(), strict=True))
    assert not torch.allclose(plain((SOURCE, SO_FAR)), residual((SOURCE, SO_FAR)))


def test_shortcuts_begin_at_the_third_layer():
    """With two layers there are none; with dead layers from the third on, the second one's output remains."""
    plain, residual = model(False, 2), model(True, 2)
    assert torch.equal(plain((SOURCE, SO_FAR)), residual((SOURCE, SO_FAR)))
    deep, shallow = model(True, 5), model(True, 2)
    shallow.load_state_dict({k: v for k, v in deep.state_dict().items() if k in shallow.state_dict()})
    dead = [p for name, p in deep.encoder_upper.named_parameters() if not name.endswith("_l0")]
    dead += [p for lstm in deep.decoder_upper[1:] for p in lstm.parameters()]
    with torch.no_grad():
        for p in dead:
            p.zero_()
    torch.testing.assert_close(deep((SOURCE, SO_FAR)), shallow((SOURCE, SO_FAR)))


def test_greedy_decoding_is_teacher_forcing_on_its_own_words():
    gnmt = model(seed=16)
    with torch.no_grad():
        for p in gnmt.parameters():
            p *= 6  # so that it does not say the same throughout
    said = gnmt.decode(SOURCE, steps=6)
    going = (said > 0).cumprod(0).bool()
    assert said.shape == (6, 3) and len(said.unique()) > 3
    assert going.sum(0).tolist() == [6, 6, 2]  # the last would go on after its end, if it could
    likeliest = gnmt((SOURCE, nn.functional.pad(said[:-1], (0, 0, 1, 0)))).argmax(-1)
    up_to_the_end = nn.functional.pad(going[:-1], (0, 0, 1, 0), value=True)
    assert torch.equal(said[up_to_the_end], likeliest[up_to_the_end])
    assert not said[~going].any()


def test_nothing_is_said_after_the_end():
    gnmt = model()
    with torch.no_grad():
        gnmt.output.bias[0] = 100
    assert not gnmt.decode(SOURCE, steps=3).any()


def test_parameters_in_closed_form():
    H, E = WIDTH, 3

    def lstm(width):
        return 4 * H * (width + H + 2)

    layers = 2 * lstm(E) + lstm(2 * H) + 2 * lstm(H) + lstm(E) + 3 * lstm(2 * H)
    rest = (LETTERS + PHONES) * E + 2 * H * H + H + PHONES * (H + 1)
    assert parameters(model()) == layers + rest


def test_forget_biases_start_at_one():
    for stack in model().stacks:
        for name, bias in stack.named_parameters():
            if name.startswith("bias_ih"):
                total = bias + stack.get_parameter(name.replace("ih", "hh"))
                assert (total[WIDTH : 2 * WIDTH] == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_layers": 1}, "num_layers=1: expected an integer >= 2"),
        ({"hidden_size": 0}, "hidden_size=0: expected a positive integer"),
        ({"embedding_size": 2.5}, "embedding_size=2.5: expected"),
        ({"source_symbols": 1}, "source_symbols=1: expected an integer >= 2"),
        ({"target_symbols": -3}, "target_symbols=-3: expected an integer >= 2"),
    ],
)
def test_a_bad_size_is_named(arguments, message):
    sizes = {"source_symbols": 9, "target_symbols": 9, "embedding_size": 3, "hidden_size": 5}
    with pytest.raises(ValueError, match=message):
        GNMT(**{**sizes, **arguments})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([[1, 0], [2, 0]], r"source=\[\[1, 0\], \[2, 0\]\]: expected a symbol in every column"),
        ([[1, 0], [2, 3]], r"source=\[\[1, 0\], \[2, 3\]\]: expected zeros at the end"),
    ],
)
def test_bad_padding_is_named(source, message):
    with pytest.raises(ValueError, match=message):
        model().encode(torch.tensor(source))


def test_decoding_takes_steps():
    with pytest.raises(ValueError, match="steps=0"):
        model().decode(SOURCE, steps=0)


def test_the_sweep_watches_every_layer_in_all_its_directions():
    gnmt = model()
    watched = [[id(p) for p in layer] for layer in layers(gnmt)]
    assert [len(layer) for layer in watched] == [8] + 7 * [4]
    recurrent = {id(p) for stack in gnmt.stacks for p in stack.parameters()}
    assert set().union(*watched) == recurrent and len(recurrent) == 8 + 7 * 4


def test_the_grid_holds_what_the_page_asks_for():
    arms = [arm for block in sweep.blocks() for arm in block.arms]
    assert {(arm["depth"], arm["variant"]) for arm in arms} == {(8, "plain"), (8, "residual"), (4, "plain")}
    assert {arm["steps"] for arm in arms} == {problem(sweep.TASK).steps}  # as chapter 3 has them


@pytest.mark.parametrize("name", ["gnmt", "gnmt-tuning"])
def test_the_committed_curves_have_a_loss_for_every_look(name):
    for row in load(HERE / f"{name}.csv"):
        losses = numbers(row["valid_loss"])
        assert len(losses) == 1 + LOOKS and losses[0] == pytest.approx(math.log(40), abs=0.1)
        assert min(losses) < losses[0]
