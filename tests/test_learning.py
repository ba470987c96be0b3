"""The estimator."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import check_contract
from groundmetric import Checkpoint, GroundMetricLearning, Margin, Neighborhood
from groundmetric.learning._neighborhood import NeighborhoodCriterion
from groundmetric.learning._run import run
from groundmetric.similarity._makers import weights_of
from groundmetric.similarity._weights import MatrixWeights
from problems import fours_and_nines

QUICK = {"max_steps": 3}


@pytest.mark.filterwarnings("ignore:By the typical tables", "ignore:Class")
@parametrize_with_checks([GroundMetricLearning(**QUICK)])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


@pytest.fixture(scope="module")
def digits():
    return fours_and_nines()


@pytest.fixture(scope="module")
def learned(digits):
    X, y, _, _ = digits
    return GroundMetricLearning(n_jobs=2).fit(X, y)


def of_unit_norm(metric):
    """Scale a metric as descents do."""
    return metric / np.linalg.norm(metric)


def test_learns(digits, learned):
    X, y, X_test, y_test = digits
    rows = X / X.sum(axis=1, keepdims=True)
    weights = weights_of(len(y), y, None).balanced(None, 3)
    criterion = NeighborhoodCriterion(rows, weights, None, 3)
    before = criterion.value(of_unit_norm(learned.initial_metric_))
    after = criterion.value(of_unit_norm(learned.metric_))
    assert after < before - 0.2 * abs(before)
    assert gm.is_metric(learned.metric_)
    between = learned.pairwise(X)[np.triu_indices(len(X), 1)]
    assert np.median(between) == pytest.approx(1.0, rel=1e-9)
    assert learned.n_iter_ == len(learned.path_)
    np.testing.assert_array_equal(learned.classes_, [4, 9])
    # Fewer errors than l1 on digits that it has not seen.
    errors = {}
    tests = X_test / X_test.sum(axis=1, keepdims=True)
    for name, a, b in (
        ("l1", pairwise_distances(rows, metric="l1"),
         pairwise_distances(tests, rows, metric="l1")),
        ("learned", learned.transform(X), learned.transform(X_test)),
    ):  # fmt: skip
        errors[name] = sum(
            1 - KNeighborsClassifier(k, metric="precomputed").fit(a, y).score(b, y_test)
            for k in (1, 3, 5, 11)
        )
    assert errors["learned"] < errors["l1"]


def balance(omega, n_similar, n_dissimilar):
    return MatrixWeights(omega).balanced(n_similar, n_dissimilar).matrix()


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 7), (1, 3, 5)])
@pytest.mark.parametrize("counts", [(3, 3), (None, 2), (1, None), (None, None)])
@pytest.mark.filterwarnings("ignore:Class .* has a single member")
def test_weights_of_labels_need_no_matrix(sizes, counts):
    y = np.repeat(range(len(sizes)), sizes)
    compact = weights_of(len(y), y, None)
    omega = gm.label_similarity(y)
    np.testing.assert_allclose(compact.matrix(), omega, rtol=1e-15)
    np.testing.assert_allclose(
        compact.balanced(*counts).matrix(), balance(omega, *counts), rtol=1e-14
    )


def test_both_kinds_count_alike():
    # Ten classes of 4: 3 of 3 similar neighbors, 3 of 36 dissimilar ones, each way.
    omega = gm.label_similarity(np.repeat(range(10), 4))
    balanced = balance(omega, 3, 3)
    np.testing.assert_array_equal(balanced[omega > 0], omega[omega > 0])
    np.testing.assert_allclose(balanced[omega < 0], -omega.max())
    # Two classes of a size are balanced but for the histogram itself.
    omega = gm.label_similarity(np.repeat(range(2), 30))
    np.testing.assert_allclose(balance(omega, 3, 3), omega, rtol=0.04)
    np.testing.assert_allclose(balance(omega, None, None), omega, rtol=1e-12)
    # All 29 similar ones against 3 of 30: these weigh ten times as much.
    balanced = balance(omega, None, 3)
    np.testing.assert_allclose(balanced[omega < 0], 10 * omega[omega < 0])
    # Twice the weight of similar pairs stays twice the weight.
    doubled = np.where(omega > 0, 2 * omega, omega)
    np.testing.assert_allclose(balance(doubled, None, 3)[omega < 0], 10 * omega.min())


def test_a_positive_criterion_does_not_shrink_the_metric():
    # Labels that mean nothing: similar histograms are farther than the nearest others.
    rng = np.random.default_rng(0)
    X, y = rng.gamma(1.0, size=(30, 12)), np.arange(30) % 2
    learner = GroundMetricLearning(tol=0.0, max_steps=12).fit(X, y)
    values = learner.path_.column("criterion")
    assert values.min() > 0
    assert values[-1] < values[0]
    assert gm.is_metric(learner.metric_)
    assert np.median(learner.pairwise(X)[np.triu_indices(30, 1)]) == pytest.approx(1.0)


def test_similar_neighbors_that_count(digits):
    # The paper's criterion has as many of either kind.
    X, y, _, _ = digits
    rows = X / X.sum(axis=1, keepdims=True)
    for n_similar in (2, None):
        learner = GroundMetricLearning(
            Neighborhood(n_similar=n_similar), power=1.0, **QUICK
        )
        learner.fit(X, y)
        omega = balance(gm.label_similarity(y), n_similar, 3)
        criterion = NeighborhoodCriterion(rows, omega, n_similar, 3)
        at_start = criterion.value(of_unit_norm(learner.initial_metric_))
        assert learner.path_[0].criterion == pytest.approx(at_start, rel=1e-9)
        n_counted = np.bincount(criterion.similar.neighbors(learner.metric_).i)
        np.testing.assert_array_equal(n_counted, n_similar or 14)


@pytest.mark.parametrize("power", [0.5, 2.0])
def test_power_is_applied_to_everything(digits, power, tmp_path):
    X, y, X_test, _ = digits
    raised = [(Z / Z.sum(axis=1, keepdims=True)) ** power for Z in (X, X_test[:6])]
    rows, test = (Z / Z.sum(axis=1, keepdims=True) for Z in raised)
    learner = GroundMetricLearning(power=power, **QUICK).fit(X, y)
    plain = GroundMetricLearning(power=1.0, **QUICK).fit(rows, y)
    np.testing.assert_allclose(learner.metric_, plain.metric_, atol=1e-10)
    np.testing.assert_allclose(learner.histograms(X_test[:6]), test, rtol=1e-12)
    D = gm.pairwise_emd(test, rows, metric=learner.metric_)
    np.testing.assert_allclose(learner.transform(X_test[:6]), D, rtol=1e-12)
    np.testing.assert_allclose(learner.pairwise(X_test[:6], X), D, rtol=1e-12)
    distance = learner.get_metric()(X_test[2], X[3])
    assert distance == pytest.approx(D[2, 3], rel=1e-12)
    learner.save(tmp_path / "model.npz")
    loaded = GroundMetricLearning.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(
        loaded.transform(X_test[:6]), learner.transform(X_test[:6])
    )


def test_points_are_where_to_start(digits):
    X, y, _, _ = digits
    points = np.array(list(np.ndindex(8, 8)), dtype=float)
    learner = GroundMetricLearning(points=points, **QUICK).fit(X, y)
    M = learner.initial_metric_
    assert gm.is_metric(M)
    truth = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    np.testing.assert_allclose(M / M.max(), truth / truth.max(), atol=1e-12)
    # Coordinates whose squares overflow, or vanish, have the same directions.
    for scale in (2.0**1020, 2.0**-1000):
        other = GroundMetricLearning(points=scale * points, **QUICK).fit(X, y)
        np.testing.assert_array_equal(other.initial_metric_, M)
    off = ~np.eye(64, dtype=bool)
    uniform = GroundMetricLearning(points=points, init="uniform", **QUICK).fit(X, y)
    assert np.ptp(uniform.initial_metric_[off]) == pytest.approx(0.0, abs=1e-12)


def test_distances_agree(digits, learned):
    X, _, X_test, _ = digits
    D = learned.transform(X_test[:5])
    assert D.shape == (5, len(X))
    np.testing.assert_array_equal(D, learned.pairwise(X_test[:5], X))
    np.testing.assert_allclose(learned.pairwise(X[:6]), learned.transform(X[:6])[:, :6])
    metric = learned.get_metric()
    assert metric(X_test[0], X[3]) == pytest.approx(D[0, 3], rel=1e-12)
    search = NearestNeighbors(n_neighbors=1, metric=metric, algorithm="brute").fit(X)
    found = search.kneighbors(X_test[:5], return_distance=False)
    np.testing.assert_array_equal(found[:, 0], D.argmin(axis=1))


def test_in_pipeline_and_grid_search(digits):
    X, y, X_test, _ = digits
    pipeline = make_pipeline(
        GroundMetricLearning(**QUICK), KNeighborsClassifier(3, metric="precomputed")
    )
    search = GridSearchCV(
        pipeline, {"groundmetriclearning__criterion__n_targets": [1, 5]}, cv=2
    ).fit(X, y)
    assert search.predict(X_test[:7]).shape == (7,)


def test_clone_pickle_and_parameters(digits, learned):
    _, _, X_test, _ = digits
    copy = clone(learned)
    assert copy.get_params() == learned.get_params()
    assert not hasattr(copy, "metric_")
    again = pickle.loads(pickle.dumps(learned))  # noqa: S301 - our own
    np.testing.assert_array_equal(
        again.transform(X_test[:3]), learned.transform(X_test[:3])
    )


def test_forms_of_input_agree(digits):
    X, y, _, _ = digits
    expected = GroundMetricLearning(**QUICK).fit(X, y).metric_
    names = [str(label) for label in y]
    for rows, labels in (
        (X.astype(int), y),
        (sp.csr_array(X), pd.Series(y)),
        (pd.DataFrame(X).add_prefix("bin"), names),
    ):
        metric = GroundMetricLearning(**QUICK).fit(rows, labels).metric_
        np.testing.assert_array_equal(metric, expected)
    frame = pd.DataFrame(X).add_prefix("bin")
    learner = GroundMetricLearning(**QUICK).fit(frame, y)
    assert learner.feature_names_in_[0] == "bin0"
    # Counts of any mass: rows are normalized.
    scaled = GroundMetricLearning(**QUICK).fit(X * np.arange(1, 31)[:, None], y).metric_
    np.testing.assert_allclose(scaled, expected, atol=1e-6)
    threads = GroundMetricLearning(n_jobs=2, **QUICK).fit(X, y).metric_
    np.testing.assert_array_equal(threads, expected)


def test_similarity_instead_of_labels(digits):
    X, y, _, _ = digits
    by_labels = GroundMetricLearning(**QUICK).fit(X, y)
    by_pairs = GroundMetricLearning(**QUICK).fit(X, similarity=gm.label_similarity(y))
    np.testing.assert_allclose(by_pairs.metric_, by_labels.metric_, atol=1e-12)
    assert not hasattr(by_pairs, "classes_")


def test_init(digits):
    X, y, _, _ = digits
    for table in ("typical", "independence", "uniform"):
        learner = GroundMetricLearning(init=table, **QUICK).fit(X, y)
        rows, M = learner.histograms(X), learner.initial_metric_
        between = gm.pairwise_emd(rows, metric=M)[np.triu_indices(len(rows), 1)]
        assert np.median(between) == pytest.approx(1.0)
    own = 5 * gm.initial_metric(X, table="uniform")
    learner = GroundMetricLearning(init=own, **QUICK).fit(X, y)
    np.testing.assert_allclose(of_unit_norm(learner.initial_metric_), of_unit_norm(own))


def test_starts_from_the_metric_of_another_fit(digits):
    X, y, _, _ = digits
    cold = GroundMetricLearning(**QUICK).fit(X, y)
    first = cold.metric_
    learner = GroundMetricLearning(init=first, **QUICK).fit(X, y)
    np.testing.assert_allclose(learner.initial_metric_, first, rtol=1e-12)
    assert learner.path_[0].criterion < cold.path_[0].criterion


def test_settings_of_the_paper(digits):
    X, y, _, _ = digits
    paper = GroundMetricLearning.paper(2, max_steps=50, tol=0.0)
    criterion = Neighborhood(k=2, n_similar=2, inner_steps=200)
    assert str(paper.criterion) == str(criterion)
    assert (paper.power, paper.step_size, paper.init) == (1.0, 0.1, "typical")
    assert str(Neighborhood.paper(2)) == str(criterion)
    assert str(Neighborhood.paper()) == str(Neighborhood.paper(3))
    assert GroundMetricLearning.paper().max_steps == 8 * 200
    assert GroundMetricLearning.paper(init="uniform").init == "uniform"
    paths = [
        GroundMetricLearning(
            criterion,
            power=1.0,
            step_size=0.1,
            init="typical",
            max_steps=50,
            tol=0.0,
        ),
        paper,
    ]
    one, two = (learner.fit(X, y).path_ for learner in paths)
    assert two.column("outer").tolist() == [0.0] * len(two)
    np.testing.assert_array_equal(one.column("criterion"), two.column("criterion"))


def test_the_schedule_of_the_paper(digits):
    X, y, _, _ = digits
    learner = GroundMetricLearning.paper()
    settings = learner._settings()
    assert (settings.max_outer, settings.max_inner) == (8, 200)
    assert (settings.tol, settings.window) == (0.0075, 6)
    least = [settings.least_steps(p) for p in range(8)]
    assert least == [50, 40, 32, 26, 21, 17, 14, 11]  # 50 * 0.8^p, rounded up
    assert settings.usual_steps == sum(least)
    learner.fit(X, y)  # neither a LongFitWarning nor a ConvergenceWarning
    outer = learner.path_.column("outer")
    taken = np.bincount(outer.astype(int))
    assert all(least[p] <= n <= 200 for p, n in enumerate(taken))
    assert len(taken) == 8 or learner.converged_
    values = learner.path_.column("criterion")
    stop = int(taken[0])
    before, now = values[: stop - 6].min(), values[:stop].min()
    assert stop == 200 or before - now <= 0.0075 * abs(before)


def test_all_outer_steps_are_told(digits):
    X, y, _, _ = digits
    # No inner loop ends before its 7 steps, so the message counts all 21.
    options = {"step_size": 1e-3, "tol": 1e-12}
    whole = GroundMetricLearning.paper(max_steps=21, **options)
    whole.set_params(criterion__inner_steps=7)
    with pytest.warns(ConvergenceWarning, match="The descent took all 21 steps, and"):
        whole.fit(X, y)
    assert whole.n_iter_ == 21
    # Where values go down quickly, loops do not end early, but here they do.
    ended = GroundMetricLearning.paper(max_steps=9 * 60)
    ended.set_params(criterion__inner_steps=60)
    settings = ended._settings()
    assert settings.max_outer == 9
    descent = ended._descent(*ended._task(X, y, None))
    descent.settings = replace(settings, tol=1e-12, min_inner=7)
    descent._inner_is_little = lambda: descent._inner == 7
    with pytest.warns(
        ConvergenceWarning, match="all 9 outer steps, 63 steps in total, and has not"
    ):
        run(descent, X)


def test_criteria_are_parameters():
    learner = GroundMetricLearning(Margin(n_targets=3))
    other = clone(learner)
    assert other.criterion is not learner.criterion
    assert other.get_params()["criterion__n_targets"] == 3
    assert other.set_params(criterion__margin=1.0).criterion.margin == 1.0
    assert learner.criterion.margin == 0.3
    named = GroundMetricLearning("neighborhood").set_params(criterion__k=7)
    assert str(named.criterion) == "Neighborhood(k=7)"
    changed = named.set_params(criterion="margin", criterion__floor=0.0)
    assert str(changed.criterion) == "Margin(floor=0.0)"
    with pytest.raises(ValueError, match="Invalid parameter 'k'"):
        learner.set_params(criterion__k=7)


def test_callback_and_bar(digits, capsys):
    X, y, _, _ = digits
    steps = []

    def stop(step):
        steps.append(step)
        return len(steps) == 2

    learner = GroundMetricLearning("neighborhood", verbose=1, callbacks=[stop]).fit(
        X, y
    )
    assert learner.n_iter_ == len(steps) == 2
    bar = capsys.readouterr().err
    shown = r"learn: .*2/2 .*criterion -\d.*, violation \d.*, step 3\.54e-01"
    assert re.search(shown, bar)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": Neighborhood(k=0)}, "k is 0; it must be at least 1"),
        ({"criterion": Neighborhood(n_similar=2.5)}, r"n_similar is 2\.5"),
        ({"criterion": Neighborhood(inner_steps=1.5)}, r"inner_steps is 1\.5"),
        ({"criterion": Margin}, "criterion is .*Margin.*; 'margin', 'neighborhood', M"),
        ({"criterion": "hinge"}, "criterion is 'hinge'; it must be one of margin"),
        ({"criterion": Margin(n_targets=0)}, "n_targets is 0; it must be at least 1"),
        ({"criterion": Margin(margin=-0.1)}, r"margin is -0\.1"),
        ({"criterion": Margin(margin=0)}, r"margin is 0\.0; it must be positive"),
        ({"power": 0}, r"power is 0\.0; it must be positive"),
        ({"power": -1}, "power is -1"),
        ({"init": "points"}, "init is 'points', but there are no points"),
        ({"points": [[1, 2]]}, "points has 1 rows; one for each of 3 bins"),
        ({"points": [[1, 2], [3, 4], [np.nan, 1]]}, "points.*nan: entries must"),
        ({"points": np.ones((3, 2))}, "points are all the same"),
        ({"step_size": -1.0}, r"step_size is -1\.0"),
        ({"step_size": 1e308}, r"step_size is 1e\+308; a number from 0\.0 to 1e\+100"),
        ({"criterion": Margin(margin=1e308)}, r"margin is 1e\+308; a number from 0"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"criterion": Margin(floor=-1.0)}, r"floor is -1\.0"),
        ({"batch_size": 5, "criterion": "neighborhood"}, "batches are for margins"),
        ({"callbacks": 3}, "callbacks is 3; a list of functions is needed"),
        ({"callbacks": [Checkpoint("a"), Checkpoint("b")]}, "more than one Checkpoint"),
        ({"tol": -1}, "tol is -1"),
        ({"init": "random"}, "init is 'random'; one of typical"),
        ({"init": np.ones((2, 2))}, r"init has shape \(2, 2\)"),
        ({"init": np.ones((3, 3))}, r"init\[0, 0\] is 1\.0: the diagonal"),
        ({"init": [[0, 1, 5], [1, 0, 2], [5, 2, 0]]},
         r"init\[0, 2\] exceeds init\[0, 1\] \+ init\[1, 2\] by 2\.0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)  # fmt: skip
def test_bad_parameters(options, message):
    X = [[1, 2, 3], [2, 1, 3], [3, 2, 1], [3, 1, 2]]
    with pytest.raises(ValueError, match=message):
        GroundMetricLearning(**options).fit(X, [0, 0, 1, 1])


def test_bad_data():
    X = [[1, 2], [2, 1], [3, 1]]
    with pytest.raises(ValueError, match="requires y to be passed"):
        GroundMetricLearning().fit(X)
    with pytest.raises(ValueError, match="y has one class only"):
        GroundMetricLearning().fit(X, [1, 1, 1])
    with pytest.raises(ValueError, match="Negative values in data"):
        GroundMetricLearning().fit([[1, -2], [2, 1]], [0, 1])
    with pytest.raises(ValueError, match=r"X\[1\] has zero mass"):
        GroundMetricLearning().fit([[1, 2], [0, 0]], [0, 1])


def test_a_fit_that_fails_leaves_nothing_half_done(digits, tmp_path):
    X, y, _, _ = digits

    def fail(_):
        raise RuntimeError("as planned")

    learner = GroundMetricLearning(callbacks=[fail])
    with pytest.raises(RuntimeError, match="as planned"):
        learner.fit(X, y)
    for use in (learner.transform, learner.pairwise):
        with pytest.raises(NotFittedError):
            use(X)
    with pytest.raises(NotFittedError):
        learner.save(tmp_path / "model")
    # Labels of the fit before do not outlive it.
    learner = GroundMetricLearning(**QUICK).fit(X, y)
    learner.fit(X, similarity=gm.label_similarity(y))
    assert not hasattr(learner, "classes_")
    with pytest.raises(ValueError, match=r"callbacks\[0\] is 3; a function is needed"):
        GroundMetricLearning(callbacks=[3]).fit(X, y)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_any_scale(digits, factor):
    X, y, _, _ = digits
    omega = gm.label_similarity(y)
    expected = GroundMetricLearning(**QUICK).fit(X, similarity=omega)
    scaled = GroundMetricLearning(**QUICK).fit(X, similarity=factor * omega)
    np.testing.assert_allclose(scaled.metric_, expected.metric_, rtol=1e-6)
    init = factor * (1.0 - np.eye(64))
    given = GroundMetricLearning(init=init, **QUICK).fit(X, similarity=omega)
    np.testing.assert_allclose(given.metric_, expected.metric_, rtol=1e-6)
    with pytest.raises(ValueError, match="init is zero everywhere"):
        GroundMetricLearning(init=0 * init).fit(X, y)


def test_the_best_metric_of_neighborhoods_is_returned(digits):
    # Steps so long that the last metric is not the best.
    X, y, _, _ = digits
    metrics = []
    project = gm.MetricProjector.project

    class Spy(gm.MetricProjector):
        def project(self, A, **options):
            found = project(self, A, **options)
            metrics.append(found.metric)
            return found

    learner = GroundMetricLearning(
        Neighborhood(n_similar=3, inner_steps=6), step_size=5.0, max_steps=12
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundmetric.learning._space.MetricProjector", Spy)
        learner.fit(X, y)
    values = learner.path_.column("criterion")
    assert values.argmin() < len(values) - 1
    evaluated = [learner.initial_metric_, *metrics]
    expected = evaluated[values.argmin()]
    np.testing.assert_allclose(
        of_unit_norm(learner.metric_), of_unit_norm(expected), rtol=1e-9
    )


def test_convergence_is_told(digits):
    X, y, _, _ = digits
    converged = GroundMetricLearning("neighborhood", tol=0.3, max_steps=200).fit(X, y)
    assert converged.converged_ is True
    assert converged.n_iter_ < 200
    # The default limits are a budget: no warning, which would be an error here.
    budget = GroundMetricLearning("neighborhood", tol=1e-12).fit(X, y)
    assert budget.converged_ is False
    assert budget.n_iter_ == 20
    more = GroundMetricLearning("neighborhood", tol=1e-12, max_steps=21)
    with pytest.warns(
        ConvergenceWarning, match="all 21 steps, and has not converged to tol=1e-12"
    ) as found:
        more.fit(X, y)
    assert found[0].filename == __file__
    assert more.converged_ is False
    # Without a tolerance nothing was to converge; and a callback may end the run.
    assert not more.set_params(tol=0.0).fit(X, y).converged_
    stopped = more.set_params(tol=1e-12, callbacks=[lambda _: True]).fit(X, y)
    assert not stopped.converged_
    assert stopped.n_iter_ == 1


def test_projections_that_do_not_converge_are_told(digits, monkeypatch):
    X, y, _, _ = digits

    class Hasty(gm.MetricProjector):
        def __init__(self, d, **options):
            super().__init__(d, max_iter=1, **options)

    learner = GroundMetricLearning(tol=0.3, max_steps=200)
    assert learner.fit(X, y).converged_
    monkeypatch.setattr("groundmetric.learning._space.MetricProjector", Hasty)
    with pytest.warns(ConvergenceWarning, match="The projection stopped after max_it"):
        learner.fit(X, y)
    assert not learner.converged_
