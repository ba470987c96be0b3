"""Histograms whose good ground metric is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import validation
from ._labeled import LabeledHistograms

SPIKY = 0.3  # below 1, most of the mass of a group is in few of its bins


def make_histograms(
    n_per_class: int = 50,
    *,
    n_classes: int = 2,
    n_groups: int = 4,
    group_size: int = 4,
    concentration: float = 20.0,
    random_state: Any = None,  # noqa: ANN401 - scikit-learn's
) -> LabeledHistograms:
    r"""Classes that differ between groups of related bins, with noise inside them.

    A class c has weights of the groups, :math:`w_c \sim \mathrm{Dir}(1)`. Each of its
    histograms draws its own masses of the groups, :math:`v \sim
    \mathrm{Dir}(\kappa w_c)`, and scatters each over the bins of the group,
    :math:`\mathrm{Dir}(0.3)`. To know the class, moving mass inside a group should cost
    little: a metric that can be learned, and that bin-to-bin distances lack.

    Parameters
    ----------
    n_per_class : int
        Histograms of each class.
    n_classes, n_groups, group_size : int
        Numbers of classes, of groups of bins, and of bins in a group.
    concentration : float
        The kappa above: classes overlap less if it is larger.
    random_state : int, RandomState or None
        Where to draw from.

    Returns
    -------
    LabeledHistograms
        ``feature_shape`` is (n_groups, group_size); class after class.

    Examples
    --------
    >>> from groundmetric.datasets import make_histograms
    >>> made = make_histograms(3, random_state=0)
    >>> made.X.shape, made.y, made.feature_shape
    ((6, 16), array([0, 0, 0, 1, 1, 1]), (4, 4))
    """
    n = validation.as_count(n_per_class, "n_per_class", low=1)
    classes = validation.as_count(n_classes, "n_classes", low=1)
    groups = validation.as_count(n_groups, "n_groups", low=1)
    size = validation.as_count(group_size, "group_size", low=1)
    kappa = validation.as_positive_number(concentration, "concentration")
    rng = check_random_state(random_state)
    weights = rng.dirichlet(np.ones(groups), classes)
    # No group is ever quite empty: the Dirichlet distribution does not allow it.
    between = np.concatenate(
        [rng.dirichlet(kappa * w + 1e-3, n) for w in weights]
    )  # (classes * n, groups)
    within = rng.dirichlet(np.full(size, SPIKY), between.shape)
    X = (between[:, :, None] * within).reshape(len(between), -1)
    y = np.repeat(np.arange(classes), n)
    return LabeledHistograms(X / X.sum(axis=1, keepdims=True), y, (groups, size))
