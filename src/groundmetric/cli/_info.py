"""``groundmetric info``: what is installed, or what a model is."""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import joblib
import typer

from .. import __version__, _core
from ._command import command
from ._console import emit
from ._described import described, lines_of
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


@command("groundmetric info", "groundmetric info --json", "groundmetric info model.npz")
def info(
    model: Annotated[Path | None, typer.Argument(metavar="MODEL"), INPUT] = None,
    *,
    json: Json = False,
) -> None:
    """Show what is installed, or describe a model.

    Versions, the vector instructions in use, the number of threads, and which optional
    parts are installed. Of a model: its learner and settings, its bins and classes, and
    from which data, when, and with which error it was learned, if fit made it.

    Parameters
    ----------
    model
        A model of fit or of Python.
    """
    if model is not None:
        facts = described(model)
        if json:
            emit(facts)
            return
        for line in lines_of(facts):
            typer.echo(line)
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
    for name, value in found.items():
        typer.echo(f"{name:14s} {value}")
    typer.echo("optional parts:")
    for part, there in parts.items():
        missing = f"no; pip install 'groundmetric[{part}]'"
        typer.echo(f"  {part:12s} {there or missing}")


def _there(name: str) -> str | None:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return None
