"""Results files that cannot be used, and two runs that share one."""

import sqlite3
import threading
from contextlib import closing

import pytest
from logged import logged, problem, rows_of

from groundmetric.experiments import METHODS, Method
from paper import ResultsFile, run, runner
from paper import results as results_module


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_a_file_that_cannot_be_written_is_refused_first(path, tmp_path, monkeypatch):
    given, log = problem(), tmp_path / "log"
    run(**given, methods=["l1"], path=path)
    connect = results_module.connect
    monkeypatch.setattr(results_module, "connect", lambda p, _: connect(p, "ro"))
    with pytest.raises(ValueError, match=r"cannot be opened .*: attempt to write"):
        run(**given, methods=["l1", logged("l2", log)], path=path)
    assert not log.exists()  # nothing was computed
    with pytest.raises(ValueError, match=r"cannot be opened .*: attempt to write"):
        run(**given, methods=["l1"], path=path)  # though there is nothing to write


def test_damaged_pages_are_no_traceback_of_sqlite(path):
    given = problem()
    run(**given, methods=["l1"], path=path)
    pages = bytearray(path.read_bytes())
    pages[4096:] = b"\xff" * len(pages[4096:])  # all but the first, the schema
    path.write_bytes(pages)
    with pytest.raises(ValueError, match=r"results.sqlite cannot be .* malformed"):
        run(**given, methods=["l1"], path=path)


@pytest.mark.parametrize("columns", ["task, method", "*, 1 AS more"])
def test_a_table_with_other_columns_is_refused(columns, path):
    given = problem()
    run(**given, methods=["l1"], path=path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"CREATE TABLE other AS SELECT {columns} FROM results;"  # noqa: S608 - ours
            "DROP TABLE results; ALTER TABLE other RENAME TO results;"
        )
    with pytest.raises(ValueError, match=r"cannot .* its table results has "):
        run(**given, methods=["l2"], path=path)


class Slow(dict):
    """Facts that let another run take note of them as soon as they are looked at."""

    def __init__(self, path):
        super().__init__(n_neighbors="5", svm="False")
        self.path, self.other, self.errors = path, None, []

    def _require(self):
        try:
            with ResultsFile(self.path) as file:
                file.require("toy", dict(self))
        except Exception as error:  # noqa: BLE001 - of another thread
            self.errors.append(error)

    def items(self):
        """Look at them."""
        if self.other is None:
            self.other = threading.Thread(target=self._require)
            self.other.start()
            self.other.join(0.2)  # it may wait for us
        return super().items()


def test_two_runs_may_start_together(path):
    facts = Slow(path)
    with ResultsFile(path) as file:
        file.require("toy", facts)
        facts.other.join()
        assert facts.errors == []
        with pytest.raises(ValueError, match="for another svm: False, not True"):
            file.require("toy", {"svm": "True"})


def test_two_runs_at_a_time_count_each_row_once(path):
    given, inner = problem(), []

    def learn(X, y, n_jobs):
        if not inner:  # another run writes all of it meanwhile
            inner.append(run(**given, methods=["l1"], path=path))
        return METHODS["l1"].learn(X, y, n_jobs)

    assert run(**given, methods=[Method("l1", "l1", {}, learn)], path=path) == 0
    assert inner == [4]
    assert len(rows_of(path)) == 4


def test_rows_of_another_version_are_not_mixed_in(path, monkeypatch):
    given = problem()
    with monkeypatch.context() as before:
        before.setattr(runner, "__version__", "0.0.1")
        run(**given, methods=["l1"], path=path)
    with pytest.raises(ValueError, match=r"another version of method 'l1': 0\.0\.1, "):
        run(**given, methods=["l1", "l2"], path=path)
    assert run(**given, methods=["l2"], path=path) == 4
