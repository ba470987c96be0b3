"""Powers and logarithms of histograms, wherever learners see them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import groundmetric as gm
import reference
from groundmetric.base._powers import raised

POWERS = [1.0, 0.5, 0.25, 3.0, "log1p"]
LEARNERS = [
    gm.GroundMetricLearning(max_steps=2),
    gm.MappedMetricLearning(max_steps=2),
    gm.CombinedMetricLearning(points=np.arange(12.0).reshape(6, 2), max_steps=2),
    gm.SinkhornMetricLearning(max_steps=2),
    gm.SinkhornMetricLearning(max_steps=2, criterion="softmax"),
    gm.DiscriminantMetricLearning(),
]


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=9).filter(lambda r: sum(r) > 0),
    st.sampled_from(POWERS),
)
def test_equals_its_literal_twin(r, power):
    row = np.array(r) / sum(r)
    found = raised(row[None], power)
    np.testing.assert_allclose(
        found[0], reference.seen_by_learner(row, power), rtol=1e-9, atol=1e-12
    )
    sparse = raised(sp.csr_array(row[None]), power)
    np.testing.assert_allclose(sparse.toarray(), found, rtol=1e-12, atol=1e-300)


def test_logarithms_by_hand():
    # log(1 + 1000 * 2 * r) of 0.0315 and 0.0005 are log(64) and log(2), 6 to 1.
    found = raised(np.array([[0.0315, 0.0005]]), "log1p")
    np.testing.assert_allclose(found, [[6 / 7, 1 / 7]], rtol=1e-12)


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).lognormal(sigma=3.0, size=(16, 6))
    X[::3, 1] = 0.0
    return X, np.arange(16) % 2


@pytest.mark.parametrize("learner", LEARNERS)
def test_all_that_takes_a_learner_takes_logarithms(data, learner, tmp_path):
    X, y = data
    seen = raised(X / X.sum(axis=1, keepdims=True), "log1p")
    logs = type(learner)(**{**learner.get_params(deep=False), "power": "log1p"})
    logs.fit(X, y)
    plain = type(learner)(**{**learner.get_params(deep=False), "power": 1.0})
    expected = plain.fit(seen, y).pairwise(seen)
    assert logs.power_ == "log1p"
    np.testing.assert_allclose(logs.pairwise(X), expected, rtol=1e-6, atol=1e-9)
    _, neighbors = gm.EMDNeighbors(logs, n_neighbors=3).fit(X).kneighbors()
    _, direct = gm.EMDNeighbors(plain, n_neighbors=3).fit(seen).kneighbors()
    np.testing.assert_array_equal(neighbors, direct)
    logs.save(tmp_path / "model.npz")
    again = type(learner).load(tmp_path / "model.npz")
    assert again.power_ == again.power == "log1p"
    np.testing.assert_array_equal(again.pairwise(X), logs.pairwise(X))
    if learner._is_exact:
        np.testing.assert_allclose(
            gm.pairwise_emd(X, metric=logs), logs.pairwise(X), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("power", "message"),
    [
        ("log", "power is 'log'; a positive number or 'log1p' is needed"),
        (None, "power is None; a positive number or 'log1p' is needed"),
        (0, "power is 0.0; it must be positive"),
        (-1, "power is -1; a number at least 0.0 is needed"),
        (np.inf, "power is inf; it must be finite"),
    ],
)
def test_other_powers_are_rejected(data, learner, power, message):
    other = type(learner)(**{**learner.get_params(deep=False), "power": power})
    with pytest.raises(ValueError, match=message):
        other.fit(*data)
    assert not hasattr(other, "power_")
