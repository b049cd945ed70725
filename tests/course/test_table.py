"""The table of the assignments says what the notebooks say."""

import re

import pytest

from tools.course.table import SOURCE, assignments, grading, points


def test_every_assignment_is_listed():
    assert [a.name for a in assignments()] == sorted(path.name for path in SOURCE.iterdir() if path.is_dir())


def test_the_table_says_what_the_notebook_says(assignment):
    notebook = assignment.read()
    first = notebook.cells[0].source
    stated = re.search(r"\*\*([\d.]+) points, about (\d+) minutes\.\*\*", first)
    assert stated, "the first cell does not say: **10 points, about 60 minutes.**"
    assert first.splitlines()[0] == f"# {assignment.title}"
    assert float(stated[1]) == points(notebook) == assignment.points
    assert int(stated[2]) == assignment.minutes
    assert assignment.goals.strip() and assignment.chapter.strip()


def test_points_are_told_apart_by_who_gives_them(sample):
    notebook = sample.read()
    assert (points(notebook), points(notebook, by_hand=False), points(notebook, by_hand=True)) == (5, 2, 3)


def test_the_metadata_follows_nbgraders_schema(assignment):
    notebook = assignment.read()
    marks = [grading(cell) for cell in notebook.cells if grading(cell)]
    names = [mark["grade_id"] for mark in marks]
    assert len(names) == len(set(names))
    for cell, mark in ((cell, grading(cell)) for cell in notebook.cells if grading(cell)):
        assert mark["schema_version"] == 3 and {"grade", "solution", "locked", "task"} <= mark.keys()
        assert mark["locked"] != mark["solution"], f"{mark['grade_id']}: locked, or to be answered?"
        assert ("BEGIN SOLUTION" in cell.source) == mark["solution"], mark["grade_id"]


def test_an_unknown_assignment_is_refused():
    with pytest.raises(SystemExit, match=r"ONLY='nothing': expected one of .*4-gate-costs"):
        assignments("nothing")
