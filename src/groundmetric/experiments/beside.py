"""Measure your own learner beside the other distances, on the same splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import validation
from .choice import Learners, available_learners, fixed_for
from .cross_validation import measure
from .estimators import of_learner
from .methods import METHODS
from .names import LEARNERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .cross_validation import CrossValidation
    from .methods import Method
    from .splits import Data

__all__ = ["measure_beside"]


def measure_beside(
    learner: Any,
    data: Data,
    *,
    fitted: bool = False,
    start: bool = False,
    learners: Iterable[str] | None = None,
    slow: bool = False,
    tfidf: bool | None = None,
    others: Sequence[Method] = (),
    **options: Any,
) -> tuple[list[CrossValidation], str]:
    """Return errors of "learned" and the others, and a sentence on what was skipped.

    With ``start``, those of "initial", where it started, follow "learned". Other
    learners are names of methods; by default all that can run, and slow ones if asked
    for. Options are those of :func:`measure`.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.beside import measure_beside
    >>> from groundmetric.experiments.splits import split_data
    >>> data = split_data([[4, 1], [1, 4]] * 4, [0, 1] * 4, n_folds=2)
    >>> found, skipped = measure_beside(
    ...     GroundMetricLearning(), data, learners=(), n_neighbors=1
    ... )
    >>> [one.method for one in found]
    ['learned', 'l1', 'hellinger', 'chi2', 'l2']
    """
    if learners is None:
        rivals = available_learners(data.design, slow=slow)
    else:
        names = [learners] if isinstance(learners, str) else list(learners)
        for name in names:
            validation.require_one_of(name, "learners", LEARNERS)
        rivals = Learners(names, "")
    named = [*fixed_for(data.rows, tfidf=tfidf), *rivals.names]
    own = of_learner(learner, fitted=fitted, start=start)
    methods = [own, *(METHODS[name] for name in named), *others]
    return measure(data, methods=methods, **options), rivals.skipped
