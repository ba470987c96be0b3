"""A model file in words: what it is, from which data, when, and how good."""

from __future__ import annotations

import inspect
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import numpy as np

from .._words import percent
from ..experiments.methods import NO_SETTINGS
from ._data import bins_of
from ._models import load_any
from ._origin import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST = 5  # names that are shown
WIDTH = 14


def described(path: Path) -> dict[str, Any]:
    """Collect what is known of a model."""
    model = load_any(path)
    inner = getattr(model, "learner_", model)
    learner = getattr(inner, "best_estimator_", inner)
    written = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
    facts: dict[str, Any] = {
        "model": str(path),
        "learner": type(learner).__name__,
        "settings": _settings(learner),
        "written": written.isoformat(timespec="seconds"),
        "bins": [*bins_of(learner).names] or None,
        "ids": _texts(getattr(learner, "sample_names_in_", None)),
        "n_bins": learner.n_features_in_,
        "n_histograms": _n_histograms(model, learner),
        "classes": _classes(learner),
    }
    around = [each for each in (inner, model) if each is not learner]
    if around:
        names = dict.fromkeys(type(each).__name__ for each in around)
        facts["chosen_by" if inner is model else "within"] = " in ".join(names)
    origin = getattr(model, "origin_", None) or {}
    facts |= {key: value for key, value in origin.items() if value is not None}
    if "made" in facts:
        del facts["written"]
    if origin.get("sha256") and digest_of(origin["data"]) not in {
        None,
        origin["sha256"],
    }:
        facts["changed"] = f"{origin['data']} is no longer the file that was read"
    if "held_out_error" not in facts and hasattr(inner, "best_score_"):
        facts["held_out_error"] = 1.0 - inner.best_score_
    return facts


def lines_of(facts: dict[str, Any]) -> Iterator[str]:
    """Write what is known as lines; what is not is left out."""
    for name, value in facts.items():
        if value is None or value in ({}, []):
            continue
        text = percent(value) if name == "held_out_error" else _shown(value)
        yield f"{LABELS.get(name, name):{WIDTH}s} {text}"


LABELS = {
    "n_bins": "number of bins",
    "n_histograms": "histograms",
    "chosen_by": "chosen by",
    "held_out_error": "held-out error",
}


def _n_histograms(model: Any, learner: Any) -> int | None:
    rows = vars(model).get("_histograms", getattr(learner, "_histograms", None))
    return None if rows is None else int(rows.shape[0])


def _classes(learner: Any) -> dict[str, int] | None:
    labels = getattr(learner, "_labels", None)
    if labels is None:
        return None
    names, counts = np.unique(labels, return_counts=True)
    return dict(zip(map(str, names), counts.tolist(), strict=True))


def _texts(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _settings(learner: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    defaults = inspect.signature(type(learner)).parameters
    found: dict[str, Any] = {}
    for name, value in learner.get_params(deep=False).items():
        if name in NO_SETTINGS:
            continue
        if isinstance(value, (list, tuple, np.ndarray)):
            if len(value):
                found[name] = _array(value)
        elif (
            str(value).removesuffix("()").lower() != str(defaults[name].default).lower()
        ):
            found[name] = value if isinstance(value, (int, float)) else str(value)
    return found


def _array(values: Any) -> str:
    try:
        return f"array of shape {np.shape(values)}"
    except ValueError:  # several, of different shapes
        return " and ".join(_array(each) for each in values)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    if isinstance(value, list):
        more = [] if len(value) <= FIRST else ["...", value[-1]]
        return ", ".join([*value[: FIRST - bool(more)], *more])
    return f"{value:,}" if isinstance(value, int) else str(value)
