"""The calculator says what rnnlib.cost says: every figure, in headless Chromium, over random settings."""

import random
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from math import floor, prod
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page

from rnnlib import StackSpec, match
from rnnlib.cost.block import BIAS_CONVENTIONS, GATES, SCHEMES
from rnnlib.cost.storage import DTYPE_BYTES

THEMES_OWN = ("THEBE_JS_URL", "Got invalid theme mode")  # errors of the theme on every page
LISTED_LAYERS = 12  # a deeper stack is folded
BY_FORM, BY_LINK = 180, 60  # settings
State = dict[str, str]

# Applies states one after the other, by the form or by the link, and reads the page after each.
READ = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const text = (id) => document.getElementById(`calc-${id}`).textContent;
    const value = (field) => (field.type === "checkbox" ? (field.checked ? "on" : "off") : field.value);
    const message = (field) => document.getElementById(field.getAttribute("aria-describedby")).textContent;
    const figures = all("[data-figure]").map((e) => [e.dataset.figure, e.textContent]);
    return {
        figures: Object.fromEntries(figures),
        repeated: figures.length - new Map(figures).size,
        calls: all("#calc-results dl > div").map((row) => [
            row.querySelector("code").textContent,
            [...row.querySelectorAll("[data-figure]")].map((e) => e.dataset.figure),
        ]),
        bars: all("#calc-bars [role=img]").map((bar) => [
            bar.getAttribute("aria-label"),
            [...bar.children].map((part) => Number(part.style.flexGrow)),
        ]),
        matches: Object.fromEntries(all("#calc-matches a").map((a) => [a.firstChild.dataset.figure, a.hash])),
        python: text("python"),
        summary: text("summary"),
        note: text("note"),
        text: text("form") + text("summary") + text("results"),
        hash: location.hash,
        hidden: document.getElementById("calc-results").hidden,
        state: Object.fromEntries(all("#calc-form [name]").map((e) => [e.name, value(e)])),
        errors: Object.fromEntries(all("[aria-invalid=true]").map((e) => [e.name, message(e)])),
    };
}"""
APPLY = f"""async (states) => {{
    const read = {READ};
    const form = document.getElementById("calc-form");
    const answers = [];
    for (const [how, state] of states) {{
        if (how === "form") {{
            form.reset();
            for (const [key, value] of Object.entries(state)) {{
                const field = form.elements[key];
                if (field.type === "checkbox") field.checked = value === "on";
                else field.value = value;
            }}
            form.dispatchEvent(new Event("input"));
        }} else if (location.hash !== how) {{
            const changed = new Promise((done) => addEventListener("hashchange", done, {{ once: true }}));
            location.hash = how;
            await changed;
        }}
        answers.push(read());
    }}
    return answers;
}}"""


@pytest.fixture(scope="module")
def calculator(site_folder: Path) -> Path:
    """The page in the built book."""
    return site_folder / "book" / "calculator.html"


class Opened:
    """The page in a fresh profile without a network, and what it did wrong on the way."""

    def __init__(self, browser: Browser, path: Path, width: int = 1440) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        self.context.set_default_timeout(20_000)
        self.path, self.requests, self.errors = path, [], []
        self.page: Page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)

    def go(self, hash: str = "") -> Page:
        self.page.goto(self.path.as_uri() + hash)
        return self.page

    def problems(self) -> list[str]:
        own = [error for error in self.errors if not any(known in error for known in THEMES_OWN)]
        return own + [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]


@pytest.fixture
def opened(browser: Browser, calculator: Path) -> Iterator[Opened]:
    """Every test ends with the same question: nothing on the console, nothing asked of another host."""
    opened = Opened(browser, calculator)
    yield opened
    problems = opened.problems()
    opened.context.close()
    assert not problems, problems


# What the page should say, from rnnlib.cost ------------------------------------------------------------


def random_state(draw: random.Random) -> State:
    """Sizes over many orders of magnitude; deep stacks, empty inputs, packed batches and projections too."""
    digits = draw.choice([1, 1, 2, 3, 4, 9, 16])
    size = lambda least: str(draw.randint(least, 10 ** draw.randint(1, digits)))  # noqa: E731
    state = {
        "cell": draw.choice(list(GATES)),
        "D": draw.choice(["0", size(0), size(0)]),
        "H": size(1),
        "L": str(draw.choice([1, 1, 2, 3, 4, 12, 13, draw.randint(1, 24)])),
        "directions": draw.choice("12"),
        "N": size(1),
        "T": draw.choice(["0", size(0), size(1), size(1)]),
        "bias": draw.choice(BIAS_CONVENTIONS),
        "scheme": draw.choice(SCHEMES),
        "dtype": draw.choice(list(DTYPE_BYTES)),
        "training": draw.choice(["on", "on", "on", "off"]),
    }
    if state["cell"] == "lstm" and draw.random() < 0.5:
        state["P"] = str(draw.randrange(int(state["H"])))
    if draw.random() < 0.25:
        del state["N"], state["T"]
        lengths = [draw.randint(0, 10**digits) for _ in range(draw.randint(1, 5))]
        state["lengths"] = draw.choice([", ", ",", " "]).join(map(str, lengths))
    return state


def spec_of(state: State) -> StackSpec:
    return StackSpec(
        state["cell"], int(state["D"]), int(state["H"]), int(state["L"]),
        bidirectional=state["directions"] == "2", proj_size=int(state.get("P", 0)),
    )  # fmt: skip


def batch_of(state: State) -> dict[str, Any]:
    if state.get("lengths"):
        return {"lengths": [int(length) for length in re.split(r"[\s,]+", state["lengths"])]}
    return {"steps": int(state["T"]), "batch": int(state["N"])}


def decimal(value: Fraction) -> str:
    """Two decimals, a half rounded up, from an exact fraction."""
    hundredths = floor(value * 100 + Fraction(1, 2))
    if not value:
        return "0"
    return f"{hundredths // 100:,}.{hundredths % 100:02}" if hundredths else "under 0.01"


def reason(error: ValueError) -> str:
    """Why there is no figure: an error's last part, in the words that the page shares with the library."""
    return str(error).split("; ", 1)[1] if "wavefront" in str(error) else str(error).split(": ", 1)[1]


def expected_figures(state: State) -> dict[str, str]:
    """Every figure on the page by its name, computed with the library alone."""
    spec, batch, bias = spec_of(state), batch_of(state), state["bias"]
    training, steps = state["training"] == "on", max(batch.get("lengths") or [batch.get("steps")])
    figures: dict[str, str] = {"parameters": f"{spec.parameters(bias):,}"}
    for mode in [False, True] if training else [False]:
        name = "training" if mode else "forward"
        for size, arguments in {"step": {}, "batch": batch}.items():
            arguments = arguments | {"training": mode, "scheme": state["scheme"]}
            figures[f"{name} {size} MACs"] = f"{spec.macs(**arguments):,}"
            figures[f"{name} {size} FLOPs"] = f"{spec.flops(**arguments):,}"
    terms: dict[str, int] | None = None
    options = {"scheme": state["scheme"], "dtype": state["dtype"]}
    if training:
        try:
            terms = spec.storage_terms(**batch, **options)
        except ValueError as error:
            figures["storage"] = f"Not possible: {reason(error)}."
        else:
            sizes = {"storage": spec.storage(**batch, **options), "all kept": sum(terms.values())}
            sizes |= {term: terms.get(term, 0) for term in ("joined directions", "initial states", "input")}
            for name, size in sizes.items():
                figures |= {name: f"{size:,}", f"{name} MiB": decimal(Fraction(size, 2**20))}
    for schedule in ("layerwise", "wavefront"):
        try:
            figures[schedule] = f"{spec.critical_path(steps, schedule):,}"
        except ValueError as error:
            figures[schedule] = f"Not possible: {reason(error)}."
    figures |= layer_figures(spec, batch, bias, training, state["scheme"], terms)
    shape = {"num_layers": spec.num_layers, "bidirectional": spec.bidirectional}
    for cell in set(GATES) - {spec.cell}:
        found = matched(cell, spec.input_size, spec.parameters(bias), bias=bias, **shape)
        mismatch = Fraction(100 * (found.parameters - found.target), found.target)
        words = f"{decimal(abs(mismatch))} % {'more' if mismatch > 0 else 'fewer'}"
        figures |= {
            f"{cell} width": f"{found.hidden_size:,}",
            f"{cell} parameters": f"{found.parameters:,}",
            f"{cell} mismatch": words if mismatch else "exactly as many",
        }
    return figures


@cache
def matched(cell, input_size, target, bias, num_layers=1, bidirectional=False):
    """Like `match`, which takes a while on large numbers, but only once."""
    return match(
        cell, input_size, target, bias=bias, num_layers=num_layers, bidirectional=bidirectional
    )  # fmt: skip


def layer_figures(spec, batch, bias, training, scheme, terms) -> dict[str, str]:
    """The table of layers: what each block costs, its share, and the totals."""
    tokens = sum(batch["lengths"]) if "lengths" in batch else batch["steps"] * batch["batch"]
    sequences = sum(n > 0 for n in batch["lengths"]) if "lengths" in batch else batch["batch"] * (tokens > 0)
    quantities = {
        "parameters": {b.suffix: sum(map(prod, b.parameter_shapes(bias).values())) for b in spec.blocks()},
        "forward": {b.suffix: b.macs(tokens, sequences) for b in spec.blocks()},
    }
    if training:
        quantities["training"] = {
            b.suffix: b.macs(tokens, sequences, True, b.layer > 0, scheme) for b in spec.blocks()
        }
    if terms is not None:
        kept = {b.suffix: terms.get(b.suffix, 0) for b in spec.blocks()}
        joined = {"joined steps": terms["joined steps"]} if "joined steps" in terms else {}
        quantities["storage"] = kept | joined
    deep = spec.num_layers > LISTED_LAYERS
    figures: dict[str, str] = {}
    for block in spec.blocks():
        figures[f"{row_of(block.suffix, spec)} width"] = f"{block.input_size:,}"
    for quantity, blocks in quantities.items():
        rows: dict[str, int] = {}
        for suffix, value in blocks.items():
            name = row_of(suffix, spec) if deep else suffix
            rows[name] = rows.get(name, 0) + value
        total = sum(blocks.values())
        figures[f"total {quantity}"] = f"{total:,}"
        for name, value in rows.items():
            share = decimal(Fraction(100 * value, total or 1))
            figures |= {f"{name} {quantity}": f"{value:,}", f"{name} {quantity} share": share}
    return figures


def row_of(suffix: str, spec: StackSpec) -> str:
    """In a folded table all layers above the first share a row."""
    if spec.num_layers <= LISTED_LAYERS or suffix.split("_")[0] == "l0" or not suffix.startswith("l"):
        return suffix
    return f"l1 to l{spec.num_layers - 1}" + "_reverse" * suffix.endswith("_reverse")


def evaluate(code: str, spec: StackSpec | None = None) -> Any:
    """A line of Python on the page."""

    def match(*arguments, num_layers=1, bidirectional=False, **options):
        return matched(*arguments, **options, num_layers=num_layers, bidirectional=bidirectional)

    return eval(code, {"__builtins__": {}, "StackSpec": StackSpec, "match": match, "sum": sum, "spec": spec})


# The tests -----------------------------------------------------------------------------------------------


Answers = list[tuple[State, dict[str, Any]]]


def ask(browser: Browser, path: Path, given: list) -> list[dict[str, Any]]:
    """Each setting in turn on one fresh page; Chromium drops changes of address beyond 200 in ten seconds."""
    opened = Opened(browser, path)
    found = opened.go().evaluate(APPLY, given)
    problems = opened.problems()
    opened.context.close()
    assert not problems, problems
    return found


@pytest.fixture(scope="module")
def by_form(browser, calculator) -> Answers:
    """Random settings typed into the form, and what the page says to each."""
    draw = random.Random(0)
    states = [random_state(draw) for _ in range(BY_FORM)]
    return list(zip(states, ask(browser, calculator, [["form", state] for state in states]), strict=True))


@pytest.fixture(scope="module")
def by_link(browser, calculator) -> Answers:
    """Others, given by a link."""
    draw = random.Random(1)
    states = [random_state(draw) for _ in range(BY_LINK)]
    given = [["#" + urlencode(state), state] for state in states]
    return list(zip(states, ask(browser, calculator, given), strict=True))


@pytest.fixture(scope="module")
def answers(by_form, by_link) -> Answers:
    return by_form + by_link


def test_every_figure_is_the_library_s(answers):
    for state, answer in answers:
        assert not answer["repeated"] and not answer["hidden"] and not answer["errors"], state
        assert answer["figures"] == expected_figures(state), state
        assert not re.search(r"NaN|undefined|Infinity|null", answer["text"]), state


def test_the_settings_reach_every_corner(answers):
    """Otherwise the comparison above would have said less than it seems to."""
    states = [state for state, _ in answers]
    for key, values in {
        "cell": GATES, "bias": BIAS_CONVENTIONS, "scheme": SCHEMES, "dtype": DTYPE_BYTES, "directions": "12"
    }.items():  # fmt: skip
        assert {state[key] for state in states} == set(values)
    assert sum(spec_of(state).parameters() > 2**53 for state in states) > 10
    assert any(int(state["L"]) > LISTED_LAYERS for state in states)
    assert any(spec_of(state).proj_size for state in states)
    refusals = {
        f for _, answer in answers for f in answer["figures"].values() if f.startswith("Not possible")
    }
    assert len(refusals) == 2


def test_python_lines_give_the_same_figures(answers):
    for state, answer in answers:
        spec = evaluate(answer["python"])
        assert spec == spec_of(state)
        for code, figures in answer["calls"]:
            name = figures[0]
            shown = answer["figures"][name]
            if shown.startswith("Not possible"):
                with pytest.raises(ValueError, match=re.escape(shown[14:-1])):
                    evaluate(code, spec)
            elif code.startswith("match"):
                assert f"{evaluate(code).hidden_size:,}" == shown
                assert f"{evaluate(code).parameters:,}" == answer["figures"][figures[1]]
            else:
                assert f"{evaluate(code, spec):,}" == shown, code


def test_bars_show_the_shares(answers):
    for state, answer in answers:
        figures = answer["figures"]
        quantities = [k.removeprefix("total ") for k in figures if k.startswith("total ")]
        assert len(answer["bars"]) == len(quantities)
        for quantity, (words, widths) in zip(quantities, answer["bars"], strict=True):
            shares = dict(part.removesuffix(" %").split(": ") for part in words.split(", "))
            assert shares == {
                name: figures[f"{name} {quantity} share"]
                for name in shares
            }, state  # fmt: skip
            assert sum(f"{quantity} share" in key for key in figures) == len(shares)
            exact = [0 if "under" in share else float(share) for share in shares.values()]
            assert widths == pytest.approx(exact, abs=0.011), state


def test_summary_has_the_totals(answers):
    for _, answer in answers:
        totals = [value for key, value in answer["figures"].items() if key.startswith("total ")]
        assert re.findall(r"[\d,]*\d", answer["summary"]) == totals


def test_the_link_carries_the_state(by_form, browser, calculator):
    """What the form wrote into the address restores the same page from a fresh start."""
    some = by_form[::3]
    restored = ask(browser, calculator, [[answer["hash"], {}] for _, answer in some])
    for (state, answer), again in zip(some, restored, strict=True):
        assert again == answer, state
    assert len({answer["hash"] for _, answer in by_form}) == len({str(state) for state, _ in by_form})


def test_matched_widths_link_to_the_matched_stack(answers, browser, calculator):
    links = [(link, name, answer) for _, answer in answers[::12] for name, link in answer["matches"].items()]
    found = ask(browser, calculator, [[link, {}] for link, *_ in links])
    for (_, name, answer), there in zip(links, found, strict=True):
        cell = name.split()[0]
        assert there["figures"]["parameters"] == answer["figures"][f"{cell} parameters"]
        state = there["state"]
        assert (state["cell"], state["P"]) == (cell, "0") and f"{int(state['H']):,}" == answer["figures"][
            name
        ]


INVALID = {
    "D": ["", "-1", "x", "1.5", "1e3", "\uff13"],
    "H": ["0", "", "-5", "+5", "5 5", "NaN"],
    "L": ["0", "two"],
    "N": ["0", "4,000"],
    "T": ["-6", "6.0"],
    "P": ["-1", "5", "99", ""],
    "lengths": ["6, x", "3, -1", ",", "6,,4", "6,4,"],
}
ARGUMENTS = {"D": "input_size", "H": "hidden_size", "L": "num_layers", "P": "proj_size"}


def test_invalid_input_is_explained_and_leaves_no_figure(browser, calculator):
    good = {"cell": "lstm", "D": "3", "H": "5"}
    bad = [(key, good | {key: text}) for key, texts in INVALID.items() for text in texts]
    found = ask(browser, calculator, [["form", state] for _, invalid in bad for state in (invalid, good)])
    for (key, state), answer, after in zip(bad, found[::2], found[1::2], strict=True):
        assert list(answer["errors"]) == [key], state
        assert answer["errors"][key].startswith("Expected "), state
        assert answer["hidden"] and not answer["figures"] and not answer["python"], state
        assert not re.search(r"\d", answer["summary"]) and "NaN" not in answer["text"], state
        assert not after["hidden"] and not after["errors"] and after["figures"], state


LIMITS = [("D", -1), ("H", 0), ("H", -5), ("L", 0), ("P", -1), ("N", 0), ("T", -6), ("lengths", -1)]


def test_limits_are_those_of_the_library(browser, calculator):
    """The message is the library's own, less the name and the value, which stand beside it."""
    found = ask(browser, calculator, [["form", {key: str(value)}] for key, value in LIMITS])
    for (key, value), answer in zip(LIMITS, found, strict=True):
        with pytest.raises(ValueError) as raised:
            if key in ARGUMENTS:
                StackSpec("lstm", **{"input_size": 3, "hidden_size": 5, ARGUMENTS[key]: value})
            else:
                given = {"N": {"batch": value}, "T": {"steps": value}, "lengths": {"lengths": [value]}}
                StackSpec("lstm", 3, 5).macs(**given[key])
        assert answer["errors"] == {key: f"E{str(raised.value).split(': e')[1]}."}


def test_a_projection_is_narrower_than_the_state_and_only_an_lstm_s(opened):
    page = opened.go("#cell=lstm&H=5&P=5")
    with pytest.raises(ValueError, match="expected less than hidden_size=5"):
        StackSpec("lstm", 3, 5, proj_size=5)
    assert page.locator("#calc-P-error").inner_text() == "Expected less than H = 5."
    page.locator("#calc-cell").select_option("gru")
    assert page.locator("#calc-P").is_disabled()
    assert page.locator("#calc-P-error").inner_text() == "Only an LSTM projects."
    assert evaluate(page.locator("#calc-python").inner_text()) == StackSpec("gru", 3, 5)


def test_very_long_numbers_are_exact_up_to_a_stated_limit(opened):
    most = "9" * 18
    state = {"cell": "lstm", "D": most, "H": most, "P": str(int(most) - 1), "L": "60", "N": most, "T": most}
    defaults = {
        "directions": "2",
        "bias": "pytorch",
        "scheme": "native",
        "dtype": "float64",
        "training": "on",
    }
    given = [["form", state | defaults], ["form", state | {"H": "1" + most}]]
    answer, beyond = opened.go().evaluate(APPLY, given)
    assert answer["figures"] == expected_figures(state | defaults)
    assert beyond["errors"] == {"H": "Expected at most 18 digits."} and not beyond["figures"]


def test_wavefront_is_refused_in_both_directions(opened):
    page = opened.go("#cell=lstm&L=4&T=512&directions=1")
    path = page.locator("[data-figure=wavefront]")
    assert path.inner_text() == "515"
    page.locator("#calc-directions").select_option("2")
    assert path.inner_text().startswith(
        "Not possible: the reverse direction of a layer starts at the last step"
    )
    assert page.locator("[data-figure=layerwise]").inner_text() == "2,048"


def test_keyboard_alone(opened):
    """Tab to a field, type, and read; every control is reached, named and visibly focused."""
    page = opened.go()
    focus = """() => {
        const e = document.activeElement;
        const style = getComputedStyle(e);
        const label = e.labels?.[0]?.innerText || e.getAttribute("aria-label") || e.innerText;
        return [e.id, label.trim(), style.outlineStyle, parseFloat(style.outlineWidth)];
    }"""
    page.locator("#calc-cell").evaluate(
        "e => document.querySelector('.calc-examples li:last-child a').focus()"
    )
    seen = []
    while len(seen) < 18:
        page.keyboard.press("Tab")
        name, label, outline, width = page.evaluate(focus)
        seen.append(name)
        assert label, name
        assert outline == "solid" and width >= 2, f"focus is not visible on {name}"
        if name == "calc-H":
            page.keyboard.press("Control+a")
            page.keyboard.type("7")
            assert (
                page.locator("[data-figure=parameters]").inner_text()
                == f"{StackSpec('lstm', 3, 7).parameters():,}"
            )
        if name == "calc-bias":
            page.keyboard.press("ArrowDown")
            assert page.locator("#calc-bias").input_value() == "single"
        if name == "calc-training":
            page.keyboard.press("Space")
            assert page.locator("[data-figure='training batch MACs']").count() == 0
    controls = [
        "cell",
        "D",
        "H",
        "L",
        "directions",
        "P",
        "N",
        "T",
        "lengths",
        "bias",
        "scheme",
        "dtype",
        "training",
    ]
    assert seen[:15] == [f"calc-{name}" for name in [*controls, "copy-link", "copy-python"]]
    assert page.evaluate("location.hash") == (
        "#cell=lstm&D=3&H=7&L=1&directions=1&P=0&N=4&T=6&bias=single&scheme=gates&dtype=float32&training=off"
    )


def test_the_form_is_named_and_its_results_are_announced(opened):
    page = opened.go()
    assert page.locator("#calc-form fieldset > legend").all_inner_texts() == [
        "The stack", "The batch", "How to count"
    ]  # fmt: skip
    unnamed = "es => es.filter((e) => !e.labels.length).map((e) => e.name)"
    assert page.locator("#calc-form :is(input, select)").evaluate_all(unnamed) == []
    assert page.locator("#calc-summary").get_attribute("aria-live") == "polite"


def test_without_javascript_the_page_says_so(browser, calculator):
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(calculator.as_uri())
    text = page.locator("article").inner_text()
    context.close()
    assert "needs JavaScript" in text and "StackSpec" in text


def test_links_on_the_page_and_the_way_back(opened):
    page = opened.go()
    for link in page.locator("a[data-state]").all():
        before = page.locator("#calc-summary").inner_text()
        link.click()
        page.wait_for_function("state => location.hash === '#' + state", arg=link.get_attribute("data-state"))
        assert not page.evaluate(READ)["errors"] and not page.locator("#calc-note").inner_text()
        after = page.locator("#calc-summary").inner_text()
    page.go_back()
    page.wait_for_function("text => document.getElementById('calc-summary').innerText === text", arg=before)
    assert after != before
    page.evaluate("location.hash = 'what-is-counted'")
    assert page.locator("#calc-summary").inner_text() == before
    page.goto(opened.path.as_uri() + "#cell=tcn&D=7&colour=red")
    page.wait_for_function("document.getElementById('calc-D').value === '7'")
    assert "cell=tcn, colour=red" in page.locator("#calc-note").inner_text()
    assert evaluate(page.locator("#calc-python").inner_text()) == StackSpec("lstm", 7, 5)


def test_copying(opened):
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.go("#cell=gru&D=40&H=128&L=3&training=off")
    page.locator("#calc-copy-python").click()
    page.wait_for_function("document.getElementById('calc-note').textContent.includes('copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == 'StackSpec("gru", input_size=40, hidden_size=128, num_layers=3)'
    page.locator("#calc-copy-link").click()
    page.wait_for_function("document.getElementById('calc-note').textContent.includes('link')")
    link = page.evaluate("navigator.clipboard.readText()")
    before = page.evaluate(READ)["figures"]
    page.goto("about:blank")
    page.goto(link)
    assert page.evaluate(READ)["figures"] == before
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    page.locator("#calc-copy-python").click()
    page.wait_for_function("document.getElementById('calc-note').textContent.includes('does not let')")
    assert copied in page.locator("#calc-note").inner_text()


SHOWN = [
    "#cell=lstm&D=512&H=512&L=4&N=32&T=100&directions=2&scheme=native",
    f"#cell=lstm&D={'9' * 18}&H={'9' * 18}&L={'9' * 18}&N={'9' * 18}&T={'9' * 18}",
    "#cell=gru&D=40&H=128&L=12&directions=2&lengths=90,72,31&scheme=native&unknown=1",
    "#cell=lstm&D=x&H=0&L=&N=0&T=1.5&lengths=" + "7" * 80,
]


@pytest.mark.parametrize("state", SHOWN)
def test_nothing_overflows_on_a_telephone(browser, calculator, state):
    opened = Opened(browser, calculator, width=390)
    overflow = """() => {
        const all = [...document.querySelectorAll("article *")];
        const free = all.filter((e) => !e.parentElement.closest(".calc-scroll") && !e.closest("pre"));
        const wide = free.filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
        const page = document.documentElement.scrollWidth;
        return [...wide.map((e) => e.outerHTML.slice(0, 80)), ...(page > innerWidth ? [`${page} px`] : [])];
    }"""
    found = opened.go(state).evaluate(overflow)
    opened.context.close()
    assert found == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(opened, theme):
    """Text has a contrast of 4.5 to 1 to what lies below it, in every state of the page."""
    contrast = """(theme) => {
        document.documentElement.dataset.theme = document.documentElement.dataset.mode = theme;
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        const colour = (css) => {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = css;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data].map((v, i) => (i === 3 ? v / 255 : v));
        };
        const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a + below[i] * (1 - a));
        const background = (e) =>
            e
                ? over(colour(getComputedStyle(e).backgroundColor), background(e.parentElement))
                : [255, 255, 255];
        const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const luminance = ([r, g, b]) =>
            0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
        const seen = [];
        for (const e of document.querySelectorAll("article *")) {
            const speaks = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
            const passedOver = e.closest(".headerlink, option, noscript, script");
            if (!(speaks || e.matches("input, select")) || passedOver || !e.checkVisibility()) continue;
            const below = background(e);
            const above = over(colour(getComputedStyle(e).color), below);
            const [high, low] = [luminance(above), luminance(below)].sort((a, b) => b - a);
            seen.push([(high + 0.05) / (low + 0.05), e.outerHTML.slice(0, 80)]);
        }
        return seen;
    }"""
    opened.go()
    for state in SHOWN:
        page = opened.go(state)
        page.add_style_tag(content="* { transition: none !important }")
        seen = page.evaluate(contrast, theme)
        assert len(seen) > 50
        assert [words for ratio, words in seen if ratio < 4.5] == [], state
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (theme == "dark")
