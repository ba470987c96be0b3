r"""What is learned from a prior: weights of bins, a map of their points, and offsets.

.. math:: w_p = e^{l_p}, \qquad a_p = A' x_p + \delta_p.

Bin p starts at weight :math:`e^{l^0_p}` and at position :math:`A_0' x_p`. All
parameters stand in one flat vector, which is all that a criterion, the optimizer and a
checkpoint need to know. A bin that no histogram uses has no gradient in l and
:math:`\delta`: it keeps its weight, and moves with the map only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..base._arrays import numpy_arrays, to_numpy
from ._axes import principal_axes, require_two_bins, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from ..base._arrays import Array, Arrays

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]

PARTS = ("weights", "map", "offsets")
LARGEST_LOG = 700.0


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior knowledge of the bins, before the first step.

    Attributes
    ----------
    points : ndarray of shape (d, s)
        Coordinates of the bins: centered, with a mean square length of 1.
    map : ndarray of shape (s, r) or None
        A_0; None if positions are the points, and no map is learned.
    log_weights : ndarray of shape (d,)
        l_0, with mean 0.
    """

    points: Floats
    map: Floats | None
    log_weights: Floats

    @classmethod
    def of(
        cls,
        rows: csr_array,
        points: ArrayLike | None,
        n_components: int | None = None,
        weights: ArrayLike | None = None,
    ) -> Prior:
        """Validate what is given, for histograms in sparse rows of mass 1.

        Without points all bins are equally far from each other at first, a_p = e_p, and
        no map is learned. Of fewer components, the principal axes are kept: of the
        points, or without points, of the histograms.
        """
        d = rows.shape[1]
        require_two_bins(d)
        start = None
        if points is None:
            array = _unit_vectors(rows, n_components)
        else:
            array, _ = scaled(points, d)
        array = standardized(array)
        if points is not None:
            s = array.shape[1]
            r = s if n_components is None else n_components
            r = validation.as_count(r, "n_components", low=1, high=s)
            start = np.eye(s) if r == s else principal_axes(array)[:r].T
        return cls(array, start, logarithms(weights, d))

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of bins, of coordinates, and of dimensions: d, s, r."""
        d, s = self.points.shape
        return d, s, s if self.map is None else self.map.shape[1]


class Parameters:
    """Where each parameter stands in the flat vector, and what it means.

    Parameters
    ----------
    prior : Prior
        Where they start.
    learned : sequence of {"weights", "map", "offsets"}
        Which of them are learned; the others stay where they are.
    dtype : str
        Precision.
    arrays : Arrays, optional
        Where the vector lives; with numpy by default.
    """

    def __init__(
        self,
        prior: Prior,
        learned: tuple[str, ...] = PARTS,
        dtype: str = "float32",
        arrays: Arrays | None = None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.arrays = numpy_arrays(self.dtype) if arrays is None else arrays
        self.points = self.arrays.put(np.ascontiguousarray(prior.points))
        self._map = None if prior.map is None else self.arrays.put(prior.map)
        self._log_weights = self.arrays.put(prior.log_weights)
        d, s, r = self.shape = prior.shape
        sizes = {
            "weights": (d,),
            "map": None if self._map is None else (s, r),
            "offsets": (d, r),
        }
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.slices: dict[str, slice] = {}
        end = 0
        for name in PARTS:
            shape = sizes[name]
            if name in learned and shape is not None:
                self.shapes[name] = shape
                self.slices[name] = slice(end, end + math.prod(shape))
                end = self.slices[name].stop
        self.start = self._start(end)

    def _start(self, size: int) -> Array:
        start = self.arrays.put(np.zeros(size))
        parts = {"weights": self._log_weights, "map": self._map}
        for name, array in parts.items():
            if name in self.slices and array is not None:
                start[self.slices[name]] = array.reshape(-1)
        return start

    def part(self, theta: Array, name: str) -> Array | None:
        """View one of them in the vector; None if it is not learned."""
        if name not in self.slices:
            return None
        return theta[self.slices[name]].reshape(self.shapes[name])

    def log_weights(self, theta: Array) -> Array:
        """Return l, (d,)."""
        learned = self.part(theta, "weights")
        return self._log_weights if learned is None else learned

    def positions(self, theta: Array, bins: Array = slice(None)) -> Array:
        """Return a_p = A' x_p + delta_p of some bins, in rows."""
        A, offsets = self.part(theta, "map"), self.part(theta, "offsets")
        A = self._map if A is None else A
        found = self.points[bins] if A is None else self.points[bins] @ A
        return found if offsets is None else found + offsets[bins]

    def gradient(
        self, bins: Array, in_positions: Array, in_log_weights: Array
    ) -> Array:
        r"""Gradient in the flat vector of what has these gradients at some bins.

        .. math:: \nabla_A = \sum_p x_p \nabla_{a_p}', \qquad
                  \nabla_{\delta_p} = \nabla_{a_p}.
        """
        flat = self.arrays.xp.zeros_like(self.start)
        for name, g in (("weights", in_log_weights), ("offsets", in_positions)):
            part = self.part(flat, name)
            if part is not None:
                part[bins] = g
        part = self.part(flat, "map")
        if part is not None:
            part[...] = self.points[bins].T @ in_positions
        return flat

    def identity(self) -> Iterator[Any]:
        """Return what positions and weights depend on, but for the vector."""
        yield f"parameters {self.shape} {sorted(self.slices)} {self.dtype}"
        for array in (self.points, self._log_weights, self.start):
            yield to_numpy(array)


def inverse_document_frequency(rows: csr_array) -> NDArray[np.float64]:
    """Weights log((n + 1) / (n_p + 1)) + 1, where n_p of n histograms use bin p.

    Bins that all histograms use weigh least, as in tf-idf.
    """
    n, d = rows.shape
    used = np.bincount(rows.indices[rows.data > 0], minlength=d)
    weights: NDArray[np.float64] = np.log((n + 1) / (used + 1)) + 1
    return weights


def starting_weights(given: Any, rows: csr_array) -> Any:
    """Return weights of bins to start from: as given, or by name; None if all are 1."""
    if not isinstance(given, str):
        return given
    validation.require_one_of(given, "bin_weights", ("learn", "idf"))
    return inverse_document_frequency(rows) if given == "idf" else None


def logarithms(weights: ArrayLike | None, d: int, name: str = "bin_weights") -> Floats:
    """Validate weights of d bins, and return their logarithms, with mean 0."""
    if weights is None:
        return np.zeros(d)
    array = validation.as_float_array(weights, name, 1)
    if len(array) != d:
        raise ValueError(f"{name} has {len(array)} entries for {d} bins.")
    bad = ~((array > 0) & (array < np.inf))
    if bad.any():
        p = int(np.argmax(bad))
        raise ValueError(
            f"{name}[{p}] is {array[p]}: weights of bins must be positive and finite."
        )
    logs: Floats = np.log(array)
    logs -= logs.mean()
    return logs


def exponentials(log_weights: Floats) -> Floats:
    """Return weights to show; those out of range are as large or small as possible."""
    found: Floats = np.exp(np.clip(log_weights, -LARGEST_LOG, LARGEST_LOG))
    return found


def standardized(points: Floats, name: str = "points") -> Floats:
    """Center points, and scale them to a mean square length of 1."""
    is_same = bool((points == points[0]).all())  # less their mean, rounding may remain
    points = points - points.mean(axis=0)
    points = points / (np.abs(points).max() or 1.0)
    size = math.sqrt(np.square(points).sum() / len(points))
    if is_same or size == 0:
        verb = "are" if name == "points" else "is"
        raise ValueError(f"{name} {verb} all the same: there is nothing to learn from.")
    unit: Floats = points / size
    return unit


def _unit_vectors(rows: csr_array, n_components: int | None) -> Floats:
    """Return e_p, or their projections onto axes along which histograms vary most.

    The axes are those of a singular value decomposition, without a d x d matrix.
    """
    n, d = rows.shape
    if n_components is None:
        return np.eye(d)
    r = validation.as_count(n_components, "n_components", low=1, high=d)
    if r == d:
        return np.eye(d)
    axes = _more_axes(rows.toarray(), r) if r >= min(n, d) else _few_axes(rows, r)
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    turned: Floats = (axes * np.where(largest < 0, -1.0, 1.0)).T
    return turned


def _few_axes(rows: csr_array, r: int) -> Floats:
    """Return the r axes along which more than r rows vary most."""
    from scipy.sparse.linalg import LinearOperator, svds

    mean = np.asarray(rows.mean(axis=0)).ravel()
    centered = LinearOperator(
        rows.shape,
        dtype=np.float64,
        # Some vectors are columns; less the mean, these would be d x d.
        matvec=lambda v: rows @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda u: rows.T @ u.ravel() - mean * u.sum(),
    )
    _, _, axes = svds(centered, k=r, v0=np.ones(min(rows.shape)))
    found: Floats = axes[::-1]
    return found


def _more_axes(rows: Floats, r: int) -> Floats:
    """Return the axes of at most r rows, and others that complete them to r.

    Without the matrix of all bins, whose eigenvectors would be these, too.
    """
    n, d = rows.shape
    axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2]
    others = np.random.default_rng(0).normal(size=(r - n, d))
    q, triangle = np.linalg.qr(np.vstack([axes, others]).T)
    found: Floats = (q * np.where(np.diag(triangle) < 0, -1.0, 1.0)).T
    return found
