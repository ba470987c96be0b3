"""Measure a learner beside other distances, and look at the first split in detail."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base._rows import n_among
from ..base._votes import votes
from ..experiments.beside import measure_beside
from ..experiments.estimators import Learned, starts_at_l1
from ..experiments.measures import nearest, nearest_others, own_share
from ..experiments.verdict import Verdict
from ..neighbors._search import EMDNeighbors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..experiments.measured import Measured
    from ..experiments.methods import Method
    from ..experiments.outcome import CrossValidation
    from ..experiments.splits import Data
    from ..experiments.stable import Stability

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_NEIGHBORS = 20


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
    learner: Any  # of the first split
    verdict: Verdict
    first: dict[str, Detail]
    skipped: str = ""  # a sentence on learners that could not run, if any
    seconds: float = 0.0  # processor time
    stability: Stability | None = None
    unknown: str = ""  # why stability could not be measured, in a sentence

    @property
    def n_neighbors(self) -> int:
        """Number of neighbors that vote."""
        return self.verdict.n_neighbors

    @property
    def before(self) -> str:
        """The distance before learning; l1 if learning started at half of it."""
        return "initial" if "initial" in self.first else "l1"

    @property
    def n_seen(self) -> int:
        """Number of test histograms that are also in the training set."""
        train, test = map(self.learner.histograms, (self.data.train, self.data.test))
        return n_among(test, train, self.learner._histograms)

    def lesson(self, names: Sequence[str]) -> str:
        """Say what was learned and repeats, with these names of the features."""
        if self.stability is None:
            return self.unknown
        return " ".join(self.stability.sentences(names, "feature"))

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
    learner: Any,
    data: Data,
    *,
    n_neighbors: int,
    n_jobs: int | None,
    learners: Iterable[str] | None = None,
    slow: bool = False,
    others: Sequence[Method] = (),
    verbose: int = 0,
    begin: Callable[[float, str], object] | None = None,
) -> Evaluation:
    """Measure a learner on all splits, fitted only if it has not seen test histograms.

    The other learners are names of methods; by default all that can run.
    """
    fitted = not data.was_split and hasattr(learner, "path_")
    if fitted:
        _require_bins(learner, data.rows.shape[1])
    start = time.process_time()
    beside = measure_beside(
        learner,
        data,
        fitted=fitted,
        start=True,
        learners=learners,
        slow=slow,
        others=others,
        n_neighbors=n_neighbors,
        n_jobs=n_jobs,
        verbose=verbose,
        begin=begin,
        keep=True,
    )
    every = beside.distances
    fit = _kept(every[0]).pairwise.learner.set_params(n_jobs=learner.n_jobs)
    if starts_at_l1(fit) and every[1].knn_errors == every[2].knn_errors:
        del every[1]  # "initial" is l1 on all splits
    search = {"n_jobs": n_jobs, "verbose": learner.verbose}
    detail = {one.method: _detail(_kept(one), data, search) for one in every}
    verdict = Verdict(
        {one.method: one for one in every},
        n_neighbors,
        {one.method: one for one in beside.predictions},
    )
    seconds = time.process_time() - start
    return Evaluation(data, fit, verdict, detail, beside.skipped, seconds)


def _kept(found: CrossValidation) -> Measured:
    """Return the first split, which was kept in detail."""
    assert found.first is not None  # noqa: S101
    return found.first


def _require_bins(learner: Any, d: int) -> None:
    """Reject a learner of other features; no matrix of a map's distances is made."""
    if learner.n_features_in_ != d:
        raise ValueError(
            f"learner was fitted to {learner.n_features_in_:,} bins, but X has {d:,}."
        )


def _detail(found: Measured, data: Data, options: dict[str, Any]) -> Detail:
    """Find neighbors, up to twenty, and what they vote for."""
    pairwise = found.pairwise
    between = nearest(found.between, min(MOST_NEIGHBORS, len(data.y)))
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
