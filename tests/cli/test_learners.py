"""Every learner of ``fit --learner``: the model, and every command that takes one."""

import csv
import json
from hashlib import sha256
from typing import get_args

import numpy as np
import pytest
from samples import LINE, X, Y, csv_of

import groundmetric as gm
from groundmetric import baselines
from groundmetric.base._model import load_model
from groundmetric.cli._app import repeated
from groundmetric.cli._data import read_labeled
from groundmetric.cli._learners import CLASSES, FITTED_AS, TAKES, Name
from groundmetric.cli._options import Source
from groundmetric.cli._origin import held_out_error
from groundmetric.experiments import METHODS

TWICE = np.tile(X, (2, 1)), np.tile(Y, 2)
POINTS = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
ROWS = TWICE[0] / TWICE[0].sum(axis=1, keepdims=True)

pytestmark = pytest.mark.filterwarnings("ignore:(ITML|AitchisonEmbedding)")


@pytest.fixture
def files(folder):
    """Make data of sixteen rows, points of bins, and metrics between them."""
    (folder / "twice.csv").write_text(csv_of(*TWICE))
    np.save("points.npy", POINTS)
    (folder / "more.csv").write_text("0\n1\n3\n")
    (folder / "line.csv").write_text("c,b,a\n0,1,3\n1,0,2\n3,2,0\n")
    return folder


def test_all_learners_have_names():
    assert [*CLASSES] == [*get_args(Name)]
    assert set(TAKES) | set(FITTED_AS.values()) <= set(CLASSES)
    of_labels = {*baselines.__all__} - {"Lebanon"}  # which keeps none to predict
    assert {name for _, name in CLASSES.values()} >= of_labels


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("learner", CLASSES)
def test_models_work_in_every_command(run, learner):
    line = ["fit", "twice.csv", "--learner", learner, "--out", "m.npz"]
    if learner == "combined":
        line += ["--metrics", "line.npy"]
    found = run(*line, "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    name = CLASSES[learner][1]
    model = load_model("m.npz")
    assert type(model).__name__ == name
    assert facts["learner"] == type(getattr(model, "best_estimator_", model)).__name__
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    vars(model).pop("feature_names_in_")
    vars(getattr(model, "best_estimator_", model)).pop("feature_names_in_", None)
    # By default it is as in Python.
    kinds = vars(baselines) | vars(gm)
    direct = gm.CombinedMetricLearning([1 - np.eye(3), LINE])
    if learner != "combined":
        direct = kinds.get(name, getattr(gm, name, None))()
    between = direct.fit(ROWS, TWICE[1]).pairwise(X, ROWS)
    np.testing.assert_allclose(model.pairwise(X, ROWS), between, atol=1e-12)
    # predict
    found = run("predict", "data.csv", "--model", "m.npz", "--json")
    assert found.exit_code == 0, found.stderr
    nearest = np.argsort(between, axis=1, kind="stable")[:, :3]
    winners = [max(set(each), key=each.count) for each in TWICE[1][nearest].tolist()]
    assert json.loads(found.stdout)["labels"] == winners
    # distances, all of them and the smallest
    line = ["distances", "twice.csv", "--model", "m.npz"]
    assert run(*line, "--queries", "data.csv", "--out", "d.npy").exit_code == 0
    np.testing.assert_allclose(np.load("d.npy"), between, atol=1e-12)
    found = run(*line, "--queries", "data.csv", "--neighbors", "2")
    rows = list(csv.DictReader(found.stdout.splitlines()))
    lengths = np.array([float(row["distance"]) for row in rows]).reshape(8, 2)
    np.testing.assert_allclose(lengths, np.sort(between)[:, :2], atol=1e-6)
    found = run(*line, "--neighbors", "1")  # a row is not its own neighbor
    rows = list(csv.DictReader(found.stdout.splitlines()))
    assert all(row["query"] != row["neighbor"] for row in rows)
    # evaluate
    found = run("evaluate", "twice.csv", "--model", "m.npz", "--folds", "2", "--json")
    assert found.exit_code == 0, found.stderr
    assert "learned from 16 of these" in found.stderr
    # report
    line = ["report", "twice.csv", "--model", "m.npz", "--no-learners", "--folds", "2"]
    found = run(*line, "--repeats", "1")
    if name in baselines.__all__:
        assert found.exit_code == 2
        assert found.stderr == (
            f"error: m.npz is a model of {name}, which has no ground metric to draw; "
            "test it with groundmetric evaluate --model m.npz.\n"
        )
    else:
        assert found.exit_code == 0, found.stderr
    # info
    found = run("info", "m.npz", "--json")
    assert json.loads(found.stdout)["learner"] == facts["learner"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("learner", ["exact", "discriminant", "auto", "nca"])
def test_cross_validation_measures_the_error(run, learner):
    line = ["fit", "twice.csv", "--learner", learner, "--cv", "--out", "m.npz"]
    found = run(*line, "--json")
    assert found.exit_code == 0, found.stderr
    error = json.loads(found.stdout)["held_out_error"]
    assert 0.0 <= error < 0.5
    told = json.loads(run("info", "m.npz", "--json").stdout)
    assert told["held_out_error"] == error
    text = run(*line).stdout
    assert "nearest neighbors of held-out histograms: " in text
    assert ("with the initial metric" in text) is (learner in {"exact", "discriminant"})


@pytest.mark.usefixtures("files")
def test_errors_of_baselines_are_measured_as_those_of_our_learners():
    """On the same folds: those of a discriminant with fixed settings."""
    data = read_labeled(Source("twice.csv"))
    learner = gm.DiscriminantMetricLearning()
    search = gm.MetricLearningCV(learner, {}).fit(data.X, data.y)
    step_one = search.cv_results_["mean_test_score"][1]
    error = held_out_error(learner, data, None, 0)
    assert error == pytest.approx(1.0 - step_one)


def test_info_says_what_a_model_is(files, run):
    line = ["fit", "twice.csv", "--power", "1", "--max-steps", "2", "--out", "m.npz"]
    assert run(*line).exit_code == 0
    facts = json.loads(run("info", "m.npz", "--json").stdout)
    assert facts["settings"] == {"power": 1.0, "max_steps": 2}
    assert facts["bins"] == ["a", "b", "c"]
    assert (facts["n_bins"], facts["n_histograms"]) == (3, 16)
    assert facts["classes"] == {"left": 8, "right": 8}
    assert facts["data"] == "twice.csv"
    assert facts["sha256"] == sha256((files / "twice.csv").read_bytes()).hexdigest()
    assert facts["command"] == "groundmetric " + " ".join(line)
    assert facts["made"].endswith("+00:00")
    assert "changed" not in facts
    text = run("info", "m.npz").stdout
    assert "settings       max_steps 2, power 1.0\n" in text
    assert "classes        left 8, right 8\n" in text
    (files / "twice.csv").write_text(csv_of(X, Y))
    assert (
        "twice.csv is no longer the file that was read" in run("info", "m.npz").stdout
    )


@pytest.mark.usefixtures("files")
def test_info_of_models_of_python(run):
    gm.EMDClassifier(learner=gm.AutoMetric(POINTS, cv=2)).fit(*TWICE).save("m.npz")
    facts = json.loads(run("info", "m.npz", "--json").stdout)
    assert facts["within"] == "AutoMetric in EMDClassifier"
    assert "written" in facts
    assert "made" not in facts
    assert facts["classes"] == {"left": 8, "right": 8}
    model = load_model("m.npz").learner_
    assert facts["held_out_error"] == 1.0 - model.best_score_
    found = run("info", "line.npy")
    assert found.exit_code == 2
    assert found.stderr.startswith("error: ")


@pytest.mark.usefixtures("files")
def test_a_new_fit_forgets_where_the_last_one_came_from(run):
    assert run("fit", "twice.csv", "--out", "m.npz").exit_code == 0
    model = gm.GroundMetricLearning.load("m.npz")
    assert model.origin_["data"] == "twice.csv"
    assert not hasattr(model.fit(X, Y), "origin_")


@pytest.mark.usefixtures("files")
def test_points_and_metrics(run):
    line = ["fit", "twice.csv", "--out", "m.npz", "--learner"]
    for words, points in (
        (["discriminant", "--points", "points.npy"], [POINTS]),
        (["auto", "--points", "points.npy", "--points", "more.csv"], 2),
        (["auto", "--points", "points.npy", "more.csv"], 2),
    ):
        found = run(*line, *words)
        assert found.exit_code == 0, found.stderr
        model = load_model("m.npz")
        assert len(model.points) == (points if isinstance(points, int) else len(points))
    found = run(*line, "combined", "--metrics", "line.npy", "line.csv")
    assert found.exit_code == 0, found.stderr
    metrics = load_model("m.npz").metrics
    # By names: line.csv has the bins the other way round.
    expected = [1 - np.eye(3), LINE, [[0, 2, 3], [2, 0, 1], [3, 1, 0]]]
    np.testing.assert_array_equal(metrics, expected)


WRONG = {
    "no such learner": ("--learner svm", "'svm' is not one of"),
    "not its option": (
        "--learner lmnn --tol 0.1",
        "--tol is for --learner exact, combined; --learner lmnn does not take it.",
    ),
    "metrics of another": (
        "--metrics line.npy",
        "--metrics is for --learner combined; --learner exact does not take it.",
    ),
    "two sets for one": (
        "--learner mapped --points points.npy more.csv",
        "--points names 2 files, but --learner mapped takes one",
    ),
    "nothing to combine": (
        "--learner combined",
        "--learner combined needs --points or --metrics to combine.",
    ),
    "points of other bins": (
        "--learner auto --points four.npy",
        "--points four.npy has 4 rows, but twice.csv has 3 bins",
    ),
    "no metric": (
        "--learner combined --metrics bad.npy",
        "--metrics has bad.npy: the matrix",
    ),
    "no such file": ("--learner auto --points none.npy", "none.npy"),
    "twice": (
        "--learner auto --points more.csv more.csv",
        "--points has more.csv twice.",
    ),
    "output is an input": (
        "--learner auto --points points.npy m.npz",
        "--out is m.npz, the same file as --points",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_uses_are_one_line(files, run, case):
    words, message = WRONG[case]
    np.save("four.npy", np.eye(4))
    np.save("bad.npy", [[0, 1, 9], [1, 0, 1], [9, 1, 0]])
    found = run("fit", "twice.csv", "--out", "m.npz", *words.split())
    assert found.exit_code == 2
    assert found.stderr.count("\n") == 1
    assert message in found.stderr
    assert not (files / "m.npz").exists()


def test_files_are_repeated():
    words = [
        "d.csv",
        "--points",
        "a",
        "b",
        "--jobs",
        "2",
        "--metrics",
        "c",
        "-",
        "x",
        "--cv",
    ]
    expected = "d.csv --points a --points b --jobs 2 --metrics c --metrics - --metrics"
    found = repeated(words, {"--points", "--metrics"})
    assert found == [*expected.split(), "x", "--cv"]


def test_methods_of_evaluate_are_those_of_fit():
    """The command that fits the winner learns with the settings that won."""
    for row, learner in FITTED_AS.items():
        if row not in METHODS:
            continue
        kind = CLASSES[learner][1]
        made = getattr(baselines, kind, None) or getattr(gm, kind)
        own, won = made().get_params(), METHODS[row].settings
        same = (own.keys() & won.keys()) - {"criterion"}  # "margin", and Margin()
        assert {name: own[name] for name in same} == {name: won[name] for name in same}
