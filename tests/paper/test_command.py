"""The paper's experiments on the command line, made small."""

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from paper import (
    ALL_STARTS,
    FIGURE_3,
    FIGURE_4,
    METHODS,
    MissingResultsError,
    read_results,
)
from paper.command import main
from paper.methods import BESIDE
from paper.plan import Request, eligible, plan
from started import SCRIPT, finished, python

ROOT = Path(__file__).parents[2]


class Ended(NamedTuple):
    """The end of a command."""

    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys):
    """Call the command."""

    def call(*words):
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:  # argparse's
            code = ended.code
        return Ended(code, *capsys.readouterr())

    return call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tiny(folder):
    """Two classes of 45 on 4 bins, numbered and named."""
    rng = np.random.default_rng(0)
    X = np.concatenate(
        [rng.dirichlet([4, 2, 1, 1], 45), rng.dirichlet([1, 1, 2, 4], 45)]
    )
    names = ["left", "right"]
    np.savez("tiny.npz", X=X, y=np.repeat([0, 1], 45), class_names=names)
    return folder


def test_reproduce_exports_and_goes_on(tiny, run):
    line = [
        "run",
        "tiny.npz",
        "--classes",
        "1",
        "--seed",
        "3",
        "--out",
        "r.sqlite",
    ]
    line += ["--method", "l1"]
    assert run(*line).stdout == "tiny/1x1-seed3: 1 new rows in r.sqlite\n"
    found = run(*line, "--method", "hellinger", "--export", "r.parquet")
    assert found.stdout == "tiny/1x1-seed3: 1 new rows in r.sqlite\n"
    frame = read_results(tiny / "r.parquet")
    assert frame["method"].tolist() == ["hellinger", "l1"]
    assert set(frame["classes"]) <= {"left | right", "right | left"}
    assert set(frame["seed"]) == {3}
    assert (frame["n_train"] == 60).all()
    assert (frame["n_test"] == 30).all()
    assert [len(errors) for errors in frame["knn_errors"]] == [20, 20]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("variables", "there"), [([], True), (["SVM="], False)])
def test_make_reproduce_trains_svms_by_default(variables, there):
    line = ["make", "--dry-run", "reproduce", *variables]
    found = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python reproduction run" in found.stdout
    assert ("--svm" in found.stdout) is there


def test_reproduce_digits_and_draw(folder, run):
    methods = ["--method", "l1", "--method", "hellinger"]
    found = run("run", *methods, "--experiment", "my digits/2")
    assert found.stdout == "my digits/2: 8 new rows in results.sqlite\n"
    assert (read_results("results.sqlite")["n_test"] == 80).all()
    line = ["figures", "results.sqlite", *methods, "--compare", "l1"]
    found = run(*line, "--out", "here")
    # Named after the experiment, so that another one does not overwrite them.
    names = [f"my-digits-2-figure1.{suffix}" for suffix in ("png", "svg", "md")]
    assert found.stdout.split() == [f"here/{name}" for name in names]
    assert {path.name for path in (folder / "here").iterdir()} == set(names)
    text = (folder / "here" / names[2]).read_text(encoding="utf-8")
    assert "| method | 1-NN error |" in text
    assert text.count("| l1 against |") == 2
    for message in ("k-NN error (mean over kappa", "Recall (mean over kappa"):
        assert message in text
    with sqlite3.connect("results.sqlite") as file:
        file.execute("UPDATE results SET svm_error = 0.25")
    assert run(*line, "--out", "here").exit_code == 0
    text = (folder / "here" / names[2]).read_text(encoding="utf-8")
    assert text.count("| l1 against |") == 3
    assert "\nSVM error, l1 minus the other" in text


def test_figures_are_judged_before_the_first_is_drawn(folder, run):
    methods = ["--method", "l1", "--method", "l2"]
    for name in ("one", "two"):
        assert run("run", *methods, "--experiment", name).exit_code == 0
    line = ["figures", "results.sqlite", "--out", "here"]
    for options, message in (
        ([], "there are 2 experiments, one, two: name one with --experiment."),
        (["--experiment", "six"], "--experiment is 'six'; the results have one, two"),
        (["--experiment", "one"], "figure 1 cannot be drawn from"),
        (["--experiment", "one", "--figure", "5"], "argument --figure: invalid choice"),
        (["--interval", "days"], "argument --interval: invalid choice"),
    ):
        found = run(*line, *options)
        assert found.exit_code == 2
        assert message in found.stderr
    assert not (folder / "here").exists()


def planned(figures, y, **options):
    request = Request(figures, **options)
    return plan(y, eligible(y, request, "y")[0], request, stem="y")


def test_figures_of_one_size_share_an_experiment():
    many, few = planned([1, 2, 3, 4], np.repeat(np.arange(60), 50))
    assert (many.name, many.figures, len(many.tasks)) == ("y/25x25-seed0", [1, 2], 625)
    assert (few.name, few.figures, len(few.tasks)) == ("y/10x10-seed0", [3, 4], 100)
    assert sorted(few.methods) == sorted({*FIGURE_3, *FIGURE_4, *BESIDE[4]})
    starts = planned([3], np.repeat(np.arange(60), 50), all_starts=True)[0]
    assert sorted(starts.methods) == sorted({*FIGURE_3, *ALL_STARTS})
    for bad in ({"figures": [4]}, {"figures": [3], "methods": ["l1"]}):
        with pytest.raises(ValueError, match="--all-starts adds to the methods of"):
            Request(**bad, all_starts=True).require_sense()
    assert set(many.methods) < set(METHODS)
    # All of them, if there are fewer classes.
    (one,) = planned([1, 2, 3, 4], np.repeat(np.arange(20), 50))
    assert sorted(one.methods) == sorted({*many.methods, *few.methods})


def test_classes_need_members_to_learn_from_and_to_test():
    # 20 neighbors of a test histogram: 21 to test in two classes, or in three.
    y = np.repeat(list("abcdef"), [40, 41, 37, 36, 90, 90])
    assert eligible(y, Request([1]), "y") == (
        ["b", "e", "f"],
        {"a": 40, "c": 37, "d": 36},
    )
    assert eligible(y, Request([1], multiclass=3), "y") == (
        ["a", "b", "c", "e", "f"],
        {"d": 36},
    )
    assert eligible(y, Request([1], n_train=35, n_neighbors=1), "y")[1] == {}
    assert eligible(y, Request([1], n_test=6), "y")[1] == {}


@pytest.fixture
def counted(folder):
    """Classes 0 to 3, of which the last is small."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), [8, 8, 8, 5])
    np.savez("counted.npz", X=rng.dirichlet(np.ones(4), y.size), y=y)
    return folder


SMALL = ["counted.npz", "--train", "4", "--test", "3", "--neighbors", "3"]
SMALL += ["--method", "l1", "--method", "l2"]


@pytest.mark.usefixtures("counted")
def test_small_classes_are_left_out_and_named(run):
    found = run("run", *SMALL)
    assert found.stderr == "left out, with fewer than 6 histograms: 3 (5)\n"
    drawn = set(" | ".join(read_results("results.sqlite")["classes"]).split(" | "))
    assert len(drawn) == 2
    assert drawn < {"0", "1", "2"}


@pytest.mark.usefixtures("counted")
def test_tasks_of_many_classes(run):
    line = ["run", *SMALL, "--multiclass", "3", "--tasks", "2"]
    found = run(*line, "--draw", "drawn", "--compare", "l1")
    message, *paths = found.stdout.splitlines()
    assert message == "counted/3-classes-seed0: 4 new rows in results.sqlite"
    names = [f"counted-3-classes-seed0-figure1.{end}" for end in ("png", "svg", "md")]
    assert paths == [f"drawn/{name}" for name in names]
    rows = read_results("results.sqlite")
    assert {len(classes.split(" | ")) for classes in rows["classes"]} == {3}
    assert set(rows["n_train"]) == {12}
    assert {len(errors) for errors in rows["knn_errors"]} == {3}


@pytest.mark.usefixtures("counted")
def test_every_second_task_is_that_of_a_run_of_all(run):
    line = ["run", *SMALL, "--multiclass", "2", "--tasks", "5"]
    run(*line, "--every", "2", "--out", "some.sqlite")
    some = read_results("some.sqlite")
    assert sorted(set(some["task"])) == [0, 2, 4]
    run(*line, "--out", "all.sqlite")
    known = read_results("all.sqlite").set_index(["task", "method"])["classes"]
    found = some.set_index(["task", "method"])["classes"]
    assert (found == known[found.index]).all()
    # The others can be added.
    assert "4 new rows" in run(*line, "--out", "some.sqlite").stdout


@pytest.mark.usefixtures("counted")
def test_classes_by_name(run):
    line = ["run", *SMALL, "--class", "2", "--class", "0"]
    assert run(*line).exit_code == 0
    (classes,) = set(read_results("results.sqlite")["classes"])
    assert set(classes.split(" | ")) == {"0", "2"}


WRONG = {
    "two sizes, one name": (
        "many.npz --figure 1 --figure 3 --experiment mine",
        "the figures have 25 x 25 and 10 x 10 tasks, which cannot share a name",
    ),
    "nothing to compare": (
        "--method l1 --method l2 --draw f",
        "figure 1 cannot be drawn from l1, l2: there is nothing to compare.",
    ),
    "nothing to compare it with": (
        "--method l1 --draw f --compare l1",
        "cannot be drawn from l1 with --compare l1",
    ),
    "a comparison without figures": ("--compare gml", "add --draw FOLDER"),
    "a file for a folder": ("--method l1 --method l2 --compare l1 --draw counted.npz",
                            "File exists: 'counted.npz'"),
    "an export to nowhere": ("--export none/r.parquet", "there is no folder none"),
    "another export": ("--export r.csv", "r.csv must end in .parquet"),
    "other results": ("--method l1 --out r.csv", "r.csv must end in .sqlite"),
    "no number": ("--every 0", "argument --every: 0 is not a positive number"),
    "no such method": ("--method l3", "methods has 'l3'"),
    "no such class": ("--class ten", "--class is 'ten', which scikit-learn's digits"),
    "a small class by name": (
        "counted.npz --class 0 --class 1",
        "--class 0 has 8 histograms; at least 41 are needed, 30 to learn from and 11",
    ),
    "small classes only": (
        "counted.npz", "has 0 classes that are large enough, but a task has 2",
    ),
    "too many classes": ("--classes 6", "--classes is 6, but each half can have"),
    "two kinds of tasks": ("--classes 2 --multiclass 3", "leave it out with --multi"),
    "tasks of what": ("--tasks 2", "--tasks needs --multiclass"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_shows_before_anything_is_computed(case, counted, run):
    line, sentence = WRONG[case]
    np.savez("many.npz", X=np.ones((2500, 2)), y=np.repeat(np.arange(50), 50))
    found = run("run", *line.split())
    assert found.exit_code == 2
    assert sentence in found.stderr.splitlines()[-1]
    assert not (counted / "results.sqlite").exists()


@pytest.mark.parametrize("package", ["metric_learn", "pyarrow"])
def test_missing_packages_show_at_once(package, folder, run, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    found = run("run")
    assert found.exit_code == 2
    assert f"error: {package} must be installed" in found.stderr
    assert not (folder / "results.sqlite").exists()


def test_results_that_are_missing_are_one_line(folder, run, monkeypatch):
    def fail(*_, **__):
        raise MissingResultsError("2 results are missing.")

    monkeypatch.setattr("paper.command.run", fail)
    found = run("run", "--method", "l1")
    assert (found.exit_code, found.stderr) == (2, "error: 2 results are missing.\n")
    assert not any(folder.iterdir())


def test_an_interrupt_is_one_line(folder, run, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("paper.command.run", stop)
    line = ["--method", "l1", "--method", "gml", "--compare", "gml", "--draw", "f"]
    found = run("run", *line)
    assert found.exit_code == 130
    assert found.stderr == "interrupted; run it again to resume\n"
    assert [path.name for path in folder.iterdir()] == ["f"]


BROKEN = {
    "no such file": ("none.npz", {}, "none.npz"),
    "no labels": ("b.npz", {"X": np.ones((4, 2))}, "b.npz is not an .npz file with"),
    "one label too few": (
        "b.npz", {"X": np.ones((4, 2)), "y": [0, 0, 1]}, "y has 3 labels for 4",
    ),
    "an empty histogram": (
        "b.npz", {"X": np.zeros((2, 2)), "y": [0, 1]}, "X[0] has zero mass",
    ),
    "too few names": (
        "b.npz", {"X": np.ones((2, 2)), "y": [0, 1], "class_names": ["a"]},
        "b.npz: y has 1, but there are 1 class_names",
    ),
    "a number below zero": (
        "b.npz", {"X": np.ones((2, 2)), "y": [0, -1], "class_names": ["a"]},
        "b.npz: y does not index class_names",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("case", BROKEN)
def test_files_that_are_no_data(case, run):
    name, arrays, sentence = BROKEN[case]
    if arrays:
        np.savez(name, **arrays)
    found = run("run", name)
    assert found.exit_code == 2
    (message,) = found.stderr.splitlines()
    assert sentence in message


def test_a_killed_run_goes_on(tiny):
    """Run the script itself, as ``make reproduce`` does, and kill it."""
    line = [SCRIPT, ROOT / "reproduction", "run", "tiny.npz", "--neighbors", "3"]
    line += ["--multiclass", "2", "--tasks", "40", "--neighbors", "3"]
    line += ["--method", "l1", "--method", "gml"]
    process = python(*line)
    results = tiny / "results.sqlite"
    while process.poll() is None and not (results.exists() and n_rows(results)):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.communicate()[0] == ""
    before = n_rows(results)
    assert 0 < before < 80
    message = f"tiny/2-classes-seed0: {80 - before} new rows in results.sqlite\n"
    assert finished(*line)[:2] == (0, message)
    assert n_rows(results) == 80


def n_rows(path):
    """Count the rows, while another process may be creating the table."""
    with closing(sqlite3.connect(path)) as file:
        try:
            return file.execute("SELECT count(*) FROM results").fetchone()[0]
        except sqlite3.OperationalError:
            return 0
