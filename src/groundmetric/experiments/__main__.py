"""Run the paper's experiments: ``python -m groundmetric.experiments FILE``.

FILE is an .npz with arrays X (histograms in rows) and y (labels), and perhaps
class_names, which y numbers. Without it, a small version runs on scikit-learn's digits.
Figures that have as many classes share an experiment, and so their common methods.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_digits

from .frames import export_results
from .methods import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, METHODS
from .protocol import binary_tasks
from .runner import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Methods, and N, for each figure.
FIGURES = {1: (FIGURE_1, 25), 2: (FIGURE_2, 25), 3: (FIGURE_3, 10), 4: (FIGURE_4, 10)}
SMALL = 2  # N for digits


def load(path: str | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read histograms and labels."""
    if path is None:
        digits, numbers = load_digits(return_X_y=True)
        return digits, numbers
    try:
        with np.load(path, allow_pickle=False) as file:
            X, y = file["X"], file["y"]
            names = file.get("class_names")
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} has no arrays X and y: {error}.") from error
    return X, y if names is None else names[y]


def experiments(options: argparse.Namespace, most: int) -> dict[int, list[str]]:
    """Methods to run for each N; at most so many, if the user names none."""
    found: dict[int, dict[str, None]] = {}
    for figure in options.figure:
        methods, n_classes = FIGURES[figure]
        usual = SMALL if options.data is None else min(n_classes, most)
        chosen = found.setdefault(options.classes or usual, {})
        chosen.update(dict.fromkeys(options.methods or methods))
    return {n: list(methods) for n, methods in found.items()}


def parser() -> argparse.ArgumentParser:
    """Describe the command."""
    out = argparse.ArgumentParser(
        "python -m groundmetric.experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = out.add_argument
    add("data", nargs="?", metavar="FILE")
    add("--figure", type=int, nargs="+", default=[1], choices=list(FIGURES),
        help="figures of the paper; default 1")  # fmt: skip
    add("--classes", type=int, metavar="N",
        help="for N x N tasks; 25 or 10 as in the paper, or all there are")  # fmt: skip
    add("--seed", type=int, default=0, help="for drawing tasks; default 0")
    add("--methods", nargs="+", choices=list(METHODS), metavar="NAME",
        help="instead of those of the figure: " + ", ".join(METHODS))  # fmt: skip
    add("--svm", action="store_true", help="train support vector machines, too")
    add("--out", default="results.sqlite", help="results file; default %(default)s")
    add("--experiment", help="a name for the rows; by default that of FILE and N x N")
    add("--n-jobs", type=int, help="tasks at a time; default 1")
    add("--export", metavar="PARQUET", help="write all results out as parquet, too")
    add("--quiet", action="store_true", help="show no bar")
    return out


def main(arguments: list[str] | None = None) -> None:
    """Run what the arguments say."""
    options = parser().parse_args(arguments)
    X, y = load(options.data)
    stem = "digits" if options.data is None else Path(options.data).stem
    for n, methods in experiments(options, np.unique(y).size // 2).items():
        name = options.experiment or f"{stem}/{n}x{n}-seed{options.seed}"
        n_rows = run(
            X,
            y,
            tasks=binary_tasks(y, n_classes=n, seed=options.seed),
            methods=methods,
            path=options.out,
            experiment=name,
            svm=options.svm,
            n_jobs=options.n_jobs,
            verbose=0 if options.quiet else 1,
        )
        print(f"{name}: {n_rows} new rows in {options.out}")  # noqa: T201 - a command
    if options.export:
        export_results(options.out, options.export)


if __name__ == "__main__":
    main()
