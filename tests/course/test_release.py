"""What students get holds no solution, and is the same however often it is made."""

import shutil
import zipfile

import nbformat
import pytest
from leaks import leaks, secrets

from tools import repository
from tools.course import release as releases
from tools.course.table import ROOT, assignments


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All releases, made once."""
    folder = tmp_path_factory.mktemp("release")
    releases.write(assignments(), folder)
    return folder


def files_of(folder, name):
    return [folder / f"{name}.zip", *sorted((folder / name).iterdir())]


def test_a_release_gives_nothing_away(made, assignment):
    lines = secrets(assignment.read(), assignment.name)
    assert len(lines) >= 20, "too few secrets to look for"
    found = [leak for path in files_of(made, assignment.name) for leak in leaks(path, lines)]
    assert not found, "\n".join(found)


def test_the_search_finds_what_is_hidden_in_the_source(assignment):
    lines = secrets(assignment.read(), assignment.name)
    found = "\n".join(leaks(assignment.source, lines))
    assert "BEGIN SOLUTION" in found and "HIDDEN TEST" in found


@pytest.mark.parametrize("where", ["text", "name", "notebook", "comment"])
def test_a_leak_is_found(tmp_path, sample, where):
    lines = {'assert answer() == "forty-two"'}
    [line] = lines
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        archive.writestr("README.md", line if where == "text" else "fine")
        archive.writestr("tests/answers/x.py" if where == "name" else "x.py", "fine")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(line)])
        archive.writestr("x.ipynb", nbformat.writes(notebook) if where == "notebook" else "{}")
        archive.comment = line.encode() if where == "comment" else b""
    assert len(leaks(tmp_path / "release.zip", lines)) == 1


def test_solutions_hidden_tests_and_answers_are_secret(sample):
    notebook = sample.read()
    notebook.cells[2].source += "\n    ### BEGIN SOLUTION\n    long_name = 'solution'\n    ### END SOLUTION"
    notebook.cells[3].source += "\n### BEGIN HIDDEN TESTS\nhidden_name = 'test'\n### END HIDDEN TESTS"
    notebook.cells[0].source += "\nlong_name = 'open'\nfor a_line in both_places:"
    notebook.cells[4].source = "### BEGIN SOLUTION\nfor a_line in both_places:\n### END SOLUTION"
    expected = {"long_name = 'solution'", "hidden_name = 'test'", "assert answer() == 42"}
    assert secrets(notebook, "no-such") == expected
    pilot = next(a for a in assignments() if a.name == "4-gate-costs")
    assert 'raise ValueError(f"budget={budget} is too small")' in secrets(pilot.read(), pilot.name)


def test_a_release_is_the_same_again(made, assignment, tmp_path):
    first = [path.read_bytes() for path in files_of(made, assignment.name)]
    (tmp_path / assignment.name).mkdir()
    (tmp_path / assignment.name / "old.txt").touch()
    releases.write([assignment], tmp_path)
    assert [path.read_bytes() for path in files_of(tmp_path, assignment.name)] == first


def test_a_release_holds_what_a_student_needs(made, assignment):
    name = assignment.name
    with zipfile.ZipFile(made / f"{name}.zip") as archive:
        assert set(archive.namelist()) == {f"{name}/{name}.ipynb", f"{name}/README.md"}
        notebook = nbformat.reads(archive.read(f"{name}/{name}.ipynb").decode(), as_version=4)
        readme = archive.read(f"{name}/README.md").decode()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
    assert any("# YOUR CODE HERE" in cell.source for cell in code)
    assert f"https://github.com/{repository.slug()}" in code[0].source
    assert f"colab.research.google.com/github/{repository.slug()}/blob/main/assignments/" in readme
    assert assignment.title in readme and f"about {assignment.minutes} minutes" in readme
    assert "](../" not in "".join(cell.source for cell in notebook.cells)


def test_git_ignores_releases():
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("this is no clone of the repository")
    assert "assignments/release/" in (ROOT / ".gitignore").read_text().splitlines()
