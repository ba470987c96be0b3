"""The criterion along the descent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .axes import FAR, NEAR, Display, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """The criterion at each step of the descent.

    Steps follow subgradients, so a single one may raise the criterion. For the paper's
    criterion, the inner steps of an outer step lower a convex bound on it instead; a
    dot marks where an outer step begins and the bound equals the criterion. Create it
    with :meth:`from_estimator` or :meth:`from_path`.

    Attributes
    ----------
    criterion : ndarray of shape (n_steps,)
        The criterion at each step, or the bound on it.
    starts : ndarray of int
        Steps where an outer step begins.
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.
    lines_ : list of matplotlib lines
        The curve, the dots if there is a bound, and a ring at the minimum.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.plotting import PathDisplay
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning().fit(X, [0, 0, 1, 1])
    >>> display = PathDisplay.from_estimator(learner)
    >>> len(display.criterion) == learner.n_iter_
    True
    """

    criterion: Floats
    _: KW_ONLY
    starts: NDArray[np.int64]

    @classmethod
    def from_path(cls, path: Sequence[Any]) -> PathDisplay:
        """Display the steps of a descent.

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
        """Display the steps of a fitted estimator.

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
            Where to draw; by default in a new figure.

        Returns
        -------
        PathDisplay
            The display itself, with ``ax_``, ``figure_`` and ``lines_``.
        """
        axes = self._open(ax)
        best = int(self.criterion.argmin())
        steps = np.arange(len(self.criterion))
        bounded = len(self.starts) < len(steps)  # otherwise all are outer steps
        what = "convex bound" if bounded else "criterion"
        curve = axes.plot(steps, self.criterion, color=FAR, label=what)
        dots = axes.plot(
            self.starts, self.criterion[self.starts], "o", color=FAR, ms=5,
            label="criterion, where an outer step begins",
        ) if bounded else []  # fmt: skip
        ring = axes.plot(
            best, self.criterion[best], "o", mfc="none", mec=NEAR, mew=2, ms=10,
            label="lowest bound" if bounded else "minimum",
        )  # fmt: skip
        self.lines_: list[Line2D] = [*curve, *dots, *ring]
        axes.set(xlabel="step", ylabel="criterion")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        return self
