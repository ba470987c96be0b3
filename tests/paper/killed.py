"""Kill a run again and again; a script of its own, because it forks.

Each attempt runs in a child, so that only the first one pays for imports. What was
committed after each attempt goes to history.json, calls of methods to a log an attempt.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
import traceback
from contextlib import closing
from pathlib import Path

import joblib
from logged import logged, problem, rows_of

from paper import run

N_KILLS = 10
N_CLASSES = 7
JOBS = (1, 2)
METHODS = ("l1", "emd-independence")


def attempt(path, log, n_jobs):
    """Run in a child, and return its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        methods = [logged(name, log) for name in METHODS]
        with joblib.parallel_config("threading", n_jobs=n_jobs):
            run(**problem(n_classes=N_CLASSES), methods=methods, path=path)
        status = 0
    except BaseException:  # noqa: BLE001 - a child must not continue as its parent
        traceback.print_exc()
    os._exit(status)


def wait_for_calls(log, n_calls, child):
    """Wait until methods were called so often, or the child has ended."""
    ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, child, ended) is None:
        if n_calls == 0 or (log.exists() and log.read_text().count("\n") >= n_calls):
            return
        time.sleep(0.0005)


def committed(path):
    """Rows with everything in them, from a file that is in order."""
    if not path.exists():
        return []
    with closing(sqlite3.connect(path)) as connection:
        (found,) = connection.execute("PRAGMA integrity_check").fetchone()
        assert found == "ok"
        tables = "SELECT name FROM sqlite_master WHERE name = 'results'"
        if connection.execute(tables).fetchone() is None:
            return []
    return list(rows_of(path, without=()).values())


def main(folder, n_jobs):
    """Kill ten attempts at random moments, and let the last one finish."""
    rng = random.Random(n_jobs)  # noqa: S311 - no secret
    path, history = folder / "results.sqlite", []
    for k in range(N_KILLS + 1):
        log = folder / f"log{k}"
        child = attempt(path, log, n_jobs)
        if k < N_KILLS:
            wait_for_calls(log, rng.randint(1, 12) if k else 0, child)
            time.sleep(rng.uniform(0.0, 0.01))
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        calls = log.read_text().splitlines() if log.exists() else []
        history.append({"code": code, "calls": calls, "rows": committed(path)})
    (folder / "history.json").write_text(json.dumps(history))


if __name__ == "__main__":
    for jobs in JOBS:
        place = Path(sys.argv[1]) / str(jobs)
        place.mkdir()
        main(place, jobs)
