"""Long commands say at once how long they will take; nothing here measures time."""

import re

import numpy as np
import pytest
from samples import LINE, X, Y
from scipy.sparse import csr_array

from groundmetric import (
    AutoMetric,
    GroundMetricLearning,
    MetricLearningCV,
    SinkhornMetricLearning,
    _progress,
    baselines,
)
from groundmetric._words import duration
from groundmetric.baselines import NCA
from groundmetric.cli import _console
from groundmetric.experiments import beside, effort
from groundmetric.experiments.beside import measure_beside
from groundmetric.experiments.splits import split_data
from groundmetric.report import _lesson

COMMANDS = {
    "evaluate data.csv --folds 2 --no-learners": "3 bins, 8 rows, 4 splits, 5 methods",
    "report data.csv --folds 2 --no-learners": "3 bins, 8 rows, 4 splits, 5 methods",
    "fit data.csv": "3 bins, 8 rows, 20 steps",
    "fit data.csv --cv": "3 bins, 8 rows, 20 steps, cross-validated",
    "fit data.csv --learner auto": "3 bins, 8 rows, cross-validated",
    "fit data.csv --learner nca": "3 bins, 8 rows",
    "fit data.csv --learner nca --cv": "3 bins, 8 rows, cross-validated",
    "distances X.npy --metric line.npy": "3 bins, 32 distances",
    "distances X.npy --metric line.npy --queries X.npy": "3 bins, 64 distances",
    "project line.npy": "3 bins",
}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("line", COMMANDS)
def test_the_first_line_of_what_is_long(line, run, monkeypatch):
    quiet = run(*line.split(), "--json")
    assert "about" not in quiet.stderr  # a short one is quiet
    monkeypatch.setattr(_console, "LONG", 0.0)
    found = run(*line.split(), "--json")
    assert found.exit_code == 0
    lines = [each for each in found.stderr.splitlines() if each.startswith("about")]
    assert lines == [f"about a second: {COMMANDS[line]}"]


@pytest.mark.usefixtures("folder")
def test_it_comes_before_anything_is_measured(run, monkeypatch):
    def measure(*_, **__):
        raise ValueError("Stopped.")

    monkeypatch.setattr(_console, "LONG", 0.0)
    monkeypatch.setattr(beside, "measure", measure)
    found = run("evaluate", "data.csv", "--folds", 2)
    # Of all notes, only those at once survive an error.
    assert re.match(
        "labels: .*\nAutoMetric was .*\nabout a second: .*\nerror: Stopped",
        found.stderr,
    )


@pytest.mark.usefixtures("folder")
def test_bars_count_every_fit_and_every_draw(run, monkeypatch):
    reports = {}
    bar = _progress.progress_bar

    def watched(total, *, label, **options):
        reports.setdefault(label, []).append(total)
        return bar(total, label=label, **options | {"show": False})

    for module in ("cross_validation", "repeats"):
        monkeypatch.setattr(f"groundmetric.experiments.{module}.progress_bar", watched)
    assert run("report", "data.csv", "--folds", 2, "--no-learners").exit_code == 0
    # Two folds, twice; five distances.
    assert reports == {"fits": [4 * 5], "draws": [_lesson.N_DRAWS]}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.01, "a second"),
        (1.4, "a second"),
        (2.6, "3 seconds"),
        (43.0, "40 seconds"),
        (57.0, "a minute"),
        (89.0, "a minute"),
        (130.0, "2 minutes"),
        (7300.0, "2 hours"),
        (200000.0, "2 days"),
    ],
)
def test_times_in_words(seconds, words):
    assert duration(seconds) == words


def test_estimates_by_hand(monkeypatch):
    automatic = effort.fit_seconds(AutoMetric(), X[:4], Y[:4])
    data = split_data(X, Y, n_folds=2, n_repeats=1)
    monkeypatch.setattr(effort, "fit_seconds", lambda *_: 10.0)
    monkeypatch.setattr(effort, "solving_seconds", lambda n, _: float(n))
    monkeypatch.setitem(effort.COSTS, "lmnn-hellinger", (1.0, 2.0, 3.0))
    estimate = effort.measuring_seconds
    assert estimate(data, ["l1"]) == 0.0
    # Two splits of four and four: a fit, and 16 distances.
    assert estimate(data, ["learned"]) == 2 * (10 + 16)
    assert estimate(data, ["learned"], fitted=True, n_threads=2) == 16
    assert estimate(data, ["emd:line.npy"]) == 2 * 16
    assert estimate(data, ["auto"]) == 2 * automatic
    assert estimate(data, ["lmnn-hellinger"]) == 2 * (1 + 2 * 4 * 3 + 3 * 9)


def test_searches_take_as_many_fits_as_they_have_folds():
    learner = GroundMetricLearning()
    one = effort.fit_seconds(learner, X, Y)
    assert effort.fit_seconds(MetricLearningCV(learner, {}), X, Y) == 7 * one
    assert effort.fit_seconds(MetricLearningCV(), X, Y) == 7 * 8 * one


@pytest.mark.parametrize("learner", [SinkhornMetricLearning(), AutoMetric()])
def test_smoothed_learners_count_in_bins_and_take_sparse_rows(learner):
    rows = np.full((10, 4), 0.25)
    labels = np.arange(10) % 2
    one = effort.fit_seconds(learner, rows, labels)
    assert effort.fit_seconds(learner, csr_array(rows), labels) == one
    twice = effort.fit_seconds(learner, np.tile(rows / 2, 2), labels)
    assert twice == pytest.approx(2 * one)


def test_baselines_count_as_in_a_comparison(monkeypatch):
    monkeypatch.setitem(effort.COSTS, "nca-hellinger", (1.0, 2.0, 3.0))
    assert effort.fit_seconds(NCA(), X, Y) == 1 + 2 * 8 * 3 + 3 * 9
    named = {name for name in baselines.__all__ if name in effort.BASELINES}
    assert named == set(effort.BASELINES)
    assert set(effort.BASELINES.values()) <= set(effort.COSTS)


def test_exact_learners_take_as_long_with_sparse_rows():
    rows = np.eye(10)
    labels, learner = np.arange(10) % 2, GroundMetricLearning()
    one = effort.fit_seconds(learner, rows, labels)
    assert effort.fit_seconds(learner, csr_array(rows), labels) == one
    assert effort.solving_seconds(9, csr_array(rows)) == effort.solving_seconds(9, rows)


def test_begin_is_told_once():
    told = []
    data = split_data(np.tile(LINE + 1, (4, 1)), [0, 1, 2] * 4, n_folds=2)
    learner, learners = GroundMetricLearning(max_steps=1), ["logistic"]
    options = {"learners": learners, "n_neighbors": 1}
    measure_beside(learner, data, begin=lambda *facts: told.append(facts), **options)
    ((seconds, what),) = told
    assert seconds > 0
    assert what == "3 bins, 12 rows, 4 splits, 6 methods"
