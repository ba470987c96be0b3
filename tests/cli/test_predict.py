"""Labels for new histograms: predict, labels of neighbors, and cross-validated fits."""

import csv
import json
import shutil

import numpy as np
import pytest
from samples import X, Y, csv_of

from groundmetric import (
    EMDClassifier,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
)
from groundmetric.learning import _maps

NEW = np.array([[5, 1, 0], [0, 1, 5], [3, 2, 1], [1, 3, 4]])


@pytest.fixture
def new(folder):
    (folder / "new.csv").write_text(
        "c,b,a\n" + "".join(f"{c},{b},{a}\n" for a, b, c in NEW)
    )


@pytest.mark.usefixtures("new")
@pytest.mark.parametrize("k", [1, 3])
def test_predictions_are_those_of_the_classifier(model, folder, run, k):
    direct = EMDClassifier(n_neighbors=k).fit(X, Y)
    found = run("predict", "new.csv", "--model", model, "--neighbors", k)
    assert found.exit_code == 0
    rows = list(csv.DictReader(found.stdout.splitlines()))
    assert [row["label"] for row in rows] == direct.predict(NEW).tolist()
    assert [row["query"] for row in rows] == ["0", "1", "2", "3"]
    votes = direct.predict_proba(NEW).max(axis=1)
    assert [float(row["votes"]) for row in rows] == pytest.approx(votes, abs=1e-3)
    # A saved classifier is a model, too.
    direct.save(folder / "classifier.npz")
    line = ["predict", "NEW.npy", "--model", "classifier.npz", "--neighbors", k]
    np.save("NEW.npy", NEW)
    facts = json.loads(run(*line, "--json").stdout)
    assert facts["labels"] == direct.predict(NEW).tolist()
    assert facts["votes"] == pytest.approx(votes)
    assert run(*line, "--out", "labels.csv").exit_code == 0
    assert (folder / "labels.csv").read_text() == found.stdout


def test_images_are_called_by_their_files(images, folder, run):
    assert run("fit", "images", "--out", "images.npz").exit_code == 0
    (folder / "new" / "unknown").mkdir(parents=True)
    for name in ("bars", "steps"):
        shutil.copy(images / name / "2.png", folder / "new" / "unknown" / f"{name}.png")
    model = ["--model", "images.npz", "--neighbors", "1"]
    found = run("predict", "new", *model)
    assert found.stdout == (
        "query,label,votes\nunknown/bars.png,bars,1.0\nunknown/steps.png,steps,1.0\n"
    )
    facts = json.loads(run("predict", "new", *model, "--json").stdout)
    assert facts["queries"] == ["unknown/bars.png", "unknown/steps.png"]
    found = run("distances", "images", *model, "--queries", "new")
    rows = list(csv.DictReader(found.stdout.splitlines()))
    assert [row["query"] for row in rows] == facts["queries"]
    assert [row["neighbor"] for row in rows] == ["bars/2.png", "steps/2.png"]
    # Without queries, they are the images of the folder.
    rows = list(csv.DictReader(run("distances", "images", *model).stdout.splitlines()))
    assert [row["query"] for row in rows[3:5]] == ["bars/3.png", "steps/0.png"]


def test_images_are_called_by_their_files_in_json(images, run):
    files = [f"{name}/{i}.png" for name in ("bars", "steps") for i in range(4)]
    line = ["distances", images, "--model", "images.npz", "--json"]
    assert run("fit", images, "--max-steps", "1", "--out", "images.npz").exit_code == 0
    facts = json.loads(run(*line).stdout)
    assert facts["shape"] == [8, 8]
    assert facts["rows"] == facts["columns"] == files
    facts = json.loads(run(*line, "--neighbors", "2").stdout)
    assert facts["queries"] == files
    assert facts["neighbors"] == [
        [files[j] for j in nearest] for nearest in facts["indices"]
    ]


@pytest.fixture
def mapped(folder):
    """Make a classifier whose learner has a map, and save both."""
    learner = MappedMetricLearning([[0, 1], [1, 3], [3, 0]], n_components=2)
    classifier = EMDClassifier(learner=learner.set_params(max_steps=3)).fit(X, Y)
    classifier.learner_.save(folder / "map.npz")
    classifier.save(folder / "classifier.npz")
    return classifier


@pytest.mark.usefixtures("new")
@pytest.mark.parametrize("file", ["map.npz", "classifier.npz"])
def test_a_map_predicts_as_its_classifier(mapped, run, file):
    np.save("NEW.npy", NEW)
    found = run("predict", "NEW.npy", "--model", file, "--json")
    assert found.exit_code == 0
    facts = json.loads(found.stdout)
    assert facts["labels"] == mapped.predict(NEW).tolist()
    assert facts["votes"] == pytest.approx(mapped.predict_proba(NEW).max(axis=1))


@pytest.mark.usefixtures("mapped")
def test_a_map_is_evaluated_and_reported_on(folder, run):
    line = ["data.csv", "--model", "map.npz"]
    found = run("evaluate", *line, "--folds", 2, "--no-learners", "--json")
    assert found.exit_code == 0
    assert "learned from 8 of these histograms" in found.stderr
    assert json.loads(found.stdout)["errors"]["learned"]["knn"]["mean"] == 0
    line += ["--no-learners", "--json"]
    for options in (["--folds", "2"], ["--test", "data.csv"]):
        found = run("report", *line, *options)
        assert found.exit_code == 0
        errors = json.loads(found.stdout)["errors"]
        assert errors["learned"]["knn"]["mean"] == 0
        assert "initial" in errors
        assert ("learned from 8 of" in found.stderr) == ("--test" in options)
        page = (folder / "report.html").read_text(encoding="utf-8")
        assert ("8 of the 8 test histograms are also" in page) == ("--test" in options)
    many = np.random.default_rng(0).random((8, 1001))
    np.savez("many.npz", X=many, y=np.arange(8) % 2)
    learner = MappedMetricLearning(n_components=1, max_steps=1)
    learner.fit(many, np.arange(8) % 2).save(folder / "many_map.npz")
    line = ["report", "many.npz", "--model", "many_map.npz", "--folds", "2"]
    assert run(*line, "--no-learners", "--out", "many.html").exit_code == 0
    page = (folder / "many.html").read_text(encoding="utf-8")
    assert "Of 1,001 features, 200 are compared here" in page


def test_distances_of_a_map_need_no_matrix(mapped, run, monkeypatch):
    expected = mapped.learner_.pairwise(X)
    monkeypatch.setattr(_maps, "LARGEST", 2)  # of three bins
    with pytest.raises(ValueError, match="would have 3 x 3 entries"):
        getattr(mapped.learner_, "metric_")  # noqa: B009 - computed here
    line = ["distances", "X.npy", "--model", "map.npz"]
    assert run(*line, "--out", "D.npy").exit_code == 0
    np.testing.assert_allclose(np.load("D.npy"), expected, atol=1e-12)
    assert run(*line, "--neighbors", "1", "--out", "N.npz").exit_code == 0
    np.fill_diagonal(expected, np.inf)
    nearest = np.load("N.npz")["distances"][:, 0]
    np.testing.assert_allclose(nearest, expected.min(axis=1), atol=1e-12)


def test_all_histograms_of_a_classifier_vote(folder, run):
    """Not only the sample that its learner learned from."""
    learner = GroundMetricLearning(max_samples=4, random_state=0, max_steps=2)
    classifier = EMDClassifier(n_neighbors=1, learner=learner).fit(X, Y)
    assert len(classifier.learner_._histograms) == 4
    classifier.save(folder / "all.npz")
    classifier.learner_.save(folder / "sample.npz")
    line = ["distances", "X.npy", "--model", "all.npz", "--neighbors", "1"]
    assert run(*line).exit_code == 0
    # Five vote only if there are more than the sample.
    line = ["predict", "X.npy", "--neighbors", "5", "--json", "--model"]
    found = run(*line, "all.npz")
    direct = classifier.set_params(n_neighbors=5).fit(X, Y)
    facts = json.loads(found.stdout)
    assert facts["labels"] == direct.predict(X).tolist()
    assert facts["votes"] == pytest.approx(direct.predict_proba(X).max(axis=1))
    assert found.stderr == ""
    assert run(*line, "sample.npz").exit_code == 2
    found = run("predict", "X.npy", "--model", "sample.npz")
    assert found.stderr == (
        "the 4 histograms that the model was learned from vote, a sample drawn by "
        "max_samples; an EMDClassifier around this learner keeps them all\n"
    )


@pytest.mark.parametrize("max_samples", [None, 4])
def test_as_many_neighbors_vote_as_the_classifier_asks(folder, run, max_samples):
    learner = GroundMetricLearning(max_samples=max_samples, random_state=0, max_steps=1)
    classifier = EMDClassifier(n_neighbors=4, learner=learner).fit(X, Y)
    classifier.save(folder / "four.npz")
    facts = json.loads(run("predict", "X.npy", "--json", "--model", "four.npz").stdout)
    assert facts["votes"] == pytest.approx(classifier.predict_proba(X).max(axis=1))
    assert facts["labels"] == classifier.predict(X).tolist()


@pytest.mark.parametrize(
    ("extra", "columns"),
    [
        (["year"], "column 'year'"),
        (["year", "d"], "columns 'year', 'd'"),
    ],
)
def test_columns_that_a_model_does_not_know_are_named(
    model, folder, run, extra, columns
):
    rows = [[*row, *range(7, 7 + len(extra))] for row in NEW]
    names = ["a", "b", "c", *extra]
    lines = [",".join(map(str, row)) for row in [names, *rows]]
    (folder / "wide.csv").write_text("\n".join(lines) + "\n")
    (folder / "plain.csv").write_text(
        "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in NEW)
    )
    line = ["--model", model]
    plain, found = (run("predict", file, *line) for file in ("plain.csv", "wide.csv"))
    assert plain.stderr == ""
    assert found.stdout == plain.stdout
    assert found.stderr == (
        f"left out: {columns}, not among those that the model was learned from\n"
    )
    ignored = [word for name in extra for word in ("--ignore", name)]
    assert run("predict", "wide.csv", *line, *ignored).stderr == ""
    # The same for columns that the other file of a command lacks.
    line = ["distances", "plain.csv", "--metric", "line.npy", "--queries", "wide.csv"]
    found = run(*line)
    assert found.exit_code == 0
    assert f"left out: {columns}, not among those that plain.csv has" in found.stderr


@pytest.mark.usefixtures("new")
def test_a_model_without_labels_cannot_predict(folder, run):
    similar = np.where(Y[:, None] == Y, 1.0, -1.0)
    GroundMetricLearning().fit(X, similarity=similar).save(folder / "m.npz")
    found = run("predict", "new.csv", "--model", "m.npz")
    assert found.exit_code == 2
    assert found.stderr.startswith("error: m.npz has no labels: it was learned from")
    found = run("predict", "new.csv", "--model", "data.npz")
    assert found.exit_code == 2
    assert "data.npz" in found.stderr


def test_more_neighbors_than_histograms(model, run):
    found = run("predict", "data.csv", "--model", model, "--neighbors", "9")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("error: --neighbors is 9; it must be")


def test_neighbors_have_labels_if_there_are_any(folder, run):
    np.save("base.npy", X[:3])
    line = ["distances", "data.csv", "--metric", "line.npy", "--neighbors", "1"]
    head, first = run(*line).stdout.splitlines()[:2]
    assert head == "query,rank,neighbor,distance,label"
    # 4 1 1 and 3 1 1: a thirtieth moves one bin, another two.
    *place, distance, label = first.split(",")
    assert (place, label) == (["0", "1", "3"], "left")
    assert float(distance) == pytest.approx(0.1)
    facts = json.loads(run(*line, "--json").stdout)
    assert np.array(facts["labels"]).ravel().tolist() == Y.tolist()
    run(*line, "--out", "n.npz")
    assert np.load("n.npz")["labels"].ravel().tolist() == Y.tolist()
    line[1] = "base.npy"
    assert run(*line).stdout.startswith("query,rank,neighbor,distance\n")
    # A missing label is not an error here, but reported.
    (folder / "some.csv").write_text(csv_of(X, ["", *Y[1:]]))
    line[1] = "some.csv"
    found = run(*line)
    assert found.stdout.startswith("query,rank,neighbor,distance\n")
    assert "no labels: some.csv, line 2, column 'kind': no label." in found.stderr


def test_labels_of_neighbors_under_a_model_with_names(model, folder, run):
    line = ["distances", "data.csv", "--model", model, "--neighbors", "1"]
    assert "label" in run(*line).stdout
    # Two text columns: neither is taken for the labels.
    rows = [f"{a},{b},{c},x,y" for a, b, c in X]
    (folder / "two.csv").write_text("\n".join(["a,b,c,kind,other", *rows]) + "\n")
    line[1] = "two.csv"
    found = run(*line)
    assert found.exit_code == 0
    assert found.stdout.startswith("query,rank,neighbor,distance\n")
    assert ",x\n" in run(*line, "--label", "kind").stdout


def test_fit_on_logarithms(folder, run):
    rows, labels = np.concatenate([X, X + 1]), np.concatenate([Y, Y])
    (folder / "more.csv").write_text(csv_of(rows, labels))
    line = ["fit", "more.csv", "--max-steps", "2", "--out", "m.npz", "--power"]
    assert run(*line, "log1p").exit_code == 0
    direct = GroundMetricLearning(max_steps=2, power="log1p").fit(rows, labels)
    model = GroundMetricLearning.load("m.npz")
    assert model.power_ == "log1p"
    assert np.array_equal(model.metric_, direct.metric_)
    found = run(*line, "log")
    assert found.exit_code != 0
    assert "power is 'log'; a positive number or 'log1p' is needed" in found.stderr


def test_fit_by_cross_validation(folder, run):
    rows, labels = np.concatenate([X, X + 1]), np.concatenate([Y, Y])
    (folder / "more.csv").write_text(csv_of(rows, labels))
    found = run("fit", "more.csv", "--cv", "--max-steps", "2", "--out", "cv.npz")
    assert found.exit_code == 0
    direct = MetricLearningCV(GroundMetricLearning(max_steps=2), {}).fit(rows, labels)
    steps = f"{direct.best_step_} step" + "s" * (direct.best_step_ != 1)
    first, second, *_ = found.stdout.splitlines()
    # The criterion is that of all histograms, and not what was chosen by.
    assert first.endswith(f"2 classes: {steps}, as chosen by cross-validation.")
    scores = direct.cv_results_["mean_test_score"]
    errors = [f"{100 * (1 - x):.1f} %" for x in (direct.best_score_, scores[0])]
    assert second.endswith(f": {errors[0]}, and {errors[1]} with the initial metric.")
    model = MetricLearningCV.load("cv.npz")
    assert np.array_equal(model.metric_, direct.metric_)
    assert model.best_step_ == direct.best_step_
    # Other commands read it.
    facts = json.loads(run("predict", "more.csv", "--model", "cv.npz", "--json").stdout)
    assert len(facts["labels"]) == 16
    line = ["fit", "more.csv", "--cv", "--max-steps", "2", "--out", "cv.npz", "--json"]
    facts = json.loads(run(*line).stdout)
    assert facts["n_steps"] == direct.best_step_
    assert facts["held_out_error"] == pytest.approx(1 - direct.best_score_)
