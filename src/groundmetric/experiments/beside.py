"""Measure your own learner beside the other distances, on the same splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from .. import validation
from .choice import Learners, available_learners, fixed_for
from .cross_validation import distances_of, measure, predictions_of
from .effort import measuring_seconds, work
from .estimators import of_learner
from .methods import METHODS
from .names import LEARNERS
from .predictors import PREDICTORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .methods import Method
    from .outcome import CrossValidation, Prediction
    from .splits import Data

__all__ = ["Beside", "measure_beside"]


class Beside(NamedTuple):
    """Errors of distances and of predictors, and a sentence on what was skipped."""

    distances: list[CrossValidation]
    predictions: list[Prediction]
    skipped: str


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
    begin: Callable[[float, str], object] | None = None,
    **options: Any,
) -> Beside:
    """Measure "learned" and the others, and say what was skipped.

    With ``start``, "initial", where it started, follows "learned". Other learners are
    names of methods and predictors; by default all that can run, and slow ones if asked
    for. Before it starts, ``begin`` is told about how many seconds it will take, and
    what is to be done. Options are those of :func:`measure`.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.beside import measure_beside
    >>> from groundmetric.experiments.splits import split_data
    >>> data = split_data([[4, 1], [1, 4]] * 4, [0, 1] * 4, n_folds=2)
    >>> found = measure_beside(
    ...     GroundMetricLearning(), data, learners=(), n_neighbors=1
    ... )
    >>> [one.method for one in found.distances]
    ['learned', 'l1', 'hellinger', 'chi2', 'l2']
    """
    if learners is None:
        rivals = available_learners(data.design, data.rows.shape[1], slow=slow)
        rivals.names.extend(PREDICTORS)
    else:
        names = [learners] if isinstance(learners, str) else list(learners)
        for name in names:
            validation.require_one_of(name, "learners", (*LEARNERS, *PREDICTORS))
        rivals = Learners(names, "")
    named = [*fixed_for(data.rows, tfidf=tfidf), *rivals.names]
    own = of_learner(learner, fitted=fitted, start=start)
    known: dict[str, Any] = {**METHODS, **PREDICTORS}
    methods = [own, *(known[name] for name in named), *others]
    if begin is not None:
        named = [method.name for method in methods]
        threads = validation.n_threads(options.get("n_jobs"))
        how: Any = {"fitted": fitted, "n_threads": threads}
        begin(measuring_seconds(data, named, learner, **how), work(data, len(named)))
    found = measure(data, methods=methods, **options)
    return Beside(distances_of(found), predictions_of(found), rivals.skipped)
