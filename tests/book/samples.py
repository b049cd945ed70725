"""Small notebooks for the checks: one that passes all of them, and ways to spoil it."""

import base64

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

PIXEL = base64.b64encode(b"\x89PNG").decode()
ALT = {"mystnb": {"image": {"alt": "A line that rises from the lower left to the upper right"}}}
DRAW = "fig, ax = plt.subplots()\nax.plot([1, 2])\nax.set(title='Up', xlabel='step', ylabel='height')"


def text(source: str) -> NotebookNode:
    return new_markdown_cell(source)


def code(
    source: str, *outputs: NotebookNode, count: int = 1, tags: tuple[str, ...] = (), **meta
) -> NotebookNode:
    metadata = {**({"tags": list(tags)} if tags else {}), **meta}
    return new_code_cell(source, outputs=list(outputs), execution_count=count, metadata=metadata)


def result(plain: str, html: str | None = None) -> NotebookNode:
    data = {"text/plain": plain} | ({"text/html": html} if html else {})
    return new_output("execute_result", data=data, execution_count=1)


def printed(words: str, name: str = "stdout") -> NotebookNode:
    return new_output("stream", name=name, text=words)


def figure() -> NotebookNode:
    return new_output(
        "display_data", data={"image/png": PIXEL, "text/plain": "<Figure size 700x360 with 1 Axes>"}
    )


def notebook(*cells: NotebookNode, kernel: str = "python3") -> NotebookNode:
    kernelspec = {"display_name": "Python 3", "language": "python", "name": kernel}
    return new_notebook(cells=list(cells), metadata={"kernelspec": kernelspec})


def good() -> NotebookNode:
    """A notebook without a fault."""
    return notebook(
        text("# Sums\n\nThe count is 1,234 and $x = 999$, see `rnnlib.StackSpec` and [above](#sums)."),
        code("import matplotlib.pyplot as plt\ntotal = 1000 + 234\ntotal", result("1234")),
        text("<details>\n<summary>Answer</summary>\n\n| a | b |\n|---|---|\n| 1 | `{x}` |\n\n</details>"),
        code(DRAW, figure(), count=2, **ALT),
        code(
            "%time 1\nassert total > 3", printed("0.1 s"), count=3, tags=("nbval-ignore-output", "hide-input")
        ),
    )
