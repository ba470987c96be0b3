"""Where a model comes from: its file has the data, the time and the error."""

from __future__ import annotations

import shlex
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..base._votes import vote_errors
from ..learning._folds import SCORED_NEIGHBORS, splits_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from ..datasets import HistogramTable

BLOCK = 1 << 20  # bytes


def origin_of(data: HistogramTable, path: str, words: list[str]) -> dict[str, Any]:
    """Note the data that a model was learned from, the command, and the time."""
    return {
        "made": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "version": __version__,
        "command": shlex.join(["groundmetric", *words]),
        "data": data.source,
        "sha256": digest_of(path),
        "n_histograms": len(data),
    }


def digest_of(path: str) -> str | None:
    """Return the SHA-256 of a file; None for a folder or a stream."""
    if not Path(path).is_file():
        return None
    found = sha256()
    with Path(path).open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def held_out_error(
    learner: BaseEstimator, data: HistogramTable, groups: Any, seed: int
) -> float:
    """Measure the error of neighbors as ``MetricLearningCV`` does, on such folds."""
    from sklearn.base import clone

    _, codes = np.unique(np.asarray(data.y), return_inverse=True)
    errors = []
    for train, test in splits_of(3, data.X, codes, seed, groups):
        own = clone(learner).fit(data.X[train], codes[train])
        between = own.pairwise(data.X[test], data.X[train])
        nearest = np.argsort(between, axis=1, kind="stable")[:, :SCORED_NEIGHBORS]
        errors.append(vote_errors(nearest, codes[train], codes[test]).mean())
    return float(np.mean(errors))
