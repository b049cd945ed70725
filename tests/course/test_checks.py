"""What cannot be graded is refused by name, before anything of it runs; what was changed is put right."""

import io
import json
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from samples_course import answered, cell, data, marked

from tools.course import collect
from tools.course.checks import check


def changed(release, change):
    notebook = nbformat.from_dict(release)
    change(notebook)
    return data(notebook)


def without_metadata(notebook):
    for each in notebook.cells:
        each.metadata = {}


def rename(notebook):
    cell(notebook, "answer").metadata.nbgrader.grade_id = "answer-1"


def repeat(notebook):
    notebook.cells.append(nbformat.from_dict(cell(notebook, "answer")))


def remove(notebook):
    notebook.cells.remove(cell(notebook, "test-answer"))


def of_another(notebook):
    for each in notebook.cells[1:]:
        each.metadata.nbgrader.grade_id += "-other"


REFUSED = {
    "lost metadata": (without_metadata, ["lost its grading metadata"]),
    "renamed": (rename, ["cell 'answer' is missing", "renamed perhaps: 'answer-1'"]),
    "copied": (repeat, ["cell 'answer' is there twice"]),
    "removed": (remove, ["cell 'test-answer' is missing"]),
    "wrong assignment": (of_another, ["wrong assignment: holds the cells of 8-others"]),
}
NO_NOTEBOOKS = {
    "text": b"hello",
    "no text": b"\xff\xfe\x00",
    "other json": b"[1, 2]",
    "no cells": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
    "odd cell": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}',
    "deep": b"[" * 100_000,
    "empty": b"",
}


@pytest.fixture
def known(release):
    other = nbformat.from_dict(release)
    of_another(other)
    return {"7-answers": release, "8-others": other}


def test_an_untouched_release_passes(release, known):
    found = check(data(release), "7-answers", known)
    assert found.problems == [] == found.remarks
    assert [c.source for c in found.notebook.cells] == [c.source for c in release.cells]


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_submission_is_refused_by_name(release, known, case):
    change, expected = REFUSED[case]
    problems = check(changed(release, change), "7-answers", known).problems
    assert len(problems) == len(expected)
    assert all(part in problem for part, problem in zip(expected, problems, strict=True)), problems


@pytest.mark.parametrize("case", NO_NOTEBOOKS)
def test_what_is_no_notebook_is_refused(known, case):
    [problem] = check(NO_NOTEBOOKS[case], "7-answers", known).problems
    assert problem.startswith("not a notebook: ")


def test_changed_tests_and_metadata_are_restored_and_named(release, known):
    def tamper(notebook):
        test = cell(notebook, "test-answer")
        test.source = "pass"
        test.metadata.nbgrader |= {"points": 100, "grade": False, "locked": False}
        cell(notebook, "answer").metadata.nbgrader.solution = False

    found = check(changed(release, tamper), "7-answers", known)
    assert found.problems == []
    assert found.remarks == [
        "cell 'answer' had its solution changed; graded as it was given",
        "cell 'test-answer' had its grade, locked, points, source changed; graded as it was given",
    ]
    for given, tidy in zip(release.cells, found.notebook.cells, strict=True):
        assert tidy.source == given.source and tidy.metadata.get("nbgrader") == given.metadata.get("nbgrader")


def test_another_kind_of_cell_is_restored(release, known):
    def to_markdown(notebook):
        broken = cell(notebook, "test-answer")
        broken.cell_type = "markdown"
        del broken["outputs"], broken["execution_count"]

    found = check(changed(release, to_markdown), "7-answers", known)
    assert found.remarks == ["cell 'test-answer' had its cell type changed; graded as it was given"]
    assert cell(found.notebook, "test-answer").cell_type == "code"


def test_a_students_own_cells_stay(release, known):
    def add(notebook):
        notebook.cells.insert(2, new_code_cell("!ls\nmine = 1"))
        notebook.cells.append(marked(new_code_cell("2"), "from-elsewhere"))

    found = check(changed(release, add), "7-answers", known)
    assert found.remarks == ["unknown cell 'from-elsewhere' was not graded"] and found.problems == []
    assert found.notebook.cells[2].source == "!ls\nmine = 1"


def test_moved_cells_are_named(release, known):
    found = check(changed(release, lambda nb: nb.cells.reverse()), "7-answers", known)
    assert found.remarks == ["cells stand in another order than in the release"]


def test_a_syntax_error_is_named(release, known):
    broken = answered(release, answer="def answer():\n    return (42")
    [remark] = check(data(broken), "7-answers", known).remarks
    assert remark.startswith("syntax error in cell 'answer', line 2: ")


def test_a_notebook_of_an_older_format_passes(release, known):
    old = json.loads(data(release))
    old["nbformat_minor"] = 0
    for each in old["cells"]:
        del each["id"]
    assert check(json.dumps(old).encode(), "7-answers", known).problems == []


CELLS = {"7-answers": {"setup", "answer", "test-answer"}, "8-others": {"x", "y"}}


def zipped(files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def collected(folder):
    found, aside = collect.collect(folder, CELLS)
    return {(s.student, s.assignment): (s.data, s.problems) for s in found}, aside


def put(folder, name, content=b"x"):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "name",
    ["7-answers.ipynb", "week 1/7-answers.ipynb", "Copy of 7-answers (1).ipynb", "7-answers_ana.IPYNB"],
)
def test_notebooks_are_found_by_name(tmp_path, name):
    put(tmp_path, f"Ana Ö/{name}")
    assert collected(tmp_path) == ({("Ana Ö", "7-answers"): (b"x", [])}, [])


def test_notebooks_are_found_in_archives(tmp_path, release):
    put(tmp_path, "ana.zip", zipped({"7-answers/7-answers.ipynb": "x", "__MACOSX/7-answers.ipynb": "y"}))
    put(tmp_path, "bob/handed in.zip", zipped({"deep/down/7-answers.ipynb": "x"}))
    assert collected(tmp_path)[0] == {(s, "7-answers"): (b"x", []) for s in ("ana", "bob")}


def test_notebooks_are_found_by_their_cells(tmp_path, release):
    put(tmp_path, "ana/homework.ipynb", data(release))
    put(tmp_path, "ana/scratch.ipynb", b"{}")
    assert collected(tmp_path)[0] == {("ana", "7-answers"): (data(release), [])}


def test_who_handed_in_nothing_for_an_assignment_is_missing(tmp_path):
    put(tmp_path, "ana/7-answers.ipynb")
    put(tmp_path, "bob/notes.ipynb")
    (tmp_path / "eve").mkdir()
    found, _ = collected(tmp_path)
    assert found["bob", "7-answers"][1] == [
        "missing: no notebook for this assignment",
        "notes.ipynb: holds no cell of an assignment",
    ]
    assert found["eve", "7-answers"][1] == ["missing: no notebook for this assignment"]
    assert ("eve", "8-others") not in found


def test_two_different_notebooks_are_refused_and_equal_ones_are_not(tmp_path):
    put(tmp_path, "ana/7-answers (1).ipynb")
    put(tmp_path, "ana/7-answers (2).ipynb", b"y")
    put(tmp_path, "bob/7-answers (1).ipynb")
    put(tmp_path, "bob/7-answers (2).ipynb")
    put(tmp_path, "eve/7-answers.ipynb")
    put(tmp_path, "eve/7-answers-old.ipynb", b"y")
    found, _ = collected(tmp_path)
    assert "2 different notebooks" in found["ana", "7-answers"][1][0]
    assert found["bob", "7-answers"] == found["eve", "7-answers"] == (b"x", [])


def test_what_is_too_large_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(collect, "LARGEST", 1000)
    put(tmp_path, "ana/7-answers.ipynb", b"x" * 1001)
    put(tmp_path, "bob.zip", zipped({"7-answers.ipynb": "x" * 100_000}))
    found, _ = collected(tmp_path)
    for student in ("ana", "bob"):
        content, [problem] = found[student, "7-answers"]
        assert content == b"" and problem.startswith("is too large: ")


def test_links_and_broken_archives_are_not_followed(tmp_path):
    put(tmp_path, "secret.txt")
    (tmp_path / "ana").mkdir()
    (tmp_path / "ana" / "7-answers.ipynb").symlink_to(tmp_path / "secret.txt")
    put(tmp_path, "bob/7-answers.zip", b"no archive")
    found, aside = collected(tmp_path)
    assert found["ana", "7-answers"] == (b"", ["is a link, not a file"])
    assert found["bob", "7-answers"][1][0].startswith("is no zip file that can be read")
    assert aside == ["secret.txt: expected a folder or a zip file named after a student"]
