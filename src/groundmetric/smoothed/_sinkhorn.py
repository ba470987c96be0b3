r"""Sinkhorn's iteration for many pairs of histograms that share a cost M.

.. math:: OT_\epsilon(r, c) = \min_{P \in U(r, c)} \langle M, P \rangle
          + \epsilon\, KL(P | r c') = \max_{f, g}\; r'f + c'g
          - \epsilon (1'P1 - 1), \quad P = diag(u)\, K\, diag(v),

with :math:`K = e^{-M/\epsilon}, u = r e^{f/\epsilon}, v = c e^{g/\epsilon}`. Fitting
the two marginals of P in turn finds the optimum:

.. math:: u \leftarrow r / K v, \qquad v \leftarrow c / K u.

If all pairs share K, one iteration is two products of an (n_pairs, d) with a (d, d)
matrix; pairs of sparse histograms have a K each, between their supports. What is kept
of a pair is g alone, in the loop as w = exp(-g / eps).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..base._arrays import Array
    from ._scalings import Scalings

# Iterations between two looks at the marginals, each of which waits for the device.
CHECK_EVERY = 10

Factors: TypeAlias = "tuple[Array, Array]"
Iteration: TypeAlias = Callable[..., Factors]


class Fit(NamedTuple):
    """Result of the iteration, for each pair."""

    g: Array  # (n_pairs, d)
    error: Array  # (n_pairs,), how far the plan's marginal is from c, in l1
    n_iter: Array  # (n_pairs,)


def alternate(
    k: Scalings, r: Array, c: Array, w: Array, *, u: Array, v: Array
) -> Factors:
    """One iteration: v = c / w, u = r / Kv, w = Ku. The marginal is v w."""
    k.divide(c, w, out=v)
    k.product(v, out=u)
    k.divide(r, u, out=u)
    k.back(u, out=w)
    return v, w


def halfway(
    k: Scalings, r: Array, _: Array, w: Array, *, u: Array, v: Array
) -> Factors:
    """Iterate once where r = c and thus f = g: w = sqrt(w Ku), then w = Ku, u = r / w.

    Of a deviation from the optimum, in an eigendirection of the plan with eigenvalue t
    from 0 to 1, half of 1 - t is left by the first step, and t of that by the second.
    """
    k.divide(r, w, out=u)
    k.product(u, out=v)
    k.middle(w, v, out=w)
    k.divide(r, w, out=u)
    k.product(u, out=w)
    return u, w


def iterate(
    iteration: Iteration,
    k: Scalings,
    r: Array,
    c: Array,
    g: Array,
    *,
    tol: float,
    max_iter: int,
) -> Fit:
    """Iterate each pair until its marginal is within tol; pairs do not interact."""
    r, c, w = k.encode(r), k.encode(c), k.from_potentials(g)
    u, v = k.xp.empty_like(r), k.xp.empty_like(w)
    fit = Fit(k.xp.empty_like(w), k.xp.empty_like(w[:, 0]), k.xp.zeros_like(w[:, 0]))
    left = k.positions(len(w))
    for n_done, n in bursts(max_iter):
        for _ in range(n):
            factors = iteration(k, r, c, w, u=u, v=v)
        error = k.gap(*factors, c)
        done = ~(error > (tol if n_done < max_iter else math.inf))  # or not a number
        if k.xp.any(done):
            fit.g[left[done]] = k.to_potentials(w[done])
            fit.error[left[done]] = error[done]
            fit.n_iter[left[done]] = n_done
            left, r, c, w = (x[~done] for x in (left, r, c, w))
            u, v, k = u[: len(left)], v[: len(left)], k.part(~done)
            if not len(left):
                break
    return fit


def bursts(max_iter: int) -> Iterator[tuple[int, int]]:
    """Yield how many iterations will have been done, and how many more these are.

    Few at first, since pairs that start near the optimum need no more.
    """
    n_done = 0
    while n_done < max_iter:
        n = min(max(2, n_done // 2), CHECK_EVERY, max_iter - n_done)
        n_done += n
        yield n_done, n


def scaled(k: Scalings, r: Array, c: Array, g: Array) -> tuple[Array, Array, Array]:
    """u, v and Kv of potentials g; the row sums of diag(u) K diag(v) are r."""
    v = k.from_potentials(g)
    k.divide(k.encode(c), v, out=v)
    product = k.xp.empty_like(r)
    k.product(v, out=product)
    u = k.xp.empty_like(r)
    k.divide(k.encode(r), product, out=u)
    return u, v, product


def dual_values(k: Scalings, r: Array, c: Array, g: Array) -> Array:
    """Evaluate r'f + c'g at f = -eps log(Kv), which is OT_eps or a little less."""
    f = k.to_potentials(scaled(k, r, c, g)[2])
    return k.xp.sum(f * r, axis=1) + k.xp.sum(g * c, axis=1)
