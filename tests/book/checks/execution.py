"""A stored notebook is what a fresh run from the top gives: nothing unrun, failed or excused."""

import ast
import io
import re
import tokenize

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from .files import label

IGNORE = "nbval-ignore-output"
SWITCHES = re.compile(r"nbval-|raises-exception|skip-execution")
COMMENT_SWITCH = re.compile(r"^\s*#+\s*(NBVAL_\w+|PYTEST_VALIDATE_\w+)\s*$", re.MULTILINE)
PROGRESS = re.compile(r"\r|\d+%\s*\||\bit/s\b|s/it\b")
WIDGET = "application/vnd.jupyter.widget-view+json"
LOCAL_PATH = re.compile(r"(?<![\w.~/])(?:/(?:home|root|tmp|work|Users|content|mnt)/|[A-Z]:\\)[\w.]")


def problems(notebook: NotebookNode) -> list[str]:
    found = []
    if (kernel := notebook.metadata.get("kernelspec", {}).get("name")) != "python3":
        found.append(f"the kernel is {kernel!r}: expected 'python3', which every reader has")
    if "widgets" in notebook.metadata:
        found.append("the state of widgets is stored: a progress bar was on")
    expected = 0
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            expected += 1
            found += [f"{label(index, cell)}: {text}" for text in _cell_problems(cell, expected)]
    return found if expected else [*found, "there is no code cell"]


def python(source: str) -> str:
    """A cell's code with its magics turned into the calls that they stand for."""
    return TransformerManager().transform_cell(source)


def _cell_problems(cell: NotebookNode, expected: int) -> list[str]:
    found = []
    tags = cell.metadata.get("tags", [])
    if not cell.source.strip():
        found.append("is empty")
    if cell.execution_count != expected:
        found.append(
            f"has execution count {cell.execution_count}: run the notebook from the top ({expected})"
        )
    if bad := [tag for tag in tags if SWITCHES.match(tag.lower()) and tag != IGNORE]:
        found.append(f"switches its test off by the tag {bad[0]}")
    if comment := COMMENT_SWITCH.search(cell.source):
        found.append(f"switches its test off by the comment {comment[1]}")
    if IGNORE in tags and not any(isinstance(node, ast.Assert) for node in ast.walk(_parse(cell))):
        found.append(f"is tagged {IGNORE} and asserts nothing")
    if _ends_with_semicolon(cell.source):
        found.append("ends with a semicolon, which strict nbval cannot compare")
    for output in cell.outputs:
        found += _output_problems(output)
    return found


def _output_problems(output: NotebookNode) -> list[str]:
    if output.output_type == "error":
        return [f"stored an error: {output.ename}: {output.evalue}"]
    if output.get("name") == "stderr":
        return [f"stored something on stderr: {output.text[:60]!r}"]
    found = []
    data = output.get("data", {})
    text = output.get("text", "") + "".join(str(v) for k, v in data.items() if k.startswith("text/"))
    if WIDGET in data or PROGRESS.search(text):
        found.append("stored a progress bar or a widget")
    if path := LOCAL_PATH.search(text):
        found.append(f"stored a path of the machine it ran on: {text[path.start() :][:40]!r}")
    return found


def _parse(cell: NotebookNode) -> ast.AST:
    return ast.parse(python(cell.source))


def _ends_with_semicolon(source: str) -> bool:
    """Whether the last thing that is not a comment is a semicolon."""
    try:
        words = [
            token.string
            for token in tokenize.generate_tokens(io.StringIO(python(source)).readline)
            if token.type not in {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
            and token.string.strip()
        ]
    except (tokenize.TokenError, SyntaxError):
        return source.rstrip().endswith(";")
    return bool(words) and words[-1] == ";"
