"""Exact distances at every size and for every cost, ours and POT's, on one thread.

The last rows compare two threads inside one solve with one.

``python benchmarks/sizes.py --plot sizes.svg`` measures and draws time against size.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import ot
from measure import HEADER, Row, line_of, seconds, side_by_side
from scipy.spatial.distance import cdist

import groundmetric as gm

try:
    import peers
except ImportError as error:
    peers = None
    missing = error

KINDS = ("Euclidean", "squared Euclidean", "random")
# Pairs and rounds for each number of bins; bars for each kind.
SIZES = {64: (200, 25), 128: (100, 15), 256: (20, 9), 512: (8, 7), 1024: (2, 6),
         2048: (1, 5), 4096: (1, 4)}  # fmt: skip
BARS = {64: (10, 5, 5), 128: (10, 5, 5), 256: (10, 5, 5), 512: (10, 5, 5),
        1024: (8, 4, 5), 2048: (4, 3, 4), 4096: (4, 3, 4)}  # fmt: skip
SAME = 1e-12  # of the value


@dataclass(frozen=True)
class Case:
    """Pairs (X[k], Y[k]) and the costs between their bins."""

    X: np.ndarray
    Y: np.ndarray
    M: np.ndarray

    @classmethod
    def of(cls, kind: str, m: int, n: int, n_pairs: int, *, support: int = 0) -> "Case":
        """Make dense histograms, or histograms with as many bins as `support`."""
        rng = np.random.default_rng([m, n])
        X, Y = rng.random((n_pairs, m)), rng.random((n_pairs, n))
        if support:
            for row in (*X, *Y):
                row[rng.permutation(len(row))[support:]] = 0.0
        points = rng.random((max(m, n), 2))
        M = {
            "Euclidean": lambda: cdist(points[:m], points[:n]),
            "squared Euclidean": lambda: cdist(points[:m], points[:n], "sqeuclidean"),
            "random": lambda: rng.random((m, n)),
        }[kind]()
        return cls(
            X / X.sum(axis=1, keepdims=True), Y / Y.sum(axis=1, keepdims=True), M
        )

    def solve(self, n_jobs: int = 1) -> gm.BatchSolution:
        """Solve all pairs in one batch."""
        pairs = np.repeat(np.arange(len(self.X)), 2).reshape(-1, 2)
        batch = gm.TransportBatch(self.X, pairs, Y=self.Y, n_jobs=n_jobs)
        return batch.solve(self.M)

    def each(self, distance: Callable[..., float]) -> list[float]:
        """Call a function for each pair."""
        return [distance(r, c, self.M) for r, c in zip(self.X, self.Y, strict=True)]


class Measured(NamedTuple):
    """Seconds a pair, the least of all rounds, and pivots a pair."""

    batch: float
    emd: float
    pot: float
    pivots: float


def by_pot(r: np.ndarray, c: np.ndarray, M: np.ndarray) -> float:
    """Call POT's network simplex, which is LEMON's, until it is done."""
    return ot.emd2(r, c, M, check_marginals=False, numItermax=10**9)


def require_same(found: np.ndarray, expected: np.ndarray, name: str) -> None:
    """Raise if values differ."""
    error = np.abs(found / expected - 1).max()
    if error > SAME:
        raise RuntimeError(f"{name} differs by {error:.1e} of the value.")


def require_certificate(
    t: gm.Transport, r: np.ndarray, c: np.ndarray, M: np.ndarray
) -> None:
    """Raise unless the plan has its marginals and the potentials prove it optimal."""
    u, v = t.potentials
    left = np.bincount(t.rows, t.flow, len(r)) - r
    right = np.bincount(t.cols, t.flow, len(c)) - c
    feasible = min((M[i] - u[i] - v).min() for i in range(len(r)))
    checks = {
        "marginals": max(np.abs(left).max(), np.abs(right).max()),
        "feasibility": -feasible / np.abs(M).max(),
        "gap": abs(t.value - u @ r - v @ c) / t.value,
    }  # fmt: skip
    for name, error in checks.items():
        if error > SAME:
            raise RuntimeError(f"The certificate fails: {name} {error:.1e}.")


def measure(case: Case, rounds: int) -> Measured:
    """Take turns, and check all values and the first certificate."""
    n = len(case.X)
    times = []
    for _ in range(rounds):
        solution, single, pot = [], [], []
        times.append((
            seconds(lambda: solution.append(case.solve())) / n,  # noqa: B023
            seconds(lambda: single.append(gm.emd(case.X[0], case.Y[0], case.M))),  # noqa: B023
            seconds(lambda: pot.extend(case.each(by_pot))) / n,  # noqa: B023
        ))  # fmt: skip
        require_same(solution[0].values, np.array(pot), "POT")
        require_same(np.array(single), np.array(pot[:1]), "emd()")
    require_certificate(solution[0].transport(0), case.X[0], case.Y[0], case.M)
    return Measured(*np.min(times, axis=0), solution[0].n_pivots.mean())


def as_rows(what: str, found: Measured, bar: float) -> Iterator[Row]:
    """Make a row for a batch and one for a single call."""
    pot = f"{found.pot * 1e3:,.3f} ms"
    each = (found.batch / found.pivots) * 1e6
    yield Row(
        what, f"{found.batch * 1e3:,.3f} ms", pot, found.pot / found.batch, bar,
        f"{found.pivots:,.0f} pivots, {each:.2f} us each",
    )  # fmt: skip
    yield Row(
        f"{what}, emd()", f"{found.emd * 1e3:,.3f} ms", pot, found.pot / found.emd, 1
    )


def exponent(times: dict[int, float]) -> float:
    """Slope of the line through the logarithms of time and size."""
    return np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0]


def dense_rows(kept: dict[str, dict[int, Measured]]) -> Iterator[Row]:
    """Dense histograms of all sizes; keeps what was measured."""
    for d, (n_pairs, rounds) in SIZES.items():
        for kind, bar in zip(KINDS, BARS[d], strict=True):
            found = measure(Case.of(kind, d, d, n_pairs), rounds)
            kept.setdefault(kind, {})[d] = found
            yield from as_rows(f"{kind}, d = {d:,}", found, bar)


def other_rows() -> Iterator[Row]:
    """Sparse histograms, and two sets of bins."""
    for kind in KINDS:
        case = Case.of(kind, 10_000, 10_000, 3, support=100)
        yield from as_rows(f"{kind}, 100 of 10,000 bins", measure(case, 3), 1)
    for kind in KINDS:
        case = Case.of(kind, 50, 2000, 3)
        yield from as_rows(f"{kind}, 50 x 2,000 bins", measure(case, 5), 1)


def peer_rows(d: int = 512) -> Iterator[Row]:
    """Other solvers at one size, one pair each."""
    if peers is None:
        print(f"Other solvers are left out: {missing}.")
        return
    solvers = {"OR-Tools": peers.by_ortools, "HiGHS": peers.by_highs}
    for kind in KINDS:
        case = Case.of(kind, d, d, 1)
        ours = min(seconds(case.solve) for _ in range(20))
        value = case.solve().values[0]
        for name, solver in solvers.items():
            found: list[float] = []
            theirs = seconds(lambda: found.extend(case.each(solver)))  # noqa: B023
            if abs(found[0] / value - 1) > peers.AGREE:
                raise RuntimeError(f"{name} differs: {found[0]} and {value}.")
            yield Row(
                f"{kind}, d = {d}, {name}", f"{ours * 1e3:,.1f} ms",
                f"{theirs * 1e3:,.0f} ms", theirs / ours, 1,
            )  # fmt: skip


def thread_rows() -> Iterator[Row]:
    """Two threads that share one solve, and one."""
    for d in (2048, 4096):
        case = Case.of("squared Euclidean", d, d, 1)
        two, one, ratio = side_by_side(
            lambda: seconds(lambda: case.solve(2)),  # noqa: B023
            lambda: seconds(case.solve),  # noqa: B023
        )
        yield Row(
            f"squared Euclidean, d = {d:,}, two threads", f"{two * 1e3:,.1f} ms",
            f"{one * 1e3:,.1f} ms (one)", ratio, 1.2,
        )  # fmt: skip


def rows(kept: dict[str, dict[int, Measured]] | None = None) -> Iterator[Row]:
    """All rows."""
    yield from dense_rows({} if kept is None else kept)
    yield from other_rows()
    yield from peer_rows()
    yield from thread_rows()


def exponents(kept: dict[str, dict[int, Measured]]) -> str:
    """Say how time grows with size."""
    slope = {
        kind: [exponent({d: x[k] for d, x in found.items()}) for k in (0, 2)]
        for kind, found in kept.items()
    }
    return "Time grows as d to the power of " + "; ".join(
        f"{kind}: {ours:.2f} (POT {pot:.2f})" for kind, (ours, pot) in slope.items()
    ) + "."  # fmt: skip


def draw(kept: dict[str, dict[int, Measured]], path: Path) -> None:
    """Time against size, both on logarithmic axes."""
    figure, axes = plt.subplots(1, len(kept), figsize=(9, 3.2), sharey=True)
    for ax, (kind, found) in zip(axes, kept.items(), strict=True):
        for k, name, style in ((2, "POT", "o--"), (0, "groundmetric", "o-")):
            times = {d: x[k] for d, x in found.items()}
            label = f"{name}, $d^{{{exponent(times):.2f}}}$"
            ax.loglog(list(times), np.array(list(times.values())) * 1e3, style, ms=3,
                      label=label)  # fmt: skip
        ax.set(title=f"{kind} costs", xlabel="bins, $d$")
        ax.legend(frameon=False)
    axes[0].set_ylabel("ms a pair, one thread")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Measure dense histograms, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, required=True, help="file to draw into")
    kept: dict[str, dict[int, Measured]] = {}
    options = parser.parse_args()
    print(HEADER)
    for row in dense_rows(kept):
        print(line_of(**asdict(row)), flush=True)
    print(exponents(kept))
    draw(kept, options.plot)


if __name__ == "__main__":
    main()
