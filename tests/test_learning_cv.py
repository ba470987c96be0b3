"""The number of steps by cross-validation."""

import inspect
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import (
    check_do_not_raise_errors_in_init_or_set_params,
    parametrize_with_checks,
)

import groundmetric as gm
from contract import check_contract
from groundmetric import Checkpoint, GroundMetricLearning, Margin, MetricLearningCV
from groundmetric.learning import _cross_validation

SMALL = {"param_grid": {}, "cv": 2, "patience": 1}


@pytest.mark.filterwarnings("ignore:Class")
@parametrize_with_checks(
    [
        MetricLearningCV(GroundMetricLearning(max_steps=1), **SMALL),
        MetricLearningCV(gm.MappedMetricLearning(max_steps=1), **SMALL),
        MetricLearningCV(gm.SinkhornMetricLearning(max_steps=1), **SMALL),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


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
    learner = MetricLearningCV(GroundMetricLearning(max_steps=4), {}, cv=3).fit(X, y)
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

    learner = MetricLearningCV(
        GroundMetricLearning(max_steps=3), {}, cv=2, scoring=later_is_better
    )
    learner.fit(X, y)
    n = learner.best_step_
    if n == 0:
        np.testing.assert_array_equal(learner.metric_, learner.initial_metric_)
    else:
        plain = GroundMetricLearning(Margin(floor=0.0), tol=0.0, max_steps=n).fit(X, y)
        np.testing.assert_array_equal(learner.metric_, plain.metric_)


@pytest.mark.parametrize("wanted", range(4))
def test_scores_decide(digits, wanted):
    X, y = digits
    metrics = []

    def scoring(distances, *_):
        metrics.append(distances)
        return float((len(metrics) - 1) // 4 == wanted)  # two folds, drawn twice

    learner = MetricLearningCV(
        GroundMetricLearning(tol=0.0, max_steps=3), {}, cv=2, scoring=scoring
    )
    learner.fit(X, y)
    assert learner.best_step_ == wanted
    assert learner.n_iter_ == wanted
    assert len(metrics) == 2 * 2 * 4  # folds, repeats, steps
    if wanted == 0:
        np.testing.assert_array_equal(learner.metric_, learner.initial_metric_)
    else:
        plain = GroundMetricLearning(Margin(floor=0.0), tol=0.0, max_steps=wanted).fit(
            X, y
        )
        np.testing.assert_array_equal(learner.metric_, plain.metric_)


def test_chooses_parameters_too(digits, tmp_path):
    X, y = digits
    calls = []

    def second_candidate(*_):
        calls.append(1)
        return float(len(calls) > 8)  # 2 folds x 2 repeats x 2 steps come first

    grid = {"power": [1.0, 0.5]}
    learner = MetricLearningCV(
        GroundMetricLearning(power=0.7, max_steps=1),
        param_grid=grid,
        cv=2,
        scoring=second_candidate,
    ).fit(X, y)
    assert learner.best_params_ == {"power": 0.5}
    assert learner.power_ == 0.5
    assert learner.get_params()["estimator__power"] == 0.7
    assert len(learner.cv_results_["params"]) == 4
    raised = np.sqrt(X / X.sum(axis=1, keepdims=True))
    raised /= raised.sum(axis=1, keepdims=True)
    D = gm.pairwise_emd(raised[:3], raised, metric=learner.metric_)
    np.testing.assert_allclose(learner.transform(X[:3]), D, rtol=1e-12)
    learner.set_params(scoring=None, param_grid=None).save(tmp_path / "model")
    loaded = MetricLearningCV.load(tmp_path / "model")
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
    learner = MetricLearningCV(
        GroundMetricLearning(tol=0.0, max_steps=3),
        {},
        cv=2,
        scoring=lambda *_: next(later),
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

    inner = GroundMetricLearning(max_steps=3)
    if n_components is not None:
        points = np.column_stack([points, points[:, :1] % 2])
        inner = gm.MappedMetricLearning(points, n_components, max_steps=3)
    own, literal = (
        MetricLearningCV(inner, {}, cv=2, scoring=scoring).fit(X, y).cv_results_
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
    learner = MetricLearningCV(
        GroundMetricLearning(tol=0.9, max_steps=40),
        {},
        cv=2,
        scoring=scoring,
        patience=None,
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
    learner = MetricLearningCV(
        GroundMetricLearning(tol=0.0, max_steps=9),
        {},
        cv=2,
        scoring=lambda *_: next(later),
        patience=patience,
    ).fit(*noise)
    found = learner.cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, scores.mean(axis=1)[:n_steps], atol=1e-15)
    assert len(list(later)) == 4 * (10 - n_steps)
    assert learner.best_step_ == (2 if n_steps < 6 else 5)


def test_steps_that_were_not_scored_are_nan(noise):
    # The first candidate improves up to step 3, the second not at all.
    later = iter([*np.repeat([0.1, 0.2, 0.3, 0.4, 0.4, 0.4], 4), *[0.3] * 12])
    learner = MetricLearningCV(
        GroundMetricLearning(tol=0.0, max_steps=5),
        {"power": [0.5, 1.0]},
        cv=2,
        scoring=lambda *_: next(later),
        patience=2,
    ).fit(*noise)
    means = learner.cv_results_["mean_test_score"].reshape(2, -1)
    np.testing.assert_allclose(means[0], [0.1, 0.2, 0.3, 0.4, 0.4, 0.4])
    np.testing.assert_allclose(means[1], [0.3] * 3 + [np.nan] * 3)
    assert (learner.best_step_, learner.best_params_) == (3, {"power": 0.5})


def test_saves_its_grid(digits, tmp_path):
    grid = {"power": [0.5, 1.0], "criterion__margin": [0.3, float("inf")]}
    learner = MetricLearningCV(
        GroundMetricLearning(max_steps=1), param_grid={"power": [0.5]}, cv=2
    )
    learner.fit(*digits).set_params(param_grid=grid).save(tmp_path / "model")
    loaded = MetricLearningCV.load(tmp_path / "model")
    assert loaded.param_grid == grid
    np.testing.assert_array_equal(loaded.metric_, learner.metric_)


@pytest.mark.parametrize(
    ("grid", "expected"),
    [
        ({"power": (0.5, 1.0)}, {"power": [0.5, 1.0]}),
        ({"power": np.array([0.5, 1.0])}, {"power": [0.5, 1.0]}),
        ({"max_steps": list(np.array([1, 2]))}, {"max_steps": [1, 2]}),
        (({"power": range(1, 3)},), [{"power": [1, 2]}]),
        (
            {"init": ["uniform", 1 - np.eye(4)]},
            {"init": ["uniform", (1 - np.eye(4)).tolist()]},
        ),
        (
            {"criterion": [Margin(), Margin(margin=1.0)]},
            {"criterion": [Margin(), Margin(margin=1.0)]},
        ),
    ],
)
def test_saves_what_a_grid_may_hold(noise, tmp_path, grid, expected):
    learner = GroundMetricLearning(max_steps=1)
    search = MetricLearningCV(learner, grid, cv=2).fit(*noise)
    search.save(tmp_path / "model")
    loaded = MetricLearningCV.load(tmp_path / "model")
    assert repr(loaded.param_grid) == repr(expected)
    assert loaded.best_params_.keys() == search.best_params_.keys()
    np.testing.assert_array_equal(loaded.metric_, search.metric_)
    np.testing.assert_array_equal(loaded.fit(*noise).metric_, search.metric_)


def test_leaves_out_what_no_file_can_hold(noise, tmp_path):
    folds = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(10))]
    options = {"param_grid": {"power": [1.0], "callbacks": [(print,)]}}
    learner = GroundMetricLearning(max_steps=1)
    search = MetricLearningCV(
        learner, cv=folds, random_state=np.random.RandomState(0), **options
    ).fit(*noise)
    search.save(tmp_path / "model")
    loaded = MetricLearningCV.load(tmp_path / "model")
    assert loaded.random_state == 0
    assert loaded.param_grid == {"power": [1.0]}
    assert loaded.cv == [[part.tolist() for part in fold] for fold in folds]
    np.testing.assert_array_equal(loaded.metric_, search.metric_)
    search.set_params(cv=StratifiedKFold(2)).save(tmp_path / "model")
    assert MetricLearningCV.load(tmp_path / "model").cv == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": 3}, "estimator is 3; a GroundMetricLearning, MappedMetricLear"),
        ({"estimator": gm.EMDClassifier()}, "estimator is EMDClassifier"),
        ({"scoring": "accuracy"}, "scoring is 'accuracy'; a function is needed"),
        ({"scoring": lambda *_: np.nan}, "scoring returned nan; a number is needed"),
        ({"scoring": lambda *_: None}, "returned an object of type NoneType; a number"),
        ({"scoring": lambda D, *_: D}, "returned an object of type ndarray; a number"),
        ({"patience": 0}, "patience is 0; it must be at least 1"),
        ({"estimator": GroundMetricLearning(callbacks=[3])}, r"callbacks\[0\] is 3"),
        ({"param_grid": {"cv": [2]}}, "param_grid has 'cv'; GroundMetricLearning has"),
        ({"cv": []}, "cv has no folds"),
        ({"cv": [(np.arange(12), np.arange(0))]}, "cv has a fold without histograms"),
        (
            {"cv": [(np.arange(12), [35, 36])]},
            r"cv\[0\]\[1\]\[1\] is 36, but it must be",
        ),
        ({"cv": [(np.arange(12), [0.5])]}, r"cv\[0\]\[1\] must be whole numbers"),
        ({"cv": [(np.ones(5, bool), [1])]}, r"cv\[0\]\[0\] is a mask of shape \(5,\)"),
        ({"cv": [([0, 1, 2], [2, 3])]}, r"cv\[0\] has histogram 2 both to learn from"),
        ({"cv": [1, 2]}, r"cv\[0\] is 1; rows to learn from and rows to score on are"),
        ({"cv": [([0], [1], [2])]}, r"cv\[0\] is \(\[0\], \[1\], \[2\]\); rows"),
        (
            {"param_grid": {"power": 0.5}},
            r"param_grid\['power'\] is 0.5; a list of val",
        ),
        (
            {"param_grid": {"power": "log1p"}},
            r"param_grid\['power'\] is 'log1p'; a lis",
        ),
        (
            {"param_grid": {"power": []}},
            r"param_grid\['power'\] is \[\]; a list of val",
        ),
        ({"param_grid": {3: [0.5]}}, "param_grid has 3; names are needed"),
        ({"param_grid": 5}, "param_grid is 5; a dict of lists is needed"),
        ({"param_grid": [5]}, r"param_grid is \[5\]; a dict of lists is needed"),
        ({"param_grid": []}, "param_grid is empty; {} chooses only the steps"),
        (
            {"estimator": GroundMetricLearning(callbacks=[Checkpoint("no/at/all")])},
            "checkpoint",
        ),
        ({"cv": 1}, "cv is 1; it must be at least 2"),
        ({"cv": 13}, "cv is 13, but a class has only 12 histograms"),
        ({"param_grid": {"power": [-1.0]}}, "power is -1.0"),
        ({"param_grid": {"steps": [1]}}, "steps"),
        (
            {"param_grid": {"max_samples": [4, 8]}},
            "param_grid has 'max_samples', but histograms are drawn once",
        ),
        (
            {"param_grid": {"random_state": [0, 1]}},
            "param_grid has 'random_state', but histograms are drawn once",
        ),
        (
            {"param_grid": {"criterion__margn": [0.5]}},
            "param_grid has 'criterion__margn'; GroundMetricLearning has no such",
        ),
        (
            {"param_grid": {"criterion": [Margin()], "criterion__k": [1]}},
            "param_grid has 'criterion__k'; GroundMetricLearning has no such",
        ),
    ],
)
def test_bad_parameters_before_the_folds(digits, options, message):
    options = {"estimator": GroundMetricLearning(max_steps=1)} | options
    with pytest.raises((ValueError, OSError), match=message):
        MetricLearningCV(**options).fit(*digits)


def test_folds_may_be_masks(digits):
    X, y = digits
    train = np.arange(len(y)) % 3 > 0
    learner = GroundMetricLearning(max_steps=1)
    found = [
        MetricLearningCV(learner, {}, cv=[split]).fit(X, y).cv_results_
        for split in ((train, ~train), (np.flatnonzero(train), np.flatnonzero(~train)))
    ]
    np.testing.assert_array_equal(*(each["mean_test_score"] for each in found))


def test_folds_do_not_divide_groups(digits, monkeypatch):
    X, y = digits
    groups = np.arange(len(y)) // 2
    seen = []
    splits_of = _cross_validation.splits_of

    def watched(*given):
        seen.append(splits_of(*given))
        return seen[-1]

    monkeypatch.setattr(_cross_validation, "splits_of", watched)
    learner = GroundMetricLearning(max_steps=1, max_samples=len(y) - 3)
    for cv in (2, GroupKFold(2)):
        found = MetricLearningCV(learner, {}, cv=cv).fit(X, y, groups=groups)
        kept = groups[found.sample_indices_]
        assert len(kept) == len(y) - 3
        for train, test in seen.pop():
            assert set(kept[train]).isdisjoint(kept[test])


def test_groups_that_folds_cannot_keep(digits):
    X, y = digits
    search = MetricLearningCV(GroundMetricLearning(max_steps=1), {}, cv=3)
    with pytest.raises(ValueError, match=r"cv is 3, but class .* is in 2 groups only"):
        search.fit(X, y, groups=np.arange(len(y)) % 2)
    with pytest.raises(ValueError, match="groups has 2 entries for"):
        search.fit(X, y, groups=[1, 2])
    search.cv = [(np.arange(4), np.arange(4, len(y)))]
    groups = ["a", *"bcd", *["a"] * (len(y) - 4)]
    with pytest.raises(ValueError, match=r"cv\[0\] has group 'a' both to learn from"):
        search.fit(X, y, groups=groups)
    assert not hasattr(search, "best_estimator_")


def test_a_checkpoint_of_more_steps_does_not_count(noise, tmp_path):
    X, y = noise
    file = tmp_path / "checkpoint.npz"

    class StopError(Exception):
        pass

    def stop(step):
        if step.outer == 3:
            raise StopError

    def learner(n_steps, *callbacks):
        def scoring(distances, *_):  # the later, the better, up to n_steps
            seen.append(distances)
            return -abs((len(seen) - 1) // 4 - n_steps)  # two folds, drawn twice

        seen = []
        inner = GroundMetricLearning(
            tol=0.0, max_steps=6, callbacks=[*callbacks, Checkpoint(file, seconds=0.0)]
        )
        return MetricLearningCV(inner, {}, cv=2, scoring=scoring)

    with pytest.raises(StopError):
        learner(5, stop).fit(X, y)
    assert file.exists()
    with pytest.raises(ValueError, match="checkpoint"):
        learner(2).fit(X, y)
    again = learner(5).fit(X, y)
    assert again.best_step_ == again.n_iter_ == 5


def test_takes_what_scikit_learn_takes(digits):
    X, y = digits
    learner = MetricLearningCV(
        GroundMetricLearning(Margin(n_targets=3), max_steps=1),
        {},
        cv=StratifiedKFold(2),
    )
    assert clone(learner).get_params()["estimator__criterion__n_targets"] == 3
    changed = clone(learner).set_params(estimator__criterion__margin=0.1)
    assert changed.estimator.criterion.margin == 0.1
    nearest = KNeighborsClassifier(3, metric="precomputed")
    scores = cross_val_score(make_pipeline(learner, nearest), X, y, cv=2)
    assert scores.mean() > 0.5
    search = MetricLearningCV(
        GroundMetricLearning(max_steps=1), {}, cv=2, random_state=1
    )
    assert gm.is_metric(search.fit(X, y).metric_)


def test_is_a_learner(digits):
    X, y = digits
    search = MetricLearningCV(GroundMetricLearning(max_steps=2), {}, cv=2).fit(X, y)
    best = search.best_estimator_
    assert isinstance(best, GroundMetricLearning)
    assert best.n_iter_ == search.best_step_
    expected = best.pairwise(X)
    np.testing.assert_array_equal(search.pairwise(X), expected)
    np.testing.assert_allclose(gm.pairwise_emd(X, metric=search), expected, rtol=1e-9)
    _, found = gm.EMDNeighbors(search, n_neighbors=1).fit(X).kneighbors(X)
    np.testing.assert_array_equal(found[:, 0], expected.argmin(axis=1))
    r, c = X[:2]
    assert search.get_metric()(r, c) == pytest.approx(expected[0, 1])
    classifier = gm.EMDClassifier(learner=search).fit(X, y)
    assert classifier.score(X, y) > 0.5


def test_similarities_cannot_be_held_out(digits):
    X, y = digits
    with pytest.raises(TypeError, match="similarity"):
        MetricLearningCV().fit(X, similarity=gm.label_similarity(y))
    with pytest.raises(ValueError, match="requires y"):
        MetricLearningCV().fit(X)


@pytest.mark.parametrize(
    "learner",
    [
        MetricLearningCV(),
        GroundMetricLearning(),
        gm.MappedMetricLearning(),
        gm.CombinedMetricLearning(),
        gm.SinkhornMetricLearning(),
        gm.DiscriminantMetricLearning(),
    ],
)
def test_scikit_learn_sets_any_parameter(learner):
    # With ** in the signature this check, among others, was not run.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_do_not_raise_errors_in_init_or_set_params(type(learner).__name__, learner)
    parameters = inspect.signature(type(learner)).parameters.values()
    assert len(parameters) <= 15
    assert inspect.Parameter.VAR_KEYWORD not in {each.kind for each in parameters}


@pytest.mark.parametrize(
    "learner",
    [
        GroundMetricLearning(max_steps=2),
        gm.MappedMetricLearning(n_components=8, max_steps=2),
        gm.SinkhornMetricLearning(max_steps=2),
    ],
)
def test_pipelines_see_distances_of_about_one(learner):
    X, y = load_digits(n_class=3, return_X_y=True)
    search = MetricLearningCV(learner, **SMALL)
    pipeline = make_pipeline(search, LogisticRegression()).fit(X[:60], y[:60])
    assert pipeline.score(X[60:260], y[60:260]) > 0.9
    between = pipeline[0].pairwise(X[:60])[np.triu_indices(60, 1)]
    assert np.median(between) == pytest.approx(1.0)


def test_grids_reach_the_parameters_of_a_criterion(digits):
    X, y = digits
    search = GridSearchCV(
        make_pipeline(
            GroundMetricLearning(max_steps=1),
            KNeighborsClassifier(3, metric="precomputed"),
        ),
        {"groundmetriclearning__criterion__n_targets": [1, 5]},
        cv=2,
    ).fit(X, y)
    chosen = search.best_params_["groundmetriclearning__criterion__n_targets"]
    learner = search.best_estimator_[0]
    assert learner.criterion.n_targets == chosen
    same = GroundMetricLearning(Margin(n_targets=chosen), max_steps=1).fit(X, y)
    np.testing.assert_array_equal(learner.metric_, same.metric_)


class Watching:
    """A callback that cannot be copied, and counts."""

    def __init__(self):
        self.lock, self.n_calls = threading.Lock(), 0

    def __call__(self, _):
        """Count a step."""
        with self.lock:
            self.n_calls += 1

    def look(self, step):
        """Count a step, as a bound method."""
        self(step)


def as_method(watching):
    return watching.look


@pytest.mark.parametrize("as_callback", [lambda watching: watching, as_method])
def test_callbacks_are_not_copied(noise, as_callback):
    watching = Watching()
    inner = GroundMetricLearning(
        tol=0.0, max_steps=3, callbacks=[as_callback(watching)]
    )
    scores = iter([0.0] * 4 + [1.0] * 4)  # of two folds, drawn twice
    search = MetricLearningCV(inner, {}, cv=2, scoring=lambda *_: next(scores, 1.0))
    assert clone(search).estimator.callbacks is inner.callbacks
    assert search.fit(*noise).n_iter_ == 1
    assert watching.n_calls == 1  # not those of the folds
    classifier = gm.EMDClassifier(learner=inner).fit(*noise)
    assert watching.n_calls == 1 + classifier.learner_.n_iter_ == 4


def test_objects_in_a_grid_stay_as_they_are(digits):
    criterion = Margin(n_targets=3)
    grid = {"criterion": [criterion], "criterion__margin": [0.9]}
    search = MetricLearningCV(GroundMetricLearning(max_steps=1), grid, cv=2)
    search.fit(*digits)
    assert criterion.margin == Margin().margin != 0.9
    assert search.best_estimator_.criterion.margin == 0.9
