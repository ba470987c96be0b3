"""README and citation agree with the code."""

import contextlib
import io
import re
from dataclasses import replace
from pathlib import Path

import digits
import numpy as np
import pytest

import groundmetric as gm
from groundmetric.report import _demo

ROOT = Path(__file__).parents[1]


def first_block(kind):
    text = (ROOT / "README.md").read_text()
    return re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL).group(1)


def test_readme_prints_what_it_says():
    # Two of the twenty training sets: the others are as random, and take their time.
    code = first_block("python").replace("repeats=4).splits", "repeats=4).splits[:2]")
    assert "splits[:2]" in code
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, names)  # noqa: S102 - our own text
    number = r"\d+\.\d+"
    printed = first_block("text")
    assert re.sub(number, "#", out.getvalue()) == re.sub(number, "#", printed)
    found = digits.results()[0]["errors"]
    # What ran last is "learned". One image of 239 more or less is a matter of the last
    # bit; more than that, and make pages has to measure again.
    assert names["errors"] == pytest.approx(found["learned"][:2], abs=0.0043)
    l1 = float(re.search(rf"l1 +({number})%", out.getvalue())[1])
    assert l1 == pytest.approx(100 * np.mean(found["l1"][:2]), abs=0.051)


def test_readme_and_demo_have_the_same_splits():
    task = digits.results()[0]
    size = f"n_train={3 * _demo.N_EACH}, n_repeats={_demo.N_SPLITS // 5})"
    assert f"draw(digits.y, {size}.splits" in first_block("python")
    data = _demo.data_of(_demo.DIGITS, _demo.N_EACH)
    assert (task["n_each"], task["n_test"]) == (_demo.N_EACH, data.design.n_test)
    assert len(task["errors"]["learned"]) == _demo.N_SPLITS
    # The first training set, by what the demo calls.
    first = replace(data, design=replace(data.design, splits=data.design.splits[:1]))
    found = _demo.measure(first, jobs=None).verdict.found
    for name, errors in task["errors"].items():
        assert found[name].knn_errors == pytest.approx(errors[:1], abs=0.0043)


def test_citation_names_the_version():
    assert f"\nversion: {gm.__version__}\n" in (ROOT / "CITATION.cff").read_text()
