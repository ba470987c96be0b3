"""Predictors of labels, beside distances."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from groundmetric.experiments import (
    METHODS,
    PREDICTORS,
    CrossValidation,
    Prediction,
    Predictor,
    compare,
    cross_validate,
    cross_validation,
)
from groundmetric.experiments.choice import labels_only
from groundmetric.experiments.splits import given
from groundmetric.experiments.verdict import Verdict

NAMES = {
    "learned": "the learned metric",
    "l1": "the l1 distance",
    "logistic": "logistic regression",
    "linear-svm": "a linear support vector machine",
}


def sets_apart(n, rng):
    """Draw histograms whose classes differ in the ratio of two rare bins."""
    y = np.arange(n) % 2
    rows = rng.dirichlet(np.full(6, 2.0), n)
    rare = 0.01 * np.stack([1 + 3 * y, 4 - 3 * y], axis=1) / 5
    return np.hstack([rows * 0.99, rare]), y


@pytest.mark.parametrize("name", PREDICTORS)
def test_predictors_see_what_neighbors_do_not(name):
    X, y = sets_apart(120, np.random.default_rng(0))
    l1, found = cross_validate(X, y, methods=["l1", name], n_folds=3, n_repeats=1)
    assert isinstance(l1, CrossValidation)
    assert isinstance(found, Prediction)
    assert found.error().mean < 0.05
    assert l1.error().mean > 0.3
    assert found.balanced_error == pytest.approx(found.error().mean)
    assert len(found.errors) == len(found.fit_seconds) == 3
    saved = l1.saved_by(found)
    assert saved.low > 0
    assert saved.mean == pytest.approx(l1.error().mean - found.error().mean)


def test_logistic_regression_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    X, y, tests = (
        rng.dirichlet(np.ones(4), 40),
        np.arange(40) % 3,
        rng.dirichlet(np.ones(4), 9),
    )
    predict = PREDICTORS["logistic"].learn(X, y, None)
    candidates = [
        LogisticRegression(C=c, max_iter=300).fit(np.sqrt(X), y).predict(np.sqrt(tests))
        for c in PREDICTORS["logistic"].settings["C"]
    ]
    assert any(np.array_equal(predict(tests), each) for each in candidates)


def test_a_class_of_one_leaves_nothing_to_choose():
    X, y = np.eye(3)[[0, 1, 1, 2, 2]] + 0.1, np.array(list("abbcc"))
    X /= X.sum(axis=1, keepdims=True)
    for each in PREDICTORS.values():
        assert set(each.learn(X, y, None)(X)) <= set("abc")


def test_they_are_looked_up_with_distances():
    with pytest.raises(
        ValueError, match="methods has 'forest'; it must be one of l1, "
    ):
        cross_validate([[1, 2]] * 4, [0, 1] * 2, methods=["forest"], n_folds=2)
    with pytest.raises(ValueError, match="methods has 'logistic' twice"):
        cross_validate([[1, 2]] * 4, [0, 1] * 2, methods=["logistic"] * 2, n_folds=2)
    assert not set(METHODS) & set(PREDICTORS)


def test_processes_give_the_same_predictions(monkeypatch):
    X, y = sets_apart(40, np.random.default_rng(0))
    options = {"methods": ["l1", *PREDICTORS], "n_folds": 2, "n_repeats": 1}
    here = cross_validate(X, y, **options)
    monkeypatch.setattr(cross_validation, "WORTH_PROCESSES", 20)
    there = cross_validate(X, y, **options, n_jobs=2)
    assert [type(one) for one in there] == [CrossValidation, Prediction, Prediction]
    assert [one.errors for one in there] == [one.errors for one in here]


def found_of(**wrong):
    """Make outcomes on 40 given histograms, of which so many are wrong."""
    design = given([0, 1], [0, 1] * 20)
    kinds = {
        name: Prediction if name in PREDICTORS else CrossValidation for name in wrong
    }
    return {
        name: kinds[name](name, design, [np.arange(40) < n], fit_seconds=[2.0])
        for name, n in wrong.items()
    }


def sentence_of(**wrong):
    found = found_of(**wrong)
    distances, others = (
        [one for one in found.values() if isinstance(one, kind)]
        for kind in (CrossValidation, Prediction)
    )
    return labels_only(distances, others, NAMES)


def test_whoever_needs_only_labels_is_told_of_a_better_predictor():
    assert sentence_of(learned=12, l1=20, logistic=1) == (
        "If you only need labels, use logistic regression: 2.5 % errors, significantly "
        "fewer than under any of these distances (the learned metric: 30.0 %)."
    )
    assert sentence_of(learned=3, l1=20, logistic=1) == ""  # may be chance
    assert sentence_of(learned=3, l1=20) == ""
    assert sentence_of(logistic=3) == ""  # no distance to compare with
    assert sentence_of(l1=38, logistic=20) == ""  # no better than guessing
    best = sentence_of(l1=20, logistic=4, **{"linear-svm": 2})
    assert best.startswith("If you only need labels, use a linear support vector machi")


def test_a_verdict_stays_about_distances():
    found = found_of(learned=12, l1=20, logistic=1)
    logistic = {"logistic": found.pop("logistic")}
    verdict = Verdict(found, 3, logistic)
    assert verdict.names() == ["learned", "l1", "logistic"]
    assert verdict.names("svm") == ["learned", "l1"]
    rows = verdict.rows()
    assert [row[:2] for row in rows] == [
        ["learned metric", "30.0 %"], ["l1", "50.0 %"], ["logistic regression", "2.5 %"]
    ]  # fmt: skip
    assert rows[2][2].startswith("-27.5 (")
    assert "learned metric" in verdict.headline()
    assert verdict.sentences()[-1].startswith("If you only need labels, use logistic r")
    facts = verdict.facts()
    assert set(facts["errors"]) == {"learned", "l1"}
    one = facts["predictors"]["logistic"]
    assert one["error"]["mean"] == one["balanced"]["mean"] == 0.025
    assert one["saved"]["mean"] == pytest.approx(-0.275)
    assert one["seconds"] == 2.0


def test_machines_on_distances_may_be_better_than_predictors():
    found = found_of(learned=12, logistic=1)
    few = [np.zeros(40, dtype=bool)]
    learned = CrossValidation(
        "learned", found["learned"].design, found["learned"].knn_wrong, few
    )
    assert labels_only([learned], [found["logistic"]], NAMES) == ""


def test_compare_has_them_below_or_above():
    X, y = sets_apart(60, np.random.default_rng(0))
    zeros = lambda rows: np.zeros(len(rows))  # noqa: E731
    guess = Predictor("guess", "guessing", {}, lambda *_: zeros)
    frame = compare(X, y, methods=["l1", "l2", "logistic", guess], n_folds=3)
    assert frame.index[0] == "logistic"
    assert frame["kind"].to_dict() == {
        "l1": "distance", "l2": "distance",
        "logistic": "predictor", "guess": "predictor",
    }  # fmt: skip
    verdict = frame.attrs["verdict"]
    assert "No distance is better" in verdict or verdict.startswith("Use the l")
    assert "If you only need labels, use logistic regression: " in verdict
    only = compare(X, y, methods=["logistic"], n_folds=3)
    assert only.attrs["verdict"] == "No distances were compared."


def test_balanced_errors_have_intervals():
    design = given([0] * 9 + [1], [0] * 95 + [1] * 5)
    rare = CrossValidation("l1", design, [np.arange(100) >= 95])
    never = CrossValidation("l2", design, [np.zeros(100, dtype=bool)])
    assert rare.error().mean == 0.05
    found = rare.error(balanced=True)
    assert found.mean == rare.balanced_error == 0.5
    assert 0.1 < found.low < 0.3
    assert 0.7 < found.high < 0.9
    # No errors among five of the rare class do not prove that there are none.
    assert 0.2 < never.error(balanced=True).high < 0.5
    assert never.error(balanced=True).low == 0.0
    saved = rare.saved_by(never, balanced=True)
    assert (saved.mean, saved.low > 0) == (0.5, True)
    machines = CrossValidation("l1", design, rare.knn_wrong, never.knn_wrong)
    assert machines.error("svm", balanced=True).mean == 0.0
    found = {"learned": machines, "l1": rare}
    cells = Verdict(found, 3).rows("knn")
    assert [row[2] for row in cells] == ["50.0 %", "50.0 %"]
