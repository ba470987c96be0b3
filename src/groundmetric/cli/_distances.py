"""``groundmetric distances``: all distances, or the nearest neighbors."""

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .. import EMDNeighbors, _files, pairwise_emd, validation
from ..datasets import HistogramTable
from ..datasets._histogram_table import bins_like
from ..datasets._matrix import load_metric
from ..datasets._reading import Bins
from ._command import command
from ._console import emit, note, shows_progress
from ._data import bins_of, read_histograms
from ._effort import say_how_long_for_pairs
from ._models import is_map, load_learner, nearest_of
from ._options import InputFile, Json, Model, Output, Source
from ._output import require_suffix, write_matrix, write_rows

Floats = NDArray[np.float64]
Rows = list[int | str]


@command(
    "groundmetric distances flowers.csv --model flowers.npz --out distances.npy",
    "groundmetric distances flowers.csv --metric ground.csv > distances.csv",
    "groundmetric distances base.csv --model m.npz --queries new.csv --neighbors 5",
    without=("labels", "vectors"),
)
def distances(
    source: Source,
    *,
    model: Model = None,
    metric: InputFile = None,
    queries: InputFile = None,
    neighbors: int | None = None,
    out: Annotated[Path | None, Output((".csv", ".npy", ".npz"))] = None,
    json: Json = False,
) -> None:
    """Compute distances, or find neighbors.

    Computes the earth mover's distances under a learned or given metric: all of them,
    or the smallest for each query, with the labels of these neighbors if DATA has any.

    Parameters
    ----------
    metric
        A ground metric, .npy or .csv; replaces --model.
    queries
        Histograms whose distances to DATA are computed; by default DATA. They need no
        labels: --label names those of DATA.
    neighbors
        Find this many nearest neighbors in DATA, not all distances.
    out
        Write .csv or .npy (neighbors: .csv or .npz) instead of CSV on standard output.
    """
    require_suffix(out, ".csv", ".npy" if neighbors is None else ".npz")
    ground, wanted = _ground(model, metric)
    if source.path == queries == "-":
        raise ValueError("DATA and --queries cannot both be standard input.")
    labeled = False if neighbors is None else None  # if there are any
    given = read_histograms(replace(source, beside=queries), wanted, labeled=labeled)
    asked, rows = given, None
    if queries is not None:
        known = wanted if wanted.names else bins_like(given)
        other = replace(source, path=queries, beside=source.path, is_second=True)
        asked = read_histograms(other, known)
        rows = asked.X
    base, called = given.row_names(), asked.row_names()
    if neighbors is None:
        arrays = {"distances": _with_nan(given.X, rows, ground, source.jobs)}
        facts: dict[str, Any] = {"shape": arrays["distances"].shape}
        named: dict[str, Any] = {"rows": called, "columns": base}
    else:
        search = EMDNeighbors(ground, empty=source.empty, n_jobs=source.jobs)
        arrays, facts = _nearest(given, rows, search, neighbors)
        found = [[base[j] for j in nearest] for nearest in arrays["indices"]]
        named = {"queries": called, "neighbors": found}
    has_names = given.has_names or asked.has_names
    if out is not None or not json:
        _write(arrays, out, called, base, has_names=has_names)
    if json:
        shown = (named if has_names else {}) | arrays
        emit(facts | (shown if out is None else {"out": out}))
    elif out is not None:
        note(f"wrote {out}")


def _ground(model: Path | None, metric: str | None) -> tuple[Any, Bins]:
    """Read a learner or a metric, and which bins it is of."""
    if (model is None) == (metric is None):
        raise ValueError("Give either --model or --metric.")
    if model is not None:
        learner = load_learner(model)
        return learner, bins_of(learner)
    given = load_metric(str(metric))
    try:
        matrix = validation.as_square(given.values, "the matrix")
        validation.require_metric(matrix, "the matrix")
    except ValueError as error:
        raise ValueError(
            f"--metric is {metric}: {error} (groundmetric project finds the nearest "
            "metric.)"
        ) from error
    return matrix, Bins(len(matrix), given.columns or (), f"{metric} has")


def _with_nan(base: Floats, asked: Floats | None, ground: Any, jobs: int) -> Floats:
    """Compute all distances; those of rows without mass are NaN."""
    alone = validation.are_empty(base)
    others = alone if asked is None else validation.are_empty(asked)
    base = validation.with_uniform(base, alone)
    if asked is not None:
        asked = validation.with_uniform(asked, others)
    found = _all(base, asked, ground, jobs)
    found[others], found[:, alone] = np.nan, np.nan
    return found


def _all(base: Floats, asked: Floats | None, ground: Any, jobs: int) -> Floats:
    """Compute all distances, if they fit into memory."""
    rows, columns = (base, None) if asked is None else (asked, base)
    n, m = rows.shape[0], base.shape[0]
    size = 8 * n * m  # bytes
    if size > (most := memory()):
        raise ValueError(
            f"All {n:,} x {m:,} distances are {size / 1e9:,.1f} GB, "
            f"and this machine has {most / 1e9:,.1f} GB of memory; find the nearest "
            "with --neighbors, or use fewer histograms as --queries."
        )
    if is_map(ground):
        found: Floats = ground.pairwise(rows, columns)
        return found
    if not validation.is_learner(ground) or ground._is_exact:
        n_pairs = n * m // (1 + (asked is None))
        say_how_long_for_pairs(base, n_pairs, jobs)
    if validation.is_learner(ground) and not ground._is_exact:
        between: Floats = ground.set_params(n_jobs=jobs).pairwise(rows, columns)
        return between
    return pairwise_emd(
        rows, columns, metric=ground, n_jobs=jobs, verbose=int(shows_progress())
    )


def _nearest(
    base: HistogramTable, asked: Floats | None, search: EMDNeighbors, n_neighbors: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Find neighbors in a base, and their labels if there are any."""
    most = len(base) - int(validation.are_empty(base.X).sum()) - (asked is None)
    k = validation.as_count(n_neighbors, "--neighbors", low=1, high=most)
    if is_map(search.metric):
        rows, others = (base.X, None) if asked is None else (asked, base.X)
        if (alone := validation.are_empty(rows)).any():
            raise ValueError(
                f"row {int(np.argmax(alone))} has zero mass, so that it has no nearest "
                "neighbors; leave it out, or use --empty uniform."
            )
        lengths, indices = nearest_of(search.metric, rows, others, k)
        n_solves = 0
    else:
        search.set_params(verbose=int(shows_progress())).fit(base.X)
        lengths, indices = search.kneighbors(asked, n_neighbors=k)
        n_solves = search.n_solves_
    arrays = {"indices": indices, "distances": lengths}
    if base.y is not None:
        arrays["labels"] = np.asarray(base.y)[indices]
    return arrays, {"n_queries": len(indices), "n_neighbors": k, "n_solves": n_solves}


def memory() -> float:
    """Return the bytes of memory of this machine; infinite if unknown."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _write(
    arrays: dict[str, Any],
    out: Path | None,
    queries: Rows,
    neighbors: Rows,
    *,
    has_names: bool,
) -> None:
    """Write all distances as a matrix, or neighbors as rows, by these names."""
    if "indices" not in arrays:
        if has_names and out is not None and out.suffix == ".npy":
            note(f"names of rows and columns are not in {out}; they are in .csv")
        names: dict[str, Any] = {}
        if has_names:
            names = {"rows": [*map(str, queries)], "columns": [*map(str, neighbors)]}
        write_matrix(arrays["distances"], out, **names)
    elif out is not None and out.suffix == ".npz":
        if has_names:
            names = {"query_names": queries, "names": neighbors}
            arrays = arrays | {name: np.array(x, str) for name, x in names.items()}
        _files.write_whole(out, lambda file: np.savez(file, **arrays))
    else:
        n, k = arrays["indices"].shape
        columns = {
            "query": [query for query in queries for _ in range(k)],
            "rank": n * [*range(1, k + 1)],
            "neighbor": [neighbors[j] for j in arrays["indices"].flat],
            "distance": [repr(x) for x in arrays["distances"].ravel().tolist()],
        }
        if "labels" in arrays:
            columns["label"] = arrays["labels"].ravel().tolist()
        write_rows([[*columns], *zip(*columns.values(), strict=True)], out)
