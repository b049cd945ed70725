"""Write the repository's address wherever it stands. It has one source: `repository.url` in _config.yml."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ADDRESS = re.compile(r"https://github\.com/(?P<slug>[\w.-]+/[\w.-]+?)(\.git)?/?")


def slug(root: Path = ROOT) -> str:
    """Owner and name of the repository, as _config.yml has them."""
    line = next(s for s in (root / "_config.yml").read_text().splitlines() if s.strip().startswith("url:"))
    return _slug_of(line.partition("url:")[2].strip())


def stamp(address: str, root: Path = ROOT) -> list[Path]:
    """Replace the present address by another in every tracked file that has it."""
    old, new = slug(root), _slug_of(address)
    names = subprocess.run(
        ["git", "grep", "-lzF", "--", old], cwd=root, check=True, capture_output=True, text=True
    )
    paths = [root / name for name in names.stdout.split("\0") if name]
    for path in paths:
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    return paths


def _slug_of(address: str) -> str:
    if not (match := ADDRESS.fullmatch(address)):
        raise SystemExit(
            f"URL={address!r}: expected https://github.com/OWNER/REPOSITORY, which Colab can open"
        )
    return match["slug"]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: make repository URL=https://github.com/OWNER/REPOSITORY")
    for path in stamp(sys.argv[1]):
        print(f"stamped {path.relative_to(ROOT)}")
