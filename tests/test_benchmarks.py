"""The benchmarks can be imported, which no other test needs: each with what it uses."""

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
# Installed by make bench, not for the tests; see the extras in pyproject.toml.
OWN = {"gensim", "ortools", "pyemd", "torch"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_import(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OWN:
            raise
        pytest.skip(f"{error.name} is not installed: make bench installs it")
