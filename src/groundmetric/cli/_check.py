"""``groundmetric check``: whether a matrix is a metric, and where it is not."""

from typing import Any

import numpy as np
import typer

from .. import is_metric, metric_violations, validation
from .. import triangle_violation as worst_of
from ..datasets._matrix import load_square
from ._command import command
from ._console import emit, print_table
from ._options import Json, Matrix

ROUNDING = 1e-12  # of the largest entry, by default
BROKEN = {
    "diagonal": "its diagonal differs from zero",
    "asymmetry": "its halves differ",
    "triangle_violation": "it violates the triangle inequality",
}


@command(
    "groundmetric check distances.csv",
    "groundmetric check distances.npy --tol 1e-6 --json",
    "groundmetric check m.csv > /dev/null && echo a metric",
)
def check(
    matrix: Matrix, *, tol: float | None = None, worst: int = 10, json: Json = False
) -> None:
    """Check whether a matrix is a metric, and list where it is not.

    Exits with 0 if it is a metric, 1 if it is not, and 2 if the input is invalid.

    Parameters
    ----------
    tol
        Violation to accept; by default 1e-12 of the largest entry.
    worst
        Violated triangles to list.
    """
    values, names, _ = load_square(matrix)
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
        for name, what in BROKEN.items()
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
