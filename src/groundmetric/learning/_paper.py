"""The settings of Cuturi & Avis, by one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ._criteria import Neighborhood

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._estimator import GroundMetricLearning

OUTER_STEPS = 8  # p_max in section 7.3


class PaperSettings:
    """A learner that can be made with the paper's settings."""

    @classmethod
    def paper(
        cls,
        k: int | None = 3,
        init: str | ArrayLike = "typical",
        **options: Any,
    ) -> GroundMetricLearning:
        """Make a learner with the settings of Cuturi & Avis (section 7.3).

        C_k with k similar and dissimilar neighbors each, on the histograms themselves;
        a first step of 0.1, relative to the norms of metric and subgradient; 8 outer
        steps, whose inner loops take 50 * 0.8^p steps at least and 200 at most, and end
        when six of them gain less than 0.75 %; the metric with the smallest value is
        the result. Inner loops usually end early, after about 210 steps in all.

        Parameters
        ----------
        k : int or None, default=3
            Number of neighbors; None for all.
        init : str or array of shape (d, d), default="typical"
            Where to start, as for the class. Tables are those of all pairs, blended
            half and half with the uniform metric.
        **options
            Other parameters of the class.

        Returns
        -------
        GroundMetricLearning
            Not fitted yet.

        Examples
        --------
        >>> from groundmetric import GroundMetricLearning
        >>> learner = GroundMetricLearning.paper(5)
        >>> learner.criterion, learner.step_size
        (Neighborhood(inner_steps=200, k=5, n_similar=5), 0.1)
        """
        criterion = Neighborhood.paper(k)
        settings: dict[str, Any] = {"power": 1.0, "init": init, "step_size": 0.1}
        steps = OUTER_STEPS * criterion.inner_steps
        learner: Any = cls
        return cast(
            "GroundMetricLearning",
            learner(criterion, **settings | {"max_steps": steps} | options),
        )
