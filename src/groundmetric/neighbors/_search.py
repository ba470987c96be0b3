"""Exact nearest neighbors under the EMD, solving only a few pairs.

A histogram is ruled out if a lower bound of its distance exceeds the k-th best found so
far. These bounds hold for any metric; the search is ``cpp/search/dense_search.h``:

- one-sided: mass that leaves bin p travels at least min_q M_pq;
- Lipschitz: the potentials f of an earlier pair with the same query bound all other
  distances by |f'(q - x)|;
- raised: f, raised on the bins of the pair as far as its costs allow;
- stopped: the simplex stops once it has proved that a distance is too large.

Functions computed once for all queries and the triangle inequality of the EMD over
pivots of the database were also measured; they rule out almost nothing more. If bins
have coordinates, other bounds are cheaper: see ``_bases.py``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .. import validation
from .._progress import progress_bar
from ..base._rows import all_or_nothing
from ._bases import Asked, find_there
from ._database import Database

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ._bases import Found

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mode = Literal["connectivity", "distance"]
MODES = ("connectivity", "distance")
GRAPHS = ("n_neighbors", "radius")


class EMDNeighbors(Database):
    """Find nearest neighbors under the earth mover's distance, exactly.

    The results equal those of :func:`pairwise_emd` and a stable sort, bit for bit, but
    bounds rule out most pairs before they are solved. Works like scikit-learn's
    ``NearestNeighbors`` and, as a transformer, like its
    ``KNeighborsTransformer(mode="distance")``: its graph can be passed to estimators
    with ``metric="precomputed"``.

    Parameters
    ----------
    metric : array-like of shape (d, d), learner, str or callable, optional
        The ground metric; or a fitted learner, whose power is applied to all
        histograms and whose own distances are searched. None is the uniform
        metric, 1 between any two bins, under which the EMD is half the l1 distance.
        With points, the name of a metric in ``scipy.spatial.distance.cdist`` or a
        function of two blocks of points, as in :func:`pairwise_emd`; None is
        "euclidean", the fastest. These need not obey the triangle inequality. If their
        rounding depends on the block, as that of cosines does, so do distances.
    points : array-like of shape (d, s), optional
        Coordinates of the bins, instead of a matrix of costs: sparse histograms stay
        sparse. With word vectors, this is a search by word mover's distance.
    n_neighbors : int, default=5
        How many neighbors to find.
    radius : float, default=1.0
        The default radius of ``radius_neighbors``.
    graph : {"n_neighbors", "radius"}, default="n_neighbors"
        Which graph ``transform`` returns; DBSCAN needs "radius", with at least its eps.
    empty : {"error", "uniform", "nan"}, default="error"
        Rows of zero mass, such as empty documents: reject them, let them count as the
        uniform histogram, or as infinitely unlike all others. In the last case they are
        never found as neighbors; as queries, they have none within any radius, and
        ``kneighbors`` rejects them.
    n_jobs : int, optional
        Number of threads over queries. Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Attributes
    ----------
    learner_ : estimator
        The learner, if metric is one.
    metric_ : ndarray of shape (d, d), str or callable
        The ground metric; with points, its name or the function.
    points_ : ndarray of shape (d, s)
        The coordinates of the bins, if given.
    n_solves_ : int
        EMDs that the simplex started in the last search, including solves that stopped
        early.
    n_samples_fit_ : int
        Number of histograms in the database.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import EMDNeighbors
    >>> base = [[4, 0, 0], [3, 1, 0], [0, 1, 3], [0, 0, 4]]
    >>> search = EMDNeighbors([[0, 1, 2], [1, 0, 1], [2, 1, 0]], n_neighbors=2)
    >>> distances, indices = search.fit(base).kneighbors([[2, 2, 0]])
    >>> distances
    array([[0.25, 0.5 ]])
    >>> indices
    array([[1, 0]])
    """

    def __init__(
        self,
        metric: Any = None,
        *,
        points: ArrayLike | None = None,
        n_neighbors: int = 5,
        radius: float = 1.0,
        graph: str = "n_neighbors",
        empty: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.points = points
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph = graph
        self.empty = empty
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: ArrayLike, y: object = None) -> EMDNeighbors:  # noqa: ARG002
        """Store the histograms to search in.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : ignored
        """
        self._store(X)
        validation.as_count(self.n_neighbors, "n_neighbors", low=1)
        _as_radius(self.radius)
        validation.n_threads(self.n_jobs)
        validation.require_one_of(self.graph, "graph", GRAPHS)
        return self

    def kneighbors(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,  # noqa: FBT001, FBT002 - as in scikit-learn
        *,
        client: object = None,
    ) -> tuple[Floats, Indices] | Indices:
        """Find the nearest histograms of each query, sorted by distance, then by index.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, d), optional
            Queries. None searches the database for its own histograms, excluding each
            histogram itself.
        n_neighbors : int, optional
            How many; ``self.n_neighbors`` if None.
        return_distance : bool, default=True
            False returns only the indices.
        client : dask.distributed.Client, optional
            Search on the workers of a cluster, some queries at a time, each part on
            n_jobs threads.

        Returns
        -------
        distances, indices : ndarrays of shape (n_queries, n_neighbors)
        """
        k = self._count(n_neighbors, X)
        found = self._find(X, k, math.inf, client)
        found.require_any()
        indices = found.indices.reshape(-1, k)
        return (found.distances.reshape(-1, k), indices) if return_distance else indices

    def radius_neighbors(
        self,
        X: ArrayLike | None = None,
        radius: float | None = None,
        return_distance: bool = True,  # noqa: FBT001, FBT002 - as in scikit-learn
        sort_results: bool = False,  # noqa: FBT001, FBT002
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]] | NDArray[np.object_]:
        """Find all histograms at most ``radius`` away from each query.

        Takes the same arguments as :meth:`kneighbors`, with ``radius`` (``self.radius``
        if None) instead of ``n_neighbors``. Results are sorted by index, or by distance
        if ``sort_results`` is true.

        Returns
        -------
        distances, indices : ndarrays of shape (n_queries,), of arrays
        """
        found = self._find_within(X, radius, by_index=not sort_results)
        lists = found.lists()
        return lists if return_distance else lists[1]

    def kneighbors_graph(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        mode: Mode = "connectivity",
    ) -> csr_matrix:
        """Return the graph of nearest neighbors, a sparse matrix of ones or distances.

        Takes the same arguments as :meth:`kneighbors`.
        """
        found = self._find(X, self._count(n_neighbors, X), math.inf)
        found.require_any()
        return self._graph(found, mode)

    def radius_neighbors_graph(
        self,
        X: ArrayLike | None = None,
        radius: float | None = None,
        mode: Mode = "connectivity",
        sort_results: bool = False,  # noqa: FBT001, FBT002
    ) -> csr_matrix:
        """Return the graph of the neighbors that :meth:`radius_neighbors` finds."""
        return self._graph(
            self._find_within(X, radius, by_index=not sort_results), mode
        )

    def transform(self, X: ArrayLike) -> csr_matrix:
        """Return the graph of distances to the nearest, or to all within the radius.

        Finds n_neighbors + 1, since a histogram of the database is its own neighbor.
        """
        if self.graph == "radius":
            return self.radius_neighbors_graph(X, mode="distance", sort_results=True)
        return self.kneighbors_graph(X, self._count(None, X) + 1, mode="distance")

    @property
    def n_solves_(self) -> int:
        """EMDs that the simplex started in the last search."""
        return self._base.n_solves

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def _count(self, n_neighbors: int | None, X: ArrayLike | None) -> int:
        """Validate the number of neighbors against the size of the database."""
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        most = self.n_samples_fit_ - int(self._are_hidden().sum()) - (X is None)
        return validation.as_count(k, "n_neighbors", low=1, high=most)

    def _find(
        self,
        X: ArrayLike | None,
        n_neighbors: int,
        radius: float,
        client: object = None,
    ) -> Found:
        """Return the number of neighbors of each query, their distances and indices."""
        queries = None if X is None else self._as_rows(X, reset=False)
        hidden = self._are_hidden()
        alone = hidden
        if X is not None and queries is not None:
            alone = self._incomparable(X, queries.shape[0])
        threads = validation.n_threads(self.n_jobs)
        n = self.n_samples_fit_ if queries is None else queries.shape[0]
        show = self.verbose > 0
        with progress_bar(n, label="neighbors", unit="query", show=show) as report:
            # Hidden histograms may be among the nearest.
            wanted = min(n_neighbors + int(hidden.sum()), self.n_samples_fit_)
            asked = Asked(queries, wanted, radius, threads, report)
            if client is None:
                found = self._base.find(asked)
            else:
                found = find_there(client, self, asked)
        self._base.n_solves = found.n_solves
        if hidden.any() or alone.any():
            found = found.without(hidden, alone, n_neighbors)
        return found._replace(indices=found.indices.astype(np.intp))

    def _find_within(
        self, X: ArrayLike | None, radius: float | None, *, by_index: bool
    ) -> Found:
        check_is_fitted(self)
        radius = _as_radius(self.radius if radius is None else radius)
        found = self._find(X, self.n_samples_fit_, radius)
        return found.by_index() if by_index else found

    def _graph(self, found: Found, mode: Mode) -> csr_matrix:
        validation.require_one_of(mode, "mode", MODES)
        return found.graph(self.n_samples_fit_, distances=mode == "distance")


def _as_radius(radius: float) -> float:
    as_number = validation.as_number
    return radius if radius == math.inf else as_number(radius, "radius", low=0.0)
