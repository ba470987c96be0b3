r"""Lebanon's distance: Fisher's, of perturbed histograms (section 6.3 of the paper).

.. math:: d_\lambda(r, c) = \arccos \sum_p \sqrt{(r \odot \lambda)_p
          (c \odot \lambda)_p}, \quad
          (r \odot \lambda)_p = \frac{r_p \lambda_p}{r'\lambda}

It is the geodesic distance of the metric that the perturbation pulls back from the
simplex. The volume element of that metric is, up to a constant,

.. math:: \mathrm{dvol}_\lambda(x) \propto \prod_p (\lambda_p / x_p)^{1/2} \,
          (x'\lambda)^{-d/2},

and Lebanon, *Metric learning for text documents* (IEEE PAMI 28, 2006), chooses lambda
to make it small at the histograms, compared with all others: maximize

.. math:: \sum_i \log \frac{1 / \mathrm{dvol}_\lambda(x_i)}
          {\int 1 / \mathrm{dvol}_\lambda(x)\, dx}
          = \sum_i k \log x_i'\lambda - n \log \int (x'\lambda)^k
            \prod_p x_p^{1/2}\, dx + \mathrm{const}, \quad k = d / 2.

The integral is, up to a factor, a moment of :math:`S = \sum_p \lambda_p g_p`, where the
g are independent and have Gamma distributions with shape 3/2. The generating function
of S is known, and so are its moments, for odd d as well:

.. math:: E[S^k] = \frac{\Gamma(k + 1)}{2 \pi i} \int_{c - i\infty}^{c + i\infty}
          t^{-k-1} \prod_p (1 - \lambda_p t)^{-3/2}\, dt, \quad 0 < c < 1/\max\lambda.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import cdist
from scipy.special import gammaln, softmax
from sklearn.utils.validation import check_is_fitted

from .. import validation
from .._warnings import warn_not_converged
from ..base._rows import HistogramTransformer, all_or_nothing
from ._lbfgs import minimum_of

Floats = NDArray[np.float64]

SHAPE = 1.5  # of the Gamma distributions
# The integral is a sum over u, with t = c + i width sinh(u), in steps of STEP. Terms
# fall below exp(-NEGLIGIBLE) of the first.
STEP, NEGLIGIBLE = 1 / 8, 50.0
LEAST = 1e-100  # of weights, relative to the largest: no histogram loses all its mass


class Lebanon(HistogramTransformer):
    """Fisher distance of weighted histograms, learned without labels (Lebanon).

    Weights of bins are chosen such that histograms lie where the metric has little
    volume. Labels are not used. Bins that often hold much mass get large weights, the
    opposite of weights by inverse document frequency.

    Parameters
    ----------
    tol : float, default=1e-5
        Stop when the relative improvement of a step of L-BFGS falls below this.
    max_iter : int, default=1000
        Largest number of steps; reaching it raises a ``ConvergenceWarning``.

    Attributes
    ----------
    weights_ : ndarray of shape (d,)
        Lambda, a histogram.
    losses_ : ndarray
        The negative logarithm of the inverse volume, a mean over histograms, before the
        first step, and after each. It is 0 for equal weights: Fisher's distance.
    n_iter_ : int
        Number of steps.

    Examples
    --------
    >>> from groundmetric.baselines import Lebanon
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> Lebanon().fit(X).pairwise(X).shape
    (4, 4)
    """

    _fitted = ("weights_", "losses_", "n_iter_")

    def __init__(self, *, tol: float = 1e-5, max_iter: int = 1000) -> None:
        self.tol = tol
        self.max_iter = max_iter

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> Lebanon:  # noqa: ARG002
        """Learn the weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : object, optional
            Ignored; present for API compatibility.

        Returns
        -------
        self
        """
        rows = self._as_rows(X, reset=True)
        tol = validation.as_number(self.tol, "tol", low=0.0)
        limit = validation.as_count(self.max_iter, "max_iter", low=1)

        def loss(log_weights: Floats) -> tuple[float, Floats]:
            return loss_and_gradient(log_weights, rows)

        start = np.zeros(rows.shape[1])
        found = minimum_of(loss, start, tol=tol, max_steps=limit, name="Lebanon")
        weights = softmax(found.x)
        weights = np.maximum(weights, LEAST * weights.max())
        self.weights_ = weights / weights.sum()
        self.losses_, self.n_iter_ = found.losses, len(found.losses) - 1
        if self.n_iter_ >= limit:
            warn_not_converged(f"Lebanon made {limit} steps and has not converged.")
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Perturb histograms: multiply bins by their weights, and normalize."""
        check_is_fitted(self)
        weighted: Floats = self._as_rows(X, reset=False) * self.weights_
        weighted /= weighted.sum(axis=1, keepdims=True)
        return weighted

    def histograms(self, X: ArrayLike) -> Floats:
        """Return histograms as the distance sees them: of mass 1."""
        found: Floats = self._as_rows(X, reset=False)
        return found

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and Y, or within X if Y is None."""
        left = np.sqrt(self.transform(X))
        if Y is None:
            upper: Floats = np.triu(_angles(left, left), 1)
            return upper + upper.T
        return _angles(left, np.sqrt(self.transform(Y)))

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def _restore(self) -> None:
        weights = validation.as_histograms(self.weights_, "weights_", ndim=1)
        self.weights_ = weights.values
        self.n_features_in_ = len(self.weights_)


def loss_and_gradient(log_weights: Floats, rows: Floats) -> tuple[float, Floats]:
    """Return log E[S^k] minus the mean of k log x'lambda, and its gradient.

    Less the same for equal weights, and unchanged if all weights are scaled.
    """
    d = rows.shape[1]
    weights, k = d * softmax(log_weights), d / 2
    masses = rows @ weights  # (n,)
    level, of_weights = log_moment(weights, k)
    level -= gammaln(SHAPE * d + k) - gammaln(SHAPE * d)  # S has a Gamma distribution
    gradient = of_weights - k * (rows / masses[:, None]).mean(axis=0)
    return level - k * float(np.log(masses).mean()), weights * gradient


def log_moment(weights: Floats, k: float) -> tuple[float, Floats]:
    """Return log E[S^k], and its gradient with respect to the weights.

    The line of integration passes through the saddle point c, where the integrand is
    nearly Gaussian along it.
    """

    def slope(t: float) -> float:
        return float(SHAPE * (weights / (1 - weights * t)).sum() - (k + 1) / t)

    end = 1 / weights.max()
    # There, each of the two terms outweighs the other.
    low = end * (k + 1) / (k + 1 + SHAPE * len(weights)) / 2
    high = end * (1 - SHAPE / (k + 1 + SHAPE) / 2)
    c = brentq(slope, low, high)
    rates = weights / (1 - weights * c)
    width = (SHAPE * (rates**2).sum() + (k + 1) / c**2) ** -0.5
    # The powers of t alone: |t / c|^(-k - 1).
    far = c / width * np.sqrt(np.expm1(2 * NEGLIGIBLE / (k + 1)))
    u = np.arange(0.0, np.arcsinh(far), STEP)  # the other half is conjugate
    t = c + 1j * width * np.sinh(u)
    factors = 1 - t[:, None] * weights  # (nodes, d)
    height = -(k + 1) * np.log(c) - SHAPE * np.log(1 - weights * c).sum()
    logs = -(k + 1) * np.log(t) - SHAPE * np.log(factors).sum(axis=1) - height
    values = np.exp(logs) * width * np.cosh(u)
    values[0] /= 2
    total = values.real.sum()
    moment = gammaln(k + 1) + height + np.log(total * STEP / np.pi)
    of_weights = (SHAPE * (values * t) @ (1 / factors)).real / total
    return float(moment), of_weights


def _angles(left: Floats, right: Floats) -> Floats:
    """Compute angles between unit vectors: half the chord is the sine of half of it."""
    found: Floats = 2 * np.arcsin(np.minimum(cdist(left, right) / 2, 1.0))
    return found
