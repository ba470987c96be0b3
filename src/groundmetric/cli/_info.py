"""``groundmetric info``: what is installed, or what a model was learned from."""

import inspect
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import joblib
import numpy as np
import typer

from .. import __version__, _core
from ._command import command
from ._console import emit
from ._models import load_learner
from ._options import INPUT, Json

# The package that each optional part needs.
PARTS = {
    "images": "pillow",
    "parquet": "pyarrow",
    "excel": "openpyxl",
    "h5ad": "h5py",
    "plot": "matplotlib",
    "progress": "tqdm",
    "gpu": "torch",
    "baselines": "metric-learn",
    "experiments": "pandas",
}
FIRST = 5  # names that are shown
# Parameters that do not affect what is learned.
NO_SETTINGS = ("callbacks", "device", "n_jobs", "verbose")


@command("groundmetric info", "groundmetric info --json", "groundmetric info model.npz")
def info(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL"), INPUT] = None,
    *,
    json: Json = False,
) -> None:
    """Show what is installed, or describe a model.

    Versions, the vector instructions in use, the number of threads, and which optional
    parts are installed. Of a model: its learner, with the settings that differ from the
    defaults, its bins, and the histograms that it was learned from, with their ids.

    Parameters
    ----------
    model
        A model of fit or of Python.
    """
    if model is not None:
        _describe(model, json=json)
        return
    parts = {part: _there(name) for part, name in PARTS.items()}
    found: dict[str, Any] = {
        "groundmetric": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scikit-learn": version("scikit-learn"),
        "system": f"{platform.system()} {platform.machine()}",
        "instructions": _core.instruction_set(),
        "threads": joblib.cpu_count(),
    }
    if json:
        emit(found | {"optional_parts": parts})
        return
    _print(found)
    typer.echo("optional parts:")
    for part, there in parts.items():
        missing = f"no; pip install 'groundmetric[{part}]'"
        typer.echo(f"  {part:12s} {there or missing}")


def _describe(path: Path, *, json: bool) -> None:
    """Say what a model is, and what it was learned from."""
    learner = load_learner(path)
    facts: dict[str, Any] = {
        "model": str(path),
        "learner": type(learner).__name__,
        "settings": _settings(learner),
        "n_bins": learner.n_features_in_,
        "bins": _names(learner, "feature_names_in_"),
        "n_histograms": learner._n_features_out,
        "classes": {},
        "ids": _names(learner, "sample_names_in_"),
    }
    if getattr(learner, "_labels", None) is not None:
        labels, counts = np.unique(learner._labels, return_counts=True)
        facts["classes"] = dict(zip(labels.astype(str), counts.tolist(), strict=True))
    if json:
        emit(facts)
        return
    shown = {name: _shown(value) for name, value in facts.items() if value}
    _print({name.removeprefix("n_"): value for name, value in shown.items()})


def _names(learner: Any, attribute: str) -> list[str] | None:
    found = getattr(learner, attribute, None)
    return None if found is None else [str(name) for name in found]


def _settings(learner: Any) -> dict[str, Any]:
    """Return the parameters that differ from their defaults."""
    parameters = inspect.signature(type(learner)).parameters
    return {
        name: f"array of shape {np.shape(value)}" if np.ndim(value) else value
        for name, value in learner.get_params(deep=False).items()
        if name not in NO_SETTINGS
        and str(value).removesuffix("()").lower() != str(parameters[name].default)
    }


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    if not isinstance(value, list):
        return f"{value:,}" if isinstance(value, int) else str(value)
    more = [] if len(value) <= FIRST else ["...", value[-1]]
    return ", ".join([*value[: FIRST - bool(more)], *more])


def _print(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        typer.echo(f"{name:14s} {value}")


def _there(name: str) -> str | None:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return None
