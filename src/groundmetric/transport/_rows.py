"""Distances between rows in pairs: row i of one set with row i of the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..validation import Case, Histograms
from ._dense import DenseSolver
from ._forbidden import refuse_infeasible
from ._line import Line
from ._points import PointSets
from ._supports import PointsSolver, SparseSolver

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def are_rows(x: Any) -> bool:
    """Whether these are several histograms, not a vector or something else."""
    if hasattr(x, "toarray"):
        return x.ndim == 2 and 1 not in x.shape  # noqa: PLR2004 - rows and bins
    if isinstance(x, np.ndarray):
        return x.ndim == 2  # noqa: PLR2004
    try:
        return validation.are_clouds(x) or np.ndim(x) == 2  # noqa: PLR2004
    except ValueError:  # ragged
        return False


def emd_of_rows(
    r: ArrayLike,
    c: ArrayLike,
    metric: Any,
    points: ArrayLike | None,
    n_jobs: int | None,
) -> Floats:
    """Distances between the rows of r and those of c, one of which may be a vector."""
    threads = validation.n_threads(n_jobs)
    case = validation.case_of(r, c, points)
    given = case.accept(metric)
    if case is Case.POINTS and points is None:
        return _of_clouds(r, c, given, threads)
    left, right = _as_rows(r, "r", case), _as_rows(c, "c", case)
    x, y = _rows_of(left, case), _rows_of(right, case)
    pairs = _pairs_of(x.shape[0], y.shape[0])
    masses = validation.paired_masses(left, right, pairs)
    factors, x, y = _of_equal_mass(x, y, masses, pairs)
    if case is Case.POINTS:
        validation.require_same_bins(left, right)
        return factors * _between_points(
            PointSets.of(x, y, points), given, pairs, threads
        )
    solver = (SparseSolver if case is Case.SPARSE else DenseSolver)(x, y, pairs)
    return factors * _solved(solver, given, threads)


class InPairs(NamedTuple):
    """Pairs of rows of equal mass, and what to multiply their distances by."""

    solver: DenseSolver | PointsSolver
    metric: Any
    factors: Floats


def rows_in_pairs(r: Floats, c: Floats, pairs: Indices, ground: Any) -> InPairs:
    """Prepare pairs (i, j) of dense rows, on bins with costs or with points."""
    points = ground.get("points")
    case = Case.DENSE if points is None else Case.POINTS
    metric = case.accept(ground.get("metric"))
    left, right = (
        validation.as_histograms(rows, name) for name, rows in (("r", r), ("c", c))
    )
    masses = validation.paired_masses(left, right, pairs)
    factors, x, y = _of_equal_mass(left.values, right.values, masses, pairs)
    if case is Case.DENSE:
        return InPairs(DenseSolver(x, y, pairs), metric, factors)
    validation.require_same_bins(left, right)
    sets = PointSets.of(x, y, points)
    return InPairs(PointsSolver(sets, pairs), metric, factors)


def _of_equal_mass(
    x: Any, y: Any, masses: Floats, pairs: Indices
) -> tuple[Floats, Any, Any]:
    """Scale all rows to mass 1 if their masses differ between pairs."""
    if _are_equal(masses):
        return np.ones(1), x, y
    return masses[pairs[:, 0]], _normalized(x), _normalized(y)


def _of_clouds(r: Any, c: Any, metric: Any, threads: int) -> Floats:
    """Distances between point clouds."""
    left, right = (
        validation.as_clouds(x, name).histograms for name, x in (("r", r), ("c", c))
    )
    pairs = _pairs_of(len(r), len(c))
    masses = validation.paired_masses(left, right, pairs)
    factors = np.ones(1)
    if not _are_equal(masses):
        factors = masses[pairs[:, 0]]
        r, c = ([(_normalized(m), p) for m, p in x] for x in (r, c))
    return factors * _between_points(PointSets.of(r, c, None), metric, pairs, threads)


def _between_points(
    sets: PointSets, metric: Any, pairs: Indices, threads: int
) -> Floats:
    """Distances of pairs on bins with coordinates, which may be on a line."""
    line = Line.of(sets.points, metric)
    if line is None:
        return _solved(PointsSolver(sets, pairs), metric, threads)
    x, y = (line.rows(rows, sets.total) for rows in (sets.left, sets.right))
    values: Floats = line.core.in_pairs(x, y, pairs, threads)
    validation.require_in_range(values)
    return values


def _solved(solver: Any, metric: Any, threads: int) -> Floats:
    n = len(solver.core)
    values: Floats = solver.solve(metric, None, np.arange(n), threads)[0]
    for k in np.flatnonzero(np.isnan(values)):
        refuse_infeasible(f"row {k} of r to that of c")
    validation.require_in_range(values)
    return values


def _as_rows(x: Any, name: str, case: Case) -> Histograms:
    """Validate rows, or a vector."""
    if not are_rows(x):
        return validation.as_histograms(x, name, ndim=1)
    dense = case is Case.DENSE
    return (validation.as_histograms if dense else validation.as_supports)(x, name)


def _rows_of(found: Histograms, case: Case) -> Any:
    """Return rows, dense or sparse; a vector is one."""
    rows = found.values[None] if found.values.ndim == 1 else found.values
    if case is Case.DENSE or hasattr(rows, "toarray"):
        return rows
    return validation.as_supports(rows, found.name).values


def _pairs_of(n: int, m: int) -> Indices:
    """Pair rows; the only row of one set goes with all of the other."""
    if n != m and min(n, m) > 1:
        raise ValueError(
            f"r has {n} histograms, but c has {m}: rows are compared in pairs. For the "
            "distances of all rows to all others, use pairwise_emd."
        )
    k = np.arange(max(n, m))
    return np.stack([np.minimum(k, n - 1), np.minimum(k, m - 1)], axis=1)


def _are_equal(masses: Floats) -> bool:
    return bool(np.ptp(masses) <= validation.ROUNDING * masses[0])


def _normalized(rows: Any) -> Any:
    """Scale rows, or a vector, to mass 1."""
    if hasattr(rows, "toarray"):
        rows = rows.copy()
        rows.data /= np.repeat(rows.sum(axis=1), np.diff(rows.indptr))
        return rows
    rows = np.asarray(rows, dtype=np.float64)
    return rows / rows.sum(axis=-1, keepdims=True)
