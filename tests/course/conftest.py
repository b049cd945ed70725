"""What the tests of the graded assignments share."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from samples_course import Sample, marked

from tools.course.gradebook import Course
from tools.course.table import assignments

collect_ignore_glob = ["answers/*"]  # pieces of notebooks, not modules


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `assignment` runs for each of them."""
    if "assignment" in metafunc.fixturenames:
        metafunc.parametrize("assignment", assignments(), ids=lambda a: a.name)


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """A small assignment: one task of 2 points, one that is graded by hand."""
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# Answers"),
            marked(new_code_cell("import time"), "setup", locked=True),
            marked(
                new_code_cell("def answer():\n    ### BEGIN SOLUTION\n    return 42\n    ### END SOLUTION"),
                "answer",
                solution=True,
            ),
            marked(
                new_code_cell(
                    "assert isinstance(answer(), int)\n"
                    "### BEGIN HIDDEN TESTS\nassert answer() == 42\n### END HIDDEN TESTS"
                ),
                "test-answer",
                grade=True,
                locked=True,
                points=2,
            ),
            marked(
                new_markdown_cell("### BEGIN SOLUTION\nBecause.\n### END SOLUTION"),
                "why",
                grade=True,
                solution=True,
                points=3,
            ),
        ],
        metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
    )
    path = tmp_path_factory.mktemp("sample") / "7-answers.ipynb"
    nbformat.write(notebook, path)
    return Sample("7-answers", "Answers", "7", 5, 5, "to answer", path)


@pytest.fixture(scope="session")
def release(sample, tmp_path_factory):
    """What a student of the small assignment is given."""
    return Course(tmp_path_factory.mktemp("course")).add(sample.name, sample.source)
