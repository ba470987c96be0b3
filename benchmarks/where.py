"""Where does learning help? Every method on every data set, in one resumable run.

``make where DATA=folder`` measures all data sets of a folder and embedded digits (see
``where_data.py``) with all methods (``where_methods.py``). Each method runs in a
process of its own with one thread, ``--jobs`` at a time. Rows are written as they come;
a run that was killed goes on where it stopped. ``--draws 2 --only digits`` is a
preview, ``--seed 1`` draws others to choose settings on.
"""

import argparse
import hashlib
import json
import os
import resource
import signal
import sqlite3
import time
import warnings
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits
from where_choice import N_NEIGHBORS, shown
from where_data import DataSet, data_sets
from where_methods import Entry, entries
from where_table import exported, verdicts

import groundmetric
from groundmetric.experiments.measures import knn_wrong, svm_wrong

OUT = Path("build/where.sqlite")
SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    data TEXT, kind TEXT, draw INTEGER, method TEXT, label TEXT, grp TEXT,
    settings TEXT, version TEXT, n_train INTEGER, d INTEGER, tested TEXT,
    knn TEXT, wrong TEXT, svm REAL, fit_seconds REAL, seconds REAL, total REAL,
    megabytes REAL, failure TEXT, PRIMARY KEY (data, draw, method)
)
"""
INSERT = """
INSERT OR REPLACE INTO results VALUES (
    :data, :kind, :draw, :method, :label, :grp, :settings, :version, :n_train, :d,
    :tested, :knn, :wrong, :svm, :fit_seconds, :seconds, :total, :megabytes, :failure
)
"""


class Job(NamedTuple):
    """A method on a draw of a data set."""

    data: DataSet
    draw: int
    entry: Entry
    limit: int  # seconds
    version: str


JOBS: list[Job] = []  # which processes inherit


class TooLongError(Exception):
    """A method that takes longer than its limit."""


def measure(number: int) -> dict[str, Any]:
    """Learn, and measure errors, seconds of the processor, and megabytes."""
    job = JOBS[number]
    data, entry = job.data, job.entry
    train, test = data.draws[job.draw]
    row: dict[str, Any] = {
        "data": data.name, "kind": data.kind, "draw": job.draw,
        "method": entry.name, "label": entry.method.label, "grp": entry.group,
        "settings": json.dumps(shown(entry.method.settings)), "version": job.version,
        "n_train": len(train), "d": data.X.shape[1],
        "tested": json.dumps(test.tolist()), "knn": None, "wrong": None, "svm": None,
        "fit_seconds": None, "seconds": None, "failure": None,
    }  # fmt: skip
    signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, job.limit)
    before, start = peak(), time.process_time()
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row |= errors(entry, *(dense(data.X[part]) for part in (train, test)),
                          data.y[train], data.y[test])  # fmt: skip
    except TooLongError:
        row["failure"] = f"more than {job.limit} seconds"
    except (ValueError, MemoryError, np.linalg.LinAlgError) as error:
        row["failure"] = f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    row |= {"megabytes": peak() - before, "total": time.process_time() - start}
    return row


def errors(
    entry: Entry, X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray
) -> dict[str, Any]:
    """Errors of neighbors and machines, and seconds."""
    start = time.process_time()
    if entry.predict is not None:
        svm = float((entry.predict(X, y, X_test) != y_test).mean())
        seconds = time.process_time() - start
        return {"svm": svm, "fit_seconds": seconds, "seconds": seconds}
    distances = entry.method.learn(X, y, 1)
    fit_seconds = time.process_time() - start
    to_test = distances(X_test, X)
    found: dict[str, Any] = {"fit_seconds": fit_seconds}
    if entry.knn:
        n_neighbors = min(N_NEIGHBORS, len(y))
        wrong = knn_wrong(to_test, y, y_test, n_neighbors=n_neighbors)
        found["knn"] = json.dumps(wrong.mean(axis=0).round(6).tolist())
        found["wrong"] = json.dumps(wrong.sum(axis=1).tolist())
    found["seconds"] = time.process_time() - start
    if np.bincount(y)[np.unique(y)].min() > 1:
        svm = svm_wrong(distances(X, None), y, to_test, y_test)
        found["svm"] = float(svm.mean())
    return found


def dense(rows: Any) -> np.ndarray:
    """Return rows of mass 1."""
    array = rows.toarray() if hasattr(rows, "toarray") else rows
    return np.asarray(array / array.sum(axis=1, keepdims=True))


def too_long(_number: int, _frame: object) -> None:
    raise TooLongError


def peak() -> float:
    """Peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def version() -> str:
    """Name the version, and a digest of the sources."""
    folder = Path(groundmetric.__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*folder.rglob("*.py"), *folder.glob("*.so")]):
        digest.update(path.read_bytes())
    return f"{groundmetric.__version__}+{digest.hexdigest()[:8]}"


def missing(file: sqlite3.Connection, options: argparse.Namespace) -> Iterator[Job]:
    """List what remains to be measured, draw by draw, so that all sets advance."""
    now = version()
    others = {x for (x,) in file.execute("SELECT DISTINCT version FROM results")}
    if others - {now} and not options.mixed:
        raise SystemExit(
            f"{options.out} has rows of {', '.join(sorted(others - {now}))}, but this "
            f"is {now}. Choose another --out, or --mixed to go on all the same."
        )
    keys = "SELECT data, draw, method, settings FROM results"
    done = {tuple(row) for row in file.execute(keys)}
    sets = [
        (data, entries(data))
        for data in data_sets(options.data, options.seed)
        if any(part in data.name for part in options.only or [""])
    ]
    most = max((len(data.draws) for data, _ in sets), default=0)
    for draw in range(min(most, options.draws or most)):
        for data, methods in sets:
            for entry in methods if draw < len(data.draws) else ():
                settings = json.dumps(shown(entry.method.settings))
                key = (data.name, draw, entry.name, settings)
                wanted = not options.methods or entry.name in options.methods
                if wanted and key not in done:
                    yield Job(data, draw, entry, options.limit, now)


def run(options: argparse.Namespace) -> None:
    """Measure what is missing, and print the verdicts."""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(options.out) as file:
        file.execute(SCHEMA)
        JOBS[:] = missing(file, options)
        # A new process for each method: its memory is its own.
        with get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
            found = pool.imap_unordered(measure, range(len(JOBS)), chunksize=1)
            for k, row in enumerate(found, 1):
                file.execute(INSERT, row)
                file.commit()
                print(f"{k}/{len(JOBS)} {in_a_line(row)}", flush=True)
    frame = exported(options.out, options.export)
    print(verdicts(frame))


def in_a_line(row: dict[str, Any]) -> str:
    """Describe a row in a line."""
    if row["failure"]:
        result = row["failure"]
    else:
        error = np.mean(json.loads(row["knn"])) if row["knn"] else row["svm"]
        result = f"{100 * error:.1f} %, {row['seconds']:.1f} s"
    return f"{row['data']}, draw {row['draw']}, {row['method']}: {result}"


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", help="a folder of .npz files")
    parser.add_argument("--out", type=Path, default=OUT, help="SQLite file to resume")
    parser.add_argument("--export", type=Path, help="parquet file to write at the end")
    parser.add_argument("--draws", type=int, help="of each data set; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of draws; 0 is reported")
    parser.add_argument("--only", nargs="*", help="parts of the names of data sets")
    parser.add_argument("--methods", nargs="*", help="names of methods")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds a method")
    parser.add_argument("--mixed", action="store_true", help="go on with old rows")
    run(parser.parse_args())
