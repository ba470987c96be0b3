"""How much to smooth, and how long to learn, by errors on held-out histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..learning._cross_validation import CrossValidated
from ._estimator import SinkhornMetricLearning

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from .._files import StrPath
    from ..learning._cross_validation import Floats, Grid
    from ..learning._path import DescentStep


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
    smoothing, n_components, ..., warm_start
        As in :class:`SinkhornMetricLearning`. ``max_steps`` limits the steps to choose
        from; ``floor`` is 0 by default, so that it does not.
    random_state : int, RandomState instance or None, default=0
        Draws the folds, if ``cv`` is a number, and the batches.

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
        smoothing: float = 3.0,
        n_components: int | None = None,
        power: float = 0.5,
        points: ArrayLike | None = None,
        n_targets: int = 10,
        margin: float = 0.3,
        max_steps: int = 40,
        step_size: float = 0.15,
        floor: float = 0.0,
        tol: float = 0.0,
        batch_size: int | None = None,
        device: str | None = None,
        dtype: str = "float64",
        n_jobs: int | None = None,
        callback: Callable[[DescentStep], object] | None = None,
        verbose: int = 0,
        checkpoint: StrPath | None = None,
        checkpoint_seconds: float = 60.0,
        warm_start: bool = False,
        random_state: object = 0,
    ) -> None:
        super().__init__(
            smoothing=smoothing,
            n_components=n_components,
            power=power,
            points=points,
            n_targets=n_targets,
            margin=margin,
            max_steps=max_steps,
            step_size=step_size,
            floor=floor,
            tol=tol,
            batch_size=batch_size,
            device=device,
            dtype=dtype,
            n_jobs=n_jobs,
            callback=callback,
            verbose=verbose,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
            warm_start=warm_start,
            random_state=random_state,
        )
        self.cv = cv
        self.scoring = scoring
        self.param_grid = param_grid
        self.patience = patience
