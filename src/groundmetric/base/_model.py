"""Save fitted estimators to files and load them again, without pickles.

Parameters and fitted attributes are plain values, arrays, objects with ``to_array``, or
other estimators of this package; the contents of those are stored under the name of the
attribute, as in ``learner_.metric_``, those of a list with numbers, as in
``estimator.0.init``.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import _files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays, StrPath

KIND = "model"
READING = (LookupError, TypeError, ValueError, AttributeError, RecursionError)
PLAIN = (bool, int, float, str, type(None))
# Optional in every estimator: names of the bins, and of what it learned from.
NAMES_IN, SAMPLES_IN = "feature_names_in_", "sample_names_in_"
ORIGIN = "origin_"  # what the command has noted: from which data, when, with what error
OPTIONAL = (NAMES_IN, SAMPLES_IN, ORIGIN)

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
        """Write the fitted estimator to one ``.npz`` file.

        Functions, and parameters that no file can hold, such as a ``RandomState``, are
        left out: they have their defaults again when it is loaded.
        """
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
        except READING as error:
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
    names = [*_names_of(estimator), *OPTIONAL]
    fitted = {name: vars(estimator)[name] for name in names if name in vars(estimator)}
    for kind, values in (
        ("params", estimator.get_params(deep=False)),
        ("fitted", fitted),
    ):
        facts[kind], facts[f"nested_{kind}"] = {}, {}
        for name, value in values.items():
            key = f"param.{name}" if kind == "params" else name
            item = os.fspath(value) if isinstance(value, os.PathLike) else value
            if _is_nested(item):
                facts[f"nested_{kind}"][name], inner = _pack_nested(item, f"{key}.")
                arrays |= inner
            elif hasattr(item, "to_array"):
                arrays[key] = item.to_array()
            elif not callable(item) and name != "callbacks":
                try:
                    found = _as_stored(item, name)
                except ValueError:
                    if kind == "fitted" or isinstance(item, BaseEstimator):
                        raise
                    continue  # such as a random state
                if isinstance(found, np.ndarray):
                    arrays[key] = found
                else:
                    facts[kind][name] = found
    return facts, arrays


def _as_stored(item: Any, name: str) -> Any:
    """Convert to an array, or to what JSON holds."""
    if isinstance(item, (list, tuple)) and not _is_grid(item):
        with suppress(ValueError):  # parts of different lengths, such as folds
            return _as_plain(item, name)
    elif not isinstance(item, (*PLAIN, np.generic)) and not _is_grid(item):
        return _as_plain(item, name)
    return _as_facts(item, name)


def _unpack(cls: type[Any], facts: dict[str, Any], arrays: Arrays) -> Any:
    """Rebuild an estimator; raise an error if the parts do not fit."""
    params, fitted = _from_facts(facts["params"]), _from_facts(facts["fitted"])
    for kind, values, start in (("params", params, "param."), ("fitted", fitted, "")):
        for name, inner in facts[f"nested_{kind}"].items():
            values[name] = _unpack_nested(inner, arrays, f"{start}{name}.")
    params |= _taken(arrays, "param.")
    fitted |= arrays
    known = {*_names_of(cls), *OPTIONAL}
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


def _is_grid(item: Any) -> bool:
    if isinstance(item, (list, tuple)):
        return len(item) > 0 and all(isinstance(each, dict) for each in item)
    return isinstance(item, dict)


def _as_facts(item: Any, name: str) -> Any:
    """Convert to what JSON holds; entries of dicts that it cannot hold are left out."""
    if isinstance(item, (np.generic, np.ndarray)):
        item = item.tolist()
    if isinstance(item, PLAIN):
        return item
    if isinstance(item, (list, tuple, range)):
        return [_as_facts(each, name) for each in item]
    if isinstance(item, dict):
        found = {}
        for key, value in item.items():
            with suppress(ValueError):
                found[str(key)] = _as_facts(value, name)
        return found
    if isinstance(item, Parameters):
        facts, arrays = _pack(item)
        if not arrays:
            return facts
    raise _not_saved(name)


def _from_facts(item: Any) -> Any:
    """Make the objects in a grid again."""
    if isinstance(item, list):
        return [_from_facts(each) for each in item]
    if not isinstance(item, dict):
        return item
    if "nested_params" in item:
        return _unpack(_class_of(item["estimator"]), item, {})
    return {key: _from_facts(value) for key, value in item.items()}


def _not_saved(name: str) -> ValueError:
    return ValueError(
        f"{name} holds Python objects, which cannot be saved; use strings or numbers."
    )


def _as_plain(values: Any, name: str) -> np.ndarray[Any, Any]:
    """Convert to an array that numpy stores without pickling."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.flat):
        array = array.astype(str)
    if array.dtype.kind not in "biufSUmM":
        raise _not_saved(name)
    return array
