"""What pages say about results is what the committed results say."""

import json
import re

import cover
import pytest
from blocks import BLOCK, filled
from made import PAGES, ROOT
from PIL import Image

from paper import METHODS

DOCS = ROOT / "docs"


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_made_parts_are_those_of_the_results(page):
    text = page.read_text()
    assert filled(text, PAGES[page]) == text, "make pages writes them again"


def test_every_part_is_made():
    marked = {
        path
        for path in [ROOT / "README.md", *ROOT.glob("*/*.md"), *ROOT.glob("*/*/*.md")]
        if BLOCK.search(path.read_text())
    }
    assert marked == set(PAGES)


def test_cover_shows_the_results():
    with Image.open(cover.COVER) as image:
        assert image.text[cover.SOURCE] == cover.digest(), "make pages draws it again"


def test_no_example_learns_from_the_first_digits():
    """They are ordered by writer, so the first ones are not a sample of all."""
    found = [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("guide/*.md")]
    found += [*DOCS.glob("figures/*.py"), *ROOT.glob("examples/**/*.py")]
    texts = {path.name: path.read_text() for path in found}
    with_digits = {name for name, text in texts.items() if "load_digits" in text}
    assert {"README.md", "plot_01_digits.py", "criterion.md"} <= with_digits
    first = re.compile(r"digits\.[Xy]\[:\d|slice\(0, \d")
    assert not [name for name in with_digits if first.search(texts[name])]


def test_parts_are_replaced():
    page = "a\n<!-- made: one -->\nold\n<!-- end -->\nb\n"
    new = "a\n<!-- made: one -->\n\nnew\n\n<!-- end -->\nb\n"
    assert filled(page, {"one": lambda: "new"}) == new


def test_a_part_that_nothing_makes_is_refused():
    with pytest.raises(ValueError, match="two"):
        filled("<!-- made: two -->\n<!-- end -->", {"one": str})


def test_results_of_benchmarks_are_whole():
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    run = (ROOT / "benchmarks" / "run.py").read_text()
    parts = re.findall(r'"(\w+)"', re.search(r"(?s)PARTS = \((.*?)\)", run)[1])
    assert list(results["rows"]) == parts
    assert all(results["rows"].values())


def test_tables_name_methods_that_exist():
    page = (ROOT / "docs" / "reproduction.md").read_text()
    first = set(re.findall(r"^\| ([a-z0-9-]+) \|", page, re.MULTILINE))
    assert "gml" in first
    # reproduction/smoothing.py has some of its own.
    own = {name for name in first if name.startswith("smoothed-")}
    assert first - own - {"method", "measure", "error", "recall"} <= set(METHODS)
