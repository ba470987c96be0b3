"""``groundmetric info``: what is installed, and what it runs on."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import joblib
import typer

from .. import __version__, _core
from ._command import command
from ._console import emit
from ._options import Json

# The package that each optional part needs.
PARTS = {
    "images": "pillow",
    "parquet": "pyarrow",
    "plot": "matplotlib",
    "progress": "tqdm",
    "gpu": "torch",
    "baselines": "metric-learn",
    "experiments": "pandas",
}


@command("groundmetric info", "groundmetric info --json")
def info(*, json: Json = False) -> None:
    """Show what is installed, and what it runs on.

    Versions, the vector instructions in use, the number of threads, and which optional
    parts are installed.
    """
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
