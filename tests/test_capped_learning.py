"""Learning metrics whose largest entries are capped (section 8.2 of the paper)."""

import numpy as np
import pytest
from sklearn.base import clone

import groundmetric as gm
from groundmetric import Checkpoint, GroundMetricLearning, Margin, _core
from groundmetric.learning._descent import Descent, Settings
from groundmetric.learning._space import MetricCone, cap_of_unit_norm, capped
from groundmetric.tables._initial import uniform_metric
from matrices import matrix
from reference import capped_fixing
from test_conic import example, margins

CAPS = [1.05, 1.3, 2.0]


@pytest.fixture(scope="module")
def data():
    X, y, _, _ = example(n=30, d=12)
    return X, y


def relative_largest(M):
    d = len(M)
    return M.max() * np.sqrt(d * (d - 1)) / np.linalg.norm(M)


def at_largest(M):
    """Return the share of entries off the diagonal that equal the largest."""
    return (M.max() == M).sum() / (M.size - len(M))


def random_start(d, cap):
    M = gm.project_metric(matrix(np.random.default_rng(d), "uniform", d)).metric
    return capped(M / np.linalg.norm(M), cap, 1)


@pytest.mark.parametrize("cap", CAPS)
def test_a_step_agrees_with_its_twin(cap):
    # P(s A) of unit norm, s by bisection.
    d = 5
    limit = cap_of_unit_norm(cap, d)
    space = MetricCone(random_start(d, cap), cap=cap)
    G = matrix(np.random.default_rng(1), "gaussian", d)
    A = space.metric - 0.4 * np.linalg.norm(space.metric) / np.linalg.norm(G) * G
    moved = space.move(G, 0.4)
    assert moved.is_exact
    assert not moved.is_stuck
    low, high = 1e-3, 1e3
    for _ in range(50):
        s = np.sqrt(low * high)
        truth = capped_fixing(s * A, limit, tol=1e-9)
        low, high = (s, high) if np.linalg.norm(truth) < 1 else (low, s)
    assert np.linalg.norm(space.metric) == pytest.approx(1.0, rel=1e-12)
    # The search ends within a thousandth of the norm; stretching makes up for that.
    assert np.linalg.norm(space.metric - truth) < 5e-3


@pytest.mark.parametrize("cap", CAPS)
def test_every_step_obeys_triangles_and_the_cap(data, cap):
    X, y = data
    d = X.shape[1]
    limit = cap_of_unit_norm(cap, d)
    space = MetricCone(random_start(d, cap), cap=cap)
    seen = []

    def look(descent):
        seen.append(descent.metric)

    descent = Descent(margins(X, y), space, Settings(max_outer=8, max_inner=1, tol=0))
    descent.run([look])
    assert len(seen) == 8
    for M in [*seen, space.tidied(sum(seen) / len(seen))]:
        assert gm.is_metric(M)
        assert M.max() <= limit
        assert np.linalg.norm(M) == pytest.approx(1.0, rel=1e-12)
    if cap < 2.0:  # else it does not bind
        assert max(M.max() for M in seen) == limit


def test_a_start_is_capped():
    d = 10
    M = uniform_metric(d)
    assert capped(M, 1.01, 1) is M  # there is nothing to do
    L = np.abs(np.subtract.outer(np.arange(d), np.arange(d))).astype(float)
    for cap in CAPS:
        C = capped(L, cap, 1)
        assert gm.is_metric(C)
        assert C.max() == cap_of_unit_norm(cap, d)
    assert cap_of_unit_norm(1.5, 1) is None
    np.testing.assert_array_equal(capped(np.zeros((1, 1)), 1.5, 1), [[0]])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "neighborhood"},
        {"init": "typical"},
        {"pull": 1.0},
        {"criterion": Margin(3), "batch_size": 15, "random_state": 0},
    ],
)
@pytest.mark.parametrize("cap", CAPS)
def test_learned_metrics_are_capped(data, options, cap):
    X, y = data
    learner = GroundMetricLearning(cap=cap, max_steps=6, tol=0, **options).fit(X, y)
    for M in (learner.metric_, learner.initial_metric_):
        assert gm.is_metric(M)
        assert relative_largest(M) <= cap * (1 + 1e-12)
    free = GroundMetricLearning(max_steps=6, tol=0, **options).fit(X, y).metric_
    if relative_largest(free) > 1.1 * cap and "batch_size" not in options:
        assert relative_largest(learner.metric_) >= cap * (1 - 1e-12)
        assert at_largest(learner.metric_) > at_largest(free)


def test_a_start_does_not_collapse():
    # The first multiple is far too large: its projection is nearly uniform.
    P = [[-1.41, -0.528], [0.448, 1.053], [0.314, 2.914]]
    P = np.array([*P, [-1.39, -0.324], [-1.325, -0.631]])
    M = np.linalg.norm(P[:, None] - P[None], axis=-1)
    C = capped(M, 1.05, 1)
    assert np.linalg.norm(C) == pytest.approx(1.0, rel=1e-12)
    assert C.max() <= cap_of_unit_norm(1.05, 5)
    off = C[~np.eye(5, dtype=bool)]
    assert np.ptp(off) > 0.4 * off.max()


def cut(d):
    side = np.arange(d) < max(1, d // 3)
    return (side[:, None] != side).astype(float)


@pytest.mark.parametrize("cap", [1.001, 1.05, 1.2])
@pytest.mark.parametrize("d", [3, 6, 12])
def test_cuts_grow_by_the_same_everywhere(d, cap):
    M = cut(d)
    C = capped(M, cap, 1)
    assert gm.is_metric(C)
    assert C.max() <= cap_of_unit_norm(cap, d)
    assert np.linalg.norm(C) == pytest.approx(1.0, rel=1e-12)
    # The ratio falls with the growth, so that it is the smallest at the cap.
    assert relative_largest(C) == pytest.approx(cap, rel=1e-12)
    within = C[(M == 0) & ~np.eye(d, dtype=bool)]
    np.testing.assert_allclose(within, within[0], rtol=1e-12)
    np.testing.assert_array_equal(C[M == 1], C.max())


def test_metrics_learned_from_cuts_are_capped():
    rng = np.random.default_rng(0)
    X, y = rng.dirichlet(np.ones(6) * 0.6, 24), np.repeat([0, 1, 2], 8)
    X[y == 1, :2] += 0.6
    start = gm.initial_metric(X, y, norm="polytope")
    learner = GroundMetricLearning("neighborhood", init=start, cap=1.2).fit(X, y)
    for M in (learner.initial_metric_, learner.metric_):
        assert gm.is_metric(M)
        assert relative_largest(M) <= 1.2 * (1 + 1e-12)


def test_steps_and_means_of_cuts_are_capped():
    d, cap = 6, 1.2
    limit = cap_of_unit_norm(cap, d)
    space = MetricCone(capped(cut(d), cap, 1), cap=cap)
    assert not space.move(-10 * cut(d) + 10 * (1 - cut(d) - np.eye(d)), 5.0).is_stuck
    for M in (space.metric, space.tidied(cut(d))):
        assert gm.is_metric(M)
        assert M.max() <= limit
        assert np.linalg.norm(M) == pytest.approx(1.0, rel=1e-12)


def test_a_cap_out_of_reach_changes_little(data):
    X, y = data
    loose, free = (
        GroundMetricLearning(cap=cap, max_steps=1).fit(X, y).metric_
        for cap in (50.0, None)
    )
    np.testing.assert_allclose(loose, free, rtol=1e-5, atol=1e-6)


def test_distances_go_through_the_hub():
    X, y, _, _ = example(n=40, d=40)
    learner = GroundMetricLearning(cap=1.05, power=1.0, max_steps=5, tol=0).fit(X, y)
    M = learner.metric_
    assert at_largest(M) >= 0.6
    counts = np.zeros(3, np.int64)
    masses = _core.Masses(X, 1.0)
    D = _core.pairwise_dense(
        masses, masses, _core.CostMatrix(M), True, 1, None, counts=counts
    )
    assert counts[1] > 0  # pairs by the hub
    np.testing.assert_array_equal(learner.pairwise(X), D)
    found = gm.EMDNeighbors(metric=learner, n_neighbors=3).fit(X).kneighbors(X)
    np.testing.assert_allclose(found[0], np.sort(D, axis=1)[:, :3], atol=1e-12)


def test_one_batch_after_another(data):
    X, y = data
    learner = GroundMetricLearning(cap=1.2, max_steps=3)
    for start in (0, 10, 20):
        learner.partial_fit(X[start : start + 10], y[start : start + 10])
        assert relative_largest(learner.metric_) <= 1.2 * (1 + 1e-12)
    assert learner.n_iter_ == 3


def test_a_capped_fit_is_an_estimator_as_any(data, tmp_path):
    X, y = data
    learner = GroundMetricLearning(cap=1.2, max_steps=4)
    assert clone(learner).get_params()["cap"] == 1.2
    learner.fit(X, y).save(tmp_path / "model")
    again = GroundMetricLearning.load(tmp_path / "model")
    assert again.cap == 1.2
    np.testing.assert_array_equal(again.metric_, learner.metric_)


def test_a_checkpoint_resumes_under_the_same_cap_only(data, tmp_path):
    X, y = data
    path = tmp_path / "run"
    settings = {"max_steps": 6, "tol": 0.0, "criterion": "neighborhood"}

    def crash(step):
        if step.outer == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GroundMetricLearning(
            cap=1.2, callbacks=[crash, Checkpoint(path, seconds=0)], **settings
        ).fit(X, y)
    for cap in (None, 1.3):
        with pytest.raises(ValueError, match="other data, parameters"):
            GroundMetricLearning(cap=cap, callbacks=[Checkpoint(path)], **settings).fit(
                X, y
            )
    resumed = GroundMetricLearning(cap=1.2, callbacks=[Checkpoint(path)], **settings)
    whole = GroundMetricLearning(cap=1.2, **settings).fit(X, y)
    np.testing.assert_array_equal(resumed.fit(X, y).metric_, whole.metric_)


def test_a_state_above_the_cap_is_rejected():
    space = MetricCone(uniform_metric(4), cap=1.2)
    state = space.state()
    state["metric"] = 2 * state["metric"]
    with pytest.raises(ValueError, match="above the cap"):
        space.set_state(state)


@pytest.mark.parametrize("cap", [0, -1, 1, 1.0, np.inf, np.nan, "2", [2]])
def test_caps_that_no_metric_has(data, cap):
    learner = GroundMetricLearning(cap=cap)
    with pytest.raises(ValueError, match="cap is"):
        learner.fit(*data)
    assert not hasattr(learner, "metric_")
