"""Numbers that are hard on arithmetic: wide ranges, ties, prohibitive costs.

``python tests/test_stress.py 100000`` checks that many random problems.
"""

import sys

import numpy as np
import pytest

import groundmetric as gm
from groundmetric import _core

pytestmark = pytest.mark.core

EPS = np.finfo(float).eps
SMALLEST = np.finfo(float).tiny
MASSES = ("dense", "ties", "wide", "sparse")
COSTS = ("ties", "dense", "signed", "wide", "decades", "metric", "prohibitive")


def masses(rng, kind, d):
    """Return a histogram of mass 1; "wide" has entries from 1e-300 to 1."""
    x = {
        "dense": lambda: rng.random(d),
        "ties": lambda: rng.integers(0, 3, d).astype(float),
        "wide": lambda: 10.0 ** rng.uniform(-300, 0, d),
        "sparse": lambda: rng.random(d) * (rng.random(d) < 0.4),
    }[kind]()
    x[rng.integers(d)] += 1.0
    return x / x.sum()


def costs(rng, kind, m, n):
    """Return m x n costs; "wide" ones span 600 decades."""
    if kind == "metric":
        points = rng.integers(0, 4, (max(m, n), 2)).astype(float)
        return np.abs(points[:m, None] - points[None, :n]).sum(axis=-1)
    forbidden = 10.0 ** rng.integers(6, 308)
    return {
        "ties": lambda: rng.integers(0, 3, (m, n)).astype(float),
        "dense": lambda: rng.random((m, n)),
        "signed": lambda: rng.normal(size=(m, n)),
        "wide": lambda: 10.0 ** rng.uniform(-300, 300, (m, n)),
        "decades": lambda: np.exp(rng.normal(scale=8.0, size=(m, n))),
        "prohibitive": lambda: np.where(
            rng.random((m, n)) < 0.5, forbidden, rng.integers(0, 5, (m, n))
        ),
    }[kind]()


def problem(seed):
    """Return r, c and M, of 2 to 12 bins."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 13))
    n = m if rng.random() < 0.7 else int(rng.integers(2, 13))
    r = masses(rng, rng.choice(MASSES), m)
    c = masses(rng, rng.choice(MASSES), n)
    return r, c, costs(rng, rng.choice(COSTS), m, n)


def lost(M):
    """Costs below 1e-548 of the largest lose digits: what they may be off by."""
    return np.abs(M).max() * 1e-290 * 1e-258 + SMALLEST


def stated_gap(t, M):
    """Bound the gap: 2**-40 of the largest cost in use, for each bin and unit of mass.

    docs/trust.md says so.
    """
    used = np.abs(M[t.rows, t.columns]).max()
    return sum(M.shape) * 2.0**-40 * used + lost(M)


def check(r, c, M):
    """Assert margins, feasible potentials and the stated gap; return its share."""
    t = _core.transport(r, c, 1.0, M)
    plan = np.zeros_like(M)
    plan[t.rows, t.columns] = t.flow
    rounding = 8 * max(M.shape) * EPS
    assert np.abs(plan.sum(axis=1) - r).max() <= rounding
    assert np.abs(plan.sum(axis=0) - c).max() <= rounding
    u, v = t.u[:, None], t.v[None, :]
    slack = 4 * EPS * (np.abs(u) + np.abs(v) + np.abs(M)) + lost(M)
    assert (u + v - M <= slack).all()
    used = M[t.rows, t.columns]
    assert abs(t.value - used @ t.flow) <= 1e-13 * (np.abs(used) @ t.flow) + lost(M)
    share = (t.value - t.dual_value) / stated_gap(t, M)
    assert abs(share) <= 1.0
    return share


def test_random_problems_prove_their_results():
    shares = [check(*problem(seed)) for seed in range(10_000)]
    assert max(shares) > 0.0  # not all are exact, or this would show nothing


def forbidden_pairs(n_pairs, price):
    """Yield r, c, M with forbidden arcs, M with a modest price instead, by seed."""
    for seed in range(n_pairs):
        rng = np.random.default_rng([seed, 1])
        d = int(rng.integers(4, 12))
        M = rng.integers(0, 9, (d, d)).astype(float)
        is_forbidden = rng.random((d, d)) < 0.6
        r = rng.permutation(np.arange(d) < d // 2).astype(float)
        c = rng.permutation(np.arange(d) < d // 2).astype(float)
        yield r, c, np.where(is_forbidden, price, M), np.where(is_forbidden, 1e3, M)


@pytest.mark.parametrize("price", [1e14, 1e18, 1e300])
def test_a_prohibitive_cost_without_flow_does_not_blur_the_others(price):
    # Assignments are degenerate: trees hold forbidden arcs that carry nothing.
    n_solved = 0
    for r, c, M, modest in forbidden_pairs(500, price):
        want = gm.emd(r, c, modest)
        if want >= 1e3:  # there is no way around the forbidden arcs
            continue
        n_solved += 1
        t = gm.transport(r, c, M)
        assert t.value == want
        assert abs(t.duality_gap) <= 1e-12 * max(want, 1.0)
        assert gm.pairwise_emd([r], [c], metric=M)[0, 0] == want
        batch = gm.TransportBatch([r], [[0, 0]], Y=[c])
        for cost in (M, modest, M):
            assert batch.solve(cost).values[0] == want
    assert n_solved > 100


def test_small_costs_keep_their_digits_beside_the_largest_double():
    far = np.finfo(float).max
    M = np.array([[1e-6, far], [far, 3e-6]])
    t = gm.transport([0.5, 0.5], [0.5, 0.5], M)
    assert t.value == pytest.approx(2e-6, rel=1e-15)
    assert abs(t.duality_gap) <= 1e-15 * t.value


def test_costs_of_empty_bins_do_not_spoil_the_proof():
    # Bins 1 are empty, and cost far more or less than the only arc in use.
    M = np.array([[1.8e63, -6.9e274], [-1.26e98, 7.47e191]])
    t = gm.transport([1.0, 0.0], [1.0, 0.0], M)
    assert (t.value, t.duality_gap) == (1.8e63, 0.0)
    # Only the row of bin 1 is empty; its potential is -1e276.
    M = np.array([[2.0, 5e252], [-1.3e276, 1.0]])
    t = gm.transport([1.0, 0.0], [0.5, 0.5], M)
    assert t.value == 2.5e252
    assert abs(t.duality_gap) <= 1e-15 * t.value


if __name__ == "__main__":
    n_problems = int(sys.argv[1])
    shares = [check(*problem(seed)) for seed in range(n_problems)]
    share = max(shares)
    sys.stdout.write(f"{n_problems} problems; largest gap {share:.1e} of the bound\n")
