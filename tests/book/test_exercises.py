"""Every exercise has a difficulty, a time, a hint before its answer, and an answer that is executed."""

import pytest
from checks import exercises, files, toc
from samples import code, notebook, text

ASKED = """\
## Exercises

Stars give the difficulty.

**1. Add** (★, 5 minutes). What is one and one?

<details><summary>Hint</summary>

Count.

</details>

**2. Multiply** (★★★, 10 minutes). And twice two?

<details><summary>Hint</summary>

Add.

</details>

## What to read next
"""
ANSWERS = [
    text("# Solutions"),
    code("x = 1"),
    text("## 1. Add"),
    code("assert x"),
    text("## 2. Multiply"),
    code("assert x"),
]
FAULTS = {
    "exercise 1, Add: does not begin": (ASKED.replace("(★, 5", "(5"), ANSWERS),
    "exercise 2, Multiply: does not begin": (ASKED.replace(", 10 minutes", ""), ANSWERS),
    "exercise 1, Add: has no folded hint": (ASKED.replace("\nCount.\n", ""), ANSWERS),
    "exercise 2, Multiply: has no folded hint": (
        ASKED.replace("<summary>Hint</summary>\n\nAdd", "Add"),
        ANSWERS,
    ),
    "exercise 1, Add: asks nothing": (ASKED.replace("What is one and one?", ""), ANSWERS),
    "numbered [1, 3]": (ASKED.replace("**2.", "**3."), ANSWERS),
    "numbered []": ("## Exercises\n\nNone.", ANSWERS),
    "the solutions answer [(1, 'Add')]": (ASKED, ANSWERS[:4]),
    "(2, 'Product')": (ASKED, [*ANSWERS[:4], text("## 2. Product"), code("assert x")]),
    "answer 2, Multiply: asserts nothing": (ASKED, [*ANSWERS[:5], code("x")]),
}


def test_good_exercises_pass():
    assert exercises.problems(notebook(text(ASKED)), notebook(*ANSWERS)) == []
    assert [e.minutes for e in exercises.exercises(notebook(text(ASKED)))] == [5, 10]


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_is_named(message):
    asked, answers = FAULTS[message]
    found = exercises.problems(notebook(text(asked)), notebook(*answers))
    assert any(message in problem for problem in found), found


@pytest.mark.parametrize("path", [*toc.chapters(), *toc.systems()], ids=files.name)
def test_exercises_of_chapters_and_systems(path):
    found = exercises.problems(files.read(path), files.read(toc.solutions(path)))
    assert not found, "\n".join(found)
