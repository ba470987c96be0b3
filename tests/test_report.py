"""The report: its verdict, its numbers, its file."""

import base64
import hashlib
import html
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from groundmetric import (
    DiscriminantMetricLearning,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
    Neighborhood,
    distances,
)
from groundmetric._words import points
from groundmetric.baselines import NCA, ChiSquaredLMNN
from groundmetric.experiments import Estimate, Stability, compare
from groundmetric.experiments.measures import nearest, nearest_others, own_share, votes
from groundmetric.experiments.splits import split_data
from groundmetric.report import _lesson, write_report
from groundmetric.report._bins import N_SHOWN
from groundmetric.report._contents import contents, packed
from groundmetric.report._details import details, recall_beside
from groundmetric.report._evaluation import evaluate
from groundmetric.report._learned import learned
from groundmetric.report._lesson import N_DRAWS, with_stability
from groundmetric.report._origins import Origin, Origins
from groundmetric.report._page import Extras, page
from groundmetric.report._write import as_features, write_evaluation

TO = "\N{LEFT RIGHT ARROW}"
SMALL = {
    "X": [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]],
    "y": ["a", "a", "b", "b"],
    "X_test": [[5, 1, 0, 0], [0, 0, 1, 5], [0, 2, 2, 1]],
    "y_test": ["a", "b", "b"],
}


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    """Learn on few draws in each report."""
    monkeypatch.setattr(_lesson, "N_DRAWS", 6)


def learner_of(**options):
    return GroundMetricLearning(max_steps=8, **options)


@pytest.fixture(scope="module")
def task():
    """Fours and nines, on 16 blocks of pixels."""
    images, y = load_digits(return_X_y=True)
    X = images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    keep = np.flatnonzero((y == 4) | (y == 9))[:70]
    return {"X": X[keep[:20]], "y": y[keep[:20]],
            "X_test": X[keep[20:]], "y_test": y[keep[20:]]}  # fmt: skip


def evaluation_of(task, *, learner=None, n_neighbors=3, learners=()):
    learner = learner_of() if learner is None else learner
    options = {"n_neighbors": n_neighbors, "n_jobs": 1, "learners": learners}
    return evaluate(learner, split_data(**task), **options)


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


# The verdict.


def test_console_and_page_say_the_same_where_recall_disagrees(tmp_path, task):
    found = evaluation_of(task)
    learned, l1 = found.first["learned"], found.first["l1"]
    every = found.verdict.found
    every["l1"] = replace(every["l1"], knn_wrong=[np.ones(50, dtype=bool)])
    found.first["learned"] = replace(learned, recall=0.5 * l1.recall)
    headline = found.verdict.headline()
    assert headline.startswith("Learning helped: ")
    ours, theirs, at = found.recalls()
    assert (ours, theirs, at) == (l1.recall[2] / 2, l1.recall[2], 3)
    sentence = recall_beside(found)
    assert "disagrees" in sentence
    assert f"{100 * ours:.1f} % under the learned metric" in sentence
    assert found.verdict.sentences()[0] == headline
    features = as_features(None, None, 16)
    write_evaluation(tmp_path / "r.html", found, features, Extras("T"))
    text = html.unescape((tmp_path / "r.html").read_text()).replace("\xa0", " ")
    assert f'<h2 id="headline">{headline}</h2>' in text
    assert f"<p>{sentence}</p>" in text
    assert f"<p>{found.verdict.size()}</p>" in text
    found.first["learned"] = replace(learned, recall=2 * l1.recall)
    assert "disagrees" not in recall_beside(found)


def test_other_learners_are_judged_by_the_same_votes(task):
    names = ["nca-hellinger", "chi2-lmnn"]
    found = evaluation_of(task, learners=names)
    for name, learner in zip(names, (NCA(), ChiSquaredLMNN()), strict=True):
        learner.fit(task["X"], task["y"])
        knn = KNeighborsClassifier(3, metric="precomputed")
        knn.fit(np.zeros((20, 20)), task["y"])
        distances_to = learner.pairwise(task["X_test"], task["X"])
        error = 1 - knn.score(distances_to, task["y_test"])
        assert found.verdict.found[name].knn_errors == [pytest.approx(error)]
        assert found.first[name].errors[2] == pytest.approx(error)
    assert found.verdict.choice() in details(found)
    assert found.verdict.choice() in found.verdict.sentences()
    spent = found.verdict.found["nca-hellinger"].fit_seconds[0]
    assert found.verdict.columns()[-1] == "Seconds"
    rows = {row[0]: row for row in found.verdict.rows()}
    assert rows["NCA"][-1] == f"{spent:.2f}"
    assert rows["l1"][-1] == ""
    assert evaluation_of(task).verdict.choice() == ""


def test_splits_are_those_of_compare(task):
    whole = {"X": task["X_test"], "y": task["y_test"]}
    found = evaluate(
        GroundMetricLearning(), split_data(**whole, seed=4), n_neighbors=3,
        learners=["nca-hellinger"], n_jobs=1,
    ).verdict  # fmt: skip
    frame = compare(**whole, methods=["gml", "nca-hellinger", "l1"], seed=4)
    for name, own in (("learned", "gml"), ("nca-hellinger",) * 2, ("l1", "l1")):
        one = found.found[name].error()
        row = frame.loc[own]
        assert (one.mean, one.low, one.high) == tuple(row[["error", "low", "high"]])
        assert found.found[name].balanced_error == row["balanced"]
    row = frame.loc["l1"]
    gain = found.gain("l1")
    assert (gain.low, gain.high) == tuple(row[["saved_low", "saved_high"]])
    assert gain.sure == row["sure"]


def test_learners_that_are_missing_are_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    path = write_report(tmp_path / "r.html", **SMALL, n_neighbors=1)
    text = html.unescape(path.read_text(encoding="utf-8"))
    assert "LMNN was skipped, since it needs metric-learn" in text
    names = [curve["name"] for curve in data_of(path.read_text())["curves"]]
    assert names[-2:] == ["nca-hellinger", "chi2-lmnn"]


# The measures.


def test_votes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, far = rng.integers(0, 3, 30), rng.random((40, 30))
    found = votes(y[nearest(far, 9)], 3)
    for kappa in range(1, 10):  # even numbers tie
        knn = KNeighborsClassifier(kappa, metric="precomputed")
        knn.fit(np.zeros((30, 30)), y)
        assert np.array_equal(found[:, kappa - 1], knn.predict(far))


def test_recall_by_hand():
    line = np.array([[0.0, 1, 3], [1, 0, 2], [3, 2, 0]])
    labels = np.array([0, 0, 1])
    # Nearest others: 1 then 2; 0 then 2; 1 then 0.
    near = nearest_others(line, 2)
    assert near.tolist() == [[1, 2], [0, 2], [1, 0]]
    assert own_share(labels[near], labels) == pytest.approx([2 / 3, 1 / 3])


def test_evaluation_is_what_brute_force_finds(task):
    learner = learner_of(init="typical").fit(task["X"], task["y"])
    found = evaluation_of(task, learner=learner)
    assert found.learner.metric_ is learner.metric_  # a fitted one, as it is
    assert list(found.first) == ["learned", "initial", "l1", "hellinger", "chi2", "l2"]
    assert list(found.verdict.found) == list(found.first)
    assert found.before == "initial"
    far = {
        "learned": learner.transform(task["X_test"]),
        "chi2": distances.chi2(task["X_test"], task["X"]),
    }
    for name, between in far.items():
        for kappa in (1, 3, 8):
            knn = KNeighborsClassifier(kappa, metric="precomputed")
            knn.fit(np.zeros((20, 20)), task["y"])
            error = 1 - knn.score(between, task["y_test"])
            assert found.first[name].errors[kappa - 1] == pytest.approx(error)
    among = nearest_others(learner.pairwise(task["X_test"]), 20)
    expected = own_share(found.data.z[among], found.data.z)
    assert found.first["learned"].recall == pytest.approx(expected)


def test_uniform_start_is_l1(task):
    found = evaluation_of(task, learner=learner_of(power=1.0))
    metric = found.learner.initial_metric_
    assert np.unique(metric[~np.eye(len(metric), dtype=bool)]).size == 1
    assert "initial" not in found.first
    assert found.before == "l1"
    assert found.verdict.gain("l1").other == "the l1 distance"


@pytest.mark.parametrize("weighted", [False, True])
def test_a_uniform_start_is_not_l1_with_a_power_or_weights(task, weighted):
    task = {name: rows * (rows > 9) if "X" in name else rows
            for name, rows in task.items()}  # fmt: skip
    X = task["X"]
    if weighted:
        learner = MappedMetricLearning(power=1.0, bin_weights="idf", max_steps=2)
        idf = np.log((1 + len(X)) / (1 + (X > 0).sum(axis=0))) + 1
    else:
        learner, idf = learner_of(power=0.5), 1.0
    found = evaluation_of(task, learner=learner)
    assert any(each.startswith("The descent itself") for each in details(found))
    metric = found.learner.initial_metric_
    assert np.ptp(metric[np.triu_indices(16, 1)]) == 0
    seen = [rows * idf / 100 if weighted else np.sqrt(rows)
            for rows in (task["X_test"], X)]  # fmt: skip
    near = nearest(distances.l1(*seen), 1)[:, 0]
    error = np.mean(task["y"][near] != task["y_test"])
    assert found.first["initial"].errors[0] == pytest.approx(error)


def test_each_split_is_fitted_once(monkeypatch, task):
    """The learned and the initial distances are those of the same fit."""
    fits = []

    def fit(self, X, y):
        fits.append(self)
        return learn(self, X, y)

    learn = GroundMetricLearning.fit
    monkeypatch.setattr(GroundMetricLearning, "fit", fit)
    whole = {"X": task["X_test"], "y": task["y_test"]}
    found = evaluation_of(whole, learner=learner_of(init="typical"))
    assert len(fits) == found.verdict.learned.design.n_splits == 10
    assert len(found.verdict.found["initial"].knn_errors) == 10


def test_a_learner_that_took_no_step(task, tmp_path):
    """Cross-validation may choose the initial metric."""
    learner = MetricLearningCV(GroundMetricLearning(step_size=1e-9, max_steps=1), {})
    learner.fit(task["X"], task["y"])
    assert learner.n_iter_ == 0
    file = write_report(tmp_path / "r.html", **task, learner=learner, learners=())
    path = data_of(file.read_text(encoding="utf-8"))["path"]
    assert path == {"criterion": [], "starts": [], "best": None}


def test_split_keeps_classes_and_never_trusts_a_fitted_learner(task):
    whole = {"X": task["X_test"], "y": task["y_test"]}  # 50 histograms
    learner = learner_of().fit(**whole)
    found = evaluation_of(whole, learner=learner)
    assert found.data.was_split
    assert (len(found.data.train), len(found.data.test)) == (40, 10)
    assert found.learner is not learner  # it has seen the test histograms
    assert len(found.learner._histograms) == 40
    shares = [np.mean(codes) for codes in (found.data.y, found.data.z)]
    assert shares[0] == pytest.approx(shares[1], abs=0.1)


# The contents.


def test_what_was_learned_is_named_only_if_it_repeats(monkeypatch):
    monkeypatch.setattr(_lesson, "N_DRAWS", N_DRAWS)  # as many as in a user's report
    rng, masses = np.random.default_rng(0), np.ones((2, 16))
    masses[[0, 1], [0, 1]] = 8.0  # what differs between the classes
    y = np.repeat([0, 1], 20)
    whole = {"X": [rng.dirichlet(masses[label]) for label in y], "y": y}
    names = [f"<block {k}>" for k in range(16)]
    found = with_stability(evaluation_of(whole), seed=0, n_jobs=1)
    stable = found.stability
    assert stable.n_draws == N_DRAWS
    assert stable.n_train == 20  # half, though splits learn from 32
    assert stable.moved_apart[0][:2] == (0, 1)
    assert set(stable.important) == {0, 1}
    assert found.lesson(names) == " ".join(stable.sentences(names, "feature"))
    text = page(found, contents(found, names, None), Extras("Blocks"))
    section = re.search(r'<section id="learned".*?</section>', text, re.DOTALL)[0]
    one, least = stable.important[0], stable.rise(stable.important[0]).low
    assert f'<th scope="row">{html.escape(names[one])}</th>' in section
    assert f"({points(least)} to " in section
    for p, q in data_of(text)["moved"]["farthest"]:
        row = f"{names[p]} {TO} {names[q]}"
        assert f'<th scope="row">{html.escape(row)}</th><td>apart</td>' in section
    # If nothing repeats, there is nothing to list.
    nothing = replace(stable, apart=0 * stable.apart, together=0 * stable.together)
    nothing = replace(nothing, risen=0 * stable.risen)
    found = replace(found, stability=nothing)
    assert found.lesson(names).startswith("What was learned does not repeat: in 30 ")
    text = page(found, contents(found, names, None), Extras("Blocks"))
    assert 'id="learned"' not in text
    assert data_of(text)["moved"] == {"closest": [], "farthest": []}


def test_what_repeats_is_not_asked_of_few_histograms_or_slow_fits(task):
    few = with_stability(evaluation_of(SMALL), seed=0, n_jobs=1)
    assert few.stability is None
    assert "half of the data has 1 of a class, and 2 are needed" in few.lesson([])
    found = evaluation_of(task)
    found.verdict.learned.fit_seconds[0] = 1000.0
    slow = with_stability(found, seed=0, n_jobs=1)
    assert slow.stability is None
    assert "is unknown: fits take too long to repeat them." in slow.lesson([])
    # A test set that was given is not learned from.
    found.verdict.learned.fit_seconds[0] = 0.0
    assert with_stability(found, seed=0, n_jobs=1).stability.n_train == 10


def test_examples_say_which_rows_they_are(task):
    evaluation = evaluation_of({"X": task["X_test"], "y": task["y_test"]})
    data = evaluation.data
    for rows, histograms in (
        (data.train_rows, data.train),
        (data.test_rows, data.test),
    ):
        given = task["X_test"][rows]
        expected = given / given.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(histograms, expected)
    origin = Origin("file {}".format, lambda row: f"data:image/png;base64,{row}")
    names = [str(k) for k in range(16)]
    found = contents(evaluation, names, None, origins=Origins(origin, origin))
    after = evaluation.first["learned"].neighbors[:, 0]
    assert found["examples"]["shown"]
    for shown in found["examples"]["shown"]:
        row = data.test_rows[shown["row"]]
        assert shown["query"]["name"] == f"file {row}"
        assert shown["query"]["picture"] == f"data:image/png;base64,{row}"
        nearest_row = data.train_rows[after[shown["row"]]]
        assert shown["after"]["name"] == f"file {nearest_row}"
    assert Origin.of([[1]], "X").name(3) == "row 3 of X"
    frame = pd.DataFrame({"a": [1, 2]}, index=["one", "two"])
    assert Origin.of(frame, "X_test").name(1) == "two (row 1 of X_test)"
    assert Origin.of(frame.reset_index(), "X").name(1) == "row 1 of X"


def test_names_of_the_learner_are_those_of_the_report(tmp_path):
    frame = pd.DataFrame(SMALL["X"], columns=["red", "green", "blue", "black"])
    learner = learner_of().fit(frame, SMALL["y"])
    given = SMALL | {"learner": learner, "learners": (), "n_neighbors": 1}
    path = write_report(tmp_path / "r.html", **given)
    assert data_of(path.read_text())["names"] == list(frame.columns)


def test_packed_metric_is_the_metric_to_five_digits():
    M = np.abs(np.subtract.outer([0.0, 1, 5], [0.0, 1, 5]))
    found = packed(M)
    levels = np.frombuffer(base64.b64decode(found["levels"]), "<u2")
    assert levels * found["unit"] == pytest.approx([1, 5, 4], rel=1e-4)
    assert packed(np.zeros((1, 1))) == {"unit": 1.0, "levels": ""}


def test_contents_count_what_changed(task):
    evaluation = evaluation_of(task)
    found = contents(evaluation, [str(k) for k in range(16)], (1, 4, 4))
    data, details = evaluation.data, evaluation.first
    assert evaluation.before == "initial"
    before, after = (details[name].neighbors[:, 0] for name in ("initial", "learned"))
    was, now = data.y[before] == data.z, data.y[after] == data.z
    examples = found["examples"]
    assert examples["counts"]["mended"] == np.sum(~was & now)
    assert examples["counts"]["spoiled"] == np.sum(was & ~now)
    assert sum(examples["counts"].values()) == examples["n_changed"]
    for shown in examples["shown"]:
        assert after[shown["row"]] != before[shown["row"]]
        assert shown["query"]["label"] == data.z[shown["row"]]
    confusion = np.array(found["curves"][0]["confusion"])
    assert confusion.sum() == 50
    error = 1 - np.trace(confusion) / 50
    assert found["curves"][0]["errors"][2] == pytest.approx(error, abs=1e-5)
    assert sorted(found["order"]) == list(range(16))
    positions = np.array(found["map"]["positions"])
    assert 0.0 <= positions.min() <= positions.max() <= 1.0


# The file.


def test_file_is_self_contained_and_the_same_every_time(tmp_path, task):
    learner = learner_of().fit(task["X"], task["y"])
    options = task | {"learner": learner, "learners": ()}  # whose times differ
    path = write_report(tmp_path / "a.html", **options)
    assert path == tmp_path / "a.html"
    text = path.read_text(encoding="utf-8")
    # Nothing to load, from anywhere.
    assert not re.search(r"https?:|//cdn|\bsrc=|@import|url\(", text)
    assert "default-src 'none'" in text
    again = write_report(str(tmp_path / "b.html"), **options)
    assert again.read_bytes() == path.read_bytes()
    assert [p.name for p in sorted(tmp_path.iterdir())] == ["a.html", "b.html"]
    assert "$" not in re.sub(r"\$\{", "", text.split("<script")[0])  # all filled in


def test_file_stays_small(tmp_path):
    X = np.random.default_rng(0).random((24, 128)) ** 4
    learner = GroundMetricLearning(init=cdist(X.T, X.T), max_steps=1)
    path = write_report(
        tmp_path / "r.html", X=X[:12], y=[0, 1] * 6, X_test=X[12:], y_test=[0, 1] * 6,
        learner=learner, feature_shape=(8, 4, 4), learners=(),
    )  # fmt: skip
    # Two metrics of 128 x 127 / 2 pairs take 22 kB each; the rest hardly grows.
    assert path.stat().st_size < 200_000
    assert data_of(path.read_text())["names"][127] == "channel 7, row 3, column 3"


def test_every_string_of_a_user_is_escaped(tmp_path):
    evil = "</script><script>alert(1)</script>"
    task = SMALL | {"y": [evil, evil, "b", "b"], "y_test": [evil, "b", "b"]}
    names = [evil, "<b>", "&amp;", "'\"$title"]
    path = write_report(
        tmp_path / "r.html", **task, feature_names=names, title=evil,
        learner=learner_of(), n_neighbors=1,
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    assert "alert(1)" in text
    assert "<script>alert" not in text
    assert text.count("<script") == text.count("</script>") == 2
    found = data_of(text)
    assert found["names"] == names  # and yet they are all there
    assert evil in found["classes"]


def test_notes_on_the_data_are_escaped_and_below_the_verdict(tmp_path, task):
    found = evaluation_of(task)
    features = as_features(None, None, 16)
    extras = Extras("", notes=["left out: <b> & 5 %", "more"])
    write_evaluation(tmp_path / "r.html", found, features, extras)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<li>left out: &lt;b&gt; &amp; 5&nbsp;%</li>\n<li>more</li>" in text
    places = [text.index(f'<section id="{name}"') for name in ("about", "curves")]
    assert text.index('id="verdict"') < places[0] < places[1]


def test_verdict_and_settings_need_no_script(tmp_path):
    path = write_report(
        tmp_path / "r.html", **SMALL, learner=learner_of(tol=0.01, power=1.0)
    )
    text = path.read_text(encoding="utf-8")
    assert "Learning made no significant difference: 0.0&nbsp;% e" in text
    assert "uniform metric, whose EMD is half of l1" in text
    assert "max_steps=8, power=1.0, tol=0.01)" in text
    assert "4 × 4 (a: 2, b: 2)" in text  # noqa: RUF001 - a sign
    learner = learner_of(init="typical")
    path = write_report(tmp_path / "t.html", **SMALL, learner=learner)
    assert "The descent itself made no significant" in path.read_text(encoding="utf-8")


def test_the_descent_is_described_as_it_is(tmp_path):
    for criterion, bounded in (("margin", False), (Neighborhood(inner_steps=3), True)):
        learner = learner_of(criterion=criterion)
        path = write_report(tmp_path / "r.html", **SMALL, learner=learner, learners=())
        text = path.read_text(encoding="utf-8")
        assert ("Each outer step lowers a convex bound" in text) is bounded
        assert ("a single one may raise it" in text) is not bounded


def test_a_start_that_is_an_array_is_told_by_its_digest(tmp_path):
    start = 2.0 - 2 * np.eye(4)
    start[0, 1] = start[1, 0] = 1.0
    path = write_report(tmp_path / "r.html", **SMALL, learner=learner_of(init=start))
    text = path.read_text(encoding="utf-8")
    digest = hashlib.sha256(start.tobytes()).hexdigest()[:12]
    assert text.count(f"array (4, 4); SHA-256 {digest}") == 2
    wanted = "GroundMetricLearning(init=init, max_steps=8)"
    assert f"\nlearner = {wanted}\n" in text


def test_without_a_test_set_the_report_says_how_it_split(tmp_path):
    X = pd.DataFrame(
        np.random.default_rng(0).integers(1, 9, (12, 3)), columns=["red", "green", "x"]
    )
    y = [0, 1] * 6
    path = write_report(tmp_path / "r.html", X=X, y=y, random_state=7)
    text = path.read_text(encoding="utf-8")
    assert "The 12 histograms were divided at random into 5 folds, 2 times" in text
    assert "The rest of this page shows the first of the 10 splits." in text
    assert "random_state=7,\n" in text
    assert data_of(text)["names"] == ["red", "green", "x"]
    few = {"n_folds": 3, "n_repeats": 1}
    write_report(path, X=X, y=y, random_state=7, **few, learners=["nca-hellinger"])
    text = path.read_text(encoding="utf-8")
    assert "into 3 folds; each fold was tested once" in text
    snippet = "random_state=7, learners=['nca-hellinger'], n_folds=3, n_repeats=1"
    assert html.escape(snippet) in text
    names = [curve["name"] for curve in data_of(text)["curves"]]
    fixed = ["l1", "hellinger", "chi2", "l2"]
    assert names == ["learned", "initial", *fixed, "nca-hellinger"]


def test_one_test_histogram_has_no_recall(tmp_path):
    task = SMALL | {"X_test": [[5, 1, 0, 0]], "y_test": ["never seen"]}
    path = write_report(tmp_path / "r.html", **task, n_neighbors=1)
    found = data_of(path.read_text(encoding="utf-8"))
    assert found["curves"][0]["recall"] == []
    assert found["curves"][0]["errors"][0] == 1.0
    assert found["classes"] == ["a", "b", "never seen"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y_test": None}, "X_test and y_test must be given together"),
        ({"X_test": [[1, 2, 3]] * 3}, "X has 4 bins, but X_test has 3"),
        ({"X_test": [[0, 0, 0, 0]] * 3}, r"X_test\[0\] has zero mass"),
        ({"y": ["a"] * 4}, "y has one class only"),
        ({"y": ["a"] * 3}, "y has 3 labels for 4 histograms"),
        ({"y_test": ["a"]}, "y_test has 1 labels for 3 histograms"),
        (
            {
                "y": np.array([0, 0, 1, 1], object),
                "y_test": np.array(list("abb"), object),
            },
            "y with y_test must be labels of one kind",
        ),
        ({"X_test": None, "y_test": None}, "n_folds is 5, but y has 2 of class a"),
        ({"feature_names": ["a"]}, "feature_names has 1 names for 4 features"),
        ({"feature_shape": (3, 3)}, r"feature_shape is \(3, 3\), that is 9 features"),
        ({"n_neighbors": 5}, "n_neighbors is 5; it must be at most 4"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"learner": 3}, "learner is 3; a learner of a metric, such as"),
        ({"path": "nowhere/at/all.html"}, "in a folder that does not exist"),
        ({"path": "."}, "which is a folder; a file is needed"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        write_report(**({"path": "r.html"} | SMALL | options))
    assert list(tmp_path.iterdir()) == []


def test_learner_of_other_features_is_refused(tmp_path):
    other = learner_of().fit([[1, 2], [1, 3], [3, 1], [2, 1]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="learner was fitted to 2 bins, but X has 4"):
        write_report(tmp_path / "r.html", **SMALL, learner=other)


def test_a_verbose_learner_shows_the_search_as_well(tmp_path, capsys):
    learner = learner_of().fit(SMALL["X"], SMALL["y"])
    for verbose, shown in ((0, False), (1, True)):
        learner.set_params(verbose=verbose)
        write_report(tmp_path / "report.html", **SMALL, learner=learner, n_neighbors=1)
        assert ("neighbors" in capsys.readouterr().err) is shown


@pytest.mark.parametrize("is_fitted", [False, True])
def test_a_map_is_drawn_as_its_distances(tmp_path, is_fitted):
    learner = MappedMetricLearning(n_components=2, max_steps=1)
    if is_fitted:
        learner.fit(SMALL["X"], SMALL["y"])
    write_report(tmp_path / "report.html", learner=learner, learners=(), **SMALL)
    found = data_of((tmp_path / "report.html").read_text(encoding="utf-8"))
    learner.fit(SMALL["X"], SMALL["y"])
    for name, metric in (
        ("learned", learner.metric_),
        ("initial", learner.initial_metric_),
    ):
        assert found["metrics"][name] == packed(metric)


@pytest.fixture(scope="module")
def many():
    """Return 1,001 bins, of which five are empty."""
    X = np.random.default_rng(0).random((10, 1001))
    X[:, -5:] = 0
    return {"X": X[:6], "y": [0, 1] * 3, "X_test": X[6:], "y_test": [0, 1] * 2}


def test_a_map_of_many_features_shows_those_with_most_mass(tmp_path, many):
    X = many["X"].copy()
    X[:, [7, 500, 993]] += 2
    path = write_report(
        tmp_path / "r.html", learners=(), **many | {"X": X},
        learner=DiscriminantMetricLearning(bin_weights=np.arange(1.0, 1002)),
        feature_names=[f"word {p}" for p in range(1001)],
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    found = data_of(text)
    assert f"Of 1,001 features, {N_SHOWN} are compared here: those with" in text
    assert f"Distances between these {N_SHOWN} features" in text
    assert len(found["bins"]) == len(found["map"]["positions"]) == N_SHOWN
    assert found["names"] == [f"word {p}" for p in found["bins"]]
    # As the learner sees them, the last ones weigh most; and the first is heavy.
    assert found["bins"][-1] == 995
    assert {500, 993} < set(found["bins"])
    assert found["bins"][found["important"][0]] == 993
    assert len(found["map"]["others"]) == 996 - N_SHOWN
    ends = np.array(found["map"]["positions"] + found["map"]["others"])
    assert 0.0 <= ends.min() <= ends.max() <= 1.0
    drawn = found["examples"]["shown"]
    sizes = {len(base64.b64decode(one["query"]["levels"])) for one in drawn}
    assert sizes <= {N_SHOWN}


def test_a_fitted_map_of_many_features_makes_no_matrix(tmp_path, many, monkeypatch):
    learner = MappedMetricLearning(n_components=2, max_steps=1)
    learner.fit(many["X"], many["y"])

    def refuse(_self):
        raise AssertionError("d x d distances were computed")

    for name in ("metric_", "initial_metric_"):
        monkeypatch.setattr(MappedMetricLearning, name, property(refuse))
    path = write_report(tmp_path / "r.html", learner=learner, learners=(), **many)
    found = data_of(path.read_text(encoding="utf-8"))
    some = found["bins"]
    positions = learner.embedding_[some]
    assert found["metrics"]["learned"] == packed(cdist(positions, positions))


def test_pictures_on_a_grid_keep_all_pixels(tmp_path, many):
    path = write_report(
        tmp_path / "r.html", learners=(), feature_shape=(7, 143), **many,
        learner=DiscriminantMetricLearning(),
    )  # fmt: skip
    found = data_of(path.read_text(encoding="utf-8"))
    row, column = divmod(found["bins"][0], 143)
    assert found["names"][0] == f"row {row}, column {column}"
    assert found["which"].endswith("small gray dots.")
    for one in found["examples"]["shown"]:
        assert len(base64.b64decode(one["query"]["levels"])) == 1001


def test_weights_that_surely_differ_have_a_table():
    ones = [Estimate(3.0, 2.0, 4.0, 1.0), Estimate(1.1, 0.9, 1.3, 0.8),
            Estimate(0.2, 0.1, 0.4, 0.0)]  # fmt: skip
    nothing = Estimate(0.0, 0.0, 0.0, 0.5)
    found = Stability(
        n_draws=10, n_train=9, n_neighbors=3, n_listed=1, bins=np.array([4, 6, 8]),
        pairs=np.array([[4, 6], [4, 8], [6, 8]]), apart=np.zeros(3),
        together=np.zeros(3), error=nothing, rises=[nothing] * 3, risen=np.zeros(3),
        weights=ones, threshold=0.8, max_false=0.5,
    )  # fmt: skip
    names = {4: "<heavy>", 6: "middle", 8: "light"}
    text = learned(found, names)
    assert re.findall(r'row">(.*?)</th><td>(.*?)</td>', text) == [
        ("&lt;heavy&gt;", "3.00 (2.00 to 4.00)"),
        ("light", "0.20 (0.10 to 0.40)"),
    ]
    assert learned(replace(found, weights=None), names) == ""


def test_one_predictor_predicts(tmp_path):
    options = SMALL | {"X_test": None, "y_test": None}
    X = np.random.default_rng(0).random((30, 4))
    options |= {"X": X, "y": [0, 1] * 15, "learner": learner_of()}
    one = write_report(tmp_path / "one.html", learners=["logistic"], **options)
    text = one.read_text(encoding="utf-8")
    assert "Logistic regression predicts labels without a distance" in text
    assert "chooses its settings" in text
    assert '<tr class="is-logistic">' in text
