"""Import pandas, which only functions that return frames need."""

from __future__ import annotations

from typing import Any

__all__ = ["pandas_of"]


def pandas_of(what: str) -> Any:
    """Import pandas, or say what needs it."""
    try:
        import pandas  # noqa: ICN001
    except ImportError as error:
        raise ImportError(
            f"{what} needs pandas: pip install 'groundmetric[experiments]'."
        ) from error
    return pandas
