r"""Information-theoretic metric learning: a matrix A near the identity, by projections.

.. math:: \min_A \; \mathrm{tr} A - \log\det A \quad \text{so that} \quad
          v' A v \le u \text{ for similar pairs}, \; v' A v \ge l \text{ for others}

up to slack of weight gamma; v is the difference of a pair's rows. Each constraint in
turn is satisfied by a Bregman projection, which adds a multiple of v v' to the inverse
of A (Davis, Kulis, Jain, Sra & Dhillon, ICML 2007, Algorithm 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyr, dtrsm
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from .. import validation
from ..base._blas import one_blas_thread
from ._linear import Mahalanobis

Floats = NDArray[np.float64]

BLOCK = 48  # pairs that are projected on before A is updated
TOL = 1e-3  # relative change of the multipliers in a round


class Projected(NamedTuple):
    """The matrix A, and how many rounds it took."""

    matrix: Floats
    n_rounds: int
    converged: bool


class ITML(Mahalanobis):
    """Information-theoretic metric learning (Davis et al.).

    Finds the Mahalanobis distance closest to the Euclidean one among those that are
    small within classes and large between them. (The paper's k = 4 for ITML is the
    number of neighbors its authors classify with; it does not affect the metric.)

    Parameters
    ----------
    n_pairs : int, optional
        Number of pairs to draw within classes, and between classes; by default 20
        times the squared number of classes, or all if there are fewer.
    hellinger : bool, default=True
        Learn on square roots of histograms, as the paper does.
    offset : float or "auto", optional
        Learn on logarithms instead, log(r + offset); "auto" is 1 / d.
    gamma : float, default=1.0
        Weight of the pairs relative to staying close to the Euclidean distance.
    max_iter : int, default=1000
        Largest number of rounds; reaching it raises a ``ConvergenceWarning``.
    random_state : int, RandomState or None, default=0
        Seed for drawing pairs.

    Attributes
    ----------
    components_ : ndarray of shape (d, d)
        L.
    n_iter_ : int
        Number of rounds.
    classes_ : ndarray
        Labels.

    Examples
    --------
    >>> from groundmetric.baselines import ITML
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> ITML().fit(X, [0, 0, 1, 1]).pairwise(X).shape
    (4, 4)
    """

    _fitted = ("components_", "classes_", "n_iter_")

    def __init__(
        self,
        *,
        n_pairs: int | None = None,
        hellinger: bool = True,
        offset: float | str | None = None,
        gamma: float = 1.0,
        max_iter: int = 1000,
        random_state: object = 0,
    ) -> None:
        self.n_pairs = n_pairs
        self.hellinger = hellinger
        self.offset = offset
        self.gamma = gamma
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, rows: Floats, labels: NDArray[np.int64]) -> Floats:
        squared = cdist(rows, rows, "sqeuclidean")
        pairs, same = self._draw(labels, squared)
        # Percentiles of squared distances, as in its authors' code, since the bounds
        # apply to squared distances. metric-learn takes percentiles of distances.
        near, far = np.percentile(squared[np.triu_indices_from(squared, 1)], (5, 95))
        found = project(
            rows[pairs[:, 0]] - rows[pairs[:, 1]],
            same,
            np.where(same, near, far),
            gamma=validation.as_positive_number(self.gamma, "gamma"),
            max_iter=validation.as_count(self.max_iter, "max_iter", low=1),
        )
        self.n_iter_ = found.n_rounds
        if not found.converged:
            self._warn("rounds")
        values, vectors = np.linalg.eigh(found.matrix)
        L: Floats = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return L

    def _draw(
        self, labels: NDArray[np.int64], squared: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Draw pairs within and between classes, without pairs of equal histograms."""
        wanted = self.n_pairs
        if wanted is None:
            wanted = 20 * len(self.classes_) ** 2
        wanted = validation.as_count(wanted, "n_pairs", low=1)
        rng = check_random_state(self.random_state)
        alike = labels[:, None] == labels
        drawn = []
        for kind, what in ((alike, "of one class"), (~alike, "of two classes")):
            every = np.argwhere(np.triu(kind & (squared > 0), 1))
            if len(every) == 0:
                raise ValueError(f"X has no two different histograms {what}.")
            size = min(wanted, len(every))
            drawn.append(every[rng.choice(len(every), size, replace=False)])
        same = np.repeat([True, False], [len(part) for part in drawn])
        return np.concatenate(drawn), same


@dataclass
class Constraints:
    """Bounds on the squared lengths v' A v of some pairs, and multipliers."""

    pairs: Floats  # differences v, (n, d)
    signs: list[float]  # 1 below the bound, -1 above
    bounds: list[float]
    multipliers: list[float]

    @classmethod
    def of(
        cls, pairs: Floats, same: NDArray[np.bool_], bounds: Floats
    ) -> list[Constraints]:
        """Divide the constraints into blocks; a bound of 0 counts as 1e-9."""
        signs = np.where(same, 1.0, -1.0).tolist()
        positive = np.where(bounds == 0.0, 1e-9, bounds).tolist()
        starts = range(0, len(pairs), BLOCK)
        blocks = [slice(k, min(k + BLOCK, len(pairs))) for k in starts]
        return [
            cls(pairs[i], signs[i], positive[i], [0.0] * (i.stop - i.start))
            for i in blocks
        ]

    def project(self, A: Floats, gamma: float) -> None:
        """Project A on each constraint in turn.

        The projection on pair k takes alpha v v' from the inverse of A and adds
        beta u u' to A, where u = A v and beta = alpha / (1 - alpha v' A v). All u are
        combinations of the vectors A v before the first projection. So the products
        of vectors, a small matrix, are all that the projections need; A follows.
        """
        VA = self.pairs @ A
        G = np.asfortranarray(VA @ self.pairs.T)
        betas = self._project(G, gamma)
        if betas.any():
            # u_k = A v_k + sum_{j < k} beta_j (v_k' u_j) u_j, solved for all u.
            U = dtrsm(1.0, -G * betas, VA.T, side=1, lower=1, trans_a=1, diag=1)
            A += (U * betas) @ U.T

    def _project(self, G: Floats, gamma: float) -> Floats:
        """Return all beta; keep v_l' u_k in the lower half of G, in column k."""
        share, n = gamma / (gamma + 1.0), len(G)
        betas = np.zeros(n)
        for k, sign in enumerate(self.signs):
            length, bound = G.item(k, k), self.bounds[k]
            size = min(self.multipliers[k], sign * share * (1 / length - 1 / bound))
            if size == 0.0:
                continue
            alpha = sign * size
            self.multipliers[k] -= size
            self.bounds[k] = 1 / (1 / bound + alpha / gamma)
            betas[k] = beta = alpha / (1 - alpha * length)
            products = G[:, k].copy()
            products[: k + 1] = 0.0  # what later pairs do not need stays
            dsyr(beta, products, 1, 1, 0, n, G, 1)
        return betas


def project(
    pairs: Floats,  # differences, (n_pairs, d)
    same: NDArray[np.bool_],
    bounds: Floats,
    *,
    gamma: float,
    max_iter: int,
) -> Projected:
    """Project on each constraint in turn, in rounds, until multipliers stay."""
    A = np.eye(pairs.shape[1])
    blocks = Constraints.of(pairs, same, bounds)
    after = np.zeros(len(pairs))
    with one_blas_thread():
        for n_rounds in range(1, max_iter + 1):
            before = after
            for block in blocks:
                block.project(A, gamma)
            after = np.concatenate([block.multipliers for block in blocks])
            size = np.linalg.norm(after) + np.linalg.norm(before)
            if size == 0.0 or np.abs(after - before).sum() < TOL * size:
                return Projected((A + A.T) / 2, n_rounds, converged=True)
    return Projected((A + A.T) / 2, max_iter, converged=False)
