"""The number of steps by cross-validation."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import (
    check_do_not_raise_errors_in_init_or_set_params,
    parametrize_with_checks,
)

import groundmetric as gm
from contract import failures_we_want
from groundmetric import GroundMetricLearning, GroundMetricLearningCV

SMALL = {"cv": 2, "patience": 1}


@pytest.mark.filterwarnings("ignore:Class")
@parametrize_with_checks(
    [
        GroundMetricLearningCV(max_outer=1, **SMALL),
        gm.SinkhornMetricLearningCV(max_steps=1, **SMALL),
    ],
    expected_failed_checks=failures_we_want,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["GroundMetricLearning", "SinkhornMetricLearning"])
def test_takes_what_the_learner_takes(name):
    own, learner = (
        inspect.signature(getattr(gm, name + suffix)).parameters
        for suffix in ("CV", "")
    )
    assert set(own) == {*learner, "cv", "scoring", "param_grid", "patience"}
    differ = {key for key in learner if own[key].default != learner[key].default}
    assert differ == {"floor", "random_state"}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    rows = np.concatenate([rows[y[rows] == c][:12] for c in (3, 5, 8)])
    return X[rows], y[rows]


@pytest.fixture(scope="module")
def noise():
    # Classes that no metric separates: descents take all steps.
    X = np.random.default_rng(0).dirichlet(np.ones(4), 60)
    return X, np.arange(60) % 2


def test_chooses_the_fewest_steps_within_one_standard_error(digits):
    X, y = digits
    learner = GroundMetricLearningCV(cv=3, max_outer=4).fit(X, y)
    results = learner.cv_results_
    assert results["step"].tolist() == [0, 1, 2, 3, 4]
    scores = np.array([results[f"split{k}_test_score"] for k in range(6)])
    lead = scores[:, [results["mean_test_score"].argmax()]] - scores
    within = lead.mean(axis=0) <= lead.std(axis=0, ddof=1) / np.sqrt(6)
    assert learner.best_step_ == np.flatnonzero(within)[0]
    assert learner.best_score_ == results["mean_test_score"][learner.best_step_]
    assert learner.n_iter_ == learner.best_step_


def test_learns_from_everything_for_as_many_steps(digits):
    X, y = digits

    def later_is_better(distances, *_):
        # The mean distance falls or rises; any function of the distances will do.
        return float(distances.std() / distances.mean())

    learner = GroundMetricLearningCV(cv=2, max_outer=3, scoring=later_is_better)
    learner.fit(X, y)
    n = learner.best_step_
    if n == 0:
        np.testing.assert_array_equal(learner.metric_, learner.initial_metric_)
    else:
        plain = GroundMetricLearning(max_outer=n, tol=0.0, floor=0.0).fit(X, y)
        np.testing.assert_array_equal(learner.metric_, plain.metric_)


@pytest.mark.parametrize("wanted", range(4))
def test_scores_decide(digits, wanted):
    X, y = digits
    metrics = []

    def scoring(distances, *_):
        metrics.append(distances)
        return float((len(metrics) - 1) // 4 == wanted)  # two folds, drawn twice

    learner = GroundMetricLearningCV(cv=2, max_outer=3, tol=0.0, scoring=scoring)
    learner.fit(X, y)
    assert learner.best_step_ == wanted
    assert learner.n_iter_ == wanted
    assert len(metrics) == 2 * 2 * 4  # folds, repeats, steps
    if wanted == 0:
        np.testing.assert_array_equal(learner.metric_, learner.initial_metric_)
    else:
        plain = GroundMetricLearning(max_outer=wanted, tol=0.0, floor=0.0).fit(X, y)
        np.testing.assert_array_equal(learner.metric_, plain.metric_)


def test_chooses_parameters_too(digits, tmp_path):
    X, y = digits
    calls = []

    def second_candidate(*_):
        calls.append(1)
        return float(len(calls) > 8)  # 2 folds x 2 repeats x 2 steps come first

    grid = {"power": [1.0, 0.5]}
    learner = GroundMetricLearningCV(
        cv=2, max_outer=1, power=0.7, param_grid=grid, scoring=second_candidate
    ).fit(X, y)
    assert learner.best_params_ == {"power": 0.5}
    assert learner.power_ == 0.5
    assert learner.get_params()["power"] == 0.7
    assert len(learner.cv_results_["params"]) == 4
    raised = np.sqrt(X / X.sum(axis=1, keepdims=True))
    raised /= raised.sum(axis=1, keepdims=True)
    D = gm.pairwise_emd(raised[:3], raised, metric=learner.metric_)
    np.testing.assert_allclose(learner.transform(X[:3]), D, rtol=1e-12)
    learner.set_params(scoring=None, param_grid=None).save(tmp_path / "model")
    loaded = GroundMetricLearningCV.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(X), learner.transform(X))
    assert loaded.best_step_ == learner.best_step_
    assert not hasattr(loaded, "cv_results_")
    with pytest.raises(AttributeError, match="files do not store them"):
        loaded.cv_results_  # noqa: B018 - it raises
    with pytest.raises(AttributeError, match="no attribute 'best'"):
        loaded.best  # noqa: B018


def test_standard_errors_are_of_differences(digits):
    # Folds differ by 0.4, steps 1 and 2 by 0.01 in every fold, and steps 2 and 3 by as
    # much here and there: step 1 is worse than step 3 beyond chance, step 2 is not.
    scores = np.add.outer([0.1, 0.5, 0.3, 0.5], [0.0, 0.08, 0.09, 0.095])
    scores[:2, 2] += 0.02
    scores[2:, 2] -= 0.02
    later = iter(scores.T.ravel())  # step by step
    learner = GroundMetricLearningCV(
        cv=2, max_outer=3, tol=0.0, scoring=lambda *_: next(later)
    ).fit(*digits)
    np.testing.assert_allclose(
        learner.cv_results_["mean_test_score"], scores.mean(axis=0)
    )
    assert learner.best_step_ == 2


@pytest.mark.parametrize("n_components", [None, 3])
def test_scores_are_those_of_all_distances(digits, n_components):
    X, y = digits
    points = np.argwhere(np.ones((8, 8)))

    def accuracy(distances, y_train, y_test):  # of up to 20 nearest, literally
        shares = []
        for k in range(1, min(20, len(y_train)) + 1):
            nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
            votes = [np.bincount(y_train[row]).argmax() for row in nearest]
            shares.append(np.mean(votes == y_test))
        return np.mean(shares)

    options = {"cv": 2, "max_outer": 3, "n_components": n_components}
    if n_components is not None:
        options["points"] = np.column_stack([points, points[:, :1] % 2])
    own, literal = (
        GroundMetricLearningCV(scoring=scoring, **options).fit(X, y).cv_results_
        for scoring in (None, accuracy)
    )
    for k in range(4):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(own[name], literal[name], atol=1e-15)


def test_scores_end_with_the_descents(digits):
    seen = []

    def scoring(distances, *_):
        seen.append(distances)
        return 0.5

    # Nothing gains 90 % in six steps: descents end by then, some even earlier.
    learner = GroundMetricLearningCV(
        cv=2, max_outer=40, tol=0.9, patience=None, scoring=scoring
    )
    n_steps = len(learner.fit(*digits).cv_results_["step"])
    assert n_steps == 7
    assert 4 < len(seen) < 4 * n_steps  # no fold is scored after its end


@pytest.mark.parametrize(("patience", "n_steps"), [(1, 4), (2, 5), (3, 9), (None, 10)])
def test_patience_ends_all_folds_together(noise, patience, n_steps):
    # Means rise up to step 2, and again at 5; single folds do as they like.
    means = [0.1, 0.2, 0.3, 0.2, 0.2, 0.4, 0.4, 0.3, 0.3, 0.2]
    scores = np.add.outer(means, [-0.1, 0.1, 0.05, -0.05])
    scores[3, :2] += [0.25, -0.25]  # by itself, the first fold would have gone on
    # Without patience, one fold after another.
    later = iter((scores if patience else scores.T).ravel())
    learner = GroundMetricLearningCV(
        cv=2, max_outer=9, tol=0.0, patience=patience, scoring=lambda *_: next(later)
    ).fit(*noise)
    found = learner.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, scores.mean(axis=1)[:n_steps], atol=1e-15)
    assert len(list(later)) == 4 * (10 - n_steps)
    assert learner.best_step_ == (2 if n_steps < 6 else 5)


def test_steps_that_were_not_scored_are_nan(noise):
    # The first candidate improves up to step 3, the second not at all.
    later = iter([*np.repeat([0.1, 0.2, 0.3, 0.4, 0.4, 0.4], 4), *[0.3] * 12])
    learner = GroundMetricLearningCV(
        cv=2, max_outer=5, tol=0.0, patience=2, param_grid={"power": [0.5, 1.0]},
        scoring=lambda *_: next(later),
    ).fit(*noise)  # fmt: skip
    means = learner.cv_results_["mean_test_score"].reshape(2, -1)
    np.testing.assert_allclose(means[0], [0.1, 0.2, 0.3, 0.4, 0.4, 0.4])
    np.testing.assert_allclose(means[1], [0.3] * 3 + [np.nan] * 3)
    assert (learner.best_step_, learner.best_params_) == (3, {"power": 0.5})


def test_saves_its_grid(digits, tmp_path):
    grid = {"power": [0.5, 1.0], "margin": [0.3, float("inf")]}
    learner = GroundMetricLearningCV(cv=2, max_outer=1, param_grid={"power": [0.5]})
    learner.fit(*digits).set_params(param_grid=grid).save(tmp_path / "model")
    loaded = GroundMetricLearningCV.load(tmp_path / "model")
    assert loaded.param_grid == grid
    np.testing.assert_array_equal(loaded.metric_, learner.metric_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warm_start": True}, "warm_start cannot be combined with cross-validation"),
        ({"scoring": "accuracy"}, "scoring is 'accuracy'; a function is needed"),
        ({"scoring": lambda *_: np.nan}, "scoring returned nan; a number is needed"),
        ({"patience": 0}, "patience is 0; it must be at least 1"),
        ({"callback": 3}, "callback is 3; a function is needed"),
        ({"param_grid": {"cv": [2]}}, "param_grid has 'cv'; GroundMetricLearning has"),
        ({"cv": []}, "cv has no folds"),
        ({"cv": [(np.arange(12), np.arange(0))]}, "cv has a fold without histograms"),
        ({"checkpoint": "nowhere/at/all.npz"}, "checkpoint"),
    ],
)
def test_bad_parameters_before_the_folds(digits, options, message):
    with pytest.raises((ValueError, OSError), match=message):
        GroundMetricLearningCV(max_outer=1, **options).fit(*digits)


def test_a_checkpoint_of_more_steps_does_not_count(noise, tmp_path):
    X, y = noise
    file = tmp_path / "checkpoint.npz"

    class StopError(Exception):
        pass

    def stop(step):
        if step.outer == 3:
            raise StopError

    def learner(n_steps, **options):
        def scoring(distances, *_):  # the later, the better, up to n_steps
            seen.append(distances)
            return -abs((len(seen) - 1) // 4 - n_steps)  # two folds, drawn twice

        seen = []
        return GroundMetricLearningCV(
            cv=2, max_outer=6, tol=0.0, scoring=scoring, checkpoint=file,
            checkpoint_seconds=0.0, **options,
        )  # fmt: skip

    with pytest.raises(StopError):
        learner(5, callback=stop).fit(X, y)
    assert file.exists()
    with pytest.raises(ValueError, match="checkpoint"):
        learner(2).fit(X, y)
    again = learner(5).fit(X, y)
    assert again.best_step_ == again.n_iter_ == 5


def test_takes_what_scikit_learn_takes(digits):
    X, y = digits
    learner = GroundMetricLearningCV(cv=StratifiedKFold(2), max_outer=1, n_targets=3)
    assert clone(learner).get_params()["n_targets"] == 3
    assert clone(learner).set_params(margin=0.1).margin == 0.1
    nearest = KNeighborsClassifier(3, metric="precomputed")
    scores = cross_val_score(make_pipeline(learner, nearest), X, y, cv=2)
    assert scores.mean() > 0.5
    assert (
        GroundMetricLearningCV(random_state=1, cv=2, max_outer=1).fit(X, y).metric_
        is not None
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "cv is 1; it must be at least 2"),
        ({"cv": 13}, "cv is 13, but a class has only 12 histograms"),
        ({"param_grid": {"power": [-1.0]}}, "power is -1.0"),
        ({"param_grid": {"steps": [1]}}, "steps"),
    ],
)
def test_bad_parameters(digits, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        GroundMetricLearningCV(**options).fit(*digits)


def test_similarities_cannot_be_held_out(digits):
    X, y = digits
    with pytest.raises(ValueError, match="cannot be combined with cross-validation"):
        GroundMetricLearningCV().fit(X, similarity=gm.label_similarity(y))
    with pytest.raises(ValueError, match="requires y"):
        GroundMetricLearningCV().fit(X)


@pytest.mark.parametrize(
    "learner", [GroundMetricLearningCV(), gm.SinkhornMetricLearningCV()]
)
def test_scikit_learn_sets_any_parameter(learner):
    # With ** in the signature this check, among others, was not run.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_do_not_raise_errors_in_init_or_set_params(type(learner).__name__, learner)
    kinds = {each.kind for each in inspect.signature(type(learner)).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("name", ["GroundMetricLearningCV", "SinkhornMetricLearningCV"])
def test_pipelines_see_distances_of_about_one(name):
    X, y = load_digits(n_class=3, return_X_y=True)
    limit = {"max_outer" if name.startswith("Ground") else "max_steps": 2}
    learner = getattr(gm, name)(**SMALL, **limit)
    pipeline = make_pipeline(learner, LogisticRegression()).fit(X[:60], y[:60])
    assert pipeline.score(X[60:260], y[60:260]) > 0.9
    between = pipeline[0].pairwise(X[:60])[np.triu_indices(60, 1)]
    assert np.median(between) == pytest.approx(1.0)
