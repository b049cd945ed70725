"""The tests that run for every notebook and page find some; otherwise they would pass by doing nothing."""

import subprocess

from checks import files


def test_the_book_has_notebooks_and_pages():
    assert files.notebooks(), "no notebook in book/"
    assert files.pages(), "no page in book/"
    assert set(files.book_notebooks()) <= set(files.notebooks())


def test_a_new_notebook_is_found_before_it_is_committed_and_an_ignored_one_is_not(tmp_path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(".ipynb_checkpoints/\n")
    for name in (
        "book/new.ipynb",
        "assignments/source/a/b.ipynb",
        "other/no.ipynb",
        "book/.ipynb_checkpoints/no.ipynb",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [p.name for p in files.notebooks(tmp_path)] == ["b.ipynb", "new.ipynb"]
    assert [p.name for p in files.book_notebooks(tmp_path)] == ["new.ipynb"]
