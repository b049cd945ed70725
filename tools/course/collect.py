"""Find what students handed in. Files are read as data here; archives are never unpacked to the disk.

Accepted are, in a folder of submissions, for every student

- a folder named after the student, with the notebooks in it or in folders below it, zipped or not;
- or one zip file named after the student.

A notebook is taken for an assignment if its file name contains the assignment's name, as in
``4-gate-costs.ipynb`` or ``Copy of 4-gate-costs (1).ipynb``, and otherwise by the cells that it holds.
"""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LARGEST = 10 * 2**20  # bytes of one notebook
MOST_FILES = 1000  # in one archive
SKIPPED = {".ipynb_checkpoints", "__MACOSX"}


@dataclass
class File:
    """A notebook that was handed in, or why it could not be read."""

    name: str
    data: bytes = b""
    problem: str = ""


@dataclass
class Submission:
    """What one student handed in for one assignment."""

    student: str
    assignment: str
    data: bytes = b""
    problems: list[str] = field(default_factory=list)


def collect(folder: Path, cells: dict[str, set[str]]) -> tuple[list[Submission], list[str]]:
    """The submissions of a folder, and what in it was left aside.

    ``cells`` holds the names of every assignment's cells. A student who handed in something is listed for
    every assignment that anybody handed in, so that a missing one is seen.
    """
    found: dict[str, dict[str, list[File]]] = {}
    strangers: dict[str, list[str]] = {}
    aside = []
    for entry in sorted(folder.iterdir()):
        if entry.is_symlink() or not (entry.is_dir() or entry.suffix.lower() == ".zip"):
            aside.append(f"{entry.name}: expected a folder or a zip file named after a student")
            continue
        student = entry.name if entry.is_dir() else entry.stem
        files = found.setdefault(student, {})
        for file in _in_folder(entry) if entry.is_dir() else _in_zip(entry.name, entry.read_bytes()):
            if name := _assignment(file, cells):
                files.setdefault(name, []).append(file)
            else:
                text = file.problem or "holds no cell of an assignment"
                strangers.setdefault(student, []).append(f"{file.name}: {text}")
    wanted = {name for files in found.values() for name in files} or set(cells)
    return [
        _submission(student, name, files.get(name, []), strangers.get(student, []))
        for student, files in sorted(found.items())
        for name in sorted(wanted)
    ], aside


def _submission(student: str, name: str, files: list[File], strangers: list[str]) -> Submission:
    submission = Submission(student, name)
    exact = [file for file in files if Path(file.name).name == f"{name}.ipynb"]
    chosen = exact if len(exact) == 1 else files
    if not files:
        submission.problems = ["missing: no notebook for this assignment", *strangers]
    elif len({file.data for file in chosen}) > 1:
        names = ", ".join(file.name for file in chosen)
        submission.problems = [f"{len(chosen)} different notebooks, and no way to choose: {names}"]
    else:
        submission.data = chosen[0].data
        submission.problems = [chosen[0].problem] if chosen[0].problem else []
    return submission


def _assignment(file: File, cells: dict[str, set[str]]) -> str:
    """The assignment that a file is meant for, by its name or by most of its cells."""
    if named := [name for name in cells if name in Path(file.name).name]:
        return max(named, key=len)
    try:
        listed = json.loads(file.data)["cells"]
        held = {cell["metadata"]["nbgrader"]["grade_id"] for cell in listed if "nbgrader" in cell["metadata"]}
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
    best = max(cells, key=lambda name: len(cells[name] & held))
    return best if len(cells[best] & held) > len(cells[best]) / 2 else ""


def _in_folder(folder: Path) -> Iterator[File]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if SKIPPED & set(inside.parts) or path.is_dir():
            continue
        name = inside.as_posix()
        if path.suffix.lower() not in {".ipynb", ".zip"}:
            continue
        if any(part.is_symlink() for part in (path, *list(path.parents)[: len(inside.parts) - 1])):
            yield File(name, problem="is a link, not a file")
        elif path.stat().st_size > LARGEST:
            yield File(name, problem=_too_large(path.stat().st_size))
        elif path.suffix.lower() == ".zip":
            yield from _in_zip(name, path.read_bytes())
        else:
            yield File(name, path.read_bytes())


def _in_zip(name: str, data: bytes) -> Iterator[File]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist()[:MOST_FILES]:
                path = Path(member.filename)
                if path.suffix.lower() != ".ipynb" or SKIPPED & set(path.parts):
                    continue
                if member.file_size > LARGEST:
                    yield File(member.filename, problem=_too_large(member.file_size))
                else:
                    with archive.open(member) as file:
                        yield File(member.filename, file.read(LARGEST))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError) as error:
        yield File(name, problem=f"is no zip file that can be read ({error})")


def _too_large(size: int) -> str:
    return f"is too large: {size / 2**20:.0f} MB, expected at most {LARGEST / 2**20:.0f} MB"
