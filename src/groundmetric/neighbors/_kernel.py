r"""Kernels from distances (section 7.4 of the paper).

.. math:: k(r, c) = \exp(-d(r, c) / \sigma) + \lambda \, [r = c]

An EMD is not negative definite in general, so the first term alone may not be positive
definite. The second one repairs this on the training histograms: lambda is minus the
smallest eigenvalue of their Gram matrix, or zero if that is positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigvalsh
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from .. import distances, validation
from ..base._learner import KeepsLearner, own_distances
from ..base._rows import HistogramTransformer, all_or_nothing, as_rows
from ..transport._exact import pairwise_emd

Floats = NDArray[np.float64]

# Asymmetry allowed in precomputed distances, relative to the largest: Euclidean ones
# are often computed from dot products, and lose half of their digits.
ASYMMETRY = 1e-7
# Histograms are equal if their bins differ by no more than this after normalization, or
# if their precomputed distance is no more than this, relative to the largest.
ROUNDING = 1e-12


class EMDKernel(KeepsLearner, HistogramTransformer):
    """Kernel exp(-d / sigma) of an earth mover's distance, for ``SVC`` and others.

    Turns histograms into rows of a Gram matrix, for estimators that take
    ``kernel="precomputed"``: put both in a pipeline.

    The kernel is the same function everywhere: exp(-d / sigma), plus ``shift_`` if the
    two histograms are equal. A row that equals a training histogram after
    normalization, up to rounding, gets the row of that histogram in the training Gram
    matrix, so ``transform(X)`` of the training data equals ``fit_transform(X)``.

    Parameters
    ----------
    distance : None, array-like of shape (d, d), learner or str, default=None
        A ground metric as a matrix, for its EMDs; a fitted learner, for its own
        distances, including powers; a name in
        :data:`groundmetric.distances.DISTANCES`, such as "l1"; or "precomputed" if X
        holds distances to the training data (a square matrix in ``fit``). None is the
        EMD of the uniform metric, 1 between any two bins: half the l1 distance.
    bandwidth : "median" or float, default="median"
        The sigma of the kernel: a number, or the median distance between training
        histograms (if that is 0, between those that differ).
    shrinkage : float, default=0.0
        Share of the uniform metric, of the same mean, that is mixed into a ground
        metric, from 0 to 1. A learned metric separates its training histograms better
        than others, which misleads a support vector machine trained on the same ones;
        at 0.5, the learned metric counts half and the l1 distance the other half.
    multiple : float, default=1.0
        A factor of the bandwidth; the paper searches
        :data:`groundmetric.experiments.SIGMA_GRID`.
    empty : {"error", "uniform"}, default="error"
        Reject rows of zero mass, or let them count as the uniform histogram.
    n_jobs : int, optional
        Number of threads for EMDs. Results do not depend on it.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth, sigma.
    smallest_eigenvalue_ : float
        Smallest eigenvalue of the Gram matrix of the distinct training histograms,
        before the shift.
    shift_ : float
        The shift that makes the Gram matrix positive semidefinite: minus its smallest
        eigenvalue if that is negative, otherwise 0.
    gram_ : ndarray of shape (n, n)
        The shifted Gram matrix of the training histograms, positive semidefinite.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import EMDKernel
    >>> EMDKernel(bandwidth=1.0).fit_transform([[2, 0], [1, 1], [0, 2]]).round(2)
    array([[1.  , 0.61, 0.37],
           [0.61, 1.  , 0.61],
           [0.37, 0.61, 1.  ]])

    With a support vector machine, and the paper's parameters:

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from groundmetric.experiments import C_GRID, SIGMA_GRID
    >>> search = GridSearchCV(
    ...     make_pipeline(EMDKernel(), SVC(kernel="precomputed")),
    ...     {"emdkernel__multiple": SIGMA_GRID, "svc__C": C_GRID},
    ...     cv=2,
    ... )
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> search.fit(X, [0, 0, 1, 1]).predict([[9, 1, 0, 0]])
    array([0])
    """

    _learner_parameter = "distance"
    _fitted = (
        *("gram_", "bandwidth_", "shift_", "smallest_eigenvalue_"),
        *("_rows", "_distinct", "_which"),
    )

    def __init__(
        self,
        *,
        distance: Any = None,
        bandwidth: str | float = "median",
        shrinkage: float = 0.0,
        multiple: float = 1.0,
        empty: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.distance = distance
        self.bandwidth = bandwidth
        self.shrinkage = shrinkage
        self.multiple = multiple
        self.empty = empty
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> EMDKernel:  # noqa: ARG002 - scikit-learn's
        """Compute the Gram matrix of the training histograms, and its shift.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : ignored
            Present for API compatibility.

        Returns
        -------
        self
        """
        rows = self._as_rows(X, reset=True)
        if validation.is_learner(self.distance):
            validation.require_learned(self.distance)
            validation.require_bins(self.distance, rows.shape[1], "distance")
        if self.empty == "nan":
            raise ValueError("empty is 'nan', but no kernel may be NaN; use 'uniform'.")
        unit = self.bandwidth
        if isinstance(unit, str) and unit != "median":
            raise ValueError(f"bandwidth is {unit!r}; 'median' or a number is needed.")
        if not isinstance(unit, str):
            unit = validation.as_positive_number(unit, "bandwidth")
        multiple = validation.as_positive_number(self.multiple, "multiple")
        share = validation.as_number(self.shrinkage, "shrinkage", low=0.0, high=1.0)
        if share > 0 and isinstance(self.distance, str):
            raise ValueError(
                f"shrinkage is {share}, but distance is {self.distance!r}; only a "
                "ground metric can be shrunk."
            )
        # Equal histograms give equal rows: keep one of each, and shift those.
        self._rows = rows
        self._distinct, which = np.unique(self._find(rows), return_inverse=True)
        self._which = which
        between = self._distances(rows[self._distinct], None)
        if isinstance(unit, str):
            unit = _median(between[np.ix_(which, which)])
        self.bandwidth_ = multiple * float(unit)
        if not 0 < self.bandwidth_ < np.inf:
            raise ValueError(
                f"bandwidth times multiple is {self.bandwidth_}, out of range."
            )
        gram = np.exp(-between / self.bandwidth_)
        self.smallest_eigenvalue_ = float(eigvalsh(gram, subset_by_index=(0, 0))[0])
        self.shift_ = max(0.0, -self.smallest_eigenvalue_)
        gram[np.diag_indices_from(gram)] += self.shift_
        self.gram_: Floats = gram[np.ix_(which, which)]
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the kernel between X and the training histograms."""
        check_is_fitted(self)
        rows = self._as_rows(X, reset=False)
        which = self._find(rows)
        out: Floats = self.gram_[which]
        if (which < 0).any():
            between = self._distances(rows[which < 0], self._rows[self._distinct])
            out[which < 0] = np.exp(-between / self.bandwidth_)[:, self._which]
        return out

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Floats:
        """Fit, and return the shifted Gram matrix of the training histograms."""
        return self.fit(X, y).gram_.copy()

    def _as_rows(self, X: ArrayLike, *, reset: bool) -> Any:
        if not self._precomputed():
            return super()._as_rows(X, reset=reset)
        rows = as_rows(self, X, validation.as_nonnegative, reset=reset)
        if reset:
            validation.as_square(rows, "X")
            validation.require_dissimilarity(rows, "X", rounding=ASYMMETRY)
        return rows

    def _find(self, rows: Floats) -> NDArray[np.intp]:
        """Find the first training histogram that each row equals, up to rounding."""
        if self._precomputed():
            same = rows <= ROUNDING * self._rows.max(initial=0.0)
        else:
            same = cdist(rows, self._rows, "chebyshev") <= ROUNDING
        found: NDArray[np.intp] = np.where(same.any(axis=1), same.argmax(axis=1), -1)
        return found

    def _distances(self, left: Floats, right: Floats | None) -> Floats:
        """Compute distances from left to right (the training rows), or within left."""
        if self.distance is None:
            return distances.l1(left, right) / 2
        if self._precomputed():
            between = left[:, self._distinct]
            return between if right is not None else (between + between.T) / 2
        if isinstance(self.distance, str):
            return distances.pairwise(left, right, distance=self.distance)
        if validation.is_learner(self.distance):
            return self._learned_distances(self.distance, left, right)
        metric = validation.as_cost(self.distance, left.shape[1], "distance")
        validation.require_metric(metric, "distance")
        between = pairwise_emd(left, right, metric=metric, n_jobs=self.n_jobs)
        return shrunk(between, metric, self.shrinkage, left, right)

    def _learned_distances(
        self,
        learner: Any,
        left: Floats,
        right: Floats | None,
    ) -> Floats:
        """Compute a learner's own distances, shrunk if it has a matrix of costs."""
        seen = [
            None if rows is None else learner.histograms(rows) for rows in (left, right)
        ]
        between: Floats = own_distances(learner)(*seen)
        if self.shrinkage == 0:
            return between
        if not learner._is_exact or "metric" not in learner._ground():
            raise ValueError(
                f"shrinkage is {self.shrinkage}, but distance is a learner without a "
                "matrix of exact costs; only such a matrix can be shrunk."
            )
        rows: Any = seen
        return shrunk(between, learner.metric_, self.shrinkage, *rows)

    def _restore(self) -> None:
        rows = validation.as_nonnegative(self._rows, "its histograms")
        n, m = len(rows), len(self._distinct)
        gram = validation.as_square(self.gram_, "gram_", size=n)
        validation.as_choice(self._distinct, n)
        if self._which.shape != (n,) or not np.isin(self._which, np.arange(m)).all():
            raise ValueError("_which does not number _distinct")
        self._rows, self.gram_ = rows, gram
        self.n_features_in_ = rows.shape[1]

    def _precomputed(self) -> bool:
        return isinstance(self.distance, str) and self.distance == "precomputed"

    @property
    def _n_features_out(self) -> int:
        return len(self.gram_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed()
        return tags


def shrunk(
    between: Floats, metric: Floats, share: float, left: Floats, right: Floats | None
) -> Floats:
    r"""Turn EMDs of M into those of :math:`(1 - s) M + s \bar{M} 1`.

    Mass that two histograms share stays in place under any metric. So all optimal plans
    move the same mass, half of l1, and a constant added to M adds it as often.
    """
    if share == 0:
        return between
    d = len(metric)
    mean = float(metric.sum()) / max(d * (d - 1), 1)
    uniform = distances.l1(left, right) / 2
    return (1 - share) * between + share * mean * uniform


def _median(between: Floats) -> float:
    """Median over all pairs; if zero, over those that differ; 1 if none do."""
    values = between[np.triu_indices_from(between, 1)]
    for some in (values, values[values > 0]):
        if some.size and (median := float(np.median(some))) > 0:
            return median
    return 1.0
