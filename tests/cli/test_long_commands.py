"""The demo, made small."""

import json

import numpy as np
import pytest

from groundmetric.cli import _demo
from groundmetric.report._evaluation import judge_data

ROWS = ("l1", "l2", "hellinger", "chi2", "pixels", "before", "learned")


@pytest.fixture
def demo(folder, run, monkeypatch):
    """Run the demo, on few digits."""
    for name, size in {
        "PAIR_TRAIN": 5,
        "PAIR_TEST": 20,
        "TEN_TRAIN": 2,
        "TEN_TEST": 2,
    }.items():
        monkeypatch.setattr(_demo, name, size)
    found = run("demo", "--json")
    assert found.exit_code == 0
    return json.loads(found.stdout), folder / "groundmetric-demo.html"


def test_demo(demo, capsys):
    facts, page = demo
    assert set(facts["errors"]) == {"pair", "ten"}
    for errors in facts["errors"].values():
        assert tuple(errors) == ROWS
        assert errors["before"] == errors["l1"]  # the uniform metric is half of it
        assert all(0 <= error < 1 for error in errors.values())
    assert all(text.startswith("Learning ") for text in facts["verdicts"].values())
    html = page.read_text(encoding="utf-8")
    assert facts["verdicts"]["pair"].split(":")[0] in html  # they agree
    _demo._print(*(facts[name] for name in ("errors", "verdicts", "lesson", "report")))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Errors of 3 nearest neighbors")
    assert "EMD learned" in lines[10]
    assert lines[-2].startswith("What was learned: ")
    assert lines[-1] == "Report: groundmetric-demo.html"


def test_lesson():
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
    assert _demo.lesson(metric, data) == (
        "What was learned: ink at row 2, column 3 tells most; to bring it there costs "
        "2.2 times as much as elsewhere, for fours have 21.2 % of theirs there and "
        "nines 1.2 %."
    )


def test_pixel_metric():
    metric = _demo.pixel_metric()
    assert metric[0, 8 * 3 + 4] == 5.0  # three rows down, four columns to the right


@pytest.mark.usefixtures("folder")
def test_a_long_fit_is_announced(run, monkeypatch):
    monkeypatch.setattr("groundmetric._effort._seconds_a_pair", lambda _: 99.0)
    found = run("fit", "data.csv", "--max-outer", 1)
    assert found.exit_code == 0
    assert "warning: This fit may take about " in found.stderr
