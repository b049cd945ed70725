"""`make check`, the hooks and the tests are one list; the quick tests include what a commit can break."""

import re
import subprocess
import sys

import pytest
import yaml
from checks import files

from tools.check import CHECKS, run

CONFIG = files.ROOT / ".pre-commit-config.yaml"
# Without these a commit could break the book in silence.
GUARDS = {
    "test_execution.py::test_stored_as_executed_from_the_top",
    "test_commonmark.py::test_no_myst_in_notebooks",
    "test_repository_address.py::test_the_address_is_the_same_everywhere",
    "test_prose_numbers.py::test_numbers_in_notebooks_are_computed_or_cited",
    "test_prose_numbers.py::test_numbers_on_pages_are_computed_or_cited",
    "test_corrections_page.py::test_the_page_is_up_to_date",
    "test_figures.py::test_figures_of_the_notebooks",
}


def hooks() -> list[dict]:
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert {repo["repo"] for repo in config["repos"]} == {"local"}, "a hook would be downloaded"
    return [hook for repo in config["repos"] for hook in repo["hooks"]]


def test_the_hooks_are_the_checks_in_their_order():
    assert [hook["id"] for hook in hooks()] == list(CHECKS)
    for hook in hooks():
        assert hook["entry"] == f".venv/bin/python -m tools.check {hook['id']}"
        assert hook["language"] == "system" and hook["pass_filenames"] is False


def test_make_check_runs_the_checks():
    makefile = (files.ROOT / "Makefile").read_text(encoding="utf-8")
    [recipe] = re.findall(r"^check:.*\n((?:\t.*\n)+)", makefile, flags=re.MULTILINE)
    assert recipe.split() == ["$(BIN)/python", "-m", "tools.check"]


def test_pre_commit_accepts_the_configuration():
    pre_commit = pytest.importorskip("pre_commit.clientlib", reason="pre-commit is not installed")
    pre_commit.load_config(str(CONFIG))


def test_the_guards_are_quick():
    listed = subprocess.run(
        [sys.executable, "-m", *CHECKS["book"], "--collect-only"],
        cwd=files.ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    collected = set(re.findall(r"^tests/book/(\S+?)(?:\[.*)?$", listed, flags=re.MULTILINE))
    assert collected >= GUARDS, GUARDS - collected
    assert not [name for name in collected if name.startswith(("test_site.py::test_pages", "test_style.py"))]


def test_a_fault_is_named_and_an_unknown_check_refused(monkeypatch):
    monkeypatch.setitem(CHECKS, "format", ["ruff", "format", "--no-such-option"])
    assert run(["format"]) == ["format"]
    with pytest.raises(SystemExit, match="'spelling': expected one of format, lint, types, book"):
        run(["spelling"])
