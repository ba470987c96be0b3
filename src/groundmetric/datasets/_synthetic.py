"""Synthetic histograms for which a good ground metric is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import validation
from ._labeled import LabeledHistograms

SPIKY = 0.3  # below 1, a few bins hold most of the mass of a group


def make_histograms(
    n_per_class: int = 50,
    *,
    n_classes: int = 2,
    n_groups: int = 4,
    group_size: int = 4,
    concentration: float = 20.0,
    random_state: Any = None,
) -> LabeledHistograms:
    r"""Classes that differ between groups of related bins, with noise inside them.

    Each class c draws weights of the groups, :math:`w_c \sim \mathrm{Dir}(1)`. Each of
    its histograms draws masses of the groups, :math:`v \sim \mathrm{Dir}(\kappa w_c)`,
    and spreads each mass over the bins of its group, :math:`\mathrm{Dir}(0.3)`. A good
    metric makes it cheap to move mass within a group, which bin-to-bin distances cannot
    express.

    Parameters
    ----------
    n_per_class : int
        Number of histograms in each class.
    n_classes, n_groups, group_size : int
        Numbers of classes, of groups of bins, and of bins in a group.
    concentration : float
        The kappa above: the larger, the less classes overlap.
    random_state : int, RandomState or None
        Seed or generator.

    Returns
    -------
    LabeledHistograms
        Sorted by class; ``feature_shape`` is (n_groups, group_size).

    Examples
    --------
    >>> from groundmetric.datasets import make_histograms
    >>> made = make_histograms(3, random_state=0)
    >>> made.X.shape, made.y, made.feature_shape
    ((6, 16), array([0, 0, 0, 1, 1, 1]), (4, 4))
    """
    from sklearn.utils import check_random_state

    n = validation.as_count(n_per_class, "n_per_class", low=1)
    classes = validation.as_count(n_classes, "n_classes", low=1)
    groups = validation.as_count(n_groups, "n_groups", low=1)
    size = validation.as_count(group_size, "group_size", low=1)
    kappa = validation.as_positive_number(concentration, "concentration")
    rng = check_random_state(random_state)
    weights = rng.dirichlet(np.ones(groups), classes)
    # The Dirichlet distribution needs positive parameters.
    between = np.concatenate(
        [rng.dirichlet(kappa * w + 1e-3, n) for w in weights]
    )  # (classes * n, groups)
    within = rng.dirichlet(np.full(size, SPIKY), between.shape)
    X = (between[:, :, None] * within).reshape(len(between), -1)
    y = np.repeat(np.arange(classes), n)
    return LabeledHistograms(X / X.sum(axis=1, keepdims=True), y, (groups, size))
