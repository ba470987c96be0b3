"""The demo: learn what it costs to move ink between pixels.

An 8 x 8 image of a digit is a histogram of ink over 64 pixels. Under which metric
between pixels are images of the same digit close, and images of different digits far
apart? With only five images of each digit to learn from, there is something to gain;
and because one draw of them may be lucky, the demo draws many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from .. import EMDNeighbors, GroundMetricLearning
from .._progress import progress_bar
from .._words import percent
from ..base._votes import votes
from ..datasets import load_digits_histograms
from ..experiments.choice import available_learners
from ..experiments.names import LABELS
from ._evaluation import Data, Evaluation, evaluate, judge_data
from ._repeated import Repeated
from ._write import judge_features, write_evaluation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

__all__ = ["LABELS", "Data", "costs_of_ink", "lesson", "measure", "write_demo"]

DIGITS = (3, 5, 8)  # which look alike
N_EACH = 5  # images of each digit to learn from
N_TEST = 250
N_SPLITS = 20
N_NEIGHBORS = 3
SEED = 0
SIDE = 8
# These would take longer than everything else together.
SLOW = ("chi2-lmnn", "gml-smoothed")
WRITERS = (
    "Images are drawn at random, so the same people wrote the digits to learn from and "
    "to test on; expect more errors on new writers."
)

Floats = NDArray[np.float64]


def write_demo(
    path: Path, *, n_jobs: int, progress: bool
) -> tuple[Repeated, list[str]]:
    """Learn from digits, and write a report; return the errors, and notes on them."""
    others = available_learners(N_EACH)
    fast = [name for name in others.names if name not in SLOW]
    repeated, first = measure(
        DIGITS,
        N_EACH,
        n_splits=N_SPLITS,
        learners=fast,
        jobs=n_jobs,
        progress=progress,
    )
    pixels = judge_features(None, (SIDE, SIDE), SIDE * SIDE)
    notes = [lesson(first.learner.metric_, first.data, pixels[0]), WRITERS]
    notes += [others.skipped] if others.skipped else []
    origin = {
        "command": "groundmetric demo",
        "data": f"scikit-learn's digits, {N_SPLITS} random splits with seed {SEED}",
    }
    write_evaluation(
        path,
        first,
        pixels,
        "Handwritten digits",
        SEED,
        origin=origin,
        section=repeated.section(notes),
    )
    return repeated, notes


def measure(
    digits: Iterable[int],
    n_each: int,
    *,
    n_splits: int,
    jobs: int | None,
    learners: Sequence[str] = (),
    progress: bool = False,
) -> tuple[Repeated, Evaluation]:
    """Learn from a few images of each digit in many splits; keep the first in full.

    The other learners are names of methods.
    """
    data = load_digits_histograms(digits)
    n, n_train = len(data.y), n_each * len(np.unique(data.y))
    n_test = min(N_TEST, n - n_train)
    splits = StratifiedShuffleSplit(
        n_splits, train_size=n_train, test_size=n_test, random_state=SEED
    )
    found: list[Evaluation] = []
    with progress_bar(
        n_splits, label="random splits", show=progress, unit="split"
    ) as report:
        for train, test in splits.split(data.X, data.y):
            drawn = data.X[train], data.y[train], data.X[test], data.y[test]
            found.append(_learn(judge_data(*drawn, SEED), jobs, learners))
            if report is not None:
                report(len(found))
    pixels = {"pixels": [_pixel_error(one.data, jobs) for one in found]}
    ratio = n_test / (n - n_test)
    return Repeated.of(found, ratio=ratio, others=pixels), found[0]


def _learn(data: Data, jobs: int | None, learners: Sequence[str]) -> Evaluation:
    learner = GroundMetricLearning(n_jobs=jobs)
    return evaluate(
        learner, data, n_neighbors=N_NEIGHBORS, n_jobs=jobs, learners=learners
    )


def _pixel_error(data: Data, jobs: int | None) -> float:
    """Share of errors under the distances between pixels in the image."""
    places = np.indices((SIDE, SIDE)).reshape(2, -1).T
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    search = EMDNeighbors(apart, n_neighbors=N_NEIGHBORS, n_jobs=jobs).fit(data.train)
    nearest = np.asarray(search.kneighbors(data.test, return_distance=False))
    winners = votes(data.y[nearest], len(data.classes))[:, -1]
    return float((winners != data.z).mean())


def facts(repeated: Repeated) -> dict[str, Any]:
    """Collect the results, for JSON."""
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
    """Say in a sentence where ink costs most, and which digits have any there."""
    cost = costs_of_ink(metric, data)
    pixel = int(cost.argmax())
    shares = [float(data.train[data.y == k, pixel].mean()) for k in np.unique(data.y)]
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    dear = cost.max() / cost[cost > 0].mean()
    with_most, with_least = data.classes[most], data.classes[least]
    return (
        f"What was learned: it costs most to bring ink to {names[pixel]} "
        f"(counted from 0), {dear:.1f} times the average. Digit {with_most} has "
        f"{percent(shares[most])} of its ink there, digit {with_least} "
        f"{percent(shares[least])}."
    )


def costs_of_ink(metric: Floats, data: Data) -> Floats:
    """Return the mean cost of bringing the ink of a digit to each pixel."""
    ink = data.train.mean(axis=0)
    cost: Floats = metric @ ink
    cost[ink < ink.mean() / 2] = 0.0  # too little ink to learn from
    return cost
