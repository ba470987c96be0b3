"""Save fitted estimators to files and load them again, without pickles.

Parameters and fitted attributes are plain values, arrays, objects with ``to_array``, or
other estimators of this package; the contents of those are stored under the name of the
attribute, as in ``learner_.metric_``, those of a list with numbers, as in
``estimator.0.init``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import _files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays, StrPath

KIND = "model"
PLAIN = (bool, int, float, str, type(None))
NAMES_IN = "feature_names_in_"  # optional in every estimator

Saved = TypeVar("Saved", bound="SavedMixin")


class Parameters(BaseEstimator):
    """A small object that groups parameters, itself a parameter of estimators."""


class SavedMixin:
    """An estimator with ``save`` and ``load``.

    ``_fitted`` names its fitted attributes; those in ``_optional`` may be missing.
    """

    _fitted: ClassVar[tuple[str, ...]]
    _optional: ClassVar[tuple[str, ...]] = ()

    def save(self, path: StrPath) -> None:
        """Write the fitted estimator to one ``.npz`` file, except functions."""
        check_is_fitted(self)
        facts, arrays = _pack(self)
        _files.write(path, KIND, facts, arrays)

    @classmethod
    def load(cls: type[Saved], path: StrPath) -> Saved:  # noqa: PYI019 - Self: 3.11
        """Read an estimator that :meth:`save` wrote."""
        facts, arrays = _files.read(path, KIND)
        name = facts.get("estimator")
        if isinstance(name, str) and name != cls.__name__:
            raise ValueError(
                f"{os.fspath(path)} is a model of {name}; read it with {name}.load."
            )
        try:
            found: Saved = _unpack(cls, facts, arrays)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{os.fspath(path)} is not a model that this groundmetric can read: "
                f"{error}."
            ) from error
        return found

    def _restore(self) -> None:
        """Validate what was read, and rebuild what is not in the file."""


def load_model(path: StrPath) -> SavedMixin:
    """Read any estimator that was saved."""
    facts, _ = _files.read(path, KIND)
    name = str(facts.get("estimator"))
    try:
        cls = _class_of(name)
        if not issubclass(cls, SavedMixin):
            raise ValueError(f"{name} is not an estimator")  # noqa: TRY301 - worded below
    except ValueError as error:
        raise ValueError(
            f"{os.fspath(path)} is not a model that this groundmetric can read: "
            f"{error}."
        ) from error
    model: SavedMixin = cls.load(path)
    return model


def _pack(estimator: Any) -> tuple[dict[str, Any], Arrays]:
    """Split an estimator, fitted or not, into plain values and arrays."""
    facts: dict[str, Any] = {"estimator": type(estimator).__name__}
    arrays: Arrays = {}
    names = [*_names_of(estimator), NAMES_IN]
    fitted = {name: vars(estimator)[name] for name in names if name in vars(estimator)}
    for kind, values in (
        ("params", estimator.get_params(deep=False)),
        ("fitted", fitted),
    ):
        facts[kind], facts[f"nested_{kind}"] = {}, {}
        for name, value in values.items():
            key = f"param.{name}" if kind == "params" else name
            item = os.fspath(value) if isinstance(value, os.PathLike) else value
            item = item.item() if isinstance(item, np.generic) else item
            if _is_plain(item):
                facts[kind][name] = item
            elif _is_nested(item):
                facts[f"nested_{kind}"][name], inner = _pack_nested(item, f"{key}.")
                arrays |= inner
            elif hasattr(item, "to_array"):
                arrays[key] = item.to_array()
            elif not callable(item) and name != "callbacks":
                arrays[key] = _as_plain(item, name)
    return facts, arrays


def _unpack(cls: type[Any], facts: dict[str, Any], arrays: Arrays) -> Any:
    """Rebuild an estimator; raise an error if the parts do not fit."""
    params, fitted = dict(facts["params"]), dict(facts["fitted"])
    for kind, values, start in (("params", params, "param."), ("fitted", fitted, "")):
        for name, inner in facts[f"nested_{kind}"].items():
            values[name] = _unpack_nested(inner, arrays, f"{start}{name}.")
    params |= _taken(arrays, "param.")
    fitted |= arrays
    known = {*_names_of(cls), NAMES_IN}
    unknown = sorted(
        (set(params) - set(cls._get_param_names())) | (set(fitted) - known)
    )
    if unknown:
        raise ValueError(f"it has no attribute called {unknown[0]}")
    estimator = cls(**params)
    if not fitted:
        return estimator
    missing = [name for name in cls._fitted if name not in fitted]
    if missing:
        raise ValueError(f"{missing[0]!r} is missing")
    if NAMES_IN in fitted:
        fitted[NAMES_IN] = fitted[NAMES_IN].astype(object)
        if len(set(fitted[NAMES_IN])) < len(fitted[NAMES_IN]):
            raise ValueError("two of its bins have the same name")
    vars(estimator).update(fitted)
    estimator._restore()
    return estimator


def _pack_nested(item: Any, prefix: str) -> tuple[Any, Arrays]:
    """Split an estimator, or a list of some; names of arrays get this prefix."""
    if isinstance(item, (list, tuple)):
        parts = [_pack_nested(each, f"{prefix}{k}.") for k, each in enumerate(item)]
        arrays = {name: inner[name] for _, inner in parts for name in inner}
        return [facts for facts, _ in parts], arrays
    facts, inner = _pack(item)
    return facts, {f"{prefix}{part}": array for part, array in inner.items()}


def _unpack_nested(facts: Any, arrays: Arrays, prefix: str) -> Any:
    """Rebuild an estimator, or a list of some, from arrays with this prefix."""
    if isinstance(facts, list):
        return [
            _unpack_nested(each, arrays, f"{prefix}{k}.")
            for k, each in enumerate(facts)
        ]
    return _unpack(_class_of(facts["estimator"]), facts, _taken(arrays, prefix))


def _is_nested(item: Any) -> bool:
    if isinstance(item, (list, tuple)):
        return len(item) > 0 and all(map(_is_nested, item))
    return isinstance(item, (SavedMixin, Parameters))


def _names_of(estimator: Any) -> tuple[str, ...]:
    """Return its fitted attributes; parameters alone have none."""
    names: tuple[str, ...] = (
        *getattr(estimator, "_fitted", ()),
        *getattr(estimator, "_optional", ()),
    )
    return names


def _taken(arrays: Arrays, prefix: str) -> Arrays:
    """Remove the arrays with this prefix, and return them without the prefix."""
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays.pop(name) for name in names}


def _class_of(name: str) -> Any:
    """Find the class of a nested estimator, or of its parameters."""
    for cls in (*_subclasses(SavedMixin), *_subclasses(Parameters)):
        if cls.__name__ == name:
            return cls
    raise ValueError(f"there is no estimator {name!r}")


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def _is_plain(item: Any) -> bool:
    """Return whether JSON holds a value: a plain one, or a grid of such."""
    if isinstance(item, dict):
        return all(isinstance(key, str) for key in item) and all(
            isinstance(value, PLAIN)
            or (isinstance(value, list) and all(isinstance(x, PLAIN) for x in value))
            for value in item.values()
        )
    if isinstance(item, list) and item and all(isinstance(x, dict) for x in item):
        return all(_is_plain(part) for part in item)
    return isinstance(item, PLAIN)


def _as_plain(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Convert to an array that numpy stores without pickling."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.flat):
        array = array.astype(str)
    if array.dtype.kind not in "biufSUmM":
        raise ValueError(
            f"{name} holds Python objects, which cannot be saved; use strings or "
            "numbers."
        )
    return array
