"""Collect the corrections of all chapters, as their cells computed them, into one page."""

from pathlib import Path

import nbformat
import yaml

BOOK = Path(__file__).parents[1] / "book"
PAGE = BOOK / "corrections.md"
HEAD = """\
# Corrections

What the source texts say, what is right, and by how much they are off. Every row is the output of a cell in
the chapter that it belongs to, where the derivation and the measurement stand; `make corrections` collects
them here.

**Before you start.** Each row is a summary; the chapter that its heading links to has the argument.

**Time.** Ten minutes.
"""
FOOT = "**Next.** The sources that the chapters cite: [References](references.md).\n"


def chapters() -> list[Path]:
    """The notebooks of the table of contents, in its order."""
    toc = yaml.safe_load((BOOK.parent / "_toc.yml").read_text(encoding="utf-8"))
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [path for file in files if (path := BOOK.parent / f"{file}.ipynb").exists()]


def page() -> str:
    """The text of the corrections page."""
    sections = [HEAD]
    for path in chapters():
        notebook = nbformat.read(path, as_version=4)
        title = notebook.cells[0].source.splitlines()[0].removeprefix("# ")
        for cell in notebook.cells:
            if "corrections" in cell.metadata.get("tags", []):
                table = cell.outputs[0]["data"]["text/markdown"]
                sections.append(f"## [{title}]({path.relative_to(BOOK)})\n\n{table}\n")
    return "\n".join([*sections, FOOT])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
