"""Similarity weights from labels, taxonomies and pairs."""

import numpy as np
import pandas as pd
import pytest

import groundmetric as gm

FLAT = {"a": "root", "b": "root", "c": "root"}


def check_weights(omega):
    assert (omega == omega.T).all()
    assert (np.diag(omega) == 0).all()
    upper = omega[np.triu_indices(len(omega), 1)]
    if (upper > 0).any():
        assert upper[upper > 0].sum() == pytest.approx(1.0)
    if (upper < 0).any():
        assert upper[upper < 0].sum() == pytest.approx(-1.0)


def test_labels():
    y = ["a", "a", "b", "b", "b", "c", "c"]
    omega = gm.label_similarity(y)
    check_weights(omega)
    # 1 + 3 + 1 similar pairs of 21, all of the same weight.
    assert omega[0, 1] == pytest.approx(1 / 5)
    assert omega[0, 2] == pytest.approx(-1 / 16)
    numbers = gm.label_similarity([5, 5, -1, -1, -1, 9, 9])
    np.testing.assert_array_equal(omega, numbers)


def test_flat_taxonomy_is_labels():
    y = ["a", "a", "b", "b", "c", "c"]
    np.testing.assert_allclose(
        gm.taxonomy_similarity(y, FLAT), gm.label_similarity(y), atol=1e-15
    )


def test_bad_threshold():
    with pytest.raises(ValueError, match=r"threshold is 2; a number from 0\.0 to 1\.0"):
        gm.taxonomy_similarity(["a", "a", "b", "b"], FLAT, threshold=2)


def test_taxonomy_by_hand():
    # Depths: cat, dog 2, wolf 2 below "wild", all below "animal".
    tree = {"cat": "pet", "dog": "pet", "pet": "animal", "wolf": "wild"}
    tree["wild"] = "animal"
    y = ["cat", "cat", "dog", "wolf"]
    # Closeness: cat-cat 1, cat-dog 2 * 1 / (2 + 2) = 1/2 (twice), with wolf 0 (thrice).
    # Less the mean, 1/3: 2/3, 1/6, 1/6 | -1/3 thrice; normalized.
    omega = gm.taxonomy_similarity(y, tree)
    check_weights(omega)
    np.testing.assert_allclose(
        omega[np.triu_indices(4, 1)], [2 / 3, 1 / 6, -1 / 3, 1 / 6, -1 / 3, -1 / 3]
    )
    # With the threshold at 3/4, cats and dogs are dissimilar, though less than wolves.
    omega = gm.taxonomy_similarity(y, tree, threshold=0.75)
    check_weights(omega)
    assert omega[0, 1] == pytest.approx(1.0)
    assert 0 > omega[0, 2] > omega[0, 3]


def test_pairs_by_hand():
    omega = gm.pair_similarity(
        4, [(0, 1), (2, 3)], [(1, 2)], must_weights=[3, 1], cannot_weights=[7]
    )
    check_weights(omega)
    assert [omega[0, 1], omega[2, 3], omega[1, 2]] == pytest.approx([0.75, 0.25, -1])
    assert omega[0, 3] == 0.0
    twice = gm.pair_similarity(3, [(0, 1), (1, 0), (0, 2)], [])
    assert (twice[0, 1], twice[0, 2]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))


@pytest.mark.parametrize("scale", [1e-320, 1e308])
def test_only_ratios_of_weights_matter(scale):
    omega = gm.pair_similarity(4, [(0, 1), (2, 3)], [(1, 2)], must_weights=[scale] * 2)
    check_weights(omega)
    assert omega[0, 1] == pytest.approx(0.5)


def test_single_member_is_a_warning():
    with pytest.warns(UserWarning, match="Class 'b' has a single member"):
        omega = gm.label_similarity(["a", "a", "b"])
    check_weights(omega)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "a"], "y has one class only, 'a'; at least two are needed"),
        ([], r"y has shape \(0,\)"),
        ([["a"], ["b"]], r"y has shape \(2, 1\)"),
        ([0.0, float("nan")], r"y\[1\] is nan"),
        (np.array(["a", None, "b"], object), r"y\[1\] is None: labels must not be"),
        (np.array(["a", 1], object), r"one kind, .* y\[0\] is 'a' and y\[1\] is 1"),
        (pd.Series(["a", pd.NA, "b"]), "y"),
        (np.array(["2020-01-01", "NaT"], "datetime64[D]"), r"y\[1\] is None"),
        (np.ma.array([0, 1], mask=[0, 1]), "y is a masked array"),
        ([[0], [1, 2]], "y must be labels"),
    ],
)
def test_bad_labels(y, message):
    with pytest.raises(ValueError, match=message):
        gm.label_similarity(y)


@pytest.mark.parametrize(
    ("y", "parents", "message"),
    [
        (["a", "x"], FLAT, "y has the label 'x', which is not in parents"),
        (["a", "b"], {"a": "b", "b": "a"}, "parents is not a tree: 'a' is its own"),
        (["a", "b"], {"a": "r", "b": "s"}, "parents has several roots"),
        (["a", "b"], [("a", "r")], "parents is a list; a mapping"),
        (["a", "a"], FLAT, "y has one class only, 'a'"),
        (["a", "b", "c"], FLAT, "All classes of y are equally close"),
    ],
)
def test_bad_taxonomy(y, parents, message):
    with pytest.raises(ValueError, match=message):
        gm.taxonomy_similarity(y, parents)


@pytest.mark.parametrize(
    ("n", "must", "cannot", "weights", "message"),
    [
        (0, [], [], None, "n is 0; it must be at least 1"),
        (2, [(0, 2)], [], None, r"must_link\[0, 1\] is 2, .* less than 2"),
        (2, [(1, 1)], [], None, r"must_link\[0\] pairs a histogram with itself"),
        (2, [(0, 1)], [(1, 0)], None, r"\(0, 1\) is in both must_link and cannot"),
        (2, [], [], None, "must_link and cannot_link are both empty"),
        (2, [(0, 1)], [], [0.0], r"must_weights\[0\] is 0\.0; positive"),
        (2, [(0, 1)], [], [1.0, 2.0], "must_weights has 2 entries for 1 pairs"),
    ],
)
def test_bad_pairs(n, must, cannot, weights, message):
    with pytest.raises(ValueError, match=message):
        gm.pair_similarity(n, must, cannot, must_weights=weights)
