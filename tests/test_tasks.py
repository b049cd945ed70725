"""`rnnlib.tasks`: the dial is exact, the answer is where it should be and nowhere else."""

import pytest
import torch

from rnnlib.tasks import composed_lookup, delayed_recall, lookup_tables


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("lag", [1, 2, 7, 160])
def test_the_lag_is_the_distance_from_the_symbol_to_the_cue(lag):
    x, y = delayed_recall(lag, batch=50, symbols=4, generator=generator())
    tokens = x.argmax(-1)
    assert tokens.shape == (lag + 1, 50)
    assert tokens[0].equal(y) and bool((y < 4).all())
    assert bool((tokens[-1] == 8).all())
    assert bool(((tokens[1:-1] >= 4) & (tokens[1:-1] < 8)).all())


def test_the_input_is_one_hot():
    x, y = delayed_recall(6, batch=5, symbols=3, generator=generator())
    assert x.shape == (7, 5, 7) and x.dtype == torch.get_default_dtype()
    assert bool(((x == 0) | (x == 1)).all()) and bool((x.sum(-1) == 1).all())
    assert y.shape == (5,) and y.dtype == torch.int64


def test_every_symbol_is_drawn_equally_often():
    x, y = delayed_recall(3, batch=8000, symbols=4, generator=generator())
    for tokens, smallest in ((y, 0), (x[1].argmax(-1), 4)):
        counts = torch.bincount(tokens - smallest, minlength=4)
        assert len(counts) == 4
        assert bool(((counts - 2000).abs() < 200).all())  # five standard deviations


def test_distractors_do_not_give_the_answer_away():
    x, y = delayed_recall(3, batch=8000, symbols=4, generator=generator())
    same = (x[1].argmax(-1) - 4 == y).float().mean()
    assert abs(same - 1 / 4) < 0.025


def test_without_distractors_blanks_lie_between():
    x, y = delayed_recall(9, batch=20, symbols=4, distractors=False, generator=generator())
    tokens = x.argmax(-1)
    assert bool((tokens[1:-1] == 4).all()) and tokens[0].equal(y)
    assert x.shape == delayed_recall(9, batch=20, symbols=4)[0].shape


def test_a_generator_repeats_the_batch_and_leaves_the_global_one_alone():
    before = torch.get_rng_state()
    first, again, other = (delayed_recall(9, 20, generator=generator(seed)) for seed in (1, 1, 2))
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))
    assert not first[0].equal(other[0])
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lag": 0}, "lag=0: expected a positive integer"),
        ({"lag": 2.5}, r"lag=2\.5: expected a positive integer"),
        ({"batch": -1}, "batch=-1: expected a positive integer"),
        ({"symbols": 1}, "symbols=1: expected an integer >= 2"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        delayed_recall(**({"lag": 5, "batch": 3} | arguments))


# --- Composed lookup tables -------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 9])
def test_the_result_follows_from_the_symbol_and_all_tables(depth):
    x, y = composed_lookup(depth, batch=50, symbols=5, tables=3, generator=generator())
    assert x.shape == (depth + 1, 50, 8) and y.shape == (50,) and y.dtype == torch.int64
    assert x.dtype == torch.get_default_dtype()
    assert bool(((x == 0) | (x == 1)).all()) and bool((x.sum(-1) == 1).all())
    tables = lookup_tables(symbols=5, tables=3).tolist()
    for tokens, answer in zip(x.argmax(-1).T.tolist(), y.tolist(), strict=True):
        result, *names = tokens
        for name in names:
            result = tables[name - 5][result]
        assert result == answer


def test_tables_are_different_permutations_and_stay_the_same():
    tables = lookup_tables(symbols=8, tables=6)
    assert tables.sort(1).values.tolist() == [list(range(8))] * 6
    assert len(set(map(tuple, tables.tolist()))) == 6
    torch.rand(3)
    assert tables.equal(lookup_tables(symbols=8, tables=6))
    assert tables[:2].equal(lookup_tables(symbols=8, tables=2))


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_whoever_misses_a_step_guesses(missing):
    """Given all other steps, the one that is missing leaves no answer much likelier than another."""
    x, y = composed_lookup(2, batch=40_000, symbols=4, tables=12, generator=generator())
    tokens = x.argmax(-1)
    others = [tokens[step] for step in range(3) if step != missing]
    counts = torch.zeros(16, 16, 4)
    counts.index_put_((*others, y), torch.ones(len(y)), accumulate=True)
    assert counts.max(-1).values.sum() / len(y) < 0.5


def test_composition_repeats_under_a_generator_and_leaves_the_global_one_alone():
    before = torch.get_rng_state()
    first, again, other = (composed_lookup(4, 20, generator=generator(seed)) for seed in (1, 1, 2))
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))
    assert not first[0].equal(other[0])
    assert torch.get_rng_state().equal(before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 0}, "depth=0: expected a positive integer"),
        ({"batch": 1.5}, r"batch=1\.5: expected a positive integer"),
        ({"symbols": 1}, "symbols=1: expected an integer >= 2"),
        ({"tables": 0}, "tables=0: expected a positive integer"),
    ],
)
def test_bad_arguments_of_a_composition_are_named(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        composed_lookup(**({"depth": 2, "batch": 3} | arguments))
