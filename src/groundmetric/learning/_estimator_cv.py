"""The estimator with its number of steps, and other parameters, chosen on folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.model_selection import ParameterGrid

from ._cross_validation import CrossValidated
from ._estimator import GroundMetricLearning
from ._mapped import MappedLearner

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from .._files import StrPath
    from ._cross_validation import Floats, Grid
    from ._learner import MetricLearner
    from ._path import DescentStep


class GroundMetricLearningCV(CrossValidated, GroundMetricLearning):
    """Ground metric learning with the number of steps chosen by cross-validation.

    How long to learn matters most, and depends on the data. One descent for each fold
    gives metrics after 0, 1, ... steps, and their errors on the held-out histograms
    choose among them: the fewest steps within one standard error of the best, that of
    the difference between the two on the same folds. Then one descent on everything
    takes as many steps.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable, default=3
        Folds. A number stands for that many stratified folds, drawn twice.
    scoring : callable, optional
        ``scoring(distances, y_train, y_test)``, larger for better distances from test
        to training histograms. By default the accuracy of k nearest neighbors, averaged
        over k = 1, ..., 20.
    param_grid : dict or list of dict, optional
        Other parameters to choose from, such as ``{"power": [0.5, 1.0]}``.
    patience : int or None, default=4
        Stop scoring once this many steps in a row have not improved the best mean
        score; None scores all steps.
    criterion, n_targets, ..., warm_start
        As in :class:`GroundMetricLearning`. ``max_outer`` and ``max_inner`` limit the
        steps to choose from; ``floor`` is 0 by default, so that it does not.
    random_state : int, RandomState instance or None, default=0
        Draws the folds, if ``cv`` is a number, the sample and the batches.

    Attributes
    ----------
    best_step_ : int
        The number of steps chosen; 0 for the initial metric.
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
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearningCV
    >>> X = np.random.default_rng(0).dirichlet(np.ones(6), 20)
    >>> learner = GroundMetricLearningCV(cv=2, max_outer=3).fit(X, np.arange(20) % 2)
    >>> 0 <= learner.best_step_ <= 3
    True
    """

    _learner_class = GroundMetricLearning
    _fitted = MappedLearner._fitted  # noqa: SLF001 - of the parent
    _kinds = (*MappedLearner._of_matrix, *MappedLearner._of_map)  # noqa: SLF001
    _optional = (*CrossValidated._optional, *_kinds)  # noqa: SLF001

    def __init__(
        self,
        *,
        cv: Any = 3,  # noqa: ANN401 - whatever scikit-learn takes
        scoring: Callable[[Floats, Any, Any], float] | None = None,
        param_grid: Grid | None = None,
        patience: int | None = 4,
        criterion: str = "margin",
        n_targets: int = 10,
        margin: float = 0.3,
        n_neighbors: int | None = 3,
        n_similar: int | None = None,
        power: float = 0.5,
        init: str | ArrayLike | None = None,
        points: ArrayLike | None = None,
        n_components: int | None = None,
        floor: float = 0.0,
        step_size: float = 0.5,
        max_outer: int = 20,
        max_inner: int = 1,
        tol: float = 0.0075,
        batch_size: int | None = None,
        max_samples: int | None = None,
        result: str = "last",
        n_jobs: int | None = None,
        client: object = None,
        callback: Callable[[DescentStep], object] | None = None,
        verbose: int = 0,
        checkpoint: StrPath | None = None,
        checkpoint_seconds: float = 60.0,
        warm_start: bool = False,
        random_state: object = 0,
    ) -> None:
        super().__init__(
            criterion=criterion,
            n_targets=n_targets,
            margin=margin,
            n_neighbors=n_neighbors,
            n_similar=n_similar,
            power=power,
            init=init,
            points=points,
            n_components=n_components,
            floor=floor,
            step_size=step_size,
            max_outer=max_outer,
            max_inner=max_inner,
            tol=tol,
            batch_size=batch_size,
            max_samples=max_samples,
            result=result,
            n_jobs=n_jobs,
            client=client,
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

    def _judge(self) -> None:
        super()._judge()
        candidates = ParameterGrid(self.param_grid or {})
        if self.n_components is not None and any(
            params.get("n_components", 1) is None for params in candidates
        ):
            raise ValueError(
                f"param_grid has n_components None, but n_components is "
                f"{self.n_components!r}: list all of them in param_grid alone."
            )

    @property
    def partial_fit(self) -> None:  # type: ignore[override]
        """Not there: steps are chosen on folds of all histograms."""
        raise AttributeError("partial_fit: steps are chosen on all histograms.")

    def _take(self, learner: MetricLearner) -> None:
        super()._take(learner)
        for name in self._kinds:  # of a metric, or of a map
            self.__dict__.pop(name, None)
            if name in vars(learner):
                self.__dict__[name] = vars(learner)[name]
