"""The compiled core of groundmetric; not a public interface."""

from collections.abc import Callable
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


MAX_NODES: int = 65535

class Masses:
    """Histograms as integer masses."""

    def __init__(self, histograms: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], total: float) -> None: ...

    def __len__(self) -> int: ...

    @property
    def unit(self) -> float:
        """The mass of one unit."""

class CostMatrix:
    """Costs between bins."""

    @overload
    def __init__(self, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def __init__(self, cost: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def is_quasimetric(self, n_threads: int) -> bool:
        """Zero diagonal and triangle inequality."""

class Certificate:
    """A solved pair and its proof."""

    @property
    def value(self) -> float: ...

    @property
    def dual_value(self) -> float: ...

    @property
    def n_pivots(self) -> int: ...

    @property
    def forbidden(self) -> float:
        """Mass that no plan keeps off arcs of infinite cost."""

    @property
    def rows(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def columns(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    @property
    def flow(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def u(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def summarize(histograms: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[float, float, float, float]:
    """Smallest entry; mass of the first row, smallest and largest mass."""

@overload
def transport(r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Certificate: ...

@overload
def transport(r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, cost: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Certificate:
    """One pair, with its certificate."""

@overload
def emd(r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> float: ...

@overload
def emd(r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, cost: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> float:
    """The distance of one pair."""

def smoothed(x: Masses, y: Masses, cost: CostMatrix) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
    """
    Of the first histograms of x and y: potentials of the columns, and rows and columns of the arcs that most probably are leaves.
    """

def pairwise_dense(x: Masses, y: Masses, cost: CostMatrix, symmetric: bool, n_threads: int, progress: Callable[[int], None] | None, hub: bool = True, counts: Annotated[NDArray[numpy.int64], dict(shape=(3), order='C', device='cpu')] | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    All distances; adds pivots, pairs by the hub and arcs priced there to `counts`.
    """

class DenseBatch:
    """Pairs solved again and again."""

    def __init__(self, x: Masses, y: Masses, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def solve(self, cost: CostMatrix, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int, progress: Callable[[int], None] | None) -> tuple[int, str, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """Number of the solve, how it knows that mass stays, values, pivots."""

    def plan_sum(self, number: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Weighted sum of the plans of solve `number`."""

    def plans(self, number: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Starts, rows, columns and flow of the plans of solve `number`."""

    def certificate(self, number: int, cost: CostMatrix, pair: int) -> Certificate: ...

    def potentials(self, number: int, cost: CostMatrix, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """Potentials of pairs on all bins, in rows: u and v."""

    def __len__(self) -> int: ...

    def pairs(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """Rows (i, j), as given."""

    @property
    def n_bytes(self) -> int: ...

class MetricProjector:
    """Projections onto the cone of metrics."""

    def __init__(self, n_bins: int, has_center: bool = False) -> None: ...

    @property
    def has_center(self) -> bool: ...

    def project(self, matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, tol: float, max_rounds: int, n_threads: int, progress: Callable[[int], None] | None, cap: float = 0.0) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], int, int, float, float, bool]:
        """Metric, rounds, sweeps, violation, relative bound, converged."""

    def forget(self) -> None: ...

    def triangles(self) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
        """Triangles (i, j, k), their duals, and the duals' unit."""

    def set_triangles(self, corners: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], duals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit: float) -> None:
        """What triangles() returned."""

    @property
    def n_triangles(self) -> int: ...

def detours(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """min_k M_ik + M_kj."""

def typical_sum(histograms: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], total: float, n_threads: int, progress: Callable[[int], None] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], float]:
    """Weighted sum of typical tables; largest relative error of a margin."""

class Found:
    """Neighbors, query by query."""

    @property
    def starts(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def distances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def indices(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    @property
    def n_solved(self) -> int: ...

    @property
    def n_stopped(self) -> int: ...

    @property
    def n_bounded(self) -> int: ...

    @property
    def n_pivots(self) -> int: ...

    def plan_sum(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, spread: bool = False) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Weighted sum of the optimal plans of all neighbors; or of the most spread ones for the uniform metric.
        """

class DenseSearch:
    """Nearest neighbors, few pairs solved."""

    def __init__(self, base: Masses, cost: CostMatrix) -> None: ...

    def find(self, queries: Masses | None, n_neighbors: int, radii: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, same: bool = True, candidates: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None, hints: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None, keep_trees: bool = False, within: tuple[int, int] | None = None, n_threads: int = 1, progress: Callable[[int], None] | None = None) -> Found:
        """
        The n_neighbors nearest within the radius of each query; None for the base among itself, or for a range of it; then of the same or of other classes, or of listed candidates.
        """

    @property
    def n_solves(self) -> int:
        """Pairs that the simplex looked at in the last find."""

class SparseMasses:
    """Sparse histograms as integer masses."""

    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_bins: int, total: float) -> None: ...

    def __len__(self) -> int: ...

class Points:
    """Coordinates of bins."""

    def __init__(self, coordinates: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

class PointSearch:
    """Nearest neighbors for Euclidean costs."""

    def __init__(self, base: SparseMasses, points: Points) -> None: ...

    def find(self, queries: SparseMasses | None, n_neighbors: int, radius: float, n_threads: int, progress: Callable[[int], None] | None, *, first: int = -1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], int]:
        """
        Starts, distances and indices of the n_neighbors nearest within the radius of each query, None for the base among itself; and the number of pairs that the simplex looked at. Queries are those of the base from first on, unless it is negative.
        """

    def find_among(self, n_neighbors: int, radii: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, same: bool = True, candidates: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]] | None = None, once: bool = False, n_threads: int = 1) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], tuple[int, int, int, int]]:
        """
        The same for the base among itself, of the same or of other classes, or of listed candidates, each pair once from the end with the larger radius or from both; and the numbers of pairs solved, stopped and bounded, and of pivots.
        """

def pairwise_points(x: SparseMasses, y: SparseMasses, points: Points, symmetric: bool, n_threads: int, progress: Callable[[int], None] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """All distances, for Euclidean costs."""

def pairwise_sparse(x: SparseMasses, y: SparseMasses, cost: CostMatrix, row_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], symmetric: bool, reduced: bool, n_threads: int, progress: Callable[[int], None] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """All distances, for costs between the bins that are listed."""

def nearest_sparse(queries: SparseMasses, base: SparseMasses, cost: CostMatrix, row_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_neighbors: int, radii: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, first: int, symmetric: bool, reduced: bool, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], int]:
    """
    Starts, distances and indices of the n_neighbors nearest within the radius of each query, for costs between the bins that are listed; and the number of pairs that the simplex looked at. DenseQuery i is histogram first + i of the base, unless it is outside.
    """

class Line:
    """Bins on a line, from left to right."""

    def __init__(self, coordinates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], squared: bool) -> None: ...

    def __len__(self) -> int: ...

    def pairwise(self, x: SparseMasses, y: SparseMasses, symmetric: bool, n_threads: int, progress: Callable[[int], None] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """All distances."""

    def in_pairs(self, x: SparseMasses, y: SparseMasses, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The distances of rows (i, j)."""

    def transport(self, x: SparseMasses, y: SparseMasses) -> Certificate:
        """Plan and proof of the first histograms."""

class SparseBatch:
    """Pairs of sparse histograms, solved repeatedly."""

    def __init__(self, x: SparseMasses, y: SparseMasses, pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reduced: bool) -> None: ...

    def begin(self) -> int:
        """The number of a new solve."""

    def solve_points(self, number: int, points: Points, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """Values and pivots."""

    def solve_sparse(self, number: int, cost: CostMatrix, row_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))]]:
        """The same for costs between the bins that are listed."""

    def plans(self, number: int, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Starts, rows, columns and flow of the plans of solve `number`."""

    def potentials_points(self, number: int, points: Points, pair: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Sending bins and their u, receiving bins and their v."""

    def potentials_sparse(self, number: int, cost: CostMatrix, row_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], column_bins: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pair: int) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]: ...

    def __len__(self) -> int: ...

    def pairs(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """Rows (i, j), as given."""

    @property
    def n_bytes(self) -> int: ...

def instruction_set() -> str:
    """The vector instructions in use: baseline, avx2 or avx512."""

def set_poll_interval(milliseconds: int) -> int:
    """
    Set the time between two checks for Ctrl-C, and return the one before; with 0, tests count the checks.
    """

def n_polls() -> int:
    """How often any call has checked for Ctrl-C."""
