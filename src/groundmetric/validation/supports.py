"""Sparse histograms, point clouds, and the coordinates of bins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import as_float_array, require_finite
from .gradients import require_no_gradient
from .histograms import (
    LARGEST_DIMENSION,
    NEGATIVE,
    ROUNDING,
    SMALLEST_MASS,
    Histograms,
    as_histograms,
)
from .places import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
GroundCost = Callable[[Floats, Floats], Floats]

# These compute weights from the points they are given, which would differ by block.
BLOCKWISE = ("mahalanobis", "seuclidean")
# The other metrics of scipy's cdist; it knows short names as well.
POINTWISE = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine"),
    *("dice", "euclidean", "hamming", "jaccard", "jensenshannon", "minkowski"),
    *("rogerstanimoto", "russellrao", "sokalsneath", "sqeuclidean", "yule"),
)


class Clouds(NamedTuple):
    """Point clouds as histograms on all of their points."""

    histograms: Histograms
    points: Floats


def as_supports(X: ArrayLike, name: str | Table) -> Histograms:
    """Validate histograms in rows, and keep only their non-empty bins.

    Returns values as a CSR array with sorted bins. Sparse X is not made dense.
    """
    table = Table.of(X, name)
    given: Any = X
    if not hasattr(given, "toarray"):
        given = as_float_array(X, table, 2)
    elif given.dtype.kind not in "biuf" or given.ndim != 2:  # noqa: PLR2004
        raise ValueError(
            f"{table} must be a matrix of real numbers, not of {given.dtype} with "
            f"shape {given.shape}."
        )
    from scipy.sparse import csr_array

    rows = csr_array(given, dtype=np.float64, copy=True)
    if 0 in rows.shape:
        raise ValueError(f"{table} is empty: its shape is {rows.shape}.")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    refuse_entries(rows, ~np.isfinite(rows.data), table, "entries must be finite")
    refuse_entries(rows, rows.data < 0, table, NEGATIVE)
    with np.errstate(over="ignore"):
        masses = np.asarray(rows.sum(axis=1)).ravel()
    found = Histograms(
        rows, table, float(masses[0]), float(masses.min()), float(masses.max())
    )
    _require_supports(found, masses)
    return found


def as_sparse_distributions(X: ArrayLike, name: str | Table) -> csr_array:
    """Validate histograms or counts in rows, and scale them to mass 1; CSR."""
    rows: csr_array = as_supports(X, name).values
    masses = np.asarray(rows.sum(axis=1)).ravel()
    masses[np.abs(masses - 1.0) <= ROUNDING] = 1.0
    rows.data /= np.repeat(masses, np.diff(rows.indptr))
    return rows


def _require_supports(found: Histograms, masses: Floats) -> None:
    bad = ~((masses >= SMALLEST_MASS) & (masses < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        what = "zero mass" if masses[row] == 0.0 else f"mass {masses[row]}"
        raise ValueError(
            f"{found.which(row)} has {what}: histograms need positive, finite mass."
        )
    sizes = np.diff(found.values.indptr)  # type: ignore[attr-defined]  # sparse
    if sizes.max() > LARGEST_DIMENSION:
        row = int(sizes.argmax())
        raise ValueError(
            f"{found.which(row)} has {sizes[row]} non-empty bins; at most "
            f"{LARGEST_DIMENSION} are supported."
        )


def refuse_entries(
    rows: csr_array, bad: NDArray[np.bool_], table: Table, what: str
) -> None:
    """Raise an error that names the first bad entry of a sparse matrix."""
    if bad.any():
        k = int(np.argmax(bad))
        i = int(np.searchsorted(rows.indptr, k, side="right")) - 1
        place = table.entry((i, int(rows.indices[k])))
        raise ValueError(f"{place} is {rows.data[k]}: {what}.")


def as_coordinates(points: ArrayLike, d: int, name: str = "points") -> Floats:
    """Validate finite coordinates of d bins, in rows; a vector is a single column."""
    require_no_gradient(points, name)
    if _is_vector(points):
        array = as_float_array(points, name, 1)[:, None]
    else:
        array = as_float_array(points, name, 2)
    if len(array) != d or array.shape[1] == 0:
        raise ValueError(
            f"{name} has shape {array.shape}, but the histograms have {d} bins: one "
            "row of coordinates for each is needed."
        )
    require_finite(array, name)
    return array


def _is_vector(points: ArrayLike) -> bool:
    try:
        return np.ndim(points) == 1
    except ValueError:  # ragged
        return False


def as_clouds(X: Any, name: str) -> Clouds:
    """Validate a list of (masses, coordinates): each cloud has points of its own."""
    wanted = f"{name} must be a list of point clouds, pairs (masses, coordinates)"
    if not isinstance(X, Sequence) or isinstance(X, str) or not len(X):
        raise ValueError(f"{wanted}; it is {type(X).__name__}.")
    masses, points = [], []
    for i, cloud in enumerate(X):
        if not _is_cloud(cloud):
            raise ValueError(f"{wanted}, but {name}[{i}] is not a pair of arrays.")
        mass = as_histograms(cloud[0], f"{name}[{i}][0]", 1).values
        masses.append(mass)
        points.append(as_coordinates(cloud[1], len(mass), f"{name}[{i}][1]"))
        if points[i].shape[1] != points[0].shape[1]:
            raise ValueError(
                f"{name}[{i}] has points with {points[i].shape[1]} coordinates, but "
                f"those of {name}[0] have {points[0].shape[1]}."
            )
    starts = np.cumsum([0, *map(len, masses)])
    from scipy.sparse import csr_array

    rows = csr_array(
        (np.concatenate(masses), np.arange(starts[-1]), starts),
        shape=(len(masses), starts[-1]),
    )
    return Clouds(as_supports(rows, name), np.concatenate(points))


def are_clouds(X: object) -> bool:
    """Return whether these are point clouds, not histograms."""
    return isinstance(X, Sequence) and len(X) > 0 and _is_cloud(X[0])


def _is_cloud(cloud: object) -> bool:
    if not isinstance(cloud, (tuple, list)) or len(cloud) != 2:  # noqa: PLR2004
        return False
    return all(hasattr(part, "__len__") for part in cloud)


def as_ground_cost(metric: str | GroundCost) -> GroundCost:
    """Validate the name of a scipy metric, or a function of two blocks of points."""
    if not isinstance(metric, str):
        return metric
    if metric in BLOCKWISE:
        raise ValueError(
            f"metric is {metric!r}, which scales points by their variances; scale "
            "points yourself and use 'euclidean'."
        )
    if metric not in POINTWISE:
        raise ValueError(
            f"metric is {metric!r}, which is not the full name of a metric of scipy's "
            "cdist."
        )
    from scipy.spatial.distance import cdist

    return lambda left, right: cdist(left, right, metric)


def as_block_of_costs(
    cost: ArrayLike, rows: NDArray[np.int32], columns: NDArray[np.int32]
) -> Floats:
    """Validate the costs that a ground cost returned for some bins."""
    array = as_float_array(cost, "metric(points, points)", 2)
    shape = (len(rows), len(columns))
    if array.shape != shape:
        raise ValueError(
            f"metric returned costs of shape {array.shape} for {shape[0]} and "
            f"{shape[1]} points."
        )
    bad = ~np.isfinite(array)
    if bad.any():
        i, j = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"metric is {array[i, j]} between points {rows[i]} and {columns[j]}: "
            "costs must be finite."
        )
    return array
