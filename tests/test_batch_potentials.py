"""Potentials of a whole batch, stacked: each pair proves its plan on all bins."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import groundmetric as gm
from certificates import check_transport
from problems import cost
from test_points import bags

pytestmark = pytest.mark.core

PAIRS = np.array([(0, 1), (0, 2), (3, 1), (2, 2), (4, 3), (1, 0)])


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def check_all(solution, X, Y, pairs, M):
    """Certify every pair with its rows of the potentials."""
    u, v = solution.potentials
    assert u.shape == (len(pairs), M.shape[0])
    assert v.shape == (len(pairs), M.shape[1])
    for k, (i, j) in enumerate(pairs):
        t = solution.transport(k)
        dual = u[k] @ X[i] + v[k] @ Y[j]
        own = replace(t, potentials=(u[k], v[k]), duality_gap=t.value - dual)
        check_transport(own, X[i], Y[j], M)


@pytest.mark.parametrize(
    "kind", ["euclidean", "squared", "negative", "asymmetric", "zero", "duplicates"]
)
@pytest.mark.parametrize("n_empty", [0, 3, 30])
def test_dense(rng, kind, n_empty):
    """Some bins are empty everywhere, or so many that the core does not see them."""
    X = np.pad(rng.dirichlet(np.ones(15) * 0.3, 5), ((0, 0), (0, n_empty)))
    M = cost(rng, kind, 15 + n_empty)
    batch = gm.TransportBatch(X, PAIRS)
    for _ in range(2):  # from the greedy start, and from kept trees
        check_all(batch.solve(M), X, X, PAIRS, M)


def test_other_bins(rng):
    X, Y = rng.dirichlet(np.ones(6), 5), rng.dirichlet(np.ones(9), 5)
    M = rng.random((6, 9))
    check_all(gm.TransportBatch(X, PAIRS, Y=Y).solve(M), X, Y, PAIRS, M)


def test_sparse(rng):
    X = bags(rng, 5, 2100, 8)
    M = rng.random((2100, 2100))
    check_all(gm.TransportBatch(X, PAIRS).solve(M), X.toarray(), X.toarray(), PAIRS, M)


@pytest.mark.parametrize("name", ["euclidean", "cityblock", "sqeuclidean"])
@pytest.mark.parametrize("n_coordinates", [1, 3])
def test_points(rng, name, n_coordinates):
    X, points = bags(rng, 5, 40, 8), rng.normal(size=(40, n_coordinates))
    solution = gm.TransportBatch(X, PAIRS, points=points).solve(name)
    dense = X.toarray()
    check_all(solution, dense, dense, PAIRS, cdist(points, points, name))


def test_computed_when_first_asked_for_and_kept(rng, monkeypatch):
    X, M = rng.dirichlet(np.ones(8), 5), rng.random((8, 8))
    solution = gm.TransportBatch(X, PAIRS).solve(M)
    plans = type(solution._plans)
    calls = []
    known = plans.potentials

    def counted(self, pairs):
        calls.append(len(pairs))
        return known(self, pairs)

    monkeypatch.setattr(plans, "potentials", counted)
    assert calls == []
    assert solution.potentials is solution.potentials
    assert calls == [len(PAIRS)]


def test_of_some_pairs_on_some_threads(rng):
    X, M = rng.dirichlet(np.ones(8), 5), cost(rng, "euclidean", 8)
    whole = gm.TransportBatch(X, PAIRS).solve(M).potentials
    for n_jobs in (2, 3):
        again = gm.TransportBatch(X, PAIRS, n_jobs=n_jobs).solve(M).potentials
        np.testing.assert_array_equal(again, whole)
    some = gm.TransportBatch(X, PAIRS).solve(M, pairs=[4, 1]).potentials
    np.testing.assert_array_equal(some, [each[[4, 1]] for each in whole])
    none = gm.TransportBatch(X, PAIRS).solve(M, pairs=[]).potentials
    assert [each.shape for each in none] == [(0, 8), (0, 8)]


@pytest.mark.parametrize("points", [None, np.arange(8.0)])
def test_stale_solutions_are_refused(rng, points):
    X, M = rng.dirichlet(np.ones(8), 5), rng.random((8, 8))
    batch = gm.TransportBatch(csr_array(X), PAIRS, points=points)
    metric = M if points is None else None
    first = batch.solve(metric)
    batch.solve(metric, pairs=[2])
    with pytest.raises(RuntimeError, match="use the newest solution"):
        _ = first.potentials
