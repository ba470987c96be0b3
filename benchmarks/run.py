"""Print one table of ratios: ``make bench`` or ``make bench DATA=file.npz``."""

import argparse
from pathlib import Path

import cone
import learning
import neighbors
import numpy as np
import tables
import transport
from measure import print_header, print_machine, print_rows

PARTS = ("transport", "cone", "tables", "learning", "neighbors")


def load(path: Path | None) -> tuple[np.ndarray, np.ndarray, str]:
    """Labeled histograms with 128 bins: arrays X and y of a file, or made ones."""
    if path is None:
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(20), 100)
        shapes = rng.gamma(1.0, size=(20, 128))
        X, name = rng.gamma(shapes[y]), "made: gamma histograms of 20 classes"
    else:
        with np.load(path, allow_pickle=False) as file:
            X, y, name = file["X"].astype(float), file["y"], path.name
    return X / X.sum(axis=1, keepdims=True), y, name


def main() -> None:
    """Measure everything, or the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="an .npz file with arrays X and y")
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    X, y, name = load(options.data)
    print_machine()
    print(f"Histograms: {name}, {X.shape[0]} x {X.shape[1]}\n")
    print_header()
    if options.only in (None, "transport"):
        print_rows(transport.rows(X))
    if options.only in (None, "cone"):
        print_rows(cone.rows(X, y))
    if options.only in (None, "tables"):
        print_rows(tables.rows(X))
    if options.only in (None, "learning"):
        print_rows(learning.rows(X, y))
    if options.only in (None, "neighbors"):
        print_rows(neighbors.rows(X, y))
    if options.only in (None, "transport"):
        print("\n" + transport.memory_line(X, np.random.default_rng(0)))
    if options.only in (None, "cone"):
        print("\n" + cone.memory_line())
    if options.only in (None, "learning"):
        learning.print_scaling()


if __name__ == "__main__":
    main()
