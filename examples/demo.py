"""Earth mover's distances between handwritten digits.

An 8 x 8 image is a histogram of ink over 64 pixels, and moving ink costs what the
pixels are apart. Run it with ``make demo``.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm

N_TRAIN, N_TEST = 200, 200
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
    """Show one plan, a table of distances, and nearest neighbors."""
    images, labels = load_digits(return_X_y=True)
    X = images / images.sum(axis=1, keepdims=True)
    metric = pixel_metric(8)

    first = [int(np.flatnonzero(labels == digit)[0]) for digit in range(10)]
    three, eight = first[3], first[8]
    t = gm.transport(X[three], X[eight], metric)
    moved = t.flow[t.rows != t.cols]
    print("Two of scikit-learn's digits, as histograms of ink over 64 pixels:\n")
    draw(images[three], images[eight])
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

    train, test = slice(N_TRAIN), slice(N_TRAIN, N_TRAIN + N_TEST)
    start = time.perf_counter()
    emd = gm.pairwise_emd(X[train], metric=metric, n_jobs=-1)
    emd_test = gm.pairwise_emd(X[test], X[train], metric=metric, n_jobs=-1)
    seconds = time.perf_counter() - start
    n_solved = N_TRAIN * (N_TRAIN - 1) // 2 + N_TEST * N_TRAIN
    print(
        f"\nThat pixels are as far apart as they look was only a guess. Is it good for "
        f"telling\ndigits apart? {n_solved:,} exact distances in {seconds:.1f} s, and "
        f"the errors of 3\nnearest neighbors on {N_TEST} test digits:\n"
    )
    l1 = pairwise_distances(X[train], metric="l1")
    l1_test = pairwise_distances(X[test], X[train], metric="l1")
    for name, fit, query in (("l1", l1, l1_test), ("EMD", emd, emd_test)):
        classifier = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
        error = 1 - classifier.fit(fit, labels[train]).score(query, labels[test])
        print(f"   {name:4s} {error:6.1%}")
    print(
        "\nNot yet. Learning a better metric from labels is what groundmetric is for."
    )


if __name__ == "__main__":
    main()
