"""Run a submission's cells where they can do no harm, and bring their outputs back."""

import compileall
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output

import rnnlib

from . import execute
from .isolation import Isolation, writable
from .limits import Limits, watch
from .table import ROOT

# Runs after the last cell and has to fail. If it passes, the submission has switched errors off.
CANARY = "raise AssertionError('errors still show')"
PROGRAMS = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
NO_MEMORY = ("MemoryError", "can't allocate memory", "not enough memory", "Cannot allocate memory")


@dataclass
class Executed:
    """The outputs of every code cell, and what was remarkable, by the number of the code cell."""

    outputs: list[list[NotebookNode]]
    stopped: dict[int, str] = field(default_factory=dict)
    ended: str = ""
    tampered: bool = False


@contextmanager
def library() -> Iterator[Path]:
    """A folder with what a submission may use beside installed packages: rnnlib and the sweeps' tables."""
    with tempfile.TemporaryDirectory(prefix="course-library-") as place:
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(rnnlib.__file__).parent, Path(place, "rnnlib"), ignore=without)
        Path(place, "experiments").mkdir()
        for table in (ROOT / "experiments").glob("*.csv"):
            shutil.copy(table, Path(place, "experiments"))
        shutil.copy(execute.__file__, Path(place, "execute.py"))
        compileall.compile_dir(place, quiet=2)
        yield Path(place)


def run(cells: list[str], limits: Limits, isolation: Isolation, library: Path) -> Executed:
    """Run the cells in order in a process of their own."""
    with tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True) as place:
        folder = writable(Path(place))
        home = Path(isolation.inside or folder, "tmp")
        environment = {
            "PATH": os.pathsep.join((sysconfig.get_path("scripts"), *PROGRAMS)),
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "TMPDIR": str(home),
            "IPYTHONDIR": str(home),
            "PYTHONPATH": str(library),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": "1",
        }
        job = json.dumps({"cells": [*cells, CANARY], "limits": asdict(limits)})
        command = [*isolation.command(folder, library), sys.executable, str(library / "execute.py")]
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile() as results:
            given.write(job)
            given.seek(0)
            process = subprocess.Popen(
                command, stdin=given, stdout=results, stderr=subprocess.DEVNULL,
                cwd=folder, env=environment, start_new_session=True,
            )  # fmt: skip
            ended = watch(process, folder, limits)
            results.seek(0)
            lines = _lines(results.read(limits.disk * 2**20))
    if not ended and len(lines) <= len(cells):
        ended = f"ended by itself (exit status {process.returncode})"
    return _executed(lines, len(cells), ended)


def _lines(written: bytes) -> dict[int, dict]:
    """What the process wrote about each cell. Its word is not taken for more than outputs."""
    found: dict[int, dict] = {}
    for text in written.splitlines():
        try:
            line = json.loads(text)
            found.setdefault(int(line["index"]), line)
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return found


def _executed(lines: dict[int, dict], count: int, ended: str) -> Executed:
    outputs, stopped = [], {}
    for index in range(count):
        if index in lines:
            outputs.append([nbformat.from_dict(output) for output in lines[index]["outputs"]])
            if why := lines[index]["stopped"] or _out_of_memory(outputs[-1]):
                stopped[index] = why
        else:
            why = f"the notebook {ended} before this cell was done"
            outputs.append([new_output("error", ename="NotRun", evalue=why, traceback=[why])])
    canary = lines.get(count, {}).get("outputs", [])
    survived = [o for o in canary if o.get("ename") == "AssertionError" and o.get("evalue") in CANARY]
    return Executed(outputs, stopped, ended, tampered=count in lines and not survived)


def _out_of_memory(outputs: list[NotebookNode]) -> str:
    errors = [f"{o.ename}: {o.evalue}" for o in outputs if o.get("output_type") == "error"]
    return "the cell ran out of memory" if any(sign in e for e in errors for sign in NO_MEMORY) else ""
