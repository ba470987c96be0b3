"""Evaluate a learner beside others, and say what to write about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import validation
from ..base._powers import raised
from ..experiments.choice import LEARNERS, Learners, available_learners, fixed_for
from ._evaluation import Evaluation, evaluate, judge_data
from ._lesson import lesson
from ._section import Section, section_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from ..experiments.design import Design
    from ..learning._estimator import GroundMetricLearning

MOST_BINS = 1000  # of a map


@dataclass(frozen=True)
class Finding:
    """What a report says: an evaluation, and the first section of the page."""

    evaluation: Evaluation
    section: Section

    @property
    def sentences(self) -> list[str]:
        """The verdict, for the terminal."""
        return [*self.evaluation.verdict.sentences(), *self.lessons]

    lessons: Sequence[str] = ()

    def with_lesson(self, names: Sequence[str]) -> Finding:
        """Say what was learned, too, with these names of the features."""
        data, learner = self.evaluation.data, self.evaluation.learner
        said = lesson(learner, raised(data.train, learner.power_), names)
        if not said:
            return self
        section = replace(self.section, details=[*self.section.details, said])
        return replace(self, section=section, lessons=[said])


def find_out(
    learner: GroundMetricLearning,
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None,
    y_test: ArrayLike | None,
    *,
    n_neighbors: int,
    learners: Iterable[str] | None,
    n_jobs: int | None,
    slow: bool = False,
    n_train: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    seed: int = 0,
    verbose: int = 0,
) -> Finding:
    """Evaluate on the test set, or on splits."""
    _require_few_bins(learner, np.shape(X)[1])
    drawing = {"n_train": n_train, "n_folds": n_folds, "n_repeats": n_repeats}
    data = judge_data(X, y, X_test, y_test, **drawing, seed=seed)
    others = _judged(learners, data.design, slow=slow)
    found = evaluate(
        learner,
        data,
        n_neighbors=n_neighbors,
        n_jobs=n_jobs,
        learners=others.names,
        fixed=fixed_for(X),
        verbose=verbose,
    )
    section = section_of(found, [others.skipped])
    given: dict[str, Any] = {} if learners is None else {"learners": others.names}
    if data.was_split:
        usual = {"n_train": None, "n_folds": 5, "n_repeats": 2}
        given |= {name: x for name, x in drawing.items() if x != usual[name]}
    return Finding(found, replace(section, options=given))


def _require_few_bins(learner: GroundMetricLearning, d: int) -> None:
    """Reject a map of more bins than a page can draw; matrices are never as large."""
    if learner._is_mapped and d > MOST_BINS:  # noqa: SLF001 - of ours
        raise ValueError(
            f"A report draws the distances between all bins, up to {MOST_BINS:,} of "
            f"them, and there are {d:,}; to find out whether this map helps, use "
            "groundmetric evaluate, or experiments.compare in Python."
        )


def _judged(learners: Iterable[str] | None, design: Design, *, slow: bool) -> Learners:
    """Check the names of other learners; by default all that can run."""
    if learners is None:
        return available_learners(design, slow=slow)
    names = [learners] if isinstance(learners, str) else list(learners)
    for name in names:
        validation.require_one_of(name, "learners", LEARNERS)
    return Learners(names, "")
