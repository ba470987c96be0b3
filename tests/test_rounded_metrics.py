"""Metrics that rounding has broken: solved exactly, with a warning; and repaired."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import EfficiencyWarning

import groundmetric as gm
from groundmetric import _core, validation
from groundmetric.transport import _rounded

N, D = 40, 80
RNG = np.random.default_rng(0)
X = RNG.gamma(0.5, size=(N, D))
X /= X.sum(axis=1, keepdims=True)
LINE = RNG.random((D, 1))
METRIC = cdist(LINE, LINE)  # every triangle is tight
ROUNDED = {
    "float32": METRIC.astype(np.float32),
    "four digits": METRIC.round(4),
    "three digits": METRIC.round(3),
}
ROUNDED_METRICS = pytest.mark.parametrize("M", ROUNDED.values(), ids=ROUNDED.keys())
ALL_PAIRS = np.stack(np.triu_indices(N, 1), axis=1)
# As many as the warning is worth.
REPEATED = np.array([(i, j) for i in range(N) for j in range(N)])


@ROUNDED_METRICS
def test_a_long_computation_with_a_rounded_metric_warns_once(M):
    with pytest.warns(EfficiencyWarning, match="metric_closure") as caught:
        D = gm.pairwise_emd(X, metric=M)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    batch = gm.TransportBatch(X, REPEATED)
    with pytest.warns(EfficiencyWarning, match="metric_closure") as caught:
        solution = batch.solve(M)
    assert caught[0].filename == __file__
    assert solution.proof == "none"
    np.testing.assert_allclose(solution.values, D.ravel(), rtol=1e-12, atol=1e-15)
    batch.solve(M)  # not again


@ROUNDED_METRICS
def test_the_closure_solves_smaller_problems_to_the_distances_it_promises(M):
    closed = gm.metric_closure(M)
    eps = validation.rounding_of_metric(M.astype(float), 1)
    assert 0 < eps < 0.02
    batch = gm.TransportBatch(X, ALL_PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EfficiencyWarning)
        full = batch.solve(M)
        kept = batch.n_bytes
    closed_batch = gm.TransportBatch(X, ALL_PAIRS)
    small = closed_batch.solve(closed)
    assert (full.proof, small.proof) == ("none", "triangles")
    # Trees have a node for each bin that takes part: half as many.
    assert closed_batch.n_bytes - 24 * len(ALL_PAIRS) < 0.6 * kept
    assert small.n_pivots.sum() < 0.7 * full.n_pivots.sum()
    assert (small.values <= full.values * (1 + 1e-12)).all()
    moves = [(X[i] - X[j]).clip(0).sum() for i, j in ALL_PAIRS]
    assert (full.values <= (small.values + eps * np.array(moves)) * (1 + 1e-12)).all()


def test_how_far_rounding_is_from_a_metric():
    assert validation.rounding_of_metric(METRIC, 1) < 1e-15
    float32 = METRIC.astype(np.float32).astype(float)
    assert 0 < validation.rounding_of_metric(float32, 1) < 2**-23
    M = np.array([[0.0, 1.0, 2.01], [1.0, 0.0, 1.0], [2.01, 1.0, 0.0]])
    assert validation.rounding_of_metric(M, 1) == pytest.approx(0.01)
    M[0, 2] = 2.0  # asymmetric
    assert validation.rounding_of_metric(M, 1) is None
    assert validation.rounding_of_metric(np.zeros((3, 3)), 1) == 0.0


@pytest.mark.parametrize(
    "M",
    [METRIC, METRIC**2, METRIC + RNG.random((D, D)), METRIC - 1, np.ones((D, D))],
    ids=["metric", "squared", "asymmetric", "negative", "diagonal"],
)
def test_other_costs_do_not_warn(M):
    # Warnings are errors in these tests.
    assert gm.pairwise_emd(X, metric=M).shape == (N, N)
    assert len(gm.TransportBatch(X, REPEATED).solve(M).values) == N * N


def test_short_computations_do_not_warn(monkeypatch):
    M = ROUNDED["float32"]
    few = gm.pairwise_emd(X[:8], metric=M)
    assert 64 * D**2 < _rounded.WORTH_A_WARNING
    one = gm.emd(X[0], X[1], M)
    assert one == pytest.approx(few[0, 1], rel=1e-12)
    # Not even a large pair: it has no triangles checked.
    monkeypatch.setattr(_rounded, "WORTH_A_WARNING", 0)
    assert gm.pairwise_emd(X[:1], X[1:3], metric=M)[0, 0] == pytest.approx(one)


def test_rounded_metrics_stay_exact():
    M = ROUNDED["three digits"]
    assert not _core.CostMatrix(M).is_quasimetric(1)
    t = gm.transport(X[0], X[1], M)
    u, v = t.potentials
    assert (u[:, None] + v <= M + 1e-15).all()
    assert t.duality_gap == pytest.approx(0.0, abs=1e-15)


def test_where_a_metric_is_needed_the_message_has_the_remedy():
    with pytest.raises(ValueError, match="metric_closure repairs what rounding"):
        gm.EMDNeighbors(ROUNDED["four digits"]).fit(X)
    with pytest.raises(ValueError, match=r"by [\d.]+\.$"):
        gm.EMDNeighbors(METRIC**2).fit(X)
    gm.EMDNeighbors(gm.metric_closure(ROUNDED["four digits"])).fit(X)
