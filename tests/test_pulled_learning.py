"""Learning all entries of a metric, pulled back to where it started."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

import groundmetric as gm
from groundmetric import GroundMetricLearning, Margin, Neighborhood
from groundmetric.learning._pull import MetricPull
from groundmetric.similarity._makers import weights_of
from test_conic import example

UNSEEN = [5, 6, 7]  # bins that no histogram has


@pytest.fixture
def data():
    X, y, points, _ = example(n=30)
    X[:, UNSEEN] = 0.0
    return X / X.sum(axis=1, keepdims=True), y, cdist(points, points)


def learner_of(M, **options):
    goal = Margin(n_targets=3, floor=0.0)
    return GroundMetricLearning(goal, init=M, power=1.0, tol=0, **options)


def away(metric, known):
    """Measure how far one matrix is from the other, up to scale; 1 is orthogonal."""
    metric, known = metric / np.linalg.norm(metric), known / np.linalg.norm(known)
    return np.sqrt(1 - min((metric * known).sum(), 1.0) ** 2)


def test_without_pull_nothing_is_new(data):
    X, y, M = data
    descent = learner_of(M)._descent(X, weights_of(len(y), y, None))
    assert not isinstance(descent.criterion, MetricPull)
    assert descent.settings.result == "last"
    pulled = learner_of(M, pull=0.1)._descent(X, weights_of(len(y), y, None))
    assert isinstance(pulled.criterion, MetricPull)
    assert pulled.settings.result == "average"


def test_bins_never_seen_keep_what_is_known_of_them(data):
    X, y, M = data
    plain, pulled = (learner_of(M, pull=pull).fit(X, y).metric_ for pull in (0.0, 1.0))
    assert gm.is_metric(pulled)
    off = away(plain[UNSEEN], M[UNSEEN])
    assert off > 0.05
    assert away(pulled[UNSEEN], M[UNSEEN]) < 0.5 * off
    # What histograms say is learned all the same.
    assert away(pulled[:5, :5], M[:5, :5]) > 0.05


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 20, "random_state": 0},
        {"criterion": Neighborhood(k=3, n_similar=3)},
    ],
)
def test_stronger_pull_stays_nearer(data, options):
    X, y, M = data
    found = [
        away(learner_of(M, pull=pull).set_params(**options).fit(X, y).metric_, M)
        for pull in (0.0, 3.0, 1e6)
    ]
    assert found[0] > 1.5 * found[1]
    assert found[2] < 0.1


@pytest.mark.parametrize("kind", ["all entries", "a map and weights"])
def test_the_pull_waits_for_a_batch_with_something_to_gain(kind):
    rng = np.random.default_rng(0)
    X, y = rng.dirichlet(np.full(6, 0.5), 40), np.arange(40) // 2
    options = {"batch_size": 8, "max_steps": 10, "power": 1.0}
    if kind == "all entries":
        learner = GroundMetricLearning(**options)
    else:
        points = rng.normal(size=(6, 2))
        learner = gm.MappedMetricLearning(points, bin_weights="learn", **options)
    waited = 0
    for seed in range(8):
        learner.set_params(random_state=seed)
        found = []
        for pull in (0.0, 1e6):
            learner.set_params(pull=pull).fit(X, y)
            found.append(away(learner.metric_, learner.initial_metric_))
        triplets = learner.path_.column("n_triplets")
        if triplets[0] > 0 or triplets[:-1].sum() == 0:
            continue
        waited += 1
        assert found[0] > 0.05
        assert found[1] < 0.5 * found[0]
    assert waited > 0


def test_units_of_the_start_do_not_matter(data):
    X, y, M = data
    first, second = (
        learner_of(scale * M, pull=1.0).fit(X, y).metric_ for scale in (1.0, 1e-3)
    )
    assert away(second, first) < 0.01  # rounding chooses among tied plans


def test_it_pulls_to_any_start(data):
    X, y, _ = data
    points = np.linspace(0, 1, 8)[:, None] ** 2
    options = {"criterion": Margin(floor=0.0), "power": 1.0, "tol": 0, "pull": 1e6}
    for start in ({"init": "uniform"}, {"points": points}):
        learner = GroundMetricLearning(**options | start).fit(X, y)
        assert away(learner.metric_, learner.initial_metric_) < 0.1


def test_checkpoints_continue_to_the_same_metric(data, tmp_path):
    X, y, M = data
    learner = learner_of(M, pull=2.0, max_steps=6)
    expected = clone(learner).fit(X, y)

    def stop(step):
        if step.outer == 2:
            raise KeyboardInterrupt

    saved = gm.Checkpoint(tmp_path / "state.npz", seconds=0)
    with pytest.raises(KeyboardInterrupt):
        clone(learner).set_params(callbacks=[stop, saved]).fit(X, y)
    seen = []
    again = clone(learner).set_params(callbacks=[seen.append, saved])
    # Another pull is another descent.
    with pytest.raises(ValueError, match=r"state\.npz"):
        clone(again).set_params(pull=1.0).fit(X, y)
    np.testing.assert_array_equal(again.fit(X, y).metric_, expected.metric_)
    assert len(seen) < expected.n_iter_


def test_cross_validation_and_files(data, tmp_path):
    X, y, M = data
    grid = {"pull": [0.0, 3.0]}
    search = gm.MetricLearningCV(learner_of(M, max_steps=3), grid, cv=2).fit(X, y)
    assert {params["pull"] for params in search.cv_results_["params"]} == {0.0, 3.0}
    assert search.best_estimator_.pull == search.best_params_["pull"]
    search.save(tmp_path / "model.npz")
    again = gm.MetricLearningCV.load(tmp_path / "model.npz")
    assert again.best_estimator_.pull == search.best_params_["pull"]
    np.testing.assert_array_equal(again.metric_, search.metric_)


@pytest.mark.parametrize("pull", [-1.0, np.nan, np.inf, "strong", None])
def test_bad_pulls(data, pull):
    X, y, M = data
    with pytest.raises(ValueError, match="pull is"):
        learner_of(M, pull=pull).fit(X, y)


def test_partial_fit_has_no_pull(data):
    X, y, M = data
    with pytest.raises(ValueError, match=r"pull is 1\.0, but partial_fit has no pull"):
        learner_of(M, pull=1.0).partial_fit(X, y)
