"""Every figure says in words what it shows, and what its axes mean."""

import ast
import inspect
from collections.abc import Iterator

from nbformat import NotebookNode

from .execution import python
from .files import label

TITLE = {"set_title", "suptitle", "title"}
X_LABEL = {"set_xlabel", "supxlabel", "xlabel"}
Y_LABEL = {"set_ylabel", "supylabel", "ylabel"}
AXIS_OFF = {"set_axis_off", "axis_off"}
MARKS = {"plot", "errorbar", "bar", "barh", "scatter", "step"}  # what a legend tells apart
SECOND_SIGNS = {"marker", "linestyle", "ls", "fmt", "hatch"}


def problems(notebook: NotebookNode) -> list[str]:
    found = []
    seen: dict[str, str] = {}
    functions = _functions(notebook)
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or not any(_is_image(output) for output in cell.outputs):
            continue
        where = label(index, cell)
        alt = alternative_text(cell)
        if len(alt) < 20 or " " not in alt:
            found.append(f"{where}: has no alternative text in its metadata (mystnb.image.alt): {alt!r}")
        elif alt in seen:
            found.append(f"{where}: has the same alternative text as {seen[alt]}")
        seen[alt] = where
        if sum(_is_image(output) for output in cell.outputs) > 1:
            found.append(f"{where}: has several figures and can have one alternative text only")
        found += [f"{where}: the figure {text}" for text in _drawing_problems(cell.source, functions)]
    return found


def alternative_text(cell: NotebookNode) -> str:
    return str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")).strip()


def _is_image(output: NotebookNode) -> bool:
    return any(kind.startswith("image/") for kind in output.get("data", {}))


def _drawing_problems(source: str, functions: dict[str, ast.AST]) -> list[str]:
    tree = ast.parse(python(source))
    calls = _calls(tree, functions)
    found = [] if calls & TITLE else ["has no title"]
    found += [f"tells marks apart by colour alone: {text[:60]}" for text in _by_colour_alone(tree)]
    if not calls & AXIS_OFF:
        found += ["has no label on its x axis"] if not calls & X_LABEL else []
        found += ["has no label on its y axis"] if not calls & Y_LABEL else []
    return found


def _by_colour_alone(tree: ast.AST) -> Iterator[str]:
    """Calls that draw in a colour that varies, with no marker, line style or hatch that could vary too."""
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MARKS:
            words = {word.arg: word.value for word in node.keywords}
            varies = "color" in words and not isinstance(words["color"], ast.Constant)
            unpacked = None in words  # **style: its keys stand in the cell as strings
            second = words.keys() & SECOND_SIGNS or (unpacked and named & SECOND_SIGNS)
            if (varies or unpacked) and not second:
                yield ast.unparse(node)


def _calls(tree: ast.AST, functions: dict[str, ast.AST]) -> set[str]:
    """The methods that draw the figure, in the cell and in functions that it calls, keywords of `set` too."""
    found: set[str] = set()
    waiting, followed = [tree], set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            found.add(called)
            found |= {word.arg for word in node.keywords if word.arg in TITLE | X_LABEL | Y_LABEL}
            if called == "axis" and any(
                getattr(value, "value", None) in ("off", False) for value in node.args
            ):
                found.add("axis_off")
            if called in functions and called not in followed:
                followed.add(called)
                waiting.append(functions[called])
    return found


def _functions(notebook: NotebookNode) -> dict[str, ast.AST]:
    """Functions of this notebook and of rnnlib.plotting, where a cell's drawing may be done."""
    from rnnlib import plotting

    sources = [python(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    return {
        node.name: node for source in [inspect.getsource(plotting), *sources] for node in _definitions(source)
    }


def _definitions(source: str) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
