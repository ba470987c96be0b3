"""Forward and backward of the layer for PyTorch, and of POT's backend for it.

``python benchmarks/torch_layer.py``: 256 pairs of histograms with 128 bins, exact, with
gradients in both histograms and in the metric. POT's ``ot.emd2`` takes one pair at a
time. Both run in turn, on one thread; in other rows ours has two.
"""

from functools import partial

import numpy as np
import ot
import torch
from measure import HEADER, Row, line_of, machine, seconds, side_by_side
from scipy.spatial.distance import cdist

from groundmetric.torch import emd

N_PAIRS, D, BAR = 256, 128, 10
ROUNDS = 15
HALF = "half of the bins empty"
AGREE = 1e-9
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def leaves(kind: str) -> Tensors:
    """Histograms in pairs, and a metric; all of them want a gradient."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(D, 8))
    r, c = rng.gamma(1.0, size=(2, N_PAIRS, D))
    if kind == HALF:
        r, c = (x * rng.integers(2, size=x.shape) for x in (r, c))
    arrays = (
        *(x / x.sum(axis=1, keepdims=True) for x in (r, c)),
        cdist(points, points),
    )
    return tuple(torch.tensor(x, requires_grad=True) for x in arrays)


def ours(given: Tensors, n_jobs: int = 1) -> torch.Tensor:
    r, c, M = given
    return emd(r, c, M, n_jobs=n_jobs)


def pot(given: Tensors) -> torch.Tensor:
    r, c, M = given
    return torch.stack([ot.emd2(x, y, M) for x, y in zip(r, c, strict=True)])


def step(layer, given: Tensors, weights: torch.Tensor) -> torch.Tensor:  # noqa: ANN001
    """Forward and backward, as in training."""
    for each in given:
        each.grad = None
    values = layer(given)
    (weights * values).sum().backward()
    return values.detach()


def require_same(given: Tensors, weights: torch.Tensor) -> None:
    """Refuse to compare the times of different results."""
    found = []
    for layer in (ours, pot):
        values = step(layer, given, weights)
        found.append((values, given[2].grad))
    for one, other in zip(*found, strict=True):
        if (one - other).abs().max() > AGREE * one.abs().max():
            raise RuntimeError("POT and groundmetric disagree.")


def row(kind: str, n_jobs: int) -> Row:
    given = leaves(kind)
    weights = torch.linspace(0.5, 1.5, N_PAIRS, dtype=torch.float64)
    require_same(given, weights)
    layer = partial(ours, n_jobs=n_jobs)
    mine, other, ratio = side_by_side(
        lambda: seconds(lambda: step(layer, given, weights)),
        lambda: seconds(lambda: step(pot, given, weights)),
        ROUNDS,
    )
    forward = seconds(lambda: layer(tuple(each.detach() for each in given)))
    threads = "one thread" if n_jobs == 1 else f"{n_jobs} threads"
    return Row(
        f"{N_PAIRS} pairs of {D} bins, {kind}, {threads}",
        f"{1e3 * mine:.1f} ms",
        f"{1e3 * other:.1f} ms (ot.emd2)",
        ratio,
        BAR,
        f"distances alone: {1e3 * forward:.1f} ms",
    )


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print("\n".join([*machine(), f"PyTorch {torch.__version__}"]) + "\n\n" + HEADER)
    for kind in ("dense", HALF):
        for n_jobs in (1, 2):
            found = row(kind, n_jobs)
            print(
                line_of(
                    found.what,
                    found.ours,
                    found.peer,
                    found.ratio,
                    found.bar,
                    found.note,
                ),
                flush=True,
            )


if __name__ == "__main__":
    main()
