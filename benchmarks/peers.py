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
    ("pyemd", by_pyemd, 60),
    ("ortools", by_ortools, 60),
    ("scipy", by_highs, 4),
)


def again_row(X: np.ndarray, rng: np.random.Generator) -> Row:
    """Solve after a small change of the metric, with POT's potentials of before."""
    M = euclidean_metric(rng, X.shape[1])
    pairs = random_pairs(rng, len(X), 200)
    noise = rng.uniform(-1, 1, M.shape)
    nearby = M * (1 + 1e-3 * (noise + noise.T) / 2)
    logs = [ot.emd2(X[i], X[j], M, log=True)[1] for i, j in pairs]
    potentials = [(log["u"], log["v"]) for log in logs]

    def ours() -> float:
        batch = gm.TransportBatch(X, pairs)
        batch.solve(M)
        return seconds(lambda: batch.solve(nearby)) / len(pairs)

    def peer() -> float:
        def task() -> None:
            for (i, j), both in zip(pairs, potentials, strict=True):
                ot.emd2(X[i], X[j], nearby, check_marginals=False, potentials_init=both)

        return seconds(task) / len(pairs)

    mine, theirs, ratio = side_by_side(ours, peer)
    return Row(
        "POT, potentials_init",
        microseconds(mine),
        microseconds(theirs),
        ratio,
        1,
        "metric changed by 0.1 %",
    )


def rows(X: np.ndarray) -> Iterator[Row]:
    """All rows, for histograms X with 128 bins."""
    rng = np.random.default_rng(0)
    M = euclidean_metric(rng, X.shape[1])
    for name, distance, n_pairs in PEERS:
        pairs = random_pairs(rng, len(X), n_pairs)
        expected = gm.TransportBatch(X, pairs).solve(M).values

        def peer() -> float:
            found = []

            def task() -> None:
                found.extend(distance(X[i], X[j], M) for i, j in pairs)  # noqa: B023

            duration = seconds(task) / len(pairs)  # noqa: B023
            if np.abs(found - expected).max() > AGREE * expected.max():  # noqa: B023
                raise RuntimeError(f"{name} and groundmetric disagree.")  # noqa: B023
            return duration

        ours, theirs, ratio = side_by_side(
            lambda: cold(X, pairs, M),  # noqa: B023
            peer,
            ROUNDS,
        )
        yield Row(
            f"{name}, d = {X.shape[1]}",
            microseconds(ours),
            microseconds(theirs),
            ratio,
            1,
        )
    yield again_row(X, rng)
