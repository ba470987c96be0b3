"""Learn on many draws of the data, to find out what repeats.

A single fit always has a pair of bins that moved most, even if labels are random. Here,
a learner learns from many halves of the data, and what it learned is named only if it
repeats (stability selection, see ``halves.py``).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from .. import validation
from .._progress import progress_bar
from ..base._groups import as_groups
from ..base._powers import raised
from ..base._sample import drawn_by_class
from .estimators import of_learner
from .halves import pairs_of_groups, pairs_of_sets, sizes_of_sets
from .measured import Split, learned
from .movements import ratios_of, weights_of
from .shuffling import rises
from .stable import Draw, Stability, rules_of, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import RandomState

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]

__all__ = ["stability"]

LITTLE = 0.5  # of the average mass: too little to learn from
MOST_BINS = 50  # that are looked at, unless they are given
FEWEST_DRAWS = 10  # however long they take
MOST_SEEDS = 2**31


class Task(NamedTuple):
    """Histograms of mass 1, and how to draw from them."""

    rows: Floats
    labels: Labels
    bins: Indices | None  # to look at, if they were given
    each: Indices  # histograms of each class to learn from
    tested: Indices  # rows to test when they are left out
    n_neighbors: int
    groups: Labels | None
    n_train: int | None  # as it was asked for

    def pairs(
        self, n_pairs: int, rng: RandomState
    ) -> Iterator[tuple[Indices, Indices]]:
        """Draw pairs of disjoint sets, of whole groups if there are any."""
        if self.groups is None:
            return pairs_of_sets(self.labels, self.each, n_pairs, rng)
        return pairs_of_groups(self.labels, self.groups, self.n_train, n_pairs, rng)


def stability(
    learner: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n_draws: int = 50,
    n_train: int | None = None,
    bins: ArrayLike | None = None,
    n_neighbors: int = 3,
    threshold: float = 0.8,
    max_false: float = 0.5,
    max_tested: int = 100,
    max_seconds: float = math.inf,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Stability:
    r"""Learn on many draws of the data, and find out what repeats.

    Each draw is half of the histograms of each class, without replacement; the other
    half is the next draw. In each, two lists have the q pairs of bins whose distances
    grew most, or shrank most, compared with the initial metric. A pair is named if it
    is in a list in at least ``threshold`` of the draws. Of the pairs that a draw of
    new data would put in the list no more often than if it chose q of all p pairs at
    random, at most

    .. math:: \frac{q^2}{(2 \cdot \mathrm{threshold} - 1)\, p}

    are expected to be named (Shah & Samworth, 2013), whatever the number of draws; q is
    the largest for which that is at most ``max_false``.

    A bin matters as much as the share of wrong labels among the nearest neighbors rises
    when its masses are shuffled among the histograms that were left out of the draw.
    It is named if it rises in at least ``threshold`` of the draws, and surely enough
    that ``max_false`` names are expected by chance. Bins that carry the same
    information stand in for each other, and may all seem to matter little.

    Parameters
    ----------
    learner : estimator
        Any learner of a metric; it is cloned for each draw.
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,)
        Labels; each class needs two members.
    groups : array-like of shape (n,), optional
        Group of each histogram, such as a patient; each class needs two. Draws do not
        divide groups, and intervals are over groups.
    n_draws : int, default=50
        Number of draws: an even one, since they come in pairs.
    n_train : int, optional
        Number of histograms in a draw; by default half of each class.
    bins : array-like of int, optional
        The bins to look at. By default those with at least half of the average mass,
        as the learner sees it, and at most 50: those with most.
    n_neighbors : int, default=3
        Number of nearest neighbors among which wrong labels are counted.
    threshold : float, default=0.8
        Share of the draws from which on something repeats; more than 0.5.
    max_false : float, default=0.5
        Expected number of names due to chance, at most, in each of the three lists.
    max_tested : int, default=100
        Limit on the histograms to test when they are left out, drawn class by class.
    max_seconds : float, default=inf
        Take no further draws after this much processor time, but ten at least. What is
        found then depends on the speed of the machine.
    random_state : int, RandomState instance or None, default=None
        Draws halves, shuffles bins, and seeds learners without a seed.
    n_jobs : int, optional
        Number of threads; does not affect the results.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    Stability

    Notes
    -----
    The cost is ``n_draws`` fits, and in each of them a search for the neighbors of up
    to ``max_tested`` histograms, once as they are and once for each bin that is
    shuffled: with 50 bins at most 5,100 ``n_train`` distances, most of which the search
    rules out. No d x d matrix is made: learners of positions have positions only.

    Why halves? The bound holds for them, they leave the other half to test, and they
    are two and a half times as fast as bootstrap draws, which contain duplicates, at
    distance 0 from each other. Bootstrap draws repeat about as much noise: with random
    labels, the most frequent pair was in 43 % of the lists of halves, and in 40 % of
    theirs (``benchmarks/stable.py --bootstrap``).

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.datasets import make_histograms
    >>> from groundmetric.experiments import stability
    >>> data = make_histograms(20, random_state=0)
    >>> learner = GroundMetricLearning()
    >>> found = stability(learner, data.X, data.y, n_draws=10, random_state=0)
    >>> found.n_draws, found.n_train, len(found.bins)
    (10, 20, 16)
    """
    rules = rules_of(threshold, max_false)
    count = _as_pairs_of_draws(n_draws)
    if not max_seconds > 0:
        raise ValueError(f"max_seconds is {max_seconds}; it must be positive.")
    rng = check_random_state(random_state)
    sizes: dict[str, Any] = {
        "n_train": n_train,
        "n_neighbors": n_neighbors,
        "max_tested": max_tested,
    }
    task = _task(X, y, groups, bins, rng, **sizes)
    if not validation.is_learner(learner):
        raise ValueError(f"learner is {learner!r}; a learner of a metric is needed.")
    begin, found = time.process_time(), []
    with progress_bar(count, label="draws", show=verbose > 0, unit="draw") as report:
        for draw in _draws(learner, task, count, rng, n_jobs):
            found.append(draw)
            if report is not None:
                report(len(found))
            late = time.process_time() - begin > max_seconds
            if late and len(found) >= FEWEST_DRAWS and len(found) % 2 == 0:
                break
    return summary(
        found,
        n_rows=len(task.labels),
        n_neighbors=task.n_neighbors,
        rules=rules,
        groups=None if task.groups is None else task.groups[task.tested],
    )


def _as_pairs_of_draws(n_draws: int) -> int:
    """Check the number of draws, which come in pairs."""
    count = validation.as_count(n_draws, "n_draws", low=4)
    if count % 2:
        raise ValueError(f"n_draws is {count}; it must be even: draws come in pairs.")
    return count


def _as_bins(bins: ArrayLike, d: int) -> Indices:
    """Check distinct positions of bins, two at least."""
    array = np.asarray(bins)
    if array.dtype.kind not in "iu" or array.ndim != 1 or len(array) < 2:  # noqa: PLR2004
        raise ValueError(
            f"bins has {array.dtype} of shape {array.shape}; two whole numbers or more "
            "are needed."
        )
    off = (array < 0) | (array >= d)
    if off.any():
        k = int(np.argmax(off))
        raise ValueError(f"bins[{k}] is {array[k]}, but X has {d} bins.")
    distinct: Indices = np.unique(array).astype(np.int64)
    if len(distinct) < len(array):
        raise ValueError("bins lists a bin twice; list each one once.")
    return distinct


def _task(
    X: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike | None,
    bins: ArrayLike | None,
    rng: RandomState,
    *,
    n_train: int | None,
    n_neighbors: int,
    max_tested: int,
) -> Task:
    """Check the data, and choose which histograms to test."""
    rows = validation.as_distributions(X, "X")
    labels = validation.as_labels(y)
    validation.require_length(labels, len(rows), "y")
    each = sizes_of_sets(labels, n_train)
    k, n = validation.as_count(n_neighbors, "n_neighbors", low=1), int(each.sum())
    if k > n:
        raise ValueError(f"n_neighbors is {k}, but a draw has {n} histograms.")
    most = validation.as_count(max_tested, "max_tested", low=len(each))
    chosen = None if bins is None else _as_bins(bins, rows.shape[1])
    tested = drawn_by_class(labels, min(most, len(rows)), rng)
    apart = None if groups is None else as_groups(groups, len(rows))
    return Task(rows, labels, chosen, each, tested, k, apart, n_train)


def _draws(
    learner: Any, task: Task, n_draws: int, rng: RandomState, n_jobs: int | None
) -> Iterator[Draw]:
    """Learn from one half after the other, and shuffle bins of what is left out."""
    bins, n = task.bins, len(task.tested)
    options: dict[str, Any] = {"n_neighbors": task.n_neighbors, "n_jobs": n_jobs}
    for pair in task.pairs(n_draws // 2, rng):
        for train in pair:
            test = np.setdiff1d(task.tested, train)
            split = Split.of(task.rows, task.labels, train, test, task.groups)
            fit = learned(of_learner(_seeded(learner, rng)), split, n_jobs).learner
            if bins is None:
                bins = _most_used(raised(task.rows, fit.power_))
            wrong, more = rises(fit, split, bins, rng, **options)
            at = np.searchsorted(task.tested, test)
            yield Draw(
                bins,
                ratios_of(fit, bins),
                _spread_out(wrong[None], at, n)[0],
                _spread_out(more, at, n),
                weights_of(fit, bins),
                len(train),
            )


def _seeded(learner: Any, rng: RandomState) -> Any:
    """Copy a learner, and give it a seed if it has none."""
    own, seed = clone(learner), int(rng.randint(MOST_SEEDS))
    params = own.get_params()
    names = [name for name in params if name.endswith("random_state")]
    return own.set_params(**{name: seed for name in names if params[name] is None})


def _most_used(rows: Any) -> Indices:
    """Find the bins with at least half of the average mass, and at most fifty."""
    mass = np.asarray(rows.mean(axis=0)).ravel()
    order = np.argsort(-mass, kind="stable")[:MOST_BINS]
    used: Indices = np.sort(order[mass[order] >= LITTLE * mass.mean()])
    return used


def _spread_out(values: Floats, at: Indices, n: int) -> Floats:
    """Put values into their columns of n, the rest of which are NaN."""
    found = np.full((len(values), n), np.nan)
    found[:, at] = values
    return found
