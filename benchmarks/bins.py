"""Learning from bags of words on many bins: ``python benchmarks/bins.py map``.

Each learner runs in a process of its own, since peaks of memory do not go down. Times
are those of the processor, which other programs do not change as much as a clock's.
"""

import argparse
import math
import resource
import time
import warnings

import numpy as np
from scipy.sparse import csr_array, vstack

import groundmetric as gm

N_WORDS, N_COORDINATES, N_COMPONENTS, N_CLASSES = 80, 50, 10, 5


def bags(n: int, d: int) -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Make bags of words; classes prefer words in some direction of the plane."""
    rng = np.random.default_rng(0)
    points = np.random.default_rng(1).normal(size=(d, N_COORDINATES))
    points[:, 2:] *= 0.7
    centers, y = rng.normal(size=(N_CLASSES, 2)), np.arange(n) % N_CLASSES
    rows = []
    for center in centers[y]:
        odds = np.exp(0.5 * points[:, :2] @ center)
        counts = rng.multinomial(N_WORDS, odds / odds.sum())
        rows.append(csr_array(counts[None].astype(float)))
    return csr_array(vstack(rows)), y, points


def peak() -> float:
    """Most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    """Fit, and print a line for each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    choices = ["map", "energy", "smoothed", "metric", "discriminant"]
    parser.add_argument("learner", choices=choices)
    parser.add_argument("--histograms", type=int, default=500)
    parser.add_argument("--bins", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_args()
    X, y, points = bags(options.histograms, options.bins)
    started, clock, before = time.process_time(), time.perf_counter(), peak()

    def report(step: gm.DescentStep) -> None:
        print(
            f"{step.outer + 1:3} criterion {step.criterion:8.3f} {step.n_solves:7} "
            f"solves, processor {time.process_time() - started:7.1f} s, clock "
            f"{time.perf_counter() - clock:7.1f} s, {peak():5.0f} MB ({before:.0f})",
            flush=True,
        )

    common = {"points": points, "n_jobs": 2, "callbacks": [report]}
    smoothed = {**common, "n_components": N_COMPONENTS, "max_steps": options.steps}
    exact = {**common, "max_steps": options.steps}
    learner = {
        "map": lambda: gm.MappedMetricLearning(n_components=N_COMPONENTS, **exact),
        "metric": lambda: gm.GroundMetricLearning(**exact),
        "energy": lambda: gm.SinkhornMetricLearning(smoothing=math.inf, **smoothed),
        "smoothed": lambda: gm.SinkhornMetricLearning(**smoothed),
        "discriminant": lambda: gm.DiscriminantMetricLearning(points),
    }[options.learner]()
    warnings.simplefilter("ignore", gm.LongFitWarning)
    learner.fit(X, y)
    if options.learner == "discriminant":  # which calls nobody
        report(learner.path_[0])


if __name__ == "__main__":
    main()
