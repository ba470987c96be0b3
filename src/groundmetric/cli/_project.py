"""``groundmetric project``: the nearest metric to a matrix."""

from pathlib import Path
from typing import Annotated

from .. import project_metric
from ..datasets._matrix import load_square
from ._command import command
from ._console import emit, note, shows_progress
from ._effort import say_how_long_to_project
from ._options import Jobs, Json, Matrix, Output
from ._output import write_matrix


@command(
    "groundmetric project noisy.csv --out metric.csv",
    "groundmetric project - < noisy.csv > metric.csv",
)
def project(
    matrix: Matrix,
    *,
    out: Annotated[Path | None, Output((".csv", ".npy"))] = None,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Find the nearest metric to a matrix.

    Nearest in the Frobenius norm, to any real matrix.

    Parameters
    ----------
    out
        Write .csv or .npy instead of CSV on standard output.
    """
    given = load_square(matrix)
    say_how_long_to_project(len(given.values))
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
