"""Did it help? The commands evaluate and report, small."""

import base64
import html
import json
import os
import re
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from samples import X, Y, csv_of

from groundmetric import GroundMetricLearning
from groundmetric.experiments import FIXED, compare
from groundmetric.report import _lesson


@pytest.mark.usefixtures("folder", "measured_once")
def test_evaluate(run):
    line = ["evaluate", "data.csv", "--folds", "2", "--neighbors", "1", "--no-svm"]
    found = run(*line)
    assert found.exit_code == 0
    for name in (
        *("l1", "l2", "Hellinger", "chi-squared", "learned metric"),
        *("smoothed metric", "LMNN", "ITML", "NCA", "chi-squared LMNN"),
    ):
        assert f" {name} " in found.stdout
    assert "saved: by the learned metric, compared with the distance" in found.stdout
    assert "were divided at random into 2 folds, 2 times" in found.stdout
    assert "Learning made no significant difference" in found.stdout
    use = "Use the l1 distance on these data: 0.0 % errors, and no learner makes fewer."
    then = "Nothing to learn: the l1 distance in scikit-learn: "
    assert f"\n{use}\n{then}" in found.stdout
    facts = json.loads(run(*line, "--json").stdout)
    # No errors in any fold: eight histograms do not prove that there are never any.
    low, high = (facts["errors"]["l1"]["knn"][end] for end in ("low", "high"))
    assert low == 0.0 < high < 0.5
    assert "svm" not in facts["errors"]["l1"]
    assert "knn_saved" not in facts["errors"]["learned"]
    assert facts["errors"]["chi2-lmnn"]["seconds"] >= 0
    assert facts["verdict"].endswith(use)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "counts", "there"),
    [
        ([], "0,0,3", True),
        ([], "1,2,3", False),
        (["--tfidf"], "1,2,3", True),
        (["--no-tfidf"], "0,0,3", False),
    ],
)
def test_counts_of_words_are_compared_with_tfidf(options, counts, there, run):
    lines = [f"{counts},sport", "0,4,0,sport", f"{counts},art", "1,0,0,art"]
    Path("words.csv").write_text("ball,goal,oil,topic\n" + "\n".join(2 * lines) + "\n")
    line = ["evaluate", "words.csv", "--folds", "2", "--neighbors", "1"]
    found = run(*line, "--no-learners", "--json", *options)
    assert ("tfidf-l1" in json.loads(found.stdout)["errors"]) is there
    found = run(*line, "--no-learners", *options)
    assert (" l1 of TF-IDF " in found.stdout) is there
    if not options:  # the report goes by the same rule
        report = ["report", "words.csv", "--no-learners", "--neighbors", "1"]
        found = run(*report, "--folds", "2", "--json")
        assert ("tfidf-l1" in json.loads(found.stdout)["errors"]) is there
        text = Path("report.html").read_text(encoding="utf-8")
        assert ("l1 of TF-IDF</th>" in text) is there


@pytest.mark.parametrize("n_classes", [5, 6])
def test_itml_is_for_few_classes_unless_asked_for(folder, run, n_classes):
    rng = np.random.default_rng(0)
    labels = [f"k{i % n_classes}" for i in range(4 * n_classes)]
    table = csv_of(rng.integers(1, 9, (len(labels), 3)), labels, "a,b,c,kind")
    (folder / "many.csv").write_text(table)
    line = ["evaluate", "many.csv", "--folds", "2", "--repeats", "1", "--json"]
    found = run(*line)
    many = n_classes == 6
    assert ("ITML was skipped, which takes minutes with 6" in found.stderr) is many
    errors = json.loads(found.stdout)["errors"]
    assert ("itml-hellinger" not in errors) is many
    assert "lmnn-hellinger" in errors
    if many:
        errors = json.loads(run(*line, "--learners").stdout)["errors"]
        assert "itml-hellinger" in errors
    found = run(*["report", *line[1:]])  # goes by the same rule
    assert ("ITML was skipped" in (folder / "report.html").read_text("utf-8")) is many
    assert ("itml-hellinger" not in json.loads(found.stdout)["errors"]) is many


@pytest.mark.usefixtures("folder")
def test_learners_that_cannot_run_are_named(run, monkeypatch):
    line = ["evaluate", "data.csv", "--folds", "2", "--neighbors", "1", "--no-svm"]
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    found = run(*line, "--json")
    assert found.stderr == (
        "labels: column 'kind', the only text column\nAutoMetric was skipped: a class "
        "has fewer than 4 training histograms or groups.\nLMNN was skipped, since it "
        "needs metric-learn: pip install 'groundmetric[baselines]'.\n"
    )
    assert {"nca-hellinger", "chi2-lmnn"} <= set(json.loads(found.stdout)["errors"])
    found = run(*line, "--json", "--no-learners")
    assert "skipped" not in found.stderr
    assert set(json.loads(found.stdout)["errors"]) == {*FIXED, "learned"}
    assert "Use" not in json.loads(found.stdout)["verdict"]


def notes_of(page):
    """Read the list of notes about the data in a report."""
    text = html.unescape(page.read_text(encoding="utf-8")).replace("\xa0", " ")
    return re.findall("<li>(.*?)</li>", text.partition("About the data")[2])


@pytest.mark.usefixtures("images")
def test_a_report_has_the_notes_on_the_data(folder, run):
    few = ["--no-learners", "--folds", "2", "--neighbors", "1"]
    found = run("report", "images", *few)
    assert found.stderr.splitlines() == notes_of(folder / "report.html")
    assert found.stderr.startswith("warning: 1 image skipped: bars/torn.png: ")
    aged = [[20 + i % 3, *row] for i, row in enumerate(X)]
    (folder / "age.csv").write_text(csv_of(aged, Y, "age,a,b,c,kind"))
    found = run("report", "age.csv", *few, "--out", "age.html")
    assert found.stderr.splitlines() == notes_of(folder / "age.html")
    assert "warning: column 'age' is used as a bin, but it" in found.stderr
    run("report", "age.csv", *few, "--ignore", "age", "--label", "kind")
    assert "About the data" not in (folder / "report.html").read_text("utf-8")


def test_a_report_spells_out_names_that_are_not_utf_8(folder, images, run):
    (images / "bars" / "torn.png").rename(images / "bars" / os.fsdecode(b"\xff.png"))
    few = ["--no-learners", "--folds", "2", "--neighbors", "1"]
    run("report", "images", *few)
    (message,) = notes_of(folder / "report.html")
    assert message.startswith("warning: 1 image skipped: bars/\\udcff.png: ")


@pytest.mark.parametrize("rows", [[1, 1], [1, 60]])  # folds, and disjoint sets
def test_evaluate_report_and_compare_have_the_same_numbers(rows, folder, run):
    rng = np.random.default_rng(5)
    labels = ["left", "right"] * (12 * rows[1])
    counts = rng.integers(1, 9, (len(labels), 4))
    counts[::2, 0] += 2
    (folder / "same.csv").write_text(csv_of(counts, labels, "a,b,c,d,kind"))
    line = ["same.csv", "--no-learners", "--limit", "24", "--seed", "3", "--json"]
    found = [json.loads(run(name, *line).stdout) for name in ("evaluate", "report")]
    for facts in found:
        for name in ("n_folds", "n_repeats", "report"):
            facts.pop(name, None)
        for each in facts["errors"].values():
            del each["seconds"]
    assert found[1]["errors"].pop("initial")  # the report has where learning started
    assert found[0] == found[1]
    assert found[0]["design"] == ("folds" if rows[1] == 1 else "disjoint")
    assert (found[0]["n_splits"], found[0]["n_histograms"]) == (10, len(labels))
    n_train = None if rows[1] == 1 else 24
    frame = compare(counts, labels, methods=["gml", *FIXED], seed=3, n_train=n_train)
    for name, row in frame.iterrows():
        own = found[0]["errors"]["learned" if name == "gml" else name]
        assert own["knn"]["mean"] == pytest.approx(row["error"])
        assert own["balanced_error"] == pytest.approx(row["balanced"])
        if name != "gml":
            assert own["knn_saved"]["low"] == pytest.approx(row["saved_low"])
            assert own["knn_saved"]["sure"] == pytest.approx(row["sure"])


def test_errors_of_unequal_classes_are_compared_with_guessing(folder, run):
    rng = np.random.default_rng(0)  # noise
    labels = ["most"] * 57 + ["few"] * 3
    table = csv_of(rng.integers(1, 9, (60, 4)), labels, "a,b,c,d,kind")
    (folder / "noise.csv").write_text(table)
    line = ["noise.csv", "--no-learners", "--folds", "3"]
    facts = json.loads(run("evaluate", *line, "--json").stdout)
    assert facts["guessing"] == {
        "error": pytest.approx(0.05),
        "balanced_error": 0.5,
    }
    assert facts["errors"]["learned"]["knn"]["mean"] < 0.1
    assert 0.4 < facts["errors"]["learned"]["balanced_error"] < 0.6
    for found in (run("evaluate", *line), run("report", *line)):
        assert "always guessing the most common one makes 5.0 % errors" in found.stdout
    assert "Balanced errors" in (folder / "report.html").read_text("utf-8")


def test_evaluate_a_model_on_what_it_has_seen(model, run):
    found = run(
        "evaluate", "data.csv", "--model", model, "--folds", "2", "--no-svm", "--json"
    )
    assert "was learned from 8 of these histograms" in found.stderr
    assert set(json.loads(found.stdout)["errors"]) == {
        "l1", "l2", "hellinger", "chi2", "learned",
    }  # fmt: skip


def test_classes_too_small_for_the_folds(model, folder, run):
    def said_of(labels, *options):
        (folder / "new.csv").write_text(csv_of(X, labels))
        line = ["evaluate", "new.csv", "--model", model, "--folds", "4", *options]
        found = run(*line)
        assert found.exit_code == 2
        return found.stderr

    assert said_of([*5 * ["many"], *3 * ["few"]]) == (
        "error: --folds is 4, but new.csv has 3 histograms of class few, and each fold "
        "needs one: use --folds 3, or add rows of this class, or leave it out.\n"
    )
    assert said_of([*7 * ["many"], "one"]) == (
        "error: --folds is 4, but new.csv has 1 histogram of class one, and each fold "
        "needs one: add rows of this class, or leave it out.\n"
    )
    assert said_of(Y, "--limit", "6") == (
        "error: --folds is 4, but new.csv has 3 histograms of class left drawn, and "
        "each fold needs one: use --folds 3, or a larger --limit, or add rows of this "
        "class, or leave it out.\n"
    )


def test_help_says_how_a_model_is_evaluated(run):
    words = " ".join(run("evaluate", "--help").stdout.split())
    assert "as it is, by neighbors within DATA" in words


def test_report(model, folder, run):
    found = run("report", "data.csv", "--title", "Left, right", "--folds", "4")
    assert found.exit_code == 0
    message, *_, where = found.stdout.splitlines()
    assert message.startswith("Learning made no significant difference: ")
    assert where == "Report: report.html"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Left, right" in page
    headline = re.search(r'<h2 id="headline">(.*?)</h2>', page)[1]
    assert message == html.unescape(headline).replace("\xa0", " ")
    found = run(
        "report", "data.csv", "--model", model, "--test", "data.csv", "--out", "t.html",
        "--no-learners", "--json",
    )  # fmt: skip
    facts = json.loads(found.stdout)
    assert (facts["report"], facts["n_test"]) == ("t.html", 8)
    assert facts["errors"]["learned"]["knn"]["mean"] == 0.0
    assert (folder / "t.html").exists()


def test_a_report_on_too_few_rows_says_what_is_needed(folder, run):
    (folder / "tiny.csv").write_text(csv_of(X[:5], [*4 * ["many"], "one"]))
    found = run("report", "tiny.csv")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr == (
        "error: --folds is 5, but tiny.csv has 1 histogram of class one, and each fold "
        "needs one: add rows of this class, or leave it out, or give a test set with "
        "--test.\n"
    )
    found = run("report", "data.csv", "--limit", "6")
    assert found.stderr.startswith(
        "error: --folds is 5, but data.csv has 3 histograms of class left drawn, and "
        "each fold needs one: use --folds 3, or a larger --limit, or add rows of this "
    )
    line = ["report", "tiny.csv", "--neighbors", "1", "--no-learners"]
    (folder / "test.csv").write_text(csv_of(X[5:], ["many", "one", "one"]))
    assert run(*line, "--test", "test.csv").exit_code == 0


def test_report_on_test_histograms_with_labels_in_a_file(folder, run):
    np.save("y.npy", Y)
    (folder / "test.txt").write_text("\n".join(Y[::2]))
    np.save("test.npy", X[::2])
    line = ["report", "X.npy", "--labels", "y.npy", "--test", "test.npy"]
    found = run(*line)
    assert found.exit_code == 2
    assert found.stderr == (
        "error: test.npy has no labels; give them with --test-labels FILE.\n"
    )
    found = run(*line, "--test-labels", "test.txt", "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["n_test"] == 4
    assert json.loads(found.stdout)["errors"]["l1"]["knn"]["mean"] == 0.0


def test_a_report_says_how_to_make_it_again(folder, run):
    (folder / "a b.csv").write_text(csv_of([*X, *X], [*Y, *Y]))
    line = ["report", "a b.csv", "--limit", "10", "--seed", "3", "--title", "<T>"]
    assert run(*line, "--no-learners").exit_code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    command = "groundmetric report 'a b.csv' --limit 10 --seed 3 --title '<T>'"
    command += " --no-learners"
    assert f'<pre id="snippet"><code>{html.escape(command)}</code>' in page
    for name, value in {
        "command": html.escape(command),
        "data": "a b.csv",
        "rows used": "10 of 16, drawn class by class with seed 3",
        "test data": "splits of the rows used",
        "seed": "3",
    }.items():
        assert f'<tr><th scope="row">{name}</th><td>{value}</td></tr>' in page
    assert (
        run("report", "a b.csv", "--test", "data.csv", "--no-learners").exit_code == 0
    )
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert '<th scope="row">test data</th><td>data.csv</td>' in page
    assert '<th scope="row">rows used</th><td>all 16</td>' in page


def test_a_report_on_a_grid_names_lines_of_the_file(folder, run):
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 9, (24, 4))
    (folder / "grid.csv").write_text(
        csv_of(rows, ["left", "right"] * 12, "nw,ne,sw,se,kind")
    )
    line = ["report", "grid.csv", "--no-learners", "--limit", "20"]
    assert run(*line, "--shape", "2x2").exit_code == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["grid"] == [1, 2, 2]
    assert data["names"] == ["nw", "ne", "sw", "se"]
    assert data["examples"]["shown"]
    lines = (folder / "grid.csv").read_text().splitlines()
    for shown in data["examples"]["shown"]:
        for part in ("query", "before", "after"):
            source, number = shown[part]["name"].split(", line ")
            assert source == "grid.csv"
            cells = lines[int(number) - 1].split(",")
            assert cells[-1] == data["classes"][shown[part]["label"]]
            counts = np.array(cells[:-1], dtype=float)
            levels = np.frombuffer(base64.b64decode(shown[part]["levels"]), np.uint8)
            assert levels == pytest.approx(255 * counts / counts.max(), abs=0.51)
    for shape, message in (
        ("3x2", "--shape is 3x2, that is 6 features, but there are 4."),
        ("two", "--shape is two; rows and columns such as 8x8 are needed"),
    ):
        found = run(*line, "--shape", shape)
        assert found.exit_code == 2
        assert message in found.stderr


def test_a_report_on_images_shows_them(folder, run):
    rng = np.random.default_rng(0)
    for name in ("steps", "bars"):
        (folder / "photos" / name).mkdir(parents=True)
        for k in range(8):
            pixels = rng.integers(0, 256, (20, 150), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / "photos" / name / f"{k}.png")
    assert run("report", "photos", "--no-learners", "--folds", "2").exit_code == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["names"][5] == "vertical edges, row 1, column 1"
    assert data["examples"]["shown"]
    for shown in data["examples"]["shown"]:
        query = shown["query"]
        folder_name, file = query["name"].removeprefix("photos, ").split("/")
        assert folder_name == data["classes"][query["label"]]
        assert (folder / "photos" / folder_name / file).exists()
        kind, image = query["picture"].split(",")
        assert kind == "data:image/jpeg;base64"
        with Image.open(BytesIO(base64.b64decode(image))) as small:
            assert small.size == (96, 13)


COLORS = {
    "strong red-orange": [190, 10, 10],
    "strong yellow-green": [130, 150, 5],
    "deep green": [5, 90, 5],
    "vivid blue": [10, 10, 250],
    "dark gray": [90, 90, 90],
    "white": [250, 250, 250],
}


def test_a_report_on_colors_names_them(folder, run, monkeypatch):
    monkeypatch.setattr(_lesson, "N_DRAWS", 30)  # some names repeat
    rng = np.random.default_rng(0)
    every = np.array([*COLORS.values()], np.uint8)
    for name, alike in (("warm", [9, 4, 2, 2, 3, 3]), ("cold", [2, 2, 9, 4, 3, 3])):
        (folder / "photos" / name).mkdir(parents=True)
        for k in range(12):
            pixels = every[rng.choice(6, (20, 20), p=rng.dirichlet(alike))]
            Image.fromarray(pixels).save(folder / "photos" / name / f"{k}.png")
    line = ["photos", "--feature", "color"]
    found = run("report", *line, "--no-learners", "--folds", "2")
    assert found.exit_code == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert len(set(data["names"])) == 128
    assert data["grid"] is None
    section = re.search(r'<section id="learned".*?</section>', text, re.DOTALL)[0]
    cells = re.findall(r'<tr><th scope="row">(.*?)</th>', section)
    names = {name for cell in cells for name in cell.split(" ↔ ")}
    assert names
    assert names <= COLORS.keys()
    # Names are for people: a model of the folder takes arrays without names, too.
    assert run("fit", *line, "--max-steps", "2").exit_code == 0
    assert not hasattr(GroundMetricLearning.load("model.npz"), "feature_names_in_")
