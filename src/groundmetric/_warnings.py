"""Warnings that point at the line of the user, however deep inside they arise."""

from __future__ import annotations

import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

# If pipelines or searches of scikit-learn call us, warnings are for their caller; and
# PyTorch calls our operators.
OTHERS = ("sklearn", "joblib", "torch")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the first line outside this package and scikit-learn."""
    inside = _folders()
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_not_converged(message: str) -> None:
    """Warn that an iteration stopped short of its tolerance."""
    from sklearn.exceptions import ConvergenceWarning

    warn(message, ConvergenceWarning)


def _folders() -> tuple[str, ...]:
    """Return the folders of code that warnings should not point at."""
    folders = [str(Path(__file__).parent)]
    for name in OTHERS:
        spec = find_spec(name)
        folders += (spec and spec.submodule_search_locations) or []
    return tuple(f"{folder}{os.sep}" for folder in folders)
