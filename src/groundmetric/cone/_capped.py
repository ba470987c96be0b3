r"""Capped metrics in a ball (section 8.2 of the paper).

.. math:: \min_M |M - A| \quad \text{over metrics with} \quad
          M_{ij} \le T, \; |M| \le R

Without a cap, the projection onto the ball follows that onto the cone, along a ray.
Capped metrics are no cone. But the Lagrangian of the ball, with multiplier lambda, is
that of the projection of s A, s = 1 / (1 + lambda), and the norm of P(s A) rises with
s, at most in proportion: look for the s at which it is R.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._ball import norm
from ._triangle import closure

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
LEAST = math.ulp(0.0)  # s
STRIDE = 4.0  # at most between two s, before one is too large
PATIENCE = 3  # guesses that have to halve the interval
MARGINS = (0.05, 0.005, 0.0005)  # between norms and the radius, times tol
LEAST_MARGIN = 64 * EPS


class Found(NamedTuple):
    """A projection, as the core returns it."""

    metric: Floats
    n_iter: int
    n_sweeps: int
    violation: float
    residual: float
    converged: bool

    def after(self, earlier: Found) -> Found:
        """Count what was done before."""
        return self._replace(
            n_iter=self.n_iter + earlier.n_iter,
            n_sweeps=self.n_sweeps + earlier.n_sweeps,
        )


class Goal(NamedTuple):
    """The cap, the norm to have, how accurately and how long to look, and how far."""

    cap: float
    norm: float
    tol: float
    max_iter: int
    longest: float = 1.0  # s


# Projects a matrix onto capped metrics, given a tolerance and a limit on rounds.
Solver = Callable[[Floats, float, int], Found]


def of_norm(
    solve: Solver, matrix: Floats, goal: Goal, found: Found, scale: float = 1.0
) -> tuple[Found, float]:
    """Find P(s A) of this norm, up to the tolerance, and s, from one of them on.

    If no s up to the longest reaches the norm, the last P(s A); also if rounds run out,
    or all digits of s, and then it has not converged. Where the norm is flat in s,
    guesses are far off: unless they halve the interval around s, bisect it.
    """
    low, high = max(goal.norm / (norm(matrix) or 1.0), LEAST), math.inf
    before: tuple[float, float] | None = None
    widths = [math.inf] * PATIENCE  # of the interval, in logarithms
    for _ in range(goal.max_iter):
        size = norm(found.metric)
        if size == 0 or abs(size - goal.norm) <= goal.tol * goal.norm:
            return found, scale
        # |P(s A)| / s falls: a step in proportion does not go too far.
        safe = scale * (goal.norm / size)
        low, high = (
            (max(low, safe), high) if size < goal.norm else (low, min(high, safe))
        )
        left = goal.max_iter - found.n_iter
        if scale == goal.longest and size < goal.norm and left > 0:
            return found, scale
        guess = _secant(scale, size, goal, before) or _model(found.metric, goal)
        before = scale, size
        if high == math.inf:
            following = max(low, min(guess, STRIDE) * scale)
        else:
            following = _within(low, high, guess * scale, widths)
        following = min(following, goal.longest)
        if following == scale or left <= 0:
            break
        scale = following
        found = solve(scale * matrix, goal.tol, left).after(found)
    return found._replace(converged=False), scale


def _within(low: float, high: float, guess: float, widths: list[float]) -> float:
    """Return the guess, if it is in the interval and the last ones were good."""
    if low >= high:
        return high
    now = math.log(high) - math.log(low)
    widths.append(now)
    if low <= guess <= high and now <= widths[-1 - PATIENCE] / 2:
        return guess
    return math.sqrt(low) * math.sqrt(high)


def _secant(
    scale: float, size: float, goal: Goal, before: tuple[float, float] | None
) -> float | None:
    """Guess the factor of s from two sizes, in logarithms."""
    if before is None or before[1] == size or before[0] == scale:
        return None
    slope = math.log(size / before[1]) / math.log(scale / before[0])
    if not slope > 0:
        return None
    return math.exp(min(max(math.log(goal.norm / size) / slope, -50.0), 50.0))


def _model(metric: Floats, goal: Goal) -> float:
    """Guess the factor of s as if entries at the cap stayed there, and others grew."""
    relative = metric / goal.cap  # at most 1
    held = relative == relative.max()
    rest = (goal.norm / goal.cap) ** 2 - float(held.sum())
    free = float(np.square(relative[~held]).sum())
    if rest > 0:
        return math.sqrt(rest / free) if free > 0 else math.inf
    return 0.0


def stretched(metric: Floats, cap: float, size: float, threads: int) -> Floats:
    """Multiply a metric, and cut it off at the cap, so that it has this norm.

    If it cannot have it, since all entries above zero are at the cap, the norm is less.
    """
    largest = float(metric.max())
    relative = metric / (largest or 1.0)
    factor = size / (norm(relative) or 1.0)
    held = np.zeros(metric.shape, dtype=bool)
    while True:
        over = factor * relative >= cap
        if over.sum() == held.sum():
            break
        held = over
        rest = (size / cap) ** 2 - float(held.sum())
        free = float(np.square(relative[~held]).sum())
        if not (rest > 0 and free > 0):
            break
        factor = max(factor, cap * math.sqrt(rest / free))
    return closure(np.minimum(factor * relative, cap), threads)


def into_capped_ball(solve: Solver, matrix: Floats, goal: Goal, threads: int) -> Found:
    """Project onto the capped metrics of at most this norm.

    Between two s, P(s A) is a little inside the ball and a little outside.
    """
    found = solve(matrix, goal.tol, goal.max_iter)
    if norm(found.metric) <= goal.norm:
        return found
    if goal.norm == 0.0:
        return found._replace(metric=np.zeros_like(matrix), residual=0.0)
    high, best = 1.0, found._replace(residual=math.inf)
    for margin in _margins(goal.tol):
        inner = goal._replace(norm=goal.norm * (1 - 2 * margin), tol=margin)
        outer = goal._replace(norm=goal.norm * (1 + 2 * margin), tol=margin)
        inside, low = of_norm(solve, matrix, inner, found, high)
        found, high = of_norm(solve, matrix, outer, inside, low)
        metric = stretched(inside.metric, goal.cap, goal.norm * (1 - 4 * EPS), threads)
        moved = norm(metric - inside.metric) / goal.norm
        # The projection is that of s A with s <= 1.
        residual = moved + _residual(inside, low, found, high, goal.norm)
        if residual < best.residual or best.residual == math.inf:
            best = found._replace(metric=metric, residual=residual)
        if residual <= goal.tol or found.n_iter >= goal.max_iter:
            break
    return best._replace(
        n_iter=found.n_iter,
        n_sweeps=found.n_sweeps,
        converged=best.residual <= goal.tol,
    )


def _margins(tol: float) -> list[float]:
    """List margins between norms and the radius; the last is enough for any matrix."""
    margins = [*(share * tol for share in MARGINS), min(MARGINS[-1], tol / 16) * tol]
    return [max(margin, LEAST_MARGIN) for margin in margins]


def _residual(
    inside: Found, low: float, outside: Found, high: float, radius: float
) -> float:
    """Bound the distance of P(s A), as found, to the projection, relative to its norm.

    Variational inequalities at z = P(s A) and z' = P(s' A), s < s', add up to

        |z - z'|^2 <= (s' - s) / (s' + s) (|z'|^2 - |z|^2).
    """
    least = norm(inside.metric) / radius * (1 - inside.residual)
    is_between = norm(inside.metric) * (1 + inside.residual) <= radius and (
        high == 1.0 or norm(outside.metric) * (1 - outside.residual) >= radius
    )
    if not is_between:
        return math.inf
    apart = (high - low) / (high + low) * (1 - least**2)
    return inside.residual + math.sqrt(max(0.0, apart))
