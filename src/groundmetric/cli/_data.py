"""DATA of a command: histograms, their labels, and the names of the bins."""

from functools import partial
from typing import Any

import numpy as np

from .. import validation
from .._words import count
from ..base._rows import n_among
from ..base._sample import drawn_by_class
from ..datasets import HistogramTable, _histogram_table
from ..datasets._formats import is_table
from ..datasets._read import read
from ..datasets._reading import Bins, Reading
from ._console import announce, note, shows_progress
from ._options import Source, as_option

MANY = 100_000  # entries, from which learning takes minutes
# Options about columns, and about tables.
COLUMNS = ("label", "id", "ignore", "keep", "header", "transpose", "missing")


def read_labeled(
    source: Source, wanted: Bins | None = None, groups: str | None = None
) -> HistogramTable:
    """Read histograms with labels of two or more classes, over these bins."""
    data = read_histograms(source, wanted, labeled=True, groups=groups)
    if (alone := validation.are_empty(data.X)).any():  # for --empty nan
        note(f"left out {count(int(alone.sum()), 'histogram')} of zero mass")
        data = data.take(np.flatnonzero(~alone))
    if len(classes := np.unique(data.y)) == 1:
        raise ValueError(
            f"{data.source}: all labels are {classes[0]!s}; two classes are needed."
        )
    n, d = data.X.shape
    if n * d >= MANY and data.points is None:
        announce(
            f"read {count(n, 'histogram')} over {count(d, 'bin')} from {data.source}; "
            "learning may take minutes"
        )
    return data


def read_histograms(
    source: Source,
    wanted: Bins | None,
    *,
    labeled: bool | None = False,
    groups: str | None = None,
) -> HistogramTable:
    """Read histograms over these bins; with labels, or without, or if there are any."""
    given = {name: getattr(source, name) for name in COLUMNS if getattr(source, name)}
    if source.header is False:
        given["header"] = False
    if is_table(source.beside or "") and not is_table(source.path):
        given = {}  # they are for the other file
    vectors = source.vectors
    if wanted is not None and wanted.names:
        vectors = None  # its words are known
        if source.vectors is not None and source.beside is None:
            note("--vectors is not used: the model has the words and their vectors")
    reading = Reading(
        source.path,
        **given,
        labels=source.labels,
        groups=groups,
        vectors=vectors,
        labeled=labeled,
        feature=source.feature,
        empty=source.empty,
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
        bins=wanted,
        spell=partial(_spelled, source.option),
        is_second=source.is_second,
    )
    data = read(reading)
    for text in [*data.notes, *(f"warning: {text}" for text in reading.warnings)]:
        note(text)
    return data


def _spelled(option_of_labels: str, name: str, *values: Any) -> str:
    """Spell a parameter of :class:`Reading` as an option."""
    if name == "labels":
        name = option_of_labels.removeprefix("--")
    return as_option(name, *values)


def bins_of(model: Any) -> Bins:
    """Ask for the bins of a model, which then takes arrays: columns are our affair."""
    learner = getattr(model, "learner_", model)
    bins = _histogram_table.bins_of(learner)
    for one in (model, learner):
        vars(one).pop("feature_names_in_", None)
    return bins


def warn_if_seen(learned_from: Any, tested: Any) -> None:
    """Warn of histograms that the metric was learned from, as it sees them."""
    if n := n_among(tested, learned_from):
        note(
            f"warning: the model was learned from {n} of these histograms, so its "
            "errors are too low; use others to test it."
        )


def limited(data: HistogramTable, limit: int, seed: int, what: str) -> HistogramTable:
    """Draw at most this many histograms, class by class; all of them if limit is 0."""
    limit = validation.as_count(limit, "--limit", low=0)
    n = len(data)
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
