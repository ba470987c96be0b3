"""Long fits are announced."""

import warnings

import effort as benchmark
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline

import groundmetric as gm
from groundmetric.learning import _effort
from groundmetric.learning._descent import Settings
from groundmetric.learning._effort import (
    LongFitWarning,
    Pairs,
    effort_of,
    fit_bytes,
    solved_pairs,
    warn_if_long,
)
from groundmetric.similarity._makers import weights_of

# The fits of benchmarks/effort.py, which compares their times: few of the steps here.
FITS = {
    name: (task, {"max_steps": 6, **options})
    for name, (task, options) in benchmark.FITS.items()
    if name != "16 dense bins"
}


@pytest.mark.parametrize("name", FITS)
def test_estimated_and_counted_work(name, monkeypatch):
    # The search and the simplex count what they do; the estimate has not seen it.
    monkeypatch.setitem(benchmark.FITS, name, FITS[name])
    effort, learner, _ = benchmark.measure(name)
    path, share = learner.path_, learner.n_iter_ / effort.n_steps
    for counted, estimated in (
        (path.column("n_solves").sum(), effort.n_solves),
        (path.column("n_pivots").sum(), effort.n_pivots),
    ):
        assert 1 / 3 < share * estimated / counted < 3


def effort(rows, labels, settings, n_threads=1, counts=(2, 3)):
    weights = weights_of(len(rows), np.array(labels), None)
    return effort_of(rows, weights, counts, settings, n_threads)


def test_seconds_by_hand(monkeypatch):
    monkeypatch.setattr(_effort, "SOLVE", 1.0)
    monkeypatch.setattr(_effort, "ARC", 0.5)
    monkeypatch.setattr(_effort, "ENTRY", 0.25)
    monkeypatch.setattr(_effort, "PROJECTION", {"margin": 2.0, "neighborhood": 3.0})
    rows, labels = np.array([[0.5, 0.5, 0.0]] * 4), [0, 0, 1, 1]
    # Two similar pairs and four dissimilar ones; two of three bins are not empty.
    # C_k: 3 * 2 + 15 * 4 solves at 1 + 0.5 * 4 + 0.25 * 9 s; 15 projections at 3 * 27 s
    c_k = Settings(max_outer=3, max_inner=5)
    found = effort(rows, labels, c_k)
    assert (found.n_steps, found.n_solves) == (15, 66)
    assert found.n_pivots == round(66 * 0.8 * 2)
    assert found.solving == pytest.approx(66 * 5.25)
    assert found.projecting == pytest.approx(15 * 81)
    # Margins look for targets at every step.
    margins = Settings(max_outer=3, max_inner=5, criterion="margin")
    found = effort(rows, labels, margins)
    assert (found.n_steps, found.n_solves) == (15, 90)
    assert found.projecting == pytest.approx(15 * 54)
    # Threads share the pairs, not the projection.
    found = effort(rows, labels, margins, n_threads=2)
    assert found.seconds == pytest.approx(45 * 5.25 + 15 * 54)


def test_inner_loops_count_with_their_least_steps():
    rng = np.random.default_rng(0)
    rows, labels = rng.dirichlet(np.ones(128), 60), np.arange(60) % 2
    settings = gm.GroundMetricLearning.paper()._settings()
    found = effort(rows, labels, settings, counts=(3, 3))
    assert (found.n_steps, found.most_steps) == (211, 1600)
    assert found.seconds < _effort.LONG
    assert found.if_it == "takes 211 of at most 1600 steps"
    whole = effort(rows, labels, Settings(max_outer=20, max_inner=1), counts=(3, 3))
    assert whole.if_it == "takes all its steps"
    with pytest.warns(LongFitWarning, match="a minute, if it takes 211 of at most 16"):
        warn_if_long(61.0, 0, rows.shape, found.advice, if_it=found.if_it)


def test_advice_is_about_what_takes_longest():
    rng = np.random.default_rng(0)
    settings = Settings(max_outer=20, max_inner=1, criterion="margin")
    words = np.zeros((10, 4000))
    words[np.arange(10)[:, None], rng.integers(0, 4000, (10, 40))] = 1 / 40
    found = effort(words, np.arange(10) % 2, settings)
    assert found.projecting > 100 * found.solving
    assert "fewer bins, fewer steps or a linear map" in found.advice
    assert "histograms" not in found.advice
    images = rng.random((10_000, 64))
    found = effort(images, np.arange(10_000) % 10, settings, counts=(10, 400))
    assert found.solving > 10 * found.projecting
    assert "fewer histograms" in found.advice


def test_pairs_by_hand():
    labels = np.repeat([0, 1], 10)
    for weights in (
        weights_of(20, labels, None),
        weights_of(20, None, gm.label_similarity(labels)),
    ):
        assert solved_pairs(weights, None, None) == Pairs(2 * 45, 100)
        assert solved_pairs(weights, 2, 3) == Pairs(80, 100)
        assert solved_pairs(weights, 1, 1) == Pairs(40, 40)


def test_memory_grows_with_everything():
    least = fit_bytes(100, 10, Pairs(1000, 1000))
    assert 0 < least < fit_bytes(200, 10, Pairs(1000, 1000))
    assert least < fit_bytes(100, 20, Pairs(1000, 1000))
    assert least < fit_bytes(100, 10, Pairs(2000, 1000))
    assert fit_bytes(20_000, 100, Pairs(10**7, 10)) > _effort.LARGE


@pytest.mark.parametrize(
    ("seconds", "n_bytes", "message"),
    [
        (61.0, 0, r"may take about a minute, if it takes all its steps, for 1,000"),
        (600.0, 0, r"may take about 10 minutes, if"),
        (7200.0, 2.5e9, r"about 2 hours, .* and about 2\.5 GB of memory for 1,000"),
        (1.0, 3e9, r"may take about 3\.0 GB of memory for 1,000 .* 128 bins; take a"),
    ],
)
def test_more_than_a_minute_or_a_gigabyte(seconds, n_bytes, message):
    with pytest.warns(LongFitWarning, match=message):
        warn_if_long(seconds, n_bytes, (1000, 128), "take a nap")


def test_less_is_not_announced():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_if_long(60.0, 1e9, (1000, 128), "take a nap")
    assert not found


def test_fit_announces_before_it_starts(monkeypatch):
    X, y = load_digits(n_class=2, return_X_y=True)
    steps = []
    learner = gm.GroundMetricLearning(max_steps=1, callbacks=[steps.append])
    monkeypatch.setattr(_effort, "SOLVE", 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LongFitWarning)
        with pytest.raises(LongFitWarning, match="may take about"):
            learner.fit(X[:40], y[:40])
    assert not steps
    assert not hasattr(learner, "metric_")
    with pytest.warns(LongFitWarning, match=r"about \d+ minutes, .* for 40") as found:
        learner.fit(X[:40], y[:40])
    assert len(steps) == 1
    assert found[0].filename == __file__


@pytest.mark.parametrize(
    "fit",
    [
        lambda learner, X, y: learner.fit(X, y),
        lambda learner, X, y: make_pipeline(learner).fit(X, y),
        lambda learner, X, y: gm.EMDClassifier(learner=learner).fit(X, y),
        lambda _, X, y: gm.MetricLearningCV(param_grid={}, cv=2, patience=1).fit(X, y),
    ],
)
def test_warnings_point_at_the_line_that_called(fit, monkeypatch):
    X, y = load_digits(n_class=2, return_X_y=True)
    monkeypatch.setattr(_effort, "SOLVE", 1.0)
    with pytest.warns(LongFitWarning) as found:
        fit(gm.GroundMetricLearning(max_steps=1), X[:40], y[:40])
    assert {warning.filename for warning in found} == {__file__}
