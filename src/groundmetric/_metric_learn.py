"""The only module that imports metric-learn, and adapts it to current scikit-learn.

metric-learn 0.7 passes ``force_all_finite`` to ``check_array`` and ``check_X_y``, which
scikit-learn renamed to ``ensure_all_finite`` in 1.6 and dropped in 1.8. Both functions
are wrapped in metric-learn's own module; scikit-learn stays as it is. And it imports
``stable_cumsum``, which scikit-learn 1.10 will drop: hence the limit in pyproject.toml.
A test fails once metric-learn works without all this.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

Floats = NDArray[np.float64]

OLD, NEW = "force_all_finite", "ensure_all_finite"


class Learned(NamedTuple):
    """A linear map, and whether the iteration converged."""

    components: Floats
    converged: bool


def is_installed() -> bool:
    """Whether metric-learn can be imported, with the scikit-learn that is installed."""
    try:
        _package()
    except ImportError:
        return False
    return True


def lmnn(rows: Floats, labels: NDArray[np.int64], k: int, **options: Any) -> Learned:
    """Learn from rows and labels with k target neighbors."""
    learner = _package().LMNN(n_neighbors=k, init="identity", **options)
    learner.fit(rows, labels)
    converged = learner.n_iter_ + 1 < learner.max_iter
    return Learned(np.asarray(learner.components_), converged)


def _package() -> ModuleType:
    """Import metric-learn, adapted to the scikit-learn that is installed."""
    try:
        import metric_learn
        from metric_learn import _util
    except ImportError as error:
        raise ImportError(
            "LMNN needs metric-learn: pip install 'groundmetric[baselines]'."
        ) from error
    for name in ("check_array", "check_X_y"):
        check = getattr(_util, name)
        if not hasattr(check, "__wrapped__"):  # wrap only once
            setattr(_util, name, _translated(check))
    found: ModuleType = metric_learn
    return found


def _translated(check: Callable[..., Any]) -> Callable[..., Any]:
    """Take the old keyword, and pass on the new one."""

    @functools.wraps(check)
    def translated(*args: object, **options: object) -> object:
        if OLD in options:
            options[NEW] = options.pop(OLD)
        return check(*args, **options)

    return translated
