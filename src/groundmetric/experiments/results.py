"""The results file: one row a task and method, written once, never changed.

It is an SQLite data base. Each batch of rows is a transaction, so that a run that is
killed leaves all rows that it had written, and no part of another. Beside the rows it
keeps the facts they depend on (a digest of the data, the rows of each task, the
settings and version of each method): rows from other facts are refused, not mixed in.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

StrPath = str | os.PathLike[str]

__all__ = ["ResultsFile", "Row"]

SUFFIX = ".sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    experiment TEXT NOT NULL,
    task INTEGER NOT NULL,
    classes TEXT NOT NULL,
    method TEXT NOT NULL,
    seed INTEGER NOT NULL,
    n_train INTEGER NOT NULL,
    n_test INTEGER NOT NULL,
    knn_errors TEXT NOT NULL,  -- JSON
    recall TEXT NOT NULL,  -- JSON
    svm_error REAL,
    fit_seconds REAL NOT NULL,
    seconds REAL NOT NULL,
    settings TEXT NOT NULL,  -- JSON
    version TEXT NOT NULL,
    UNIQUE (experiment, task, method)
);
CREATE TABLE IF NOT EXISTS facts (
    experiment TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (experiment, name)
);
"""
PATIENCE = 60.0  # seconds to wait for others who read or write
LISTS = ("knn_errors", "recall")


@dataclass(frozen=True)
class Row:
    """One task and one method; the columns of the file.

    Attributes
    ----------
    experiment : str
        Whatever the user called it.
    task : int
        Number of the task in the experiment.
    classes : str
        Classes of the task, joined by " | ".
    method : str
        Name of the method.
    seed : int
        What the task was drawn with.
    n_train, n_test : int
        Numbers of histograms.
    knn_errors, recall : list of float
        For 1, 2, ... neighbors.
    svm_error : float or None
        Of the support vector machine, if there was one.
    fit_seconds, seconds : float
        CPU time of learning, and of everything.
    settings : str
        Parameters of the method, in JSON.
    version : str
        Of groundmetric.

    Examples
    --------
    >>> from groundmetric.experiments import Row
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


class ResultsFile:
    """A results file that is open for more rows; a context manager.

    Parameters
    ----------
    path : path-like
        A file that ends in .sqlite; made if there is none.

    Examples
    --------
    >>> import tempfile
    >>> from groundmetric.experiments import ResultsFile
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
        """Take note of what rows depend on; refuse what differs from earlier notes."""
        query = "SELECT name, value FROM facts WHERE experiment = ?"
        with self._sentences(), self._connection:
            # Of two runs that start together, one waits for the other.
            self._connection.execute("BEGIN IMMEDIATE")
            self._require_columns()
            known = dict(self._connection.execute(query, (experiment,)).fetchall())
            self._require_equal(experiment, known, facts)
            # Even if all are known: a file that cannot be written is to be found out
            # before anything is computed.
            noted = [(experiment, *fact) for fact in facts.items()]
            self._connection.executemany("REPLACE INTO facts VALUES (?, ?, ?)", noted)

    def done(self, experiment: str) -> set[tuple[int, str]]:
        """Tasks and methods that have a row."""
        query = "SELECT task, method FROM results WHERE experiment = ?"
        with self._sentences():
            return set(self._connection.execute(query, (experiment,)).fetchall())

    def append(self, rows: Iterable[Row]) -> int:
        """Write rows, all or none of them; count those that were not there yet."""
        values = [vars(row) | {n: json.dumps(getattr(row, n)) for n in LISTS}
                  for row in rows]  # fmt: skip
        places = ", ".join(f":{name}" for name in NAMES)
        before = self._connection.total_changes
        # A row that is there already was written by another run of the same experiment
        # at the same time: the numbers are the same, and the first row stays.
        with self._sentences(), self._connection:
            self._connection.executemany(
                f"INSERT INTO results ({', '.join(NAMES)}) VALUES ({places}) "  # noqa: S608 - names of our own
                "ON CONFLICT DO NOTHING",
                values,
            )
        return self._connection.total_changes - before

    def _require_equal(
        self, experiment: str, known: Mapping[str, str], facts: Mapping[str, str]
    ) -> None:
        """Refuse facts that are known to be others."""
        for name, value in facts.items():
            if known.get(name, value) != value:
                raise ValueError(
                    f"{self.path} has results of experiment {experiment!r} for another "
                    f"{name}: {known[name]}, not {value}. Choose another file, or "
                    "another name for the experiment."
                )

    def _require_columns(self) -> None:
        """Refuse a table of the same name that is not ours."""
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
        """Say which file it is that SQLite cannot read or write."""
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
    """Say which file is not what it should be."""
    return ValueError(f"{path} cannot be opened as a results file: {error}.")


def require_suffix(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse names that do not tell the format."""
    if path.suffix not in suffixes:
        raise ValueError(f"{path} must end in {' or '.join(suffixes)}.")
