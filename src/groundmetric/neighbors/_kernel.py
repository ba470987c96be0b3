r"""Kernels from distances (section 7.4 of the paper).

.. math:: k(r, c) = \exp(-(d(r, c) / \sigma)^p) + \lambda \, [r = c]

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

from .. import validation
from ..base._learner import KeepsLearner
from ..base._rows import HistogramTransformer, all_or_nothing, as_rows
from ._parts import Part, first_mean, learn, mean, median, parts_of

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

    The kernel is the same function everywhere: exp(-(d / sigma)^exponent), plus
    ``shift_`` if the two histograms are equal. A row that equals a training histogram
    after normalization, up to rounding, gets the row of that histogram in the training
    Gram matrix, so ``transform(X)`` of the training data equals ``fit_transform(X)``.

    Parameters
    ----------
    distance : None, array-like of shape (d, d), learner, str or list, default=None
        A ground metric as a matrix, for its EMDs; a learner, for its own distances,
        including powers; a name in :data:`groundmetric.distances.DISTANCES`, such as
        "l1"; or "precomputed" if X holds distances to the training data (a square
        matrix in ``fit``). None is the EMD of the uniform metric, 1 between any two
        bins: half the l1 distance. A list of these is their mean, each divided by its
        median between training histograms: if several priors are known, try the mean of
        all their EMDs and "hellinger" before you choose one. A learner that is not
        fitted learns in ``fit``, from the training histograms only; in a
        cross-validation, it does not see the histograms that are held out.
    weights : array-like, optional
        If ``distance`` is a list: the weight of each in the mean. Equal by default.
    bandwidth : "median" or float, default="median"
        The sigma of the kernel: a number, or the median distance between training
        histograms (if that is 0, between those that differ).
    exponent : float, default=1.0
        The power of d / sigma: 2 with "l2" is the Gaussian kernel, and with "chi2",
        the chi-squared kernel.
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
        *("_rows", "_distinct", "_which", "_parts"),
    )

    def __init__(
        self,
        *,
        distance: Any = None,
        weights: ArrayLike | None = None,
        bandwidth: str | float = "median",
        exponent: float = 1.0,
        shrinkage: float = 0.0,
        multiple: float = 1.0,
        empty: str = "error",
        n_jobs: int | None = None,
    ) -> None:
        self.distance = distance
        self.weights = weights
        self.bandwidth = bandwidth
        self.exponent = exponent
        self.shrinkage = shrinkage
        self.multiple = multiple
        self.empty = empty
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> EMDKernel:
        """Compute the Gram matrix of the training histograms, and its shift.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,), optional
            Labels, if ``distance`` has a learner that is not fitted; otherwise ignored.

        Returns
        -------
        self
        """
        rows = self._as_rows(X, reset=True)
        parts = parts_of(self.distance, self.weights)
        self._check(parts)
        learn(parts, rows, y)
        self._parts = parts
        # Equal histograms give equal rows: keep one of each, and shift those.
        self._rows = rows
        self._distinct, which = np.unique(self._find(rows), return_inverse=True)
        self._which = which
        between = self._within(rows[self._distinct])
        unit = self.bandwidth
        if isinstance(unit, str):
            unit = median(between[np.ix_(which, which)])
        self.bandwidth_ = self.multiple * float(unit)
        if not 0 < self.bandwidth_ < np.inf:
            raise ValueError(
                f"bandwidth times multiple is {self.bandwidth_}, out of range."
            )
        gram = self._kernel(between)
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
            out[which < 0] = self._kernel(between)[:, self._which]
        return out

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Floats:
        """Fit, and return the shifted Gram matrix of the training histograms."""
        return self.fit(X, y).gram_.copy()

    def _kernel(self, between: Floats) -> Floats:
        """Return exp(-(d / sigma)^p)."""
        found: Floats = np.exp(-((between / self.bandwidth_) ** self.exponent))
        return found

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

    def _check(self, parts: list[Part]) -> None:
        if self.empty == "nan":
            raise ValueError("empty is 'nan', but no kernel may be NaN; use 'uniform'.")
        unit = self.bandwidth
        if isinstance(unit, str) and unit != "median":
            raise ValueError(f"bandwidth is {unit!r}; 'median' or a number is needed.")
        if not isinstance(unit, str):
            validation.as_positive_number(unit, "bandwidth")
        validation.as_positive_number(self.multiple, "multiple")
        validation.as_positive_number(self.exponent, "exponent")
        share = validation.as_number(self.shrinkage, "shrinkage", low=0.0, high=1.0)
        if share > 0 and (len(parts) > 1 or isinstance(self.distance, str)):
            given = repr(self.distance) if len(parts) == 1 else "several"
            raise ValueError(
                f"shrinkage is {share}, but distance is {given}; only a ground metric "
                "can be shrunk."
            )

    def _distances(self, left: Floats, right: Floats) -> Floats:
        """Compute distances from left to right, the training rows."""
        if self._precomputed():
            return left[:, self._distinct]
        return mean(self._parts, left, right, self.shrinkage, self.n_jobs)

    def _within(self, rows: Floats) -> Floats:
        """Compute distances between the distinct training rows."""
        if self._precomputed():
            between = rows[:, self._distinct]
            return (between + between.T) / 2
        options = self.shrinkage, self.n_jobs
        return first_mean(self._parts, rows, self._which, *options)

    def _restore(self) -> None:
        rows = validation.as_nonnegative(self._rows, "its histograms")
        n, m = len(rows), len(self._distinct)
        gram = validation.as_square(self.gram_, "gram_", size=n)
        validation.as_choice(self._distinct, n)
        if self._which.shape != (n,) or not np.isin(self._which, np.arange(m)).all():
            raise ValueError("_which does not number _distinct")
        self._rows, self.gram_ = rows, gram
        if not self._parts or not all(isinstance(x, Part) for x in self._parts):
            raise ValueError("_parts are not distances")
        if self.distance is None and len(self._parts) > 1:  # no file can hold a mix
            self.distance = [part.distance for part in self._parts]
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
