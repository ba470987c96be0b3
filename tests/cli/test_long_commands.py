"""The demo, made small."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest

from groundmetric.report import _demo

FIXED = ["learned", "initial", "l1", "hellinger", "chi2", "l2"]
LEARNERS = ["lmnn-hellinger", "itml-hellinger", "nca-hellinger"]
ROWS = [*FIXED, *LEARNERS, "pixels"]


@pytest.fixture(scope="module")
def made():
    """Keep what the demo found, and its page."""
    return {}


@pytest.fixture
def small(monkeypatch, made):
    """Few images in five training sets, from which the demo learns once."""
    for name, size in {"N_EACH": 2, "N_SPLITS": 5}.items():
        monkeypatch.setattr(_demo, name, size)
    write_demo = _demo.write_demo

    def write_once(path, **options):
        if not made:
            made["found"] = write_demo(path, **options)
            made["page"] = path.read_bytes()
        path.write_bytes(made["page"])
        return made["found"]

    monkeypatch.setattr(_demo, "write_demo", write_once)


def text_of(page):
    return html.unescape(page.read_text(encoding="utf-8")).replace("\xa0", " ")


@pytest.mark.usefixtures("small")
def test_demo_draws_disjoint_training_sets_and_says_how_sure_it_is(folder, run):
    found = run("demo", "--json")
    assert found.exit_code == 0
    facts = json.loads(found.stdout)
    assert (facts["design"], facts["n_splits"]) == ("disjoint", 5)
    assert (facts["n_train"], facts["n_test"]) == (6, 250)
    assert list(facts["errors"]) == ROWS
    errors = {name: each["knn_errors"] for name, each in facts["errors"].items()}
    assert all(len(each) == 5 for each in errors.values())
    assert len(set(errors["l1"])) > 1  # they differ
    saved = facts["errors"]["l1"]["knn_saved"]
    assert saved["mean"] == pytest.approx(
        np.mean(errors["l1"]) - np.mean(errors["learned"])
    )
    assert saved["low"] < saved["mean"] < saved["high"]
    assert "sure that learning is better" in facts["verdict"]
    # The page says the same, with the same numbers, pixels and warnings.
    page = text_of(folder / "groundmetric-demo.html")
    headline = re.search(r'<h2 id="headline">(.*?)</h2>', page)[1]
    assert facts["verdict"].startswith(headline)
    assert facts["verdict"].count("on these data") == 1  # which learner to use
    for sentence in facts["notes"]:
        assert f"<p>{sentence}</p>" in page
    assert "5 training sets of 6 histograms each, with no histogram in common" in page
    assert "The rest of this page shows the first of the 5 splits." in page


def test_the_demo_helps_and_its_training_sets_share_no_image():
    data = _demo.data_of(_demo.DIGITS, _demo.N_EACH)
    assert (data.design.kind, data.design.n_splits) == ("disjoint", _demo.N_SPLITS)
    sets = [set(train) for train, _ in data.design.splits]
    tests = {tuple(test) for _, test in data.design.splits}
    assert len(tests) == 1  # the same for all
    parts = [*sets, set(tests.pop())]
    assert sum(map(len, parts)) == len(set.union(*parts))
    digits = json.loads((Path(__file__).parents[2] / "docs/digits.json").read_text())
    # What make pages measured, and README shows: the interval lies above zero.
    assert digits[0]["saved"]["low"] > 0


@pytest.mark.usefixtures("small")
def test_console_and_page_of_the_demo_have_the_same_table(folder, run):
    lines = run("demo").stdout.splitlines()
    page = text_of(folder / "groundmetric-demo.html")
    for name in ROWS:
        row = re.search(rf'<tr class="is-{name}">(.*?)</tr>', page)[1]
        cells = [re.sub("<.*?>", "", cell) for cell in re.split("</t[dh]>", row)]
        (line,) = (line for line in lines if line.strip().startswith(f"{cells[0]}  "))
        # But for the time, the last: it was measured once and is the same, too.
        assert line.split() == " ".join(cells).split()
    assert lines[-1] == "Report: groundmetric-demo.html"


@pytest.mark.usefixtures("folder")
def test_a_long_fit_is_announced(run, monkeypatch):
    monkeypatch.setattr("groundmetric.learning._effort.SOLVE", 99.0)
    found = run("fit", "data.csv", "--max-steps", 1)
    assert found.exit_code == 0
    assert "warning: This fit may take about " in found.stderr
