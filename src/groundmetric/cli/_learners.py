"""The learners of ``fit --learner`` by name, and what is known of the bins."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from .. import validation
from ..datasets._matrix import NamedMatrix, in_order_of, load_matrix, load_metric
from ._options import as_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..datasets import HistogramTable

    Floats = NDArray[np.float64]

Name = Literal[
    "exact",
    "smoothed",
    "combined",
    "mapped",
    "discriminant",
    "auto",
    "lmnn",
    "itml",
    "nca",
    "gmml",
    "chi2-lmnn",
    "aitchison",
]
# The options that each takes, beside --cv and those of DATA.
_MARGINS = {"targets", "margin", "power", "points", "max_steps", "checkpoint"}
_PAIRS = {"criterion", "neighbors", "similar", "inner_steps", "step_size", "tol"}
TAKES: dict[str, set[str]] = {
    "exact": _MARGINS | _PAIRS | {"init"},
    "smoothed": _MARGINS,
    "combined": _MARGINS | _PAIRS | {"metrics"},
    "mapped": _MARGINS | {"step_size"},
    "discriminant": {"power", "points"},
    "auto": {"points"},
}
CLASSES = {
    "exact": ("learning", "GroundMetricLearning"),
    "smoothed": ("smoothed", "SinkhornMetricLearning"),
    "combined": ("learning", "CombinedMetricLearning"),
    "mapped": ("learning", "MappedMetricLearning"),
    "discriminant": ("smoothed", "DiscriminantMetricLearning"),
    "auto": ("automatic", "AutoMetric"),
    "lmnn": ("baselines", "LMNN"),
    "itml": ("baselines", "ITML"),
    "nca": ("baselines", "NCA"),
    "gmml": ("baselines", "GMML"),
    "chi2-lmnn": ("baselines", "ChiSquaredLMNN"),
    "aitchison": ("baselines", "AitchisonEmbedding"),
}
OWN = ("exact", "smoothed", "combined", "mapped", "discriminant")
ONE_SET = ("exact", "smoothed", "mapped")  # of points
SETS = ("discriminant", "auto")  # which also take the vectors of words
# Learners by the names of their rows in a comparison.
FITTED_AS = {
    "learned": "exact",
    "gml-smoothed": "smoothed",
    "auto": "auto",
    "combined": "combined",
    "discriminant": "discriminant",
    "lmnn-hellinger": "lmnn",
    "itml-hellinger": "itml",
    "nca-hellinger": "nca",
    "chi2-lmnn": "chi2-lmnn",
}


class Known(NamedTuple):
    """What is known of the bins: files, and what they hold.

    Attributes
    ----------
    points, metrics : dict of str to NamedMatrix
        Coordinates of the bins, and metrics between them, by their files.
    vectors : ndarray, optional
        Those of the words that are the bins of texts.
    """

    points: dict[str, NamedMatrix]
    metrics: dict[str, NamedMatrix]
    vectors: Floats | None = None

    @classmethod
    def read(cls, points: Sequence[str] | None, metrics: Sequence[str] | None) -> Known:
        """Read the files, and reject matrices that are no metrics."""
        for option, paths in (("--points", points), ("--metrics", metrics)):
            for path in paths or ():
                if (paths or ()).count(path) > 1:
                    raise ValueError(f"{option} has {path} twice.")
        return cls(
            {path: load_matrix(path) for path in points or ()},
            {path: _as_metric(path) for path in metrics or ()},
        )

    def of(self, data: HistogramTable) -> Known:
        """Put metrics in the order of the bins of the data; reject other sizes."""
        d = data.X.shape[1]
        metrics = {
            path: each._replace(values=in_order_of(data.names, each, path, data.source))
            for path, each in self.metrics.items()
        }
        for option, files in (("--points", self.points), ("--metrics", metrics)):
            for path, each in files.items():
                if len(each.values) != d:
                    raise ValueError(
                        f"{option} {path} has {len(each.values)} rows, but "
                        f"{data.source} has {d} bins; one row for each is needed."
                    )
        return self._replace(metrics=metrics, vectors=data.points)

    @property
    def sets(self) -> list[Floats] | None:
        """The sets of points, if there are any; without files, vectors of words."""
        own = [] if self.vectors is None else [self.vectors]
        return [each.values for each in self.points.values()] or own or None

    def grounds(self) -> dict[str, Floats]:
        """Return the ground metrics that were given, those of points among them."""
        found = {
            path: cdist(each.values, each.values) for path, each in self.points.items()
        }
        return found | {path: each.values for path, each in self.metrics.items()}

    def candidates(self, d: int) -> list[Floats]:
        """Return what is combined: the uniform metric, and all that were given."""
        return [1.0 - np.eye(d), *self.grounds().values()]

    def taken_by(self, options: set[str]) -> str:
        """Write the options that name the files, of those that a learner takes."""
        named = {"points": [*self.points], "metrics": [*self.metrics]}
        return "".join(
            f" {as_option(name, paths)}"
            for name, paths in named.items()
            if paths and name in options
        )


def _as_metric(path: str) -> NamedMatrix:
    given = load_metric(path)
    try:
        matrix = validation.as_square(given.values, "the matrix")
        validation.require_metric(matrix, "the matrix")
    except ValueError as error:
        raise ValueError(
            f"--metrics has {path}: {error} (groundmetric project finds the nearest "
            "metric.)"
        ) from error
    return given._replace(values=matrix)


def require_taken(name: str, options: Sequence[str]) -> None:
    """Reject options that were given, but that this learner does not have."""
    for option in options:
        takers = [each for each, taken in TAKES.items() if option in taken]
        if takers and name not in takers:
            raise ValueError(
                f"{as_option(option)} is for --learner {', '.join(takers)}; "
                f"--learner {name} does not take it."
            )


def require_known(name: str, known: Known) -> None:
    """Reject files that are too many, or too few, for a learner."""
    if name in ONE_SET and len(known.points) > 1:
        raise ValueError(
            f"--points names {len(known.points)} files, but --learner {name} takes "
            "one; combined, discriminant and auto take several."
        )
    if name == "combined" and not (known.points or known.metrics):
        raise ValueError("--learner combined needs --points or --metrics to combine.")


def make(name: str, known: Known, d: int, settings: dict[str, Any]) -> Any:
    """Make a learner of histograms over d bins.

    Of the settings, which are parameters of our learners, it takes those it has.
    """
    room, kind = CLASSES[name]
    own: dict[str, Any] = {}
    if name == "combined":
        own["metrics"] = known.candidates(d)
    elif name in SETS and known.sets:
        own["points"] = known.sets
    elif known.points:
        (own["points"],) = (each.values for each in known.points.values())
    # Some take long to import.
    learner = getattr(import_module(f"..{room}", __package__), kind)(**own)
    has = learner.get_params(deep=False)
    return learner.set_params(**{key: settings[key] for key in settings if key in has})
