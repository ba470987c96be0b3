"""The demo, made small."""

import html
import json
import re

import numpy as np
import pytest

from groundmetric.report import _demo, _repeated
from groundmetric.report._evaluation import judge_data
from groundmetric.report._write import judge_features

FIXED = ["learned", "l1", "hellinger", "chi2", "l2"]
LEARNERS = ["lmnn-hellinger", "itml-hellinger", "nca-hellinger"]
ROWS = [*FIXED, *LEARNERS, "pixels"]


@pytest.fixture
def small(monkeypatch):
    """Few images in three splits."""
    for name, size in {"N_EACH": 2, "N_TEST": 40, "N_SPLITS": 3}.items():
        monkeypatch.setattr(_demo, name, size)


def text_of(page):
    return html.unescape(page.read_text(encoding="utf-8")).replace("\xa0", " ")


@pytest.mark.usefixtures("small")
def test_demo_draws_its_splits_at_random_and_says_how_they_differ(folder, run):
    found = run("demo", "--json")
    assert found.exit_code == 0
    facts = json.loads(found.stdout)
    assert (facts["n_train"], facts["n_test"], facts["n_splits"]) == (6, 40, 3)
    assert list(facts["errors"]) == ROWS
    assert all(len(errors) == 3 for errors in facts["errors"].values())
    assert len(set(facts["errors"]["l1"])) > 1  # they differ
    saved = np.mean(facts["errors"]["l1"]) - np.mean(facts["errors"]["learned"])
    assert facts["saved"]["l1"]["mean"] == pytest.approx(saved)
    assert "means over 3 random splits" in facts["verdict"]
    # The page says the same, with the same numbers, pixels and warnings.
    page = text_of(folder / "groundmetric-demo.html")
    headline = re.search(r'<h2 id="headline">(.*?)</h2>', page)[1]
    assert facts["verdict"].startswith(headline)
    assert facts["verdict"].count("on these data") == 1  # which learner to use
    for sentence in facts["notes"]:
        assert f"<p>{sentence}</p>" in page
    assert "The rest of this page shows the first of the 3 splits." in page


@pytest.mark.usefixtures("small")
def test_console_and_page_of_the_demo_have_the_same_table(folder, run):
    lines = run("demo").stdout.splitlines()
    page = text_of(folder / "groundmetric-demo.html")
    for name in ROWS:
        row = re.search(rf'<tr class="is-{name}">(.*?)</tr>', page)[1]
        cells = [re.sub("<.*?>", "", cell) for cell in re.split("</t[dh]>", row)]
        (line,) = (line for line in lines if line.strip().startswith(f"{cells[0]}  "))
        assert line.split() == " ".join(cells).split()
    assert lines[-1] == "Report: groundmetric-demo.html"


def test_lesson_names_pixels_as_the_report_does():
    names, _ = judge_features(None, (8, 8), 64)
    metric = 1 - np.eye(64)
    metric[10] = metric[:, 10] = 3
    metric[10, 10] = 0
    X = np.ones((4, 64)) / 80
    X[:2, 10] = 0.2125
    X[2:, 9] = 0.2125
    data = judge_data(X, [4, 4, 9, 9], X, [4, 4, 9, 9], 0)
    # In 1/80 of all ink, pixels 10 and 9 have 9 and all others 1. To bring ink to pixel
    # 10 costs 3 * 71; to pixel 9, 62 + 3 * 9; to the others 70 + 3 * 9. That is
    # 213 / ((213 + 89 + 62 * 97) / 64) = 2.16 times the mean.
    assert names[10] == "row 1, column 2"
    assert _demo.lesson(metric, data, names) == (
        "What was learned: it costs most to bring ink to row 1, column 2 "
        "(counted from 0), 2.2 times the average. Digit 4 has 21.2 % of its ink there, "
        "digit 9 1.2 %."
    )


@pytest.mark.usefixtures("folder")
def test_a_long_fit_is_announced(run, monkeypatch):
    monkeypatch.setattr("groundmetric.learning._effort.SOLVE", 99.0)
    found = run("fit", "data.csv", "--max-steps", 1)
    assert found.exit_code == 0
    assert "warning: This fit may take about " in found.stderr


def test_gains_are_those_of_the_same_splits():
    errors = {"learned": [0.1, 0.2, 0.3], "l1": [0.2, 0.3, 0.4], "l2": [0.1, 0.3, 0.2]}
    gains = _repeated.gains_of(errors, ratio=0.25)
    # The same gain everywhere: the splits do not tell how sure it is.
    assert (gains["l1"].low, gains["l1"].high) == (-1.0, 1.0)
    # Gains 0, 0.1, -0.1: standard deviation 0.1, Student's t 4.303 for two degrees.
    half = 4.302653 * 0.1 * np.sqrt(1 / 3 + 0.25)
    assert gains["l2"].gain == pytest.approx(0.0)
    assert (gains["l2"].low, gains["l2"].high) == pytest.approx((-half, half))
    assert gains["l2"].other == "the l2 distance"
