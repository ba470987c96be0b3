"""The last lines of ``evaluate``: the command that fits the winner."""

import json
import shlex

import numpy as np
import pytest
from samples import LINE, X, Y, csv_of

from groundmetric.cli import _rows
from groundmetric.cli._learners import Known
from groundmetric.cli._options import Source
from groundmetric.cli._winner import IN_SCIKIT_LEARN, Asked, next_steps
from groundmetric.datasets._matrix import NamedMatrix
from groundmetric.distances import DISTANCES
from groundmetric.experiments import CrossValidation, Prediction
from groundmetric.experiments.predictors import PREDICTORS
from groundmetric.experiments.splits import given, split_data
from groundmetric.experiments.verdict import Verdict
from groundmetric.experiments.winner import winner

N = 100
DESIGN = given([0, 1], [0, 1] * (N // 2))
KNOWN = Known(
    {"points.npy": NamedMatrix(np.eye(3))}, {"line.npy": NamedMatrix(np.array(LINE))}
)


def errors_of(n):
    return [[k < n for k in range(N)]]


def outcomes(**errors):
    names = {name.replace("_", "-"): n for name, n in errors.items()}
    return [CrossValidation(name, DESIGN, errors_of(n)) for name, n in names.items()]


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ({"learned": 9, "l1": 30, "auto": 30}, "learned"),
        ({"learned": 9, "l1": 30, "auto": 10}, "auto"),
        ({"learned": 9, "l1": 30}, "learned"),
        ({"learned": 9, "l1": 8, "auto": 9}, "l1"),
        ({"learned": 9, "l1": 9, "auto": 9}, "l1"),
        ({"lmnn_hellinger": 2, "learned": 9, "l1": 30, "auto": 14}, "lmnn-hellinger"),
        ({"learned": 50, "l1": 55, "auto": 60}, None),
        ({"initial": 0, "learned": 9, "l1": 12}, "learned"),
        ({"auto": 3, "emd:a.npy": 2, "l1": 30}, "emd:a.npy"),
    ],
)
def test_who_wins(errors, expected):
    found = [
        CrossValidation(name.replace("_", "-"), DESIGN, errors_of(n))
        for name, n in errors.items()
    ]
    assert winner(found) == expected


def said(best, asked=None, **others):
    """Return what is said if this one has far fewer errors than all others."""
    errors = {"learned": 40, "l1": 40, "auto": 40} | others | {best: 2}
    found = {x: CrossValidation(x, DESIGN, errors_of(n)) for x, n in errors.items()}
    return next_steps(Verdict(found, 3), asked or Asked(Source("my data.csv"), KNOWN))


@pytest.mark.parametrize(
    ("best", "options"),
    [
        ("learned", "--learner exact"),
        ("auto", "--learner auto --points points.npy"),
        ("combined", "--learner combined --points points.npy --metrics line.npy"),
        ("discriminant", "--learner discriminant --points points.npy"),
        ("gml-smoothed", "--learner smoothed"),
        ("lmnn-hellinger", "--learner lmnn"),
        ("itml-hellinger", "--learner itml"),
        ("nca-hellinger", "--learner nca"),
        ("chi2-lmnn", "--learner chi2-lmnn"),
    ],
)
def test_the_command_fits_the_winner(best, options):
    found = said(best)
    assert found["winner"] == best
    line = found["next"].partition("fit it: ")[2]
    assert line == f"groundmetric fit 'my data.csv' {options}"


def test_the_command_reads_the_same_data():
    source = Source("d.csv", label="kind", ignore=["id", "a b"], header=True)
    line = said("auto", Asked(source, Known({}, {}), " --groups who --cv"))["next"]
    assert line.endswith(
        "groundmetric fit d.csv --label kind --ignore id --ignore 'a b' --header "
        "--groups who --cv --learner auto"
    )
    line = said("auto", Asked(Source("-"), Known({}, {})))["next"]
    assert "groundmetric fit DATA --learner auto" in line


def test_texts_are_learned_from_with_their_vectors():
    asked = Asked(Source("texts", vectors="v.txt"), Known({}, {}, np.eye(3)))
    line = said("learned", asked)["next"]
    assert line.endswith("groundmetric fit texts --vectors v.txt")
    line = said("auto", asked)["next"]
    assert line.endswith("groundmetric fit texts --vectors v.txt --learner auto")


def test_a_model_that_wins_is_used(tmp_path):
    asked = Asked(Source("d.csv"), KNOWN, model=tmp_path / "m.npz")
    line = said("learned", asked)["next"]
    assert line == f"To use it: groundmetric predict NEW --model {tmp_path / 'm.npz'}"


def test_what_learns_nothing():
    assert said("emd:line.npy")["next"].endswith(
        "groundmetric distances 'my data.csv' --metric line.npy"
    )
    assert "pairwise_emd(X, metric=" in said("emd:points.npy")["next"]
    for name in ("l1", "l2", "hellinger", "chi2", "tfidf-l1"):
        assert said(name)["next"].endswith(IN_SCIKIT_LEARN[name] % 3)
    assert set(IN_SCIKIT_LEARN) <= {*DISTANCES, *PREDICTORS, "tfidf-l1"}


def test_no_one_is_better_than_guessing():
    assert said("l1", learned=60, auto=60, l2=55)["winner"] == "l1"
    found = {x: CrossValidation(x, DESIGN, errors_of(50)) for x in ("learned", "l1")}
    assert next_steps(Verdict(found, 3), Asked(Source("d.csv"), KNOWN)) == {}


@pytest.mark.parametrize("name", PREDICTORS)
def test_predictors_are_for_labels_only(name):
    found = {x: CrossValidation(x, DESIGN, errors_of(30)) for x in ("learned", "l1")}
    few = {name: Prediction(name, DESIGN, errors_of(2))}
    after = next_steps(Verdict(found, 3, few), Asked(Source("d.csv"), KNOWN))
    assert after["predictor"] == name
    assert after["next_for_labels"].endswith(IN_SCIKIT_LEARN[name])
    assert after["winner"] == "l1"


def test_code_for_scikit_learn_runs():
    """As printed, with what scikit-learn exports."""
    names = {"np": np}
    for line in (
        "from sklearn.feature_extraction.text import TfidfTransformer",
        "from sklearn.linear_model import LogisticRegression",
        "from sklearn.model_selection import GridSearchCV",
        "from sklearn.neighbors import KNeighborsClassifier",
        "from sklearn.pipeline import make_pipeline",
        "from sklearn.preprocessing import FunctionTransformer, Normalizer",
        "from sklearn.svm import LinearSVC",
    ):
        exec(line, names)  # noqa: S102 - our own text
    rows, labels = np.tile(X, (4, 1)), np.tile(Y, 4)
    for name, code in IN_SCIKIT_LEARN.items():
        line = (code % 3 if "%d" in code else code).partition(" on ")[0]
        model = eval(line, names)  # noqa: S307 - our own text
        seen = DISTANCES["chi2"](rows) if name == "chi2" else rows.astype(float)
        assert model.fit(seen, labels).score(seen, labels) > 0.9


@pytest.mark.usefixtures("measured_once")
def test_evaluate_ends_with_a_command_that_runs(folder, run):
    rng = np.random.default_rng(0)
    labels = np.array(["left", "right"] * 30)
    counts = rng.poisson(3.0, (60, 6)) + 1
    counts[:, 0] += 3 * (labels == "left")
    counts[:, 1] += 3 * (labels == "right")
    (folder / "more.csv").write_text(csv_of(counts, labels, "a,b,c,d,e,f,kind"))
    np.save("points.npy", rng.normal(size=(6, 2)))
    np.save("far.npy", 1 - np.eye(6))
    line = ["evaluate", "more.csv", "--points", "points.npy", "--metrics", "far.npy"]
    line += ["--folds", "3", "--repeats", "1", "--label", "kind"]
    found = run(*line, "--json")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    assert {"auto", "combined", "discriminant"} <= set(facts["errors"])
    assert {"emd:points.npy", "emd:far.npy"} <= set(facts["errors"])
    text = run(*line).stdout
    assert text.splitlines()[-1] == facts["next"]
    assert " EMD with far.npy " in text
    if "groundmetric fit" in facts["next"]:
        words = shlex.split(facts["next"].partition(": groundmetric ")[2])
        assert run(*words).exit_code == 0
    # Without learners, only what was given is added.
    facts = json.loads(run(*line, "--no-learners", "--json").stdout)
    assert "auto" not in facts["errors"]
    assert "next" not in facts
    assert "emd:far.npy" in facts["errors"]


@pytest.mark.usefixtures("folder")
def test_small_classes_have_no_automatic_choice(run):
    found = run("evaluate", "data.csv", "--folds", "2", "--neighbors", "1", "--json")
    assert "auto" not in json.loads(found.stdout)["errors"]
    assert "a class has fewer than 4 training histograms" in found.stderr


def test_points_of_many_bins_make_no_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    points, rows = rng.normal(size=(7, 2)), rng.dirichlet(np.ones(7), 12)
    known = Known({"p.npy": NamedMatrix(points)}, {})
    data = split_data(rows, [0, 1] * 6, n_folds=2, n_repeats=1)
    found = []
    for most in (7, 6):
        monkeypatch.setattr(_rows, "MOST_BINS", most)
        methods = _rows.more_rows(known, data, learners=False)
        names = [one.name for one in methods]
        assert names == (["combined"] if most == 7 else []) + ["emd:p.npy"]
        found.append(methods[-1].learn(rows, None, 1)(rows[:3], rows))
    np.testing.assert_allclose(*found, atol=1e-12)
