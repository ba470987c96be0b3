"""Check what `experiments.stability` names, on data made with known bins.

Histograms are drawn from Dirichlet distributions on 40 bins. In "known", the first two
bins have three times their mass in one class, the next two in the other; elsewhere
there is nothing to learn: in "none", all bins are alike, in "uneven", the k-th has mass
in proportion to 1 / k. An interval covers if it contains the mean over all data sets.
Run it as

    python benchmarks/stable.py --repeats 20

With ``--bootstrap``, it prints instead the largest share that any pair has where there
is nothing to learn, in halves and in bootstrap draws, with lists as long.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from groundmetric import GroundMetricLearning
from groundmetric.experiments import Stability, stability
from groundmetric.experiments.movements import extremes, ratios_of

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

N_BINS, N_KNOWN, N_ROWS = 40, 4, 60
MORE = 3.0  # times the mass of a known bin in its class
CONCENTRATION = 20.0
N_DRAWS = 30
LEAST = 1e-12  # of a mass, before histograms are scaled
KINDS = "known", "none", "uneven"


def drawn(kind: str, rng: Generator) -> tuple[Floats, NDArray[np.int64]]:
    """Draw histograms of two classes."""
    masses = np.ones((2, N_BINS))
    if kind == "uneven":
        masses /= np.arange(1, N_BINS + 1)
    if kind == "known":
        half = N_KNOWN // 2
        masses[0, :half] *= MORE
        masses[1, half:N_KNOWN] *= MORE
    masses *= CONCENTRATION / masses.sum(axis=1, keepdims=True)
    y = np.repeat([0, 1], N_ROWS // 2)
    X = np.array([rng.dirichlet(masses[label]) for label in y])
    return np.maximum(X, LEAST), y


def largest_of_bootstrap(
    X: Floats, y: NDArray[np.int64], found: Stability, seed: int
) -> float:
    """Return the largest share of a pair in the lists of bootstrap draws."""
    rng = np.random.default_rng(seed)
    listed = []
    for _ in range(N_DRAWS):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == k), (y == k).sum()) for k in (0, 1)]
        )
        fit = GroundMetricLearning(n_jobs=1).fit(X[rows], y[rows])
        listed.append(extremes(ratios_of(fit, found.bins), found.n_listed))
    return float(np.mean(listed, axis=0).max())


def looked_at(kind: str, seed: int) -> Stability:
    """Learn on draws of one data set."""
    X, y = drawn(kind, np.random.default_rng(seed))
    learner = GroundMetricLearning(n_jobs=1)
    return stability(learner, X, y, n_draws=N_DRAWS, random_state=seed, n_jobs=1)


def simulated(kind: str, n: int) -> list[str]:
    """Return a row of the table."""
    start = time.process_time()
    every = [looked_at(kind, seed) for seed in range(n)]
    seconds = (time.process_time() - start) / n
    n_known = N_KNOWN if kind == "known" else 0
    cells = []
    for name in ("moved_apart", "moved_together", "important"):
        lists = [getattr(found, name) for found in every]
        right = [
            sum(
                p < n_known if name == "important" else min(p[:2]) < n_known
                for p in one
            )
            for one in lists
        ]
        wrong = np.mean([len(one) for one in lists]) - np.mean(right)
        cells.append(f"{np.mean(right):.2f} / {wrong:.2f}")
    if kind == "uneven":  # the bins looked at differ
        return [*cells, "", "", f"{seconds:.1f} s"]
    ends = np.array([[[x.mean, x.low, x.high] for x in one.rises] for one in every])
    true = ends[..., 0].mean(axis=0)
    inside = (ends[..., 1] <= true) & (true <= ends[..., 2])
    known = f"{inside[:, :n_known].mean():.1%}" if n_known else ""
    return [*cells, known, f"{inside[:, n_known:].mean():.1%}", f"{seconds:.1f} s"]


def compared(n: int) -> None:
    """Print the largest shares of halves and of bootstrap draws."""
    shares = []
    for seed in range(n):
        found = looked_at("none", seed)
        X, y = drawn("none", np.random.default_rng(seed))
        of_other = largest_of_bootstrap(X, y, found, seed)
        shares.append((found.apart.max(), of_other))
    for name, each in zip(
        ("halves", "bootstrap draws"), np.transpose(shares), strict=True
    ):
        print(f"{name}: mean {np.mean(each):.0%}, largest {max(each):.0%}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="data sets of a row")
    parser.add_argument("--bootstrap", action="store_true")
    parser.add_argument("--kinds", nargs="+", default=KINDS, help="rows of the table")
    given = parser.parse_args()
    n = given.repeats
    if given.bootstrap:
        compared(n)
        return
    print("Named per data set: with a known bin / without")
    print(
        "| data | pairs apart | pairs together | bins | covers, known | covers, others "
        "| CPU time |"
    )
    print("|:---|---:|---:|---:|---:|---:|---:|")
    for kind in given.kinds:
        print(f"| {kind} | {' | '.join(simulated(kind, n))} |", flush=True)


if __name__ == "__main__":
    main()
