"""Which distance to use."""

import sys

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from groundmetric.baselines import NCA
from groundmetric.experiments import (
    FIXED,
    LEARNERS,
    METHODS,
    PREDICTORS,
    Method,
    compare,
    cross_validate,
    draw,
    methods,
)
from groundmetric.experiments.choice import available_learners, choice
from groundmetric.experiments.names import in_a_sentence

NAMES = {"l1": "the l1 distance", "chi2": "the chi-squared distance", "nca": "NCA",
         "lmnn": "LMNN", "learned": "the learned metric"}  # fmt: skip
X = np.random.default_rng(1).dirichlet(np.ones(5), 24)
Y = np.repeat(["a", "b"], 12)
X[:12, 0] += 0.3


def sentence(errors, significant=()):
    """Choose, where only these pairs differ significantly."""
    ends = {True: (0.01, 0.2), False: (-0.01, 0.2)}
    return choice(errors, lambda a, b: ends[(a, b) in significant], NAMES)


def test_a_learner_that_is_better_is_recommended():
    errors = {"l1": 0.1, "chi2": 0.08, "nca": 0.04, "lmnn": 0.05, "learned": 0.06}
    better = [("nca", "chi2"), ("nca", "learned")]
    assert sentence(errors, better) == (
        "Use NCA on these data: 4.0 % errors, significantly fewer than the chi-squared "
        "distance (8.0 %), the best distance that needs no learning; LMNN is not "
        "significantly worse."
    )
    assert sentence(errors, better[:1]).endswith(
        "; LMNN and the learned metric are not significantly worse."
    )


def test_a_learner_that_may_be_lucky_is_not():
    assert sentence({"l1": 0.1, "learned": 0.06}) == (
        "The learned metric makes the fewest errors on these data, 6.0 %, but not "
        "significantly fewer than the l1 distance (10.0 %), which needs no learning: "
        "use either."
    )
    unknown = choice({"l1": 0.1, "nca": 0.0}, lambda *_: (np.nan, np.nan), NAMES)
    assert unknown.startswith("NCA makes the fewest errors on these data, 0.0 %, but")


def test_of_equals_the_one_that_learns_nothing_is_recommended():
    assert sentence({"nca": 0.05, "l1": 0.05}) == (
        "Use the l1 distance on these data: 5.0 % errors, and no learner makes fewer."
    )
    assert sentence({"nca": 0.05, "lmnn": 0.06}) == (
        "Use NCA on these data: 5.0 % errors, the fewest."
    )


def test_learners_need_two_of_a_class_and_what_is_installed(monkeypatch):
    few, enough = (draw([0, 1] * n, n_folds=2) for n in (2, 4))
    assert available_learners(enough) == (list(LEARNERS), "")
    assert available_learners(few).names == ["nca-hellinger"]
    assert "a class has a single training histogram" in available_learners(few).skipped
    many = draw(list(range(6)) * 4, n_folds=2)
    assert "itml-hellinger" not in available_learners(many).names
    assert "takes minutes with 6 classes" in available_learners(many).skipped
    assert available_learners(many, slow=True) == (list(LEARNERS), "")
    wide = available_learners(enough, 3000)  # 4 histograms to learn from
    assert wide.names == ["itml-hellinger", "nca-hellinger"]
    assert "take minutes with 3000 bins" in wide.skipped
    assert available_learners(enough, 3000, slow=True) == (list(LEARNERS), "")
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    found = available_learners(enough)
    assert found.names == [name for name in LEARNERS if name != "lmnn-hellinger"]
    assert "pip install 'groundmetric[baselines]'" in found.skipped
    assert set(LEARNERS) <= set(METHODS)


def test_compare_is_cross_validation_in_a_frame():
    methods = ["l1", "nca-hellinger", "gml"]
    frame = compare(X, Y, methods=methods, n_folds=3)
    found = {
        one.method: one for one in cross_validate(X, Y, methods=methods, n_folds=3)
    }
    assert sorted(frame.index) == sorted(methods)
    assert frame["error"].is_monotonic_increasing
    best = found[frame.index[0]]
    for name, row in frame.iterrows():
        one = found[name]
        assert row["error"] == np.mean(one.knn_errors)
        assert (row["low"], row["high"]) == (one.error().low, one.error().high)
        worse = one.saved_by(best)
        assert row["worse"] == pytest.approx(row["error"] - np.mean(best.knn_errors))
        assert (row["worse_low"], row["worse_high"]) == (worse.low, worse.high)
        saved = one.saved_by(found["gml"])
        assert (row["saved"], row["sure"]) == (saved.mean, saved.sure)
        assert row["saved_low"] < row["saved"] < row["saved_high"]
        assert row["balanced"] == pytest.approx(row["error"])  # classes are equal
        assert row["seconds"] >= 0
    assert in_a_sentence(frame.index[0])[1:] in frame.attrs["verdict"]
    assert frame.attrs["guessing"] == 0.5
    assert "into 3 folds, 2 times" in frame.attrs["design"]


def test_compare_names_methods_as_the_command_does():
    frame = compare(X, Y, methods=["gml-smoothed"], n_folds=2)
    assert frame.attrs["verdict"].startswith(
        "Use the smoothed metric (SinkhornMetricLearning) on these data: "
    )
    assert frame["saved"].isna().all()  # our learner is not there
    # Methods of yours have their own labels.
    mine = Method.of(NCA(hellinger=False), "nca", "my NCA")
    found = compare(X, Y, methods=[mine], n_folds=2)
    assert found.attrs["verdict"].startswith("Use my NCA on these data: ")


def test_compare_takes_counts_of_words_as_the_command_does():
    counts = sparse.csr_array(np.eye(4)[np.arange(24) % 4])
    frame = compare(counts, np.repeat(["a", "b"], 12), n_folds=2)
    assert "tfidf-l1" in frame.index


def test_compare_takes_all_learners_that_can_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    frame = compare(X, Y, n_folds=2)
    names = available_learners(draw(Y, n_folds=2)).names
    assert set(frame.index) == {*FIXED, *names, "gml", *PREDICTORS}


def test_pandas_is_asked_for_first(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="compare needs pandas: pip inst"):
        compare(X, Y)


def test_other_learners_use_one_thread_of_blas():
    seen = []

    class Watched(methods.NCA):
        def fit(self, X, y):
            pools = threadpool_info()
            seen.extend(
                one["num_threads"] for one in pools if one["user_api"] == "blas"
            )
            return super().fit(X, y)

    with threadpool_limits(2):
        methods._learn_map(Watched(), X, Y, None)
    assert set(seen) == {1}


def test_many_histograms_are_smoothed_in_batches(monkeypatch):
    monkeypatch.setattr(methods, "MANY", 8)
    sizes = []

    def fit(self, X, y, _fit=methods.SinkhornMetricLearning.fit):
        sizes.append(self.batch_size)
        return _fit(self, X, y)

    monkeypatch.setattr(methods.SinkhornMetricLearning, "fit", fit)
    learn = METHODS["gml-smoothed"].learn
    rng = np.random.default_rng(0)
    for n in (8, 12):
        rows = rng.dirichlet(np.ones(5), n)
        found = learn(rows, np.arange(n) % 2, None)(rows, None)
        assert found.shape == (n, n)
    assert sizes == [None, 4]
