"""Measure a learner beside other distances, and look at the first split in detail."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._powers import raised
from ..base._rows import n_among
from ..base._votes import votes
from ..experiments.choice import Learners, available_learners, fixed_for
from ..experiments.cross_validation import measure
from ..experiments.estimators import Learned, of_learner, of_start
from ..experiments.measures import nearest, nearest_others, own_share
from ..experiments.methods import METHODS, Method
from ..experiments.names import LEARNERS
from ..experiments.verdict import Verdict
from ..learning._criterion import is_uniform
from ..neighbors._search import EMDNeighbors
from ._lesson import lesson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..experiments.design import Design
    from ..experiments.measured import Measured
    from ..experiments.splits import Data
    from ..learning._estimator import GroundMetricLearning

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_NEIGHBORS = 20
MOST_BINS = 1000  # of a map


@dataclass(frozen=True)
class Detail:
    """One distance on the first split: neighbors in the training set, and their votes.

    Columns, and entries of ``errors`` and ``recall``, are for 1, 2, ... neighbors.
    """

    neighbors: Indices = field(repr=False)  # (m, k)
    votes: Indices = field(repr=False)  # (m, k)
    errors: Floats
    recall: Floats


@dataclass(frozen=True)
class Evaluation:
    """Everything that a report shows."""

    data: Data
    learner: GroundMetricLearning  # of the first split
    verdict: Verdict
    first: dict[str, Detail]
    skipped: str = ""  # a sentence on learners that could not run, if any

    @property
    def n_neighbors(self) -> int:
        """Number of neighbors that vote."""
        return self.verdict.n_neighbors

    @property
    def before(self) -> str:
        """The distance before learning; l1 if the initial metric is uniform."""
        return "initial" if "initial" in self.first else "l1"

    @property
    def n_seen(self) -> int:
        """Number of test histograms that are also in the training set."""
        train, test = (
            self.learner._seen(rows) for rows in (self.data.train, self.data.test)
        )
        return n_among(test, train, self.learner._histograms)

    def lesson(self, names: Sequence[str]) -> str:
        """Say what was learned, with these names of the features; nothing if little."""
        return lesson(self.learner, raised(self.data.train, self.learner.power_), names)

    def recalls(self) -> tuple[float, float, int] | None:
        """Recall of the learned metric, of l1, and the number of neighbors.

        None if there is only one test histogram.
        """
        shares = [self.first[name].recall for name in ("learned", "l1")]
        at = min(self.n_neighbors, len(shares[0]))
        if not at:
            return None
        return float(shares[0][at - 1]), float(shares[1][at - 1]), at


def evaluate(
    learner: GroundMetricLearning,
    data: Data,
    *,
    n_neighbors: int,
    n_jobs: int | None,
    learners: Iterable[str] | None = None,
    slow: bool = False,
    others: Sequence[Method] = (),
    verbose: int = 0,
) -> Evaluation:
    """Measure a learner on all splits, fitted only if it has not seen test histograms.

    The other learners are names of methods; by default all that can run.
    """
    _require_few_bins(learner, data.rows.shape[1])
    fitted = not data.was_split and hasattr(learner, "metric_")
    if fitted:
        validation.as_cost(learner.metric_, data.rows.shape[1], "learner.metric_")
    rivals = _rivals(learners, data.design, slow=slow)
    names = [*fixed_for(data.rows), *rivals.names]
    settings: dict[str, Any] = {
        "n_neighbors": n_neighbors,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    measured = partial(measure, data, **settings, keep=True)
    own = of_learner(learner, fitted=fitted)
    every = measured(methods=[own, *(METHODS[name] for name in names), *others])
    first = every[0].first
    assert first is not None  # noqa: S101 - it was kept
    assert isinstance(first.pairwise, Learned)  # noqa: S101 - see of_learner
    fit = first.pairwise.learner.set_params(n_jobs=learner.n_jobs)
    if not is_uniform(fit.initial_metric_):
        every[1:1] = measured(methods=[of_start(learner, fitted=fitted)])
    options = {"n_jobs": n_jobs, "verbose": learner.verbose}
    detail = {
        one.method: _detail(one.first, data, options) for one in every if one.first
    }
    verdict = Verdict({one.method: one for one in every}, n_neighbors)
    return Evaluation(data, fit, verdict, detail, rivals.skipped)


def _require_few_bins(learner: GroundMetricLearning, d: int) -> None:
    """Reject a map of more bins than a page can draw; matrices are never as large."""
    if d > MOST_BINS and learner._keeps_sparse(reset=True):
        raise ValueError(
            f"A report draws the distances between all bins, up to {MOST_BINS:,} of "
            f"them, and there are {d:,}; to find out whether this map helps, use "
            "groundmetric evaluate, or experiments.compare in Python."
        )


def _rivals(learners: Iterable[str] | None, design: Design, *, slow: bool) -> Learners:
    """Check the names of other learners; by default all that can run."""
    if learners is None:
        return available_learners(design, slow=slow)
    names = [learners] if isinstance(learners, str) else list(learners)
    for name in names:
        validation.require_one_of(name, "learners", LEARNERS)
    return Learners(names, "")


def _detail(found: Measured, data: Data, options: dict[str, Any]) -> Detail:
    """Find neighbors, up to twenty, and what they vote for."""
    pairwise, distances = found.pairwise, found.between
    assert pairwise is not None and distances is not None  # noqa: S101, PT018 - kept
    between = nearest(distances, min(MOST_NEIGHBORS, len(data.y)))
    winners = votes(data.y[between], len(data.classes))
    errors: Floats = (winners != data.z[:, None]).mean(axis=0)
    n_others = min(MOST_NEIGHBORS, len(data.z) - 1)
    if isinstance(pairwise, Learned) and n_others:
        search = EMDNeighbors(pairwise.learner, n_neighbors=n_others, **options)
        search.fit(data.test)
        among = np.asarray(search.kneighbors(return_distance=False))
    else:
        among = nearest_others(pairwise(data.test, None), n_others)
    return Detail(between, winners, errors, own_share(data.z[among], data.z))
