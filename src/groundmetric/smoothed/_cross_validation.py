"""How much to smooth, and how long to learn, by errors on held-out histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..learning._cross_validation import CrossValidated
from ._estimator import SinkhornMetricLearning

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..learning._cross_validation import Floats, Grid


class SinkhornMetricLearningCV(CrossValidated, SinkhornMetricLearning):
    """Smoothed metric learning with the number of steps chosen by cross-validation.

    Chooses as :class:`GroundMetricLearningCV` does: one descent for each fold gives
    positions after 0, 1, ... steps, and their errors on the held-out histograms choose
    the fewest steps within one standard error of the best. Then one descent on
    everything takes as many.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable, default=3
        Folds. A number stands for that many stratified folds, drawn twice.
    scoring : callable, optional
        ``scoring(distances, y_train, y_test)``, larger for better distances from test
        to training histograms. By default the accuracy of k nearest neighbors, averaged
        over k = 1, ..., 20.
    param_grid : dict or list of dict, optional
        Other parameters to choose from: ``{"smoothing": [1.0, 3.0, math.inf]}``, say.
    patience : int or None, default=None
        Stop scoring once this many steps in a row have not improved the best mean
        score; None scores all steps, since they may help for long with many classes.
    random_state : int, RandomState instance or None, default=0
        Draws the folds, if ``cv`` is a number, and batches.
    **parameters
        Those of :class:`SinkhornMetricLearning`. ``max_steps`` limits the steps to
        choose from; ``floor`` is 0 by default, so that it does not.

    Attributes
    ----------
    best_step_ : int
        The number of steps chosen; 0 for the initial positions.
    best_params_ : dict
        The parameters chosen from ``param_grid``.
    best_score_ : float
        Their mean score on held-out histograms.
    cv_results_ : dict of ndarray
        A row for each choice: ``params``, ``step``, ``mean_test_score``,
        ``std_test_score`` (over folds), ``se_test_score``, ``split0_test_score``, ...
        Scores are NaN where other parameters took more steps.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> from groundmetric import SinkhornMetricLearningCV
    >>> X = np.random.default_rng(0).dirichlet(np.ones(6), 20)
    >>> learner = SinkhornMetricLearningCV(
    ...     cv=2, max_steps=3, param_grid={"smoothing": [1.0, math.inf]}
    ... )
    >>> 0 <= learner.fit(X, np.arange(20) % 2).best_step_ <= 3
    True
    """

    _learner_class = SinkhornMetricLearning

    def __init__(
        self,
        *,
        cv: Any = 3,  # noqa: ANN401 - whatever scikit-learn takes
        scoring: Callable[[Floats, Any, Any], float] | None = None,
        param_grid: Grid | None = None,
        patience: int | None = None,
        random_state: object = 0,
        **parameters: Any,  # noqa: ANN401 - of the learner
    ) -> None:
        super().__init__(
            cv=cv,
            scoring=scoring,
            param_grid=param_grid,
            patience=patience,
            random_state=random_state,
            **parameters,
        )
