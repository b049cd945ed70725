"""Notebooks hold CommonMark, tables, $...$ and ordinary links only, so that they read well everywhere."""

import re

from nbformat import NotebookNode

from .files import label
from .prose import GAP, parser

ALLOWED_HTML = {"details", "summary"}
STANDS_FOR = {"softbreak": "\n", "code_inline": GAP, "link_open": "[", "link_close": "]"}
OUTSIDE_TEXT = {
    "a role ({name}`...`)": re.compile(r"\{[A-Za-z][\w:.+-]*\}" + GAP),
    "a substitution ({{...}})": re.compile(r"\{\{.*?\}\}"),
    "a label ((name)=)": re.compile(r"^\([\w.:-]+\)=\s*$", re.MULTILINE),
    "a directive (:::)": re.compile(r"^\s*:{3,}", re.MULTILINE),
    "a footnote ([^1])": re.compile(r"\[\^[^\]]+\]"),
    "a citation ([@key])": re.compile(r"\[-?@[\w:.-]+"),
    "attributes ({.class} or {#name})": re.compile(r"\{[.#][\w-]+[^}]*\}"),
    "a block break (+++)": re.compile(r"^\+\+\+", re.MULTILINE),
    "a comment (%)": re.compile(r"^% ", re.MULTILINE),
}


def problems(notebook: NotebookNode) -> list[str]:
    return [
        f"{label(index, cell)}: {text}"
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "markdown"
        for text in _cell_problems(cell.source)
    ]


def _cell_problems(source: str) -> list[str]:
    found = []
    for token in parser(myst=False).parse(source):
        if token.type == "fence" and token.info.strip().startswith("{"):
            found.append(f"a directive (``` {token.info.strip()})")
        elif token.type == "math_block_label":
            found.append("a labelled formula ($$ (name))")
        elif token.type == "amsmath":
            found.append("a formula outside of $$: " + token.content.splitlines()[0])
        elif token.type == "html_block":
            found += _html_problems(token.content)
        elif token.type == "inline":
            if "$$" in token.content:
                found.append("a displayed formula ($$) without blank lines around it")
            text = ""
            for child in token.children or []:
                if child.type == "html_inline":
                    found += _html_problems(child.content)
                elif child.type == "text":
                    text += child.content
                else:
                    text += STANDS_FOR.get(child.type, " ")
            found += [
                f"{what}: {match[0]!r}" for what, rule in OUTSIDE_TEXT.items() if (match := rule.search(text))
            ]
    return found


def _html_problems(text: str) -> list[str]:
    names = re.findall(r"<[/!]?([\w-]+)", text)
    return [f"raw HTML: <{tag}>" for tag in names if tag.lower() not in ALLOWED_HTML]
