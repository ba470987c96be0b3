"""Runs in parallel, runs that resume, and what they reject."""

import dataclasses
import json
import threading
import time

import joblib
import numpy as np
import pytest
from logged import TIMES, logged, problem, rows_of

import groundmetric
from groundmetric.experiments import Method
from paper import (
    METHODS,
    compare_split,
    export_results,
    multiclass_tasks,
    read_results,
    run,
)
from paper.origin import version

BURNT = 0.1  # CPU seconds
FEW = ("l1", "emd-typical", "gml-k1-uniform")


@pytest.fixture(scope="module")
def given():
    return problem()


@pytest.fixture(scope="module")
def expected(given, tmp_path_factory):
    """Rows of a run in this process."""
    path = tmp_path_factory.mktemp("runs") / "results.sqlite"
    assert run(**given, methods=FEW, path=path) == 4 * len(FEW)
    return rows_of(path)


def test_rows_say_what_was_measured(given, expected):
    task = given["tasks"][2]
    X, y = np.asarray(given["X"]), np.asarray(given["y"])
    split = X[task.train], y[task.train], X[task.test], y[task.test]
    (row,) = compare_split(*split, methods=["emd-typical"], n_neighbors=5)
    found = expected[2, "emd-typical"]
    assert found["knn_errors"] == row.knn_errors
    assert found["recall"] == row.recall
    assert found["svm_error"] == -1.0  # none
    assert found["classes"] == f"{task.classes[0]} | {task.classes[1]}" == task.name
    assert (found["n_train"], found["n_test"]) == (len(task.train), len(task.test))
    assert (found["experiment"], found["seed"]) == ("toy", task.seed)
    assert found["version"] == version()
    assert found["version"].startswith(groundmetric.__version__)
    assert json.loads(found["settings"]) == METHODS["emd-typical"].settings


# From Python 3.12 on, forking beside threads warns; joblib's workers fork nonetheless.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_rows_do_not_depend_on_jobs_or_backend(given, expected, backend, tmp_path):
    path = tmp_path / "results.sqlite"
    with joblib.parallel_config(backend, n_jobs=2):
        assert run(**given, methods=FEW, path=path) == len(expected)
    assert rows_of(path) == expected


def test_rows_do_not_depend_on_the_order_of_tasks(given, expected, tmp_path):
    path = tmp_path / "results.sqlite"
    backward = given | {"tasks": given["tasks"][::-1]}
    run(**backward, methods=FEW[::-1], path=path)
    assert rows_of(path) == expected


def test_nothing_is_computed_twice(given, expected, tmp_path):
    path, log = tmp_path / "results.sqlite", tmp_path / "log"
    methods = [logged(name, log) for name in FEW]
    some = given | {"tasks": given["tasks"][1:3]}
    assert run(**some, methods=methods[:2], path=path) == 4
    assert run(**given, methods=methods[1:], path=path) == 4 + 2 * 1 + 0 + 0
    assert run(**given, methods=methods, path=path, n_jobs=2) == 2
    assert run(**given, methods=methods, path=path) == 0
    assert len(log.read_text().splitlines()) == len(expected) == 12
    assert rows_of(path) == expected


def test_experiments_share_a_file(given, expected, tmp_path):
    path = tmp_path / "results.sqlite"
    run(**given, methods=["l1"], path=path)
    run(
        **(given | {"experiment": "other", "n_neighbors": 2}), methods=["l1"], path=path
    )
    frame = read_results(path)
    assert frame["experiment"].tolist() == ["other"] * 4 + ["toy"] * 4
    assert [len(errors) for errors in frame["knn_errors"]] == [2] * 4 + [5] * 4
    ours = frame[frame["experiment"] == "toy"]
    assert ours["recall"].tolist() == [expected[k, "l1"]["recall"] for k in range(4)]


def test_many_classes_and_support_vector_machines(given, tmp_path):
    path = tmp_path / "results.sqlite"
    tasks = multiclass_tasks(given["y"], n_classes=4, n_train=6, n_test=5)
    run(**(given | {"tasks": tasks}), methods=["l1"], path=path, svm=True)
    (row,) = read_results(path).to_dict("records")
    assert row["classes"].count(" | ") == 3
    assert (row["n_train"], row["n_test"]) == (24, 20)
    assert 0 <= row["svm_error"] < 0.5


def test_a_failure_is_reported_at_the_end(given, expected, tmp_path):
    path = tmp_path / "results.sqlite"
    tasks = given["tasks"]

    def fail_on_one(X, y, n_jobs):
        if set(y) == set(tasks[1].classes):
            raise ArithmeticError("It does not add up.")
        return METHODS["l1"].learn(X, y, n_jobs)

    broken = Method("broken", "Broken", {}, fail_on_one)
    message = (
        r"1 results are missing; the other 7 were written: method 'broken' failed on "
        rf"task 1 \({tasks[1].name.replace('|', '.')}\) with ArithmeticError: It does "
        r"not add up\.$"
    )
    for n_jobs, others in ((None, "7"), (2, "0")):  # it is tried again
        with pytest.raises(RuntimeError, match=message.replace("7", others)):
            run(**given, methods=[broken, "l1"], path=path, n_jobs=n_jobs)
    found = rows_of(path)
    assert sorted(found) == sorted(
        [(k, "l1") for k in range(4)] + [(k, "broken") for k in (0, 2, 3)]
    )
    assert all(found[k, "l1"] == expected[k, "l1"] for k in range(4))


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_a_missing_package_stops_the_run_at_once(given, backend, tmp_path):
    path, log = tmp_path / "results.sqlite", tmp_path / "log"

    def ask(*_):
        raise ImportError("This needs what is not there: pip install it.")

    methods = [logged("l1", log), Method("asks", "Asks", {}, ask), logged("l2", log)]
    with (
        joblib.parallel_config(backend, n_jobs=1),
        pytest.raises(ImportError, match=r"^This needs what is not there"),
    ):
        run(**given, methods=methods, path=path)
    assert len(log.read_text().splitlines()) == 1  # l1 on the first of four tasks


def test_times_leave_other_threads_out(given, tmp_path):
    def burn():
        end = time.thread_time() + BURNT
        while time.thread_time() < end:
            pass

    def learn(X, y, n_jobs):
        beside = threading.Thread(target=burn)  # as another worker is, with threads
        beside.start()
        beside.join()
        return METHODS["l1"].learn(X, y, n_jobs)

    path = tmp_path / "results.sqlite"
    one = given | {"tasks": given["tasks"][:1]}
    run(**one, methods=[Method("waits", "Waits", {}, learn)], path=path)
    (row,) = read_results(path).to_dict("records")
    assert 0 <= row["fit_seconds"] < BURNT
    assert row["fit_seconds"] <= row["seconds"] < BURNT


def changed(given, **options):
    return {**given, "methods": ["l1"], **options}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: changed(g, X=np.asarray(g["X"])[:, ::-1]), "for another X or y: "),
        (lambda g: changed(g, tasks=g["tasks"][:1], y=relabeled(g)),
         "for another X or y: "),
        (lambda g: changed(g, n_neighbors=4), "another n_neighbors: 5, not 4"),
        (lambda g: changed(g, svm=True), "another svm: False, not True"),
        (lambda g: changed(g, **problem(seed=1)), "another task 0: .*seed 0.*seed 1"),
        (lambda g: changed(g, methods=[dataclasses.replace(METHODS["l1"],
                                                           settings={"p": 2})]),
         r"another method 'l1': \{\}, not \{\"p\": 2\}"),
    ],
)  # fmt: skip
def test_other_results_are_not_mixed_in(given, change, message, tmp_path):
    path = tmp_path / "results.sqlite"
    run(**given, methods=["l1"], path=path)
    before = rows_of(path)
    with pytest.raises(ValueError, match=message):
        run(**change(given), path=path)
    assert rows_of(path) == before
    assert run(**given, methods=["l1"], path=path) == 0


def relabeled(given):
    """Labels that are the same but for a class that the first task has not."""
    used = given["tasks"][0].classes
    return [label if label in used else f"{label}, renamed" for label in given["y"]]


def bad(given, **options):
    return {**given, "path": "results.sqlite", **options}


def odd(given, **rows):
    return bad(given, tasks=[dataclasses.replace(given["tasks"][0], **rows)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g: bad(g, tasks=[]), "tasks is empty"),
        (lambda g: bad(g, tasks=[3]), r"tasks\[0\] is 3; a Task is needed"),
        (lambda g: bad(g, tasks=g["tasks"] * 2), "two tasks with the same index"),
        (lambda g: bad(g, X=g["X"][:9], y=g["y"][:9]),
         r"tasks\[0\].train has row \d+; X has rows 0 to 8\."),
        (lambda g: odd(g, train=np.array([-1])),
         r"tasks\[0\].train has row -1; X has rows 0 to 55\."),
        (lambda g: odd(g, test=np.array([], int)), r"tasks\[0\].test is empty; at"),
        (lambda g: odd(g, test=[1, 2]),
         r"tasks\[0\].test must be a one-dimensional array of integers"),
        (lambda g: odd(g, test=g["tasks"][0].train),
         r"tasks\[0\] has row \d+ in train and in test"),
        (lambda g: bad(g, y=g["y"][::-1]),
         r"tasks\[1\].train has rows of class \d . class \d by y, but the task is cl"),
        (lambda g: odd(g, test=g["tasks"][0].test[:6]),
         r"tasks\[0\].test has rows of class \d by y, but the task is class \d . cla"),
        (lambda g: bad(g, n_neighbors=13),
         r"n_neighbors is 13; it must be at most 11, .* 12 test histograms in tasks"),
        (lambda g: bad(g, path="results.csv"), "results.csv must end in .sqlite"),
        (lambda g: bad(g, path="no/results.sqlite"), "cannot be opened as a results"),
        (lambda g: bad(g, n_jobs=0), "n_jobs is 0"),
        (lambda g: bad(g, experiment=""), "experiment is ''; a name is needed"),
        (lambda g: bad(g, methods=[Method("odd", "Odd", {"x": {1}}, None)]),
         "method 'odd' has settings that JSON cannot hold"),
    ],
)  # fmt: skip
def test_bad_input_leaves_no_file(given, change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        run(**change(given))
    assert list(tmp_path.iterdir()) == []


def test_parquet_has_the_same_rows(given, expected, tmp_path):
    path, copy = tmp_path / "results.sqlite", tmp_path / "results.parquet"
    run(**given, methods=FEW, path=path)
    export_results(path, copy)
    export_results(path, copy)  # may be there already
    assert rows_of(copy) == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == [copy.name, path.name]
    one, two = read_results(path), read_results(copy)
    assert one.columns.tolist() == two.columns.tolist()
    assert one[list(TIMES)].equals(two[list(TIMES)])
    assert one["svm_error"].dtype == two["svm_error"].dtype == np.float64


def test_results_can_be_read_while_they_are_written(given, tmp_path):
    path, seen = tmp_path / "results.sqlite", []

    def look(X, y, n_jobs):
        seen.append(len(read_results(path)))
        return METHODS["l1"].learn(X, y, n_jobs)

    run(**given, methods=[Method("look", "Look", {}, look), "l1"], path=path)
    assert seen == [0, 2, 4, 6]  # whole tasks


def test_unreadable_files(tmp_path):
    for name in ("results.sqlite", "results.parquet"):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            read_results(tmp_path / name)
        (tmp_path / name).write_bytes(b"neither nor" * 100)
        with pytest.raises(ValueError, match=f"{name} cannot be opened as a results"):
            read_results(tmp_path / name)
    with pytest.raises(ValueError, match=r"must end in \.sqlite or \.parquet"):
        read_results("results.csv")
