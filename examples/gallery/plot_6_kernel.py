"""
A kernel for support vector machines
====================================

From a distance d comes the kernel exp(-d / sigma). With the earth mover's distance it
need not be positive definite; :class:`~groundmetric.EMDKernel` adds to its diagonal
what is missing, and says how much that was.
"""

# %%
# Three digits that are easily mistaken for each other, thirty of each to learn from.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms([3, 5, 8])
X, y = digits.X[:90], digits.y[:90]
X_test, y_test = digits.X[90:], digits.y[90:]

# %%
# The kernel and the machine in one pipeline, with a search over the paper's grids for
# both. Inside, a part of the training digits is used to find sigma and C.


def search(metric):
    """Fit a support vector machine with this ground metric, or this distance."""
    steps = make_pipeline(gm.EMDKernel(metric=metric), SVC(kernel="precomputed"))
    grid = {"emdkernel__multiple": gm.SIGMA_GRID, "svc__C": gm.C_GRID}
    return GridSearchCV(steps, grid, cv=3).fit(X, y)


row, column = np.indices((8, 8)).reshape(2, -1)
pixels = np.hypot(row - row[:, None], column - column[:, None])
learned = gm.GroundMetricLearning().fit(X, y).metric_

found = {
    "hellinger": search("hellinger"),
    "EMD, pixels as they lie": search(pixels),
    "EMD, learned": search(learned),
}
for name, machine in found.items():
    print(f"{name:25s} {1 - machine.score(X_test, y_test):.1%} errors")

# %%
# Was the kernel positive definite? If so, nothing was added. And what was chosen:

kernel = found["EMD, learned"].best_estimator_.named_steps["emdkernel"]
print("smallest eigenvalue:", round(kernel.smallest_eigenvalue_, 4))
print("added to the diagonal:", round(kernel.shift_, 4))
print(found["EMD, learned"].best_params_)

# %%
# The Gram matrix of the training digits, by class, and the errors on the others.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
order = np.argsort(y, kind="stable")
left.imshow(kernel.gram_[np.ix_(order, order)], cmap="viridis")
left.set(title="Gram matrix: 3, 5, 8", xticks=[], yticks=[])
ConfusionMatrixDisplay.from_estimator(
    found["EMD, learned"], X_test, y_test, ax=right, colorbar=False
)
