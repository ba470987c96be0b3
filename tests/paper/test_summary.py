"""Means, intervals and sign tests of results made by hand."""

import numpy as np
import pandas as pd
import pytest
from made_up import frame, plausible

from paper.aligned import align
from paper.inference import class_interval, student_interval
from paper.summary import mean_curves, paired_differences

# Four tasks: two classes in each half. Two numbers of neighbors.
CURVES = {
    "l1": [[0.2, 0.2], [0.3, 0.2], [0.3, 0.3], [0.4, 0.3]],
    "l2": [[0.5, 0.1], [0.5, 0.2], [0.5, 0.2], [0.5, 0.1]],
    "gml": [[0.1, 0.2], [0.2, 0.2], [0.3, 0.2], [0.2, 0.1]],
}
RESULTS = frame(CURVES)
T3 = 3.182446  # 97.5 % quantile of Student's t with 3 degrees of freedom, from a table


def test_mean_curves_by_hand():
    curves = mean_curves(RESULTS, "knn_errors")
    assert curves.methods == ("l1", "l2", "gml")
    assert curves.kappas.tolist() == [1, 2]
    np.testing.assert_allclose(curves.mean, [[0.3, 0.25], [0.5, 0.15], [0.2, 0.175]])
    # gml at kappa = 1: 0.1, 0.2, 0.3, 0.2 has variance 0.02 / 3.
    half = T3 * np.sqrt(0.02 / 3 / 4)
    assert curves.low[2, 0] == pytest.approx(0.2 - half, abs=1e-6)
    assert curves.high[2, 0] == pytest.approx(0.2 + half, abs=1e-6)
    assert np.isnan([curves.low[1, 0], curves.high[1, 0]]).all()  # no spread
    assert not np.isnan(np.delete(curves.low, 2)).any()  # but everywhere else
    assert (curves.n_tasks, curves.n_incomplete) == (4, 0)
    assert np.isnan(curves.svm_error).all()


def test_paired_differences_by_hand():
    paired = paired_differences(RESULTS, "gml", against="l1")
    # kappa = 1: -0.1, -0.1, 0, -0.2; kappa = 2: 0, 0, -0.1, -0.2
    np.testing.assert_allclose(paired.difference, [-0.1, -0.075])
    half = T3 * np.sqrt(np.array([0.02, 0.0275]) / 3 / 4)
    np.testing.assert_allclose(paired.low, paired.difference - half, atol=1e-6)
    np.testing.assert_allclose(paired.high, paired.difference + half, atol=1e-6)
    assert paired.wins.tolist() == [3, 2]
    assert paired.ties.tolist() == [1, 2]
    assert paired.losses.tolist() == [0, 0]
    # All of three coins, and all of two, fall on the same side.
    np.testing.assert_allclose(paired.p_value, [2 / 8, 2 / 4])
    assert paired.against == ("l1", "l1")
    assert paired.interval == "tasks"


def test_best_competitor_is_chosen_at_each_kappa():
    paired = paired_differences(RESULTS, "gml")
    assert paired.against == ("l1", "l2")  # 0.3 < 0.5 and 0.25 > 0.15
    np.testing.assert_allclose(paired.difference, [-0.1, 0.025])
    assert paired.wins.tolist() == [3, 0]
    assert paired.ties.tolist() == [1, 3]
    assert paired.losses.tolist() == [0, 1]
    assert paired.p_value[1] == 1.0
    alone = paired_differences(RESULTS, "gml", methods=["gml", "l2"])
    assert alone.against == ("l2", "l2")


def test_more_recall_is_better():
    # Recall is 1 - error in these results: same winners, other signs.
    errors = paired_differences(RESULTS, "gml")
    recall = paired_differences(RESULTS, "gml", measure="recall")
    assert recall.against == errors.against
    np.testing.assert_allclose(recall.difference, -errors.difference)
    assert recall.wins.tolist() == errors.wins.tolist()
    assert recall.losses.tolist() == errors.losses.tolist()


def test_a_method_against_itself_ties_always():
    for interval in ("tasks", "classes"):
        paired = paired_differences(RESULTS, "gml", against="gml", interval=interval)
        assert paired.ties.tolist() == [4, 4]
        assert paired.p_value.tolist() == [1.0, 1.0]
        # How sure that is, tasks that do not differ cannot tell.
        assert np.isnan([paired.low, paired.high]).all()


def test_rounding_is_no_win():
    results = frame({"a": [[0.1 + 0.2]], "b": [[0.3]]})  # they differ in the last bit
    assert paired_differences(results, "a").ties.tolist() == [1]


def test_bootstrap_over_classes_by_hand():
    paired = paired_differences(RESULTS, "gml", against="l1", interval="classes")
    # A draw takes first1 twice with probability 1/4, and second0 (or second1) twice
    # with 1/4: one in 16 has task 2 alone (0), one in 16 has task 3 alone (-0.2). These
    # are the extremes, and both are likelier than 2.5 %.
    assert paired.low[0] == pytest.approx(-0.2)
    assert paired.high[0] == pytest.approx(0.0)
    assert paired.interval == "classes"
    again = paired_differences(RESULTS, "gml", against="l1", interval="classes")
    assert again.low.tolist() == paired.low.tolist()


def test_bootstrap_sees_that_tasks_share_classes():
    # The value depends on the first class only: five numbers, each five times.
    effects = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])
    classes = [(f"first{a}", f"second{b}") for a in range(5) for b in range(5)]
    values = np.repeat(effects, 5)[:, None]
    by_tasks, by_classes = student_interval(values), class_interval(values, classes)
    # t(24) = 2.064 times 0.1443 / 5, and about 1.96 times 0.1414 / sqrt(5).
    assert by_tasks.high[0] == pytest.approx(0.0596, abs=1e-4)
    assert by_classes.high[0] == pytest.approx(0.124, abs=0.008)
    assert by_classes.low[0] == pytest.approx(-0.124, abs=0.008)


def test_bootstrap_goes_without_draws_that_have_no_task():
    # Only two of the four pairs of classes are there: a quarter of the draws is void.
    low, high = class_interval(np.array([[1.0], [3.0]]), [("a", "x"), ("b", "y")])
    assert (low[0], high[0]) == (1.0, 3.0)


def test_incomplete_tasks_are_left_out_and_counted():
    curves = {**CURVES, "slow": [[0.1, 0.1], None, [0.3, 0.3], None]}
    found = mean_curves(frame(curves))
    assert (found.n_tasks, found.n_incomplete) == (2, 2)
    np.testing.assert_allclose(found.mean[0], [0.25, 0.25])  # l1 on tasks 0 and 2
    paired = paired_differences(frame(curves), "slow")
    assert (paired.n_tasks, paired.n_incomplete) == (2, 2)
    assert mean_curves(frame(curves), methods=["l1", "gml"]).n_tasks == 4


def test_order_of_rows_and_kind_of_lists_do_not_matter():
    shuffled = RESULTS.sample(frac=1, random_state=0)
    shuffled["knn_errors"] = [np.array(curve) for curve in shuffled["knn_errors"]]
    expected = paired_differences(RESULTS, "gml", against="l2", interval="classes")
    found = paired_differences(shuffled, "gml", against="l2", interval="classes")
    assert found.difference.tolist() == expected.difference.tolist()
    assert found.low.tolist() == expected.low.tolist()


def test_one_task_has_no_interval():
    results = frame({"l1": [[0.2]], "gml": [[0.1]]})
    for interval in ("tasks", "classes"):
        paired = paired_differences(results, "gml", interval=interval)
        assert paired.difference[0] == pytest.approx(-0.1)
        assert np.isnan([paired.low[0], paired.high[0]]).all()


def test_svm_errors_are_averaged():
    curves = mean_curves(plausible(["l1", "gml"], n_classes=2))
    np.testing.assert_allclose(curves.svm_error, [0.08, 0.09])


def changed(**columns):
    return RESULTS.assign(**columns)


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        (
            changed(experiment=["a"] * 4 + ["b"] * 8),
            "results has several experiments, 'a', 'b': select the rows of one",
        ),
        (RESULTS.iloc[:0], "results is empty"),
        (RESULTS.drop(columns="classes"), "results has no column 'classes'"),
        (
            pd.concat([RESULTS, RESULTS.iloc[[5]]]),
            "results has method 'l2' twice in task 1",
        ),
        (
            changed(classes=[f"{i} | x" for i in range(12)]),
            "other classes in task 0 for one method than for another: '0 | x' and '4",
        ),
        (
            frame({"l1": [[0.1], None], "gml": [None, [0.1]]}),
            "results has no task with all of the methods l1, gml",
        ),
        (
            frame({"l1": [[0.1, 0.2], [0.1]]}),
            "results has 1 entries in knn_errors for method 'l1' and task 1, but 2",
        ),
        (
            frame({"l1": [[0.1], [np.nan]]}),
            "results has no finite knn_errors for method 'l1' and task 1",
        ),
    ],
)
def test_bad_results_are_refused(results, sentence):
    with pytest.raises(ValueError, match=sentence.replace("|", r"\|")):
        mean_curves(results)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "lmnn"}, "method is 'lmnn'; results has l1, l2, gml"),
        ({"against": "lmnn"}, "against is 'lmnn'; results has l1, l2, gml"),
        ({"measure": "svm_error"}, "measure is 'svm_error'; it must be one of knn_er"),
        ({"interval": "normal"}, "interval is 'normal'; it must be one of tasks, cl"),
        ({"methods": ["gml"]}, "results has no method besides 'gml'"),
        ({"methods": ["gml", "l3"]}, "results has no method 'l3'; it has l1, l2, gml"),
        ({"methods": "gml"}, "methods is the string 'gml'; give a list"),
        ({"methods": []}, "methods is empty"),
    ],
)
def test_bad_options_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        paired_differences(RESULTS, **{"method": "gml", **options})


def test_bootstrap_needs_pairs_of_classes():
    results = frame(CURVES, classes=["a | b | c"] * 4)
    with pytest.raises(
        ValueError, match="needs tasks of two classes, but one has 3: a"
    ):
        mean_curves(results, interval="classes")
    shared = frame(CURVES, classes=["b | c", "a | b", "a | c", "a | d"])
    with pytest.raises(ValueError, match=r"between two halves .*, but b is in both"):
        mean_curves(shared, interval="classes")
    assert mean_curves(shared).n_tasks == 4
    assert align(results, "recall").classes[0] == ("a", "b", "c")
    assert mean_curves(results).n_tasks == 4
