"""The methods of ``where.py``: fixed distances, rivals, ours, and the chooser.

What results depend on most is chosen by cross-validation on the training histograms,
for rivals as for ours: the margin of chi-squared LMNN, t and the regularization of
GMML, the steps of Aitchison embeddings, C and features of linear machines.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from where_choice import (
    CHI2_KERNEL,
    LDA,
    best_of,
    chosen_among,
    common,
    cross_validated,
    is_plain,
    tfidf_cosine,
)
from where_data import LARGE, DataSet

from groundmetric import (
    EMDSVC,
    AutoMetric,
    CombinedMetricLearning,
    DiscriminantMetricLearning,
    EMDKernel,
    GroundMetricLearning,
    MappedMetricLearning,
    Margin,
    Neighborhood,
    SinkhornMetricLearning,
    pairwise_emd,
)
from groundmetric.baselines import (
    GMML,
    ITML,
    LMNN,
    NCA,
    AitchisonEmbedding,
    ChiSquaredLMNN,
)
from groundmetric.experiments import METHODS, PREDICTORS, Method, Predictor
from groundmetric.experiments.methods import of_baseline

FEW = 150  # bins up to which there are tables, and a metric for each coordinate
FIXED, RIVAL, OURS, CHOOSER = "fixed", "rival", "ours", "chooser"

FEW_COORDINATES = 10


@dataclass(frozen=True)
class Entry:
    """A method of the benchmark: a distance, or a machine that predicts labels."""

    method: Method
    group: str
    knn: bool = True  # whether neighbors make sense; otherwise machines alone
    predict: Callable[..., np.ndarray] | None = None  # of X, y, X_test

    @property
    def name(self) -> str:
        """Short name."""
        return self.method.name


def entries(data: DataSet) -> list[Entry]:
    """List all methods for a data set."""
    return [
        *(Entry(method, FIXED) for method in fixed(data)),
        *(Entry(method, RIVAL) for method in rivals(data)),
        *(Entry(method, OURS) for method in own(data)),
        Entry(chooser(data), CHOOSER),
        Entry(CHI2_KERNEL, RIVAL, knn=False),
        *machines(data),
    ]


def fixed(data: DataSet) -> Iterator[Method]:
    """Distances that learn nothing, but which prior is best."""
    for name in ("l1", "chi2", "hellinger", "jensen_shannon"):
        yield METHODS[name]
    yield Method("tfidf", "tf-idf cosine", {}, tfidf_cosine)
    known = [with_prior(data, name, power) for name, power in priors(data)]
    if known:
        yield cross_validated("emd-prior", "EMD with the prior", known)


def rivals(data: DataSet) -> Iterator[Method]:
    """Learners of others."""
    plain = {"lmnn": LMNN, "itml": ITML, "nca": NCA}
    for (name, learner), offset in product(plain.items(), (None, "auto")):
        log = "" if offset is None else "-log"
        label = name.upper() + (", logarithms" if offset else "")
        yield common(data, of_baseline(learner(offset=offset), name + log, label))
    for offset, log in ((None, ""), ("auto", "-log")):
        label = "GMML, logarithms" if offset else "GMML"
        grid = product((0.1, 0.3, 0.5, 0.7), (0.01, 0.1, 1.0))
        found = [GMML(t=t, regularization=r, offset=offset) for t, r in grid]
        yield common(data, chosen_among("gmml" + log, label, found))
    margins = [ChiSquaredLMNN(margin=x, max_iter=100) for x in (0.03, 0.1, 0.3, 1.0)]
    yield common(data, chosen_among("chi2-lmnn", "chi-squared LMNN", margins))
    steps = [AitchisonEmbedding(max_steps=steps) for steps in (5, 15, 40, 100)]
    yield common(data, chosen_among("aitchison", "Aitchison embedding", steps))
    yield common(data, LDA)


def own(data: DataSet) -> Iterator[Method]:
    """Our learners: all that suit the number of bins and what is known of them."""
    d = data.X.shape[1]
    if d <= LARGE:
        yield METHODS["gml"]
        # Tables of many bins take longer than all else.
        init = "typical" if d <= FEW else "uniform"
        paper = GroundMetricLearning(Neighborhood(3, n_similar=3), init=init, power=1.0)
        yield Method.of(paper, "c-k", "C_k, as in the paper")
        yield METHODS["gml-smoothed"]
        flat = SinkhornMetricLearning(smoothing=math.inf, criterion=Margin())
        yield Method.of(flat, "smoothed-inf", "smoothed, infinitely")
    weights = "idf" if data.are_words else None
    known = list(data.points.values()) or None
    direct = DiscriminantMetricLearning(known, bin_weights=weights)
    yield replace(
        Method.of(DiscriminantMetricLearning(), "discriminant", "discriminants"),
        settings={"points": list(data.points), "bin_weights": weights},
        learn=Method.of(direct, "discriminant").learn,
    )
    if not data.points:
        return
    if d <= LARGE:
        yield from of_prior(data, "pulled", "exact, pulled to the prior", pulled)
        yield combined(data)
    yield from of_prior(data, "mapped", "mapped", mapped)
    # From the plane, say, from pixels, a softmax takes minutes and learns little.
    if any(points.shape[1] >= FEW_COORDINATES for points in data.points.values()):
        yield from of_prior(data, "softmax", "smoothed, from the prior", softmax)


def chooser(data: DataSet) -> Method:
    """Let the package choose among our learners."""
    learner = AutoMetric(list(data.points.values()) or None)
    return replace(
        Method.of(AutoMetric(), CHOOSER, "ours, chosen by AutoMetric"),
        settings={"points": list(data.points)},
        learn=Method.of(learner, CHOOSER).learn,
    )


def machines(data: DataSet) -> Iterator[Entry]:
    """List what predicts labels without a distance, or with one of several kernels."""
    for predictor in PREDICTORS.values():
        yield Entry(
            Method(predictor.name, predictor.label, predictor.settings, nothing),
            RIVAL,
            knn=False,
            predict=partial(predicted, predictor),
        )
    plain = [
        EMDKernel(distance="l1"),
        EMDKernel(distance="hellinger"),
        EMDKernel(distance="l2", exponent=2),
        EMDKernel(distance="chi2", exponent=2),
    ]
    yield machine("plain-kernels", "SVM, plain kernels", plain, RIVAL)
    if data.points and data.X.shape[1] <= LARGE:
        metrics = [cdist(points, points) for points in data.points.values()]
        weights = [len(metrics)] + [1] * len(metrics)
        means = [
            EMDKernel(distance=[name, *metrics], weights=weights)
            for name in ("hellinger", "l1")
        ]
        yield machine("prior-kernels", "SVM, and EMDs", [*plain, *means], OURS)


def machine(name: str, label: str, kernels: list[EMDKernel], group: str) -> Entry:
    """Predict by a support vector machine that chooses its kernel."""
    settings = {"kernels": len(kernels)}

    def predict(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
        return EMDSVC(kernels).fit(X, y).predict(X_test)

    method = Method(name, label, settings, nothing)
    return Entry(method, group, knn=False, predict=predict)


def predicted(
    predictor: Predictor, X: np.ndarray, y: np.ndarray, X_test: np.ndarray
) -> np.ndarray:
    """Predict labels by what needs no distance."""
    return predictor.learn(X, y, None)(X_test)


def nothing(_X: Any, _y: Any, _n_jobs: Any) -> None:
    """Learn no distance."""


# Learners that start from what is known of the bins.


def priors(data: DataSet) -> list[tuple[str, float]]:
    """List what is known of the bins, with powers of histograms."""
    return [
        (name, power)
        for power in ([1.0] if data.are_words else [1.0, 0.5])
        for name in data.points
    ]


def with_prior(data: DataSet, name: str, power: float) -> Method:
    """Use the EMD with the distances between points."""
    points = data.points[name]
    settings = {"points": name, "power": power}
    return Method(f"emd-{name}-{power}", name, settings, partial(emd, points, power))


def emd(points: np.ndarray, power: float, _X: Any, _y: Any, n_jobs: Any) -> Any:
    """Compute EMDs between histograms raised to a power."""

    def pairwise(left: Any, right: Any) -> np.ndarray:
        given = [None if rows is None else rows**power for rows in (left, right)]
        given = [x if x is None else csr_array(x / x.sum(1)[:, None]) for x in given]
        return pairwise_emd(*given, points=points, n_jobs=n_jobs)

    return pairwise


def of_prior(
    data: DataSet, name: str, label: str, make: Callable[[DataSet, np.ndarray], Any]
) -> Iterator[Method]:
    """Learn from the prior whose own distances err least on the training histograms."""
    known = [(each, with_prior(data, each, 1.0)) for each in data.points]

    def learn(X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> Any:
        best = known[best_of([method for _, method in known], X, y)][0]
        learner = Method.of(make(data, data.points[best]), name)
        distances = learner.learn(csr_array(X), y, n_jobs)
        return lambda left, right: distances(*map(as_sparse, (left, right)))

    settings = Method.of(make(data, np.zeros((2, 1))), name).settings
    settings = {key: value for key, value in settings.items() if is_plain(value)}
    yield Method(name, label, {**settings, "points": list(data.points)}, learn)


def pulled(_data: DataSet, points: np.ndarray) -> Any:
    return GroundMetricLearning(
        Margin(), init=cdist(points, points), pull=1.0, power=1.0
    )


def mapped(data: DataSet, points: np.ndarray) -> Any:
    if data.are_words:
        settings = {"power": 1.0, "bin_weights": "idf", "pull": 1.0}
        return MappedMetricLearning(points, **settings, random_state=0)
    return MappedMetricLearning(points, random_state=0)


def softmax(data: DataSet, points: np.ndarray) -> Any:
    weights, power = ("idf", 1.0) if data.are_words else ("learn", 0.5)
    # Mean positions in the plane, say, of pixels, tell little.
    smoothing = math.inf if points.shape[1] >= FEW_COORDINATES else 1.0
    return SinkhornMetricLearning(
        smoothing=smoothing, points=points, bin_weights=weights, power=power,
        criterion="softmax", max_steps=200, random_state=0,
    )  # fmt: skip


def combined(data: DataSet) -> Method:
    """Combine the uniform metric, all that is known, and each coordinate if few."""
    learner = CombinedMetricLearning(*known_of(data))
    settings = {
        "metrics": ["uniform", *data.points],
        "coordinates": learner.points is not None,
    }
    return replace(
        Method.of(CombinedMetricLearning(), "combined", "combined metrics"),
        settings=settings,
        learn=Method.of(learner, "combined").learn,
    )


def known_of(data: DataSet) -> tuple[list[np.ndarray], np.ndarray | None]:
    """Return metrics to combine, and coordinates if bins are few."""
    d = data.X.shape[1]
    metrics = [1.0 - np.eye(d), *(cdist(x, x) for x in data.points.values())]
    return metrics, next(iter(data.points.values())) if d <= FEW else None


def as_sparse(rows: np.ndarray | None) -> csr_array | None:
    return None if rows is None else csr_array(rows)
