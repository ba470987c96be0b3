"""``groundmetric demo``: learn what it costs to move ink between pixels.

An 8 x 8 image of a digit is a histogram of ink over 64 pixels. Under which metric
between pixels are fours near to fours and far from nines? And is there one for all ten
digits? The paper's setting is two classes; the demo says so where ten do not profit.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .. import EMDNeighbors, GroundMetricLearning
from .._words import percent
from ..datasets import load_digits_histograms
from ..report._evaluation import Data, Evaluation, evaluate, judge_data
from ..report._measures import votes
from ..report._write import judge_features, write_evaluation
from ._console import emit, note, print_table, shows_progress, tell
from ._options import Jobs, Json, Output, examples
from ._output import judged

EPILOG = examples("groundmetric demo", "groundmetric demo --out digits.html --json")
PAIR = (4, 9)
PAIR_TRAIN, TEN_TRAIN = 20, 20  # digits of each kind to learn from
PAIR_TEST, TEN_TEST = None, 60  # and to test; None for all others
NEIGHBORS = 3
SIDE = 8
TASKS = {"pair": "4 or 9", "ten": "all ten digits"}
ROWS = {
    "l1": "l1",
    "l2": "l2",
    "hellinger": "Hellinger",
    "chi2": "chi-squared",
    "pixels": "EMD, pixels as far apart as they look",
    "before": "EMD before learning",
    "learned": "EMD learned",
}

Floats = NDArray[np.float64]
Errors = dict[str, float]


@judged
def demo(
    *,
    out: Annotated[
        Path, typer.Option(help="The report to write."), Output((".html", ".htm"))
    ] = Path("groundmetric-demo.html"),
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Learn from handwritten digits.

    Metrics between pixels, from fours and nines and from all ten digits: a table of
    errors, and a report. Takes about half a minute.
    """
    note(
        f"Learning what it costs to move ink between {SIDE * SIDE} pixels: from "
        f"{2 * PAIR_TRAIN} fours and nines, then from {10 * TEN_TRAIN} of all digits."
    )
    found = {
        "pair": _learn(PAIR, PAIR_TRAIN, PAIR_TEST, jobs),
        "ten": _learn(range(10), TEN_TRAIN, TEN_TEST, jobs),
    }
    errors = {name: _errors(one, jobs) for name, one in found.items()}
    pair = found["pair"]
    pixels = judge_features(None, (SIDE, SIDE), SIDE * SIDE)
    origin = {
        "command": "groundmetric demo",
        "data": f"scikit-learn's digits, the first {PAIR_TRAIN} fours and nines each",
        "test data": "all others of them",
    }
    write_evaluation(out, pair, pixels, "Fours and nines", 0, origin=origin)
    verdicts = {name: one.verdict() for name, one in found.items()}
    learned = lesson(pair.learner.metric_, pair.data)
    if json:
        emit({"errors": errors, "verdicts": verdicts, "lesson": learned, "report": out})
    else:
        _print(errors, verdicts, learned, out)


def _learn(digits: Any, n_train: int, n_test: int | None, jobs: int) -> Evaluation:  # noqa: ANN401
    """Learn from the first digits of each kind, test on those that follow."""
    data = load_digits_histograms(digits)
    places = [np.flatnonzero(data.y == digit) for digit in digits]
    stop = None if n_test is None else n_train + n_test
    train = np.concatenate([place[:n_train] for place in places])
    test = np.concatenate([place[n_train:stop] for place in places])
    judged = judge_data(data.X[train], data.y[train], data.X[test], data.y[test], 0)
    learner = GroundMetricLearning(n_jobs=jobs, verbose=int(shows_progress()))
    learner.fit(judged.train, judged.labels)
    return evaluate(learner, judged, n_neighbors=NEIGHBORS, n_jobs=jobs)


def _errors(found: Evaluation, jobs: int) -> Errors:
    shares = found.errors()
    # The uniform metric stands for half of l1: the same neighbors.
    shares["before"] = shares[found.before]
    shares["pixels"] = _error_under(pixel_metric(), found.data, jobs)
    return {name: shares[name] for name in ROWS}


def _error_under(metric: Floats, data: Data, jobs: int) -> float:
    search = EMDNeighbors(metric, n_neighbors=NEIGHBORS, n_jobs=jobs).fit(data.train)
    nearest = np.asarray(search.kneighbors(data.test, return_distance=False))
    winners = votes(data.y[nearest], len(data.classes))[:, -1]
    return float((winners != data.z).mean())


def pixel_metric() -> Floats:
    """Euclidean distances between the pixels of the image."""
    places = np.array(list(np.ndindex(SIDE, SIDE)), dtype=float)
    apart: Floats = np.linalg.norm(places[:, None] - places[None], axis=2)
    return apart


def lesson(metric: Floats, data: Data) -> str:
    """Say in a sentence which pixel is farthest, and who has ink there."""
    ink = data.train.mean(axis=0)
    cost = metric @ ink  # of bringing the ink of a digit here, on average
    cost[ink < ink.mean() / 2] = 0.0  # where there is hardly any, nothing was learned
    pixel = int(cost.argmax())
    row, column = divmod(pixel, SIDE)
    fours, nines = (percent(data.train[data.y == k, pixel].mean()) for k in (0, 1))
    return (
        f"What was learned: ink at row {row + 1}, column {column + 1} "
        "tells most; to bring it there costs "
        f"{cost.max() / cost[cost > 0].mean():.1f} times as much as elsewhere, for "
        f"fours have {fours} of theirs there and nines {nines}."
    )


def _print(
    errors: dict[str, Errors], verdicts: dict[str, str], learned: str, out: Path
) -> None:
    print_table(
        ["distance", *TASKS.values()],
        [
            [label, *(percent(errors[task][name]) for task in TASKS)]
            for name, label in ROWS.items()
        ],
        title=f"Errors of {NEIGHBORS} nearest neighbors",
    )
    for name, task in TASKS.items():
        tell(f"{task[0].upper()}{task[1:]}: {verdicts[name]}")
    tell(learned)
    tell(f"Report: {out}")
