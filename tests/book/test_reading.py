"""Every page says what comes before it and how long it takes, and offers the next step."""

import nbformat
import pytest
from checks import exercises, files, reading, toc
from samples import code, notebook, text

PAGE = """\
# Sums

Adding.

**Before you start.** Nothing.

**Time.** Two minutes.

## One and one

Two.

**Next.** [Products](products.md).
"""
INDEX = files.ROOT / "book" / "index.md"
FAULTS = {
    "Before you start": PAGE.replace("**Before you start.** Nothing.\n\n", ""),
    "begins with": PAGE.replace("**Before you start.**", "Well, **before you start.**"),
    "**Time.**": PAGE.replace("Two minutes.", "Not long."),
    "minutes or hours": PAGE.replace("**Time.** Two minutes.\n\n", "").replace("Two.", "**Time.** One hour."),
    "**Next.**": PAGE + "\nA last word.\n",
    "link to a page": PAGE.replace("products.md", "https://example.org/"),
}


def test_a_good_page_and_a_good_notebook_pass(tmp_path):
    (tmp_path / "page.md").write_text(PAGE)
    nbformat.write(
        notebook(text(PAGE.partition("**Next")[0]), code("1"), text("**Next.** [P](p.md)")),
        tmp_path / "a.ipynb",
    )
    assert reading.problems(tmp_path / "page.md") == reading.problems(tmp_path / "a.ipynb") == []


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_is_named(tmp_path, message):
    (tmp_path / "page.md").write_text(FAULTS[message])
    (found,) = reading.problems(tmp_path / "page.md")
    assert message in found


def test_code_after_the_next_step_is_a_fault(tmp_path):
    nbformat.write(notebook(text(PAGE), code("1")), tmp_path / "a.ipynb")
    (found,) = reading.problems(tmp_path / "a.ipynb")
    assert "the last paragraph is not **Next.**" in found


def test_notebooks_say_where_they_stand(book_notebook_path):
    assert not (found := reading.problems(book_notebook_path)), "\n".join(found)


def test_pages_say_where_they_stand(page_path):
    assert not (found := reading.problems(page_path)), "\n".join(found)


def test_the_next_step_leads_through_all_chapters_and_systems_in_order():
    path, visited = INDEX, []
    while path not in visited:
        visited.append(path)
        path = reading.next_pages(path)[0]
    ordered = [*toc.chapters(), *toc.systems()]
    assert [page for page in visited if page in ordered] == ordered


@pytest.mark.parametrize("path", toc.chapters(), ids=files.name)
def test_the_times_of_a_chapter_agree(path):
    """With the table of the first page, and with the sum over the exercises to a quarter of an hour."""
    of_text, of_exercises = reading.minutes(path)
    assert f"]({path.name}) |" in INDEX.read_text()
    (row,) = (line for line in INDEX.read_text().splitlines() if f"]({path.name}) |" in line)
    assert row.endswith(f"| {of_text} min |")
    found = sum(exercise.minutes for exercise in exercises.exercises(files.read(path)))
    assert abs(found - of_exercises) <= 15, f"the exercises take {found} minutes in all"
