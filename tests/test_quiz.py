"""A quiz refuses what cannot be answered, and says the same in a notebook and in a terminal."""

import pytest
from bs4 import BeautifulSoup

from rnnlib.quiz import Choice, Question, Quiz

RIGHT = Choice(1200, "Six of `200`.", right=True)
SLIP = Choice(400, "Two only.")
OTHER = Choice("a < b", "No number.")
QUIZ = Quiz([Question("How many?", [SLIP, RIGHT, OTHER]), Question("Is `x` < 1?", [OTHER, SLIP, RIGHT])])
FAULTS = {
    "at least three": [RIGHT, SLIP],
    "different answers": [RIGHT, SLIP, OTHER, Choice("400", "The same once more.")],
    "exactly one that is right": [SLIP, OTHER, Choice(1, "One.")],
    "an explanation for each": [RIGHT, SLIP, Choice(1, " ")],
}


@pytest.mark.parametrize("wanted", FAULTS)
def test_a_faulty_question_is_refused(wanted):
    with pytest.raises(ValueError, match=f"^choices=.* of 'How many\\?': expected {wanted}$"):
        Question("How many?", FAULTS[wanted])


def test_two_right_choices_are_refused():
    with pytest.raises(ValueError, match="expected exactly one that is right"):
        Question("How many?", [RIGHT, SLIP, Choice(7, "Right too.", right=True)])


def test_every_choice_unfolds_to_its_own_explanation():
    page = BeautifulSoup(QUIZ._repr_html_(), "html.parser")
    assert [group["aria-label"] for group in page.find_all(role="group")] == ["Question 1", "Question 2"]
    found = [(d.summary.get_text(), d.p.get_text(), d["class"]) for d in page.div.div.find_all("details")]
    assert found == [
        ("400", "✗ No. Two only.", ["wrong"]),
        ("1,200", "✓ Right. Six of 200.", ["right"]),
        ("a < b", "✗ No. No number.", ["wrong"]),
    ]
    assert not page.find_all(["script", "style", "input", "h1", "h2", "h3"])
    assert not page.find_all("details", open=True)


def test_words_are_escaped_and_backticks_become_code():
    text = QUIZ._repr_html_()
    assert "Is <code>x</code> &lt; 1?" in text and "a &lt; b" in text


def test_a_terminal_keeps_the_answers_for_the_end():
    asked, answered = repr(QUIZ).split("\n\nAnswers\n")
    assert "Right" not in asked and "Two only." not in asked
    assert asked.splitlines()[:4] == ["1. How many?", "   a) 400", "   b) 1,200", "   c) a < b"]
    assert answered.splitlines()[3:] == [
        "2. a) No. No number.",
        "   b) No. Two only.",
        "   c) Right. Six of `200`.",
    ]


def test_it_is_the_same_every_time():
    again = Quiz([Question(q.prompt, list(q.choices)) for q in QUIZ.questions])
    assert again._repr_html_() == QUIZ._repr_html_() and repr(again) == repr(QUIZ)
