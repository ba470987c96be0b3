"""Long fits are announced."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric.learning import _effort
from groundmetric.learning._descent import Settings
from groundmetric.learning._effort import (
    LongFitWarning,
    Pairs,
    fit_bytes,
    fit_seconds,
    solved_pairs,
    warn_if_long,
)
from groundmetric.similarity._makers import weights_of


def test_seconds_by_hand(monkeypatch):
    monkeypatch.setattr(_effort, "LEARNED", 2.0)
    monkeypatch.setattr(_effort, "PROJECTION", 1e-3)
    settings = Settings(max_outer=3, max_inner=5)
    # 3 * 100 similar and 15 * 10 dissimilar solves at 2 * 0.1 s; 15 projections at 8 ms
    found = fit_seconds(2, Pairs(100, 10), settings, 0.1)
    assert found == pytest.approx(450 * 0.2 + 15 * 0.008)
    # Threads share the pairs, not the projection.
    found = fit_seconds(2, Pairs(100, 10), settings, 0.1, n_threads=2)
    assert found == pytest.approx(450 * 0.1 + 15 * 0.008)


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
    ("seconds", "n_bytes", "said"),
    [
        (61.0, 0, r"may take about a minute, for 1,000 histograms of 128 bins"),
        (600.0, 0, r"may take about 10 minutes, for"),
        (7200.0, 2.5e9, r"may take about 2 hours and about 2\.5 GB of memory, for"),
        (1.0, 3e9, r"may take about 3\.0 GB of memory, for"),
    ],
)
def test_more_than_a_minute_or_a_gigabyte(seconds, n_bytes, said):
    with pytest.warns(LongFitWarning, match=said):
        warn_if_long(seconds, n_bytes, 1000, 128)


def test_less_is_not_announced():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_if_long(60.0, 1e9, 1000, 128)
    assert not found


def test_fit_announces_before_it_starts(monkeypatch):
    X, y = load_digits(n_class=2, return_X_y=True)
    steps = []
    learner = gm.GroundMetricLearning(max_outer=1, callback=steps.append)
    monkeypatch.setattr(_effort, "_seconds_a_pair", lambda _: 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LongFitWarning)
        with pytest.raises(LongFitWarning, match="may take about"):
            learner.fit(X[:40], y[:40])
    assert not steps
    assert not hasattr(learner, "metric_")
    with pytest.warns(LongFitWarning, match=r"about \d+ minutes, for 40") as found:
        learner.fit(X[:40], y[:40])
    assert len(steps) == 1
    assert found[0].filename == __file__


def test_a_pair_is_timed():
    X, _ = load_digits(n_class=2, return_X_y=True)
    rows = X / X.sum(axis=1, keepdims=True)
    assert 0 < _effort._seconds_a_pair(rows) < 60
    assert 0 < _effort._seconds_a_pair(rows[:2]) < 60
