"""Warnings, of scikit-learn's kinds."""

from __future__ import annotations

import warnings


def warn_not_converged(message: str) -> None:
    """Warn that an iteration stopped short of its tolerance."""
    # Imported here: scikit-learn is slow to import, and seldom needed for this.
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415

    warnings.warn(message, ConvergenceWarning, stacklevel=3)
