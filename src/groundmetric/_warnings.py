"""Warnings, of scikit-learn's kinds."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning


def warn_not_converged(message: str, stacklevel: int = 3) -> None:
    """Warn that an iteration stopped short of its tolerance."""
    warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)
