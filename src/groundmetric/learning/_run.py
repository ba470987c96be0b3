"""A descent and its observers: the bar, callbacks and a checkpoint."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from .._progress import progress_bar
from .._warnings import warn_not_converged
from ._checkpoint import Checkpoint, StateFile, identify
from ._paper import OUTER_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._progress import Report
    from ._descent import Descent, Observer

# Up to this many steps, reaching the limit is intended; and up to this many outer
# steps, if inner loops ended before their limit.
BUDGET, OUTER_BUDGET = 20, OUTER_STEPS


def valid_callbacks(callbacks: Any) -> list[Any]:
    """Reject what is not a list of callables with at most one checkpoint."""
    if isinstance(callbacks, (str, bytes)) or not hasattr(callbacks, "__iter__"):
        raise ValueError(f"callbacks is {callbacks!r}; a list of functions is needed.")
    each = list(callbacks)
    for k, callback in enumerate(each):
        if isinstance(callback, Checkpoint):
            callback._require_writable()
        elif not callable(callback):
            raise ValueError(f"callbacks[{k}] is {callback!r}; a function is needed.")
    if sum(isinstance(callback, Checkpoint) for callback in each) > 1:
        raise ValueError("callbacks has more than one Checkpoint.")
    return each


def run(
    descent: Descent,
    rows: Any,
    callbacks: Sequence[Any] = (),
    *,
    verbose: int = 0,
    n_steps: int | None = None,
    random_state: object = None,
) -> None:
    """Run a descent to its end, or for at most this many steps.

    If ``random_state`` is a number, a checkpoint belongs to it.
    """
    settings = descent.settings
    limit = n_steps or settings.max_outer * settings.max_inner
    options: Any = {"label": "learn", "unit": "step", "steps": True}
    with ExitStack() as stack:
        bar = progress_bar(limit, show=verbose > 0, **options)
        observers: list[Observer] = [
            _shown(stack.enter_context(bar)),
            lambda descent: len(descent.path) == n_steps,
        ]
        for callback in callbacks:
            if isinstance(callback, Checkpoint):
                fixed = isinstance(random_state, (int, np.integer))
                seed = str(random_state) if fixed else "drawn"
                file = callback._file(_identity(descent, rows, n_steps, seed))
                file.resume(descent.set_state)
                observers.append(stack.enter_context(file))
            else:
                observers.append(_seen_by(callback))
        # Checkpoints come last: if another callback fails at a step, the file has the
        # step before, and the callback sees this one again when the fit resumes.
        observers.sort(key=lambda each: isinstance(each, StateFile))
        if len(descent.path) != n_steps:
            descent.run(observers)
    if descent.hit_limit and settings.tol > 0:
        _warn_at_limit(descent, limit)


def _warn_at_limit(descent: Descent, limit: int) -> None:
    """Warn, unless the limit is one that is meant to be reached."""
    n_steps, n_outer = len(descent.path), descent.settings.max_outer
    if n_steps >= limit > BUDGET:
        taken = f"took all {limit} steps"
    elif n_steps < limit and n_outer > OUTER_BUDGET:
        taken = f"took all {n_outer} outer steps, {n_steps} steps in total"
    else:
        return
    warn_not_converged(
        f"The descent {taken}, and has not converged to tol={descent.settings.tol}; "
        "raise max_steps, or tol."
    )


def _shown(report: Report | None) -> Observer:
    """Show each step in the bar."""

    def after(descent: Descent) -> None:
        step = descent.path[-1]
        if report is not None:
            # Outer steps that ended early count as if they had not.
            report(
                step.outer * descent.settings.max_inner + step.inner + 1,
                criterion=step.criterion,
                violation=step.violation,
                step=step.step_size,
            )

    return after


def _seen_by(callback: Any) -> Observer:
    return lambda descent: callback(descent.path[-1])


def _identity(descent: Descent, rows: Any, n_steps: int | None, seed: str) -> str:
    """Make a fingerprint of all that the steps depend on."""
    is_dense = isinstance(rows, np.ndarray)
    return identify(
        *([rows] if is_dense else [rows.data, rows.indices, rows.indptr]),
        descent.metric,
        *descent.criterion.identity(),
        f"{descent.settings} {n_steps} {seed}",
        version("groundmetric"),
    )
