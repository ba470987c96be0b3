r"""Generalized Aitchison embeddings: histograms as vectors of logarithms.

.. math:: d(r, c) = \| L \log(r + b) - L \log(c + b) \|_2

L and b > 0 are learned by large margins. Aitchison's own isometric log-ratio has b = 0
and orthonormal rows of L that are orthogonal to 1; learning starts there, with b = 1/d.
The model is that of Le & Cuturi, *Adaptive Euclidean maps for histograms* (Machine
Learning 99, 2015). They alternate between L and b; here L-BFGS moves both at once, and
log b in place of b, which needs no projection.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.spatial.distance import cdist

from .. import validation
from ._labeled import TargetsMixin
from ._lbfgs import minimum_of
from ._linear import EuclideanMap, scale_of
from ._margins import margin_loss, target_neighbors

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


class AitchisonEmbedding(TargetsMixin, EuclideanMap):
    """Generalized Aitchison embedding (Le & Cuturi), learned by large margins.

    Learns how to compare the logarithms of bins, as :class:`LMNN` does with
    ``offset="auto"``, and what to add to each bin before: much to bins whose small
    values mean little.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbors of the same class to pull closer, chosen before learning.
        Smaller classes use fewer.
    n_components : int, optional
        Rows of L; d - 1 by default. Fewer start at the principal axes.
    margin : float, default=1.0
        The margin of squared distances, whose scale is such that the median distance
        between training histograms is 1 at the start.
    push : float, default=1.0
        Weight of pushing relative to pulling.
    learn_offsets : bool, default=True
        Learn b; otherwise it stays at 1 / d.
    tol : float, default=1e-5
        Stop when the relative improvement of a step of L-BFGS falls below this.
    max_steps : int, default=15
        Limit on steps. Few steps keep L and b near their start: with d^2 parameters,
        the minimum of the loss is worse than the start if histograms are few. Choose it
        by cross-validation, from 5 to 100.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, d)
        L.
    offsets_ : ndarray of shape (d,)
        b.
    losses_ : ndarray
        The loss before the first step, and after each.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether improvements fell below ``tol``. If L-BFGS finds no lower loss before
        that, a ``ConvergenceWarning`` says so.
    classes_ : ndarray
        Labels.

    Examples
    --------
    >>> from groundmetric.baselines import AitchisonEmbedding
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> learner = AitchisonEmbedding(n_neighbors=1).fit(X, [0, 0, 1, 1])
    >>> learner.transform(X).shape
    (4, 2)
    """

    _fitted = (
        *("components_", "offsets_", "classes_"),
        *("losses_", "n_iter_", "converged_"),
    )

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        n_components: int | None = None,
        margin: float = 1.0,
        push: float = 1.0,
        learn_offsets: bool = True,
        tol: float = 1e-5,
        max_steps: int = 15,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.margin = margin
        self.push = push
        self.learn_offsets = learn_offsets
        self.tol = tol
        self.max_steps = max_steps

    def _fit(self, rows: Floats, labels: Labels) -> None:
        d = rows.shape[1]
        margin = validation.as_factor(self.margin, "margin")
        push = validation.as_factor(self.push, "push")
        tol = validation.as_number(self.tol, "tol", low=0.0)
        limit = validation.as_count(self.max_steps, "max_steps", low=1)
        k = self._n_targets(labels)
        logs = np.log(rows + 1.0 / d)
        L = self._start(logs)
        targets = target_neighbors(cdist(logs @ L.T, logs @ L.T), labels, k)

        def loss(flat: Floats) -> tuple[float, Floats]:
            value, of_L, of_log_b = loss_and_gradients(
                flat[:-d].reshape(L.shape), flat[-d:], rows, labels, targets,
                margin=margin, push=push,
            )  # fmt: skip
            return value, np.append(of_L, of_log_b * bool(self.learn_offsets))

        start = np.append(L, np.full(d, -np.log(d)))
        name = type(self).__name__
        found = minimum_of(loss, start, tol=tol, max_steps=limit, name=name)
        self.components_ = found.x[:-d].reshape(L.shape)
        self.offsets_ = np.exp(found.x[-d:])
        self.losses_, self.n_iter_ = found.losses, len(found.losses) - 1
        self.converged_ = found.converged

    def _start(self, logs: Floats) -> Floats:
        """Return the isometric log-ratio, or its principal axes, scaled."""
        d = logs.shape[1]
        L: Floats = helmert(d)  # orthonormal rows, orthogonal to 1
        if self.n_components is not None:
            r = validation.as_count(
                self.n_components, "n_components", low=1, high=d - 1
            )
            ratios = logs @ L.T
            centered = ratios - ratios.mean(axis=0)
            L = np.linalg.svd(centered.T)[0].T[:r] @ L
        return L / scale_of(logs @ L.T)

    def _map(self, rows: Floats) -> Floats:
        return np.asarray(np.log(rows + self.offsets_))

    def _restore(self) -> None:
        components = validation.as_float_array(self.components_, "components_", 2)
        validation.require_finite(components, "components_")
        self.components_, self.n_features_in_ = components, components.shape[1]
        validation.require_length(self.offsets_, self.n_features_in_, "offsets_")


def loss_and_gradients(
    L: Floats,
    log_b: Floats,
    rows: Floats,
    labels: Labels,
    targets: Labels,
    *,
    margin: float,
    push: float,
) -> tuple[float, Floats, Floats]:
    """Return the loss of squared distances, and its gradients by L and log b."""
    b = np.exp(log_b)
    logs = np.log(rows + b)
    mapped = logs @ L.T  # (n, r)
    loss, weights = margin_loss(
        cdist(mapped, mapped, "sqeuclidean"), labels, targets, margin=margin, push=push
    )
    # That of sum w_ij |z_i - z_j|^2 by z_i is 2 sum_j (w_ij + w_ji) (z_i - z_j).
    weights = weights + weights.T
    of_mapped = 2 * (weights.sum(axis=1)[:, None] * mapped - weights @ mapped)
    of_L = of_mapped.T @ logs
    of_logs = of_mapped @ L
    return loss, of_L, (of_logs / (rows + b)).sum(axis=0) * b
