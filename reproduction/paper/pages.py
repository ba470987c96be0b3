"""Figures of the paper as files, each with tables of the numbers that it shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from groundmetric import _files

from .figures import FIGURES, figure_methods, figure_pairs, paper_figures
from .origin import told
from .tables import comparison_table, summary_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

__all__ = ["draw_pages", "of_experiment", "page_files", "require_drawable"]

MEASURES = ("knn_errors", "recall", "svm_error")
SUFFIXES = (".png", ".svg", ".md")


def of_experiment(results: pd.DataFrame, name: str | None) -> pd.DataFrame:
    """Select the rows of an experiment; without a name, of the only one."""
    there = sorted(set(results["experiment"]))
    if name is None and len(there) != 1:
        raise ValueError(
            f"there are {len(there)} experiments, {', '.join(there)}: name one with "
            "--experiment."
        )
    if name is not None and name not in there:
        raise ValueError(
            f"--experiment is {name!r}; the results have {', '.join(there)}."
        )
    return results[results["experiment"] == (name or there[0])]


def page_files(experiment: str, figures: Sequence[int], folder: Path) -> list[Path]:
    """List the files that :func:`draw_pages` writes, named after the experiment."""
    stem = re.sub(r"[^\w.+-]+", "-", experiment).strip("-.") or "experiment"
    return [
        folder / f"{stem}-figure{number}{suffix}"
        for number in dict.fromkeys(figures)
        for suffix in SUFFIXES
    ]


def draw_pages(
    results: pd.DataFrame,
    folder: Path,
    figures: Sequence[int],
    *,
    methods: Sequence[str] | None = None,
    compare: str | None = None,
    interval: str = "tasks",
) -> list[Path]:
    """Draw figures of one experiment, and write their tables; return the files."""
    experiment = results["experiment"].iloc[0]
    # Tabulating all figures finds what is wrong with any before a file is written.
    texts = {
        number: _tables(results, number, methods, compare)
        for number in dict.fromkeys(figures)
    }
    for number, text in texts.items():
        page = page_files(experiment, [number], folder)[-1]
        paper_figures(
            results,
            folder,
            figure=number,
            methods=methods,
            method=compare,
            interval=interval,
            name=page.stem,
        )
        _files.write_text(page, text)
    return page_files(experiment, figures, folder)


def _tables(
    results: pd.DataFrame,
    figure: int,
    methods: Sequence[str] | None,
    compare: str | None,
) -> str:
    """Tabulate all methods of a figure, and its comparisons, in Markdown."""
    names = figure_methods(results, figure, methods)
    require_drawable(names, figure, compare)
    compared = dict.fromkeys(m for m, _ in figure_pairs(names, figure, compare))
    rows = results[results["method"].isin(names)]
    measures = MEASURES if rows["svm_error"].notna().all() else MEASURES[:-1]
    parts = [f"# {FIGURES[figure].title}", summary_table(results, methods=names)]
    parts.append(told(rows))
    parts += [
        comparison_table(results, method, measure=measure, methods=names)
        for method in compared
        for measure in measures
    ]
    return "\n\n".join(parts) + "\n"


def require_drawable(methods: Sequence[str], figure: int, compare: str | None) -> None:
    """Reject methods of which a figure compares no two, and name the options."""
    try:
        figure_pairs(methods, figure, compare)
    except ValueError as error:
        asked = "" if compare is None else f" with --compare {compare}"
        raise ValueError(
            f"figure {figure} cannot be drawn from {', '.join(methods)}{asked}: there "
            "is nothing to compare. Name a method with --compare, and others to "
            "compare it with as --method."
        ) from error
