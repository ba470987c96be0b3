"""
Compositions: several published scales, of which some are wrong
===============================================================

Your histograms are compositions, such as the elements of an alloy, and the literature
has several scales on which elements can be compared: radius, electronegativity, a
table of vectors. Which scale counts? This tutorial uses all of them, without choosing,
and shows what a useless scale does. Everything in it is made up.
"""

# %%
# Made-up elements
# ----------------
#
# Forty elements have two properties that nobody has measured. Scales know something of
# them: scale A is the first property, scale B the second, both with errors. Vectors of
# eight coordinates mix both properties with noise. A last scale is useless: random
# numbers.

from dataclasses import asdict

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.experiments import Method, Predictor, cross_validate

N_ELEMENTS, N = 40, 600
rng = np.random.default_rng(0)
hidden = rng.normal(size=(N_ELEMENTS, 2))
scale_a = hidden[:, :1] + rng.normal(0, 0.4, (N_ELEMENTS, 1))
scale_b = hidden[:, 1:] + rng.normal(0, 0.4, (N_ELEMENTS, 1))
noise = rng.normal(0, 0.7, (N_ELEMENTS, 8))
vectors = hidden @ rng.normal(size=(2, 8)) + noise
useless = rng.normal(size=(N_ELEMENTS, 1))
scales = {"A": scale_a, "B": scale_b, "vectors": vectors, "useless": useless}

# %%
# A composition has two to five elements. Whether it is of class 1 depends on the mean
# of its elements' first property, on that of the second, and on a small effect that is
# the element's own.

X = np.zeros((N, N_ELEMENTS))
for row in X:
    elements = rng.choice(N_ELEMENTS, rng.integers(2, 6), replace=False)
    row[elements] = rng.dirichlet(np.full(len(elements), 2.0))
merit = hidden @ [1.0, 0.5] + rng.normal(0, 0.3, N_ELEMENTS)
y = (X @ merit > np.median(X @ merit)).astype(int)
print(X.shape, np.bincount(y))
print("the first:", {f"E{p}": round(float(X[0, p]), 2) for p in np.flatnonzero(X[0])})

# %%
# All scales in one learner
# -------------------------
#
# With fifty compositions to learn from, an element is in about four of them, and some
# are in none: labels alone say little about it. Its place on the scales says more.
# :class:`~groundmetric.DiscriminantMetricLearning` takes a list of scales as
# ``points``, in any units, and lets elements be near each other that are near on
# average. :class:`~groundmetric.CombinedMetricLearning` learns how much each scale
# counts; it takes distances. Its ``power=1`` leaves the shares as they are.

N_TRAIN = 50
distances = {name: cdist(scale, scale) for name, scale in scales.items()}
good = [scale_a, scale_b, vectors]
direct = gm.DiscriminantMetricLearning()
three = gm.DiscriminantMetricLearning(points=good)
four = gm.DiscriminantMetricLearning(points=[*good, useless])
alone = gm.DiscriminantMetricLearning(points=useless)
combined = gm.CombinedMetricLearning(metrics=list(distances.values()), power=1)

# %%
# For predictions, :class:`~groundmetric.EMDSVC` with the mean of several distances as
# its kernel is often better than nearest neighbors: the EMD of each scale, and
# Hellinger's distance, which counts as much as all scales together and sees each
# element by itself. Nothing is learned but the machine.


def machine(*names):
    """Make a kernel of Hellinger's distance and the EMDs of scales."""
    parts = [distances[name] for name in names]
    weights = [max(len(parts), 1)] + [1] * len(parts)
    return gm.EMDSVC([gm.EMDKernel(distance=["hellinger", *parts], weights=weights)])


def predictor(name, estimator):
    """Measure any classifier of scikit-learn beside the distances."""

    def learn(X, y, _groups):
        return estimator.fit(X, y).predict

    return Predictor(name, name, {}, learn)


# %%
# Eight times, :func:`~groundmetric.experiments.cross_validate` draws fifty compositions
# to learn from. These sets have no composition in common, so that the intervals need no
# correction.

options = {"n_train": N_TRAIN, "n_folds": 4, "n_repeats": 2, "n_neighbors": 5}
outcomes = cross_validate(
    X,
    y,
    methods=[
        "l1",
        "hellinger",
        Method.of(direct, "learned, no scale"),
        Method.of(three, "learned, A, B, vectors"),
        Method.of(four, "learned, all four"),
        Method.of(alone, "learned, useless"),
        Method.of(combined, "combined, all four"),
        "logistic",
        predictor("SVM, no scale", machine()),
        predictor("SVM, A, B, vectors", machine("A", "B", "vectors")),
        predictor("SVM, all four", machine(*scales)),
        predictor("SVM, useless", machine("useless")),
    ],
    **options,
)
outcomes = {one.method: one for one in outcomes}
found = pd.DataFrame({name: asdict(one.error()) for name, one in outcomes.items()}).T
found = found.rename(columns={"mean": "error"}).sort_values("error")
print("errors in %, with 95 % intervals")
print((100 * found[["error", "low", "high"]]).round(1))

# %%
# What a useless scale does
# -------------------------
#
# Without any scale, an element is known only from compositions that were learned from.
# Three good scales about halve the errors. Then what does the useless one cost? All
# methods were measured on the same splits, so that differences have intervals, too:

PAIRS = [
    ("SVM, all four", "SVM, A, B, vectors"),
    ("learned, all four", "learned, A, B, vectors"),
    ("SVM, useless", "SVM, no scale"),
    ("learned, useless", "learned, no scale"),
]
for one, other in PAIRS:
    cost = asdict(outcomes[one].saved_by(outcomes[other]))
    mean, low, high = (100 * cost[key] for key in ("mean", "low", "high"))
    print(f"{one:18s} against {other:23s} {mean:+.1f} [{low:+.1f}, {high:+.1f}]")

# %%
# Among good scales, the useless one costs a point or two, since the others outvote it.
# Alone, it tells the machine nothing. But the learner makes fewer errors with it, and
# chance is no likely reason. Does it know something after all? We try ten other random
# scales, and no scale with more ``shrinkage``:

random = [
    gm.DiscriminantMetricLearning(points=rng.normal(size=(N_ELEMENTS, 1)))
    for _ in range(10)
]
shrunk = gm.DiscriminantMetricLearning(shrinkage=0.5)
steadied = cross_validate(
    X,
    y,
    methods=[
        Method.of(shrunk, "shrunk"),
        *(Method.of(one, f"random {k}") for k, one in enumerate(random)),
    ],
    **options,
)
without, *others = [100 * one.error().mean for one in steadied]
print(f"ten random scales: {min(others):.1f} to {max(others):.1f} % errors")
print(f"no scale, shrinkage 0.5: {without:.1f} % errors")

# %%
# It does not. Any scale ties elements to each other, which steadies what is learned
# from few compositions, and more shrinkage does as much. Trust a scale only if it saves
# more than random ones do; the good ones save far more.
#
# The weights of the combined metric tell which scales count. We learn them from ten
# training sets, as shares in units in which all scales have the same mean distance:

weights = []
order = np.random.default_rng(1).permutation(N)
units = np.array([matrix.mean() for matrix in distances.values()])
for start in range(0, 10 * N_TRAIN, N_TRAIN):
    train = order[start : start + N_TRAIN]
    found_weights = combined.fit(X[train], y[train]).weights_ * units
    weights.append(found_weights / found_weights.sum())
weights = pd.DataFrame(weights, columns=list(distances))
print((100 * weights.describe().loc[["mean", "min", "max"]]).round(0).to_string())

# %%
# The useless scale is found out: its weight falls from 25 % to a few percent with every
# training set. Scale A counts more than B, as it should, since the first property
# matters twice as much. Do not read more into the weights: the vectors know both
# properties, too, and how scales that say the same divide their weight is left to
# chance.

_, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=[1.6, 1]
)
shown = found[::-1]
error = 100 * shown["error"]
ends = [error - 100 * shown["low"], 100 * shown["high"] - error]
colors = ["tab:red" if "useless" in name else "tab:orange" for name in shown.index]
left.barh(list(shown.index), error, xerr=ends, color=colors, ecolor="gray")
left.set_xlabel("errors, % (red: the useless scale alone)")
right.boxplot(100 * weights, tick_labels=list(weights))
right.axhline(25, color="black", lw=0.8, ls=":")
right.set_ylabel("learned weight, % (dotted: where it starts)")
