"""Questions with folded choices, by which readers check themselves: no script, the same in every viewer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from string import ascii_lowercase
from typing import Any

from .table import text


@dataclass(frozen=True)
class Choice:
    """One answer, and why it is right or which slip leads to it."""

    answer: Any
    why: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """What is asked, and at least three different choices, one of which is right."""

    prompt: str
    choices: Sequence[Choice]

    def __post_init__(self) -> None:
        answers = [text(choice.answer) for choice in self.choices]
        expected = {
            "at least three": len(answers) >= 3,
            "different answers": len(set(answers)) == len(answers),
            "exactly one that is right": sum(choice.right for choice in self.choices) == 1,
            "an explanation for each": all(choice.why.strip() for choice in self.choices),
        }
        if failed := [wanted for wanted, holds in expected.items() if not holds]:
            raise ValueError(f"choices={answers!r} of {self.prompt!r}: expected {', '.join(failed)}")


@dataclass(frozen=True)
class Quiz:
    """Questions whose choices unfold to an explanation; in a terminal the explanations stand at the end.

    Text between backticks is set as code.

    >>> Quiz([Question("1 + 1?", [Choice(1 + 1, "A sum.", right=True), Choice(1 * 1, "A product."),
    ...                           Choice(1 - 1, "A difference.")])])
    1. 1 + 1?
       a) 2
       b) 1
       c) 0
    <BLANKLINE>
    Answers
    1. a) Right. A sum.
       b) No. A product.
       c) No. A difference.
    """

    questions: Sequence[Question]

    def __repr__(self) -> str:
        asked, answered = [], []
        for number, question in enumerate(self.questions, start=1):
            asked.append(f"{number}. {question.prompt}")
            for letter, choice in zip(ascii_lowercase, question.choices, strict=False):
                label = f"{number}." if letter == "a" else " " * len(f"{number}.")
                asked.append(f"   {letter}) {text(choice.answer)}")
                answered.append(f"{label} {letter}) {'Right.' if choice.right else 'No.'} {choice.why}")
        return "\n".join([*asked, "", "Answers", *answered])

    def _repr_html_(self) -> str:
        groups = []
        for number, question in enumerate(self.questions, start=1):
            choices = "\n".join(map(_folded, question.choices))
            groups.append(
                f'<div role="group" aria-label="Question {number}">\n'
                f"<p><strong>{number}. {_marked(question.prompt)}</strong></p>\n{choices}\n</div>"
            )
        return '<div class="quiz">\n' + "\n".join(groups) + "\n</div>"


def _folded(choice: Choice) -> str:
    kind, verdict = ("right", "✓ Right.") if choice.right else ("wrong", "✗ No.")
    return (
        f'<details class="{kind}"><summary>{_marked(text(choice.answer))}</summary>'
        f"<p><strong>{verdict}</strong> {_marked(choice.why)}</p></details>"
    )


def _marked(words: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(words))
