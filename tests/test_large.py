"""Large problems: how they start, and what they take, in pivots."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import groundmetric as gm
from certificates import check_transport
from groundmetric import _core
from reference import smoothed_potentials

pytestmark = pytest.mark.core

KINDS = ("euclidean", "squared", "random")


def made(kind, m, n=None, seed=0):
    """Two dense histograms, and costs between m and n points in the plane."""
    n = m if n is None else n
    rng = np.random.default_rng([seed, m, n])
    r, c = rng.random(m), rng.random(n)
    p = rng.random((max(m, n), 2))
    M = {
        "euclidean": lambda: cdist(p[:m], p[:n]),
        "squared": lambda: cdist(p[:m], p[:n], "sqeuclidean"),
        "random": lambda: rng.random((m, n)),
    }[kind]()
    return r / r.sum(), c / c.sum(), M


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "n"), [(300, 300), (20, 900), (900, 20), (700, 600)])
def test_few_pivots_a_bin(kind, m, n):
    r, c, M = made(kind, m, n)
    t = gm.transport(r, c, M)
    check_transport(t, r, c, M)
    # With column means alone it takes 4 a bin at 300, and 8 at 700.
    assert t.n_pivots < 3 * (m + n)


@pytest.mark.parametrize("kind", KINDS)
def test_the_smoothed_plan_is_sinkhorns(kind):
    r, c, M = made(kind, 16)  # all rows and columns are in its sample
    masses = [_core.Masses(x[None], 1.0) for x in (r, c)]
    v, rows, cols = _core.smoothed(*masses, _core.CostMatrix(M))
    expected, plan = smoothed_potentials(r, c, M, n_rounds=5, n_scales=3)
    # Single precision, and logarithms of four digits.
    np.testing.assert_allclose(v, expected, rtol=0, atol=1e-3 * M.max())
    share = plan / np.minimum(r[:, None], c[None]) / len(c)
    listed = np.zeros(M.shape, dtype=bool)
    listed[rows, cols] = True
    assert listed[share > 0.06].all()
    assert not listed[share < 0.04].any()
    order = np.minimum(share[rows, cols], 1.0)
    assert (np.diff(order) < 0.02).all()  # the largest first, but for its buckets


@pytest.mark.parametrize(
    "M",
    [
        np.zeros((40, 40)),
        np.full((40, 40), -3.0),
        np.arange(40.0) + np.zeros((40, 1)),  # the same for all rows
        np.arange(40.0)[:, None] + np.zeros(40),
        np.where(np.eye(40) == 1, 0.0, 1e300),
        10.0 ** np.random.default_rng(0).uniform(-9, 9, (40, 40)),
        np.random.default_rng(0).integers(0, 2, (40, 40)).astype(float),
    ],
    ids=["zero", "equal", "columns", "rows", "prohibitive", "steep", "binary"],
)
@pytest.mark.parametrize("masses", ["even", "steep"])
def test_starts_where_smoothing_fails(M, masses):
    rng = np.random.default_rng(1)
    r, c = (10.0 ** rng.uniform(-30, 0, 40) for _ in range(2))
    if masses == "even":
        r = c = np.ones(40)
    t = gm.transport(r, c * (r.sum() / c.sum()), M)
    check_transport(t, r, c, M)


def test_prohibitive_costs_do_not_spoil_the_start():
    r, c, M = made("squared", 300)
    usual = gm.transport(r, c, M)
    forbidden = (np.quantile(M, 0.5) < M) & (
        np.random.default_rng(0).random(M.shape) < 0.2
    )
    t = gm.transport(r, c, np.where(forbidden, 1e6, M))
    assert t.value < 1.0
    assert t.n_pivots < 1.5 * usual.n_pivots + 100


def few_pairs(d, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((2 * n, d))
    return X / X.sum(axis=1, keepdims=True), np.arange(2 * n).reshape(n, 2)


def test_how_a_batch_knows_that_common_mass_stays():
    X, pairs = few_pairs(64)
    M = made("euclidean", 64)[2]
    batch = gm.TransportBatch(X, pairs)
    few = batch.solve(M)
    assert few.proof == "potentials"
    assert batch.solve(M**2).proof == "none"
    many = gm.TransportBatch(X, np.repeat(pairs, 2, axis=0)).solve(M)
    assert many.proof == "triangles"
    np.testing.assert_array_equal(many.values[::2], few.values)
    for k in range(len(pairs)):
        i, j = pairs[k]
        check_transport(many.transport(2 * k), X[i], X[j], M)


@pytest.mark.parametrize("seed", range(5))
def test_one_broken_triangle_among_many_bins(seed):
    """A check of some triangles does not find it; the potentials do if it matters."""
    X, pairs = few_pairs(64, seed=seed)
    M = made("euclidean", 64, seed=seed)[2]
    # Mass that is at bin p in both histograms had better go: its arcs are cheap.
    p = 5 + seed
    M[p, :] *= 0.2
    M[:, p] *= 0.2
    expected = [gm.transport(X[i], X[j], M + 1.0).value - 1.0 for i, j in pairs]
    batch = gm.TransportBatch(X, pairs)
    solution = batch.solve(M)
    assert solution.proof == "none"
    np.testing.assert_allclose(solution.values, expected, rtol=1e-9)
    for k, (i, j) in enumerate(pairs):
        check_transport(solution.transport(k), X[i], X[j], M)
    pairwise = gm.pairwise_emd(X[::2], X[1::2], metric=M)
    np.testing.assert_allclose(np.diag(pairwise), expected, rtol=1e-9)
    assert batch.solve(M).n_pivots.sum() == 0  # the trees are kept


@pytest.mark.parametrize("kind", KINDS)
def test_arcs_that_are_not_on_the_shortlist_are_found(kind):
    # More than 2^17 arcs: the simplex starts with a few of each row. The certificate
    # proves that no other is missing.
    r, c, M = made(kind, 400, 700)
    t = gm.transport(r, c, M + 5.0)  # all bins take part
    check_transport(t, r, c, M + 5.0)
    # Costs that mislead the start: mass has to leave where it is cheap to stay.
    rng = np.random.default_rng(2)
    hidden = M + np.where(rng.random(M.shape) < 0.01, -10.0, 0.0)
    t = gm.transport(r, c, hidden)
    check_transport(t, r, c, hidden)
    again = gm.TransportBatch(r[None], [[0, 0]], Y=c[None])
    assert again.solve(hidden).values[0] == pytest.approx(t.value, rel=1e-12)
    assert again.solve(M).values[0] == pytest.approx(gm.emd(r, c, M), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "n"), [(200, 200), (150, 240), (240, 150)])
def test_few_of_many_bins(kind, m, n):
    """The value alone needs the costs between bins that are not empty."""
    r, c, M = made(kind, m, n)
    rng = np.random.default_rng(0)
    r[rng.permutation(m)[12:]] = 0.0
    c[rng.permutation(n)[9:]] = 0.0
    c *= r.sum() / c.sum()
    t = gm.transport(r, c, M)
    check_transport(t, r, c, M)
    assert gm.emd(r, c, M) == pytest.approx(t.value, rel=1e-14)
    M[r == 0] = 1e6  # as if these bins were not there
    M[:, c == 0] = 1e6
    assert gm.emd(r, c, M) == pytest.approx(gm.transport(r, c, M).value, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "n"), [(200, 200), (150, 240)])
def test_a_batch_that_uses_few_of_many_bins(kind, m, n):
    _, _, M = made(kind, m, n)
    rng = np.random.default_rng(0)
    X, Y = np.zeros((3, m)), np.zeros((4, n))
    X[:, ::17] = rng.random((3, len(range(0, m, 17))))
    Y[:, 3::14] = rng.random((4, len(range(3, n, 14))))
    X, Y = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, Y))
    pairs = [(0, 3), (2, 1)]
    solution = gm.TransportBatch(X, pairs, Y=Y).solve(M)
    distances = gm.pairwise_emd(X, Y, metric=M)
    plans = []
    for k, (i, j) in enumerate(pairs):
        t = solution.transport(k)
        check_transport(t, X[i], Y[j], M)
        plans.append(t.plan)
        assert t.value == solution.values[k]
        assert distances[i, j] == pytest.approx(t.value, rel=1e-13)
        assert gm.emd(X[i], Y[j], M) == pytest.approx(t.value, rel=1e-13)
    total = solution.plan_sum([1.0, -2.0])
    np.testing.assert_allclose(total, plans[0] - 2 * plans[1], atol=1e-15)


def test_costs_of_single_precision_are_not_converted_first(monkeypatch):
    r, c, M = made("euclidean", 60)
    single = M.astype(np.float32)
    seen = []
    for name in ("emd", "transport", "CostMatrix"):
        core = getattr(_core, name)
        monkeypatch.setattr(
            _core,
            name,
            lambda *args, core=core: seen.append(args[-1].dtype) or core(*args),
        )
    found = [
        gm.emd(r, c, single),
        gm.transport(r, c, single).value,
        gm.pairwise_emd(r[None], c[None], metric=single)[0, 0],
        gm.TransportBatch([r, c], [[0, 1]]).solve(single).values[0],
    ]
    assert seen == [np.float32] * 4
    expected = gm.emd(r, c, single.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    r[5:] = 0.0
    c[:30] = 0.0
    c *= r.sum() / c.sum()
    assert gm.emd(r, c, single) == gm.emd(r, c, single.astype(float))
