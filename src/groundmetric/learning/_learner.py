"""What learners of a metric share: fitting, distances, checkpoints, files."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import validation
from .._progress import progress_bar
from .._warnings import warn_not_converged
from ..base._rows import HistogramTransformer, all_or_nothing, as_classes
from ..base._sample import drawn_by_class
from ..cone._triangle import closure
from ..similarity._makers import weights_of
from ._checkpoint import Checkpoint, identify, require_writable
from ._path import DescentPath, DescentStep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._files import StrPath
    from .._progress import Report
    from ..similarity._weights import Weights
    from ._descent import Descent, Observer

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]
Learner = TypeVar("Learner", bound="MetricLearner")

# Up to so many steps, stopping early is what the limits are for.
BUDGET = 20
# Training histograms whose distances give the unit of what was learned.
SCALED_BY = 100
SMALLEST = 1e-9  # of such a unit: below, histograms are equal but for rounding


class MetricLearner(HistogramTransformer):
    """An estimator that learns a metric between bins by a descent.

    Its subclasses have the parameters, and say what distances are, where metrics lie
    and what the descent lowers.
    """

    _min_samples = 2
    _fitted: ClassVar[tuple[str, ...]] = (
        "metric_",
        "initial_metric_",
        "path_",
        "converged_",
        "power_",
        "_histograms",
    )
    _steps: ClassVar[tuple[str, ...]] = ("_last_metric", "_kept_metric")
    _optional: ClassVar[tuple[str, ...]] = (
        "classes_",
        "_labels",
        "sample_indices_",
        *_steps,
    )
    _limits: ClassVar[tuple[str, ...]]  # parameters that limit the number of steps
    _is_exact: ClassVar[bool] = True  # distances are EMDs

    # Parameters that all of them have, or some.
    max_samples: int | None = None
    random_state: object
    power: float
    callback: Callable[[DescentStep], object] | None
    verbose: int
    checkpoint: StrPath | None
    checkpoint_seconds: float
    warm_start: bool

    def _descent(self, rows: Floats, weights: Weights) -> Descent:
        """Judge the parameters, and set the descent up."""
        raise NotImplementedError

    def distances(self, metric: Floats) -> Callable[..., Floats]:
        """Make the function that computes distances between rows of mass 1."""
        raise NotImplementedError

    def nearest(self, metric: Floats, queries: Floats, base: Floats, k: int) -> Indices:
        """Find the k nearest rows of the base for each query; ties go to the first."""
        between = self.distances(metric)(queries, base)
        return np.argsort(between, axis=1, kind="stable")[:, :k]

    def _require_metric(self, metric: Floats, name: str) -> None:
        """Reject a matrix that cannot have been learned."""
        raise NotImplementedError

    @all_or_nothing
    def fit(  # noqa: PYI019 - Self: 3.11
        self: Learner,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        similarity: ArrayLike | None = None,
    ) -> Learner:
        """Learn from histograms and their labels, or from similarities of pairs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,), optional
            Labels.
        similarity : array-like of shape (n, n), optional
            Instead of labels: positive for similar pairs, negative for dissimilar ones.
            With margins, targets are similar pairs, impostors dissimilar ones, and the
            weights of both multiply.

        Returns
        -------
        self

        Warns
        -----
        LongFitWarning
            Before it starts, if it may take more than a minute or a gigabyte.
        """
        if self.checkpoint is not None:
            require_writable(self.checkpoint)
        rows = self._as_rows(X, reset=True)
        labels = None if y is None else as_classes(y, rows.shape[0])
        rows, labels, similarity = self._sampled(rows, labels, similarity)
        weights = weights_of(rows.shape[0], labels, similarity)
        for name in ("classes_", "_labels", *self._steps):
            self.__dict__.pop(name, None)
        if labels is not None:
            self.classes_, self._labels = np.unique(labels), labels
        return self.learn_from(rows, weights)

    def _sampled(
        self, rows: Floats, labels: Labels | None, similarity: ArrayLike | None
    ) -> tuple[Floats, Labels | None, ArrayLike | None]:
        """Draw max_samples histograms, class by class if there are labels."""
        self.__dict__.pop("sample_indices_", None)
        if self.max_samples is None:
            return rows, labels, similarity
        n = validation.as_count(self.max_samples, "max_samples", low=2)
        n_rows = rows.shape[0]
        if n >= n_rows:
            return rows, labels, similarity
        classes = np.zeros(n_rows) if labels is None else labels
        n_classes = len(np.unique(classes))
        if n < n_classes:
            raise ValueError(f"max_samples is {n}, but there are {n_classes} classes.")
        kept = drawn_by_class(classes, n, check_random_state(self.random_state))
        self.sample_indices_ = kept
        if similarity is not None:
            similarity = validation.as_similarity(similarity, n_rows)
            similarity = similarity[np.ix_(kept, kept)]
        return rows[kept], None if labels is None else labels[kept], similarity

    def learn_from(  # noqa: PYI019 - likewise
        self: Learner, rows: Floats, weights: Weights, n_steps: int | None = None
    ) -> Learner:
        """Learn from rows of mass 1, for so many steps at most."""
        self.power_ = self._judged_power()
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback is {self.callback!r}; a function is needed.")
        rows = raised(rows, self.power_)
        descent = self._descent(rows, weights)
        self.initial_metric_ = descent.metric
        if n_steps != 0:
            self._run(descent, rows, n_steps)
        self._keep(descent)
        self._histograms = rows
        self._settle()
        self._rescale()
        return self

    def _settle(self) -> None:
        """Store what was learned in another way."""

    def _keep(self, descent: Descent) -> None:
        """Keep what was learned."""
        self.metric_ = descent.result
        self.path_: DescentPath = descent.path
        self.n_iter_ = len(descent.path)
        self.converged_ = bool(descent.converged and descent.n_inexact == 0)

    def _rescale(self) -> None:
        """Scale distances: between training histograms, their median becomes 1.

        The descent's unit ball would give distances of about 0.002, which pipelines
        with penalties or tolerances take for nothing.
        """
        n = self._histograms.shape[0]
        few = np.random.default_rng(0).permutation(n)[:SCALED_BY]
        rows = self._histograms[np.sort(few)]
        for before in ("", "initial_"):
            self._divide(
                before, _median(self.distances(self._before(before))(rows, None))
            )

    def _before(self, before: str = "") -> Floats:
        """Return what distances are computed from: now, or ("initial_") at first."""
        learned: Floats = getattr(self, f"{before}metric_")
        return learned

    def _divide(self, before: str, unit: float) -> None:
        """Divide distances by this unit."""
        metric = closure(
            self._before(before) / unit, validation.n_threads(vars(self).get("n_jobs"))
        )
        setattr(self, f"{before}metric_", metric)

    @property
    def _learned(self) -> Floats:
        """What distances are computed from."""
        return self._before()

    def histograms(self, X: ArrayLike) -> Floats:
        """Return histograms as the metric sees them: of mass 1, raised to ``power``.

        What takes ``metric=learner``, such as ``pairwise_emd(X, metric=learner)``, does
        this itself.
        """
        check_is_fitted(self, "path_")
        return self._seen(self._as_rows(X, reset=False))

    def _seen(self, rows: Floats) -> Floats:
        """Raise rows of mass 1 to the power that was learned with."""
        return raised(rows, self.power_)

    def _ground(self) -> dict[str, Floats]:
        """Return what :func:`pairwise_emd` needs for histograms that we have seen."""
        return {"metric": self._learned}

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the distances to the training histograms, under the learned metric.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.

        Returns
        -------
        ndarray of shape (n, n_train)
        """
        rows = self.histograms(X)
        return self.distances(self._learned)(rows, self._histograms)

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and of Y (X if None)."""
        left = self.histograms(X)
        right = None if Y is None else self.histograms(Y)
        return self.distances(self._learned)(left, right)

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Make a function of two histograms, for ``metric=`` in scikit-learn."""
        check_is_fitted(self, "path_")
        between, power = self.distances(self._learned.copy()), self.power_

        def distance(r: ArrayLike, c: ArrayLike) -> float:
            rows = validation.as_distributions(np.stack([r, c]), "histograms")
            first, second = raised(rows, power)
            return float(between(first[None], second[None])[0, 0])

        return distance

    def _judged_power(self) -> float:
        power = validation.as_number(self.power, "power", low=0.0)
        if power == 0:
            raise ValueError("power is 0.0; it must be positive.")
        return power

    def metrics_of_steps(self, rows: Floats, weights: Weights) -> Iterator[Floats]:
        """Yield the result after 0, 1, ... steps, until the descent ends."""
        self.power_ = self._judged_power()
        descent = self._descent(raised(rows, self.power_), weights)
        yield descent.result
        for n_steps in count():
            descent.run([lambda _: True])  # one step
            if len(descent.path) == n_steps:
                return
            yield descent.result

    def _run(self, descent: Descent, rows: Floats, n_steps: int | None) -> None:
        """Run the descent, watched by a bar, the callback and a checkpoint."""
        settings = descent.settings
        limit = n_steps or settings.max_outer * settings.max_inner
        with ExitStack() as stack:
            report = stack.enter_context(
                progress_bar(
                    limit, label="learn", unit="step", show=self.verbose > 0, steps=True
                )
            )
            observers: list[Observer] = [
                _watch(report, self.callback),
                lambda descent: len(descent.path) == n_steps,
            ]
            checkpoint = self._checkpoint(rows, descent, n_steps)
            if checkpoint is not None:
                checkpoint.resume(descent.set_state)
                observers.append(stack.enter_context(checkpoint))
            if len(descent.path) != n_steps:
                descent.run(observers)
        if descent.hit_limit and settings.tol > 0 and limit > BUDGET:
            limits = [f"{name}={getattr(self, name)}" for name in self._limits]
            warn_not_converged(
                f"The descent took all {limit} steps of {' and '.join(limits)}, and "
                f"has not converged to tol={settings.tol}; raise the limits, or tol."
            )

    def _checkpoint(
        self, rows: Floats, descent: Descent, n_steps: int | None
    ) -> Checkpoint | None:
        seconds = validation.as_number(
            self.checkpoint_seconds, "checkpoint_seconds", low=0.0
        )
        if self.checkpoint is None:
            return None
        parts = [rows] if isinstance(rows, np.ndarray) else _parts(rows)
        identity = identify(
            *parts,
            descent.metric,
            *descent.criterion.identity(),
            f"{descent.settings} {n_steps}",
            version("groundmetric"),
        )
        return Checkpoint(self.checkpoint, seconds, identity)

    def _restore(self) -> None:
        rows = validation.as_float_array(self._histograms, "its histograms", 2)
        last = [name for name in self._steps if name in vars(self)]
        for name in ("metric_", "initial_metric_", *last):
            validation.as_cost(getattr(self, name), rows.shape[1], name)
            self._require_metric(getattr(self, name), name)
        validation.as_distributions(rows, "its histograms")
        self._restore_rest(*rows.shape)

    def _restore_rest(self, n: int, d: int) -> None:
        """Validate what does not depend on the kind of metric."""
        if "_labels" in vars(self):
            validation.require_length(self._labels, n, "_labels")
        self.n_features_in_ = d
        self.path_ = DescentPath.from_array(np.asarray(self.path_))
        self.n_iter_ = len(self.path_)

    @property
    def _n_features_out(self) -> int:
        return int(self._histograms.shape[0])

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _median(between: Floats) -> float:
    """Median of all distances; if it is zero, of those that are not; 1 if all are."""
    values = between[np.triu_indices_from(between, 1)]
    for some in (values, values[values > 0]):
        if some.size and (median := float(np.median(some))) > SMALLEST:
            return median
    return 1.0


def raised(rows: Floats, power: float) -> Floats:
    """Raise histograms to a power, and scale them to mass 1 again."""
    if power == 1:
        return rows
    if not isinstance(rows, np.ndarray):
        return _raised_sparse(rows, power)
    powers = (rows / rows.max(axis=1, keepdims=True)) ** power
    scaled: Floats = powers / powers.sum(axis=1, keepdims=True)
    return scaled


def _raised_sparse(rows: Any, power: float) -> Any:  # noqa: ANN401 - CSR
    """Do the same to sparse histograms."""
    sizes = np.diff(rows.indptr)
    largest = np.maximum.reduceat(rows.data, rows.indptr[:-1])
    powers = rows.copy()
    powers.data = (rows.data / np.repeat(largest, sizes)) ** power
    sums = np.add.reduceat(powers.data, rows.indptr[:-1])
    powers.data /= np.repeat(sums, sizes)
    return powers


def _parts(rows: Any) -> list[Floats]:  # noqa: ANN401 - CSR
    return [rows.data, rows.indices, rows.indptr]


def _watch(
    report: Report | None, callback: Callable[[DescentStep], object] | None
) -> Observer:
    """Show each step in the bar, then let the callback see it."""

    def after(descent: Descent) -> object:
        step = descent.path[-1]
        if report is not None:
            # Outer steps that ended early count as if they had not.
            report(
                step.outer * descent.settings.max_inner + step.inner + 1,
                criterion=step.criterion,
                violation=step.violation,
                step=step.step_size,
            )
        return callback is not None and callback(step)

    return after
