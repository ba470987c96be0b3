"""The benchmark of all methods on all data sets: its data, choices, and verdicts."""

import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import where_page
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from where_choice import best_of, common, cross_validated, tfidf_cosine
from where_data import DataSet, data_sets, of_file, of_lineages
from where_methods import entries
from where_table import as_results, averages, gain, means, verdicts, verdicts_of

from groundmetric.experiments import METHODS, Design, Method
from started import SCRIPT, finished

ROOT = Path(__file__).parents[1]


def histograms(n_classes, n_each, d=6):
    """Histograms of classes that prefer a bin each."""
    rng = np.random.default_rng(n_classes)
    y = np.repeat(np.arange(n_classes), n_each)
    X = rng.dirichlet(np.ones(d), len(y))
    X[np.arange(len(y)), y % d] += 1.0
    return X, y


@pytest.mark.parametrize(("n_each", "kind"), [(20, "folds"), (250, "disjoint")])
def test_files_of_few_classes(n_each, kind):
    X, y = histograms(3, n_each)
    (data,) = of_file("some", {"X": X, "y": y, "points_line": np.arange(6)[:, None]})
    assert (data.name, data.kind) == ("some", kind)
    assert list(data.points) == ["line"]
    for train, test in data.draws:
        assert not set(train) & set(test)
        assert set(y[train]) == set(y[test]) == {0, 1, 2}
    if kind == "disjoint":
        every = np.concatenate([train for train, _ in data.draws])
        assert len(set(every)) == len(every) == 90 * len(data.draws)


def test_files_of_many_classes():
    X, y = histograms(12, 40)
    pairs, tens = of_file("many", {"X": X, "y": y})
    assert (pairs.name, tens.name) == ("many, 2 classes", "many, 10 classes")
    for data, size in ((pairs, 2), (tens, 10)):
        assert data.kind == "tasks"
        for train, test in data.draws:
            assert (len(train), len(test)) == (30 * size, 10 * size)
            assert len(set(y[train])) == size
            assert not set(train) & set(test)


def test_files_of_words():
    X, y = histograms(2, 60, d=50)
    counts = csr_array(np.where(X > 0.03, 1.0, 0.0))
    arrays = {name: getattr(counts, name) for name in ("data", "indices", "indptr")}
    arrays |= {"shape": np.array(counts.shape), "y": y, "vectors": np.eye(50)}
    (data,) = of_file("text", arrays)
    assert data.are_words
    assert data.X.shape == (120, 50)
    names = {entry.name for entry in entries(data)}
    assert {"emd-prior", "mapped", "chooser", "linear-svm"} <= names


def test_taxa_are_as_far_as_their_path_in_the_tree():
    #      root
    #     /    \\
    #    A      B
    #   / \\     \\
    #  C   D     E
    taxa = np.array(["A|C", "A|D", "B|E", "A"])
    squared = squareform(pdist(of_lineages(taxa)) ** 2)
    expected = [[0, 2, 4, 1], [2, 0, 4, 1], [4, 4, 0, 3], [1, 1, 3, 0]]
    np.testing.assert_allclose(squared, expected, atol=1e-12)


def test_digits_are_always_there():
    few, many, *_ = data_sets(None)
    assert [len(data.draws[0][0]) for data in (few, many)] == [100, 200]
    assert few.X.shape[1] == len(few.points["pixels"])


def test_a_missing_array_is_named(tmp_path):
    np.savez(tmp_path / "odd.npz", X=np.eye(3))
    with pytest.raises(SystemExit, match=r"odd\.npz has no array 'y'"):
        list(data_sets(tmp_path))


def constant(_X, _y, _n_jobs):
    def pairwise(left, right):
        return np.zeros((len(left), len(left if right is None else right)))

    return pairwise


def test_the_better_candidate_is_chosen():
    X, y = histograms(3, 10)
    useless = Method("constant", "constant", {}, constant)
    assert best_of([useless, METHODS["l1"]], X, y) == 1
    assert best_of([METHODS["l1"], useless], X, y) == 0
    assert best_of([METHODS["l1"], METHODS["l1"]], X, y) == 0
    chosen = cross_validated("chosen", "chosen", [useless, METHODS["l1"]])
    expected = METHODS["l1"].learn(X, y, 1)(X, None)
    np.testing.assert_array_equal(chosen.learn(X, y, 1)(X, None), expected)


def test_rare_bins_are_summed():
    seen = []

    def learn(X, _y, _n_jobs):
        seen.append(X)
        return constant(X, _y, _n_jobs)

    rng = np.random.default_rng(0)
    X = rng.random((4, 800)) * (rng.random((4, 800)) < np.linspace(1, 0, 800))
    X /= X.sum(axis=1, keepdims=True)
    data = DataSet("wide", X, np.zeros(4), {}, "tasks", [])
    common(data, Method("some", "some", {}, learn)).learn(X, data.y, 1)
    assert seen[0].shape == (4, 301)
    np.testing.assert_allclose(seen[0].sum(axis=1), 1.0)
    assert (np.count_nonzero(seen[0][:, :300], axis=0) >= 1).all()


def test_cosines_of_tfidf():
    X = np.array([[1.0, 0, 0], [0, 1, 0], [0.5, 0.5, 0]])
    D = tfidf_cosine(X, None, None)(X, None)
    # Documents without a common word, and one word of two that weigh the same.
    assert D[0, 1] == 1.0
    np.testing.assert_allclose(D[0, 2], 1 - np.sqrt(0.5))
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0.0)


def results(kind, wrong):
    """Rows of the results: wrong votes of 20 for each test histogram, by method."""
    rows = []
    for method, draws in wrong.items():
        for draw, votes in enumerate(draws):
            share = float(np.mean(votes)) / 20
            row = {"data": "some", "kind": kind, "draw": draw, "n_train": 60}
            row |= {"method": method, "label": method.upper(), "svm": share}
            row["grp"] = "chooser" if method == "chooser" else "rival"
            row["tested"], row["wrong"] = f"{list(range(len(votes)))}", f"{list(votes)}"
            rows.append(row | {"knn": f"{[share] * 20}"})
    return as_results(pd.DataFrame(rows))


def test_gain_over_tasks_is_students():
    frame = results("tasks", {"chooser": [[0, 0], [2, 2]], "l1": [[4, 4], [8, 8]]})
    found = gain(frame, "some", "chooser", "l1")
    # Differences 0.2 and 0.3: mean 0.25, standard error 0.05, t = 12.706.
    assert found.mean == pytest.approx(0.25)
    assert (found.low, found.high) == pytest.approx(
        (0.25 - 0.6353, 0.25 + 0.6353), abs=1e-4
    )


def test_gain_over_disjoint_sets_is_that_of_the_design():
    rng = np.random.default_rng(0)
    votes = rng.integers(0, 21, (2, 6, 40))
    frame = results(
        "disjoint", dict(zip(("chooser", "l1"), votes.tolist(), strict=True))
    )
    splits = [(np.arange(60), np.arange(40))] * 6
    design = Design("disjoint", np.zeros(40, int), splits)
    expected = design.estimate((votes[1] - votes[0]) / 20, -1.0, 1.0)
    found = gain(frame, "some", "chooser", "l1")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_verdicts():
    draws = {
        "chooser": [[0, 1], [1, 0], [1, 1]],
        "l1": [[8, 8]] * 3,
        "nca": [[9, 9]] * 3,
    }
    frame = results("tasks", draws)
    (one,) = verdicts_of(frame)
    assert (one.best, one.words) == ("l1", "better")
    assert "| some | 3 | 60 | 3.3 | L1 | 40.0 | +36.7 |" in verdicts(frame)
    # A method that failed on a draw is not compared.
    frame.loc[(frame["method"] == "l1") & (frame["draw"] == 1), ["error"]] = np.nan
    assert np.isnan(means(frame).loc["l1", "some"])
    assert verdicts_of(frame)[0].best == "nca"


def test_a_run_resumes(tmp_path):
    X, y = histograms(2, 20)
    np.savez(tmp_path / "some.npz", X=X, y=y, points_line=np.arange(6.0)[:, None])
    script = str(ROOT / "benchmarks" / "where.py")
    out = tmp_path / "where.sqlite"
    options = [str(tmp_path), "--out", str(out), "--draws", "2", "--only", "some"]

    def run(*more):
        return finished(SCRIPT, script, *options, *more)

    code, printed, error = run("--methods", "l1", "gmml")
    assert code == 0, error
    assert "4/4 some" in printed
    more = ["--methods", "l1", "gmml", "gml", "--export", str(tmp_path / "a.parquet")]
    assert "2/2 some" in run(*more)[1]
    frame = as_results(pd.read_parquet(tmp_path / "a.parquet"))
    assert len(frame) == 6
    assert frame["failure"].isna().all()
    assert frame["error"].between(0, 0.5).all()
    assert (frame["seconds"] >= frame["fit_seconds"]).all()
    with sqlite3.connect(out) as file:
        file.execute("UPDATE results SET version = 'old' WHERE method = 'l1'")
    assert "has rows of old" in run()[2]


def test_the_page_has_all_generated_parts():
    text = where_page.PAGE.read_text()
    assert all(f"<!-- made: {name} -->" in text for name in where_page.MAKERS)


def test_averages_leave_out_a_data_set_that_a_method_did_not_finish():
    rows = [
        {"data": data, "method": method, "error": error}
        for method, errors in {
            "a": [0.1, 0.3, 0.2],
            "b": [0.2, 0.1, np.nan],
            "c": [0.0, np.nan, np.nan],
        }.items()
        for data, error in zip("xyz", errors, strict=True)
    ]
    table = averages(pd.DataFrame(rows))
    assert table.attrs["n_sets"] == 2  # x and y; c finished on one only
    np.testing.assert_allclose(table.loc["a"], [0.2, 0.2])
    np.testing.assert_allclose(table.loc["b"], [0.15, 0.1])
    assert list(table.index) == ["b", "a"]
