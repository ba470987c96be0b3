"""Tables in Markdown."""

import pytest
from made_up import frame, plausible
from test_summary import CURVES

from paper.tables import comparison_table, summary_table


def cells(table):
    """Rows of a table, without its rule and the note below."""
    lines = table.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]


def test_summary_is_sorted_and_marks_the_best():
    svm_error = {"l1": 0.25, "l2": 0.1, "gml": 0.1}
    table = summary_table(frame(CURVES, svm_error=svm_error))
    title, _, *rows = cells(table)
    assert title == [
        "method",
        "1-NN error",
        "mean over kappa",
        "SVM error",
        "learning (s)",
        "all (s)",
    ]
    # Means over kappa: (0.2 + 0.175) / 2, (0.3 + 0.25) / 2, (0.5 + 0.15) / 2.
    assert rows == [
        ["gml", "**20.0**", "**18.8**", "**10.0**", "0.50", "2.00"],
        ["l1", "30.0", "27.5", "25.0", "0.50", "2.00"],
        ["l2", "50.0", "32.5", "**10.0**", "0.50", "2.00"],
    ]
    assert table.endswith(
        "Means over 4 tasks of made-up; shares in %, the best bold; CPU seconds a task."
    )


def test_summary_has_the_columns_that_the_results_have():
    title, _, *rows = cells(summary_table(plausible(["l1", "gml"])))
    wanted = [1, 3, 5, 10, 20]
    assert title[1:6] == [f"{k}-NN error" for k in wanted]
    assert title[7:9] == ["recall at 5", "recall at 20"]
    bold = [[cell.startswith("**") for cell in row[1:10]] for row in rows]
    assert all(any(column) for column in zip(*bold, strict=True))
    # More recall is better.
    best = max(float(row[7].strip("*")) for row in rows)
    assert f"**{best:.1f}**" in [row[7] for row in rows]


def test_summary_says_what_was_left_out():
    table = summary_table(frame({**CURVES, "slow": [[0.1, 0.1], None, None, None]}))
    assert "Means over 1 task that have all methods (3 left out) of made-up" in table
    assert cells(summary_table(frame(CURVES), methods=["l2"]))[2][0] == "l2"


def test_comparison_by_hand():
    table = comparison_table(frame(CURVES), "gml", kappa=1)
    title, _, *rows = cells(table)
    assert title[0] == "gml against"
    # Strongest first. l1: see test_summary; l2: -0.4, -0.3, -0.2, -0.3, half of
    # the interval: 3.182446 * sqrt(0.02 / 3 / 4) = 0.1299. Of the draws, single
    # tasks are the extremes.
    assert rows == [
        ["l1", "-10.00", "[-22.99, +2.99]", "[-20.00, +0.00]", "3 / 1 / 0", "0.25"],
        ["l2", "-30.00", "[-42.99, -17.01]", "[-40.00, -20.00]", "4 / 0 / 0", "0.12"],
    ]
    assert "k-NN error (kappa = 1), gml minus the other" in table
    assert "(negative: gml is better), over 4 tasks of made-up" in table
    assert "Student's t over tasks; bootstrap over the classes of both halves" in table


def test_comparison_averages_over_kappa():
    table = comparison_table(frame(CURVES), "gml", measure="recall")
    rows = cells(table)[2:]
    # Halves of 0.1 + 0.075 and of 0.3 - 0.025.
    assert [(row[0], row[1]) for row in rows] == [("l1", "+8.75"), ("l2", "+13.75")]
    assert "Recall (mean over kappa = 1 to 2)" in table
    assert "positive: gml is better" in table


@pytest.mark.parametrize("classes", [
    ["a | b | c"] * 4,
    ["a | b", "a | c", "b | c", "c | d"],  # pairs, but not of two halves
])  # fmt: skip
def test_comparison_without_halves_has_one_interval(classes):
    table = comparison_table(frame(CURVES, classes=classes), "gml")
    assert cells(table)[0][2:4] == ["95 %, tasks", "won / tied / lost"]
    assert "bootstrap" not in table


def test_one_task_is_compared_without_intervals():
    rows = cells(comparison_table(frame({"l1": [[0.2]], "gml": [[0.1]]}), "gml"))
    assert rows[2] == ["l1", "-10.00", "–", "–", "1 / 0 / 0", "1"]  # noqa: RUF001


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "lmnn"}, "method is 'lmnn'; results has l1, l2, gml"),
        ({"kappa": 3}, "kappa is 3; results has 1 to 2"),
        ({"kappa": 0}, "kappa is 0; results has 1 to 2"),
        ({"measure": "seconds"}, "measure is 'seconds'; it must be one of knn_er"),
        ({"measure": "svm_error"}, "results lacks svm_error for method 'l1'"),
        ({"measure": "svm_error", "kappa": 1}, "kappa must be left out"),
    ],
)
def test_bad_options_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        comparison_table(frame(CURVES), **{"method": "gml", **options})
