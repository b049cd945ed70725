"""Notebooks hold no MyST: they read the same in the book, in Colab, in JupyterLab and on the web."""

import pytest
from checks import commonmark, files
from samples import good, notebook, text

FAULTS = {
    "See {doc}`intro`.": "a role",
    "See {py:func}`rnnlib.audit`.": "a role",
    "```{note}\nHi\n```": "a directive",
    ":::{tip}\nHi\n:::": "a directive",
    "(here)=\n## Here": "a label",
    "It is {{ version }}.": "a substitution",
    "True.[^1]\n\n[^1]: Why": "a footnote",
    "As [@elman] says.": "a citation",
    "[a](b.md){.wide}": "attributes",
    "One\n\n+++\n\nTwo": "a block break",
    "% nobody reads this": "a comment",
    "$$\nx\n$$ (eq)": "a labelled formula",
    "\\begin{align}\nx\n\\end{align}": "a formula outside of $$",
    "So\n$$x = 1$$\nand on": "a displayed formula ($$) without blank lines",
    "<div>Hi</div>": "raw HTML: <div>",
    "Hi<br>there": "raw HTML: <br>",
    "> - ```{note}\n>   Hi\n>   ```": "a directive",
}
FINE = [
    "A set {a, b}, code `{doc}` and ``{x}`y` ``, $\\frac{a}{b}`x`$, [x](y.md) (see) = 3.",
    "```python\nx = {y}\n```\n\n| a | b |\n|---|---|\n| `{a}` | 50% |",
    "$$\\begin{aligned} x \\end{aligned}$$\n\n<details>\n<summary>Hint</summary>\n\n{x}\n\n</details>",
]


def test_good_notebooks_pass():
    assert commonmark.problems(good()) == []
    assert commonmark.problems(notebook(*map(text, FINE))) == []


@pytest.mark.parametrize("source", FAULTS)
def test_a_fault_is_named(source):
    found = commonmark.problems(notebook(text("Fine."), text(source)))
    assert found and all("cell 2" in problem and FAULTS[source] in problem for problem in found), found


def test_no_myst_in_notebooks(notebook_path):
    assert not (found := commonmark.problems(files.read(notebook_path))), "\n".join(found)
