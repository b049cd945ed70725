"""Format, lint and types are clean."""

import subprocess
import sys

import pytest
from checks import files

COMMANDS = {"format": ["ruff", "format", "--check", "."], "lint": ["ruff", "check", "."], "types": ["mypy"]}


def run(command: list[str], folder) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("what", COMMANDS)
def test_clean(what):
    done = run(COMMANDS[what], files.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("what", "source"),
    [("format", "x=1\n"), ("lint", "import os\n"), ("types", "x: int = 'a'\n")],
)
def test_a_fault_is_noticed(tmp_path, what, source):
    (tmp_path / "faulty.py").write_text(source)
    command = [*COMMANDS[what], "faulty.py"] if what == "types" else COMMANDS[what]
    assert run(command, tmp_path).returncode == 1
