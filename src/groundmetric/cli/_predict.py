"""``groundmetric predict``: labels for new histograms."""

from pathlib import Path
from typing import Annotated

import numpy as np

from .. import validation
from .._words import count
from ._command import command
from ._console import emit, note, shows_progress
from ._data import bins_of, read_histograms
from ._models import load_voters
from ._options import INPUT, Json, ModelFile, Output, Source
from ._output import write_rows


@command(
    "groundmetric predict new.csv --model flowers.npz",
    "groundmetric predict new.csv --model flowers.npz --neighbors 5 --out labels.csv",
    without=("labels", "vectors"),
)
def predict(
    source: Source,
    *,
    model: Annotated[Path, ModelFile, INPUT],
    neighbors: int | None = None,
    out: Annotated[Path | None, Output((".csv",))] = None,
    json: Json = False,
) -> None:
    """Predict the labels of new histograms.

    Each gets the most common label among its nearest neighbors in the histograms that
    the model was learned from, or that its EMDClassifier was fitted on; the share of
    their votes shows how clear the case is.

    Parameters
    ----------
    neighbors
        Number of neighbors that vote; by default 3, or as many as the EMDClassifier
        asks.
    out
        Write .csv instead of CSV on standard output.
    """
    voters = load_voters(model)
    k = neighbors
    if k is None:
        k = 3 if voters.classifier is None else voters.classifier.n_neighbors
    validation.as_count(k, "--neighbors", low=1, high=len(voters.codes))
    given = read_histograms(source, bins_of(voters.classifier or voters.learner))
    shown = int(shows_progress())
    votes = voters.shares(given.X, k, source.empty, jobs=source.jobs, verbose=shown)
    shares = votes.max(axis=1)
    labels = voters.classes_[votes.argmax(axis=1)]
    called = given.row_names()
    if out is not None or not json:
        rows = zip(called, labels, np.round(shares, 3), strict=True)
        write_rows([("query", "label", "votes"), *rows], out)
    if json:
        facts = {"queries": called, "labels": labels, "votes": shares}
        emit({"n_queries": len(labels), **(facts if out is None else {"out": out})})
    elif out is not None:
        note(f"wrote {out}: {count(len(labels), 'label')}")
