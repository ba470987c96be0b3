"""Orders and maps of features."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from groundmetric.plotting._layouts import extreme_pairs, leaf_order, planar_map


def test_order_of_points_on_a_line_is_theirs():
    places = np.array([3.0, 0.0, 7.0, 1.0, 4.5])
    order = leaf_order(np.abs(places[:, None] - places))
    expected = [1, 3, 0, 4, 2]  # by place
    assert order.tolist() in (expected, expected[::-1])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_features_have_an_order_and_a_map(d):
    M = 1.0 - np.eye(d)
    assert sorted(leaf_order(M)) == list(range(d))
    found = planar_map(M)
    # One point, two points or an equilateral triangle: all lie in the plane.
    assert found.stress < 1e-3
    assert found.positions.shape == (d, 2)


def test_map_of_points_in_the_plane_has_their_distances():
    places = np.random.default_rng(1).standard_normal((12, 2))
    M = cdist(places, places)
    found = planar_map(M, max_iter=2000, tol=1e-12)
    assert found.stress < 1e-4
    np.testing.assert_allclose(
        cdist(found.positions, found.positions), M, atol=1e-3 * M.max()
    )


def test_majorization_never_raises_the_stress_and_is_deterministic():
    points = np.random.default_rng(2).standard_normal((20, 8))
    M = cdist(points, points)

    def raw(found):
        between = cdist(found.positions, found.positions)
        return ((M - between) ** 2).sum()

    found = [planar_map(M, max_iter=n, tol=0.0) for n in (1, 2, 5, 20, 80)]
    assert np.all(np.diff([raw(each) for each in found]) <= 0)
    between = cdist(found[-1].positions, found[-1].positions)
    expected = np.sqrt(raw(found[-1]) / (between**2).sum())
    assert found[-1].stress == pytest.approx(expected)
    again = planar_map(M, max_iter=80, tol=0.0)
    assert np.array_equal(again.positions, found[-1].positions)


def test_map_of_equal_distances_sets_points_apart():
    found = planar_map(1.0 - np.eye(9))
    between = cdist(found.positions, found.positions)[np.triu_indices(9, 1)]
    assert between.min() > 0.1
    assert 0.1 < found.stress < 0.5  # nine points cannot be equally far in the plane


def test_extreme_pairs():
    M = np.array([[0.0, 1, 4], [1, 0, 3], [4, 3, 0]])
    assert extreme_pairs(M, 2).tolist() == [[0, 1], [1, 2]]
    assert extreme_pairs(M, 1, farthest=True).tolist() == [[0, 2]]
    assert extreme_pairs(M, 9).shape == (3, 2)
    assert extreme_pairs(M, 0).shape == (0, 2)
