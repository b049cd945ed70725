"""Every assignment's grader gives right, wrong, empty and tampered submissions what they are worth."""

from functools import cache

import nbformat
import pytest
from samples_course import data
from variants import Variant, variants

from tools.course.grade import grade
from tools.course.gradebook import Course
from tools.course.report import Result
from tools.course.table import Assignment, assignments, grading, points

MADE = {"the reference": "solution", "the untouched release": "release"}
TAMPERED = "a tampered release"
ALL = [(a, name) for a in assignments() for name in [*MADE, TAMPERED, *(v.name for v in variants(a.name))]]


def tampered(release):
    """Tests emptied, worth ten times as much, and one of them no longer marked as a test."""
    notebook = nbformat.from_dict(release)
    tests = [c for c in notebook.cells if grading(c).get("grade") and c.cell_type == "code"]
    for test in tests:
        test.source = "pass"
        test.metadata.nbgrader.points *= 10
    tests[0].metadata.nbgrader.grade = False
    return notebook


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of all submissions to an assignment, graded as a class."""

    @cache
    def graded(assignment: Assignment) -> dict[str, Result]:
        release = Course(tmp_path_factory.mktemp("course")).add(assignment.name, assignment.source)
        solution = assignment.read()
        made = {name: Variant(name, 0, base, {}) for name, base in MADE.items()}
        notebooks = {
            v.name: v.notebook(release, solution) for v in [*made.values(), *variants(assignment.name)]
        } | {TAMPERED: tampered(release)}
        folder = tmp_path_factory.mktemp("submissions")
        for name, notebook in notebooks.items():
            (folder / name).mkdir()
            (folder / name / f"{assignment.name}.ipynb").write_bytes(data(notebook))
        found, aside = grade(folder, [assignment], feedback=False)
        assert not aside
        return {result.student: result for result in found}

    return graded


@pytest.mark.parametrize(("of", "name"), ALL, ids=[f"{a.name}: {name}" for a, name in ALL])
def test_a_submission_gets_what_it_is_worth(results, of, name):
    full = points(of.read(), by_hand=False)
    expected = {"the reference": full, "the untouched release": 0, TAMPERED: 0}
    expected |= {variant.name: variant.points for variant in variants(of.name)}
    result = results(of)[name]
    assert result.status == "graded", result.remarks
    scores = [f"{s.task}: {s.points} of {s.max}" for s in result.scores]
    assert result.total == expected[name], "\n".join(scores + result.remarks)
    assert result.max == of.points


def test_tampering_is_reported(results, assignment):
    remarks = results(assignment)[TAMPERED].remarks
    tests = [c for c in assignment.read().cells if grading(c).get("grade") and c.cell_type == "code"]
    assert len(tests) == sum("points" in remark and "source" in remark for remark in remarks) >= 1
    assert "grade" in remarks[0].partition("had its")[2].partition("changed")[0]


def test_the_variants_are_worth_trying(assignment):
    full = points(assignment.read(), by_hand=False)
    found = {variant.name: variant for variant in variants(assignment.name)}
    assert found["right_otherwise"].points == full and found["right_otherwise"].base == "release"
    wrong = [variant for variant in found.values() if variant.points < full]
    assert len(wrong) >= 3
    assert any(variant.points > 0 for variant in wrong), "none of them is partly right"
