"""Measure a learner beside other distances, and look at the first split in detail."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._powers import raised
from ..base._rows import n_among
from ..base._votes import votes
from ..experiments.choice import FIXED
from ..experiments.cross_validation import measure
from ..experiments.measures import nearest, nearest_others, own_share
from ..experiments.methods import METHODS, Learned, Method, of_learner, of_start
from ..experiments.splits import draw, given
from ..experiments.verdict import Verdict
from ..learning._criterion import is_uniform
from ..neighbors._search import EMDNeighbors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ..experiments.comparison import Measured
    from ..experiments.design import Design
    from ..learning._estimator import GroundMetricLearning

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_NEIGHBORS = 20


@dataclass(frozen=True)
class Data:
    """Histograms of mass 1 with labels, and the splits of a design.

    ``y`` and ``z`` are the labels of the training and the test histograms of the first
    split, as positions in ``classes``.
    """

    rows: Floats = field(repr=False)
    labels: NDArray[Any] = field(repr=False)
    design: Design
    n_given: int  # of the rows; the others are a test set that was given

    @property
    def was_split(self) -> bool:
        """Whether there was no test set."""
        return self.design.kind != "given"

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return [str(label) for label in np.unique(self.labels)]

    @property
    def train(self) -> Floats:
        """Training histograms of the first split."""
        return self.rows[self.design.splits[0][0]]

    @property
    def test(self) -> Floats:
        """Test histograms of the first split."""
        return self.rows[self.design.splits[0][1]]

    @property
    def y(self) -> Indices:
        """Classes of the training histograms."""
        return self.design.y[self.design.splits[0][0]]

    @property
    def z(self) -> Indices:
        """Classes of the test histograms."""
        return self.design.y[self.design.splits[0][1]]

    @property
    def train_rows(self) -> Indices:
        """Positions of the training histograms in what was given."""
        return self.design.splits[0][0]

    @property
    def test_rows(self) -> Indices:
        """Positions of the test histograms in what was given."""
        rows = self.design.splits[0][1]
        return rows if self.was_split else rows - self.n_given


@dataclass(frozen=True)
class Judged:
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
    judged: dict[str, Judged]

    @property
    def n_neighbors(self) -> int:
        """Number of neighbors that vote."""
        return self.verdict.n_neighbors

    @property
    def before(self) -> str:
        """The distance before learning; l1 if the initial metric is uniform."""
        return "initial" if "initial" in self.judged else "l1"

    @property
    def n_seen(self) -> int:
        """Number of test histograms that are also in the training set."""
        power = self.learner.power_
        train, test = (
            raised(rows, power) for rows in (self.data.train, self.data.test)
        )
        return n_among(test, train, self.learner._histograms)  # noqa: SLF001

    def recalls(self) -> tuple[float, float, int] | None:
        """Recall of the learned metric, of l1, and the number of neighbors.

        None if there is only one test histogram.
        """
        shares = [self.judged[name].recall for name in ("learned", "l1")]
        at = min(self.n_neighbors, len(shares[0]))
        if not at:
            return None
        return float(shares[0][at - 1]), float(shares[1][at - 1]), at


def judge_data(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    **drawing: Any,  # noqa: ANN401 - options of draw
) -> Data:
    """Check histograms and labels; draw splits if there is no test set."""
    rows = validation.as_distributions(X, "X")
    validation.require_length(y, len(rows), "y")
    labels = np.asarray(y)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together.")
    if X_test is None or y_test is None:
        return Data(rows, labels, draw(labels, **drawing), len(rows))
    test = validation.as_distributions(X_test, "X_test")
    if test.shape[1] != rows.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} bins, but X_test has {test.shape[1]}.")
    validation.require_length(y_test, len(test), "y_test")
    both = np.concatenate([labels, np.asarray(y_test)])
    both = validation.as_labels(both, "y with y_test")
    design = given(labels, np.asarray(y_test))
    return Data(np.concatenate([rows, test]), both, design, len(rows))


def evaluate(
    learner: GroundMetricLearning,
    data: Data,
    *,
    n_neighbors: int,
    n_jobs: int | None,
    learners: Sequence[str] = (),
    fixed: Sequence[str] = FIXED,
    others: Sequence[Method] = (),
    verbose: int = 0,
) -> Evaluation:
    """Measure a learner on all splits, fitted only if it has not seen test histograms.

    The other learners, and the distances that learn nothing, are names of methods.
    """
    fitted = not data.was_split and hasattr(learner, "metric_")
    if fitted:
        metric = learner.metric_
        validation.as_cost(metric, data.rows.shape[1], "learner.metric_")
    first = [of_learner(learner, fitted=fitted)]
    start = of_start(learner, fitted=fitted)
    if not _starts_uniform(start, data):
        first.append(start)
    every = measure(
        data.rows,
        data.labels,
        data.design,
        methods=[*first, *(METHODS[name] for name in (*fixed, *learners)), *others],
        n_neighbors=n_neighbors,
        n_jobs=n_jobs,
        verbose=verbose,
        keep=True,
    )
    found = {one.method: one for one in every}
    options = {"n_jobs": n_jobs, "verbose": learner.verbose}
    judged = {
        one.method: _judge(one.first, data, options) for one in every if one.first
    }
    own = found["learned"].first
    assert own is not None  # noqa: S101 - it was kept
    assert isinstance(own.pairwise, Learned)  # noqa: S101 - see of_learner
    own.pairwise.learner.set_params(n_jobs=learner.n_jobs)
    verdict = Verdict(found, n_neighbors)
    return Evaluation(data, own.pairwise.learner, verdict, judged)


def _starts_uniform(start: Method, data: Data) -> bool:
    pairwise = start.learn(data.train, data.labels[data.train_rows], None)
    return is_uniform(pairwise(np.eye(data.rows.shape[1]), None))


def _judge(found: Measured, data: Data, options: dict[str, Any]) -> Judged:
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
    return Judged(between, winners, errors, own_share(data.z[among], data.z))
