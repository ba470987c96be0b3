"""A column of groups, which evaluate, report and fit do not divide."""

import json

import numpy as np
import pandas as pd
import pytest
from samples import csv_of

from groundmetric import MetricLearningCV
from groundmetric.datasets import read_table
from groundmetric.experiments import compare

RNG = np.random.default_rng(0)
PATIENTS = np.repeat(np.arange(12), 3)
LABELS = np.repeat(["ill", "well"], 18)
COUNTS = RNG.integers(1, 9, (36, 4))
COUNTS[:18, 0] += 4


@pytest.fixture
def samples(folder):
    """Write samples of twelve patients, whose names start with zeros."""
    rows = [[f"{p:03}", *row] for p, row in zip(PATIENTS, COUNTS, strict=True)]
    (folder / "samples.csv").write_text(csv_of(rows, LABELS, "patient,a,b,c,d,state"))
    return folder


def test_a_column_of_groups_is_not_a_bin(samples):
    data = read_table("samples.csv", groups="patient")
    assert data.names == ("a", "b", "c", "d")
    assert data.groups.tolist() == [f"{p:03}" for p in PATIENTS]
    assert data.take([0, 35]).groups.tolist() == ["000", "011"]
    assert read_table("samples.csv", groups=0, label="state").groups[3] == "001"
    assert read_table("samples.csv", ignore="patient").groups is None
    text = (samples / "samples.csv").read_text()
    (samples / "gap.csv").write_text(text.replace("\n003,", "\n,", 1))
    with pytest.raises(
        ValueError, match=r"gap.csv, line 11, column 'patient': no group"
    ):
        read_table("gap.csv", groups="patient")
    with pytest.raises(ValueError, match="label and groups both name 'state'"):
        read_table("samples.csv", label="state", groups="state", ignore="patient")
    with pytest.raises(
        ValueError, match=r"groups is 'who', but samples.csv has no such"
    ):
        read_table("samples.csv", groups="who")
    with pytest.raises(
        ValueError, match=r"groups is for CSV and other tables, not data.npz"
    ):
        read_table("data.npz", groups="who")


def test_numbers_that_may_be_two_groups_are_refused(tmp_path):
    frame = pd.DataFrame(COUNTS, columns=list("abcd")).assign(state=LABELS)
    for first, message in ((2.0**53, "is too large for a group"), (np.nan, "no group")):
        patients = PATIENTS.astype(float)
        patients[4] = first
        frame.assign(patient=patients).to_parquet(tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=rf"row 4, column 'patient': .*{message}"):
            read_table(tmp_path / "t.parquet", groups="patient")


def test_groups_beside_ids_with_samples_in_rows_and_columns(samples, run):
    frame = pd.read_csv(samples / "samples.csv", dtype={"patient": str})
    frame.insert(0, "sample", [f"S{i}" for i in range(len(frame))])
    frame.to_csv(samples / "rows.csv", index=False, sep=";")
    frame.set_index("sample").T.to_excel(samples / "columns.xlsx")
    line = ["--groups", "patient", "--folds", "3", "--no-learners", "--json"]
    found = [
        run("evaluate", *data, *line)
        for data in (["rows.csv"], ["columns.xlsx", "--transpose"], ["samples.csv"])
    ]
    assert "ids: column 'sample'" in found[0].stderr
    assert "ids: the names of the columns" in found[1].stderr
    facts = [json.loads(each.stdout) for each in found]
    assert [each["n_groups"] for each in facts] == [12, 12, 12]
    errors = [each["errors"]["l1"]["knn"] for each in facts]
    assert errors[0] == errors[1] == errors[2]


def test_evaluate_and_report_keep_groups_together(samples, run):
    few = ["--folds", "3", "--repeats", "1"]
    line = ["samples.csv", "--groups", "patient", *few, "--json"]
    found = [json.loads(run(name, *line).stdout) for name in ("evaluate", "report")]
    data = read_table("samples.csv", groups="patient")
    frame = compare(data.X, data.y, groups=data.groups, methods=["l1", "logistic"],
                    n_folds=3, n_repeats=1)  # fmt: skip
    for facts in found:
        assert facts["n_groups"] == 12
        l1 = facts["errors"]["l1"]["knn"]
        assert l1["mean"] == pytest.approx(frame.loc["l1", "error"], abs=1e-6)
        assert l1["high"] == pytest.approx(frame.loc["l1", "high"], abs=1e-6)
        assert set(facts["predictors"]) == {"logistic", "linear-svm"}
        one = facts["predictors"]["logistic"]
        assert one["error"]["mean"] == pytest.approx(frame.loc["logistic", "error"])
    # The page has a row for predictors.
    page = (samples / "report.html").read_text(encoding="utf-8")
    assert '<tr class="is-logistic"><th scope="row">' in page
    assert "linear SVM</th>" in page
    assert "None of the 12 groups was divided." in page
    without = run("evaluate", *line[:-1], "--no-learners")
    assert "None of the 12 groups was divided." in without.stdout
    assert "logistic" not in without.stdout


def test_a_test_set_has_other_groups(samples, run):
    text = (samples / "samples.csv").read_text()
    head, *rows = text.splitlines()
    (samples / "seen.csv").write_text("\n".join([head, *rows[:9], *rows[18:27]]) + "\n")
    (samples / "new.csv").write_text("\n".join([head, *rows[9:18], *rows[27:]]) + "\n")
    line = ["report", "seen.csv", "--groups", "patient", "--no-learners", "--json"]
    found = json.loads(run(*line, "--test", "new.csv").stdout)
    assert (found["design"], found["n_groups"]) == ("given", 12)
    again = run(*line, "--test", "seen.csv")
    assert again.exit_code == 2
    assert "groups and groups_test both have '000'" in again.stderr
    frame = pd.read_csv(samples / "new.csv").drop(columns="patient")
    frame.to_csv(samples / "new.csv", index=False)
    without = run(*line, "--test", "new.csv")
    assert "--groups is 'patient', but new.csv has no such column" in without.stderr


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "evaluate samples.csv --groups patient --folds 7",
            "--folds is 7, but samples.csv has class ill in 6 groups only, and each",
        ),
        (
            "report samples.csv --groups state --label patient",
            "--folds is 5, but samples.csv has 3 histograms of class",
        ),
        ("evaluate data.npz --groups patient", "--groups is for CSV and other"),
        (
            "fit samples.csv --groups patient",
            "--groups needs --cv; to leave the column",
        ),
        (
            "fit samples.csv --groups a --cv --ignore patient --label a",
            "--label and --groups both name 'a'",
        ),
    ],
)
def test_wrong_uses(line, message, run):
    found = run(*line.split())
    assert found.exit_code == 2
    assert message in " ".join(found.stderr.split())


@pytest.mark.usefixtures("samples")
def test_fit_chooses_by_folds_of_groups(run, monkeypatch):
    seen = []

    def fit(self, X, y, groups=None, _fit=MetricLearningCV.fit):
        seen.append(groups)
        return _fit(self, X, y, groups=groups)

    monkeypatch.setattr(MetricLearningCV, "fit", fit)
    found = run("fit", "samples.csv", "--groups", "patient", "--cv")
    assert found.exit_code == 0
    assert seen[0].tolist() == [f"{p:03}" for p in PATIENTS]
    assert "groundmetric evaluate samples.csv --groups patient" in found.stderr


def test_many_rows_are_divided_by_groups(folder, run):
    rng = np.random.default_rng(1)
    groups = np.arange(300) // 3
    labels = [f"k{g % 2}" for g in groups]
    rows = [
        [f"g{g}", *row]
        for g, row in zip(groups, rng.integers(1, 9, (300, 3)), strict=True)
    ]
    (folder / "many.csv").write_text(csv_of(rows, labels, "who,a,b,c,kind"))
    line = ["evaluate", "many.csv", "--groups", "who", "--label", "kind", "--json"]
    found = run(*line, "--limit", "20", "--no-learners")
    facts = json.loads(found.stdout)
    assert (facts["design"], facts["n_groups"]) == ("disjoint", 100)
