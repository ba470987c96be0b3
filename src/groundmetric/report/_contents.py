"""The data that the page draws, rounded to keep the file small."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix

from ..experiments.names import LABELS, in_a_sentence
from ..plotting._layouts import extreme_pairs, leaf_order
from ._bins import Bins, between, choose, layout_of, which
from ._classes import caption, class_pictures
from ._lesson import moved
from ._origins import Origin, Origins

if TYPE_CHECKING:
    from ..experiments.gain import Gain
    from ..learning._path import DescentPath
    from ._evaluation import Evaluation

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Contents = dict[str, Any]

LEVELS = 65535  # distances take two bytes each
N_PAIRS = 24  # closest pairs of features, connected in the map
NUMBERED = Origin("row {}".format)
N_EXAMPLES = {"mended": 6, "spoiled": 6, "changed": 3}


def contents(
    evaluation: Evaluation,
    names: list[str],
    grid: tuple[int, int, int] | None,
    origins: Origins | None = None,
) -> Contents:
    """Collect everything that the page draws, ready for JSON.

    The origins name histograms; by default they have numbers.
    """
    learner, bins = evaluation.learner, choose(evaluation)
    drawn = bins.shown if grid is None else np.arange(len(names))
    return {
        "names": [names[p] for p in bins.shown],
        "bins": bins.shown.tolist(),
        "which": which(bins, evaluation, is_grid=grid is not None),
        "important": bins.important.tolist(),
        "grid": grid,
        "classes": evaluation.data.classes,
        **_of_metric(evaluation, bins),
        "path": None if learner._has_closed_form else _path(learner.path_),
        "kappa": evaluation.n_neighbors,
        "curves": [
            {
                "name": name,
                "label": LABELS[name],
                "errors": rounded(detail.errors, 5),
                "recall": rounded(detail.recall, 5),
                "confusion": _confusion(evaluation, name),
            }
            for name, detail in evaluation.first.items()
        ],
        "differences": [
            _difference(name, found)
            for name, found in evaluation.verdict.gains().items()
        ],
        "moved": moved(evaluation),
        "before": in_a_sentence(evaluation.before),
        "examples": _examples(
            evaluation,
            origins or Origins(NUMBERED, NUMBERED),
            drawn,
        ),
        "pictures": _pictures(evaluation, drawn),
    }


def _pictures(evaluation: Evaluation, drawn: Indices) -> Contents:
    """Write a histogram for each class; only some of the bins are drawn."""
    kind, classes, masses = class_pictures(evaluation)
    return {
        "kind": kind,
        "caption": caption(kind, len(evaluation.data.classes), len(classes)),
        "shown": [
            {"label": label, "levels": _levels(row)}
            for label, row in zip(classes, masses[:, drawn], strict=True)
        ],
    }


def _of_metric(evaluation: Evaluation, bins: Bins) -> Contents:
    """Write distances, their order and the map; features have positions in shown."""
    learner = evaluation.learner
    metric = between(learner, "", bins.shown)
    layout, others = layout_of(learner, bins, metric)
    places = _unit_square(np.concatenate([layout.positions, others]))
    return {
        "metrics": {
            name: packed(between(learner, before, bins.shown))
            for name, before in (("learned", ""), ("initial", "initial_"))
            if name in evaluation.first
        },
        "order": leaf_order(metric).tolist(),
        "empty": np.flatnonzero(
            ~evaluation.data.train[:, bins.shown].any(axis=0)
        ).tolist(),
        "map": {
            "positions": rounded(places[: len(metric)], 4),
            "others": rounded(places[len(metric) :], 3),
            "stress": round(layout.stress, 3),
        },
        "pairs": extreme_pairs(metric, min(N_PAIRS, len(metric) // 2)).tolist(),
    }


def packed(metric: Floats) -> Contents:
    """Distances above the diagonal as multiples of a unit, two bytes each."""
    values = metric[np.triu_indices(len(metric), 1)]
    unit = (float(values.max()) if values.size else 0.0) / LEVELS or 1.0
    levels = np.rint(values / unit).astype("<u2")
    return {"unit": unit, "levels": base64.b64encode(levels.tobytes()).decode()}


def rounded(values: Floats, digits: int) -> Any:
    """Convert to nested lists of numbers, with this many digits after the point."""
    return np.round(values, digits).tolist()


def _unit_square(positions: Floats) -> Floats:
    low, high = positions.min(axis=0), positions.max(axis=0)
    side = float((high - low).max()) or 1.0
    centered: Floats = (positions - (low + high) / 2) / side + 0.5
    return centered


def _path(path: DescentPath) -> Contents:
    criterion = path.column("criterion")
    return {
        "criterion": [float(f"{value:.5g}") for value in criterion],
        "starts": np.flatnonzero(path.column("inner") == 0).tolist(),
        "best": int(criterion.argmin()) if criterion.size else None,
    }


def _difference(name: str, found: Gain) -> Contents:
    return {
        "name": name,
        "label": LABELS[name],
        **{end: round(getattr(found, end), 5) for end in ("gain", "low", "high")},
        "saved": found.saved,  # as the table has it
    }


def _confusion(evaluation: Evaluation, name: str) -> list[list[int]]:
    """Count test histograms by true label (rows) and vote (columns)."""
    voted = evaluation.first[name].votes[:, evaluation.n_neighbors - 1]
    labels = np.arange(len(evaluation.data.classes))
    counts = confusion_matrix(evaluation.data.z, voted, labels=labels)
    found: list[list[int]] = counts.tolist()
    return found


def _examples(evaluation: Evaluation, origins: Origins, drawn: Indices) -> Contents:
    """Choose a few test histograms of each kind whose nearest neighbor changed.

    Only some of their bins are drawn.
    """
    data = evaluation.data
    before = evaluation.first[evaluation.before].neighbors[:, 0]
    after = evaluation.first["learned"].neighbors[:, 0]
    was, now = data.y[before] == data.z, data.y[after] == data.z
    changed = before != after
    found = {
        "mended": np.flatnonzero(~was & now),
        "spoiled": np.flatnonzero(was & ~now),
        "changed": np.flatnonzero(changed & (was == now)),
    }
    train, test = origins
    chosen = [
        (name, int(i)) for name, rows in found.items() for i in rows[: N_EXAMPLES[name]]
    ]
    return {
        "counts": {name: len(rows) for name, rows in found.items()},
        "n_changed": int(changed.sum()),
        "n_test": len(data.test),
        "shown": [
            {
                "kind": name,
                "row": i,
                "query": _drawn(
                    data.test[i, drawn], data.z[i], test, data.test_rows[i]
                ),
                **{
                    when: _drawn(
                        data.train[j, drawn], data.y[j], train, data.train_rows[j]
                    )
                    for when, j in (("before", before[i]), ("after", after[i]))
                },
            }
            for name, i in chosen
        ],
    }


def _drawn(
    histogram: Floats, label: np.int64, origin: Origin, row: np.int64
) -> Contents:
    """Write a histogram as bytes, beside its label, its name and its picture."""
    found = {
        "label": int(label),
        "levels": _levels(histogram),
        "name": origin.name(int(row)),
    }
    picture = origin.picture(int(row))
    return found if picture is None else found | {"picture": picture}


def _levels(histogram: Floats) -> str:
    """Write masses as bytes, the largest as 255."""
    levels = np.rint(255 * histogram / (histogram.max() or 1.0)).astype(np.uint8)
    return base64.b64encode(levels.tobytes()).decode()
