"""Check whether intervals of a verdict hold, and how often they find 4 points of gain.

Both are simulated, with a learner that takes no time: it weights each bin by the
variance between classes over that within them. Labels are shuffled first, so that
nothing can be learned; then bins differ in how noisy they are, so that weights gain
about four percentage points over l1. Run it as

    python benchmarks/coverage.py --repeats 1000

With ``--groups``, histograms come in groups of unequal sizes, such as the samples of
a patient, which are alike and have one label; labels are shuffled among groups. The
table then also has the intervals of someone who does not know the groups, and says
whether those of the error under l1 contain its mean over all data sets, with splits
that do not divide groups.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.spatial.distance import cdist

from groundmetric.experiments import CrossValidation, Estimate, Method, cross_validate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

N_BINS, N_GOOD = 20, 10


class Shape(NamedTuple):
    """Sizes of the classes, how to split, and what makes a gain of four points.

    With groups, sizes are numbers of groups, and ``each`` is their mean size.
    """

    name: str
    sizes: tuple[int, ...]
    n_train: int | None
    signal: float
    noise: float
    each: int = 1


SHAPES = (
    Shape("60 histograms, two classes: folds", (30, 30), None, 0.6, 1.4),
    Shape("540, three classes, learn from 15", (180, 180, 180), 15, 0.8, 1.15),
    Shape(
        "600, ten unequal classes, learn from 60",
        (120, 100, 90, 70, 60, 50, 40, 30, 25, 15), 60, 0.9, 1.15,
    ),
)  # fmt: skip


GROUPED = (
    Shape("20 groups of 3, two classes: folds", (10, 10), None, 0.9, 1.3, 3),
    Shape("60 groups of 3, two classes: folds", (30, 30), None, 0.7, 1.2, 3),
    Shape(
        "180 groups of 4, three classes, learn from 60",
        (60, 60, 60), 60, 0.9, 1.1, 4,
    ),
)  # fmt: skip
ALIKE = 1.0  # deviation of a group, in those of its histograms


def drawn_in_groups(
    shape: Shape, rng: np.random.Generator, *, shuffled: bool
) -> tuple[Floats, NDArray[Any], NDArray[Any]]:
    """Draw histograms of groups, which deviate together from their class."""
    own = np.repeat(np.arange(len(shape.sizes)), shape.sizes)
    groups = np.repeat(
        np.arange(len(own)), rng.integers(1, 2 * shape.each, size=len(own))
    )
    centers = shape.signal * rng.normal(size=(len(shape.sizes), N_GOOD))
    logs = rng.normal(size=(len(groups), N_BINS))
    logs += ALIKE * rng.normal(size=(len(own), N_BINS))[groups]
    logs[:, N_GOOD:] *= shape.noise
    logs[:, :N_GOOD] += centers[own[groups]]
    labels = rng.permutation(own) if shuffled else own
    return np.exp(logs / 2), labels[groups], groups


def drawn(shape: Shape, rng: np.random.Generator) -> tuple[Floats, NDArray[Any]]:
    """Draw histograms: classes differ in the first bins, the others are noise."""
    y = np.repeat(np.arange(len(shape.sizes)), shape.sizes)
    centers = shape.signal * rng.normal(size=(len(shape.sizes), N_GOOD))
    logs = rng.normal(size=(len(y), N_BINS))
    logs[:, N_GOOD:] *= shape.noise
    logs[:, :N_GOOD] += centers[y]
    return np.exp(logs / 2), y


def plain(_X: Floats, _y: NDArray[Any], _n_jobs: int | None) -> Callable[..., Floats]:
    """Compare histograms by l1."""
    return lambda left, right: cdist(left, right, "cityblock")


def weighted(X: Floats, y: NDArray[Any], _n_jobs: int | None) -> Callable[..., Floats]:
    """Weight bins by how well they separate the classes."""
    parts = [X[y == label] for label in np.unique(y)]
    within = np.mean([part.var(axis=0) for part in parts if len(part) > 1], axis=0)
    weights = X.var(axis=0) / (within + 1e-6) ** 1.5
    return lambda left, right: cdist(left * weights, right * weights, "cityblock")


METHODS = (Method("l1", "l1", {}, plain), Method("own", "own", {}, weighted))


def overlapping(plain: CrossValidation, own: CrossValidation) -> tuple[float, float]:
    """Compute the old interval: Student's over splits, for test sets that overlap."""
    gains = np.subtract(plain.knn_errors, own.knn_errors)
    design = plain.design
    rest = len(design.y) - design.n_test
    ratio = design.n_test / (design.n_train if design.kind == "folds" else rest)
    t = stats.t.ppf(0.975, len(gains) - 1)
    half = t * gains.std(ddof=1) * np.sqrt(1 / len(gains) + ratio)
    return float(gains.mean() - half), float(gains.mean() + half)


def simulated(shape: Shape, n: int, *, shuffled: bool) -> dict[str, float]:
    """Shares of intervals that contain zero, or lie above it; and the mean gain."""
    ends, old, gains = [], [], []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        X, y = drawn(shape, rng)
        if shuffled:
            y = rng.permutation(y)
        l1, own = cross_validate(
            X, y, methods=METHODS, n_train=shape.n_train, seed=seed, n_jobs=1,
            n_repeats=4 if len(shape.sizes) == 3 else 2,  # noqa: PLR2004
        )  # fmt: skip
        saved = l1.saved_by(own)
        ends.append((saved.low, saved.high))
        old.append(overlapping(l1, own))
        gains.append(saved.mean)
    found = {}
    for name, each in (("now", np.array(ends)), ("before", np.array(old))):
        found[f"covers, {name}"] = float(np.mean((each[:, 0] <= 0) & (each[:, 1] >= 0)))
        found[f"finds, {name}"] = float(np.mean(each[:, 0] > 0))
    return found | {"gain": float(np.mean(gains))}


def simulated_in_groups(shape: Shape, n: int, *, shuffled: bool) -> dict[str, float]:
    """Return the same shares if groups are known, and if they are not."""
    ends: dict[str, list[tuple[float, float]]] = {"known": [], "ignored": []}
    errors: dict[str, list[Estimate]] = {"known": [], "ignored": []}
    gains = []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        X, y, groups = drawn_in_groups(shape, rng, shuffled=shuffled)
        for name, given in (("known", groups), ("ignored", None)):
            l1, own = cross_validate(
                X, y, groups=given, methods=METHODS, n_train=shape.n_train, seed=seed,
                n_jobs=1,
            )  # fmt: skip
            saved = l1.saved_by(own)
            ends[name].append((saved.low, saved.high))
            errors[name].append(l1.error())
            gains += [saved.mean] if given is not None else []
    truth = float(np.mean([error.mean for error in errors["known"]]))
    found = {"gain": float(np.mean(gains)), "error": truth}
    for name, each in ends.items():
        low, high = np.array(each).T
        found[f"covers, {name}"] = float(np.mean((low <= 0) & (high >= 0)))
        found[f"finds, {name}"] = float(np.mean(low > 0))
        held = [one.low <= truth <= one.high for one in errors[name]]
        found[f"error covers, {name}"] = float(np.mean(held))
    return found


def main_of_groups(n: int) -> None:
    """Print the table of groups."""
    print(
        "| data | nothing to learn: gain contains 0 | error contains the mean of all | "
        "mean gain | found |"
    )
    print("|:---|---:|---:|---:|---:|")
    for shape in GROUPED:
        null, gain = (
            simulated_in_groups(shape, n, shuffled=shuffled)
            for shuffled in (True, False)
        )
        print(
            f"| {shape.name} | {null['covers, known']:.1%} "
            f"({null['covers, ignored']:.1%} if groups are ignored) "
            f"| {null['error covers, known']:.1%} "
            f"({null['error covers, ignored']:.1%}) of {null['error']:.1%} "
            f"| {100 * gain['gain']:.1f} | {gain['finds, known']:.0%} |",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000, help="data sets of a row")
    parser.add_argument("--groups", action="store_true", help="data in groups")
    given = parser.parse_args()
    n = given.repeats
    if given.groups:
        main_of_groups(n)
        return
    print("| data | nothing to learn: contains 0 | mean gain | found |")
    print("|:---|---:|---:|---:|")
    for shape in SHAPES:
        null, gain = (simulated(shape, n, shuffled=shuffled) for shuffled in (1, 0))
        print(
            f"| {shape.name} | {null['covers, now']:.1%} | {100 * gain['gain']:.1f} "
            f"| {gain['finds, now']:.0%} ({gain['finds, before']:.0%}) |",
            flush=True,
        )


if __name__ == "__main__":
    main()
