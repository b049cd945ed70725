"""Every notebook is stored as a fresh run from the top leaves it."""

import pytest
from checks import execution, files
from nbformat.v4 import new_output
from samples import code, good, notebook, printed, result

FAULTS = {
    "another kernel": (notebook(code("1", result("1")), kernel="my-env"), "kernel is 'my-env'"),
    "no code": (notebook(), "no code cell"),
    "empty": (notebook(code("")), "is empty"),
    "never run": (notebook(code("1", count=None)), "execution count None"),
    "out of order": (notebook(code("1", count=2), code("2", count=1)), "execution count 2"),
    "run twice": (notebook(code("1", count=1), code("2", count=3)), "execution count 3"),
    "error": (notebook(code("x", new_output("error", ename="NameError", evalue="x"))), "NameError"),
    "stderr": (notebook(code("x", printed("Warning", "stderr"))), "on stderr"),
    "ignored, no assert": (notebook(code("# assert\n1", tags=("nbval-ignore-output",))), "asserts nothing"),
    "skip tag": (notebook(code("1", tags=("nbval-skip",))), "tag nbval-skip"),
    "exception tag": (notebook(code("1", tags=("raises-exception",))), "tag raises-exception"),
    "skip comment": (notebook(code("# NBVAL_SKIP\n1")), "comment NBVAL_SKIP"),
    "ignore comment": (notebook(code("#NBVAL_IGNORE_OUTPUT\nassert 1")), "comment NBVAL_IGNORE_OUTPUT"),
    "semicolon": (notebook(code("a = 1\na;")), "semicolon"),
    "semicolon and comment": (notebook(code("!ls\na;  # quiet")), "semicolon"),
    "progress bar": (notebook(code("1", printed(" 40%|####    | 4/10"))), "progress bar"),
    "local path": (notebook(code("1", printed("saved /home/me/x.png"))), "path of the machine"),
}


def test_a_good_notebook_passes():
    assert execution.problems(good()) == []
    assert execution.problems(notebook(code("a = ';'\n# ;", result("book/x and 1/2")))) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault):
    spoiled, message = FAULTS[fault]
    assert any(message in problem for problem in execution.problems(spoiled)), execution.problems(spoiled)


def test_stored_as_executed_from_the_top(notebook_path):
    assert not (found := execution.problems(files.read(notebook_path))), "\n".join(found)
