"""Which files the checks look at: everything that git tracks or would track, so nothing has to be listed."""

import subprocess
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[3]
NOTEBOOK_FOLDERS = ("book", "assignments/source")


def files(*patterns: str, root: Path = ROOT) -> list[Path]:
    """Files of the working tree, without those that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return sorted({root / name for name in listed.stdout.split("\0") if name and (root / name).is_file()})


def notebooks(root: Path = ROOT) -> list[Path]:
    """Every notebook that a reader, a student or an instructor opens."""
    return files(*(f":(glob){folder}/**/*.ipynb" for folder in NOTEBOOK_FOLDERS), root=root)


def book_notebooks(root: Path = ROOT) -> list[Path]:
    return files(":(glob)book/**/*.ipynb", root=root)


def pages(root: Path = ROOT) -> list[Path]:
    """The book's pages that are not notebooks."""
    return files(":(glob)book/**/*.md", root=root)


def name(path: Path) -> str:
    """A file's address in the repository, for the names of tests."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def label(index: int, cell: nbformat.NotebookNode) -> str:
    """A cell's number, counted from 1, and its first line."""
    first = next((line for line in cell.source.splitlines() if line.strip()), "")
    return f"cell {index + 1} ({first[:50]!r})"
