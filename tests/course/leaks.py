"""What a release must not hold: solutions, hidden tests, and the answers that graders are tried on."""

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode
from variants import ANSWERS

MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TEST", "MARK SCHEME")
SECRET = re.compile(
    r"^\s*### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)^\s*### END \1", flags=re.DOTALL | re.MULTILINE
)
SHORTEST = 15  # characters; a shorter line may stand anywhere


def secrets(source: NotebookNode, name: str) -> set[str]:
    """Lines of an assignment that only its authors may see."""
    texts = [cell.source for cell in source.cells]
    hidden = [match[2] for text in texts for match in SECRET.finditer(text)]
    hidden += [path.read_text(encoding="utf-8") for path in (ANSWERS / name).glob("*.py")]
    given = "\n".join(SECRET.sub("", text) for text in texts)
    lines = {line for text in hidden for line in _lines(text)}
    return {line for line in lines if len(line) >= SHORTEST and line not in given}


def leaks(path: Path, lines: set[str]) -> list[str]:
    """What a file of a release gives away, in its name or anywhere in its text."""
    return [
        f"{name}: {secret!r}"
        for name, data in _members(path)
        for secret in (*MARKERS, *sorted(lines), "answers/")
        if any(secret in text for text in (name, *_texts(data)))
    ]


def _lines(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()}


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix != ".zip":
        yield path.name, path.read_bytes()
        return
    with zipfile.ZipFile(path) as archive:
        yield path.name, archive.comment
        for entry in archive.infolist():
            yield entry.filename, entry.comment + archive.read(entry)


def _texts(data: bytes) -> Iterator[str]:
    """The text itself, and every string in it if it is a notebook, where quotes are escaped."""
    text = data.decode("utf-8", errors="replace")
    yield text
    try:
        todo = [json.loads(text)]
    except ValueError:
        return
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            if item and all(isinstance(part, str) for part in item):
                yield "".join(item)
            todo += item
        elif isinstance(item, dict):
            todo += [*item, *item.values()]
