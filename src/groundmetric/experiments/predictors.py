"""Predictors of labels, for those who need no distance.

They learn from histograms and labels, and predict labels; they have no neighbors. Both
choose their settings by cross-validation on the training histograms, with folds that
do not divide groups.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from ..base._groups import fewest_groups, folds_of_groups
from ..learning._parameters import inverse_document_frequency
from .methods import METHODS, Floats, Labels, Method, Settings, look_up
from .names import LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

# From histograms to labels.
Predict: TypeAlias = Callable[[Floats], Labels]
# From training histograms, labels and groups, if there are any.
LearnLabels: TypeAlias = Callable[[Floats, Labels, "Labels | None"], Predict]

__all__ = ["PREDICTORS", "Predictor", "as_rivals"]

N_FOLDS = 3
C_OF_MACHINES = (0.1, 1.0, 10.0, 100.0)
C_OF_REGRESSION = (1.0, 10.0, 100.0, 1000.0)
MAX_ITER = 300  # of a regression; the best settings need fewer


@dataclass(frozen=True)
class Predictor:
    """What predicts labels without a distance.

    Attributes
    ----------
    name : str
        Short name.
    label : str
        Readable name, within a sentence, too.
    settings : dict
        The parameters, which JSON must be able to hold.
    learn : callable
        Takes training histograms of mass 1, labels, and groups or None; returns a
        function that predicts labels. Must be picklable if processes are used.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments import PREDICTORS
    >>> X, y = np.array([[0.9, 0.1], [0.7, 0.3], [0.1, 0.9], [0.3, 0.7]]), [0, 0, 1, 1]
    >>> PREDICTORS["logistic"].learn(X, np.array(y), None)(X)
    array([0, 0, 1, 1])
    """

    name: str
    label: str
    settings: Settings
    learn: LearnLabels


def _square_roots(_X: Floats) -> Callable[[Floats], Floats]:
    return np.sqrt


def _logarithms(X: Floats) -> Callable[[Floats], Floats]:
    d = X.shape[1]
    return lambda rows: np.log1p(d * rows)


def _weighted_logarithms(X: Floats) -> Callable[[Floats], Floats]:
    """Weight logarithms by inverse document frequency, as those of counts of words."""
    d, idf = X.shape[1], inverse_document_frequency(csr_array(X))
    return lambda rows: np.log1p(d * rows) * idf


MAPS = {
    "square roots": _square_roots,
    "logarithms": _logarithms,
    "TF-IDF": _weighted_logarithms,
}


def _regression(c: float) -> Any:
    return LogisticRegression(C=c, max_iter=MAX_ITER)


def _machine(c: float) -> Any:
    return LinearSVC(C=c, random_state=0)


def _learn_linear(
    X: Floats,
    y: Labels,
    groups: Labels | None,
    *,
    make: Callable[[float], Any],
    maps: Sequence[str],
    grid: Sequence[float],
) -> Predict:
    """Choose the map and C with the fewest errors on held-out histograms.

    In one thread, whose results do not depend on the number of threads; a candidate
    that has not converged is as good as its errors.
    """
    candidates = [(name, c) for name in maps for c in grid]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        errors = np.zeros(len(candidates))
        for seen, held in _folds(y, groups):
            for k, (name, c) in enumerate(candidates):
                predict = _fitted(make(c), MAPS[name](X[seen]), X[seen], y[seen])
                errors[k] += np.mean(predict(X[held]) != y[held])
        name, c = candidates[int(errors.argmin())]
        return _fitted(make(c), MAPS[name](X), X, y)


def _folds(y: Labels, groups: Labels | None) -> Sequence[tuple[Any, Any]]:
    """Return up to three folds; none if a class is too small for two."""
    apart = np.arange(len(y)) if groups is None else groups
    n_folds = min(fewest_groups(y, apart)[1], N_FOLDS)
    if n_folds == 1:
        return []
    if groups is None:
        folding = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        return list(folding.split(y[:, None], y))
    try:
        return folds_of_groups(y, groups, n_folds)
    except ValueError:  # groups are too uneven
        return []


def _fitted(
    machine: Any, phi: Callable[[Floats], Floats], X: Floats, y: Labels
) -> Predict:
    """Learn from vectors with a mean norm of 1."""
    rows = phi(X)
    scale = float(np.linalg.norm(rows, axis=1).mean())
    machine.fit(rows / scale, y)
    return lambda tests: np.asarray(machine.predict(phi(tests) / scale))


def _linear(
    name: str, make: Callable[[float], Any], maps: Sequence[str], grid: Sequence[float]
) -> Predictor:
    settings: Settings = {"maps": list(maps), "C": list(grid)}
    learn = partial(_learn_linear, make=make, maps=maps, grid=grid)
    return Predictor(name, LABELS[name], settings, learn)


#: The predictors by name.
PREDICTORS: dict[str, Predictor] = {
    each.name: each
    for each in (
        _linear("logistic", _regression, ["square roots"], C_OF_REGRESSION),
        _linear("linear-svm", _machine, list(MAPS), C_OF_MACHINES),
    )
}


def as_rivals(
    methods: Iterable[str | Method | Predictor],
) -> Sequence[Method | Predictor]:
    """Look up distances and predictors by name; reject unknown and repeated ones.

    Examples
    --------
    >>> from groundmetric.experiments.predictors import as_rivals
    >>> [each.label for each in as_rivals(["l1", "logistic"])]
    ['l1', 'logistic regression']
    """
    known: dict[str, Method | Predictor] = {**METHODS, **PREDICTORS}
    return look_up(methods, known, (Method, Predictor))
