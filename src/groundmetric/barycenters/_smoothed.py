r"""Debiased Sinkhorn barycenters of many groups of histograms, all at once.

.. math:: F(b) = \sum_k w_k S_\epsilon(x_k, b), \qquad
          \nabla F(b) = \varphi = \sum_k w_k g_k - h,

where g_k is b's potential in OT_eps(x_k, b), and h that in OT_eps(b, b). F is convex if
the cost is of negative type, so that :math:`\varphi'b - \min\varphi` bounds how far F
is above its minimum. The iteration is that of Janati, Cuturi and Gramfort (2020): one
Sinkhorn iteration of each problem, then

.. math:: b \leftarrow b\, e^{-t \varphi}, \quad\text{scaled to mass 1.}

Theirs has t = 1 / eps. S tends to the energy distance if eps grows, for which steps of
t = 2 / max(M) descend; we take the larger of the two. These are steps of a mirror
descent, slow where the smoothing hides details, so that they get momentum: log(b) is
extrapolated as Nesterov does, and starts afresh when a step leads uphill (O'Donoghue
and Candes, 2015). Steps may still be too long: if the bound has not fallen for long,
they are halved. The result is the iterate with the least bound.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..smoothed._sinkhorn import alternate, bursts, halfway
from ._found import Barycenters, inaccuracy

if TYPE_CHECKING:
    from types import ModuleType

    from ..base._arrays import Array
    from ..smoothed._batch import Ground
    from ..smoothed._problems import DenseProblems
    from ..smoothed._scalings import Scalings
    from ..smoothed._sinkhorn import Iteration

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Share of the first iterate that is uniform: bins of mass 0 would remain empty.
UNIFORM = 0.1
# Logarithms below which bins are not buried: momentum would bring them back too late.
LEAST_LOG = -300.0
# Looks since the best one after which steps are halved.
HALVED_AFTER = 100 * 2 ** np.arange(20)


class Groups(NamedTuple):
    """Barycenters in progress, and a problem for each of their histograms.

    Attributes
    ----------
    which : ndarray of int, shape (m,)
        Their rows in the result.
    owner : ndarray of int, shape (n_problems,)
        The barycenter of each problem, in ascending order.
    weights : array of shape (m, n_problems)
        How much a problem counts for a barycenter.
    rows : array of shape (n_problems, d)
        The histogram of each problem, encoded.
    logs : array of shape (m, d)
        Logarithms of the barycenters, extrapolated.
    last : array of shape (m, d)
        Those that the last step led to.
    age : array of shape (m, 1)
        Steps since momentum started afresh.
    step : array of shape (m, 1)
        Lengths of steps.
    idle : ndarray of int, shape (m,)
        Looks since the bound was as low as never before.
    w, own : arrays of shape (n_problems, d), (m, d)
        Potentials of the barycenters, encoded.
    """

    which: Indices
    owner: Indices
    weights: Array
    rows: Array
    logs: Array
    last: Array
    age: Array
    step: Array
    idle: Indices
    w: Array
    own: Array

    @classmethod
    def of(
        cls, problems: DenseProblems, k: Scalings, weights: Floats, step: float
    ) -> Groups:
        """Start near the weighted means."""
        put = problems.arrays.put
        owner, row = np.nonzero(weights)
        spread = np.zeros((len(weights), len(row)))
        spread[owner, np.arange(len(row))] = weights[owner, row]
        means = weights @ problems.arrays.get(problems.rows)
        first = put(np.log((1 - UNIFORM) * means + UNIFORM / problems.d))
        rows = problems.rows[put(row)]
        xp = problems.arrays.xp
        return cls(
            np.arange(len(weights)),
            owner,
            put(spread),
            k.encode(rows),
            first,
            first,
            xp.zeros_like(first[:, :1]),
            xp.full_like(first[:, :1], step),
            np.zeros(len(weights), dtype=np.int64),
            k.from_potentials(xp.zeros_like(rows)),
            k.from_potentials(xp.zeros_like(first)),
        )

    def part(self, kept: NDArray[np.bool_], problems: DenseProblems) -> Groups:
        """Go on with some of the barycenters."""
        put = problems.arrays.put
        m, n = put(np.flatnonzero(kept)), put(np.flatnonzero(kept[self.owner]))
        places = np.cumsum(kept) - 1
        return Groups(
            self.which[kept],
            places[self.owner[kept[self.owner]]],
            self.weights[m][:, n],
            self.rows[n],
            self.logs[m],
            self.last[m],
            self.age[m],
            self.step[m],
            self.idle[kept],
            self.w[n],
            self.own[m],
        )


def smoothed_barycenters(
    problems: DenseProblems, ground: Ground, weights: Floats
) -> Barycenters:
    """Average the problems' histograms, by each row of weights, which sum to 1."""
    found = Barycenters.unknown(len(weights), problems.d)
    if ground.k is None:  # nothing is nearer than the mean
        found.histograms[:] = weights @ problems.arrays.get(problems.rows)
        return found
    k, get = ground.k, problems.arrays.get
    step = max(1.0 / k.eps, 2.0 / float(ground.M.max()))
    groups = Groups.of(problems, k, weights, step)
    found.histograms[:] = get(problems.arrays.xp.exp(groups.logs))
    found.gaps[:] = np.inf
    for n_done, n in bursts(problems.max_iter):
        for _ in range(n - 1):
            b, slope, _ = _look(problems, k, groups)
            groups = _moved(problems, groups, b, slope)
        b, slope, errors = _look(problems, k, groups)
        which, gaps = groups.which, _gaps(problems, b, slope)
        is_better = inaccuracy(gaps, errors) < found.inaccuracy[which]  # not if NaN
        best = which[is_better]
        found.histograms[best] = get(b)[is_better]
        found.gaps[best], found.errors[best] = gaps[is_better], errors[is_better]
        found.n_iter[which] = n_done
        done = found.inaccuracy[which] <= problems.tol
        if done.all():
            break
        groups = _moved(problems, groups, b, slope)
        groups = groups._replace(idle=np.where(is_better, 0, groups.idle + 1))
        _shorten(problems, k, groups, found, is_lost=~np.isfinite(gaps + errors))
        if done.any():
            groups = groups.part(~done, problems)
    return found


def _shorten(
    problems: DenseProblems,
    k: Scalings,
    groups: Groups,
    found: Barycenters,
    *,
    is_lost: NDArray[np.bool_],
) -> None:
    """Halve steps that lead nowhere, in place; go back to the best from NaN."""
    put, xp = problems.arrays.put, problems.arrays.xp
    slow = put(np.flatnonzero(is_lost | np.isin(groups.idle, HALVED_AFTER)))
    groups.step[slow] *= 0.5
    groups.age[slow] = 0.0
    groups.logs[slow] = groups.last[slow]
    if not is_lost.any():
        return
    lost, best = put(np.flatnonzero(is_lost)), found.histograms[groups.which[is_lost]]
    groups.last[lost] = put(np.log(np.maximum(best, math.exp(LEAST_LOG))))
    groups.logs[lost] = groups.last[lost]
    for w, spoiled in ((groups.w, is_lost[groups.owner]), (groups.own, is_lost)):
        rows = put(np.flatnonzero(spoiled))
        w[rows] = k.from_potentials(xp.zeros_like(w[rows]))


def _look(
    problems: DenseProblems, k: Scalings, groups: Groups
) -> tuple[Array, Array, Floats]:
    """Iterate all problems once; return barycenters, slopes and marginal errors."""
    b = problems.arrays.xp.exp(groups.logs)
    coded, owner = k.encode(b), problems.arrays.put(groups.owner)
    others, errors = _iterated(
        problems, alternate, k, (groups.rows, coded[owner]), groups.w
    )
    own, own_errors = _iterated(problems, halfway, k, (coded, coded), groups.own)
    slope = problems.product(groups.weights, others) - own
    starts = np.searchsorted(groups.owner, np.arange(len(groups.which)))
    worst: Floats = np.maximum(np.maximum.reduceat(errors, starts), own_errors)
    return b, slope, worst


def _iterated(
    problems: DenseProblems,
    iteration: Iteration,
    k: Scalings,
    histograms: tuple[Array, Array],
    w: Array,
) -> tuple[Array, Floats]:
    """Iterate once, in place; return potentials, and errors of marginals."""
    xp, errors = problems.arrays.xp, np.empty(len(w))
    (r, c), g = histograms, xp.empty_like(w)

    def task(chunk: slice) -> Array:
        u, v = xp.empty_like(w[chunk]), xp.empty_like(w[chunk])
        factors = iteration(k, r[chunk], c[chunk], w[chunk], u=u, v=v)
        g[chunk] = k.to_potentials(w[chunk])
        return k.gap(*factors, c[chunk])

    for chunk, found in problems.each_chunk(task, len(w), k.bytes_a_pair):
        errors[chunk] = problems.arrays.get(found)
    return g, errors


def _moved(problems: DenseProblems, groups: Groups, b: Array, slope: Array) -> Groups:
    """Multiply barycenters by exp(-step slope), and extrapolate."""
    xp = problems.arrays.xp
    center = xp.sum(b * slope, axis=1, keepdims=True)
    last = _normalized(xp, groups.logs - groups.step * (slope - center))
    way = xp.exp(last) - xp.exp(groups.last)
    is_downhill = xp.sum(slope * way, axis=1, keepdims=True) <= 0
    age = xp.where(is_downhill, groups.age + 1, xp.ones_like(groups.age))
    momentum = (age - 1) / (age + 2)
    logs = _normalized(xp, last + momentum * (last - groups.last))
    return groups._replace(logs=logs, last=last, age=age)


def _normalized(xp: ModuleType, logs: Array) -> Array:
    """Logarithms of histograms of mass 1, none of them too low."""
    logs = logs - xp.max(logs, axis=1, keepdims=True)
    logs = logs - xp.log(xp.sum(xp.exp(logs), axis=1, keepdims=True))
    return xp.clip(logs, LEAST_LOG, 0.0)


def _gaps(problems: DenseProblems, b: Array, slope: Array) -> Floats:
    """Bound how far each is above its minimum: slope'b - min(slope)."""
    xp = problems.arrays.xp
    gaps = xp.sum(b * (slope - xp.min(slope, axis=1, keepdims=True)), axis=1)
    found: Floats = problems.arrays.get(gaps)
    return found
