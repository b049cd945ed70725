"""The page of corrections is what the chapters' cells computed."""

from checks import files

from tools import corrections


def test_the_page_is_up_to_date():
    stored = (files.ROOT / "book" / "corrections.md").read_text(encoding="utf-8")
    assert stored == corrections.page(), "make corrections"


def test_the_page_has_rows():
    assert corrections.page().count("\n| ") >= 3
