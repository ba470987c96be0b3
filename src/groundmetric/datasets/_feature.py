"""Features by name or as callables, and how a cache identifies them."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..features import color_histogram, gist
from ..features._color_names import color_names
from ..features.color import bins_in
from ..features.gist import edge_names

if TYPE_CHECKING:
    from collections.abc import Callable

FEATURES: dict[str, Callable[..., Any]] = {"gist": gist, "color": color_histogram}
# Increase this whenever a feature gives other numbers: caches outlive versions.
VERSION = 1


class Feature(NamedTuple):
    """A callable, and what its result depends on, if known."""

    describe: Callable[[list[Any]], Any]
    facts: dict[str, Any] | None
    shape: tuple[int, ...] | None  # of the bins, if known
    names: tuple[str, ...] | None = None  # of the bins, if they have any


def as_feature(
    feature: str | Callable[[list[Any]], Any],
    options: dict[str, Any] | None,
    key: str | None,
) -> Feature:
    """Check a feature and its options, by trying them on a small image."""
    if key is not None and not isinstance(key, str):
        raise ValueError(f"feature_key is {key!r}; a string is needed.")
    if options is not None and not isinstance(options, dict):
        raise ValueError(f"feature_options is {options!r}; a dict is needed.")
    given = options or {}
    if callable(feature):
        facts = None if key is None else {"key": key, "options": given}
        return Feature(functools.partial(feature, **given), facts, None)
    if not isinstance(feature, str) or feature not in FEATURES:
        raise ValueError(
            f"feature is {feature!r}; it must be one of {', '.join(FEATURES)}, or a "
            "callable."
        )
    if key is not None:
        raise ValueError(f"feature_key is only for callables; feature is {feature!r}.")
    return _by_name(feature, given)


def _by_name(name: str, given: dict[str, Any]) -> Feature:
    function = FEATURES[name]
    try:
        bound = inspect.signature(function).bind([], **given)
    except TypeError as error:
        raise ValueError(f"feature_options do not fit {name}: {error}.") from error
    bound.apply_defaults()
    used = {key: value for key, value in bound.arguments.items() if key != "images"}
    describe = functools.partial(function, **given)
    describe([np.eye(8)])  # raises if an option is wrong
    facts = {"feature": name, "version": VERSION, "options": used}
    return Feature(describe, facts, SHAPES[name](used), tuple(NAMES[name](used)))


def _gist_shape(options: dict[str, Any]) -> tuple[int, ...]:
    n_scales, grid = len(options["scales"]), options["grid"]
    shape = (options["n_orientations"], grid, grid)
    return shape if n_scales == 1 else (n_scales, *shape)


def _color_shape(options: dict[str, Any]) -> tuple[int, ...]:
    return bins_in(options["space"], options["n_bins"])


def _gist_names(options: dict[str, Any]) -> list[str]:
    return edge_names(options["n_orientations"], options["grid"], options["scales"])


def _color_names(options: dict[str, Any]) -> list[str]:
    return color_names(options["space"], options["n_bins"])


SHAPES: dict[str, Callable[[dict[str, Any]], tuple[int, ...]]] = {
    "gist": _gist_shape,
    "color": _color_shape,
}
NAMES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "gist": _gist_names,
    "color": _color_names,
}
