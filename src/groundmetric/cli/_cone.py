"""``groundmetric project`` and ``groundmetric check``: matrices and the metric cone."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from typer import Option

from .. import is_metric, metric_violations, project_metric, validation
from .. import triangle_violation as worst_of
from ..datasets._matrix import NamedMatrix, load_matrix
from ._command import command
from ._console import emit, note, print_table, shows_progress
from ._options import Jobs, Json, Matrix, Output
from ._output import write_matrix

ROUNDING = 1e-12  # of the largest entry, by default


@command(
    "groundmetric project noisy.csv --out metric.csv",
    "groundmetric project - < noisy.csv > metric.csv",
)
def project(
    matrix: Matrix,
    *,
    out: Annotated[
        Path | None,
        Option(help="Write .csv or .npy instead of CSV on standard output."),
        Output((".csv", ".npy")),
    ] = None,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Find the nearest metric to a matrix.

    Nearest in the Frobenius norm, to any real matrix.
    """
    given = _read(matrix)
    found = project_metric(given.values, n_jobs=jobs, verbose=int(shows_progress()))
    if out is not None or not json:
        write_matrix(found.metric, out, columns=given.columns, rows=given.rows)
    facts = {
        "distance": found.distance,
        "residual": found.residual,
        "converged": found.converged,
        "n_rounds": found.n_iter,
    }
    if json:
        emit(facts | ({"metric": found.metric} if out is None else {"out": out}))
    else:
        note(
            f"the nearest metric is {found.distance:.6g} away (Frobenius norm), proven "
            f"to {found.residual:.1e} of its own norm"
        )


@command(
    "groundmetric check distances.csv",
    "groundmetric check distances.npy --tol 1e-6 --json",
    "groundmetric check m.csv > /dev/null && echo a metric",
)
def check(
    matrix: Matrix,
    *,
    tol: Annotated[
        float | None,
        Option(
            help=f"Violation to accept; by default {ROUNDING} of the largest entry."
        ),
    ] = None,
    worst: Annotated[int, Option(help="Violated triangles to list.")] = 10,
    json: Json = False,
) -> None:
    """Check whether a matrix is a metric, and list where it is not.

    Exits with 0 if it is a metric, 1 if it is not, and 2 if the input is invalid.
    """
    values, names, _ = _read(matrix)
    if tol is None:
        slack = ROUNDING * float(np.abs(values).max())
    else:
        slack = validation.as_number(tol, "--tol", low=0.0)
    violations = metric_violations(values, max_items=worst)
    found: dict[str, Any] = {
        "is_metric": is_metric(values, tol=slack),
        "diagonal": np.abs(np.diag(values)).max(),
        "asymmetry": np.abs(values - values.T).max(),
        "triangle_violation": worst_of(values),
        "tol": slack,
        "worst_triangles": [one._asdict() for one in violations if one.amount > slack],
    }
    if json:
        emit(found)
    elif found["is_metric"]:
        typer.echo("A metric: zero diagonal, symmetric, triangle inequality.")
    else:
        _complain(found, names or range(len(values)))
    if not found["is_metric"]:
        raise typer.Exit(1)


def _complain(found: dict[str, Any], names: Any) -> None:
    broken = [
        f"{what} by {found[name]:.6g}"
        for name, what in (
            ("diagonal", "its diagonal differs from zero"),
            ("asymmetry", "its halves differ"),
            ("triangle_violation", "it violates the triangle inequality"),
        )
        if found[name] > found["tol"]
    ]
    typer.echo(f"Not a metric: {', '.join(broken)} at most.")
    rows = [
        [*(str(names[one[i]]) for i in "ijk"), f"{one['amount']:.6g}"]
        for one in found["worst_triangles"]
    ]
    if rows:
        titles = ["i", "j", "k", "M[i,j] - M[i,k] - M[k,j]"]
        print_table(titles, rows, title="Worst triangles")


def _read(path: str) -> NamedMatrix:
    given = load_matrix(path)
    try:
        return given._replace(values=validation.as_square(given.values, "the matrix"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
