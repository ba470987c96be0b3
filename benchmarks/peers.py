"""The same exact distances by other packages, pair by pair, on one thread."""

from collections.abc import Callable, Iterator

import numpy as np
import ot
import pyemd
from measure import Row, microseconds, seconds, side_by_side
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow
from scipy.optimize import linprog
from scipy.sparse import kron, vstack
from transport import cold, euclidean_metric, random_pairs

import groundmetric as gm

ROUNDS = 3
# OR-Tools takes whole numbers: masses and costs in these units. pyemd rounds by itself.
UNITS = 10**7
# Of the largest distance.
AGREE = 1e-4

Distance = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def by_pyemd(r: np.ndarray, c: np.ndarray, M: np.ndarray) -> float:
    """Call the code of Pele and Werman (FastEMD)."""
    return pyemd.emd(r, c, M, backend="cpp")


def whole(r: np.ndarray) -> np.ndarray:
    """Round a histogram to whole units; the largest bin takes the rest."""
    rounded = np.rint(r * UNITS).astype(np.int64)
    rounded[rounded.argmax()] += UNITS - rounded.sum()
    return rounded


def by_ortools(r: np.ndarray, c: np.ndarray, M: np.ndarray) -> float:
    """Call Google's minimum-cost flow, by cost scaling."""
    left, right = np.flatnonzero(r), np.flatnonzero(c)
    tails, heads = np.meshgrid(
        np.arange(len(left)), len(left) + np.arange(len(right)), indexing="ij"
    )
    costs = np.rint(M[np.ix_(left, right)] / M.max() * UNITS).astype(np.int64)
    flow = SimpleMinCostFlow()
    flow.add_arcs_with_capacity_and_unit_cost(
        tails.ravel(), heads.ravel(), np.full(costs.size, UNITS), costs.ravel()
    )
    supplies = np.r_[whole(r)[left], -whole(c)[right]]
    flow.set_nodes_supplies(np.arange(len(supplies)), supplies)
    if flow.solve() != flow.OPTIMAL:
        raise RuntimeError("OR-Tools found no optimum.")
    return flow.optimal_cost() / UNITS**2 * M.max()


def by_highs(r: np.ndarray, c: np.ndarray, M: np.ndarray) -> float:
    """Solve SciPy's linear program (HiGHS), all constraints but the last."""
    d = len(r)
    one, each = np.ones((1, d)), np.eye(d)
    marginals = vstack([kron(each, one), kron(one, each)], format="csr")[:-1]
    return linprog(M.ravel(), A_eq=marginals, b_eq=np.r_[r, c][:-1]).fun


PEERS: tuple[tuple[str, Distance, int], ...] = (
    ("pyemd", pyemd.emd, 60),  # calls POT, by default
    ("pyemd's C++ code", by_pyemd, 60),
    ("ortools", by_ortools, 60),
    ("scipy", by_highs, 20),
)


def require_same(found: object, expected: np.ndarray, name: str) -> None:
    """Refuse to compare the times of different distances."""
    if np.abs(found - expected).max() > AGREE * expected.max():
        raise RuntimeError(f"{name} and groundmetric disagree.")


def cold_row(
    X: np.ndarray, M: np.ndarray, pairs: np.ndarray, name: str, distance: Distance
) -> Row:
    """Solve from scratch."""
    expected = gm.TransportBatch(X, pairs).solve(M).values

    def peer() -> float:
        found: list[float] = []
        duration = seconds(
            lambda: found.extend(distance(X[i], X[j], M) for i, j in pairs)
        )
        require_same(np.array(found), expected, name)
        return duration / len(pairs)

    ours, theirs, ratio = side_by_side(lambda: cold(X, pairs, M), peer, ROUNDS)
    what = f"{name}, d = {X.shape[1]}"
    return Row(what, microseconds(ours), microseconds(theirs), ratio, 1)


def again_row(X: np.ndarray, M: np.ndarray, pairs: np.ndarray) -> Row:
    """Solve after a small change of the metric; POT starts from its old potentials."""
    noise = np.random.default_rng(1).uniform(-1, 1, M.shape)
    nearby = M * (1 + 1e-3 * (noise + noise.T) / 2)
    logs = [ot.emd2(X[i], X[j], M, log=True)[1] for i, j in pairs]
    potentials = [(log["u"], log["v"]) for log in logs]
    expected = gm.TransportBatch(X, pairs).solve(nearby).values

    def ours() -> float:
        batch = gm.TransportBatch(X, pairs)
        batch.solve(M)
        return seconds(lambda: batch.solve(nearby)) / len(pairs)

    def peer() -> float:
        found: list[float] = []

        def task() -> None:
            for (i, j), both in zip(pairs, potentials, strict=True):
                found.append(
                    ot.emd2(
                        X[i], X[j], nearby, check_marginals=False, potentials_init=both
                    )
                )

        duration = seconds(task)
        require_same(np.array(found), expected, "POT")
        return duration / len(pairs)

    mine, theirs, ratio = side_by_side(ours, peer)
    return Row(
        "POT, potentials_init", microseconds(mine), microseconds(theirs), ratio, 1,
        "metric changed by 0.1 %",
    )  # fmt: skip


def rows(X: np.ndarray) -> Iterator[Row]:
    """All rows, for histograms X with 128 bins."""
    rng = np.random.default_rng(0)
    M = euclidean_metric(rng, X.shape[1])
    for name, distance, n_pairs in PEERS:
        pairs = random_pairs(rng, len(X), n_pairs)
        yield cold_row(X, M, pairs, name, distance)
    yield again_row(X, M, random_pairs(rng, len(X), 200))
