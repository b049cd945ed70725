"""What a contributor runs before a commit: `make check` all of it, a pre-commit hook one piece of it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKS = {
    "format": ["ruff", "format", "."],
    "lint": ["ruff", "check", "--fix", "."],
    "types": ["mypy"],
    # what is stored in the notebooks and written on the pages; the three above are tested there too
    "book": ["pytest", "-q", "-m", "quick", "tests/book", "--ignore", "tests/book/test_style.py"],
}


def run(names: list[str]) -> list[str]:
    """Run these checks, all of them without a name; the names of those that fail."""
    if unknown := [name for name in names if name not in CHECKS]:
        raise SystemExit(f"check={unknown[0]!r}: expected one of {', '.join(CHECKS)}")
    failed = []
    for name in names or CHECKS:
        print(f"{name}: {' '.join(CHECKS[name])}", flush=True)
        if subprocess.run([sys.executable, "-m", *CHECKS[name]], cwd=ROOT).returncode:
            failed.append(name)
    return failed


if __name__ == "__main__":
    if failed := run(sys.argv[1:]):
        raise SystemExit(f"failed: {', '.join(failed)}")
    print("all clean")
