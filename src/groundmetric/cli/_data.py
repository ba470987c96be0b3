"""DATA of a command: histograms, their labels, and the names of the bins."""

import base64
from pathlib import Path
from typing import Any

import numpy as np

from .. import validation
from .._words import count
from ..base._rows import n_among
from ..base._sample import drawn_by_class
from ..datasets import HistogramTable as Data
from ..datasets import _histogram_table
from ..datasets._histogram_table import bins_like
from ..datasets._read_table import is_table, read
from ..datasets._reading import Bins, Reading
from ._console import announce, note, shows_progress
from ._options import Source, as_option

__all__ = ["Data", "bins_like"]

MANY = 100_000  # entries, from which learning takes minutes
SIDE = 96  # of thumbnails, in pixels
PICTURE = 3  # channels, rows and columns


def read_labeled(source: Source, wanted: Bins | None = None) -> Data:
    """Read histograms with labels of two or more classes, over these bins."""
    data = read_histograms(source, wanted, labeled=True)
    if len(classes := np.unique(data.y)) == 1:
        raise ValueError(
            f"{data.source}: all labels are {classes[0]!s}; two classes are needed."
        )
    n, d = data.X.shape
    if n * d >= MANY:
        announce(
            f"read {count(n, 'histogram')} over {count(d, 'bin')} from {data.source}; "
            "learning may take minutes"
        )
    return data


def read_histograms(
    source: Source, wanted: Bins | None, *, labeled: bool | None = False
) -> Data:
    """Read histograms over these bins; with labels, or without, or if there are any."""

    def spell(name: str, *values: Any) -> str:
        return as_option(
            source.option.removeprefix("--") if name == "labels" else name, *values
        )

    # Options about columns may be for the other file only.
    ours = is_table(source.path) or not is_table(source.beside or "")
    reading = Reading(
        source.path,
        label=source.label if ours else None,
        labels=source.labels,
        ignore=(ours and source.ignore) or (),
        keep=(ours and source.keep) or (),
        header=source.header if ours else None,
        labeled=labeled,
        feature=source.feature,
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
        bins=wanted,
        spell=spell,
    )
    data = read(reading)
    for text in data.notes:
        note(text)
    for text in reading.warnings:
        note(f"warning: {text}")
    return data


def row_names(data: Data) -> list[int | str]:
    """Return what to call the rows in a table: files, or numbers from 0."""
    return [i if data.paths is None else data.where(i) for i in range(len(data.X))]


def bins_of(model: Any) -> Bins:
    """Ask for the bins of a model, which then takes arrays: columns are our affair."""
    learner = getattr(model, "learner_", model)
    bins = _histogram_table.bins_of(learner)
    for one in (model, learner):
        vars(one).pop("feature_names_in_", None)
    return bins


def grid_of(source: Source, data: Data) -> tuple[int, ...] | None:
    """Return the shape in which bins can be drawn: edges in places of an image."""
    is_picture = source.feature == "gist" and len(data.feature_shape) == PICTURE
    return data.feature_shape if is_picture else None


def thumbnail_of(data: Data, row: int) -> str | None:
    """Return a small picture of an image as a data URI, if it is one."""
    if data.paths is None:
        return None
    from ..datasets._pixels import thumbnail

    path = Path(data.source) / data.paths[data.rows[row]]
    image = thumbnail(path.read_bytes(), SIDE)
    return f"data:image/jpeg;base64,{base64.b64encode(image).decode()}"


def warn_if_seen(histograms: Any, data: Data, learner: Any = None) -> None:
    """Warn of histograms that the metric was learned from, as a learner sees them."""
    seen = data.X if learner is None else learner._seen(data.X)
    if n := n_among(seen, histograms):
        note(
            f"warning: the model was learned from {n} of these histograms, so its "
            "errors are too low; use others to test it."
        )


def limited(data: Data, limit: int, seed: int, what: str) -> Data:
    """Draw at most this many histograms, class by class; all of them if limit is 0."""
    limit = validation.as_count(limit, "--limit", low=0)
    n = len(data.X)
    if limit == 0 or n <= limit:
        return data
    n_classes = len(np.unique(data.y))
    if limit < n_classes:
        raise ValueError(f"--limit is {limit}, but there are {n_classes} classes.")
    rng = np.random.default_rng(validation.as_count(seed, "--seed", low=0))
    note(
        f"{what} {limit:,} of {n:,} histograms, drawn class by class; --limit 0 uses "
        "all"
    )
    return data.take(drawn_by_class(data.y, limit, rng))


def smallest_class(data: Data) -> tuple[str, int]:
    """Return the name of the smallest class, and its number of histograms."""
    values, counts = np.unique(data.y, return_counts=True)
    return str(values[counts.argmin()]), int(counts.min())
