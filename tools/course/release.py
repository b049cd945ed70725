"""Write what students get: make assignments. One folder and one zip per assignment, in assignments/release/.

A release has no solution, no hidden test and no output. Its bytes depend on the source alone.
"""

import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools import repository

from .gradebook import Course
from .table import RELEASE, ROOT, Assignment, assignments

DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can hold
RELATIVE_LINK = re.compile(r"(\]\()(?:\.\./)+")
README = """\
# {title}

{goals}

{points:g} points, about {minutes} minutes.

## Set-up

- In Colab: open {colab}
  and run the first code cell, which installs what the notebook needs. The link works once your instructor has
  published this folder in the course's repository. Until then, upload `{name}.ipynb` at
  https://colab.research.google.com (File, Upload notebook).
- On your own machine: clone https://github.com/{slug}, run `make lab` in it, and open `{name}.ipynb` there.

## How to work

Replace `# YOUR CODE HERE` and the line after it, and `YOUR ANSWER HERE`. You may add cells of your own. Do
not delete or copy the others: grading tells them apart by hidden names, which a copy of the text loses. The
tests you see are not all that will run.

## How to hand in

Restart the kernel, run everything from the top, and save. In Colab: File, Download, Download .ipynb. Hand in
the one file `{name}.ipynb` the way your instructor asks for, without renaming it.
"""


def colab_link(name: str, slug: str) -> str:
    folder = RELEASE.relative_to(ROOT).as_posix()
    return f"https://colab.research.google.com/github/{slug}/blob/main/{folder}/{name}/{name}.ipynb"


def files(assignment: Assignment, released: NotebookNode) -> dict[str, str]:
    """The files of a release. It may lie anywhere, so links into the course lead to its repository."""
    slug = repository.slug()
    for cell in released.cells:
        if cell.cell_type == "markdown":
            cell.source = RELATIVE_LINK.sub(rf"\1https://github.com/{slug}/blob/main/", cell.source)
    values = vars(assignment) | {"slug": slug, "colab": colab_link(assignment.name, slug)}
    return {
        f"{assignment.name}/README.md": README.format(**values),
        f"{assignment.name}/{assignment.name}.ipynb": nbformat.writes(released) + "\n",
    }


def write(listed: list[Assignment], to: Path = RELEASE) -> list[Path]:
    """Make the releases anew; the zip files."""
    written = []
    with tempfile.TemporaryDirectory(prefix="course-") as place:
        course = Course(Path(place))
        for assignment in listed:
            contents = files(assignment, course.add(assignment.name, assignment.source))
            shutil.rmtree(to / assignment.name, ignore_errors=True)
            (to / assignment.name).mkdir(parents=True)
            path = to / f"{assignment.name}.zip"
            with zipfile.ZipFile(path, "w") as archive:
                for name, text in contents.items():
                    (to / name).write_text(text, encoding="utf-8", newline="\n")
                    entry = zipfile.ZipInfo(name, DATE)
                    entry.external_attr = 0o644 << 16
                    entry.create_system = 3
                    archive.writestr(entry, text)
            written.append(path)
    return written


if __name__ == "__main__":
    for path in write(assignments(*sys.argv[1:])):
        print(f"wrote {path.relative_to(ROOT)}")
