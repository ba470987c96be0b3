"""Draw the paper's figures: ``python -m groundmetric.plotting RESULTS --figure 1``.

RESULTS is a results file, .sqlite or .parquet, that ``python -m
groundmetric.experiments`` wrote.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ..experiments import read_results
from ..experiments.inference import INTERVALS
from .figures import FIGURES, paper_figures

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> argparse.ArgumentParser:
    """Describe the command."""
    out = argparse.ArgumentParser(
        "python -m groundmetric.plotting",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = out.add_argument
    add("results", metavar="RESULTS")
    add("--figure", type=int, nargs="+", default=[1], choices=list(FIGURES),
        help="figures of the paper; default 1")  # fmt: skip
    add("--out", default="figures", help="folder to write to; default %(default)s")
    add("--experiment", help="name of the experiment, if the file has several")
    add("--methods", nargs="+", metavar="NAME", help="instead of those of the figure")
    add("--method", help="to be compared with the best other one")
    add("--interval", choices=list(INTERVALS), default="tasks",
        help="what the bands are made of; default %(default)s")  # fmt: skip
    return out


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, and say what was written."""
    command = parser()
    options = command.parse_args(arguments)
    try:
        results = read_results(options.results)
        for figure in options.figure:
            for path in paper_figures(
                results,
                options.out,
                figure=figure,
                experiment=options.experiment,
                methods=options.methods,
                method=options.method,
                interval=options.interval,
            ):
                sys.stdout.write(f"{path}\n")
    except (OSError, ValueError) as error:
        command.error(str(error))


if __name__ == "__main__":
    main()
