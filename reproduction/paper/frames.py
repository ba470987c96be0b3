"""Read results as a pandas frame, from a results file or its copy in parquet."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from groundmetric import _files

from .results import LISTS, SUFFIX, Row, connect, require_suffix, unreadable

if TYPE_CHECKING:
    from .results import StrPath

__all__ = ["export_results", "read_results"]

PARQUET = ".parquet"


def read_results(path: StrPath) -> pd.DataFrame:
    """Read a results file, or a parquet file exported from one.

    Parameters
    ----------
    path : path-like
        A file that ends in .sqlite or .parquet. A run may still be writing to it.

    Returns
    -------
    pandas.DataFrame
        One row for each task and method, sorted; columns as in :class:`Row`.

    Examples
    --------
    >>> import tempfile
    >>> from paper import binary_tasks, read_results, run
    >>> X = [[4, 1], [3, 1], [5, 1], [1, 4], [1, 3], [1, 5]]
    >>> tasks = binary_tasks([0, 0, 0, 1, 1, 1], n_train=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = folder + "/results.sqlite"
    ...     n_new = run(X, [0, 0, 0, 1, 1, 1], tasks=tasks, methods=["l2", "l1"],
    ...                 path=file, experiment="toy", n_neighbors=2)
    ...     read_results(file)[["task", "classes", "method", "recall"]]
       task classes method      recall
    0     0   1 | 0     l1  [1.0, 0.5]
    1     0   1 | 0     l2  [1.0, 0.5]
    """
    file = Path(path)
    require_suffix(file, (SUFFIX, PARQUET))
    if not file.exists():
        raise FileNotFoundError(f"There is no file {file}.")
    frame = _from_parquet(file) if file.suffix == PARQUET else _from_sqlite(file)
    missing = set(Row.__dataclass_fields__) - set(frame.columns)
    if missing:
        raise ValueError(f"{file} has no column {min(missing)!r}.")
    frame["svm_error"] = frame["svm_error"].astype("float64")
    return frame


def export_results(path: StrPath, target: StrPath) -> None:
    """Export a results file as parquet.

    Parameters
    ----------
    path : path-like
        A results file.
    target : path-like
        A file that ends in .parquet; overwritten if it exists.

    Examples
    --------
    >>> from paper import export_results
    >>> export_results("results.sqlite", "results.csv")
    Traceback (most recent call last):
    ...
    ValueError: results.csv must end in .parquet.
    """
    out = Path(target)
    require_suffix(out, (PARQUET,))
    frame = read_results(path)
    _files.write_whole(out, lambda file: frame.to_parquet(file, index=False))


def _from_sqlite(file: Path) -> pd.DataFrame:
    names = ", ".join(Row.__dataclass_fields__)
    query = f"SELECT {names} FROM results ORDER BY experiment, task, method"  # noqa: S608 - fixed names
    try:
        # Not read-only: SQLite first rolls back what a killed run left half written.
        with closing(connect(file, "rw")) as connection:
            frame = pd.read_sql_query(query, connection)
    except (sqlite3.DatabaseError, pd.errors.DatabaseError) as error:
        raise unreadable(file, error) from error
    for name in LISTS:
        frame[name] = [json.loads(text) for text in frame[name]]
    return frame


def _from_parquet(file: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(file)
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    for name in LISTS:
        if name in frame:
            frame[name] = [list(map(float, values)) for values in frame[name]]
    return frame
