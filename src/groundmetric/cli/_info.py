"""``groundmetric info``: what is installed, and what it runs on."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib
import typer

from .. import __version__, _core
from ._console import emit
from ._options import Json, examples

EPILOG = examples("groundmetric info", "groundmetric info --json")
# What each optional part is made of.
PARTS = {
    "images": "pillow",
    "parquet": "pyarrow",
    "plot": "matplotlib",
    "progress": "tqdm",
    "gpu": "torch",
    "baselines": "metric-learn",
    "experiments": "pandas",
}


def info(*, json: Json = False) -> None:
    """Tell what is installed, and what it runs on.

    Versions, the vector instructions in use, threads, and which optional parts are
    there.
    """
    found = facts()
    if json:
        emit(found)
        return
    for name, value in found.items():
        if isinstance(value, dict):
            typer.echo(f"{name.replace('_', ' ')}:")
            for part, there in value.items():
                missing = f"no; pip install 'groundmetric[{part}]'"
                typer.echo(f"  {part:12s} {there or missing}")
        else:
            typer.echo(f"{name:14s} {value}")


def facts() -> dict[str, Any]:
    """Collect what there is to tell."""
    return {
        "groundmetric": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scikit-learn": version("scikit-learn"),
        "system": f"{platform.system()} {platform.machine()}",
        "instructions": _core.instruction_set(),
        "threads": joblib.cpu_count(),
        "optional_parts": {part: _there(name) for part, name in PARTS.items()},
    }


def _there(name: str) -> str | None:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return None
