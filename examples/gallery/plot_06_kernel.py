"""
A kernel for support vector machines
====================================

A distance d gives rise to the kernel exp(-d / sigma). For the earth mover's distance it
need not be positive definite. If it is not, :class:`~groundmetric.EMDKernel` adds the
necessary shift to the diagonal, and reports it.
"""

# %%
# We take three digits that are easily confused, with ten training images of each, in
# five random splits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.experiments import C_GRID, SIGMA_GRID

digits = load_digits_histograms([3, 5, 8])
splits = StratifiedShuffleSplit(5, train_size=30, random_state=0)

# %%
# The kernel and the support vector machine form a pipeline. Cross-validation on the
# training images selects sigma and C from the paper's grids.


def search(metric, X, y):
    """Fit a support vector machine with this ground metric, or this distance."""
    steps = make_pipeline(gm.EMDKernel(distance=metric), SVC(kernel="precomputed"))
    grid = {"emdkernel__multiple": SIGMA_GRID, "svc__C": C_GRID}
    return GridSearchCV(steps, grid, cv=3).fit(X, y)


row, column = np.indices((8, 8)).reshape(2, -1)
pixels = np.hypot(row - row[:, None], column - column[:, None])


def learn(X, y):
    """Learn a metric for the histograms as they are, without square roots."""
    return gm.GroundMetricLearning(power=1.0).fit(X, y)


errors = []
for train, test in splits.split(digits.X, digits.y):
    X, y, X_test, y_test = (
        digits.X[train],
        digits.y[train],
        digits.X[test],
        digits.y[test],
    )
    found = {
        "Hellinger": search("hellinger", X, y),
        "EMD, pixel distances": search(pixels, X, y),
        "EMD, learned": search(learn(X, y), X, y),
    }
    errors.append([1 - machine.score(X_test, y_test) for machine in found.values()])

mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1)
for name, middle, around in zip(found, mean, spread, strict=True):
    print(f"{name:25s} {middle:.1%} errors, std. dev. {around:.1%}")

# %%
# Was the kernel positive definite in the last split? If so, nothing was added to the
# diagonal. The last line shows the selected parameters.

kernel = found["EMD, learned"].best_estimator_.named_steps["emdkernel"]
print("smallest eigenvalue:", round(kernel.smallest_eigenvalue_, 4))
print("added to the diagonal:", round(kernel.shift_, 4))
print(found["EMD, learned"].best_params_)

# %%
# The Gram matrix of the training images, ordered by class, and the confusion matrix on
# the test images:

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
order = np.argsort(y, kind="stable")
left.imshow(kernel.gram_[np.ix_(order, order)], cmap="viridis")
left.set(title="Gram matrix: 3, 5, 8", xticks=[], yticks=[])
ConfusionMatrixDisplay.from_estimator(
    found["EMD, learned"], X_test, y_test, ax=right, colorbar=False
)
