"""Judge a learner on test histograms, or on splits, beside other learners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import validation
from .._progress import progress_bar
from ..base._powers import raised
from ..experiments.choice import LEARNERS, Learners, available_learners, fixed_for
from ._evaluation import TEST_SHARE, Evaluation, evaluate, judge_data
from ._lesson import lesson
from ._repeated import Repeated
from ._section import Section, one_test_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from ..learning._estimator import GroundMetricLearning

N_SPLITS = 5
MOST_BINS = 1000  # of a map
SEEDS = 2**32


@dataclass(frozen=True)
class Finding:
    """What a report says.

    Attributes
    ----------
    evaluation : Evaluation
        Of the test set, or the first split.
    section : Section
        The first section of the page.
    errors : dict of str to float
        Error rate of each distance, mean over splits.
    verdict : str
        The verdict, for the terminal.
    """

    evaluation: Evaluation
    section: Section
    errors: dict[str, float]
    verdict: str

    def with_lesson(self, names: Sequence[str]) -> Finding:
        """Say what was learned, too, with these names of the features."""
        data, learner = self.evaluation.data, self.evaluation.learner
        said = lesson(learner, raised(data.train, learner.power_), names)
        if not said:
            return self
        section = replace(self.section, details=[*self.section.details, said])
        return replace(self, section=section, verdict=f"{self.verdict} {said}")


def find_out(
    learner: GroundMetricLearning,
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None,
    y_test: ArrayLike | None,
    *,
    n_neighbors: int,
    n_splits: int,
    learners: Iterable[str] | None,
    seed: int,
    n_jobs: int | None,
    progress: bool = False,
) -> Finding:
    """Evaluate on the test set, or hold one out repeatedly."""
    splits = validation.as_count(n_splits, "n_splits", low=1)
    data = judge_data(X, y, X_test, y_test, seed)
    _require_few_bins(learner, data.train.shape[1])
    others = _judged(learners, int(np.unique(data.y, return_counts=True)[1].min()))
    options: dict[str, Any] = {
        "n_neighbors": n_neighbors,
        "n_jobs": n_jobs,
        "learners": others.names,
        "fixed": fixed_for(X),
    }
    first = evaluate(learner, data, **options)
    if not data.was_split or splits == 1:
        section = one_test_set(first, seed, others.skipped)
        found = Finding(first, section, first.errors(), first.verdict())
    else:
        every = [first]
        with progress_bar(splits, label="splits", show=progress, unit="split") as bar:
            for k in range(1, splits):
                if bar is not None:
                    bar(k)
                again = judge_data(X, y, None, None, (seed + k) % SEEDS)
                every.append(evaluate(learner, again, **options))
            if bar is not None:
                bar(splits)
        over = Repeated.of(every, ratio=len(data.test) / len(data.train))
        means = {name: float(np.mean(each)) for name, each in over.errors.items()}
        how = (
            f"No test set was given: {100 * TEST_SHARE:.0f} % of the histograms of "
            f"each class ({len(data.test)} in all, drawn with seed {seed} and those "
            f"after it) were held out, {splits} times, and all learned from the rest."
        )
        section = over.section([others.skipped] if others.skipped else [], how)
        found = Finding(first, section, means, over.verdict())
    given: dict[str, object] = {} if learners is None else {"learners": others.names}
    if data.was_split:
        given["n_splits"] = splits
    return replace(found, section=replace(found.section, options=given))


def _require_few_bins(learner: GroundMetricLearning, d: int) -> None:
    """Reject a map of more bins than a page can draw; matrices are never as large."""
    if learner._is_mapped and d > MOST_BINS:  # noqa: SLF001 - of ours
        raise ValueError(
            f"A report draws the distances between all bins, up to {MOST_BINS:,} of "
            f"them, and there are {d:,}; to find out whether this map helps, use "
            "groundmetric evaluate, or experiments.compare in Python."
        )


def _judged(learners: Iterable[str] | None, fewest: int) -> Learners:
    """Check the names of other learners; by default all that can run."""
    if learners is None:
        return available_learners(fewest)
    names = [learners] if isinstance(learners, str) else list(learners)
    for name in names:
        validation.require_one_of(name, "learners", LEARNERS)
    return Learners(names, "")
