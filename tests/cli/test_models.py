"""Saved models of every learner work in every command that takes a model."""

import csv
import json

import numpy as np
import pytest
from samples import X, Y, csv_of

from groundmetric import (
    CombinedMetricLearning,
    DiscriminantMetricLearning,
    EMDClassifier,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
    SinkhornMetricLearning,
    Softmax,
)
from groundmetric.report import write_report

NEW = np.array([[5, 1, 0], [0, 1, 5], [4, 2, 2], [1, 3, 4]])
ENDS = ["left", "right", "left", "right"]
POINTS = [[0.0], [1.0], [2.0]]
FROM_PRIOR = SinkhornMetricLearning(
    smoothing=np.inf,
    points=POINTS,
    bin_weights="learn",
    criterion=Softmax(),
    max_steps=2,
)
LEARNERS = {
    "combined": CombinedMetricLearning(points=POINTS, max_steps=2),
    "metrics": CombinedMetricLearning(
        metrics=[1 - np.eye(3), np.abs(np.subtract.outer([0, 1, 2], [0, 1, 2]))],
        max_steps=2,
    ),
    "mapped": MappedMetricLearning(n_components=2, max_steps=2),
    "smoothed": SinkhornMetricLearning(max_steps=2),
    "prior": FROM_PRIOR,
    "discriminant": DiscriminantMetricLearning([POINTS, np.eye(3)]),
    "chosen": MetricLearningCV(DiscriminantMetricLearning(POINTS), cv=2),
    "cross-validated": MetricLearningCV(FROM_PRIOR, cv=2),
    "typical": MetricLearningCV(GroundMetricLearning(init="typical"), cv=2),
    "classifier": EMDClassifier(
        learner=CombinedMetricLearning(points=POINTS, max_steps=2)
    ),
}


@pytest.fixture(params=LEARNERS)
def learner(request, folder):
    """Fit a learner, and save it."""
    (folder / "new.csv").write_text(csv_of(NEW, ENDS))
    fitted = LEARNERS[request.param].fit(X, Y)
    fitted.save(folder / "model.npz")
    return fitted


def test_predict(learner, run):
    found = run("predict", "new.csv", "--model", "model.npz", "--json")
    assert found.exit_code == 0, found.stderr
    if not isinstance(learner, EMDClassifier):
        learner = EMDClassifier(learner=learner).fit(X, Y)
    learner.set_params(n_neighbors=3)
    assert json.loads(found.stdout)["labels"] == learner.predict(NEW).tolist()


def test_distances_and_neighbors(learner, run):
    learner = getattr(learner, "learner_", learner)
    between = learner.pairwise(NEW, X)
    line = ["distances", "data.csv", "--model", "model.npz", "--queries", "new.csv"]
    found = run(*line, "--out", "d.npy")
    assert found.exit_code == 0, found.stderr
    np.testing.assert_allclose(np.load("d.npy"), between, atol=1e-12)
    found = run(*line, "--neighbors", "1")
    rows = list(csv.DictReader(found.stdout.splitlines()))
    nearest = [float(row["distance"]) for row in rows]
    np.testing.assert_allclose(nearest, between.min(axis=1), atol=1e-6)


@pytest.mark.usefixtures("learner")
def test_evaluate(run):
    line = ["evaluate", "data.csv", "--model", "model.npz", "--folds", "2"]
    found = run(*line, "--neighbors", "1", "--json")
    assert found.exit_code == 0, found.stderr
    assert f"learned from {len(X)} of these" in found.stderr
    errors = json.loads(found.stdout)["errors"]["learned"]["knn_errors"]
    assert len(errors) == 4
    # Without rows that it has seen, there is no warning.
    line[1] = "new.csv"
    found = run(*line, "--neighbors", "1", "--json")
    assert "of these" not in found.stderr


def test_report(learner, folder, run):
    line = ["report", "data.csv", "--model", "model.npz", "--no-learners"]
    found = run(*line, "--test", "new.csv", "--out", "tested.html")
    assert found.exit_code == 0, found.stderr
    found = run(*line, "--folds", "4", "--repeats", "1", "--out", "split.html")
    assert found.exit_code == 0, found.stderr
    for name in ("tested.html", "split.html"):
        assert "</html>" in (folder / name).read_text(encoding="utf-8")
    inner = getattr(learner, "learner_", learner)
    write_report(
        "python.html", X=X, y=Y, X_test=NEW, y_test=ENDS, learner=inner, learners=()
    )
    python = (folder / "python.html").read_text(encoding="utf-8")
    assert f"learner = {type(inner).__name__}(" in python


def test_a_report_shows_where_smoothed_learners_started(folder, run):
    FROM_PRIOR.fit(X, Y).save("prior.npz")
    SinkhornMetricLearning(max_steps=2).fit(X, Y).save("smoothed.npz")
    (folder / "new.csv").write_text(csv_of(NEW, ENDS))
    for model in ("prior", "smoothed"):
        line = ["report", "data.csv", "--model", f"{model}.npz", "--test", "new.csv"]
        found = run(*line, "--no-learners", "--json")
        assert "initial" in json.loads(found.stdout)["errors"]
        page = (folder / "report.html").read_text(encoding="utf-8")
        # Smoothed distances of the uniform metric are not half of l1.
        assert "Learning started from the uniform metric" not in page


def test_a_report_chooses_the_steps_again(folder, run):
    """A search that takes no step is not a learner of as many steps as it may."""
    rows, labels = np.tile(X, (2, 1)), np.tile(Y, 2)
    (folder / "twice.csv").write_text(csv_of(rows, labels))
    inner = GroundMetricLearning(init=1 - np.eye(3), step_size=1e-9, max_steps=3)
    search = MetricLearningCV(inner, {}, cv=2).fit(rows, labels)
    assert search.best_step_ == 0
    for number, model in enumerate(
        [search, EMDClassifier(learner=search).fit(rows, labels)]
    ):
        model.save(f"{number}.npz")
        line = ["report", "twice.csv", "--model", f"{number}.npz", "--no-learners"]
        assert run(*line, "--folds", "4").exit_code == 0
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert '<th scope="row">steps taken</th><td>0</td>' in page
