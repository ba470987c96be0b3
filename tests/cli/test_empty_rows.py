"""Rows of zero mass in files, such as empty documents."""

import csv
import json

import numpy as np
import pytest
from samples import X, Y, csv_of

from groundmetric import EMDClassifier, GroundMetricLearning
from groundmetric.datasets import read_table

GAPS = X.copy()
GAPS[2] = 0


@pytest.fixture
def gaps(folder):
    """Write data with an empty row, on line 4."""
    (folder / "gaps.csv").write_text(csv_of(GAPS, Y))
    np.save("gaps.npy", GAPS)


@pytest.mark.usefixtures("gaps")
@pytest.mark.parametrize("command", ["fit", "evaluate", "report"])
def test_empty_rows_are_rejected_with_a_way_out(command, run):
    found = run(command, "gaps.csv")
    assert found.exit_code == 2
    assert found.stderr == (
        "error: gaps.csv, line 4 has zero mass: histograms need positive mass; "
        "--empty uniform or nan accepts such rows.\n"
    )


@pytest.mark.usefixtures("gaps")
def test_fits_leave_empty_rows_out_or_make_them_uniform(run):
    assert run("fit", "gaps.csv", "--empty", "uniform").exit_code == 0
    found = GroundMetricLearning.load("model.npz")
    own = GroundMetricLearning().fit(np.where(GAPS.any(axis=1)[:, None], GAPS, 1), Y)
    np.testing.assert_allclose(found.metric_, own.metric_)
    found = run("fit", "gaps.csv", "--empty", "nan")
    assert found.exit_code == 0
    assert "left out 1 histogram of zero mass" in found.stderr
    assert "Learned from 7 histograms" in found.stdout
    assert "groundmetric evaluate gaps.csv --empty nan" in found.stderr


@pytest.mark.usefixtures("gaps")
@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.parametrize(("empty", "n"), [("uniform", 8), ("nan", 7)])
def test_evaluations_of_data_with_empty_rows(command, empty, n, run):
    line = [command, "gaps.csv", "--folds", 3, "--no-learners", "--json"]
    found = run(*line, "--empty", empty)
    assert found.exit_code == 0
    assert json.loads(found.stdout)["n_histograms"] == n


@pytest.mark.usefixtures("gaps", "model")
def test_predictions_of_empty_rows_are_priors(run):
    found = run(
        "predict", "gaps.npy", "--model", "model.npz", "--empty", "nan", "--json"
    )
    facts = json.loads(found.stdout)
    own = EMDClassifier(empty="nan").fit(X, Y)
    assert facts["labels"] == own.predict(GAPS).tolist()
    assert facts["votes"][2] == 0.5


@pytest.mark.usefixtures("gaps", "model")
def test_distances_of_empty_rows_are_nan(run):
    line = ["distances", "gaps.npy", "--model", "model.npz", "--empty", "nan"]
    assert run(*line, "--out", "all.npy").exit_code == 0
    found = np.load("all.npy")
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    full = np.delete(np.arange(8), 2)
    assert run(*line[:1], "X.npy", *line[2:4], "--out", "x.npy").exit_code == 0
    expected = np.load("x.npy")[np.ix_(full, full)]
    assert np.array_equal(found[np.ix_(full, full)], expected)
    # Among neighbors, there are none.
    found = run(*line, "--queries", "X.npy", "--neighbors", 7)
    rows = list(csv.DictReader(found.stdout.splitlines()))
    assert len(rows) == 8 * 7
    assert "2" not in {row["neighbor"] for row in rows}
    found = run(*line, "--neighbors", 2)
    assert "error: X[2] has zero mass, so that it has no nearest" in found.stderr


@pytest.mark.usefixtures("gaps")
def test_tables_with_empty_rows():
    assert read_table("gaps.csv", empty="uniform").X[2].tolist() == [1 / 3] * 3
    found = read_table("gaps.csv", empty="nan").X
    assert found[2].tolist() == [0.0] * 3
    np.testing.assert_allclose(np.delete(found, 2, axis=0).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match=r"line 4 has zero mass.*empty='uniform' or"):
        read_table("gaps.csv")
    with pytest.raises(ValueError, match="empty is 'zero'"):
        read_table("gaps.csv", empty="zero")


@pytest.mark.usefixtures("gaps")
def test_maps_guess_for_empty_rows_and_have_no_distances_to_them(run):
    assert run("fit", "data.csv", "--learner", "nca").exit_code == 0
    queries = ["gaps.csv", "--model", "model.npz", "--empty", "nan"]
    found = run("predict", *queries, "--json")
    assert found.exit_code == 0, found.stderr
    assert json.loads(found.stdout)["votes"][2] == 0.5
    found = run("distances", *queries, "--out", "d.npy")
    assert found.exit_code == 0, found.stderr
    missing = np.isnan(np.load("d.npy"))
    assert missing[2].all()
    assert missing[:, 2].all()
    assert missing.sum() == 15
    found = run("distances", *queries, "--neighbors", "1")
    assert found.exit_code == 2
    assert "row 2 has zero mass, so that it has no nearest neighbors" in found.stderr
    line = ["--queries", "data.csv", "--neighbors", "7", "--out", "n.npz"]
    assert run("distances", *queries, *line).exit_code == 0
    assert not (np.load("n.npz")["indices"] == 2).any()
    line[3] = "8"
    assert "--neighbors is 8" in run("distances", *queries, *line).stderr
