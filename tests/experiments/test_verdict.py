"""Sentences about errors: honest in both directions, and about how sure it is."""

import numpy as np
import pytest

from groundmetric.experiments import CrossValidation
from groundmetric.experiments.choice import best_first
from groundmetric.experiments.design import Design
from groundmetric.experiments.gain import Gain, confidence, kind
from groundmetric.experiments.splits import draw, given, split_data
from groundmetric.experiments.verdict import Verdict


def cells_of(verdict, measure="knn"):
    """Rows of the table by the name of the distance, without the label."""
    rows = verdict.rows(measure)
    return {name: row[1:] for name, row in zip(verdict.found, rows, strict=True)}


def wrong(*rows, n=100):
    found = np.zeros(n, dtype=bool)
    found[list(rows)] = True
    return [found]


def verdict_of(learned, l1, *, svm=None, y_test=50 * ["a", "b"], **others):
    """Make a verdict from errors on a given test set."""
    design = given(["a", "b"], y_test)
    machines = svm or {}
    errors = {"learned": learned, "l1": l1, **others}
    return Verdict(
        {
            name: CrossValidation(name, design, each, machines.get(name), [1.5])
            for name, each in errors.items()
        },
        3,
    )


def test_verdict_is_honest_in_both_directions():
    few, many = wrong(0), wrong(*range(20))
    helped, hurt, same = (
        verdict_of(*each) for each in ((few, many), (many, few), (few, few))
    )
    assert helped.headline() == (
        "Learning helped: 1.0 % errors of 3 nearest neighbors under the learned "
        "metric, 20.0 % under the l1 distance."
    )
    assert hurt.headline().startswith("Learning made things worse: 20.0 % errors of 3")
    assert same.headline().startswith("Learning made no significant difference: 1.0 %")
    assert "learning saves 19.0 percentage points; the 95 % i" in helped.size()
    assert "learning costs 19.0 percentage points more errors; " in hurt.size()
    assert helped.size().endswith("more than 99.9 % sure that learning is better.")
    assert hurt.size().endswith("more than 99.9 % sure that the l1 distance is better.")
    rounded = Gain("the l1 distance", 0.1, 0.1, -1e-17, -0.1, 0.1, 0.5)
    assert rounded.saved == "0.0 (-10.0 to +10.0)"
    assert "saves 0.0 percentage points" in same.size()
    assert same.gain("l1").low < 0 < same.gain("l1").high  # no certainty from no change
    assert same.size().endswith(
        "We can be 50.0 % sure that learning is better; 50 % is a coin toss, and a "
        "significant difference takes 97.5 %."
    )


@pytest.mark.parametrize(
    ("sure", "message"),
    [
        (0.96, "Other random splits may tip the scales."),
        (0.04, "96.0 % sure that the l1 distance is better; a significant difference"),
        (0.7, "70.0 % sure that learning is better; 50 % is a coin toss"),
    ],
)
def test_verdicts_near_the_edge_are_called_so(sure, message):
    found = Gain("the l1 distance", 0.1, 0.12, 0.02, -0.01, 0.05, sure)
    assert kind(found) == "unclear"
    assert message in found.certainty


def test_nothing_is_certain():
    assert confidence(1.0) == "> 99.9 %"
    assert confidence(0.0) == "< 0.1 %"
    assert confidence(0.5) == "50.0 %"


def test_the_best_rival_is_named():
    few, many = wrong(0, 1), wrong(*range(20))
    found = verdict_of(wrong(0, 1, 2), many, l2=few).best_fixed()
    assert found == (
        "Of the distances that do not learn, the l2 distance does best here, with "
        "2.0 % errors: fewer than the learned metric, but not significantly so."
    )
    assert verdict_of(few, many).best_fixed().endswith("more than the learned metric.")
    equal = verdict_of(few, few, initial=wrong())  # which does not count
    assert equal.best_fixed().endswith("as many as the learned metric.")


def test_where_support_vector_machines_disagree_it_says_so():
    few, many = wrong(0), wrong(*range(20))
    svm = {"learned": many, "l1": few}
    found = verdict_of(few, many, svm=svm)
    assert found.machines() == (
        "With support vector machines, learning made things worse: 20.0 % errors, "
        "1.0 % under the l1 distance. The verdict goes by nearest neighbors, which use "
        "the distance and nothing else."
    )
    assert found.machines() in found.sentences()
    assert cells_of(found, "svm")["l1"][0] == "1.0 %"
    assert found.facts()["errors"]["l1"]["svm_saved"]["mean"] == pytest.approx(-0.19)
    agree = verdict_of(few, many, svm={"learned": few, "l1": many})
    assert agree.machines() == ""
    assert verdict_of(few, many).machines() == ""


def test_tables_have_a_balanced_column_if_classes_are_unequal():
    labels = 95 * ["a"] + 5 * ["b"]
    always_a = wrong(*range(95, 100))
    found = verdict_of(always_a, always_a, y_test=labels)
    assert found.columns()[:2] == ["Errors", "Balanced errors"]
    assert cells_of(found)["l1"][:2] == ["5.0 %", "50.0 %"]
    assert "makes 5.0 % errors" in found.guessing()
    assert "50.0 % by guessing" in found.guessing()
    equal = verdict_of(wrong(0), wrong(0))
    assert equal.guessing() == ""
    assert equal.columns() == ["Errors", "Saved by learning (95 %)", "Sure"]
    assert cells_of(equal)["learned"] == ["1.0 %", "", ""]
    beside = verdict_of(wrong(0), wrong(0), **{"nca-hellinger": wrong(1)})
    assert beside.columns()[-1] == "Seconds"  # one time alone says little
    assert [row[-1] for row in cells_of(beside).values()] == ["1.5", "", "1.5"]


def test_no_distance_is_recommended_that_is_no_better_than_guessing():
    half = wrong(*range(0, 100, 2))
    found = verdict_of(half, half, **{"nca-hellinger": half})
    assert found.choice() == (
        "No distance is better than always guessing the most common class: 50.0 % "
        "errors."
    )


def test_wins_are_counted_over_splits():
    tests = np.arange(3, 13)
    design = Design("disjoint", np.arange(13) % 2, [([k], tests) for k in range(3)])
    ours = [np.arange(10) < n for n in (0, 1, 2)]
    theirs = [np.arange(10) < n for n in (1, 1, 3)]
    found = Verdict(
        {
            "learned": CrossValidation("learned", design, ours),
            "l1": CrossValidation("l1", design, theirs),
        },
        1,
    )
    assert found.columns()[3] == "Wins of 3"
    assert cells_of(found)["l1"][3] == "2"


def test_equal_numbers_of_errors_are_a_tie():
    # Means of folds of unequal errors add up with rounding of about 1e-18.
    rng = np.random.default_rng(0)
    design = draw([0, 1] * 30, n_folds=5, n_repeats=2)
    n_ties = 0
    while n_ties < 20:
        l1, learned = (rng.random((10, 12)) < 0.3 for _ in range(2))
        if l1.sum() != learned.sum():
            continue
        n_ties += 1
        found = {
            "learned": CrossValidation("learned", design, [*learned]),
            "l1": CrossValidation("l1", design, [*l1]),
        }
        assert found["l1"].saved_by(found["learned"]).mean == 0.0
        verdict = Verdict(found, 3)
        assert "saves 0.0 percentage points" in verdict.size()
        assert "as many as the learned metric" in verdict.best_fixed()
        assert best_first({"learned": 0.1 + 0.2, "l1": 0.3}) == ["l1", "learned"]


def test_what_is_not_significant_is_not_written_as_if_it_was():
    nearly = Gain("the l1 distance", 0.08, 0.12, 0.04, -0.0003, 0.07, 0.9748)
    assert "We can be 97.4 % sure" in nearly.certainty


def test_labels_of_two_kinds_are_not_compared():
    rows = np.eye(4) + 1
    with pytest.raises(ValueError, match="labels of one kind"):
        split_data(rows, [0.0, 0.0, 1.0, 1.0], rows, ["0", "1", "0", "1"])
