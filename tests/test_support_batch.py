"""TransportBatch with sparse histograms: only supports take part."""

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist

import groundmetric as gm
from certificates import check_transport
from groundmetric import _core
from groundmetric.transport import _plans, _supports
from groundmetric.validation import cases
from test_points import NeverDense, bags

pytestmark = pytest.mark.core

NAMES = ("euclidean", "cityblock", "sqeuclidean", "function")


def ground(name):
    """Return what TransportBatch and cdist take."""
    return (lambda a, b: cdist(a, b) ** 1.5) if name == "function" else name


def costs(points, name):
    if name == "function":
        return ground(name)(points, points)
    return cdist(points, points, name)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    """Twelve bags of words of 60, two of them equal."""
    X = bags(rng, 12, 60, 9).toarray()
    X[7] = X[1]
    return csr_array(X)


@pytest.fixture
def points(rng):
    return rng.normal(size=(60, 3))


PAIRS = np.stack(np.triu_indices(12, 1), axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_points_prove_themselves(X, points, name, monkeypatch):
    monkeypatch.setattr(_supports, "BLOCK", 40)  # many blocks of costs
    monkeypatch.setattr(_plans, "BLOCK", 40)
    M = costs(points, name)
    batch = gm.TransportBatch(NeverDense(X), PAIRS, points=points)
    solution = batch.solve(ground(name))
    dense = gm.TransportBatch(X.toarray(), PAIRS).solve(M)
    np.testing.assert_allclose(solution.values, dense.values, rtol=1e-12, atol=1e-15)
    assert solution.proof == ("none" if name in NAMES[2:] else "triangles")
    for k in (0, 5, 17, 65):
        i, j = PAIRS[k]
        t = solution.transport(k)
        check_transport(t, X.toarray()[i], X.toarray()[j], M)
        assert t.value == solution.values[k]
        assert t.n_pivots == solution.n_pivots[k]


@pytest.mark.parametrize("name", NAMES)
def test_sums_of_plans_are_sparse_and_gradients(rng, X, points, name):
    weights = rng.normal(size=len(PAIRS))
    solution = gm.TransportBatch(X, PAIRS, points=points).solve(ground(name))
    total = solution.plan_sum(weights)
    assert issparse(total)
    assert total.shape == (60, 60)
    plans = [solution.transport(k).plan for k in range(len(PAIRS))]
    expected = np.tensordot(weights, plans, 1)
    np.testing.assert_allclose(total.toarray(), expected, rtol=0, atol=1e-14)
    # Of a linear function of M, as long as plans stay optimal.
    assert (total.toarray() * costs(points, name)).sum() == pytest.approx(
        weights @ solution.values, rel=1e-12
    )


def test_plans_are_summed_in_parts(rng, X, points, monkeypatch):
    weights = rng.normal(size=len(PAIRS))
    solution = gm.TransportBatch(X, PAIRS, points=points).solve()
    whole = solution.plan_sum(weights).toarray()
    monkeypatch.setattr(_plans, "PLANS", 7)
    parts = solution.plan_sum(weights).toarray()
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-15)


def test_wide_histograms_stay_sparse_under_a_matrix(rng, X, points, monkeypatch):
    monkeypatch.setattr(cases, "WIDE", 50)
    M = rng.normal(size=(60, 60))
    batch = gm.TransportBatch(NeverDense(X), PAIRS)
    solution = batch.solve(M)
    dense = gm.TransportBatch(X.toarray(), PAIRS).solve(M)
    np.testing.assert_allclose(solution.values, dense.values, rtol=1e-12)
    weights = rng.normal(size=len(PAIRS))
    total = solution.plan_sum(weights)
    assert isinstance(total, np.ndarray)
    np.testing.assert_allclose(total, dense.plan_sum(weights), rtol=0, atol=1e-14)
    for k in (0, 30):
        i, j = PAIRS[k]
        check_transport(solution.transport(k), X.toarray()[i], X.toarray()[j], M)
    # Another matrix, for some pairs, between two sets, on few of the bins.
    Y = csr_array(X.toarray()[:3] * (np.arange(60) < 60))
    M = costs(points, "euclidean")
    chosen = gm.TransportBatch(X, [(0, 2), (5, 1), (4, 0)], Y=Y).solve(M, [2, 0])
    expected = gm.pairwise_emd(X.toarray(), Y.toarray(), metric=M)
    np.testing.assert_allclose(chosen.values, [expected[4, 0], expected[0, 2]])


def test_points_may_move(rng, X, points):
    batch = gm.TransportBatch(X, PAIRS, points=points)
    before = batch.solve()
    again = batch.solve()
    assert not again.n_pivots.any()
    np.testing.assert_array_equal(again.values, before.values)
    moved = points + 1e-3 * rng.normal(size=points.shape)
    after = batch.solve(points=moved)
    fresh = gm.TransportBatch(X, PAIRS, points=moved).solve()
    np.testing.assert_allclose(after.values, fresh.values, rtol=1e-12, atol=1e-15)
    assert after.n_pivots.sum() < fresh.n_pivots.sum() / 2
    # The batch keeps only the newest plans.
    with pytest.raises(RuntimeError, match="newest"):
        before.plan_sum(np.ones(len(PAIRS)))
    with pytest.raises(RuntimeError, match="newest"):
        before.transport(0)


def test_metrics_may_change(X, points):
    batch = gm.TransportBatch(X, PAIRS, points=points)
    for name in ("euclidean", "sqeuclidean", "euclidean"):
        fresh = gm.TransportBatch(X, PAIRS, points=points).solve(name)
        np.testing.assert_array_equal(batch.solve(name).values, fresh.values)


def test_threads_change_nothing(X, points):
    one, two = (
        gm.TransportBatch(X, PAIRS, points=points, n_jobs=n).solve() for n in (1, 2)
    )
    np.testing.assert_array_equal(one.values, two.values)
    weights = np.arange(len(PAIRS))
    assert (one.plan_sum(weights) != two.plan_sum(weights)).nnz == 0


def test_points_are_the_batch_s_own(X, points):
    batch = gm.TransportBatch(X, [(0, 1)], points=points)
    given = 2.0 * points
    first = batch.solve()
    points *= 3.0
    assert abs(first.transport(0).duality_gap) < 1e-12
    other = batch.solve(points=given)
    given *= 5.0
    assert abs(other.transport(0).duality_gap) < 1e-12
    np.testing.assert_array_equal(batch.solve().values, first.values)


def test_clouds():
    # 2 at the origin to 1 each at distances 5 and 10.
    clouds = [([2], [[0, 0]]), ([1, 1], [[3, 4], [6, 8]])]
    solution = gm.TransportBatch(clouds, [(0, 1), (1, 1)]).solve()
    np.testing.assert_array_equal(solution.values, [15.0, 0.0])
    expected = [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(solution.plan_sum([1.0, 0.0]).toarray(), expected)


def test_equal_histograms_prove_themselves(X, points):
    solution = gm.TransportBatch(X, [(1, 7)], points=points).solve()
    r = X.toarray()[1]
    check_transport(solution.transport(0), r, r, costs(points, "euclidean"))


def test_memory_does_not_grow_with_bins(rng):
    """80 of 200,000 bins: the batch keeps what it keeps at 2,000."""
    kept = []
    for d in (2_000, 200_000):
        bins = np.sort(rng.choice(d, (4, 80)), axis=1)
        X = csr_array((np.ones(320), bins.ravel(), np.arange(0, 321, 80)), (4, d))
        X.sum_duplicates()
        batch = gm.TransportBatch(X, [(0, 1), (2, 3)], points=rng.normal(size=(d, 2)))
        assert batch.solve().plan_sum([1.0, 1.0]).nnz < 400
        kept.append(batch.n_bytes)
    assert kept[1] < 1.1 * kept[0]
    assert kept[1] < 70_000


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda X, P: gm.TransportBatch(X, PAIRS, points=P).solve(np.eye(60)),
            "metric is a matrix, but points are given as well",
        ),
        (
            lambda X, _: gm.TransportBatch(X, PAIRS).solve(),
            "metric is None, but there are no points",
        ),
        (
            lambda X, P: gm.TransportBatch(X, PAIRS).solve(np.eye(60), points=P),
            "points are given to solve",
        ),
        (
            lambda X, P: gm.TransportBatch(X, PAIRS, points=P).solve(points=P[:9]),
            r"points has shape \(9, 3\)",
        ),
        (
            lambda X, P: gm.TransportBatch(X, [(0, 12)], points=P),
            "12",
        ),
        (
            lambda X, P: gm.TransportBatch(X, PAIRS, points=P).solve(
                lambda a, b: cdist(a, b) * np.nan
            ),
            "metric is nan between points",
        ),
    ],
)
def test_wrong_uses(X, points, make, message):
    with pytest.raises(ValueError, match=message):
        make(X, points)


def test_core_checks_indices(X, points):
    masses = _core.SparseMasses(
        X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), 60, 1.0
    )
    with pytest.raises(ValueError, match=r"pairs\[0\] is \(0, 12\), but there are 12"):
        _core.SparseBatch(masses, masses, np.array([[0, 12]]), reduced=True)
    batch = _core.SparseBatch(masses, masses, PAIRS, reduced=True)
    few = np.arange(3, dtype=np.int32)
    matrix = _core.CostMatrix(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="has no costs"):
        batch.solve_sparse(batch.begin(), matrix, few, few, np.array([0]), 1)
    with pytest.raises(ValueError, match="twice"):
        batch.solve_points(1, _core.Points(points), np.array([0, 0]), 1)
    with pytest.raises(ValueError, match="points for 60 bins"):
        batch.solve_points(1, _core.Points(points[:5]), np.array([0]), 1)
    with pytest.raises(RuntimeError, match="newest"):
        batch.plans(1, np.array([0]))
