"""The results file: one row per task and method, written once and never changed.

It is an SQLite database. Each batch of rows is a transaction, so a killed run leaves
complete rows only. The file also stores what the rows depend on (a digest of the data,
the rows of each task, the settings and version of each method), and rejects rows that
depend on something else.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

StrPath = str | os.PathLike[str]

__all__ = ["ResultsFile", "Row"]

SUFFIX = ".sqlite"
PATIENCE = 60.0  # seconds to wait while another process reads or writes
LISTS = ("knn_errors", "recall")


@dataclass(frozen=True)
class Row:
    """The results of one method on one task: the columns of the file.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    task : int
        Number of the task in the experiment.
    classes : str
        Classes of the task, joined by " | ".
    method : str
        Name of the method.
    seed : int
        Seed that the task was drawn with.
    n_train, n_test : int
        Numbers of histograms.
    knn_errors, recall : list of float
        For 1, 2, ... neighbors.
    svm_error : float or None
        Error rate of the support vector machine, if one was trained.
    fit_seconds, seconds : float
        CPU time for learning, and in total.
    settings : str
        Parameters of the method, in JSON.
    version : str
        Version of groundmetric, with the commit if it ran from a repository.

    Examples
    --------
    >>> from paper import Row
    >>> row = Row("mine", 0, "a | b", "l1", 0, 60, 80, [0.1], [0.9], None, 0.0, 0.1,
    ...           "{}", "0.1.0")
    >>> row.knn_errors
    [0.1]
    """

    experiment: str
    task: int
    classes: str
    method: str
    seed: int
    n_train: int
    n_test: int
    knn_errors: list[float]
    recall: list[float]
    svm_error: float | None
    fit_seconds: float
    seconds: float
    settings: str
    version: str


NAMES = tuple(Row.__dataclass_fields__)
# Lists are JSON; everything but the error of an optional SVM must be there.
TYPES = {"int": "INTEGER NOT NULL", "float": "REAL NOT NULL", "float | None": "REAL"}
COLUMNS = [f"{f.name} {TYPES.get(str(f.type), 'TEXT NOT NULL')}" for f in fields(Row)]
SCHEMA = f"""
CREATE TABLE IF NOT EXISTS results (
    {", ".join(COLUMNS)}, UNIQUE (experiment, task, method)
);
CREATE TABLE IF NOT EXISTS facts (
    experiment TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (experiment, name)
);
"""


class ResultsFile:
    """A results file, open for more rows; use it as a context manager.

    Parameters
    ----------
    path : path-like
        A file that ends in .sqlite; created if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from paper import ResultsFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultsFile(folder + "/results.sqlite") as file:
    ...         file.require("mine", {"n_neighbors": "20"})
    ...         file.done("mine")
    set()
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        require_suffix(self.path, (SUFFIX,))
        self._connection = connect(self.path, "rwc")
        try:
            with self._sentences():
                self._connection.executescript(SCHEMA)
        except ValueError:
            self._connection.close()
            raise

    def __enter__(self) -> ResultsFile:  # noqa: PYI034 - Self is of Python 3.11
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def require(self, experiment: str, facts: Mapping[str, str]) -> None:
        """Store what rows depend on; reject facts that differ from the stored ones."""
        query = "SELECT name, value FROM facts WHERE experiment = ?"
        with self._sentences(), self._connection:
            # If two runs start together, one waits for the other.
            self._connection.execute("BEGIN IMMEDIATE")
            self._require_columns()
            known = dict(self._connection.execute(query, (experiment,)).fetchall())
            self._require_equal(experiment, known, facts)
            # Write even if all are known: a read-only file must fail before any work.
            noted = [(experiment, *fact) for fact in facts.items()]
            self._connection.executemany("REPLACE INTO facts VALUES (?, ?, ?)", noted)

    def done(self, experiment: str) -> set[tuple[int, str]]:
        """Tasks and methods that have a row."""
        query = "SELECT task, method FROM results WHERE experiment = ?"
        with self._sentences():
            return set(self._connection.execute(query, (experiment,)).fetchall())

    def append(self, rows: Iterable[Row]) -> int:
        """Write all rows or none; return how many are new."""
        values = [vars(row) | {n: json.dumps(getattr(row, n)) for n in LISTS}
                  for row in rows]  # fmt: skip
        places = ", ".join(f":{name}" for name in NAMES)
        before = self._connection.total_changes
        # A parallel run of the same experiment may have written the same numbers: keep
        # the first row.
        with self._sentences(), self._connection:
            self._connection.executemany(
                f"INSERT INTO results ({', '.join(NAMES)}) VALUES ({places}) "  # noqa: S608 - fixed names
                "ON CONFLICT DO NOTHING",
                values,
            )
        return self._connection.total_changes - before

    def _require_equal(
        self, experiment: str, known: Mapping[str, str], facts: Mapping[str, str]
    ) -> None:
        """Reject facts that differ from the stored ones."""
        for name, value in facts.items():
            if known.get(name, value) != value:
                raise ValueError(
                    f"{self.path} has results of experiment {experiment!r} for another "
                    f"{name}: {known[name]}, not {value}. Choose another file, or "
                    "another name for the experiment."
                )

    def _require_columns(self) -> None:
        """Reject a table of the same name with other columns."""
        described = self._connection.execute("PRAGMA table_info(results)").fetchall()
        there, needed = {column[1] for column in described}, set(NAMES)
        if there != needed:
            raise unreadable(
                self.path,
                f"its table results has the columns {', '.join(sorted(there))}, and "
                f"not {', '.join(sorted(needed))}",
            )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """Name the file that SQLite cannot read or write."""
        try:
            yield
        except sqlite3.Error as error:
            raise unreadable(self.path, error) from error


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a data base, in a mode as in its URI."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        return sqlite3.connect(uri, uri=True, timeout=PATIENCE)
    except sqlite3.OperationalError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: object) -> ValueError:
    """Name the file that could not be opened, and why."""
    return ValueError(f"{path} cannot be opened as a results file: {error}.")


def require_suffix(path: Path, suffixes: tuple[str, ...]) -> None:
    """Reject file names with another suffix."""
    if path.suffix not in suffixes:
        raise ValueError(f"{path} must end in {' or '.join(suffixes)}.")
