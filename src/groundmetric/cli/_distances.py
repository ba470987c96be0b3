"""``groundmetric distances``: all distances, or the nearest neighbors."""

import math
import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .. import EMDNeighbors, _files, pairwise_emd, validation
from ._arrays import load_metric
from ._columns import Bins
from ._console import emit, note, shows_progress
from ._data import Source, bins_like, read_histograms
from ._models import bins_of, load_model
from ._options import (
    INPUT,
    Feature,
    Features,
    Header,
    Ignore,
    Jobs,
    Json,
    Label,
    Model,
    Output,
    examples,
)
from ._options import Data as DataArgument
from ._output import judged, require_suffix, write_matrix, write_rows

EPILOG = examples(
    "groundmetric distances flowers.csv --model flowers.npz --out distances.npy",
    "groundmetric distances flowers.csv --metric ground.csv > distances.csv",
    "groundmetric distances base.csv --model m.npz --queries new.csv --neighbors 5",
)
Floats = NDArray[np.float64]


@judged
def distances(
    data: DataArgument,
    *,
    model: Model = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A ground metric, .npy or .csv, instead of a model.",
            show_default=False,
        ),
        INPUT,
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Histograms to start from; DATA itself if there are none.",
            show_default=False,
        ),
        INPUT,
    ] = None,
    neighbors: Annotated[
        int | None,
        typer.Option(
            help="Find so many nearest neighbors in DATA, instead of all distances.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write .csv or .npy (neighbors: .csv or .npz) instead of CSV on "
            "standard output.",
            show_default=False,
        ),
        Output((".csv", ".npy", ".npz")),
    ] = None,
    label: Label = None,
    ignore: Ignore = None,
    header: Header = None,
    feature: Feature = Features.gist,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Compute distances, or find neighbors.

    Earth mover's distances under a learned or given metric: all of them, or the
    smallest of each query.
    """
    require_suffix(out, ".csv", ".npy" if neighbors is None else ".npz")
    ground, wanted = _ground(model, metric)
    if data == queries == "-":
        raise ValueError("DATA and --queries cannot both be standard input.")
    source = Source(
        data, label, None, ignore or (), header, feature.value, jobs, queries
    )
    given = read_histograms(source, wanted)
    base, asked = given.X, None
    if queries is not None:
        known = wanted if wanted.names else bins_like(given)
        asked = read_histograms(source.of(queries), known).X
    if neighbors is None:
        _all(base, asked, ground, out, jobs=jobs, json=json)
    else:
        found = EMDNeighbors(ground, n_jobs=jobs, verbose=int(shows_progress()))
        _nearest(found.fit(base), asked, neighbors, out, json=json)


def _ground(model: Path | None, metric: str | None) -> tuple[Floats, Bins]:
    """Read the metric, which must be one, and what its bins are."""
    if (model is None) == (metric is None):
        raise ValueError("Give either --model or --metric.")
    if model is not None:
        learner = load_model(model)
        return learner.metric_, bins_of(learner)
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


def _all(
    base: Floats,
    asked: Floats | None,
    ground: Floats,
    out: Path | None,
    *,
    jobs: int,
    json: bool,
) -> None:
    rows, columns = (base, None) if asked is None else (asked, base)
    _require_memory(len(rows), len(base))
    found = pairwise_emd(
        rows, columns, metric=ground, n_jobs=jobs, verbose=int(shows_progress())
    )
    if out is not None or not json:
        write_matrix(found, out)
    _say({"shape": found.shape}, {"distances": found}, out, json=json)


def _require_memory(n: int, m: int) -> None:
    """Refuse distances that cannot be held, before the first is computed."""
    size = 8 * n * m  # bytes
    if size > (most := memory()):
        raise ValueError(
            f"All {n:,} x {m:,} distances are {size / 1e9:,.1f} GB, and this machine "
            f"has {most / 1e9:,.1f} GB of memory; find the nearest with --neighbors, "
            "or start from fewer histograms with --queries."
        )


def memory() -> float:
    """Tell the bytes of memory of this machine; infinite where nobody knows."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _nearest(
    search: EMDNeighbors,
    asked: Floats | None,
    neighbors: int,
    out: Path | None,
    *,
    json: bool,
) -> None:
    most = search.n_samples_fit_ - (asked is None)
    k = validation.as_count(neighbors, "--neighbors", low=1, high=most)
    lengths, indices = search.kneighbors(asked, n_neighbors=k)
    if out is not None and out.suffix == ".npz":
        _files.write_whole(
            out, lambda file: np.savez(file, distances=lengths, indices=indices)
        )
    elif out is not None or not json:
        rows = [
            (query, rank + 1, indices[query, rank], repr(float(lengths[query, rank])))
            for query, rank in np.ndindex(indices.shape)
        ]
        write_rows(("query", "rank", "neighbor", "distance"), rows, out)
    facts = {"n_queries": len(indices), "n_neighbors": k, "n_solves": search.n_solves_}
    _say(facts, {"indices": indices, "distances": lengths}, out, json=json)


def _say(
    facts: dict[str, Any], arrays: dict[str, Any], out: Path | None, *, json: bool
) -> None:
    """Print JSON if it is wanted, with the numbers unless a file has them."""
    if json:
        emit(facts | (arrays if out is None else {"out": out}))
    elif out is not None:
        note(f"wrote {out}")
