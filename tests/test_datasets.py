"""Digits and synthetic histograms."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms, make_histograms


def test_digits_are_histograms():
    digits = load_digits_histograms()
    assert digits.X.shape == (1797, 64)
    assert digits.X.sum(axis=1) == pytest.approx(np.ones(1797))
    assert digits.feature_shape == (8, 8)
    some = load_digits_histograms([9, 4])
    assert set(some.y) == {4, 9}
    assert (digits.X[np.isin(digits.y, [4, 9])] == some.X).all()
    with pytest.raises(ValueError, match=r"classes\[1\] is 10; a digit"):
        load_digits_histograms([1, 10])
    with pytest.raises(ValueError, match="classes is empty"):
        load_digits_histograms([])


def test_made_histograms_need_their_metric():
    made = make_histograms(40, n_classes=3, group_size=6, random_state=0)
    assert made.X.shape == (120, 24)
    assert made.X.sum(axis=1) == pytest.approx(np.ones(120))
    group = np.arange(24) // 6
    metric = np.where(group[:, None] == group, 0.05, 1.0) * (1 - np.eye(24))
    train, test = np.arange(120) % 2 == 0, np.arange(120) % 2 == 1

    def accuracy(M):
        D = gm.pairwise_emd(made.X, metric=M)
        knn = KNeighborsClassifier(5, metric="precomputed")
        knn.fit(D[train][:, train], made.y[train])
        return accuracy_score(made.y[test], knn.predict(D[test][:, train]))

    assert accuracy(metric) > accuracy(1 - np.eye(24)) + 0.05
    again = make_histograms(40, n_classes=3, group_size=6, random_state=0)
    assert (again.X == made.X).all()


@pytest.mark.parametrize(
    "bad", [{"n_classes": 0}, {"n_groups": 0}, {"group_size": 0}, {"concentration": 0}]
)
def test_bad_making_is_named(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} is 0"):
        make_histograms(**bad)
