"""Freeze what pyproject.toml's ranges resolve to now into requirements.txt, torch at its present pin."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUIREMENTS = ROOT / "requirements.txt"
HEADER = """\
# Everything the book was last executed, built and tested with, pinned by `make lock`.
# What the project asks for, and why, stands in pyproject.toml; the rest is what that brings along.
# A plain install of torch on Linux may bring its CUDA build; README.md says how to choose the CPU one.
"""


def freeze(torch: str) -> str:
    """Install the project with its extras into an empty environment and list what came."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", torch], check=True)
        subprocess.run([*pip, "install", "--quiet", f"{ROOT}[book,course,experiments,test]"], check=True)
        subprocess.run([*pip, "check"], check=True)
        frozen = subprocess.run(
            [*pip, "freeze", "--exclude", "rnnlib"], check=True, capture_output=True, text=True
        )
    return re.sub(r"\+\w+$", "", frozen.stdout, flags=re.MULTILINE)


if __name__ == "__main__":
    pin = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    REQUIREMENTS.write_text(HEADER + freeze(pin))
