"""Check what `experiments.stability` names, on data made with known bins.

Histograms are drawn from Dirichlet distributions on 40 bins. In "known", the first two
bins have three times their mass in one class, the next two in the other; elsewhere
there is nothing to learn: in "none", all bins are alike, in "uneven", the k-th has mass
in proportion to 1 / k. "bootstrap" counts the pairs that are listed in 80 % of
bootstrap draws instead of halves, with lists as long. Run it as

    python benchmarks/stable.py --repeats 30
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


def n_right(pairs: NDArray[np.int64]) -> tuple[int, int]:
    """Count the pairs with a known bin, and those without."""
    right = int((pairs < N_KNOWN).any(axis=1).sum())
    return right, len(pairs) - right


def of_bootstrap(X: Floats, y: NDArray[np.int64], found: Stability, seed: int) -> int:
    """Count the pairs that are often listed in bootstrap draws."""
    rng = np.random.default_rng(seed)
    listed = []
    for _ in range(N_DRAWS):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(y == k), (y == k).sum()) for k in (0, 1)]
        )
        fit = GroundMetricLearning(n_jobs=1).fit(X[rows], y[rows])
        ratios = ratios_of(fit, found.bins)
        listed.append(extremes(ratios, found.n_listed))
    return int((np.mean(listed, axis=0) >= found.threshold).sum())


def simulated(kind: str, n: int) -> list[str]:
    """Return a row of the table."""
    apart, together, bins, covers, halves, draws = [], [], [], [], [], []
    start = time.process_time()
    for seed in range(n):
        X, y = drawn(kind, np.random.default_rng(seed))
        found = stability(
            GroundMetricLearning(), X, y, n_draws=N_DRAWS, random_state=seed, n_jobs=1
        )
        for named, to in ((found.moved_apart, apart), (found.moved_together, together)):
            pairs = np.array([one[:2] for one in named], dtype=int).reshape(-1, 2)
            to.append(n_right(pairs) if kind == "known" else (0, len(pairs)))
        known = [p for p in found.important if p < N_KNOWN and kind == "known"]
        bins.append((len(known), len(found.important) - len(known)))
        covers.append([(one.mean, one.low, one.high) for one in found.rises])
        draws.append(found)
    halves.append(time.process_time() - start)
    cells = [
        f"{a:.2f} / {b:.2f}" for a, b in map(np.mean, (apart, together, bins), 3 * [0])
    ]
    if kind != "uneven":  # there, the bins looked at differ
        ends = np.array(covers)  # (n, 40, 3)
        true = ends[..., 0].mean(axis=0)
        inside = (ends[..., 1] <= true) & (true <= ends[..., 2])
        cells += [
            f"{inside[:, :N_KNOWN].mean():.1%}",
            f"{inside[:, N_KNOWN:].mean():.1%}",
        ]
    else:
        cells += ["", ""]
    few = [
        of_bootstrap(*drawn(kind, np.random.default_rng(seed)), draws[seed], seed)
        for seed in range(n)
    ]
    cells.append(f"{np.mean(few):.2f}")
    return [*cells, f"{halves[0] / n:.1f} s"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30, help="data sets of a row")
    n = parser.parse_args().repeats
    print("Named per data set: with a known bin / without")
    print(
        "| data | pairs apart | pairs together | bins | covers, known | covers, others "
        "| pairs apart, bootstrap | CPU time |"
    )
    print("|:---|---:|---:|---:|---:|---:|---:|---:|")
    for kind in KINDS:
        print(f"| {kind} | {' | '.join(simulated(kind, n))} |", flush=True)


if __name__ == "__main__":
    main()
