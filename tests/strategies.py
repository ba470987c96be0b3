"""Hypothesis strategies: small problems full of zeros, ties and duplicates."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

# Few distinct values make ties; powers of two keep sums exact.
MASSES = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 3.0, 1e-12])
COORDINATES = st.sampled_from([-2.0, -1.0, 0.0, 0.0, 0.5, 1.0, 3.0])


@st.composite
def histogram_pairs(draw, max_bins=8):
    """Two histograms of equal mass on the same bins."""
    d = draw(st.integers(1, max_bins))
    r, c = (draw(hnp.arrays(float, d, elements=MASSES)) for _ in range(2))
    # Settle the difference of the masses on one bin, so that both are equal.
    k = draw(st.integers(0, d - 1))
    difference = r.sum() - c.sum()
    (c if difference > 0 else r)[k] += abs(difference)
    if r.sum() == 0:
        r[k] = c[d - 1 - k] = 1.0
    return r, c


def metrics(d):
    """Distances between points of a small grid, repeated points included."""
    return hnp.arrays(float, (d, 2), elements=COORDINATES).map(
        lambda points: np.abs(points[:, None] - points[None]).sum(axis=-1)
    )


def real_costs(d):
    """Any matrix of few distinct real numbers, or a metric."""
    return st.one_of(metrics(d), hnp.arrays(float, (d, d), elements=COORDINATES))


@st.composite
def square_matrices(draw, max_size=7):
    """Any square matrix of few distinct real numbers, asymmetric as a rule."""
    d = draw(st.integers(1, max_size))
    return draw(hnp.arrays(float, (d, d), elements=COORDINATES))
