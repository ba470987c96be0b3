"""Learn if necessary, find neighbors under each distance, and count errors."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from .. import validation
from ..base._powers import raised
from ..base._rows import n_among
from ..base._votes import votes
from ..experiments.choice import FIXED
from ..experiments.measures import (
    class_sizes,
    nearest,
    nearest_others,
    own_share,
)
from ..experiments.methods import METHODS
from ..experiments.names import in_a_sentence
from ..learning._criterion import is_uniform
from ..neighbors._search import EMDNeighbors
from ._names import that_do_not_learn, which_to_use
from ._verdict import (
    Difference,
    best_of,
    contradicts,
    difference,
    headline,
    recall_beside,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..learning._estimator import GroundMetricLearning

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_NEIGHBORS = 20
TEST_SHARE = 0.3  # held out if there is no test set
FEWEST = 4  # histograms needed to split a class


@dataclass(frozen=True)
class Data:
    """Histograms of mass 1, and labels as positions in ``classes``."""

    train: Floats
    y: Indices
    test: Floats
    z: Indices
    classes: list[str]
    labels: NDArray[Any]  # of the training histograms, as given
    was_split: bool
    train_rows: Indices  # positions of the histograms in what was given
    test_rows: Indices


@dataclass(frozen=True)
class Judged:
    """Results of one distance: neighbors in the training set, and their votes.

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
    learner: GroundMetricLearning
    n_neighbors: int
    judged: dict[str, Judged]
    seconds: dict[str, float] = field(default_factory=dict)  # CPU time for learning

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

    def right(self, name: str) -> NDArray[np.bool_]:
        """Which test histograms are classified correctly."""
        found: NDArray[np.bool_] = (
            self.judged[name].votes[:, self.n_neighbors - 1] == self.data.z
        )
        return found

    def differences(self) -> dict[str, Difference]:
        """Compare the learned metric with each other distance."""
        right = self.right("learned")
        return {
            name: difference(in_a_sentence(name), right, self.right(name))
            for name in self.judged
            if name != "learned"
        }

    def errors(self) -> dict[str, float]:
        """Error rates under each distance."""
        return {
            name: float(judged.errors[self.n_neighbors - 1])
            for name, judged in self.judged.items()
        }

    def best_other(self) -> str:
        """Compare the learned metric with the best distance that does not learn."""
        return best_of([*that_do_not_learn(self.differences()).values()])

    def choice(self) -> str:
        """Say in one sentence which distance to use; nothing without other learners."""

        def interval(a: str, b: str) -> tuple[float, float]:
            found = difference(b, self.right(a), self.right(b))
            return found.low, found.high

        return which_to_use(self.errors(), interval)

    def recalls(self) -> tuple[float, float, int] | None:
        """Recall of the learned metric, of l1, and the number of neighbors.

        None if there is only one test histogram.
        """
        shares = [self.judged[name].recall for name in ("learned", "l1")]
        at = min(self.n_neighbors, len(shares[0]))
        if not at:
            return None
        return float(shares[0][at - 1]), float(shares[1][at - 1]), at

    def headline(self) -> str:
        """Say in one sentence whether learning helped."""
        return headline(self.differences()["l1"], self.n_neighbors)

    def verdict(self) -> str:
        """Return the headline with its caveats, for the terminal."""
        said, errors = [self.headline()], that_do_not_learn(self.errors())
        if chosen := self.choice():
            said.append(chosen)
        elif min(errors.values()) < errors["l1"]:
            said.append(self.best_other())
        recalls, found = self.recalls(), self.differences()["l1"]
        if recalls and contradicts(found, *recalls[:2]):
            said.append(recall_beside(found, *recalls))
        return " ".join(said)


def judge_data(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None,
    y_test: ArrayLike | None,
    random_state: int,
) -> Data:
    """Check histograms and labels; hold out a test set if there is none."""
    rows = validation.as_distributions(X, "X")
    validation.require_length(y, len(rows), "y")
    labels = np.asarray(y)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together.")
    class_sizes(labels, "y")
    if X_test is None or y_test is None:
        places = kept, aside = _split(labels, random_state)
        test, test_labels = rows[aside], labels[aside]
        rows, labels = rows[kept], labels[kept]
    else:
        test = validation.as_distributions(X_test, "X_test")
        if test.shape[1] != rows.shape[1]:
            raise ValueError(
                f"X has {rows.shape[1]} bins, but X_test has {test.shape[1]}."
            )
        validation.require_length(y_test, len(test), "y_test")
        test_labels = np.asarray(y_test)
        places = np.arange(len(rows)), np.arange(len(test))
    both = validation.as_labels(np.concatenate([labels, test_labels]), "y with y_test")
    classes, codes = np.unique(both, return_inverse=True)
    names = [str(label) for label in classes]
    y_codes, z_codes = np.split(codes.astype(np.int64), [len(labels)])
    return Data(rows, y_codes, test, z_codes, names, labels, X_test is None, *places)


def evaluate(
    learner: GroundMetricLearning,
    data: Data,
    *,
    n_neighbors: int,
    n_jobs: int | None,
    learners: Sequence[str] = (),
    fixed: Sequence[str] = FIXED,
) -> Evaluation:
    """Fit the learner if it is not fitted, or if it has seen the test histograms.

    The other learners, and the distances that learn nothing, are names of methods.
    """
    k = min(MOST_NEIGHBORS, len(data.train))
    at = validation.as_count(n_neighbors, "n_neighbors", low=1, high=k)
    validation.n_threads(n_jobs)
    fitted, seconds = learner, {}
    if data.was_split or not hasattr(learner, "metric_"):
        start = time.process_time()
        fitted = clone(learner).fit(data.train, data.labels)
        seconds["learned"] = time.process_time() - start
    metric, initial = fitted.metric_, fitted.initial_metric_
    validation.as_cost(metric, data.train.shape[1], "learner.metric_")
    options = {"n_jobs": n_jobs, "verbose": fitted.verbose}
    train, test = (raised(rows, fitted.power_) for rows in (data.train, data.test))
    seen = replace(data, train=train, test=test)
    judged = {"learned": _emd(metric, seen, k, options)}
    if not is_uniform(initial):
        judged["initial"] = _emd(initial, seen, k, options)
    for name in (*fixed, *learners):
        start = time.process_time()
        pairwise = METHODS[name].learn(data.train, data.labels, n_jobs)
        if name in learners:
            seconds[name] = time.process_time() - start
        between = nearest(pairwise(data.test, data.train), k)
        among = nearest_others(pairwise(data.test, None), _n_others(data))
        judged[name] = _judge(between, among, data)
    return Evaluation(data, fitted, at, judged, seconds)


def _split(labels: NDArray[Any], random_state: int) -> tuple[Indices, Indices]:
    values, counts = class_sizes(labels, "y")
    if counts.min() < FEWEST:
        raise ValueError(
            f"y has {counts.min()} of class {values[counts.argmin()]!s}; at least "
            f"{FEWEST} are needed to hold out a test set. Give X_test and y_test "
            "instead."
        )
    seed = validation.as_count(random_state, "random_state", low=0, high=2**32 - 1)
    kept, aside = train_test_split(
        np.arange(len(labels)), test_size=TEST_SHARE, stratify=labels, random_state=seed
    )
    return np.sort(kept), np.sort(aside)


def _n_others(data: Data) -> int:
    return min(MOST_NEIGHBORS, len(data.test) - 1)


def _emd(metric: Floats, data: Data, k: int, options: dict[str, Any]) -> Judged:
    """Neighbors under an EMD."""
    search = EMDNeighbors(metric, n_neighbors=k, **options).fit(data.train)
    between = search.kneighbors(data.test, return_distance=False)
    others = _n_others(data)
    if not others:
        return _judge(np.asarray(between), np.empty((1, 0), dtype=np.int64), data)
    search = EMDNeighbors(metric, n_neighbors=others, **options).fit(data.test)
    among = search.kneighbors(return_distance=False)
    return _judge(np.asarray(between), np.asarray(among), data)


def _judge(between: Indices, among: Indices, data: Data) -> Judged:
    winners = votes(data.y[between], len(data.classes))
    errors: Floats = (winners != data.z[:, None]).mean(axis=0)
    return Judged(between, winners, errors, own_share(data.z[among], data.z))
