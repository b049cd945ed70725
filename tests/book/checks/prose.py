"""Markdown as the book reads it: paragraphs with mathematics, code and headings told apart."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.anchors.index import slugify
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

GAP = "\ufffc"  # stands where code or mathematics stood
NOT_PROSE = {"bibliography", "code", "code-block", "eval-rst", "literalinclude", "math", "raw", "toctree"}
CITES = {"cite", "cite:p", "cite:t", "cite:ps", "cite:ts", "footcite"}


@dataclass
class Paragraph:
    """One paragraph, list item, table row or heading."""

    heading: bool = False
    text: str = ""
    title: str = ""  # with the code, without the mathematics, as a heading's anchor is made
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    roles: list[tuple[str, str]] = field(default_factory=list)

    @property
    def start(self) -> str:
        """The first words, to find the paragraph by."""
        return " ".join(self.text.replace(GAP, "…").split())[:60]


def parser(myst: bool) -> MarkdownIt:
    """CommonMark with tables and dollar mathematics; in the book's own pages roles and directives too."""
    markdown = MarkdownIt("commonmark", {"linkify": True}).enable(["table", "linkify"])
    markdown.use(dollarmath_plugin, double_inline=True).use(amsmath_plugin)
    if myst:
        markdown.use(myst_role_plugin).use(colon_fence_plugin).use(deflist_plugin)
    return markdown


def tokens(source: str, myst: bool) -> Iterator[Token]:
    """The block tokens, those inside admonitions and other directives with prose included."""
    for token in parser(myst).parse(source):
        yield token
        directive = re.match(r"\{([\w:-]+)\}", token.info.strip())
        if myst and token.type in {"fence", "colon_fence"} and directive and directive[1] not in NOT_PROSE:
            body = re.sub(r"\A(:[\w-]+:.*\n)+|\A---\n.*?\n---\n", "", token.content, flags=re.DOTALL)
            yield from tokens(body, myst)


def paragraphs(source: str, myst: bool = False) -> list[Paragraph]:
    """Every paragraph in order; the cells of a table's row make one."""
    found: list[Paragraph] = []
    row: Paragraph | None = None
    heading = False
    for token in tokens(source, myst):
        if token.type == "tr_open":
            row = Paragraph()
            found.append(row)
        elif token.type == "tr_close":
            row = None
        elif token.type in {"heading_open", "heading_close"}:
            heading = token.type == "heading_open"
        elif token.type == "inline":
            paragraph = row if row is not None else Paragraph(heading=heading)
            if row is None:
                found.append(paragraph)
            _fill(paragraph, token.children or [])
        elif token.type == "html_block":
            hrefs = re.findall(r"href=[\"']([^\"']+)", token.content)
            found.append(Paragraph(text=_without_tags(token.content), links=hrefs))
    return found


def slugs(source: str, myst: bool = False) -> list[str]:
    """What a link has to write after # to reach each heading, and each label where there are labels."""
    found: list[str] = []
    for paragraph in paragraphs(source, myst):
        if paragraph.heading:
            slug = unique = slugify(paragraph.title.strip())
            count = 1
            while unique in found:
                unique = f"{slug}-{count}"
                count += 1
            found.append(unique)
    return found + (re.findall(r"^\(([\w.:-]+)\)=\s*$", source, flags=re.MULTILINE) if myst else [])


def _fill(paragraph: Paragraph, children: list[Token]) -> None:
    for token in children:
        if token.type == "text":
            paragraph.text += token.content
            paragraph.title += token.content
        elif token.type in {"softbreak", "hardbreak"}:
            paragraph.text += "\n"
        elif token.type == "code_inline":
            paragraph.code.append(token.content)
            paragraph.title += token.content
            paragraph.text += GAP
        elif token.type.startswith("math"):
            paragraph.text += GAP
        elif token.type == "myst_role":
            paragraph.roles.append((token.meta["name"], token.content))
            paragraph.text += GAP
        elif token.type == "link_open":
            paragraph.links.append(str(token.attrs["href"]))
        elif token.type == "image":
            paragraph.images.append(str(token.attrs["src"]))
            _fill(paragraph, token.children or [])
    paragraph.text += " "


def _without_tags(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", text))
