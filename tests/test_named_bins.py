"""Frames whose bins have the same names in another order."""

import numpy as np
import pandas as pd
import pytest

import groundmetric as gm
from groundmetric.neighbors import EMDNeighbors

NAMES = ["iron", "copper", "zinc"]
X = pd.DataFrame(
    [[4.0, 1.0, 1.0], [3.0, 2.0, 1.0], [1.0, 1.0, 4.0], [1.0, 2.0, 3.0]], columns=NAMES
)
Y = [0, 0, 1, 1]
POINTS = pd.DataFrame({"mass": [55.8, 63.5, 65.4]}, index=NAMES)
METRIC = pd.DataFrame(
    np.abs(POINTS.to_numpy() - POINTS.to_numpy().T), index=NAMES, columns=NAMES
)
SORTED = sorted(NAMES)
MIXED = {"points": POINTS.loc[SORTED], "metric": METRIC.loc[SORTED, SORTED]}
ORDER = r"another order: number 0 is 'iron' in \w, but 'copper' in (points|metric)"

CALLS = {
    "emd": lambda **given: gm.emd(X.iloc[0], X.iloc[2], **given),
    "emd of rows": lambda **given: gm.emd(X, X.iloc[::-1], **given),
    "transport": lambda **given: gm.transport(X.iloc[0], X.iloc[2], **given),
    "pairwise": lambda **given: gm.pairwise_emd(X, **given),
    "divergence": lambda **given: gm.sinkhorn_divergence(X, **given),
    "batch": lambda **given: gm.TransportBatch(X, [(0, 1)]).solve(**given),
    "neighbors": lambda **given: EMDNeighbors(n_neighbors=2, **given).fit(X),
}


@pytest.mark.parametrize("name", ["points", "metric"])
@pytest.mark.parametrize("call", CALLS)
def test_other_orders_are_rejected(call, name):
    if (call, name) == ("batch", "points"):
        with pytest.raises(ValueError, match=ORDER):
            gm.TransportBatch(X, [(0, 1)], points=MIXED["points"])
        return
    with pytest.raises(ValueError, match=ORDER):
        CALLS[call](**{name: MIXED[name]})


def test_learners_reject_other_orders():
    for learner in (
        gm.GroundMetricLearning(points=MIXED["points"]),
        gm.GroundMetricLearning(init=MIXED["metric"]),
        gm.CombinedMetricLearning(metrics=[METRIC, MIXED["metric"]]),
    ):
        with pytest.raises(ValueError, match="has the bins of X in another order"):
            learner.fit(X, Y)


FITTED = gm.GroundMetricLearning(max_steps=2).fit(X, Y)
MIXED_CALLS = {
    "neighbors of a learner": lambda: EMDNeighbors(metric=FITTED).fit(X[SORTED]),
    "classifier": lambda: gm.EMDClassifier(learner=FITTED).fit(X[SORTED], Y),
    "classifier, unfitted": lambda: gm.EMDClassifier(
        learner=gm.GroundMetricLearning(init=MIXED["metric"])
    ).fit(X, Y),
    "cross-validation": lambda: gm.MetricLearningCV(
        gm.GroundMetricLearning(points=MIXED["points"])
    ).fit(X, Y),
    "kernel": lambda: gm.EMDKernel(distance=MIXED["metric"]).fit(X),
    "barycenter": lambda: gm.barycenter(X, MIXED["metric"]),
    "barycenter of a learner": lambda: gm.barycenter(X[SORTED], FITTED),
    "divergence of a learner": lambda: gm.sinkhorn_divergence(X[SORTED], metric=FITTED),
    "emd_hat": lambda: gm.emd_hat(X.iloc[0], X.iloc[1], MIXED["metric"]),
    "emd_partial": lambda: gm.emd_partial(X.iloc[0], X.iloc[1], MIXED["metric"]),
    "all emd_hat": lambda: gm.pairwise_emd_hat(X, metric=MIXED["metric"]),
    "tables": lambda: gm.typical_table(X.iloc[0], X[SORTED].iloc[1]),
    "initial metric": lambda: gm.initial_metric(
        X, Y, n_neighbors=1, neighbor_metric=MIXED["metric"]
    ),
}


@pytest.mark.parametrize("call", MIXED_CALLS)
def test_no_call_takes_bins_in_another_order(call):
    with pytest.raises(ValueError, match=r"in (another|the same) order"):
        MIXED_CALLS[call]()


def test_what_only_looks_like_a_frame_has_no_names():
    class Odd:
        columns, index = 5, None

        def __array__(self, dtype=None, copy=None):
            return X.to_numpy()

    expected = gm.pairwise_emd(X.to_numpy(), metric=METRIC.to_numpy())
    found = gm.pairwise_emd(Odd(), metric=METRIC)
    np.testing.assert_array_equal(found, expected)
    stacked = np.stack([METRIC, METRIC**0.5])
    learner = gm.CombinedMetricLearning(metrics=stacked).fit(X, Y)
    assert learner.weights_.shape == (2,)


def test_both_sides_are_compared():
    with pytest.raises(ValueError, match="Y has the bins of X in another order"):
        gm.pairwise_emd(X, X[SORTED], metric=METRIC.to_numpy())
    with pytest.raises(ValueError, match="c has the bins of r in another order"):
        gm.emd(X.iloc[0], X[SORTED].iloc[0], METRIC.to_numpy())


def test_the_same_order_and_other_names_give_what_arrays_give():
    numbers = gm.pairwise_emd(X.to_numpy(), metric=METRIC.to_numpy())
    for metric in (METRIC, METRIC.set_axis(list("abc")), METRIC.to_numpy().tolist()):
        np.testing.assert_array_equal(gm.pairwise_emd(X, metric=metric), numbers)
    points = POINTS.set_axis([26, 29, 30])  # atomic numbers
    found = gm.pairwise_emd(X, points=points)
    np.testing.assert_array_equal(
        found, gm.pairwise_emd(X.to_numpy(), points=POINTS.to_numpy())
    )


def test_a_metric_that_names_both_orders_is_right():
    mixed = X[SORTED]
    found = gm.pairwise_emd(X, mixed, metric=METRIC[SORTED])
    expected = gm.pairwise_emd(X.to_numpy(), metric=METRIC.to_numpy())
    np.testing.assert_allclose(found, expected, atol=1e-12)
