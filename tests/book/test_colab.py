"""Every notebook runs in Colab: torch is there, rnnlib is not, and the first cell fetches it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbclient
import pytest
import torch
from checks import files
from nbformat.v4 import new_code_cell

from tools import repository

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Colab is a Linux machine, and this plays one")

PROBE = """\
import json, sys
import rnnlib, torch
print(json.dumps([sys.prefix, rnnlib.__file__, torch.__version__, torch.__file__]))
"""


class Colab:
    """An environment that has all that ours has, except rnnlib, and a GitHub that is a folder."""

    def __init__(self, folder: Path, origin: Path, slug: str):
        self.environment = folder / "environment"
        self.work = folder / "content"
        self.work.mkdir()
        venv.create(self.environment, with_pip=False)
        self.python = self.environment / "bin" / "python"
        self.packages = (
            self.environment / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
        )
        # A folder named in a .pth file does not have its own .pth files read: the editable install stays out.
        (self.packages / "ours.pth").write_text(sysconfig.get_path("purelib") + "\n")
        pip = self.environment / "bin" / "pip"
        pip.write_text(f'#!/bin/sh\nexec "{self.python}" -m pip "$@"\n')
        pip.chmod(0o755)
        self.variables = {
            "PATH": f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(self.environment),
            "PYTHONPATH": "",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip's spelling of "build with the setuptools that is there"
            "PIP_NO_INDEX": "1",
            "GIT_ALLOW_PROTOCOL": "file",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": f"url.{origin.as_uri()}.insteadOf",
            "GIT_CONFIG_VALUE_0": f"https://github.com/{slug}",
            "GIT_CONFIG_KEY_1": "safe.directory",
            "GIT_CONFIG_VALUE_1": "*",
        }
        kernel = self.environment / "kernels" / "kernels" / "colab"
        kernel.mkdir(parents=True)
        command = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        specification = {
            "argv": command,
            "display_name": "Colab",
            "language": "python",
            "env": self.variables,
        }
        (kernel / "kernel.json").write_text(json.dumps(specification))

    def run(self, program: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.python), "-c", program],
            cwd=self.work, env=os.environ | self.variables, capture_output=True, text=True,
        )  # fmt: skip

    def execute(self, notebook) -> list[str]:
        """Run every cell; what a last one sees: prefix, file of rnnlib, torch's version and file."""
        notebook.cells.append(new_code_cell(PROBE))
        client = nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="colab", resources={"metadata": {"path": str(self.work)}}
        )
        client.execute()
        return json.loads(notebook.cells[-1].outputs[-1].text.splitlines()[-1])


@pytest.fixture
def colab(tmp_path, working_copy, monkeypatch):
    fresh = Colab(tmp_path, working_copy, repository.slug())
    monkeypatch.setenv("JUPYTER_PATH", str(fresh.environment / "kernels"))
    return fresh


def test_the_environment_has_torch_and_no_rnnlib(colab):
    seen = colab.run("import torch; print(torch.__version__, torch.__file__)")
    assert seen.returncode == 0, seen.stderr
    seen = colab.run("import rnnlib")
    assert "ModuleNotFoundError: No module named 'rnnlib'" in seen.stderr


def test_a_notebook_whose_first_cell_installs_nothing_fails(colab):
    notebook = files.read(files.book_notebooks()[0])
    next(cell for cell in notebook.cells if cell.cell_type == "code").source = "pass"
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="No module named 'rnnlib'"):
        colab.execute(notebook)


def test_a_notebook_runs_from_the_top(colab, notebook_path):
    prefix, library, version, file = colab.execute(files.read(notebook_path))
    assert Path(prefix) == colab.environment
    assert Path(library).is_relative_to(colab.packages)
    assert [version, file] == [torch.__version__, torch.__file__]
    installed = sorted(path.name.partition("-")[0] for path in colab.packages.glob("*.dist-info"))
    assert installed == ["rnnlib"], f"the first cell installed {installed}"


def test_the_first_cell_works_after_another_address_is_stamped(tmp_path, working_copy, monkeypatch):
    """A fork may have any owner and any name."""
    origin = shutil.copytree(working_copy, tmp_path / "a-fork")
    repository.stamp(f"https://github.com/somebody/{origin.name}", root=origin)
    notebook = files.read(files.book_notebooks(origin)[0])
    notebook.cells = [next(cell for cell in notebook.cells if cell.cell_type == "code")]
    colab = Colab(tmp_path, origin, repository.slug(origin))
    monkeypatch.setenv("JUPYTER_PATH", str(colab.environment / "kernels"))
    _, library, *_ = colab.execute(notebook)
    assert Path(library).is_relative_to(colab.packages)
