"""``groundmetric demo``: learn what it costs to move ink between pixels.

An 8 x 8 image of a digit is a histogram of ink over 64 pixels. Under which metric
between pixels are the images of a digit near each other, and far from other digits?
Five images of each digit are few, so that there is something to gain; and because a
single draw of them may be lucky, the demo draws many.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from .. import EMDNeighbors, GroundMetricLearning
from .._progress import progress_bar
from .._words import percent
from ..datasets import load_digits_histograms
from ..experiments import resampled_mean
from ..experiments.measures import votes
from ..report._evaluation import (
    LABELS,
    Data,
    Evaluation,
    evaluate,
    in_a_sentence,
    judge_data,
)
from ..report._repeated import COLUMNS, Repeated
from ..report._verdict import Gain
from ..report._write import judge_features, write_evaluation
from ._console import emit, note, print_table, shows_progress, tell
from ._options import Jobs, Json, Output, examples
from ._output import judged

EPILOG = examples("groundmetric demo", "groundmetric demo --out digits.html --json")
N_EACH = 5  # images of each digit to learn from
N_TEST = 250
N_SPLITS = 20
N_NEIGHBORS = 3
SEED = 0
SIDE = 8
WRITERS = (
    "Images are drawn at random, so the same people wrote the digits to learn from and "
    "to test on; expect more errors on new writers."
)

Floats = NDArray[np.float64]


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

    A metric between pixels, from five images of each digit, in twenty random splits: a
    table of errors, and a report. Takes about half a minute.
    """
    note(
        f"Learning what it costs to move ink between {SIDE * SIDE} pixels, from "
        f"{N_EACH} images of each digit, in {N_SPLITS} random splits."
    )
    repeated, first = measure(range(10), N_EACH, n_splits=N_SPLITS, jobs=jobs)
    pixels = judge_features(None, (SIDE, SIDE), SIDE * SIDE)
    notes = [lesson(first.learner.metric_, first.data, pixels[0]), WRITERS]
    origin = {
        "command": "groundmetric demo",
        "data": f"scikit-learn's digits, {N_SPLITS} random splits with seed {SEED}",
    }
    write_evaluation(
        out,
        first,
        pixels,
        "Handwritten digits",
        SEED,
        origin=origin,
        section=repeated.section(notes),
    )
    if json:
        emit({**facts(repeated), "notes": notes, "report": out})
    else:
        _print(repeated, notes, out)


def measure(
    digits: Iterable[int], n_each: int, *, n_splits: int, jobs: int
) -> tuple[Repeated, Evaluation]:
    """Learn from some images of each digit, again and again; the first in detail."""
    data = load_digits_histograms(digits)
    n, n_train = len(data.y), n_each * len(np.unique(data.y))
    n_test = min(N_TEST, n - n_train)
    splits = StratifiedShuffleSplit(
        n_splits, train_size=n_train, test_size=n_test, random_state=SEED
    )
    found: list[Evaluation] = []
    label, show = "random splits", shows_progress()
    with progress_bar(n_splits, label=label, show=show, unit="split") as report:
        for train, test in splits.split(data.X, data.y):
            drawn = data.X[train], data.y[train], data.X[test], data.y[test]
            found.append(_learn(judge_data(*drawn, SEED), jobs))
            if report is not None:
                report(len(found))
    at = N_NEIGHBORS - 1
    judged = [one.judged for one in found]
    errors = {
        name: [float(one[name].errors[at]) for one in judged] for name in judged[0]
    }
    recall = {
        name: [float(one[name].recall[at]) for one in judged] for name in judged[0]
    }
    errors["pixels"] = [_pixel_error(one.data, jobs) for one in found]
    gains = gains_of(errors, ratio=n_test / (n - n_test))
    return Repeated(errors, recall, gains, N_NEIGHBORS, n_train, n_test), found[0]


def _learn(data: Data, jobs: int) -> Evaluation:
    learner = GroundMetricLearning(n_jobs=jobs).fit(data.train, data.labels)
    return evaluate(learner, data, n_neighbors=N_NEIGHBORS, n_jobs=jobs)


def _pixel_error(data: Data, jobs: int) -> float:
    """Share of errors if pixels are as far apart as they lie in the image."""
    places = np.indices((SIDE, SIDE)).reshape(2, -1).T
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    search = EMDNeighbors(apart, n_neighbors=N_NEIGHBORS, n_jobs=jobs).fit(data.train)
    nearest = np.asarray(search.kneighbors(data.test, return_distance=False))
    winners = votes(data.y[nearest], len(data.classes))[:, -1]
    return float((winners != data.z).mean())


def gains_of(errors: Mapping[str, Sequence[float]], ratio: float) -> dict[str, Gain]:
    """Compare the learned metric with each other distance, split by split."""
    learned = errors["learned"]
    gains = {}
    for name in [name for name in errors if name != "learned"]:
        found = resampled_mean(np.subtract(errors[name], learned), ratio=ratio)
        # If splits do not differ, they do not tell how sure the mean is.
        low, high = (
            (-1.0, 1.0)
            if math.isnan(found.low)
            else (max(-1.0, found.low), min(1.0, found.high))
        )
        means = float(np.mean(learned)), float(np.mean(errors[name]))
        gains[name] = Gain(in_a_sentence(name), *means, low, high)
    return gains


def facts(repeated: Repeated) -> dict[str, Any]:
    """Collect what was measured, for JSON."""
    saved = {
        name: {"mean": gain.gain, "low": gain.low, "high": gain.high}
        for name, gain in repeated.gains.items()
    }
    return {
        "n_train": repeated.n_train,
        "n_test": repeated.n_test,
        "n_splits": repeated.n_splits,
        "n_neighbors": repeated.n_neighbors,
        "errors": repeated.errors,
        "recall": repeated.recall,
        "saved": saved,
        "verdict": " ".join([repeated.headline(), *repeated.sentences()]),
    }


def lesson(metric: Floats, data: Data, names: Sequence[str]) -> str:
    """Say in a sentence where ink is dearest, and which digits have any there."""
    cost = costs_of_ink(metric, data)
    pixel = int(cost.argmax())
    shares = [float(data.train[data.y == k, pixel].mean()) for k in np.unique(data.y)]
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    dear = cost.max() / cost[cost > 0].mean()
    with_most, with_least = data.classes[most], data.classes[least]
    return (
        f"What was learned: of all pixels, ink costs most to bring to {names[pixel]} "
        f"(counted from 0), {dear:.1f} times the average. Digit {with_most} has "
        f"{percent(shares[most])} of its ink there, digit {with_least} "
        f"{percent(shares[least])}."
    )


def costs_of_ink(metric: Floats, data: Data) -> Floats:
    """Tell what it costs to bring the ink of a digit to each pixel, on average."""
    ink = data.train.mean(axis=0)
    cost: Floats = metric @ ink
    cost[ink < ink.mean() / 2] = 0.0  # where there is hardly any, nothing was learned
    return cost


def _print(repeated: Repeated, notes: Sequence[str], out: Path) -> None:
    print_table(
        ["Distance", *COLUMNS],
        [[LABELS[name], *cells] for name, cells in repeated.rows().items()],
    )
    for text in [repeated.headline(), *repeated.sentences(), *notes]:
        tell(text)
    tell(f"Report: {out}")
