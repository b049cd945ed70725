"""What the README, the Makefile and continuous integration promise is there, and is the same."""

import re
import shutil
import subprocess

import pytest
from checks import files

README = (files.ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (files.ROOT / "Makefile").read_text(encoding="utf-8")


def code(text: str) -> list[str]:
    """What stands in code blocks and code spans."""
    return re.findall(r"^```\w*\n(.*?)^```|`([^`\n]+)`", text, flags=re.DOTALL | re.MULTILINE)


def targets() -> set[str]:
    return set(" ".join(re.findall(r"^\.PHONY:(.*)$", MAKEFILE, flags=re.MULTILINE)).split())


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make on this machine")
def test_help_lists_every_command():
    shown = subprocess.run(
        ["make", "help"], cwd=files.ROOT, capture_output=True, text=True, check=True
    ).stdout
    listed = {
        match[1]: match[2] for match in re.finditer(r"^\s*make (\S+)\s*(.*)$", shown, flags=re.MULTILINE)
    }
    assert listed.keys() == targets() and len(listed) >= 5
    assert all(listed.values()), "a command without an explanation"


def test_the_readme_begins_with_the_two_commands():
    top = README.partition("\n## ")[0]
    assert "make book" in top and "make test" in top


def test_the_readme_names_every_folder():
    folders = {path.relative_to(files.ROOT).parts[0] for path in files.files() if path.parent != files.ROOT}
    visible = {folder for folder in folders if not folder.startswith(".")}
    assert len(visible) >= 3
    assert not (left_out := {folder for folder in visible if f"`{folder}/`" not in README}), left_out


def test_the_readme_names_no_folder_and_no_command_that_is_not_there():
    folders = set(re.findall(r"^\| `([\w.-]+)/` \|", README, flags=re.MULTILINE))
    assert not (missing := {folder for folder in folders if not (files.ROOT / folder).is_dir()}), missing
    commands = set(re.findall(r"\bmake ([a-z]+)\b(?=[`\s]|$)", "\n".join(a or b for a, b in code(README))))
    assert commands and commands <= targets(), commands - targets()


def test_continuous_integration_runs_the_readmes_command():
    lines = (files.ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert [line.strip() for line in lines if line.strip().startswith("make ")] == ["make test"]
    assert "make test" in README.partition("\n## ")[0]
