"""The demo and the paper's experiments, made small."""

import json

import numpy as np
import pytest

from groundmetric.cli import _demo
from groundmetric.cli._reproduce import experiments
from groundmetric.experiments import FIGURE_3, FIGURE_4, METHODS, read_results
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


@pytest.fixture
def tiny(folder):
    """Two classes of 45 on 4 bins, numbered and named."""
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.dirichlet([4, 2, 1, 1], 45), rng.dirichlet([1, 1, 2, 4], 45)]
    )
    names = ["left", "right"]
    np.savez("tiny.npz", X=X, y=np.repeat([0, 1], 45), class_names=names)
    return folder


def test_reproduce_exports_and_goes_on(tiny, run):
    line = [
        "reproduce",
        "tiny.npz",
        "--classes",
        "1",
        "--seed",
        "3",
        "--out",
        "r.sqlite",
    ]
    line += ["--method", "l1"]
    assert run(*line).stdout == "tiny/1x1-seed3: 1 new rows in r.sqlite\n"
    found = run(*line, "--method", "hellinger", "--export", "r.parquet", "--json")
    assert json.loads(found.stdout)["new_rows"] == {"tiny/1x1-seed3": 1}
    frame = read_results(tiny / "r.parquet")
    assert frame["method"].tolist() == ["hellinger", "l1"]
    assert set(frame["classes"]) <= {"left | right", "right | left"}
    assert set(frame["seed"]) == {3}
    assert (frame["n_train"] == 60).all()
    assert (frame["n_test"] == 30).all()
    assert [len(errors) for errors in frame["knn_errors"]] == [20, 20]


def test_figures_of_one_size_share_an_experiment():
    found = experiments([1, 2, 3, 4], None, None, 30)
    assert list(found) == [25, 10]
    assert sorted(found[10]) == sorted({*FIGURE_3, *FIGURE_4})
    assert all(set(methods) < set(METHODS) for methods in found.values())
    # All of them, if there are not so many classes.
    (methods,) = experiments([1, 2, 3, 4], None, None, 10).values()
    assert sorted(methods) == sorted({*found[25], *found[10]})
