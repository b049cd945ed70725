"""Links lead somewhere, names of rnnlib exist, sources are listed."""

import subprocess

import nbformat
import pytest
from checks import links
from checks.citations import bibliography, cites
from samples import notebook, text

PAGE = "# One\n\n## 3. What's new in $x$ `code`\n\n(label-here)=\n## Same\n\n## Same\n"
FINE = [
    "[a](two.md), [b](two.md#3-whats-new-in--code), [c](sub/three.ipynb#top), [d](#here), [e](two.md#same-1)",
    "[a](https://example.org/x), <mailto:a@b.c>, [b](https://doi.org/10.1/known), https://arxiv.org/abs/1406.1078v3",
    "`rnnlib.audit(module, x)`, `rnnlib.StackSpec.macs`, `rnnlib.Correction.claim`, `rnnlib/nothing.py`",
    "[api](two.md#rnnlib.StackSpec) and ![a picture](picture.png)",
]
FAULTS = {
    "[a](missing.md)": "leads to no file",
    "[x](https://arxiv.org/abs/1406.1079v2)": "is not in references.bib",
    "![a](missing.png)": "leads to no file",
    "[a](two.md#nowhere)": "leads to no heading of two.md",
    "[a](#nowhere)": "leads to no heading of one.ipynb",
    "[a](sub/three.ipynb#3-whats-new)": "leads to no heading of three.ipynb",
    "[a](ignored.md)": "leads to a file that git ignores",
    "`rnnlib.not_there`": "`rnnlib.not_there` cannot be imported",
    "`rnnlib.StackSpec.nothing()`": "`rnnlib.StackSpec.nothing` cannot be imported",
    "[api](two.md#rnnlib.nothing)": "leads to a name that cannot be imported",
    "[x](https://doi.org/10.1/unknown)": "is not in references.bib",
    "[x](https://arxiv.org/abs/1406.10781)": "is not in references.bib",
}


@pytest.fixture
def folder(tmp_path):
    """A small repository of pages around book/one.ipynb."""
    book = tmp_path / "book"
    (book / "sub").mkdir(parents=True)
    (book / "two.md").write_text(PAGE)
    (book / "picture.png").touch()
    (book / "ignored.md").touch()
    (tmp_path / ".gitignore").write_text("ignored.md\n")
    (book / "references.bib").write_text("@a{x, doi = {10.1/known}}\n@b{y, eprint = {1406.1078}}\n")
    nbformat.write(notebook(text("# Top")), book / "sub" / "three.ipynb")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return book


def problems_of(folder, source):
    nbformat.write(notebook(text("# Here\n\n" + source)), folder / "one.ipynb")
    bibliography.cache_clear()
    return links.problems(folder / "one.ipynb", root=folder.parent)


@pytest.mark.parametrize("source", FINE)
def test_good_links_pass(folder, source):
    assert problems_of(folder, source) == []


@pytest.mark.parametrize("source", FAULTS)
def test_a_broken_link_is_named(folder, source):
    found = problems_of(folder, source)
    assert len(found) == 1 and FAULTS[source] in found[0], found


def test_what_is_a_citation():
    assert cites("https://doi.org/10.1162/neco.1997.9.8.1735") and cites("https://arxiv.org/abs/1406.1078v3")
    assert not cites("index.md") and not cites("https://example.org/") and not cites("https://doi.org/")


def test_links_in_notebooks(notebook_path):
    assert not (found := links.problems(notebook_path)), "\n".join(found)


def test_links_on_pages(page_path):
    assert not (found := links.problems(page_path)), "\n".join(found)
