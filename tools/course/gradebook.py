"""A course of nbgrader in a temporary folder, which never runs a student's cell.

nbgrader restores locked cells, scores outputs and writes feedback. In place of its own execution, which would
give students' code the gradebook's folder, it takes outputs that `tools.course.run` brought from elsewhere.
"""

import io
import logging
import os
import shutil
import sysconfig
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets.config import Config

LOG = logging.getLogger("tools.course.nbgrader")
LOG.addHandler(logging.NullHandler())
LOG.propagate = False
# A page of feedback shows what students wrote and printed. It runs no script and loads nothing.
POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'\">"
)


class TakeOutputs(NbGraderPreprocessor):
    """Stands where nbgrader would execute a notebook: puts in outputs that were brought from elsewhere."""

    executed: dict[tuple[str, str], list[list[NotebookNode]]] = {}  # noqa: RUF012

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        key = resources["nbgrader"]["assignment"], resources["nbgrader"]["student"]
        for cell, outputs in zip(code_cells(nb), self.executed[key], strict=True):
            cell.outputs = outputs
        return nb, resources


@dataclass(frozen=True)
class Score:
    """What a task brought; `points` is None where somebody has to read the answer."""

    task: str
    points: float | None
    max: float


class Course:
    """nbgrader's course directory, with the sources gone as soon as the releases are made."""

    def __init__(self, folder: Path):
        self.folder = folder
        config = Config()
        config.CourseDirectory.root = str(folder)
        config.CourseDirectory.db_url = f"sqlite:///{folder}/gradebook.db"
        config.Autograde.autograde_preprocessors = [
            TakeOutputs if step is Execute else step for step in Autograde.autograde_preprocessors.default()
        ]
        self.config = config

    def add(self, name: str, source: Path) -> NotebookNode:
        """Make an assignment known, and return what its students get."""
        inside = self.folder / "source" / name
        inside.mkdir(parents=True)
        shutil.copy(source, inside / f"{name}.ipynb")
        self._convert(GenerateAssignment, name, "*")
        shutil.rmtree(inside)
        return nbformat.read(self.folder / "release" / name / f"{name}.ipynb", as_version=4)

    def restored(self, name: str, student: str, notebook: NotebookNode) -> NotebookNode:
        """A submission with every locked cell, hidden tests included, as its author wrote it."""
        resources = {
            "nbgrader": {
                "notebook": name,
                "assignment": name,
                "student": student,
                "db_url": self.config.CourseDirectory.db_url,
            }
        }
        notebook = nbformat.from_dict(notebook)
        for step in Autograde.sanitize_preprocessors.default():
            notebook, resources = step(config=self.config, log=LOG).preprocess(notebook, resources)
        return notebook

    def grade(
        self, name: str, student: str, notebook: NotebookNode, outputs: list[list[NotebookNode]]
    ) -> list[Score]:
        """Score a submission, given the outputs of its code cells."""
        folder = self.folder / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
        TakeOutputs.executed = {(name, student): outputs}
        self._convert(Autograde, name, student)
        with Gradebook(self.config.CourseDirectory.db_url) as book:
            grades = book.find_submission(name, student).notebooks[0].grades
            order = [cell.name for cell in book.find_notebook(name, name).source_cells]
            scores = [Score(g.cell.name, g.auto_score, g.cell.max_score) for g in grades]
        return sorted(scores, key=lambda score: order.index(score.task))

    def feedback(self, name: str, student: str) -> str:
        """A graded submission as a page."""
        self._convert(GenerateFeedback, name, student)
        page = (self.folder / "feedback" / student / name / f"{name}.html").read_text(encoding="utf-8")
        return page.replace("<head>", f"<head>{POLICY}", 1)

    def _convert(self, step: type, name: str, student: str) -> None:
        course = CourseDirectory(config=self.config, log=LOG, assignment_id=name, student_id=student)
        said = io.StringIO()
        LOG.addHandler(handler := logging.StreamHandler(said))
        # nbgrader calls the program alembic, which lies beside this Python.
        path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
        try:
            with mock.patch.dict(os.environ, PATH=path), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # SQLAlchemy's, about nbgrader's own way of adding rows
                step(coursedir=course, config=self.config, log=LOG).start()
        except NbGraderException as error:
            raise RuntimeError(f"nbgrader on {name}, {student}: {said.getvalue().strip()}") from error
        finally:
            LOG.removeHandler(handler)


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]
