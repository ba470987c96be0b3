"""The descent: how the criterion fell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .axes import FAR, NEAR, axes_or_new, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]


class PathDisplay:
    """Criterion against steps.

    Within an outer step the inner steps lower a convex bound on the criterion; where an
    outer step begins, the bound is the criterion itself, and there is a dot. Make it
    with :meth:`from_estimator` or :meth:`from_path`.

    Attributes
    ----------
    criterion : ndarray of shape (n_steps,)
        The bound on the criterion, at each step.
    starts : ndarray of int
        Steps at which an outer step begins.
    ax_, figure_ : matplotlib's
        Where it was drawn.
    lines_ : list of matplotlib's
        The bound, the dots, and a ring at the least bound.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.plotting import PathDisplay
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning(n_neighbors=1).fit(X, [0, 0, 1, 1])
    >>> display = PathDisplay.from_estimator(learner)
    >>> len(display.criterion) == learner.n_iter_
    True
    """

    def __init__(self, criterion: Floats, *, starts: NDArray[np.int64]) -> None:
        self.criterion = criterion
        self.starts = starts

    @classmethod
    def from_path(cls, path: Sequence[Any]) -> PathDisplay:
        """Take the steps of a descent.

        Parameters
        ----------
        path : DescentPath, or a sequence of DescentStep
            ``path_`` of a fitted :class:`~groundmetric.GroundMetricLearning`.

        Returns
        -------
        PathDisplay
        """
        if not isinstance(path, Sequence) or not len(path):
            raise ValueError(f"path is {path!r}; a sequence of steps is needed.")
        inner = np.array([step.inner for step in path])
        criterion = np.array([step.criterion for step in path], dtype=float)
        return cls(criterion, starts=np.flatnonzero(inner == 0))

    @classmethod
    def from_estimator(cls, estimator: object) -> PathDisplay:
        """Take the steps of a fitted estimator, its ``path_``.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`~groundmetric.GroundMetricLearning`.

        Returns
        -------
        PathDisplay
        """
        return cls.from_path(fitted(estimator, "path_"))

    def plot(self, ax: Axes | None = None) -> PathDisplay:
        """Draw the criterion.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure if None.

        Returns
        -------
        PathDisplay
            This one, with ``ax_``, ``figure_`` and ``lines_``.
        """
        self.ax_: Axes = axes_or_new(ax)
        self.figure_: FigureBase = self.ax_.figure
        best = int(self.criterion.argmin())
        steps = np.arange(len(self.criterion))
        curve = self.ax_.plot(steps, self.criterion, color=FAR, label="convex bound")
        dots = self.ax_.plot(
            self.starts, self.criterion[self.starts], "o", color=FAR, ms=5,
            label="criterion, where an outer step begins",
        )  # fmt: skip
        ring = self.ax_.plot(
            best, self.criterion[best], "o", mfc="none", mec=NEAR, mew=2, ms=10,
            label="least bound",
        )  # fmt: skip
        self.lines_: list[Line2D] = [*curve, *dots, *ring]
        self.ax_.set(xlabel="step", ylabel="criterion")
        self.ax_.spines[["top", "right"]].set_visible(False)
        self.ax_.legend(frameon=False)
        return self
