"""A number in prose is an output or a literal of its notebook, or it is cited where it stands."""

import nbformat
import pytest
from checks import files, numbers
from samples import code, good, notebook, printed, result, text

NUMBERS = {
    "It has 180 weights, 5 layers and 64 units.": ["180"],
    "It has 33,770 weights; 1\u202f234\u202f567 here.": ["33770", "1234567"],
    "A ratio of 2.50, or -0.5.": ["2.5", "0.5"],
    "It is 5% or 7 % or 3\u00d7 or 8 \u00d7 as much, 2 \u00d7 4.": ["5", "7", "3", "8", "2", "4"],
    "It keeps 48 bytes, 4 KiB, 16 MB and 3s.": ["48", "4", "16", "3"],
    "It takes 40 MACs and 80 FLOPs.": ["40", "80"],
    "Rows 5 to 9, 12 vectors, step 3.": [],
    "Read float32, LSTM-512, x1000, I.10.8 and §10.8 first.": [],
    "About 120 minutes, or 90 min.": [],
    "From 1997 on; the 1990s.": ["1997", "1990"],
    "It is 1e-4 or 1.5e3, \u22120.5.": ["1500", "0.5"],
    "With torch 2.13.0, CC BY 4.0, Python 3.11.": ["2.13.0"],
    "The spread is 150-200 or 150\u2013200.": ["150", "200", "150", "200"],
}
CITED = "In [Elman 1990](https://doi.org/10.1207/s15516709cog1402_1) 150 units sufficed."
FAULTS = {
    "Nobody computed 777.": "777",
    "It is 1,235 here.": "1235",
    "- one\n- two are 777": "777",
    "| a | b |\n|---|---|\n| x | 777 |": "777",
    "<details><summary>It is 777</summary></details>": "777",
    "See [a page](index.md) for 777.": "777",
    CITED + "\n\nAnother paragraph has 777.": "777",
    "The ignored cell printed 0.1 s.": "0.1",
}
FINE = [
    "It is 1,234 in all.",
    "Twice $777$, `777`.",
    "# 777 things",
    CITED,
    "```\n777\n```",
    "$$\n777\n$$",
    "The 1000.",
]


@pytest.mark.parametrize("sentence", NUMBERS)
def test_what_counts_as_a_number(sentence):
    assert list(numbers.numbers(sentence)) == NUMBERS[sentence]


@pytest.mark.parametrize("source", FINE)
def test_traced_numbers_pass(source):
    sample = good()
    sample.cells.append(text(source))
    assert numbers.problems(sample) == []


@pytest.mark.parametrize("source", FAULTS)
def test_an_untraced_number_is_named(source):
    sample = good()
    sample.cells.append(text(source))
    found = numbers.problems(sample)
    assert len(found) == 1 and f": {FAULTS[source]} is no output" in found[0], found


def test_numbers_are_found_in_tables_lists_and_streams():
    sample = code("f()", result("x", "<td>4,100</td><td>12.5%</td>"), printed("(100,200) 1e-05 x180y"))
    assert {"4100", "12.5", "100", "200", "0.00001", "180"} <= numbers.outputs(notebook(sample))


def test_a_page_may_quote_the_notebooks_it_links_to(tmp_path):
    nbformat.write(good(), tmp_path / "sums.ipynb")
    page = tmp_path / "page.md"
    page.write_text(
        "Read [sums](sums.ipynb#x) for 60 minutes.\n\n```{note}\nIt is 1234, {cite}`elman` has 150.\n```\n"
    )
    assert numbers.page_problems(page) == []
    page.write_text("It is 1234.\n\n:::{note}\nThe count is 150.\n:::\n")
    assert [p.split(":")[1][:5] for p in numbers.page_problems(page)] == [" 1234", " 150 "]


def test_numbers_in_notebooks_are_computed_or_cited(notebook_path):
    assert not (found := numbers.problems(files.read(notebook_path))), "\n".join(found)


def test_numbers_on_pages_are_computed_or_cited(page_path):
    assert not (found := numbers.page_problems(page_path)), "\n".join(found)
