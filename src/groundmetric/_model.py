"""A learned metric in a file, with all that the estimator needs to go on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _files, _validation
from ._path import NAMES, Path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._files import Arrays, StrPath

KIND = "model"
FITTED = (
    "metric_",
    "initial_metric_",
    "path_",
    "classes_",
    "feature_names_in_",
    "_histograms",
)
PLAIN = (bool, int, float, str, type(None))


def save_model(path: StrPath, params: dict[str, Any], fitted: dict[str, Any]) -> None:
    """Write parameters and fitted attributes; functions among them are left out."""
    plain, arrays = {}, {}
    for name, value in params.items():
        item = value.item() if isinstance(value, np.generic) else value
        if isinstance(item, os.PathLike):
            item = os.fspath(item)
        if isinstance(item, PLAIN):
            plain[name] = item
        elif name == "init":
            arrays["param.init"] = np.asarray(item, dtype=float)
    for name, value in fitted.items():
        if isinstance(value, Path):
            arrays[name] = value.to_array()
        elif name in ("classes_", "feature_names_in_"):
            arrays[name] = _as_plain(value, name)
        else:
            arrays[name] = np.asarray(value)
    _files.write(path, KIND, {"params": plain, "path": NAMES}, arrays)


def load_model(
    path: StrPath, known: list[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read parameters and fitted attributes; a file that cannot be right is refused."""
    facts, arrays = _files.read(path, KIND)
    try:
        params, names = dict(facts["params"]), facts["path"]
        if "param.init" in arrays:
            params["init"] = arrays.pop("param.init")
        fitted: dict[str, Any] = dict(arrays)
        fitted["path_"] = Path.from_array(fitted["path_"])
        _require_model(fitted, params, known, names)
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"{os.fspath(path)} is not a model that this groundmetric can read: "
            f"{error}."
        ) from error
    if "feature_names_in_" in fitted:
        fitted["feature_names_in_"] = fitted["feature_names_in_"].astype(object)
    fitted["n_features_in_"] = len(fitted["metric_"])
    fitted["n_iter_"] = len(fitted["path_"])
    return params, fitted


def _as_plain(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Convert names and labels to what numpy stores without pickling."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
        array = array.astype(str)
    if array.dtype.kind not in "biufSUmM":
        raise ValueError(
            f"{name} holds Python objects, which a model file cannot; use strings or "
            "numbers."
        )
    return array


def _require_model(
    fitted: Arrays, params: dict[str, Any], known: list[str], names: list[str]
) -> None:
    if names != NAMES:
        raise ValueError("its path has other columns")
    unknown = sorted((set(params) - set(known)) | (set(fitted) - set(FITTED)))
    if unknown:
        raise ValueError(f"nothing here is called {unknown[0]}")
    rows = _validation.as_float_array(fitted["_histograms"], "its histograms", 2)
    for name in ("metric_", "initial_metric_"):
        _validation.as_cost(fitted[name], rows.shape[1], name)
        _validation.require_metric(fitted[name], name)
    _validation.as_distributions(rows, "its histograms")
    columns = fitted.get("feature_names_in_", ())
    if len(set(columns)) < len(columns):
        raise ValueError("two of its bins have the same name")
