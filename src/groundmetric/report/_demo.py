"""The demo: learn what it costs to move ink between pixels.

An 8 x 8 image of a digit is a histogram of ink over 64 pixels. Under which metric
between pixels are images of the same digit close, and images of different digits far
apart? With only five images of each digit to learn from, there is something to gain;
and because one draw of them may be lucky, the demo draws many: training sets without a
common image, all tested on the same other images.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import GroundMetricLearning, pairwise_emd
from ..datasets import load_digits_histograms
from ..experiments.choice import available_learners
from ..experiments.methods import Method
from ..experiments.names import LABELS
from ..experiments.splits import Data, split_data
from ._evaluation import Evaluation, evaluate
from ._lesson import with_stability
from ._page import Extras
from ._write import as_features, write_evaluation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ..experiments.methods import Pairwise

__all__ = ["costs_of_ink", "data_of", "measure", "write_demo"]

DIGITS = (3, 5, 8)  # which look alike
N_EACH = 5  # images of each digit to learn from
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
) -> tuple[Evaluation, list[str]]:
    """Learn from digits, and write a report; return the errors, and notes on them."""
    data = data_of(DIGITS, N_EACH)
    others = available_learners(data.design)
    fast = [name for name in others.names if name not in SLOW]
    found = measure(data, jobs=n_jobs, learners=fast, progress=progress)
    pixels = as_features(None, (SIDE, SIDE), SIDE * SIDE)
    found = with_stability(found, seed=SEED, n_jobs=n_jobs, verbose=int(progress))
    notes = [found.lesson(pixels[0]), WRITERS]
    notes += [others.skipped] if others.skipped else []
    origin = {
        "command": "groundmetric demo",
        "data": f"scikit-learn's digits, {N_SPLITS} training sets with seed {SEED}",
    }
    extras = Extras("Handwritten digits", SEED, sentences=notes, origin=origin)
    write_evaluation(path, found, pixels, extras)
    return found, notes


def data_of(digits: Iterable[int], n_each: int) -> Data:
    """Draw training sets with a few images of each digit."""
    data = load_digits_histograms(digits)
    n_train = n_each * len(np.unique(data.y))
    repeats = N_SPLITS // 5  # of five folds
    return split_data(data.X, data.y, n_train=n_train, n_repeats=repeats, seed=SEED)


def measure(
    data: Data,
    *,
    jobs: int | None,
    learners: Sequence[str] = (),
    progress: bool = False,
) -> Evaluation:
    """Learn from all training sets; the other learners are names of methods."""
    pixels = Method("pixels", LABELS["pixels"], {}, _pixels)
    return evaluate(
        GroundMetricLearning(),
        data,
        n_neighbors=N_NEIGHBORS,
        n_jobs=jobs,
        learners=learners,
        others=[pixels],
        verbose=int(progress),
    )


def _pixels(_X: Floats, _y: NDArray[Any], n_jobs: int | None) -> Pairwise:
    """Take the distances between pixels in the image."""
    places = np.indices((SIDE, SIDE)).reshape(2, -1).T
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    return partial(pairwise_emd, metric=apart, n_jobs=n_jobs)


def costs_of_ink(metric: Floats, data: Data) -> Floats:
    """Return the mean cost of bringing the ink of a digit to each pixel."""
    ink = data.train.mean(axis=0)
    cost: Floats = metric @ ink
    cost[ink < ink.mean() / 2] = 0.0  # too little ink to learn from
    return cost
