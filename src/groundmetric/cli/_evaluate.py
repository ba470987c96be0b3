"""``groundmetric evaluate``: the learned metric beside what needs no learning.

Each split learns anew from its own training histograms. A model that was learned before
is judged as it is, on histograms that it should not have seen.
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .. import GroundMetricLearning, pairwise_emd
from .._words import count, percent, points
from ..experiments import (
    CrossValidation,
    Estimate,
    Method,
    cross_validate,
    resampled_mean,
)
from ..report._verdict import Gain, headline, kind
from ._console import emit, print_table, shows_progress, tell
from ._data import Data, Source, limited, read_labeled
from ._models import bins_of, histograms_of, load_model, warn_if_seen
from ._options import Data as DataArgument
from ._options import (
    Feature,
    Features,
    Header,
    Ignore,
    Jobs,
    Json,
    Label,
    LabelsFile,
    Limit,
    Neighbors,
    Seed,
    examples,
)

EPILOG = examples(
    "groundmetric evaluate flowers.csv --label species",
    "groundmetric evaluate flowers.csv --repeats 4 --no-svm --json",
    "groundmetric evaluate new.csv --model flowers.npz",
)
LEARNED = "learned"
OTHERS = ("l1", "l2", "hellinger", "chi2")
LABELS = {
    LEARNED: "learned metric",
    "l1": "l1",
    "l2": "l2",
    "hellinger": "Hellinger",
    "chi2": "chi-squared",
}
LIMIT = 200
FEWEST_FOLDS = 2

Floats = NDArray[np.float64]
Found = dict[str, Any]


def evaluate(
    data: DataArgument,
    *,
    label: Label = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    header: Header = None,
    feature: Feature = Features.gist,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A model that fit wrote: judged as it is, by neighbors within DATA, "
            "and nothing is learned.",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(help="How often to draw folds.")] = 1,
    neighbors: Neighbors = 3,
    svm: Annotated[
        bool, typer.Option(help="Train support vector machines, too.")
    ] = True,
    limit: Limit = LIMIT,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Tell whether learning helps on your data.

    Errors of nearest neighbors and of support vector machines, cross-validated, under
    the learned metric and under l1, l2, Hellinger and chi-squared, with 95 %
    intervals.
    """
    learned = None if model is None else load_model(model)
    wanted = None if learned is None else bins_of(learned)
    source = Source(data, label, labels, ignore or (), header, feature.value, jobs)
    everything = read_labeled(source, wanted)
    given = limited(everything, limit, seed, "evaluating")
    _require_folds(given, folds, drawn=len(given.X) < len(everything.X))
    found = cross_validate(
        given.X,
        given.y,
        methods=[*OTHERS, _method(learned, given)],
        n_folds=folds,
        n_repeats=repeats,
        n_neighbors=neighbors,
        svm=svm,
        seed=seed,
        n_jobs=jobs,
        verbose=int(shows_progress()),
    )
    table = {one.method: _estimates(one, found[-1]) for one in found}
    if json:
        emit(
            {
                "data": given.source,
                "n_histograms": len(given.X),
                "n_folds": folds,
                "n_repeats": repeats,
                "n_neighbors": neighbors,
                "errors": table,
            }
        )
        return
    _print(table, neighbors, svm=svm)
    tell(verdict(table, neighbors))


def _require_folds(data: Data, folds: int, *, drawn: bool) -> None:
    """Refuse classes that are too small, and say what to do."""
    values, counts = np.unique(data.y, return_counts=True)
    least = int(counts.min())
    if least >= folds:
        return
    ways = [f"say --folds {least}"] if least >= FEWEST_FOLDS else []
    ways += ["take a larger --limit"] if drawn else []
    ways += ["leave the class out"]
    raise ValueError(
        f"--folds is {folds}, but {data.source} has {count(least, 'histogram')} of "
        f"class {values[counts.argmin()]!s}{' drawn' if drawn else ''}, and each fold "
        f"needs one: {', or '.join(ways)}."
    )


def _method(learned: GroundMetricLearning | None, data: Data) -> Method:
    if learned is None:
        return Method(LEARNED, LABELS[LEARNED], {}, _learn)
    warn_if_seen(histograms_of(learned), data)
    learn = partial(_learn_nothing, learned.metric_)
    return Method(LEARNED, LABELS[LEARNED], {}, learn)


def _learn(X: Floats, y: NDArray[Any], n_jobs: int | None) -> Any:  # noqa: ANN401
    return GroundMetricLearning(n_jobs=n_jobs).fit(X, y).pairwise


def _learn_nothing(
    metric: Floats, _X: Floats, _y: NDArray[Any], n_jobs: int | None
) -> Any:  # noqa: ANN401 - a function
    return partial(pairwise_emd, metric=metric, n_jobs=n_jobs)


def _estimates(one: CrossValidation, learned: CrossValidation) -> Found:
    """Errors, and what the learned metric saves of them."""
    out: Found = {}
    for name in ("knn", "svm"):
        errors: list[float] | None = getattr(one, f"{name}_errors")
        if errors is None:
            continue
        gains = np.subtract(errors, getattr(learned, f"{name}_errors"))
        out[name] = _as_dict(resampled_mean(errors, ratio=one.ratio), least=0.0)
        if one is not learned:
            saved = resampled_mean(gains, ratio=one.ratio)
            out[f"{name}_saved"] = _as_dict(saved, least=-1.0)
    return out


def _as_dict(estimate: Estimate, *, least: float) -> dict[str, float]:
    # Student's interval does not know that shares end at 1, and their differences.
    low, high = (float(np.clip(end, least, 1)) for end in (estimate.low, estimate.high))
    return {"mean": estimate.mean, "low": low, "high": high}


def _print(table: dict[str, Found], neighbors: int, *, svm: bool) -> None:
    titles = {"knn": f"{neighbors} nearest neighbors"}
    if svm:
        titles["svm"] = "support vector machine"
    for name, title in titles.items():
        print_table(
            ["distance", "errors", "95 % interval", "learning saves", "95 % interval"],
            [_row(method, found, name) for method, found in table.items()],
            title=f"{title[0].upper()}{title[1:]}",
        )


def _row(method: str, found: Found, name: str) -> list[str]:
    error, saved = found[name], found.get(f"{name}_saved")
    row = [LABELS[method], percent(error["mean"]), _between(error, percent)]
    if saved is None:
        return [*row, "", ""]
    return [*row, points(saved["mean"]), _between(saved, points)]


def _between(found: dict[str, float], write: Callable[[float], str]) -> str:
    """Write an interval; nothing if the folds do not tell."""
    if math.isnan(found["low"]):
        return ""
    return f"{write(found['low'])} to {write(found['high'])}"


def verdict(table: dict[str, Found], neighbors: int) -> str:
    """Say in a sentence if learning helped; it goes by errors of nearest neighbors.

    Where support vector machines say otherwise, another sentence says so.
    """
    knn = _gain(table, "knn")
    said = headline(knn, neighbors)
    if "svm" not in table["l1"]:
        return said
    svm = _gain(table, "svm")
    if kind(svm) == kind(knn):
        return said
    words = {
        "helped": "learning helped",
        "hurt": "learning made things worse",
        "unclear": "learning made no difference that can be told from chance",
    }
    return (
        f"{said} With support vector machines, {words[kind(svm)]}: "
        f"{percent(svm.error)} errors, {percent(svm.other_error)} under "
        f"{svm.other}. The verdict goes by nearest neighbors, which use the distance "
        "and nothing else."
    )


def _gain(table: dict[str, Found], name: str) -> Gain:
    """Compare with l1, where learning starts."""
    ours, theirs = (table[method][name]["mean"] for method in (LEARNED, "l1"))
    saved = table["l1"][f"{name}_saved"]
    return Gain("the l1 distance", ours, theirs, saved["low"], saved["high"])
