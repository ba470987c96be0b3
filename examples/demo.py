"""Learn a metric between pixels from handwritten digits.

An 8 x 8 image is a histogram of ink over 64 pixels. What does it cost to move ink from
one pixel to another? First what they are apart, then what tells digits apart. Run it
with ``make demo``.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm

N_TRAIN = 40
SHADES = " .:-=+*#"


def pixel_metric(side: int) -> np.ndarray:
    """Euclidean distances between the pixels of a square image."""
    grid = np.stack(np.meshgrid(range(side), range(side), indexing="ij"), axis=-1)
    return pairwise_distances(grid.reshape(-1, 2).astype(float))


def draw(*images: np.ndarray) -> None:
    """Print images side by side."""
    for rows in zip(*(image.reshape(8, 8) for image in images), strict=True):
        lines = ["".join(2 * SHADES[int(x * 7 / 16)] for x in row) for row in rows]
        print("   " + "   ".join(lines))


def main() -> None:
    """Show one plan, a table of distances, and what learning a metric is worth."""
    images, labels = load_digits(return_X_y=True)
    X = images / images.sum(axis=1, keepdims=True)
    metric = pixel_metric(8)

    first = [int(np.flatnonzero(labels == digit)[0]) for digit in range(10)]
    four, nine = first[4], first[9]
    t = gm.transport(X[four], X[nine], metric)
    moved = t.flow[t.rows != t.cols]
    print("Two of scikit-learn's digits, as histograms of ink over 64 pixels:\n")
    draw(images[four], images[nine])
    print(
        f"\ntransport(): to turn the one into the other, move {moved.sum():.0%} of the "
        f"ink\nalong {moved.size} arcs, {t.value / moved.sum():.2f} pixels on average: "
        f"distance {t.value:.4f}.\nProved optimal: no plan costs "
        f"less than {t.value - t.duality_gap:.4f}.\n"
    )

    print("pairwise_emd(): the first image of each digit\n")
    table = gm.pairwise_emd(X[first], metric=metric)
    print("      " + "".join(f"{digit:6d}" for digit in range(10)))
    for digit, row in enumerate(table):
        print(f"{digit:6d}" + "".join(f"{value:6.2f}" for value in row))

    print(
        "\nGroundMetricLearning: is there a better metric to tell fours from nines?\n"
    )
    keep = np.flatnonzero((labels == 4) | (labels == 9))  # noqa: PLR2004
    train, test = keep[:N_TRAIN], keep[N_TRAIN:]
    learner = gm.GroundMetricLearning(n_jobs=-1)
    start = time.perf_counter()
    learner.fit(X[train], labels[train])
    seconds = time.perf_counter() - start
    criterion = learner.path_.column("criterion")
    print(
        f"   {learner.n_iter_} steps in {seconds:.1f} s on {N_TRAIN} digits; the "
        f"criterion went from {criterion[0]:.1e} to {criterion.min():.1e}.\n"
        f"   Errors of 3 nearest neighbors on the other {len(test)}:\n"
    )
    distances = {
        "l1": lambda a, b: pairwise_distances(a, b, metric="l1"),
        "EMD, pixels as far apart as they look": lambda a, b: gm.pairwise_emd(
            a, b, metric=metric, n_jobs=-1
        ),
        "EMD, learned metric": learner.pairwise,
    }
    for name, distance in distances.items():
        classifier = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
        classifier.fit(distance(X[train], X[train]), labels[train])
        error = 1 - classifier.score(distance(X[test], X[train]), labels[test])
        print(f"   {name:38s} {error:6.1%}")


if __name__ == "__main__":
    main()
