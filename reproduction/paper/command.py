"""``python reproduction``: run the experiments, and draw the figures (section 7).

Everything that can be wrong with the options is found before anything is computed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from groundmetric import _files

from .data import load
from .frames import PARQUET, export_results, read_results
from .methods import as_methods
from .origin import told, versions
from .pages import draw_pages, of_experiment, require_drawable
from .plan import Request, eligible, plan
from .results import require_suffix
from .runner import MissingResultsError, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = ["main"]

SMALL = 2  # N for digits
NEEDED = ("metric_learn", "pyarrow")  # imported by those who use them
WRONG, INTERRUPTED = 2, 130  # exit codes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; errors that a user can fix are one line."""
    options = _parser().parse_args(arguments)
    options.figure = options.figure or [1]
    try:
        options.call(options)
    except (ValueError, OSError, ImportError, MissingResultsError) as error:
        sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
        return WRONG
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; run it again to resume\n")
        return INTERRUPTED
    return 0


def _run(options: Namespace) -> None:
    """Run the experiments of some figures, and draw them if asked to."""
    request = Request(
        options.figure,
        options.method,
        options.experiment,
        options.classes,
        options.multiclass,
        options.tasks,
        options.among,
        options.seed,
        options.train,
        options.test,
        options.neighbors,
        options.every,
        options.all_starts,
    )
    _require_sense(request, options)
    data = load(options.data)
    large, small = eligible(data.y, request, data.source)
    if small:
        sizes = ", ".join(f"{name} ({size})" for name, size in small.items())
        needed = sum(request.members)
        sys.stderr.write(
            f"left out, with fewer than {needed} histograms: {sizes}\n",
        )
    most = SMALL if options.data is None else None
    planned = plan(data.y, large, request, stem=data.stem, most=most)
    if options.draw is not None:
        options.draw.mkdir(parents=True, exist_ok=True)
    for one in planned:
        n_rows = run(
            data.X,
            data.y,
            tasks=one.tasks,
            methods=one.methods,
            path=options.out,
            experiment=one.name,
            n_neighbors=options.neighbors,
            svm=options.svm,
            n_jobs=options.jobs,
            verbose=int(sys.stderr.isatty()),
        )
        _say(f"{one.name}: {n_rows} new rows in {options.out}")
    if options.export is not None:
        export_results(options.out, options.export)
    if options.draw is not None:
        results = read_results(options.out)
        for one in planned:
            rows = of_experiment(results, one.name)
            _warn_of_versions(rows)
            names = {"methods": options.method, "compare": options.compare}
            _say(*draw_pages(rows, options.draw, one.figures, **names))


def _require_sense(request: Request, options: Namespace) -> None:
    """Reject what cannot be run, drawn or written, before data are read."""
    request.require_sense()
    if options.compare is not None and options.draw is None:
        raise ValueError("--compare is for figures; add --draw FOLDER.")
    if options.export is not None:
        require_suffix(options.export, (PARQUET,))
        _files.require_writable(options.export, "--export")
    for number in request.figures:
        names = request.methods_of(number)
        as_methods(dict.fromkeys(names))
        if options.draw is not None:
            require_drawable(names, number, options.compare)
    if absent := [name for name in NEEDED if find_spec(name) is None]:
        raise ImportError(
            f"{' and '.join(absent)} must be installed: "
            "pip install 'groundmetric[reproduction]'."
        )


def _figures(options: Namespace) -> None:
    """Draw figures of saved results, and tabulate their numbers."""
    results = of_experiment(read_results(options.results), options.experiment)
    _warn_of_versions(results)
    drawn = draw_pages(
        results,
        options.out,
        options.figure,
        methods=options.method,
        compare=options.compare,
        interval=options.interval,
    )
    _say(*drawn)


def _warn_of_versions(rows: pd.DataFrame) -> None:
    """Warn if rows are from several versions."""
    if len(versions(rows)) > 1:
        sys.stderr.write(f"warning: {told(rows)}\n")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text} is not a positive number")
    return int(text)


def _say(*lines: object) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _parser() -> ArgumentParser:
    """Declare the commands and their options."""
    parser = ArgumentParser("python reproduction", description="The paper's section 7.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    runs = commands.add_parser(
        "run",
        help="run the experiments",
        description="Run the paper's experiments. Run it again to resume after an "
        "interruption: tasks in the results file are not computed again.",
    )
    draws = commands.add_parser(
        "figures",
        help="draw the figures from results",
        description="Draw the paper's figures from results (.png and .svg), and "
        "tabulate their numbers (.md).",
    )
    for command, call in ((runs, _run), (draws, _figures)):
        command.set_defaults(call=call)
        _add_shared(command)
    _add_data(runs)
    _add_tasks(runs)
    draws.add_argument(
        "results", metavar="RESULTS", type=Path, help="a file that run has written"
    )
    draws.add_argument(
        "--out", type=Path, default=Path("figures"), help="a folder; by default figures"
    )
    draws.add_argument(
        "--interval",
        choices=("tasks", "classes"),
        default="tasks",
        help="whether bands show variation over tasks (the default) or classes",
    )
    return parser


def _add_shared(parser: ArgumentParser) -> None:
    """Add the options that say what is measured, and shown."""
    parser.add_argument(
        "--figure",
        metavar="N",
        type=int,
        choices=range(1, 5),
        action="append",
        help="a figure of the paper, 1 to 4; repeatable; 1 if none is given",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        action="append",
        help="a method, instead of those of the figure; repeatable",
    )
    parser.add_argument("--experiment", metavar="NAME", help="name of the experiment")
    parser.add_argument(
        "--compare", metavar="NAME", help="compare this method with the best other one"
    )


def _add_data(parser: ArgumentParser) -> None:
    """Add the options about files."""
    parser.add_argument(
        "data",
        metavar="DATA",
        type=Path,
        nargs="?",
        help="an .npz file with arrays X, y and optionally class_names; without it, a "
        "small version on scikit-learn's digits",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results.sqlite"),
        help="the results file; by default results.sqlite",
    )
    parser.add_argument("--export", type=Path, help="a .parquet file for all results")
    parser.add_argument(
        "--draw", metavar="FOLDER", type=Path, help="draw the figures into a folder"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="tasks to run at a time; -1 for one per processor",
    )


def _add_tasks(parser: ArgumentParser) -> None:
    """Add the options that say which tasks are drawn."""
    for name, default, text in (
        ("classes", None, "N, for N x N tasks; the paper's 25 or 10 if possible"),
        ("multiclass", None, "use tasks of N classes instead of two"),
        ("tasks", None, "number of tasks of N classes; by default 1"),
        ("every", 1, "run every N-th task only, as a preview"),
        ("train", 30, "histograms of each class to learn from; by default 30"),
        ("test", 40, "histograms of each class to test on, at most; by default 40"),
        ("neighbors", 20, "measure with 1 to N neighbors; by default 20"),
    ):
        parser.add_argument(
            f"--{name}", metavar="N", type=_count, default=default, help=text
        )
    parser.add_argument("--seed", type=int, default=0, help="seed of the random draws")
    parser.add_argument(
        "--class",
        dest="among",
        metavar="NAME",
        action="append",
        help="a class to draw from; repeatable; by default all that are large enough",
    )
    parser.add_argument(
        "--all-starts",
        action="store_true",
        help="with figure 3, run each k from each initial metric; takes hours more",
    )
    parser.add_argument(
        "--svm",
        action="store_true",
        help="also train support vector machines, which cannot be added later",
    )
