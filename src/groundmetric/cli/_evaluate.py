"""``groundmetric evaluate``: the learned metric compared with other distances.

Each split learns from its own training histograms. An existing model is tested as it
is, on histograms that it should not have seen.
"""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from numpy.typing import NDArray
from typer import Option

from .. import GroundMetricLearning, pairwise_emd
from .._words import count
from ..base._powers import raised
from ..experiments import Method, cross_validate
from ..experiments.choice import Learners, available_learners, fixed_for
from ..experiments.names import LABELS
from ..experiments.ranking import fewest_to_learn_from
from ..report._cross_validated import (
    COLUMNS,
    LEARNED,
    choice,
    rows,
    tabulated,
    verdict,
)
from ._command import command
from ._console import emit, note, print_table, shows_progress, tell
from ._data import Data, bins_of, limited, read_labeled, smallest_class, warn_if_seen
from ._models import ground_of, load_learner
from ._options import Json, Limit, Neighbors, Seed, Source

LIMIT = 200
SLOW, FEW_CLASSES = "itml-hellinger", 5
FEWEST_FOLDS = 2
LEGEND = (
    "errors: of held-out histograms; saved: by the learned metric, compared with the "
    "distance in this row, in percentage points; time: CPU time to learn, once."
)


@command(
    "groundmetric evaluate flowers.csv --label species",
    "groundmetric evaluate flowers.csv --repeats 4 --svm --json",
    "groundmetric evaluate new.csv --model flowers.npz",
)
def evaluate(
    source: Source,
    *,
    model: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Test this model, written by fit, as it is, by neighbors within DATA, "
            "instead of learning.",
        ),
    ] = None,
    folds: Annotated[int, Option(help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, Option(help="Number of times to draw folds.")] = 2,
    neighbors: Neighbors = 3,
    learners: Annotated[
        bool | None,
        Option(
            help="Compare with our smoothed learner, LMNN, ITML, NCA and chi-squared "
            "LMNN, too; by default unless there is a model, without ITML if there are "
            "more than five classes.",
            show_default=False,
        ),
    ] = None,
    tfidf: Annotated[
        bool | None,
        Option(
            help="Compare with the l1 distance of TF-IDF, too; by default if most bins "
            "are empty, as in counts of words.",
            show_default=False,
        ),
    ] = None,
    svm: Annotated[
        bool, Option(help="Also train support vector machines; takes twice as long.")
    ] = False,
    limit: Limit = LIMIT,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Find out whether learning helps, and which learner to use.

    Cross-validates the errors of nearest neighbors under the learned metric, under l1,
    l2, Hellinger and chi-squared, and under distances that our smoothed learner, LMNN,
    ITML, NCA and chi-squared LMNN learn, with 95 % intervals and the CPU time that
    learning takes.
    """
    learned = None if model is None else load_learner(model)
    wanted = None if learned is None else bins_of(learned)
    everything = read_labeled(source, wanted)
    given = limited(everything, limit, seed, "evaluating")
    _require_folds(given, folds, drawn=len(given.X) < len(everything.X))
    if learned is not None:
        seen = learned._histograms  # noqa: SLF001 - no public name
        warn_if_seen(seen, given, learned.power_)
    others = Learners([], "")
    if learners or (learners is None and model is None):
        others = available_learners(fewest_to_learn_from(given.y, folds))
        if not learners:
            others = _quick(others, len(set(given.y)))
    if others.skipped:
        note(others.skipped)
    method = Method(LEARNED, LABELS[LEARNED], {}, partial(_learn, learned))
    found = cross_validate(
        given.X,
        given.y,
        methods=[*fixed_for(given.X, tfidf=tfidf), *others.names, method],
        n_folds=folds,
        n_repeats=repeats,
        n_neighbors=neighbors,
        svm=svm,
        seed=seed,
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
    )
    table = tabulated(found)
    said = [text for text in (verdict(table, neighbors), choice(found)) if text]
    if json:
        emit(
            {
                "data": given.source,
                "n_histograms": len(given.X),
                "n_folds": folds,
                "n_repeats": repeats,
                "n_neighbors": neighbors,
                "errors": table,
                "verdict": " ".join(said),
            }
        )
        return
    titles = {"knn": count(neighbors, "nearest neighbor")}
    titles |= {"svm": "Support vector machines"} if svm else {}
    for measure, title in titles.items():
        print_table(COLUMNS, rows(table, measure), title=title)
    tell(LEGEND)
    for sentence in said:
        tell(sentence)


def _quick(others: Learners, n_classes: int) -> Learners:
    """Leave out ITML if it would take minutes: its pairs grow as classes squared."""
    if n_classes <= FEW_CLASSES or SLOW not in others.names:
        return others
    names = [name for name in others.names if name != SLOW]
    slow = f"ITML was skipped, which takes minutes with {n_classes} classes: --learners"
    return Learners(names, f"{slow} includes it.")


def _require_folds(data: Data, folds: int, *, drawn: bool) -> None:
    """Reject classes that are too small, and say what to do."""
    smallest, least = smallest_class(data)
    if least >= folds:
        return
    ways = [f"use --folds {least}"] if least >= FEWEST_FOLDS else []
    ways += ["a larger --limit"] if drawn else []
    ways += ["add rows of this class", "leave it out"]
    raise ValueError(
        f"--folds is {folds}, but {data.source} has {count(least, 'histogram')} of "
        f"class {smallest}{' drawn' if drawn else ''}, and each fold needs one: "
        f"{', or '.join(ways)}."
    )


def _learn(
    learned: GroundMetricLearning | None,
    X: NDArray[Any],
    y: NDArray[Any],
    n_jobs: int | None,
) -> Any:  # noqa: ANN401 - a function
    if learned is None:
        return GroundMetricLearning(n_jobs=n_jobs).fit(X, y).pairwise
    power, ground = learned.power_, ground_of(learned)

    def distances(X: NDArray[Any], Y: NDArray[Any] | None = None) -> NDArray[Any]:
        columns = None if Y is None else raised(Y, power)
        return pairwise_emd(raised(X, power), columns, **ground, n_jobs=n_jobs)

    return distances
