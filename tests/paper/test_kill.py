"""A run that is killed loses and repeats nothing."""

import json
import signal
from pathlib import Path

import pytest
from killed import JOBS, METHODS, N_CLASSES, N_KILLS
from logged import problem, rows_of

from paper import run
from started import SCRIPT, finished

KILLED = Path(__file__).with_name("killed.py")
N_ROWS = len(METHODS) * N_CLASSES**2


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Rows of a run without interruption."""
    path = tmp_path_factory.mktemp("whole") / "results.sqlite"
    assert run(**problem(n_classes=N_CLASSES), methods=METHODS, path=path) == N_ROWS
    return rows_of(path)


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Folders of killed runs, one for each number of jobs."""
    folder = tmp_path_factory.mktemp("killed")
    code, _, error = finished(SCRIPT, KILLED, folder)
    assert code == 0, error
    return folder


@pytest.mark.parametrize("n_jobs", JOBS)
def test_kills_lose_and_repeat_nothing(n_jobs, expected, killed):
    folder = killed / str(n_jobs)
    history = json.loads((folder / "history.json").read_text())

    codes = [attempt["code"] for attempt in history]
    assert codes == [-signal.SIGKILL] * N_KILLS + [0]

    before, n_calls = [], 0
    for attempt in history:
        # What was written stays as it was, times included ...
        assert all(row in attempt["rows"] for row in before)
        # ... and is not computed again.
        done = {f"{row['classes']},{row['method']}" for row in before}
        assert done.isdisjoint(attempt["calls"])
        before, n_calls = attempt["rows"], n_calls + len(attempt["calls"])

    # Every row is there once, and equal to the last bit to that of a whole run.
    assert len(before) == N_ROWS
    assert rows_of(folder / "results.sqlite") == expected
    # A kill costs the task at hand; with threads, also those that wait to be written.
    assert n_calls >= N_ROWS
    if n_jobs == 1:
        assert n_calls <= N_ROWS + N_KILLS * len(METHODS)
    # And there was something to lose: kills came between writes.
    assert len({len(attempt["rows"]) for attempt in history}) > 3
