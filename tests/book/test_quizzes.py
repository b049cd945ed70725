"""Every chapter has its self-check, computed, and it works from the keyboard without a kernel."""

import pytest
from checks import browser as chrome
from checks import files, quizzes, toc
from samples import code, notebook, result, text

SOURCE = "n = 2\nQuiz([Question(f'What is {n} + 1?', [Choice(n + 1, 'A sum.', right=True)])])"
STORED = result("1. What?", '<div role="group">' * 4)
TAGS = ("hide-input", "quiz")
HIDDEN = {"source_hidden": True}


def chapter(source=SOURCE, stored=STORED, tags=TAGS, jupyter=HIDDEN, before="## Check yourself"):
    cell = code(source, stored, tags=tags, jupyter=jupyter)
    return notebook(text(before), cell, text("## Exercises\n\n**1. One**"))


FAULTS = {
    "0 cells are tagged quiz": chapter(tags=("hide-input",)),
    "no heading": chapter(before="Some text"),
    "not folded away": chapter(tags=("quiz",)),
    "is not folded away": chapter(jupyter={}),
    "3 questions are stored": chapter(stored=result("x", '<div role="group">' * 3)),
    "'180' is typed": chapter(SOURCE.replace("A sum.", "It has 180 of them.")),
    "'12' is typed": chapter(SOURCE.replace("n + 1,", "12,")),
    "'2.5' is typed": chapter(SOURCE.replace("+ 1?", "+ 2.5?")),
    "right before the exercises": notebook(*chapter().cells[:2], text("More"), chapter().cells[2]),
}


def test_a_good_self_check_passes():
    assert quizzes.problems(chapter()) == []


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_is_named(message):
    found = quizzes.problems(FAULTS[message])
    assert any(message in problem for problem in found), found


@pytest.mark.parametrize("path", toc.chapters(), ids=files.name)
def test_self_checks_of_the_chapters(path):
    assert not (found := quizzes.problems(files.read(path))), "\n".join(found)


@pytest.mark.parametrize("width", chrome.WIDTHS)
def test_a_choice_opens_and_closes_from_the_keyboard(width, site_folder, browser):
    """The markup is the same in every chapter: the first one stands for all."""
    page_path = site_folder / toc.chapters()[0].relative_to(files.ROOT).with_suffix(".html")
    with chrome.opened(browser, page_path, width) as page:
        choice = page.locator(".quiz details").first
        explanation = choice.locator("p")
        choice.locator("summary").focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert choice.locator("summary").evaluate("e => e === document.activeElement")
        seen = []
        for key in ("Enter", "Enter", "Space"):
            page.keyboard.press(key)
            seen.append(explanation.is_visible())
        assert seen == [True, False, True]
        assert explanation.inner_text().startswith(("✓ Right.", "✗ No."))
        page.keyboard.press("Tab")
        assert page.locator(".quiz summary").nth(1).evaluate("e => e === document.activeElement")
