"""Every public object that keeps state, called from four threads at a time.

Each thread has arguments of its own and has to get what it would get alone, bit for
bit. A barrier before every call makes the calls overlap, and a tiny switch interval
lets the interpreter change threads between any two of its instructions.
"""

from __future__ import annotations

import functools
import sys
import threading

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info

import groundmetric as gm
from groundmetric.smoothed._batch import SinkhornBatch

pytestmark = pytest.mark.core

RNG = np.random.default_rng(11)
N, D = 24, 30
X = RNG.gamma(0.5, size=(N, D)) + 1e-3
X /= X.sum(axis=1, keepdims=True)
LABELS = np.arange(N) % 2
POINTS = RNG.normal(size=(D, 3))
METRIC = cdist(POINTS, POINTS)
ROUNDS = 8


@pytest.fixture(autouse=True)
def _switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def flat(result):
    """Collect the numbers of a result as arrays."""
    if isinstance(result, tuple | list) or getattr(result, "dtype", None) == np.object_:
        return [array for each in result for array in flat(each)]
    return [result.toarray() if hasattr(result, "toarray") else np.asarray(result)]


def from_threads(calls, n_rounds=ROUNDS):
    """Make all calls at a time, again and again; return each thread's results."""
    barrier = threading.Barrier(len(calls))
    found = [[] for _ in calls]
    errors = []

    def work(k):
        try:
            for _ in range(n_rounds):
                barrier.wait(60)
                found[k].append(calls[k]())
        except BaseException as error:  # noqa: BLE001 - raised below
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found


def assert_as_alone(calls, alone, n_rounds=ROUNDS):
    for results, one in zip(from_threads(calls, n_rounds), alone, strict=True):
        assert len(results) == n_rounds
        for result in results:
            for mine, expected in zip(flat(result), flat(one), strict=True):
                np.testing.assert_array_equal(mine, expected)


# A batch starts from the trees of its last solve, so sums may be rounded in another
# order. Counts of 64 in all and whole costs make every sum exact.
def counts(n, d):
    return RNG.multinomial(64, RNG.dirichlet(np.full(d, 20 / d)), n).astype(float)


def pairs_of(n):
    return np.stack(np.triu_indices(n, 1), axis=1)


WIDE = 2100
LINE = RNG.integers(0, 1000, (D, 1)).astype(float)
WIDE_LINE = RNG.integers(0, 1000, (WIDE, 1)).astype(float)


def costs_of(line):
    metric = cdist(line, line)
    noise = RNG.integers(0, 100, metric.shape)
    return metric, metric**2, metric + noise, 3 * metric


def squares(left, right):
    return cdist(left, right, "sqeuclidean") + 1


DENSE, SPARSE = counts(N, D), csr_array(counts(12, WIDE))
BATCHES = {
    "dense": (lambda: gm.TransportBatch(DENSE, pairs_of(N)), costs_of(LINE)),
    "sparse": (lambda: gm.TransportBatch(SPARSE, pairs_of(12)), costs_of(WIDE_LINE)),
    "points": (
        lambda: gm.TransportBatch(DENSE, pairs_of(N), points=LINE),
        ("euclidean", "sqeuclidean", "cityblock", squares),
    ),
}


@pytest.mark.parametrize("kind", BATCHES)
def test_batches(kind):
    make, costs = BATCHES[kind]
    alone = [make().solve(cost).values for cost in costs]
    batch = make()
    calls = [lambda cost=cost: batch.solve(cost).values for cost in costs]
    assert_as_alone(calls, alone)


def test_plans_are_right_or_refused():
    batch = gm.TransportBatch(DENSE, pairs_of(N))
    costs, weights = costs_of(LINE), RNG.integers(1, 9, N * (N - 1) // 2)

    def plans(cost):
        solution = batch.solve(cost)
        try:
            G = solution.plan_sum(weights)
        except RuntimeError:  # another thread has solved the same pairs since
            return None
        return (G * cost).sum() - weights @ solution.values

    found = from_threads([lambda cost=cost: plans(cost) for cost in costs], 20)
    assert {value for results in found for value in results} <= {None, 0.0}


def test_a_cost_may_solve_the_batch_that_asks_for_it():
    batch = gm.TransportBatch(DENSE, pairs_of(N), points=LINE)
    inner = []

    def nested(left, right):
        inner.append(batch.solve().values)
        return squares(left, right)

    alone = gm.TransportBatch(DENSE, pairs_of(N), points=LINE)
    expected = alone.solve(squares).values
    solution = batch.solve(nested)
    np.testing.assert_array_equal(solution.values, expected)
    assert solution.proof == "none"
    for values in inner:
        np.testing.assert_array_equal(values, alone.solve().values)


def test_batches_of_learners():
    learners = [
        gm.GroundMetricLearning(max_steps=steps, power=power).fit(X, LABELS)
        for steps in (1, 2)
        for power in (0.5, 1.0)
    ]
    batch = gm.TransportBatch(X, pairs_of(N))
    calls = [lambda by=by: batch.solve(by).values for by in learners]
    alone = [gm.TransportBatch(X, pairs_of(N)).solve(by).values for by in learners]
    for results, one in zip(from_threads(calls), alone, strict=True):
        for values in results:  # see above: rounded in another order
            np.testing.assert_allclose(values, one, rtol=1e-13)


def test_projections():
    # They start from the working set that the last one left behind, whoever made it.
    inputs = [RNG.gamma(1.0, size=(D, D)) for _ in range(4)]
    projector = gm.MetricProjector(D)
    alone = [gm.project_metric(A) for A in inputs]
    calls = [lambda A=A: projector.project(A) for A in inputs]
    for results, one in zip(from_threads(calls), alone, strict=True):
        for mine in results:
            assert mine.converged
            assert gm.is_metric(mine.metric)
            size = np.linalg.norm(one.metric)
            error = (mine.residual + one.residual) * size
            assert np.linalg.norm(mine.metric - one.metric) <= error <= 3e-6 * size
    assert_as_alone([projector.multipliers] * 4, [projector.multipliers()] * 4)


LEARNERS = ("exact", "mapped", "smoothed", "energy", "discriminant")


def search_of(name):
    if name in LEARNERS:
        return gm.EMDNeighbors(learners_of()[name])
    return {
        "matrix": gm.EMDNeighbors(METRIC),
        "points": gm.EMDNeighbors(points=POINTS),
        "any costs": gm.EMDNeighbors("sqeuclidean", points=POINTS),
    }[name]


@functools.cache
def learners_of():
    found = {
        "exact": gm.GroundMetricLearning(max_steps=2),
        "mapped": gm.MappedMetricLearning(POINTS, 2, max_steps=2),
        "smoothed": gm.SinkhornMetricLearning(max_steps=2),
        "energy": gm.SinkhornMetricLearning(max_steps=2, smoothing=np.inf),
        "discriminant": gm.DiscriminantMetricLearning(),
    }
    return {name: learner.fit(X, LABELS) for name, learner in found.items()}


@pytest.mark.parametrize("name", ["matrix", "points", "any costs", *LEARNERS])
def test_neighbors(name):
    search = search_of(name).fit(X)
    calls = [
        lambda: search.kneighbors(X[:9], 2),
        lambda: search.kneighbors(n_neighbors=7),
        lambda: search.radius_neighbors(X[5:], radius=0.4, sort_results=True),
        lambda: search.transform(X[::3]),
    ]
    assert_as_alone(calls, [call() for call in calls])


@pytest.mark.parametrize("name", LEARNERS)
def test_learners(name):
    learner = learners_of()[name]
    calls = [
        lambda: learner.pairwise(X[:7], X),
        lambda: learner.transform(X[3:]),
        lambda: [learner.metric_, learner.initial_metric_, learner.histograms(X)],
        lambda: learner.pairwise(X[::2]),
    ]
    assert_as_alone(calls, [call() for call in calls])


@pytest.mark.parametrize("name", [None, *LEARNERS])
def test_kernels(name):
    kernel = gm.EMDKernel(distance=METRIC if name is None else learners_of()[name])
    kernel.fit(X[:15])
    calls = [lambda rows=X[k : k + 9]: kernel.transform(rows) for k in (0, 5, 10, 15)]
    assert_as_alone(calls, [call() for call in calls])


@pytest.mark.parametrize("name", LEARNERS)
def test_classifiers(name):
    classifier = gm.EMDClassifier(learner=learners_of()[name]).fit(X, LABELS)
    calls = [
        lambda rows=X[k : k + 9]: classifier.predict_proba(rows) for k in (0, 5, 10, 15)
    ]
    assert_as_alone(calls, [call() for call in calls])


def blas_pools():
    pools = threadpool_info()
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]


def test_smoothed_batches():
    pools = blas_pools()
    costs = [METRIC, METRIC**2, 3 * METRIC, METRIC**2 + METRIC]
    smoothings = [1.0, 3.0, 0.5, np.inf]
    batch = SinkhornBatch(X, pairs_of(N), n_jobs=2)
    weights = RNG.normal(size=len(batch))

    def solve(cost, smoothing):
        solution = batch.solve(cost, smoothing)
        return solution.values, solution.plan_sum(weights)

    calls = [
        lambda given=given: solve(*given)
        for given in zip(costs, smoothings, strict=True)
    ]
    assert_as_alone(calls, [call() for call in calls])
    assert blas_pools() == pools  # which each call limits for its products
