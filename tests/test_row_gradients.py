"""Plans and potentials of rows in pairs, which gradients are made of."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import problems
import reference
from groundmetric import TransportBatch
from groundmetric.transport import _gradients
from groundmetric.transport._gradients import in_costs, in_points, in_rows, solve_rows

pytestmark = pytest.mark.core
PAIRS = np.array([[0, 0], [0, 1], [2, 1], [1, 2], [2, 2]])


def solved(r, c, pairs=PAIRS, **ground):
    return solve_rows(r, c, pairs, ground, n_jobs=2, potentials=True, plans=True)


def plan_of(found, k, shape):
    plan = np.zeros(shape)
    np.add.at(plan, (found.rows[k], found.columns[k]), found.flow[k])
    return plan


def example(seed, kind, d=9):
    """Three histograms of mass 4 on each side, some bins empty in all; and costs."""
    rng = np.random.default_rng(seed)
    sides = rng.gamma(0.7, size=(2, 3, d)) * (rng.random((2, 3, d)) < 0.7)
    sides[:, :, 0] += 0.1
    sides[:, :, [2, 5]] = 0.0
    r, c = 4.0 * sides / sides.sum(axis=2, keepdims=True)
    return r, c, problems.cost(rng, kind, d)


@pytest.mark.parametrize("kind", ["euclidean", "asymmetric", "points"])
@pytest.mark.parametrize("seed", range(3))
def test_plans_and_potentials_are_optimal(seed, kind):
    r, c, M = example(seed, "euclidean" if kind == "points" else kind)
    ground = {"metric": M}
    if kind == "points":
        points = np.random.default_rng(seed).normal(size=(r.shape[1], 2))
        M, ground = cdist(points, points), {"points": points}
    found = solved(r, c, **ground)
    for k, (i, j) in enumerate(PAIRS):
        value = reference.emd_lp(r[i], c[j], M)
        assert found.values[k] == pytest.approx(value, rel=1e-9)
        plan = plan_of(found, k, M.shape)
        np.testing.assert_allclose(plan.sum(axis=1), r[i], atol=1e-12)
        np.testing.assert_allclose(plan.sum(axis=0), c[j], atol=1e-12)
        assert np.vdot(M, plan) == pytest.approx(value, rel=1e-9)
        # Centered: up to a number for all bins they are dual feasible, and optimal.
        u, v = found.u[k], found.v[k]
        assert abs(u.sum()) + abs(v.sum()) < 1e-12 * np.abs(M).max() * len(M)
        shift = (M - u[:, None] - v).min()
        dual = u @ r[i] + v @ c[j] + shift * r[i].sum()
        assert dual == pytest.approx(value, rel=1e-9)


def test_plans_of_dense_and_sparse_batches_are_what_sums_consist_of():
    r, c, M = example(5, "asymmetric")
    M[0, 3] = M[4, 1] = math.inf
    weights = np.array([1.0, -2.0, 0.5, 3.0, 0.25])
    for ground in (
        {"metric": M},
        {"points": np.random.default_rng(5).normal(size=(9, 2))},
    ):
        found = solved(r, c, **ground)
        total = in_costs(found, weights, M.shape)
        given = ground.get("points")
        left, right = (r, c) if given is None else (csr_array(r), csr_array(c))
        batch = TransportBatch(left, PAIRS, Y=right, points=given)
        expected = batch.solve(ground.get("metric")).plan_sum(weights)
        if given is not None:
            expected = expected.toarray()
        np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-14)


def test_masses_may_differ_between_pairs():
    r, c, M = example(1, "euclidean")
    scales = np.array([1.0, 10.0, 0.1])
    pairs = np.array([[0, 0], [1, 1], [2, 2]])
    plain = solved(r, c, pairs, metric=M)
    found = solved(r * scales[:, None], c * scales[:, None], pairs, metric=M)
    np.testing.assert_allclose(found.values, scales * plain.values, rtol=1e-12)
    for k in range(3):
        expected = scales[k] * plan_of(plain, k, M.shape)
        np.testing.assert_allclose(plan_of(found, k, M.shape), expected, atol=1e-10)
    np.testing.assert_allclose(found.u, plain.u, atol=1e-9)


def test_what_is_not_asked_for_is_not_computed():
    r, c, M = example(2, "euclidean")
    options = {"n_jobs": None, "potentials": False, "plans": False}
    found = solve_rows(r, c, PAIRS, {"metric": M}, **options)
    assert found.u.shape == found.v.shape == found.flow.shape == (len(PAIRS), 0)
    np.testing.assert_array_equal(found.values, solved(r, c, metric=M).values)


def test_pairs_without_a_plan_are_named():
    r, c = np.array([[1.0, 0], [0.5, 0.5]]), np.array([[1.0, 0.0]])
    M = np.array([[0.0, 1.0], [math.inf, 0.0]])
    with pytest.raises(ValueError, match="from row 1 of r to row 0 of c avoids"):
        solved(r, c, np.array([[0, 0], [1, 0]]), metric=M)


@pytest.mark.parametrize("squared", [False, True])
def test_gradient_in_points_by_finite_differences(squared):
    metric = "sqeuclidean" if squared else "euclidean"
    r, c, _ = example(3, "euclidean")
    points = np.random.default_rng(3).normal(size=(9, 2))
    points[1] = points[0]  # which have no direction
    weights = np.array([1.0, -2.0, 0.5, 3.0, 0.25])
    found = solved(r, c, points=points, metric=metric)
    gradient = in_points(found, weights, points, squared=squared)
    plan = in_costs(found, weights, (9, 9))
    assert not gradient[[2, 5]].any()  # empty in all
    for p in range(2, 9):
        for s in range(2):
            step = np.zeros_like(points)
            step[p, s] = 1e-6
            there, back = (
                np.vdot(plan, cdist(points + e, points + e, metric))
                for e in (step, -step)
            )
            assert gradient[p, s] == pytest.approx((there - back) / 2e-6, abs=1e-6)


def test_many_arcs_are_taken_in_blocks(monkeypatch):
    r, c, _ = example(4, "euclidean")
    points = np.random.default_rng(4).normal(size=(9, 2))
    found, weights = solved(r, c, points=points), np.ones(len(PAIRS))
    whole = in_points(found, weights, points, squared=False)
    monkeypatch.setattr(_gradients, "BLOCK", 4)
    in_blocks = in_points(found, weights, points, squared=False)
    np.testing.assert_allclose(in_blocks, whole, rtol=1e-13)


def test_histograms_of_several_pairs_add_up():
    potentials, weights = np.arange(10.0).reshape(5, 2), np.array([1.0, 2, 3, 4, 5])
    total = in_rows(potentials, PAIRS[:, 0], weights, 4)
    expected = np.zeros((4, 2))
    for k, i in enumerate(PAIRS[:, 0]):
        expected[i] += weights[k] * potentials[k]
    np.testing.assert_allclose(total, expected)
