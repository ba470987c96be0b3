"""Points on a line, where sorting takes the place of the simplex."""

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import groundmetric as gm
import problems
from certificates import check_transport
from groundmetric import _core
from groundmetric.transport import _line, _pairs
from strategies import histogram_pairs

pytestmark = pytest.mark.core

COSTS = {"euclidean": 1, "cityblock": 1, "sqeuclidean": 2}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_by_hand():
    # One unit moves from 0 to 5, one from 2 to 5, and one stays at 5.
    assert gm.emd([1, 1, 1], [0, 0, 3], points=[0, 2, 5]) == 8.0
    assert gm.emd([1, 1, 1], [0, 0, 3], "sqeuclidean", points=[0, 2, 5]) == 34.0
    t = gm.transport([1, 1, 0], [0, 1, 1], points=[0, 2, 5])
    assert (t.rows.tolist(), t.cols.tolist()) == ([0, 1], [2, 1])  # bin 1 keeps its
    t = gm.transport([1, 1, 0], [0, 1, 1], "sqeuclidean", points=[0, 2, 5])
    assert (t.value, t.rows.tolist(), t.cols.tolist()) == (13.0, [0, 1], [1, 2])


@pytest.mark.parametrize("name", COSTS)
@settings(max_examples=150, deadline=None)
@given(histogram_pairs(), st.data())
def test_proves_itself_and_agrees_with_the_simplex(name, pair, data):
    r, c = pair
    places = st.integers(-4, 4).map(float) | st.floats(-3, 3).map(lambda t: round(t, 6))
    x = data.draw(hnp.arrays(float, len(r), elements=places))[:, None]
    M = cdist(x, x, name)
    t = gm.transport(r, c, name, points=x)
    check_transport(t, r, c, M)
    assert t.n_pivots == 0
    expected = gm.emd(r, c, M)
    np.testing.assert_allclose(t.value, expected, rtol=1e-12, atol=1e-15)
    assert gm.emd(r, c, name, points=x[:, 0]) == t.value
    found = gm.pairwise_emd([r], [c], metric=name, points=x)[0, 0]
    # Rows of a table are divided by their sums on the way, and each division rounds.
    rounding = len(r) * np.finfo(float).eps * M.max()
    assert found == pytest.approx(t.value, rel=1e-15, abs=rounding)


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "counts", "disjoint"])
def test_many_bins_prove_themselves(rng, name, kind):
    r, c = problems.pair(rng, kind, 400)
    c = c * (r.sum() / c.sum())
    for x in (rng.normal(size=400), rng.integers(0, 50, 400) * 1.0):
        M = cdist(x[:, None], x[:, None], name)
        check_transport(gm.transport(r, c, name, points=x), r, c, M)


def test_sums_are_those_of_fractions(rng):
    # The area between the two distribution functions, in exact arithmetic.
    x = np.sort(rng.integers(-(2**40), 2**40, 60) / 2.0**20)
    r, c = (rng.multinomial(2**30, np.ones(60) / 60) / 2.0**30 for _ in range(2))
    gaps = [Fraction(b) - Fraction(a) for a, b in itertools.pairwise(x)]
    net = [Fraction(a) - Fraction(b) for a, b in zip(r, c, strict=True)]
    area = sum(
        (abs(sum(net[: k + 1], Fraction(0))) * gap for k, gap in enumerate(gaps)),
        Fraction(0),
    )
    assert gm.emd(r, c, points=x) == pytest.approx(float(area), rel=4e-16)


@pytest.mark.parametrize("name", COSTS)
def test_all_pairs_and_rows_in_pairs(rng, name):
    X, Y = (rng.dirichlet(np.ones(30) * 0.2, n) for n in (7, 5))
    x = rng.normal(size=30)
    M = cdist(x[:, None], x[:, None], name)
    found = gm.pairwise_emd(X, Y, metric=name, points=x)
    np.testing.assert_allclose(found, gm.pairwise_emd(X, Y, metric=M), rtol=1e-11)
    for n_jobs in (2, 3):
        again = gm.pairwise_emd(
            csr_array(X), csr_array(Y), metric=name, points=x, n_jobs=n_jobs
        )
        np.testing.assert_array_equal(again, found)
    own = gm.pairwise_emd(X, metric=name, points=x)
    np.testing.assert_array_equal(own, own.T)
    rows = gm.emd(X[:5], Y, name, points=x, n_jobs=2)
    np.testing.assert_array_equal(rows, np.diag(found))
    assert gm.emd(X[0], Y, name, points=x).tolist() == found[0].tolist()


def test_point_clouds_on_a_line(rng):
    clouds = [(np.ones(k) / k, rng.normal(size=(k, 1))) for k in (2, 3, 5)]
    expected = [[gm.emd(a, b, cdist(p, q)) for b, q in clouds] for a, p in clouds]
    np.testing.assert_allclose(gm.pairwise_emd(clouds), expected, atol=1e-14)
    np.testing.assert_allclose(
        gm.emd(clouds, clouds[::-1]), [expected[k][2 - k] for k in range(3)]
    )


def test_vectors_are_points_everywhere(rng):
    X = rng.dirichlet(np.ones(6), 4)
    x = rng.normal(size=6)
    column = x[:, None]
    solved = [
        gm.TransportBatch(X, [(0, 1)], points=points).solve().values
        for points in (x, column, x.tolist())
    ]
    assert solved[0] == solved[1] == solved[2]
    near = [
        gm.EMDNeighbors(points=p).fit(X).kneighbors(n_neighbors=2) for p in (x, column)
    ]
    np.testing.assert_array_equal(near[0], near[1])


@pytest.mark.parametrize("name", COSTS)
def test_neighbors_on_a_line_are_those_of_all_distances(rng, name):
    X, x = rng.dirichlet(np.ones(20) * 0.3, 150), rng.integers(0, 9, 20) * 0.1
    X[7] = X[3]
    search = gm.EMDNeighbors(name, points=x, n_neighbors=4).fit(X[:120])
    D = gm.pairwise_emd(X[120:], X[:120], metric=name, points=x)
    order = np.argsort(D, axis=1, kind="stable")[:, :4]
    for found in (search, pickle.loads(pickle.dumps(search))):  # noqa: S301 - our own
        distances, indices = found.kneighbors(X[120:])
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(distances, np.take_along_axis(D, order, axis=1))
    assert search.n_solves_ == 0
    own = gm.pairwise_emd(X[:120], metric=name, points=x)
    np.fill_diagonal(own, np.inf)
    np.testing.assert_array_equal(search.kneighbors()[1][:, 0], own.argmin(axis=1))


def test_other_costs_and_ranges_take_the_simplex():
    points = np.array([[1.0], [2.0], [4.0]])
    for name in ("canberra", "correlation", lambda a, b: cdist(a, b) ** 0.5):
        assert _line.Line.of(points, name) is None
    assert _line.Line.of(np.ones((3, 2)), "euclidean") is None
    far = np.array([[0.0], [1e160]])
    assert _line.Line.of(far, "sqeuclidean") is None
    assert gm.emd([1, 0], [0, 1], points=far) == 1e160
    with pytest.raises(ValueError, match="metric is inf between points 0 and 1"):
        gm.emd([1, 0], [0, 1], "sqeuclidean", points=far)
    root = gm.emd([1, 1], [0, 2], lambda a, b: cdist(a, b) ** 0.5, points=[0, 4])
    assert root == 2.0


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError, match="exceed the range of double"):
        gm.emd([1e10, 0], [0, 1e10], points=[0, 1e300])
    with pytest.raises(ValueError, match="exceed the range of double"):
        gm.transport([1e10, 0], [0, 1e10], points=[0, 1e300])
    with pytest.raises(ValueError, match="exceed the range of double"):
        gm.pairwise_emd([[1e10, 0], [0, 1e10]], points=[0, 1e300])


def test_pairs_travel(rng):
    X, x = rng.dirichlet(np.ones(6), 4), rng.normal(size=6)
    pairs = _pairs.all_pairs(X, None, None, x)
    there = pickle.loads(pickle.dumps(pairs))  # noqa: S301 - our own
    np.testing.assert_array_equal(
        there.solve(slice(0, 4), slice(0, 4), 1, None),
        pairs.solve(slice(0, 4), slice(0, 4), 1, None),
    )


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ([0, 1], r"points has shape \(2, 1\), but the histograms have 3 bins"),
        ([0, 1, np.nan], r"points\[2, 0\] is nan"),
        ([0, 1, "a"], "points is not an array of real numbers"),
    ],
)
def test_bad_points(points, message):
    with pytest.raises(ValueError, match=message):
        gm.emd([1, 0, 0], [0, 1, 0], points=points)


def test_the_core_checks_its_input():
    with pytest.raises(ValueError, match="must be finite, and rise"):
        _core.Line(np.array([1.0, 0.0]), squared=False)
    line = _core.Line(np.array([0.0, 1.0]), squared=False)
    assert len(line) == 2
    masses = _line.Line(np.arange(3), None).vector(np.ones(3), 3.0)
    with pytest.raises(ValueError, match="do not have 2 bins"):
        line.pairwise(masses, masses, True, 1, None)
    own = _line.Line(np.arange(2), None).vector(np.ones(2), 2.0)
    with pytest.raises(ValueError, match=r"pairs\[0\] is 1"):
        line.in_pairs(own, own, np.array([[0, 1]]), 1)
