r"""Powers of histograms, bin by bin: what learners see of them.

.. math:: r_p \mapsto \frac{r_p^a}{\sum_q r_q^a}
          \quad\text{or}\quad
          \frac{\log(1 + s\, d\, r_p)}{\sum_q \log(1 + s\, d\, r_q)}

The smaller the power, the less the largest bins outweigh all others. The logarithm does
the same for heavy tails, and leaves little to the very smallest: with s = 1000, masses
above a thousandth of the mean, 1 / d, count by their logarithms, those below in
proportion.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import validation

Floats = NDArray[np.float64]
Power = float | str

LOG = "log1p"
LOG_SCALE = 1000.0  # s


def as_power(given: Any) -> Power:
    """Validate a positive number, or the name of the logarithm."""
    if isinstance(given, str) and given == LOG:
        return LOG
    if not isinstance(given, numbers.Real):
        raise ValueError(
            f"power is {validation.spelled(given)}; a positive number or {LOG!r} is "
            "needed."
        )
    power = validation.as_number(given, "power", low=0.0)  # type: ignore[arg-type]
    if power == 0:
        raise ValueError("power is 0.0; it must be positive.")
    return power


def raised(rows: Any, power: Power) -> Any:
    """Raise dense or sparse histograms of mass 1 to a power; scale them to mass 1."""
    if power == 1:
        return rows
    if isinstance(rows, np.ndarray):
        largest = rows.max(axis=1, keepdims=True)
        powers = _of_entries(rows, largest, rows.shape[1], power)
        scaled: Floats = powers / powers.sum(axis=1, keepdims=True)
        return scaled
    sizes, starts = np.diff(rows.indptr), rows.indptr[:-1]
    largest = np.repeat(np.maximum.reduceat(rows.data, starts), sizes)
    sparse = rows.copy()
    sparse.data = _of_entries(rows.data, largest, rows.shape[1], power)
    sparse.data /= np.repeat(np.add.reduceat(sparse.data, starts), sizes)
    return sparse


def _of_entries(r: Floats, largest: Floats, d: int, power: Power) -> Floats:
    """Raise entries of rows, whose largest are given, to a power, up to a factor."""
    if isinstance(power, str):
        logs: Floats = np.log1p(LOG_SCALE * d * r)
        return logs
    powers: Floats = (r / largest) ** power  # the largest does not underflow
    return powers
