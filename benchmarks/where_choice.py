"""What the rivals of ``where.py`` need: choices by cross-validation, and machines."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from where_data import LARGE, DataSet

from groundmetric.distances import DISTANCES
from groundmetric.experiments import Method, knn_errors
from groundmetric.experiments.methods import of_baseline
from groundmetric.learning._parameters import inverse_document_frequency

N_FOLDS, N_NEIGHBORS = 3, 20
COMMON = 300  # bins that are left to learners of d x d matrices if there are too many


def chosen_among(name: str, label: str, learners: Sequence[Any]) -> Method:
    """Choose among baselines."""
    return cross_validated(
        name, label, [of_baseline(learner, name, label) for learner in learners]
    )


def cross_validated(name: str, label: str, candidates: Sequence[Method]) -> Method:
    """Learn with the candidate whose neighbors err least on held-out histograms."""

    def learn(X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> Any:
        best = best_of(candidates, X, y) if len(candidates) > 1 else 0
        return candidates[best].learn(X, y, n_jobs)

    settings = {"candidates": [{m.name: shown(m.settings)} for m in candidates]}
    return Method(name, label, settings, learn)


def best_of(candidates: Sequence[Method], X: np.ndarray, y: np.ndarray) -> int:
    """Find the candidate with the least mean error over folds; the first of equals."""
    if len(candidates) == 1:
        return 0
    folds = StratifiedKFold(smallest_of(y), shuffle=True, random_state=0)
    errors = [
        [
            np.mean(
                knn_errors(
                    method.learn(X[seen], y[seen], 1)(X[held], X[seen]),
                    y[seen], y[held], n_neighbors=min(N_NEIGHBORS, len(seen)),
                )
            )
            for method in candidates
        ]
        for seen, held in folds.split(X, y)
    ]  # fmt: skip
    return int(np.mean(errors, axis=0).argmin())


def smallest_of(y: np.ndarray) -> int:
    """Return the number of folds that the smallest class allows, from 2 to three."""
    return int(np.clip(np.bincount(y)[np.unique(y)].min(), 2, N_FOLDS))


def tfidf_cosine(X: np.ndarray, _y: Any, _n_jobs: Any) -> Any:
    idf = inverse_document_frequency(csr_array(X))

    def pairwise(left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
        columns = left if right is None else right
        found = np.clip(cdist(left * idf, columns * idf, "cosine"), 0.0, None)
        if right is None:  # up to rounding
            found = np.triu(found, 1)
            return found + found.T
        return found

    return pairwise


def squared_chi2(_X: Any, _y: Any, _n_jobs: Any) -> Any:
    return lambda left, right: DISTANCES["chi2"](left, right) ** 2


def common(data: DataSet, method: Method) -> Method:
    """Learn from the commonest bins, and the sum of all others, if bins are many."""
    if data.X.shape[1] <= LARGE:
        return method

    def learn(X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> Any:
        order = np.argsort(-np.count_nonzero(X, axis=0), kind="stable")

        def fewer(rows: np.ndarray | None) -> np.ndarray | None:
            if rows is None:
                return None
            rest = rows[:, order[COMMON:]].sum(axis=1, keepdims=True)
            return np.hstack([rows[:, order[:COMMON]], rest])

        distances = method.learn(fewer(X), y, n_jobs)
        return lambda left, right: distances(fewer(left), fewer(right))

    return replace(method, learn=learn, settings={**method.settings, "bins": COMMON})


def is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str, type(None)))


def shown(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out of settings what JSON cannot hold."""
    return {key: x for key, x in settings.items() if is_plain(x) or isinstance(x, list)}


def discriminants(X: np.ndarray, y: np.ndarray, _n_jobs: Any) -> Any:
    """Learn scikit-learn's discriminants of square roots."""
    model = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
    model.fit(np.sqrt(X), y)

    def pairwise(left: np.ndarray, right: np.ndarray | None) -> np.ndarray:
        places = model.transform(np.sqrt(left))
        if right is None:
            return squareform(pdist(places))
        return cdist(places, model.transform(np.sqrt(right)))

    return pairwise


CHI2_KERNEL = Method("chi2-kernel", "chi-squared kernel", {}, squared_chi2)
LDA = Method("lda", "LDA, square roots", {}, discriminants)
