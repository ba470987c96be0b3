"""Bin-to-bin distances."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import groundmetric as gm
import reference
import strategies
from groundmetric import distances
from groundmetric.distances import DISTANCES

# d of (1/4, 3/4) and (1/2, 1/2), and of (1, 0) and (0, 1).
BY_HAND = {
    "l1": (0.5, 2.0),  # 1/4 + 1/4
    "l2": (np.sqrt(0.125), np.sqrt(2)),  # 1/16 + 1/16
    # BC = sqrt(1/8) + sqrt(3/8) = (1 + sqrt(3)) / sqrt(8); H^2 = 2 - 2 BC
    "hellinger": (np.sqrt(2 - (1 + np.sqrt(3)) / np.sqrt(2)), np.sqrt(2)),
    "chi2": (np.sqrt(2 / 15), np.sqrt(2)),  # (1/16)/(3/4) + (1/16)/(5/4)
    # ln(2/3)/4 + 3 ln(6/5)/4 + ln(4/3)/2 + ln(4/5)/2, halved
    "jensen_shannon": (
        np.sqrt((np.log(2 / 3) + 3 * np.log(6 / 5) + 2 * np.log(16 / 15)) / 8),
        np.sqrt(np.log(2)),
    ),
    "fisher": (np.pi / 12, np.pi / 2),  # angles pi/3 and pi/4
}


@pytest.mark.parametrize("name", DISTANCES)
def test_by_hand(name):
    near, far = BY_HAND[name]
    found = distances.pairwise([[1, 3]], [[5, 5]], distance=name)
    assert found[0, 0] == pytest.approx(near, rel=1e-13)
    assert DISTANCES[name]([[7, 0]], [[0, 3]])[0, 0] == pytest.approx(far)


def histograms():
    shapes = st.tuples(st.integers(1, 5), st.integers(1, 6))
    rows = shapes.flatmap(lambda s: hnp.arrays(float, s, elements=strategies.MASSES))
    return rows.map(lambda X: np.where(X.sum(axis=1, keepdims=True) > 0, X, 1.0))


@pytest.mark.parametrize("name", DISTANCES)
@given(X=histograms())
def test_metric_and_twin(name, X):
    D = distances.pairwise(X, distance=name)
    rows = X / X.sum(axis=1, keepdims=True)
    twin = [[reference.bin_to_bin(name, r, c) for c in rows] for r in rows]
    # The twins' arc cosine and roots turn a few roundings into their square root.
    np.testing.assert_allclose(D, twin, rtol=1e-12, atol=1e-7)
    assert (np.diag(D) == 0).all()
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_allclose(DISTANCES[name](X, X.copy()), D, rtol=1e-12, atol=1e-14)
    assert gm.triangle_violation(D) <= 1e-14


@pytest.mark.parametrize("name", DISTANCES)
def test_close_histograms(name):
    # Neither NaN nor noise where histograms differ in the last digits.
    r = np.array([0.1, 0.2, 0.3, 0.4])
    for h in (1e-17, 1e-15, 1e-12):
        moved = r + np.array([h, -h, 0, 0])
        found = distances.pairwise([r], [moved], distance=name)[0, 0]
        assert 0 <= found <= 5 * h + 1e-15
    assert distances.pairwise([r], [7 * r], distance=name)[0, 0] < 1e-15


def test_half_of_l1_is_uniform_emd():
    X = np.random.default_rng(0).dirichlet(np.ones(6), 5)
    uniform = gm.pairwise_emd(X, metric=1 - np.eye(6))
    np.testing.assert_allclose(distances.l1(X), 2 * uniform, atol=1e-15)


def test_forms_of_input_agree():
    X = np.array([[1, 2, 0], [0, 3, 1], [4, 0, 4]])
    for name, distance in DISTANCES.items():
        expected = distance(X)
        for form in (X.tolist(), sp.csr_array(X), pd.DataFrame(X), X.astype("f4")):
            np.testing.assert_array_equal(distance(form), expected)
            np.testing.assert_array_equal(
                distances.pairwise(form, distance=name), expected
            )
        np.testing.assert_array_equal(distance(X * [[3], [1], [8]]), expected)


def test_names():
    assert set(distances.__all__) == {"DISTANCES", "pairwise", *DISTANCES}
    for name, distance in DISTANCES.items():
        assert distance.__name__ == name
        assert "Examples" in inspect.getdoc(distance)


@pytest.mark.parametrize(
    ("X", "Y", "metric", "message"),
    [
        (
            [[1, 2]],
            None,
            "cosine",
            "distance is 'cosine'; it must be one of l1, l2, hellinger",
        ),
        ([[1, 2]], None, None, "distance is None; it must be one of l1"),
        ([[1, 2]], [[1, 2, 3]], "l1", "X has 2 bins, but Y has 3"),
        ([[1, -2]], None, "l2", r"X\[0, 1\] is -2\.0"),
        ([[1, 2], [0, 0]], None, "chi2", r"X\[1\] has zero mass"),
        ([[1, 2]], [[1, np.nan]], "fisher", r"Y\[0, 1\] is nan"),
        ([1, 2], None, "l1", r"X has shape \(2,\)"),
        ([], None, "l1", "X"),
    ],
)
def test_bad_input(X, Y, metric, message):
    with pytest.raises(ValueError, match=message):
        distances.pairwise(X, Y, distance=metric)
