"""Every formula of the cheat sheet is evaluated as it stands and compared with rnnlib; it fits one sheet."""

import ast
import math
import re
from functools import cache

import pytest
import torch
from checks import browser as chrome
from checks import files, latex, sheet
from torch import nn

import rnnlib
from rnnlib import StackSpec, cells, matched_width, measure
from rnnlib.checkpoint import Checkpointed
from rnnlib.decoding import KeyValueCache
from rnnlib.schedule import independent, makespan, wavefront

SHEET = sheet.read()
COUNTS = [row for row in SHEET.rows if row.example]
STEPS = [row for row in SHEET.rows if not row.example]
OTHER_SIZES = [
    {"D": 7, "H": 6, "L": 3, "N": 2, "T": 9, "P": 4, "p": 3, "k": 3, "d": 16, "f": 24, "r": 2, "g": 4},
    {"D": 2, "H": 9, "L": 5, "N": 1, "T": 8, "P": 1, "p": 1, "k": 2, "d": 4, "f": 4, "r": 3, "g": 4},
    {"D": 9, "H": 2, "L": 1, "N": 3, "T": 5, "P": 1, "p": 1, "k": 5, "d": 8, "f": 8, "r": 0, "g": 4},
]
H = 4  # the width of everything in a step, so that a residual is possible


def chapters_scan():
    """The function `scan` of the chapter that derives it."""
    notebook = files.read(files.ROOT / "book" / "5-limitations-and-impact.ipynb")
    code = [cell.source for cell in notebook.cells if "def scan(" in cell.source]
    (function,) = (n for n in ast.parse(code[0]).body if isinstance(n, ast.FunctionDef) and n.name == "scan")
    names = {"torch": torch}
    exec(ast.unparse(function), names)
    return names["scan"]


@cache
def python(items: frozenset) -> dict:
    """What the right-hand column of a count may name, at these sizes."""
    sizes = dict(items)
    D, H, L, N, T, d, f = (sizes[name] for name in "DHLNTdf")
    block = nn.TransformerEncoderLayer(d, nhead=2, dim_feedforward=f, dropout=0.0)
    encoder_stack = nn.TransformerEncoder(block, L, enable_nested_tensor=False).eval()
    keys = KeyValueCache(encoder_stack, batch=N, capacity=T)
    for token in torch.zeros(T, N, d):
        keys.step(token)
    names = {
        "StackSpec": StackSpec, "matched_width": matched_width, "measure": measure, "makespan": makespan,
        "wavefront": wavefront, "independent": independent, "scan": chapters_scan(), "cache": keys,
        "encoder": block, "encoder_stack": encoder_stack, "tokens": torch.zeros(T, N, d),
        "x": torch.zeros(T, N, D), "a": torch.ones(T, 1), "b": torch.ones(T, 1),
        "checkpointed": Checkpointed(rnnlib.LSTM(D, H, L, storage="gates"), sizes["k"]), **sizes,
    }  # fmt: skip
    exec(SHEET.setup, names)
    return names


def step_values(generator: torch.Generator) -> dict:
    """Values for every letter of the first table, by its LaTeX name, and the stacked weights behind them."""

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def normed(a: torch.Tensor) -> torch.Tensor:
        return (a - a.mean()) / (a.var(unbiased=False) + cells.LAYER_NORM_EPS).sqrt()

    values = {"x_t": draw(H), "h_{t-1}": draw(H), "c_{t-1}": draw(H), "a": draw(H), "W_{hr}": draw(2, H)}
    values |= {
        name: draw(H) for name in (r"\gamma", r"\beta", r"\gamma_x", r"\gamma_h", r"\gamma_c", r"\beta_c")
    }
    values |= {"\\mu": values["a"].mean(), "v": values["a"].var(unbiased=False)}
    values |= {r"\epsilon": cells.LAYER_NORM_EPS, r"\mathrm{LN}": normed, r"\sigma": torch.sigmoid}
    for cell in ("rnn", "gru", "lstm"):
        spec = StackSpec(cell, H, H)
        gates = len(spec.gates)
        W, U, b_i, b_h = draw(gates * H, H), draw(gates * H, H), draw(gates * H), draw(gates * H)
        values[cell] = W, U, b_i, b_h
        for gate, rows in spec.gate_rows.items():
            end = "" if cell == "rnn" else f"_{gate}"
            values |= {f"W{end}": W[rows], f"U{end}": U[rows], f"b{end}": b_i[rows] + b_h[rows]}
        if cell == "gru":
            values |= {"b_{in}": b_i[rows], "b_{hn}": b_h[rows]}
    return values


def output_of(values: dict, **options) -> torch.Tensor:
    """What a live layer hands on at its first step; the sheet's h_t becomes that of a plain one."""
    plain = rnnlib.RNN(H, H, dtype=torch.float64)
    layer = rnnlib.RNN(H, H, dtype=torch.float64, **options)
    layer.load_state_dict(plain.state_dict(), strict=False)
    if "layer_norm" in options:
        layer.gain_out_l0.data, layer.shift_out_l0.data = values[r"\gamma"], values[r"\beta"]
    x = values["x_t"].view(1, 1, H)
    values["h_t"] = plain(x)[0].flatten()
    return layer(x)[0].flatten()


def lstm_with_gate_norm(values: dict) -> torch.Tensor:
    """With gains of zero the sums are the shift, which gives the output gate without another formula."""
    W, U, shift, _ = values["lstm"]
    zero = torch.zeros_like(shift)
    h, c = cells.layer_norm_lstm_cell(
        *_state(values), W, U, zero, zero, shift, values[r"\gamma_c"], values[r"\beta_c"]
    )
    values |= {"c_t": c.flatten(), "o_t": torch.sigmoid(shift[StackSpec("lstm", H, H).gate_rows["o"]])}
    return h.flatten()


def _state(values: dict):
    x, h, c = (values[name].unsqueeze(0) for name in ("x_t", "h_{t-1}", "c_{t-1}"))
    return x, (h, c)


def _rnn_with_gate_norm(v: dict) -> torch.Tensor:
    W, U, *_ = v["rnn"]
    x, (h, _) = _state(v)
    return cells.layer_norm_rnn_cell(x, h, W, U, v[r"\gamma_x"], v[r"\gamma_h"], v[r"\beta"]).flatten()


STEP_PROOFS = {
    "cells.rnn_cell": lambda v: cells.rnn_cell(_state(v)[0], _state(v)[1][0], *v["rnn"]).flatten(),
    "cells.lstm_cell": lambda v: cells.lstm_cell(*_state(v), *v["lstm"], weight_hr=v.get("projection"))[
        0
    ].flatten(),
    "cells.gru_cell": lambda v: cells.gru_cell(_state(v)[0], _state(v)[1][0], *v["gru"]).flatten(),
    "cells.gru_cell_reset_before": lambda v: cells.gru_cell_reset_before(
        _state(v)[0], _state(v)[1][0], *v["gru"]
    ).flatten(),
    "cells.normalise": lambda v: cells.normalise(v["a"], gain=torch.ones(H, dtype=torch.float64)),
    "cells.layer_norm_rnn_cell": _rnn_with_gate_norm,
    "cells.layer_norm_lstm_cell": lstm_with_gate_norm,
    "residual=True": lambda v: output_of(v, residual=True),
    'layer_norm="output"': lambda v: output_of(v, layer_norm="output"),
    'residual=True, layer_norm="output"': lambda v: output_of(v, residual=True, layer_norm="output"),
}


def prove_step(formulas: list[str], code: str, values: dict) -> bool:
    """Evaluate definitions in order and compare the last one with what the library gives."""
    if any("W_{hr}" in formula for formula in formulas):
        values["projection"] = values["W_{hr}"]
    expected = STEP_PROOFS[code](values)
    for formula in formulas:
        name, definition = formula.split(" = ")
        values[name] = latex.evaluate(definition, values)
    return torch.allclose(values[name], expected, rtol=0, atol=1e-12)


def prove_count(row: sheet.Row, sizes: dict[str, int]) -> tuple[float, float]:
    """The formula's value and Python's."""
    return float(latex.evaluate(row.example["formula"], sizes)), float(
        eval(row.code, python(frozenset(sizes.items())))
    )


def test_nothing_on_the_sheet_is_left_unproven():
    assert not SHEET.problems, "\n".join(SHEET.problems)
    assert len(COUNTS) > 30 and len(STEPS) > 9 and not {"D", "H", "L", "N", "T"} - set(SHEET.sizes)


@pytest.mark.parametrize("row", COUNTS, ids=lambda row: row.what)
def test_counts(row):
    """At the sheet's own sizes the printed value, at others the formula against the library."""
    value, digits = float(row.example["value"]), len(row.example["value"].partition(".")[2])
    rounded = row.example["relation"] == r"\approx"
    for found in prove_count(row, SHEET.sizes):
        assert (round(found, digits) if rounded else found) == value
    for sizes in OTHER_SIZES:
        formula, code = prove_count(row, sizes)
        assert math.isclose(formula, code, rel_tol=1e-12, abs_tol=0.51 * 10**-digits if rounded else 0), sizes


def test_steps():
    values = step_values(torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    for row in STEPS:
        assert prove_step(row.formulas, row.code, values), row.what


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        (0, r"\tanh(W", r"\sigma(W"),
        (1, r"f_t \odot c_{t-1}", r"i_t \odot c_{t-1}"),
        (2, r"W_{hr} (o_t \odot \tanh c_t)", r"W_{hr} (o_t \odot c_t)"),
        (3, "(U_n h_{t-1} + b_{hn})", "U_n h_{t-1} + b_{hn}"),
        (4, r"U_n (r_t \odot h_{t-1})", r"r_t \odot (U_n h_{t-1})"),
        (5, r"\sqrt{v + \epsilon}", r"\sqrt{v} + \epsilon"),
        (9, r"\beta", r"\gamma"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_noticed(row, right, wrong):
    values = step_values(torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    for before in STEPS[:row]:
        prove_step(before.formulas, before.code, values)
    spoiled = [formula.replace(right, wrong) for formula in STEPS[row].formulas]
    assert spoiled != STEPS[row].formulas
    assert not prove_step(spoiled, STEPS[row].code, values)


def test_a_wrong_count_a_missing_proof_and_a_stray_formula_are_noticed(tmp_path):
    spoiled = tmp_path / "sheet.md"
    text = sheet.PATH.read_text().replace("T + L - 1 = 7", "T + L = 7").replace("= 160$", "= 161$")
    spoiled.write_text(
        text.replace("`layer.flops(T, N)`", "").replace("## One step", "$a = b$\n\n## One step")
    )
    found = sheet.read(spoiled)
    assert found.problems == ["a = b: a formula outside of the tables", "the same in FLOPs: no Python"]
    for what in ("along the wavefront", "a layer, weights only"):
        (row,) = (row for row in found.rows if row.what == what)
        with pytest.raises(AssertionError):
            test_counts(row)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (r"2(a + b)^2", 50),
        (r"\frac{a}{b}ab", 4),
        (r"\lceil \frac{7}{a} \rceil", 4),
        (r"-a + \sqrt{16}b", 10),
        (r"a \cdot b - a", 4),
    ],
)
def test_formulas_are_read_as_they_are_written(formula, value):
    assert latex.evaluate(formula, {"a": 2, "b": 3}) == value


@pytest.mark.parametrize("formula", ["a +", "(a", "a)", r"a \oplus b", "a = b", "c"])
def test_what_cannot_be_read_is_refused(formula):
    with pytest.raises((ValueError, KeyError)):
        latex.evaluate(formula, {"a": 2, "b": 3})


def printed_pages(page) -> int:
    """How many pages of A4 the browser prints."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))


def test_it_prints_on_both_sides_of_one_sheet(site_folder, browser):
    with chrome.opened(browser, site_folder / "book" / "cheat-sheet.html", 1440) as page:
        assert printed_pages(page) == 2
        page.emulate_media(media="print")
        for hidden in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", ".bd-footer"):
            assert not page.locator(hidden).first.is_visible(), hidden
        page.evaluate("document.querySelector('link[href*=cheat-sheet]').remove()")
        assert printed_pages(page) > 2
