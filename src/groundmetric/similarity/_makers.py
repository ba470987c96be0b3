r"""Similarity weights of pairs of histograms (section 3.1 of the paper).

:math:`\omega_{ij}` is positive if histograms i and j are similar, negative if they are
not, and zero if nothing is known; the matrix is symmetric with a zero diagonal. The
functions here normalize as the paper does in its experiments: over the pairs i < j,
positive weights sum to 1 and negative ones to -1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .._warnings import warn
from ._weights import LabelWeights, MatrixWeights, Weights

if TYPE_CHECKING:
    from collections.abc import Hashable

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Smaller differences in closeness count as zero.
ROUNDING = 1e-12


def label_similarity(y: ArrayLike) -> Floats:
    """Weights from class labels: histograms with the same label are similar.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, of any kind, of at least two classes.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> from groundmetric import label_similarity
    >>> label_similarity(["cat", "cat", "dog", "dog"])
    array([[ 0.  ,  0.5 , -0.25, -0.25],
           [ 0.5 ,  0.  , -0.25, -0.25],
           [-0.25, -0.25,  0.  ,  0.5 ],
           [-0.25, -0.25,  0.5 ,  0.  ]])
    """
    return _label_weights(y).matrix()


def _label_weights(y: ArrayLike) -> LabelWeights:
    classes, which = _classes(y)
    members = np.bincount(which)
    if members.min() == 1:
        warn(
            f"Class {classes[int(np.argmin(members))]!r} has a single member; it "
            "contributes only dissimilar pairs."
        )
    return LabelWeights.from_classes(which)


def weights_of(n: int, y: ArrayLike | None, similarity: ArrayLike | None) -> Weights:
    """Weights of n histograms, from labels or as given."""
    if similarity is not None and y is None:
        return MatrixWeights(validation.as_similarity(similarity, n))
    if similarity is not None:
        raise ValueError("Pass either y or similarity, not both.")
    if y is None:
        raise ValueError(
            "This requires y to be passed, but the target y is None; pass labels or "
            "a similarity."
        )
    validation.require_length(y, n, "y")
    return _label_weights(y)


def _classes(y: ArrayLike) -> tuple[list[Hashable], Indices]:
    """List the classes, at least two, and the class of each histogram."""
    labels = validation.as_labels(y)
    found, which = np.unique(labels, return_inverse=True)
    classes: list[Hashable] = found.tolist()
    validation.require_classes(classes)
    return classes, which.astype(np.int64)


def taxonomy_similarity(
    y: ArrayLike,
    parents: Mapping[Hashable, Hashable],
    *,
    threshold: float | None = None,
) -> Floats:
    """Weights from a tree of classes: the closer two classes are, the more similar.

    The closeness of two classes is that of Wu and Palmer, twice the depth of their
    lowest common ancestor divided by the sum of their own depths: 1 within a class, 0
    if they share only the root. Pairs above the threshold are similar and pairs below
    are dissimilar; weights grow with the difference from the threshold.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: nodes of the tree.
    parents : mapping
        The parent of each node, ``{"cat": "pet", "dog": "pet", "pet": "animal", ...}``;
        the root has no parent.
    threshold : float, optional
        Between 0 and 1; by default the mean closeness of all pairs.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> from groundmetric import taxonomy_similarity
    >>> tree = {"cat": "pet", "dog": "pet", "pet": "animal", "wolf": "animal"}
    >>> taxonomy_similarity(["cat", "dog", "wolf"], tree)
    array([[ 0. ,  1. , -0.5],
           [ 1. ,  0. , -0.5],
           [-0.5, -0.5,  0. ]])
    """
    if not isinstance(parents, Mapping):
        raise ValueError(
            f"parents is a {type(parents).__name__}; a mapping from each node to its "
            "parent is needed."
        )
    classes, which = _classes(y)
    lines = [_ancestors(label, parents) for label in classes]
    if len({line[0] for line in lines}) > 1:
        raise ValueError("parents has several roots; the classes must form one tree.")
    closeness = np.array([[_closeness(a, b) for b in lines] for a in lines])
    between = closeness[np.ix_(which, which)]
    if threshold is None:
        threshold = float(between[np.triu_indices(len(which), 1)].mean())
    weights = between - validation.as_number(threshold, "threshold", low=0.0, high=1.0)
    weights[np.abs(weights) < ROUNDING] = 0.0
    if not weights[np.triu_indices(len(which), 1)].any():
        raise ValueError("All classes of y are equally close in the taxonomy.")
    return _normalize(weights)


def _ancestors(node: Hashable, parents: Mapping[Hashable, Hashable]) -> list[Hashable]:
    """List the nodes from the root down to this one."""
    if node not in parents and node not in parents.values():
        raise ValueError(f"y has the label {node!r}, which is not in parents.")
    line = [node]
    while line[-1] in parents:
        line.append(parents[line[-1]])
        if len(line) > len(parents) + 1:
            raise ValueError(f"parents is not a tree: {node!r} is its own ancestor.")
    return line[::-1]


def _closeness(a: list[Hashable], b: list[Hashable]) -> float:
    common = sum(x == y for x, y in zip(a, b, strict=False)) - 1  # depth; the root: 0
    deep = len(a) + len(b) - 2
    return 2 * common / deep if deep > 0 else 1.0


def pair_similarity(
    n: int,
    must_link: ArrayLike,
    cannot_link: ArrayLike,
    *,
    must_weights: ArrayLike | None = None,
    cannot_weights: ArrayLike | None = None,
) -> Floats:
    """Weights from explicit lists of similar and dissimilar pairs.

    Parameters
    ----------
    n : int
        The number of histograms.
    must_link, cannot_link : array-like of int, shape (n_pairs, 2)
        Similar pairs and dissimilar ones.
    must_weights, cannot_weights : array-like of shape (n_pairs,), optional
        How much each pair counts: positive numbers, 1 by default. If a pair is listed
        several times, its weights add up.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> from groundmetric import pair_similarity
    >>> pair_similarity(3, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 2)])
    array([[ 0. ,  1. , -0.5],
           [ 1. ,  0. , -0.5],
           [-0.5, -0.5,  0. ]])
    """
    n = validation.as_count(n, "n", low=1)
    positive = _pair_weights(n, must_link, must_weights, "must_link", "must_weights")
    negative = _pair_weights(
        n, cannot_link, cannot_weights, "cannot_link", "cannot_weights"
    )
    both = (positive > 0) & (negative > 0)
    if both.any():
        i, j = (int(k) for k in np.argwhere(both)[0])
        raise ValueError(f"({i}, {j}) is in both must_link and cannot_link.")
    if not (positive.any() or negative.any()):
        raise ValueError("must_link and cannot_link are both empty.")
    return _normalize(positive - negative)


def _pair_weights(
    n: int, pairs: ArrayLike, weights: ArrayLike | None, name: str, weights_name: str
) -> Floats:
    chosen = validation.as_pairs(pairs, n, n, name)
    loops = chosen[:, 0] == chosen[:, 1]
    if loops.any():
        raise ValueError(
            f"{name}[{int(np.argmax(loops))}] pairs a histogram with itself."
        )
    size = len(chosen)
    w = (
        np.ones(size)
        if weights is None
        else validation.as_weights(weights, size, weights_name)
    )
    if (w <= 0).any():
        k = int(np.argmax(w <= 0))
        raise ValueError(f"{weights_name}[{k}] is {w[k]}; positive numbers are needed.")
    out = np.zeros((n, n))
    np.add.at(out, (chosen[:, 0], chosen[:, 1]), w / (w.max(initial=0.0) or 1.0))
    return out + out.T


def _normalize(weights: Floats) -> Floats:
    """Make positive weights sum to 1 over the pairs i < j, and negative ones to -1."""
    out: Floats = weights / np.abs(weights).max()
    np.fill_diagonal(out, 0.0)
    for part in (out > 0, out < 0):
        sum_twice = np.abs(out[part]).sum()
        if sum_twice > 0:
            out[part] *= 2.0 / sum_twice
    return out
