r"""Chi-squared LMNN: a chi-squared distance learned from labels.

.. math:: \chi^2_L(r, c) = \tfrac12 \sum_p
          \frac{((L r)_p - (L c)_p)^2}{(L r)_p + (L c)_p}

Columns of L are histograms, so that L r is one, too: L is the softmax of a matrix A
without constraints, column by column. The loss is that of LMNN. After Kedem,
Tyree, Sha, Lanckriet & Weinberger, *Non-linear Metric Learning* (NIPS 2012), section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ._labeled import LabeledTransformer, TargetsMixin
from ._lbfgs import minimum_of
from ._margins import margin_loss, target_neighbors

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# The paper starts at A = 10 I + 0.01, where L is nearly the identity.
DIAGONAL, ELSEWHERE = 10.0, 0.01


class ChiSquaredLMNN(TargetsMixin, LabeledTransformer):
    """Large margin nearest neighbors under a chi-squared distance (Kedem et al.).

    Learns a linear map that takes histograms to histograms. The nearest neighbors of
    the same class are pulled closer, and histograms of other classes pushed beyond a
    margin, as in :class:`LMNN`, but by the chi-squared distance.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbors of the same class to pull closer, chosen before learning.
        Smaller classes use fewer.
    margin : float, default=0.3
        The margin, as a share of the median chi-squared distance between training
        histograms. Chi-squared distances of histograms are at most 1, so the map cannot
        make up for a wrong margin; a large one makes all histograms collapse.
    push : float, default=1.0
        Weight of pushing relative to pulling.
    tol : float, default=1e-5
        Stop when the relative improvement of a step of L-BFGS falls below this.
    max_iter : int, default=500
        Largest number of steps; reaching it raises a ``ConvergenceWarning``.

    Attributes
    ----------
    components_ : ndarray of shape (d, d)
        L; its columns sum to 1.
    losses_ : ndarray
        The loss before the first step, and after each.
    n_iter_ : int
        Number of steps.
    classes_ : ndarray
        Labels.

    Examples
    --------
    >>> from groundmetric.baselines import ChiSquaredLMNN
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> learner = ChiSquaredLMNN(n_neighbors=1).fit(X, [0, 0, 1, 1])
    >>> learner.transform(X).sum(axis=1).round(6)
    array([1., 1., 1., 1.])
    """

    _fitted = ("components_", "classes_", "losses_", "n_iter_")

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        margin: float = 0.3,
        push: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 500,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.margin = margin
        self.push = push
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, rows: Floats, labels: Labels) -> None:
        share = validation.as_factor(self.margin, "margin")
        push = validation.as_number(self.push, "push", low=0.0)
        tol = validation.as_number(self.tol, "tol", low=0.0)
        limit = validation.as_count(self.max_iter, "max_iter", low=1)
        d, distances = rows.shape[1], _chi2(rows)
        margin = share * np.median(distances[np.triu_indices_from(distances, 1)])
        targets = target_neighbors(distances, labels, self._n_targets(labels))

        def loss(flat: Floats) -> tuple[float, Floats]:
            value, gradient = loss_and_gradient(
                flat.reshape(d, d), rows, labels, targets, margin=margin, push=push
            )
            return value, gradient.ravel()

        start = (DIAGONAL * np.eye(d) + ELSEWHERE).ravel()
        name = type(self).__name__
        found = minimum_of(loss, start, tol=tol, max_steps=limit, name=name)
        self.components_ = softmax(found.x.reshape(d, d), axis=0)
        self.losses_, self.n_iter_ = found.losses, len(found.losses) - 1
        if self.n_iter_ >= limit:
            self._warn("steps")

    def transform(self, X: ArrayLike) -> Floats:
        """Map histograms to histograms, L r."""
        check_is_fitted(self)
        mapped: Floats = self._as_rows(X, reset=False) @ self.components_.T
        return mapped

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and Y, or within X if Y is None.

        The root of twice the chi-squared distance, as in
        :func:`groundmetric.distances.chi2`, which makes it a metric.
        """
        left = self.transform(X)
        if Y is None:
            upper: Floats = np.triu(np.sqrt(2 * _chi2(left)), 1)
            return upper + upper.T
        return np.asarray(np.sqrt(2 * _chi2(left, self.transform(Y))))


def loss_and_gradient(
    A: Floats,
    rows: Floats,
    labels: Labels,
    targets: Labels,
    *,
    margin: float,
    push: float,
) -> tuple[float, Floats]:
    """Return the loss of L = softmax(A), and its gradient with respect to A."""
    L = softmax(A, axis=0)
    mapped = rows @ L.T  # (n, d)
    loss, weights = margin_loss(
        _chi2(mapped), labels, targets, margin=margin, push=push
    )
    of_map = _weighted_gradient(mapped, weights + weights.T).T @ rows  # dloss / dL
    return loss, L * (of_map - (L * of_map).sum(axis=0))


def _weighted_gradient(mapped: Floats, weights: Floats) -> Floats:
    """Differentiate the weighted sum of distances with respect to each row.

    With t = (a - b) / (a + b), that of (a - b)^2 / (a + b) / 2 with respect to a is
    t - t^2 / 2.
    """
    gradient = np.empty_like(mapped)
    for i, row in enumerate(mapped):
        used = np.flatnonzero(weights[i])
        total = row + mapped[used]
        t = np.divide(row - mapped[used], total, out=total, where=total > 0.0)
        gradient[i] = weights[i, used] @ (t - t * t / 2)
    return gradient


def _chi2(X: Floats, Y: Floats | None = None) -> Floats:
    found: Floats = np.maximum(-additive_chi2_kernel(X, Y), 0.0) / 2
    return found
