"""The paper's experiments on the command line, made small."""

import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest

from groundmetric.experiments import read_results

ROOT = Path(__file__).parents[2]


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
        (["--experiment", "six"], "--experiment is 'six'; the results are of one, two"),
        (["--experiment", "one"], "methods has no two that figure 1 compares"),
        (["--out", "data.csv/here"], "--out is data.csv/here, but "),
    ):
        found = run(*line, *options)
        assert found.exit_code == 2
        assert said in found.stderr
    assert not (folder / "here").exists()
