"""Execute notebooks from the top, in their own folder, and store the outputs."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "book", ROOT / "assignments" / "source")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def execute(path: Path) -> None:
    """Run every cell in a fresh kernel and write the outputs back; an error stops it and writes nothing."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=600, kernel_name="python3", record_timing=False,
        resources={"metadata": {"path": path.parent}},
    )  # fmt: skip
    client.execute()
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    everything = [path for folder in FOLDERS for path in sorted(folder.rglob("*.ipynb"))]
    for path in [Path(p) for p in sys.argv[1:]] or everything:
        if ".ipynb_checkpoints" not in path.parts:
            print(f"executing {path}")
            execute(path)
