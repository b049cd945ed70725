"""A number in prose is computed by a cell of the same notebook, or cited in the same paragraph."""

import ast
import html
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

from nbformat import NotebookNode

from .citations import cites
from .execution import IGNORE, python
from .files import label, read
from .prose import CITES, Paragraph, paragraphs

SEPARATORS = ",\u2009\u202f\u00a0"
DIGITS = rf"\d{{1,3}}(?:[{SEPARATORS}]\d{{3}})+(?!\d)|\d+"
NUMBER = re.compile(
    rf"(?<![\w.§])(?<![A-Za-z][-\u2011])(?P<number>(?:{DIGITS})(?:\.\d+)*(?:[eE][-+\u2212]?\d+)?)"
)
TIMES = "\u00d7"
SPACE = "[ \u00a0\u2009\u202f]?"
ATTACHED = r"(?:[kKMGTBsx]|[kKMGT]i?B|[mµμn]s|us|[kMGT]?Hz|dB)\b"
SPACED = (
    r"(?:(?:[kKMGT]i?)?B|(?:kilo|mega|giga)?bytes?|bits?|(?:milli|micro|nano)?seconds?|[mµμn]?s|days?"
    r"|percent|per cent|percentage points?|(?:[kMGTP])?(?:MACs?|FLOPs?|FLOPS|FLOP/s|Hz)|dB|nats?|BLEU"
    r"|pixels?|px)\b"
)
UNIT_AFTER = re.compile(rf"{SPACE}[%\u2030{TIMES}]|{ATTACHED}|{SPACE}{SPACED}")
TIMES_BEFORE = re.compile(rf"{TIMES}{SPACE}\Z")
READING_TIME = re.compile(r"[ \u00a0-]?(?:min\b|minutes?\b|hours?\b)")
DECADE = re.compile(r"s\b")
NAME_WITH_VERSION = re.compile(r"\b(?:CC BY(?:-SA)?|Python|MIT)\s\Z")


def problems(notebook: NotebookNode) -> list[str]:
    """The numbers in a notebook's prose that nothing in it computes and nothing beside them cites."""
    known = literals(notebook) | outputs(notebook, proven_only=True)
    return [
        f"{label(index, cell)}: {paragraph.start!r}: {number} is no output, no literal and not cited"
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for paragraph, number in _untraced(paragraphs(cell.source), known)
    ]


def page_problems(path: Path) -> list[str]:
    """The same for a page: its numbers are cited, or are outputs of a notebook that it links to."""
    found = paragraphs(path.read_text(encoding="utf-8"), myst=True)
    known: set[str] = set()
    for target in sorted({link.partition("#")[0] for paragraph in found for link in paragraph.links}):
        if target.endswith(".ipynb") and "://" not in target and (path.parent / target).is_file():
            known |= outputs(read(path.parent / target), proven_only=True)
    return [
        f"{paragraph.start!r}: {number} is not cited and no output of a notebook linked here"
        for paragraph, number in _untraced(found, known)
    ]


def numbers(text: str) -> Iterator[str]:
    """The numbers of a text, as the design defines them, without their separators."""
    for match in NUMBER.finditer(text):
        before, after, number = text[: match.start()], text[match.end() :], match["number"]
        if READING_TIME.match(after) or NAME_WITH_VERSION.search(before):
            continue
        value = canonical(number)
        digits = re.sub(r"[eE].*|\D", "", number).lstrip("0")
        unit = UNIT_AFTER.match(after) or TIMES_BEFORE.search(before)
        if DECADE.match(after) and re.fullmatch(r"\d{3}0", number):
            unit = None
        glued = re.match(r"[A-Za-z]", after) and not unit and not DECADE.match(after)
        if not glued and (unit or len(digits) >= 3 or "." in number):
            yield value


def canonical(number: str) -> str:
    """One spelling for equal numbers: no separators, no trailing zeros, no exponent."""
    plain = re.sub(f"[{SEPARATORS}]", "", number).replace("\u2212", "-")
    try:
        return format(Decimal(plain).normalize(), "f")
    except InvalidOperation:  # 2.13.0 is a version
        return plain


def outputs(notebook: NotebookNode, proven_only: bool = False) -> set[str]:
    """Every number that the cells print, and only what the tests compare if `proven_only`."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or (proven_only and IGNORE in cell.metadata.get("tags", [])):
            continue
        for output in cell.outputs:
            data = output.get("data", {})
            texts += [output.get("text", ""), data.get("text/plain", ""), data.get("text/markdown", "")]
            texts.append(html.unescape(re.sub(r"<[^>]*>", " ", data.get("text/html", ""))))
    return _values(texts)


def literals(notebook: NotebookNode) -> set[str]:
    """Every number that stands in the code itself."""
    constants = [
        node.value
        for cell in notebook.cells
        if cell.cell_type == "code"
        for node in ast.walk(ast.parse(python(cell.source)))
        if isinstance(node, ast.Constant)
    ]
    return {canonical(repr(v)) for v in constants if isinstance(v, int | float) and not isinstance(v, bool)}


def _values(texts: Iterable[str]) -> set[str]:
    """Numbers in output: a comma may separate thousands, or the items of a list."""
    spelling = rf"(?:{DIGITS})(?:\.\d+)*(?:[eE][-+]?\d+)?|\d+(?:\.\d+)*"
    return {
        canonical(number)
        for text in texts
        for pattern in (spelling, r"\d+(?:\.\d+)*(?:[eE][-+]?\d+)?")
        for number in re.findall(pattern, text)
    }


def _untraced(found: list[Paragraph], known: set[str]) -> Iterator[tuple[Paragraph, str]]:
    for paragraph in found:
        cited = any(cites(link) for link in paragraph.links) or any(
            name in CITES for name, _ in paragraph.roles
        )
        if not paragraph.heading and not cited:
            for number in numbers(paragraph.text):
                if number not in known:
                    yield paragraph, number
