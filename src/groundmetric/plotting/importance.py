"""Which bins matter, as bars with intervals."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ._names import name_rows
from .axes import FAR, Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

Floats = NDArray[np.float64]

PLAIN = "#bbbbbb"  # of what does not repeat
WIDEST = 0.7  # of the figure, for names


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """How much errors rise when a bin is shuffled, with 95 % intervals.

    Colored bars are bins that repeatedly matter. Create it with :meth:`from_stability`.

    Attributes
    ----------
    rises : ndarray of shape (k, 3)
        Rise of the share of wrong neighbors, and the ends of its interval, the largest
        rise first.
    names : list of str
        Names of these bins.
    repeats : ndarray of bool
        Whether it repeats.
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.
    bars_ : matplotlib container
        The bars.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.datasets import make_histograms
    >>> from groundmetric.experiments import stability
    >>> from groundmetric.plotting import ImportanceDisplay
    >>> data = make_histograms(20, random_state=0)
    >>> learner = GroundMetricLearning()
    >>> found = stability(learner, data.X, data.y, n_draws=10, random_state=0)
    >>> ImportanceDisplay.from_stability(found, n_bins=5).rises.shape
    (5, 3)
    """

    rises: Floats
    _: KW_ONLY
    names: list[str]
    repeats: NDArray[np.bool_]

    @classmethod
    def from_stability(
        cls, found: Any, *, names: Sequence[str] | None = None, n_bins: int = 20
    ) -> ImportanceDisplay:
        """Display the bins that matter most.

        Parameters
        ----------
        found : Stability
            What :func:`~groundmetric.experiments.stability` found.
        names : sequence of str, optional
            Names of all bins; by default their numbers.
        n_bins : int, default=20
            Number of bins to show, at most.

        Returns
        -------
        ImportanceDisplay
        """
        if not hasattr(found, "rises"):
            raise ValueError(f"found is {found!r}; a Stability is needed.")
        most = validation.as_count(n_bins, "n_bins", low=1)
        ends = np.array([[one.mean, one.low, one.high] for one in found.rises])
        order = np.argsort(-ends[:, 0], kind="stable")[:most]
        bins = found.bins[order].tolist()
        if names is not None and len(names) <= max(found.bins):
            raise ValueError(
                f"names has {len(names)} names, but bin {max(found.bins)} needs one."
            )
        called = [str(p) if names is None else str(names[p]) for p in bins]
        repeats = np.isin(found.bins[order], found.important)
        return cls(ends[order], names=called, repeats=repeats)

    def plot(self, ax: Axes | None = None) -> ImportanceDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        ImportanceDisplay
            The display itself, with ``ax_``, ``figure_`` and ``bars_``.
        """
        axes = self._open(ax)
        places = np.arange(len(self.names))
        mean, low, high = 100 * self.rises.T
        colors = [FAR if repeats else PLAIN for repeats in self.repeats]
        self.bars_: BarContainer = axes.barh(
            places, mean, xerr=[mean - low, high - mean], color=colors, ecolor="gray"
        )
        axes.invert_yaxis()
        axes.axvline(0.0, color="black", lw=0.8)
        axes.set_xlabel(
            "more wrong neighbors when shuffled\n(percentage points)", loc="right"
        )
        axes.spines[["top", "right"]].set_visible(False)
        name_rows(axes, self.names, widest=WIDEST)
        return self
