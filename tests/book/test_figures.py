"""Figures have alternative text, titles, axes with names, and a second sign beside the colour."""

import pytest
from checks import figures, files
from samples import ALT, DRAW, code, figure, good, notebook

HELPER = "def draw(ax):\n    ax.set_title('a')\n    ax.set_xlabel('b')\n    ax.set_ylabel('c')"
FAULTS = {
    "no alt": (notebook(code(DRAW, figure())), "no alternative text"),
    "short alt": (notebook(code(DRAW, figure(), mystnb={"image": {"alt": "A plot"}})), "no alternative text"),
    "one word": (notebook(code(DRAW, figure(), mystnb={"image": {"alt": "x" * 30}})), "no alternative text"),
    "same alt": (
        notebook(code(DRAW, figure(), **ALT), code(DRAW, figure(), **ALT)),
        "same alternative text as cell 1",
    ),
    "two in one": (notebook(code(DRAW, figure(), figure(), **ALT)), "several figures"),
    "no title": (notebook(code(DRAW.replace("title='Up', ", ""), figure(), **ALT)), "has no title"),
    "colour alone": (
        notebook(code(DRAW + "\nfor c in 'rg': ax.plot([1], color=c)", figure(), **ALT)),
        "by colour alone: ax.plot([1], color=c)",
    ),
    "style without a marker": (
        notebook(code(DRAW + "\nstyle = {'color': c}\nax.bar([1], **style)", figure(), **ALT)),
        "by colour alone: ax.bar",
    ),
    "no x": (notebook(code(DRAW.replace("xlabel", "xlim"), figure(), **ALT)), "on its x axis"),
    "no y": (notebook(code(DRAW.replace("ylabel", "ylim"), figure(), **ALT)), "on its y axis"),
}


def test_good_figures_pass():
    assert figures.problems(good()) == []
    assert figures.problems(notebook(code("plt.title('a')\nplt.axis('off')", figure(), **ALT))) == []
    assert figures.problems(notebook(code("ax.set_axis_off()\nax.set_title('a')", figure(), **ALT))) == []
    assert figures.problems(notebook(code(HELPER), code("draw(ax)", figure(), **ALT))) == []
    assert figures.problems(notebook(code("1"))) == []
    marked = "\nax.plot([1], color=c, marker=m)\nax.plot([2], **{'marker': m})\nax.plot([3], color='k')"
    assert figures.problems(notebook(code(DRAW + marked, figure(), **ALT))) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault):
    spoiled, message = FAULTS[fault]
    assert any(message in problem for problem in figures.problems(spoiled)), figures.problems(spoiled)


def test_figures_of_the_notebooks(notebook_path):
    assert not (found := figures.problems(files.read(notebook_path))), "\n".join(found)
