"""Print one table of ratios: ``make bench`` or ``make bench DATA=file.npz``."""

import argparse
from pathlib import Path

import numpy as np
import transport
from measure import print_machine, print_table


def load(path: Path | None) -> tuple[np.ndarray, str]:
    """Histograms with 128 bins: the file's array X, or made ones."""
    if path is None:
        X = np.random.default_rng(0).gamma(1.0, size=(2000, 128))
        return X / X.sum(axis=1, keepdims=True), "made: gamma(1) histograms"
    with np.load(path, allow_pickle=False) as file:
        X = file["X"].astype(float)
    return X / X.sum(axis=1, keepdims=True), path.name


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="an .npz file with an array X")
    X, name = load(parser.parse_args().data)
    print_machine()
    print(f"Histograms: {name}, {X.shape[0]} x {X.shape[1]}\n")
    print_table(list(transport.rows(X)))
    print("\n" + transport.memory_row(X, np.random.default_rng(0)))


if __name__ == "__main__":
    main()
