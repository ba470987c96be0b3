"""The results of an experiment as Markdown tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundmetric import validation
from groundmetric._words import count
from paper.inference import (
    INTERVALS,
    Interval,
    has_halves,
    interval_of,
    sign_test,
)

from .aligned import CURVES, Aligned, align
from .summary import LESS_IS_BETTER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

Floats = NDArray[np.float64]

__all__ = ["comparison_table", "summary_table"]

ERRORS_AT = (1, 3, 5, 10, 20)
RECALL_AT = (5, 20)
OVERALL = "mean over kappa"
RECALL = "recall"
MISSING = "–"  # noqa: RUF001 - a dash, as in print


def summary_table(
    results: pd.DataFrame, *, methods: Iterable[str] | None = None
) -> str:
    """Tabulate the means of all measures over tasks, one row for each method.

    Rows are sorted by the k-NN error averaged over all kappa. The best share in each
    column is bold.

    Parameters
    ----------
    results : DataFrame
        Results of one experiment, a row for each task and method.
    methods : iterable of str, optional
        Names of methods; by default all in the results. Tasks that lack one of them
        are left out.

    Returns
    -------
    str
        A Markdown table, and a sentence that says what it shows.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.tables import summary_table
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "gml"], "task": 0,
    ...     "classes": "cat | cup", "knn_errors": [[0.25], [0.125]],
    ...     "recall": [[0.7], [0.9]], "svm_error": [None, 0.125],
    ...     "fit_seconds": [0.0, 1.5], "seconds": [0.1, 2.0],
    ... })
    >>> print(summary_table(results))
    | method | 1-NN error | mean over kappa | SVM error | learning (s) | all (s) |
    |:---|---:|---:|---:|---:|---:|
    | gml | **12.5** | **12.5** | **12.5** | 1.50 | 2.00 |
    | l1 | 25.0 | 25.0 | – | 0.00 | 0.10 |
    <BLANKLINE>
    Means over 1 task of pets; shares in %, the best bold; CPU seconds a task.
    """  # noqa: RUF002 - a dash, as in print
    names = None if methods is None else list(methods)
    errors = align(results, "knn_errors", methods=names)
    means = {
        measure: align(results, measure, methods=names).numbers.mean(axis=1)
        for measure in ("knn_errors", "recall", "svm_error", "fit_seconds", "seconds")
    }  # each of shape (n_methods, n_kappas)
    knn, recall = 100 * means["knn_errors"], 100 * means["recall"]
    columns = {
        **{f"{k}-NN error": knn[:, k - 1] for k in ERRORS_AT if k <= knn.shape[1]},
        OVERALL: knn.mean(axis=1),
        **{
            f"{RECALL} at {k}": recall[:, k - 1]
            for k in RECALL_AT
            if k <= recall.shape[1]
        },
        "SVM error": 100 * means["svm_error"][:, 0],
        "learning (s)": means["fit_seconds"][:, 0],
        "all (s)": means["seconds"][:, 0],
    }
    cells = [_printed(title, values) for title, values in columns.items()]
    order = np.argsort(columns[OVERALL], kind="stable")
    rows = [[errors.methods[i], *(column[i] for column in cells)] for i in order]
    note = (
        f"Means over {_tasks(errors)}; shares in %, the best bold; CPU seconds a task."
    )
    return f"{_markdown(['method', *columns], rows)}\n\n{note}"


def comparison_table(
    results: pd.DataFrame,
    method: str,
    *,
    measure: str = "knn_errors",
    kappa: int | None = None,
    methods: Iterable[str] | None = None,
) -> str:
    """Tabulate how a method compares with each of the others, task by task.

    The table has two 95 % intervals: Student's over tasks, which assumes that they are
    independent, and the wider one of a bootstrap over their classes (only if each task
    pairs a class from one half with a class from the other).

    Parameters
    ----------
    results : DataFrame
        Results of one experiment, a row for each task and method.
    method : str
        Name of the method.
    measure : {"knn_errors", "recall", "svm_error"}, default="knn_errors"
        What to compare.
    kappa : int, optional
        Number of neighbors; the mean over all of them by default.
    methods : iterable of str, optional
        Names of the method and its competitors; by default all in the results. Tasks
        that lack one of them are left out.

    Returns
    -------
    str
        A Markdown table, sorted from the strongest competitor to the weakest, and a
        sentence that says what it shows.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.tables import comparison_table
    >>> results = pd.DataFrame({
    ...     "experiment": "scenes", "method": 4 * ["l1"] + 4 * ["gml"],
    ...     "task": 2 * [0, 1, 2, 3], "classes": "sea | hill | street",
    ...     "svm_error": [0.3, 0.5, 0.3, 0.5, 0.2, 0.2, 0.2, 0.2],
    ... })
    >>> table = comparison_table(results, "gml", measure="svm_error")
    >>> for row in table.splitlines()[:3]:  # 4 tasks, so p = 2 / 2 ** 4
    ...     print(row)
    | gml against | difference | 95 %, tasks | won / tied / lost | p |
    |:---|---:|---:|---:|---:|
    | l1 | -20.00 | [-38.37, -1.63] | 4 / 0 / 0 | 0.12 |
    """
    aligned, what = _selected(results, measure, kappa, methods)
    aligned.require(method, "method")
    kinds = list(INTERVALS) if has_halves(aligned.classes) else ["tasks"]
    sign = -1 if measure in LESS_IS_BETTER else 1
    gains = {
        name: sign * (aligned.of(method) - aligned.of(name))  # (n_tasks, 1)
        for name in aligned.methods
        if name != method
    }
    rows = []
    for name in sorted(gains, key=lambda name: float(gains[name].mean())):
        difference = 100 * sign * gains[name]
        ends = [interval_of(difference, aligned.classes, kind) for kind in kinds]
        signs = sign_test(gains[name])
        record = f"{signs.wins[0]} / {signs.ties[0]} / {signs.losses[0]}"
        mean = _signed(difference.mean())
        rows.append([name, mean, *map(_ends, ends), record, f"{signs.p_value[0]:.2g}"])
    titles = [f"{method} against", "difference", *(f"95 %, {kind}" for kind in kinds)]
    note = (
        f"{what}, {method} minus the other, in percentage points "
        f"({'negative' if sign < 0 else 'positive'}: {method} is better), over "
        f"{_tasks(aligned)}. 95 %: {'; '.join(INTERVALS[kind] for kind in kinds)}. "
        "p: two-sided sign test without ties, as if tasks were independent."
    )
    return f"{_markdown([*titles, 'won / tied / lost', 'p'], rows)}\n\n{note}"


def _selected(
    results: pd.DataFrame,
    measure: str,
    kappa: int | None,
    methods: Iterable[str] | None,
) -> tuple[Aligned, str]:
    """One number for each method and task, and its name."""
    validation.require_one_of(measure, "measure", (*CURVES, "svm_error"))
    aligned = align(results, measure, methods=methods)
    if measure == "svm_error":
        if kappa is not None:
            raise ValueError("kappa must be left out if measure is 'svm_error'.")
        for name in aligned.methods:
            if np.isnan(aligned.of(name)).any():
                raise ValueError(f"results lacks svm_error for method {name!r}.")
        return aligned, "SVM error"
    n_kappas = aligned.numbers.shape[2]
    if kappa is not None and kappa not in range(1, n_kappas + 1):
        raise ValueError(f"kappa is {kappa!r}; results has 1 to {n_kappas}.")
    some = slice(None) if kappa is None else slice(kappa - 1, kappa)
    numbers = aligned.numbers[:, :, some].mean(axis=2, keepdims=True)
    at = f"mean over kappa = 1 to {n_kappas}" if kappa is None else f"kappa = {kappa}"
    what = "k-NN error" if measure == "knn_errors" else "Recall"
    return replace(aligned, numbers=numbers), f"{what} ({at})"


def _printed(title: str, values: Floats) -> list[str]:
    """Print a column, with the best share in bold; equal cells are ties."""
    seconds = title.endswith("(s)")
    cells = [MISSING if np.isnan(v) else f"{v:.{1 + seconds}f}" for v in values]
    if seconds or np.isnan(values).all():
        return cells
    best = np.nanargmax(values) if title.startswith(RECALL) else np.nanargmin(values)
    return [f"**{cell}**" if cell == cells[best] else cell for cell in cells]


def _ends(interval: Interval) -> str:
    low, high = interval.low[0], interval.high[0]
    return MISSING if np.isnan(low) else f"[{_signed(low)}, {_signed(high)}]"


def _signed(points: float) -> str:
    return f"{round(points, 2) + 0.0:+.2f}"  # no -0.00


def _tasks(aligned: Aligned) -> str:
    """Say how many tasks were used, and how many were left out."""
    text = count(aligned.n_tasks, "task")
    if aligned.n_incomplete:
        text += f" that have all methods ({aligned.n_incomplete} left out)"
    return f"{text} of {aligned.experiment}"


def _markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = "|:---" + "|---:" * (len(titles) - 1) + "|"
    first, *others = (f"| {' | '.join(cells)} |" for cells in (titles, *rows))
    return "\n".join([first, rule, *others])
