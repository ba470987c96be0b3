"""The paper's experiments on the command line, made small."""

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from groundmetric.experiments import FIGURE_3, FIGURE_4, METHODS, read_results
from groundmetric.experiments.plan import Request, eligible, plan

ROOT = Path(__file__).parents[2]


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
        "reproduce",
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
    found = run(*line, "--method", "hellinger", "--export", "r.parquet", "--json")
    assert json.loads(found.stdout)["new_rows"] == {"tiny/1x1-seed3": 1}
    frame = read_results(tiny / "r.parquet")
    assert frame["method"].tolist() == ["hellinger", "l1"]
    assert set(frame["classes"]) <= {"left | right", "right | left"}
    assert set(frame["seed"]) == {3}
    assert (frame["n_train"] == 60).all()
    assert (frame["n_test"] == 30).all()
    assert [len(errors) for errors in frame["knn_errors"]] == [20, 20]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(("variables", "there"), [([], True), (["SVM="], False)])
def test_make_reproduce_trains_svms_unless_told_not_to(variables, there):
    line = ["make", "--dry-run", "reproduce", *variables]
    found = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "groundmetric reproduce" in found.stdout
    assert ("--svm" in found.stdout) is there


def test_reproduce_digits_and_draw(folder, run):
    methods = ["--method", "l1", "--method", "hellinger"]
    found = run("reproduce", *methods, "--experiment", "my digits/2")
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
    for said in ("k-NN error (mean over kappa", "Recall (mean over kappa"):
        assert said in text
    with sqlite3.connect("results.sqlite") as file:
        file.execute("UPDATE results SET svm_error = 0.25")
    assert run(*line, "--out", "here").exit_code == 0
    text = (folder / "here" / names[2]).read_text(encoding="utf-8")
    assert text.count("| l1 against |") == 3
    assert "\nSVM error, l1 minus the other" in text


def test_figures_are_judged_before_the_first_is_drawn(folder, run):
    methods = ["--method", "l1", "--method", "l2"]
    for name in ("one", "two"):
        assert run("reproduce", *methods, "--experiment", name).exit_code == 0
    line = ["figures", "results.sqlite", "--out", "here"]
    for options, said in (
        ([], "there are 2 experiments, one, two: name one with --experiment."),
        (["--experiment", "six"], "--experiment is 'six'; the results have one, two"),
        (["--experiment", "one"], "figure 1 cannot be drawn from"),
        (["--out", "data.csv/here"], "--out is data.csv/here, but "),
    ):
        found = run(*line, *options)
        assert found.exit_code == 2
        assert said in found.stderr
    assert not (folder / "here").exists()


def planned(figures, y, **options):
    request = Request(figures, **options)
    return plan(y, eligible(y, request, "y")[0], request, stem="y")


def test_figures_of_one_size_share_an_experiment():
    many, few = planned([1, 2, 3, 4], np.repeat(np.arange(60), 50))
    assert (many.name, many.figures, len(many.tasks)) == ("y/25x25-seed0", [1, 2], 625)
    assert (few.name, few.figures, len(few.tasks)) == ("y/10x10-seed0", [3, 4], 100)
    assert sorted(few.methods) == sorted({*FIGURE_3, *FIGURE_4})
    assert set(many.methods) < set(METHODS)
    # All of them, if there are not so many classes.
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
    found = run("reproduce", *SMALL, "--json")
    assert found.stderr == "left out, with fewer than 6 histograms: 3 (5)\n"
    assert json.loads(found.stdout)["left_out"] == {"3": 5}
    drawn = set(" | ".join(read_results("results.sqlite")["classes"]).split(" | "))
    assert len(drawn) == 2
    assert drawn < {"0", "1", "2"}


@pytest.mark.usefixtures("counted")
def test_tasks_of_many_classes(run):
    line = ["reproduce", *SMALL, "--multiclass", "3", "--tasks", "2"]
    found = run(*line, "--draw", "drawn", "--compare", "l1")
    said, *paths = found.stdout.splitlines()
    assert said == "counted/3-classes-seed0: 4 new rows in results.sqlite"
    names = [f"counted-3-classes-seed0-figure1.{end}" for end in ("png", "svg", "md")]
    assert paths == [f"drawn/{name}" for name in names]
    rows = read_results("results.sqlite")
    assert {len(classes.split(" | ")) for classes in rows["classes"]} == {3}
    assert set(rows["n_train"]) == {12}
    assert {len(errors) for errors in rows["knn_errors"]} == {3}


@pytest.mark.usefixtures("counted")
def test_every_so_many_tasks_are_those_of_a_run_of_all(run):
    line = ["reproduce", *SMALL, "--multiclass", "2", "--tasks", "5"]
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
    line = ["reproduce", *SMALL, "--class", "2", "--class", "0"]
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
    "a file for a folder": ("--draw data.csv", "data.csv is not a folder"),
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
    found = run("reproduce", *line.split())
    assert found.exit_code == 2
    (said,) = found.stderr.splitlines()
    assert sentence in said
    assert not (counted / "results.sqlite").exists()


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("metric-learn", ["reproduce"]),
        ("pandas", ["reproduce", "--method", "l1", "--export", "r.parquet"]),
        ("matplotlib", ["reproduce", "--figure", "3", "--draw", "f"]),
        ("matplotlib", ["figures", "none.sqlite"]),
    ],
)
def test_missing_packages_show_at_once(package, line, folder, run, monkeypatch):
    monkeypatch.setitem(sys.modules, package.replace("-", "_"), None)
    found = run(*line)
    assert found.exit_code == 2
    assert f"needs {package} for this" in found.stderr
    assert "pip install 'groundmetric[cli,experiments]'" in found.stderr
    assert not (folder / "results.sqlite").exists()
