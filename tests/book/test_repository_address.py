"""The repository's address is the same wherever it stands, and one command replaces it everywhere."""

import shutil
import subprocess

import pytest
from checks import address, files

from tools import repository

NEW = "somebody" + "-else", "another" + "-name"  # in two pieces, so that no stamp finds them here
SLUG = "some_body/a-course"
OTHER = "some_one/a-course"
COLAB = (
    "if importlib.util.find_spec('rnnlib') is None:\n"
    f"    !git clone --depth 1 https://github.com/{SLUG}\n"
    "    %pip install --no-deps ./a-course"
)
FINE = {
    "README.md": f"https://github.com/{SLUG}, https://github.com/{SLUG}.git, https://github.com/pytorch/pytorch",
    "_config.yml": f"repository:\n  url: https://github.com/{SLUG}\n  branch: main",
    "a.ipynb": f"!git clone https://github.com/{SLUG}.git && pip install rnnlib",
    "CITATION.cff": f"repository-code: https://github.com/{SLUG}",
}
FAULTS = {
    "README.md": f"https://github.com/{OTHER}/issues",
    "_config.yml": "repository:\n  url: https://github.com/some/where-else",
    "a.ipynb": "!git clone --depth 1 https://github.com/some/where-else",
    "CITATION.cff": 'repository-code: "https://github.com/some/where-else"',
    "pyproject.toml": 'Repository = "https://github.com/some/where-else"',
    "book/index.md": "[b](https://colab.research.google.com/github/some_body/else/blob/main/a.ipynb)",
    "book/api.md": "read it at https://somebody.github.io/a-course/",
    "workflow.yml": "git@github.com:some/a-course.git",
}
REFUSED = [
    "",
    "you/course",
    "http://github.com/you/course",
    "https://gitlab.com/you/course",
    "https://github.com/you",
    "https://github.com/you/course/tree/main",
    "git@github.com:you/course.git",
    "https://github.com/you/a course",
    "https://github.com.example.org/you/course",
]


@pytest.fixture
def copy(working_copy, tmp_path):
    """A copy of the repository that a test may change."""
    return shutil.copytree(working_copy, tmp_path / "copy")


@pytest.mark.parametrize("name", FINE)
def test_the_right_address_passes(tmp_path, name):
    (tmp_path / name).write_text(FINE[name])
    assert address.problems(tmp_path / name, SLUG) == []


@pytest.mark.parametrize("name", FAULTS)
def test_another_address_is_named(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(FAULTS[name])
    [problem] = address.problems(tmp_path / name, SLUG)
    assert f"stands where {SLUG} is meant" in problem


def test_what_a_colab_cell_has_to_do():
    assert address.colab_cell_problems(COLAB, SLUG) == []
    for spoiled in (
        "x = 1",
        COLAB.replace(SLUG, OTHER),
        COLAB.replace("--no-deps", "torch"),
        COLAB.replace("pip", ""),
    ):
        assert len(address.colab_cell_problems(spoiled, SLUG)) >= 1, spoiled


def test_a_name_used_as_a_folder_is_noticed(tmp_path):
    (tmp_path / "a.ipynb").write_text(
        '"pip install ./a-course", "%cd -q a-course", "isdir(\\"a-course/book\\")"'
    )
    assert len(address.folder_names(tmp_path / "a.ipynb", "a-course")) == 3
    assert address.folder_names(tmp_path / "a.ipynb", "a-cours") == []


def test_the_address_is_the_same_everywhere():
    slug = repository.slug()
    tests = files.ROOT / "tests"
    found = [
        f"{files.name(path)}: {problem}"
        for path in files.files()
        if not path.is_relative_to(tests)
        for problem in address.problems(path, slug)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["_config.yml", "CITATION.cff"])
def test_the_address_stands_where_it_is_looked_for(name):
    assert files.ROOT / name in address.uses(repository.slug())


def test_every_notebook_begins_with_the_same_colab_cell(notebook_path):
    first = address.first_code(files.read(notebook_path))
    assert not (found := address.colab_cell_problems(first, repository.slug())), found
    assert first == address.first_code(files.read(files.book_notebooks()[0]))


def test_the_stamp_leaves_no_trace_of_the_old_address(copy):
    old, name = repository.slug(copy), repository.slug(copy).split("/")[1]
    places = address.uses(old, root=copy)
    stamped = repository.stamp(f"https://github.com/{'/'.join(NEW)}", root=copy)
    assert sorted(stamped) == places and {path.suffix for path in places} >= {".yml", ".ipynb", ".cff"}
    assert repository.slug(copy) == "/".join(NEW)
    assert address.uses(old, root=copy) == []
    assert address.uses("/".join(NEW), root=copy) == places
    left = {path: address.folder_names(path, name) for path in [*places, copy / "README.md"]}
    assert not any(left.values()), {
        str(path.relative_to(copy)): texts for path, texts in left.items() if texts
    }


def test_a_second_stamp_leaves_no_trace_of_the_first(copy):
    repository.stamp(f"https://github.com/{'/'.join(NEW)}", root=copy)
    repository.stamp("https://github.com/third/thing", root=copy)
    for trace in NEW:
        assert address.uses(trace, root=copy) == [], f"{trace} is left"


def test_the_stamp_can_be_undone(copy):
    before = {path: path.read_bytes() for path in files.files(root=copy)}
    old = repository.slug(copy)
    repository.stamp(f"https://github.com/{'/'.join(NEW)}.git", root=copy)
    repository.stamp(f"https://github.com/{old}/", root=copy)
    assert {path: path.read_bytes() for path in files.files(root=copy)} == before


@pytest.mark.parametrize("bad", REFUSED)
def test_a_bad_address_is_refused_and_changes_nothing(copy, bad):
    with pytest.raises(SystemExit, match="expected https://github"):
        repository.stamp(bad, root=copy)
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=copy, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""
