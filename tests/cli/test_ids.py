"""Ids in every output, and files that need some care."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from samples import X, Y

from groundmetric.base._model import load_model

IDS = [f"S{i}" for i in range(8)]
FRAME = pd.DataFrame(X, columns=list("abc")).assign(kind=Y)
FRAME.insert(0, "sample", IDS)


@pytest.fixture
def named(folder, run):
    """Write a table with ids, and a model of it."""
    FRAME.to_csv("named.csv", index=False, sep=";")
    FRAME.drop(columns="kind")[:2].to_csv("new.csv", index=False)
    found = run("fit", "named.csv", "--max-steps", "1", "--out", "named.npz")
    assert found.stderr.startswith("ids: column 'sample'\nlabels: column 'kind'")
    return folder


@pytest.mark.usefixtures("named")
def test_predictions_have_ids(run):
    found = run("predict", "new.csv", "--model", "named.npz")
    assert found.stdout == "query,label,votes\nS0,left,1.0\nS1,left,1.0\n"
    facts = run("predict", "new.csv", "--model", "named.npz", "--json").stdout
    assert json.loads(facts)["queries"] == ["S0", "S1"]


@pytest.mark.usefixtures("named")
def test_neighbors_have_ids(run):
    line = "distances named.csv --model named.npz --queries new.csv --neighbors 1"
    rows = run(*line.split()).stdout.splitlines()
    assert rows[1:] == ["S0,1,S0,0.0,left", "S1,1,S1,0.0,left"]
    run(*line.split(), "--out", "n.npz")
    found = np.load("n.npz")
    assert found["names"][found["indices"]].ravel().tolist() == ["S0", "S1"]
    assert found["query_names"].tolist() == ["S0", "S1"]
    facts = json.loads(run(*line.split(), "--json").stdout)
    assert (facts["queries"], facts["neighbors"]) == (["S0", "S1"], [["S0"], ["S1"]])


@pytest.mark.usefixtures("named")
def test_labels_are_those_of_the_base(run):
    line = "distances named.csv --model named.npz --queries new.csv --neighbors 1"
    found = run(*line.split(), "--label", "kind", "--id", "sample")
    assert found.exit_code == 0
    assert ",left\n" in found.stdout
    assert "ids" not in found.stderr
    pd.read_csv("new.csv").drop(columns="sample").to_csv("plain.csv", index=False)
    found = run(*line.replace("new", "plain").split(), "--id", "sample")
    assert found.stdout.splitlines()[1].startswith("0,1,S0,")
    found = run(*line.replace("named.csv", "plain.csv").split(), "--label", "kind")
    assert "--label is 'kind', but plain.csv has no such column" in found.stderr


@pytest.mark.usefixtures("named")
def test_matrices_have_ids(run):
    line = "distances named.csv --model named.npz --queries new.csv"
    run(*line.split(), "--out", "d.csv")
    frame = pd.read_csv("d.csv", index_col=0)
    assert frame.columns.tolist() == IDS
    assert frame.index.tolist() == ["S0", "S1"]
    assert frame.loc["S1", "S1"] == 0
    found = run(*line.split(), "--out", "d.npy")
    assert "names of rows and columns are not in d.npy; they are in .csv" in (
        found.stderr
    )


def test_reports_name_rows_by_their_ids(named, run):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.integers(1, 9, (12, 3)), columns=list("abc"))
    rows.assign(sample=[f"T{i}" for i in range(12)], kind=6 * ["l", "r"]).to_csv(
        "r.csv"
    )
    found = run("report", "named.csv", "--test", "r.csv", "--no-learners")
    assert found.exit_code == 2  # other labels
    found = run("report", "r.csv", "--folds", "2", "--no-learners", "--id", "sample")
    assert found.exit_code == 0
    page = (named / "report.html").read_text(encoding="utf-8")
    assert re.search(r"r\.csv, T\d+, line \d", page)


@pytest.mark.usefixtures("named")
def test_models_know_the_ids_of_what_they_learned_from(run):
    text = run("info", "named.npz").stdout
    assert "S0, S1" in text
    facts = json.loads(run("info", "named.npz", "--json").stdout)
    assert facts["ids"] == IDS
    assert facts["n_histograms"] == 8
    found = run("info", "named.csv")
    assert (found.exit_code, found.stdout) == (2, "")


def test_missing_cells_are_an_error_unless_asked_for(folder, run):
    (folder / "gaps.csv").write_text("a,b,c,kind\n1,,2,x\n<0.1,2,1,y\n1,2,3,x\n1,1,1,y")
    found = run("fit", "gaps.csv")
    assert found.exit_code == 2
    assert "2 missing cells in 2 of 4 rows: 1 empty (line 2, column 'b'), 1 '<0.1'" in (
        found.stderr
    )
    assert "zero with --missing zero, leave out their rows with --missing drop, or" in (
        found.stderr
    )
    for missing, n in (("zero", 4), ("drop", 2)):
        line = ["fit", "gaps.csv", "--max-steps", "1", "--missing", missing, "--json"]
        assert json.loads(run(*line).stdout)["n_histograms"] == n


@pytest.mark.usefixtures("folder")
def test_samples_in_columns(run):
    FRAME.set_index("sample").T.to_csv("turned.csv")
    FRAME.set_index("sample").T.to_excel("turned.xlsx")
    for name in ("turned.csv", "turned.xlsx"):
        found = run("fit", name, "--label", "kind")
        assert found.exit_code == 2
        assert "if samples are in columns, add --transpose." in found.stderr
        line = ["fit", name, "--label", "kind", "--transpose", "--max-steps", "1"]
        found = run(*line)
        assert found.exit_code == 0
        assert "ids: the names of the columns\n" in found.stderr
        assert found.stderr.endswith(
            f"groundmetric evaluate {name} --label kind --transpose\n"
        )


@pytest.mark.usefixtures("folder")
def test_queries_may_have_samples_in_rows(run):
    FRAME.to_csv("rows.csv", index=False)
    FRAME.set_index("sample").T.to_csv("turned.csv")
    line = ["--label", "kind", "--transpose", "--max-steps", "1"]
    assert run("fit", "turned.csv", *line).exit_code == 0
    line = ["distances", "turned.csv", "--transpose", "--model", "model.npz"]
    wanted = run(*line).stdout
    assert run(*line, "--queries", "rows.csv").stdout == wanted
    assert run(*line, "--queries", "turned.csv").stdout == wanted


TOPICS = {
    "art": ["canvas", "brush", "paint", "museum"],
    "sport": ["goal", "ball", "team", "match"],
}


@pytest.fixture
def texts(folder):
    """Write texts about two topics, and vectors of their words."""
    rng = np.random.default_rng(0)
    lines = []
    for k, (topic, words) in enumerate(TOPICS.items()):
        (folder / "texts" / topic).mkdir(parents=True)
        for i in range(6):
            text = " ".join(rng.choice([*words, "city"], 6))
            (folder / "texts" / topic / f"{i}.txt").write_text(f"The {text}.")
        lines += [[word, *(3 * k + rng.normal(size=3)).tolist()] for word in words]
    lines.append(["city", 1.5, 1.5, 1.5])
    text = "\n".join(" ".join(map(str, line)) for line in lines)
    (folder / "vectors.txt").write_text(text)
    return ["texts", "--vectors", "vectors.txt"]


def test_texts_from_evaluation_to_prediction(texts, folder, run):
    found = run("evaluate", *texts, "--folds", "2", "--json")
    assert found.exit_code == 0
    assert "tfidf-l1" in found.stdout
    assert "lmnn" not in found.stdout
    assert set(json.loads(found.stdout)["predictors"]) == {"logistic", "linear-svm"}
    assert "long: --learners adds them" in found.stderr
    found = run("fit", *texts, "--out", "t.npz")
    assert "over 9 bins, 2 classes: 100 steps" in found.stdout
    (folder / "new").mkdir()
    (folder / "new" / "a.txt").write_text("a goal for the other team")
    (folder / "new" / "b.txt").write_text("unknown")
    found = run("predict", "new", "--model", "t.npz")
    assert found.stdout == "query,label,votes\na.txt,sport,1.0\n"
    assert "warning: 1 text without any of these words skipped: b.txt" in found.stderr
    line = "distances texts --model t.npz --queries new --neighbors 1"
    assert run(*line.split()).stdout.splitlines()[1].startswith("a.txt,1,sport/")
    head = run("distances", "new", "--model", "t.npz").stdout.splitlines()[0]
    assert head == ",a.txt"


def test_vectors_that_a_model_has(texts, run):
    run("fit", *texts, "--out", "t.npz")
    found = run("evaluate", *texts, "--model", "t.npz", "--folds", "2")
    assert found.exit_code == 0
    assert "--vectors is not used: the model has the words and" in found.stderr
    found = run("report", *texts, "--test", "texts", "--no-learners", "--json")
    assert found.exit_code == 0


def test_options_that_texts_do_not_have(texts, run):
    found = run("fit", *texts, "--margin", "0.5")
    assert found.exit_code == 2
    assert found.stderr.startswith("error: --margin is not for texts, whose words")
    found = run("fit", *texts, "--max-steps", "2")
    assert "2 steps" in found.stdout


def test_learners_of_texts_that_are_asked_for(texts, run):
    vectors = np.loadtxt("vectors.txt", usecols=(1, 2, 3))
    line = ["fit", *texts, "--out", "t.npz", "--learner"]
    for learner, has_vectors in (("discriminant", True), ("smoothed", False)):
        found = run(*line, learner)
        assert found.exit_code == 0, found.stderr
        points = load_model("t.npz").points
        if has_vectors:  # in the order of the words of the texts
            np.testing.assert_array_equal(np.sort(points[0], 0), np.sort(vectors, 0))
        else:
            assert points is None
        assert run("predict", "texts", "--model", "t.npz").exit_code == 0
    assert run(*line, "smoothed", "--margin", "0.5", "--cv").exit_code == 0


def test_the_last_line_about_texts_runs(texts, run):
    line = ["evaluate", *texts, "--folds", "2", "--repeats", "1"]
    found = run(*line, "--learners", "--json")
    assert found.exit_code == 0, found.stderr
    assert {"discriminant", "gml-smoothed"} <= set(json.loads(found.stdout)["errors"])
    facts = json.loads(run(*line, "--json").stdout)
    assert not {"auto", "discriminant"} & set(facts["errors"])
    assert "next" in facts
