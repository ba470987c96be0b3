"""The smoothed distance, where the tensors lie, without a gradient of iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from .. import validation
from ..smoothed._batch import MAX_ITER, Potentials
from ..smoothed._problems import valid_limits
from ..smoothed._rows import RowsInPairs
from ._emd import as_ground, emd
from ._tensors import (
    in_pairs,
    precision_of,
    refuse_second_gradient,
    refuse_vmap,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def sinkhorn_divergence(
    r: Tensor,
    c: Tensor,
    metric: Tensor | str | None = None,
    *,
    points: Tensor | None = None,
    smoothing: float = 1.0,
    tol: float | None = None,
    max_iter: int = MAX_ITER,
) -> Tensor:
    r"""Debiased Sinkhorn divergences between histograms in pairs, with gradients.

    What :func:`groundmetric.sinkhorn_divergence` computes for all pairs of two sets:
    OT_eps(r, c) - OT_eps(r, r) / 2 - OT_eps(c, c) / 2 with eps = smoothing *
    mean(metric). The work is done on the device of the tensors. Gradients follow from
    the plans and potentials at the optimum (the envelope theorem): no iteration is
    recorded, and a gradient takes about as long as one of them.

    Parameters
    ----------
    r : Tensor of shape (..., d)
        Non-negative histograms, in float64 or float32.
    c : Tensor of shape (..., d)
        Others, in pairs as in :func:`~groundmetric.torch.emd`.
    metric : Tensor of shape (d, d) or str, optional
        Costs between bins, the same for all pairs: symmetric, non-negative, zero on the
        diagonal. With points, "euclidean" (None) or "sqeuclidean".
    points : Tensor of shape (d, s) or (d,), optional
        Coordinates of the bins, instead of a matrix; all d x d distances are computed.
    smoothing : float, default=1.0
        How much to smooth, from 0, which gives the exact distances of
        :func:`~groundmetric.torch.emd`, to ``math.inf``.
    tol : float, optional
        Stop when the marginals of all plans are within tol of the histograms (l1, for
        mass 1); 1e-6 if None, 1e-4 in float32. The error of a gradient is of this
        order, that of a value of the order of its square.
    max_iter : int, default=10000
        Iterations after which to give up, with a ``ConvergenceWarning``.

    Returns
    -------
    Tensor
        Divergences, of the shape of the batches; a number for two vectors.

    Notes
    -----
    eps follows the metric, and the gradient in the metric takes this into account. It
    is symmetric, with a zero diagonal, as the metric is. Gradients in r and c sum to
    zero over the bins, as those of :func:`~groundmetric.torch.emd` do.
    ``torch.compile``, transforms and second derivatives: as there.

    Examples
    --------
    >>> import torch
    >>> from groundmetric.torch import sinkhorn_divergence
    >>> r = torch.tensor([[2.0, 0], [1, 1]], requires_grad=True)
    >>> metric = torch.tensor([[0.0, 3], [3, 0]])
    >>> divergences = sinkhorn_divergence(r, torch.tensor([0.0, 2]), metric)
    >>> divergences.detach()
    tensor([6.0000, 2.1507])
    >>> divergences.sum().backward()
    >>> r.grad
    tensor([[ 3.0000, -3.0000],
            [ 1.5000, -1.5000]])
    """
    smoothing = validation.as_smoothing(smoothing)
    kind, ground = as_ground(r, c, metric, points)
    precision = precision_of(r, c, ground)
    name = str(precision).rpartition(".")[2]
    _, tol, max_iter = valid_limits(name, tol, max_iter)
    if smoothing == 0.0:
        return emd(r, c, metric, points=points)
    given = in_pairs(r.to(precision), c.to(precision))
    values, *_ = _solve(
        given.r,
        given.c,
        given.pairs,
        _costs(kind, ground).to(precision),
        None if kind == "matrix" else ground.detach(),
        smoothing,
        tol,
        max_iter,
    )
    return values.reshape(given.shape)


def _costs(kind: str, ground: Tensor) -> Tensor:
    """Return the matrix, or the distances between points; zero between equal ones."""
    if kind == "matrix":
        return ground
    # Products would leave rounding on the diagonal.
    costs = torch.cdist(ground, ground, compute_mode="donot_use_mm_for_euclid_dist")
    return costs if kind == "euclidean" else costs**2


@torch.library.custom_op(
    "groundmetric::sinkhorn",
    mutates_args=(),
    schema="(Tensor r, Tensor c, Tensor pairs, Tensor metric, Tensor? points, "
    "float smoothing, float? tol, int max_iter) -> (Tensor, Tensor, Tensor)",
)
def _solve(
    r: Tensor,
    c: Tensor,
    pairs: Tensor,
    metric: Tensor,
    points: Tensor | None,
    smoothing: float,
    tol: float | None,
    max_iter: int,
) -> tuple[Tensor, ...]:
    """Values, and the potentials of pairs and of all histograms.

    The points, if any, are those that the metric was computed from.
    """
    if points is not None:
        validation.as_coordinates(_on_processor(points), r.shape[1])
    rows = RowsInPairs(
        r.detach(), c.detach(), pairs.numpy(), tol=tol, max_iter=max_iter
    )
    found, potentials = rows.solve(_on_processor(metric), smoothing)
    values = torch.from_numpy(found).to(r.dtype).to(r.device)
    if potentials is None:  # in closed form
        shapes = (len(pairs), r.shape[1]), (len(r) + len(c), r.shape[1])
        return values, *(r.new_zeros(shape) for shape in shapes)
    return values, *potentials


@_solve.register_fake
def _shapes(
    r: Tensor, c: Tensor, pairs: Tensor, *_: Any
) -> tuple[Tensor, Tensor, Tensor]:
    n, d = pairs.shape[0], r.shape[1]
    return r.new_empty(n), r.new_empty(n, d), r.new_empty(r.shape[0] + c.shape[0], d)


@torch.library.custom_op(
    "groundmetric::sinkhorn_gradient",
    mutates_args=(),
    schema="(Tensor weights, Tensor[] solved, Tensor r, Tensor c, Tensor pairs, "
    "Tensor metric, float smoothing) -> (Tensor, Tensor, Tensor)",
)
def _gradient(
    weights: Tensor,
    solved: list[Tensor],
    r: Tensor,
    c: Tensor,
    pairs: Tensor,
    metric: Tensor,
    smoothing: float,
) -> tuple[Tensor, ...]:
    """Gradients of the weighted sum of values in r, c and the metric."""
    values, *potentials = (each.detach() for each in solved)
    rows = RowsInPairs(r.detach(), c.detach(), pairs.numpy(), tol=None, max_iter=1)
    with np.errstate(invalid="ignore"):  # weights may be inf or NaN, as in AMP
        found = rows.gradients(
            _on_processor(metric),
            smoothing,
            _on_processor(values),
            Potentials(*potentials),
            _on_processor(weights),
        )
    in_r, in_c = torch.zeros_like(r), torch.zeros_like(c)
    pairs, weights = pairs.to(r.device), weights.detach()[:, None]
    for side, (total, each) in enumerate(((in_r, found.u), (in_c, found.v))):
        total.index_add_(0, pairs[:, side], weights * each)
    return in_r, in_c, torch.from_numpy(found.metric).to(metric.dtype).to(r.device)


@_gradient.register_fake
def _gradient_shapes(
    _weights: Tensor,
    _solved: list[Tensor],
    r: Tensor,
    c: Tensor,
    _pairs: Tensor,
    metric: Tensor,
    _smoothing: float,
) -> tuple[Tensor, Tensor, Tensor]:
    return torch.empty_like(r), torch.empty_like(c), torch.empty_like(metric)


def _on_processor(tensor: Tensor) -> NDArray[np.float64]:
    return np.asarray(tensor.detach().cpu().double())


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    r, c, pairs, metric, _, ctx.smoothing, _, _ = inputs
    values, *potentials = output
    # A copy, since the caller may change the values in place.
    ctx.save_for_backward(values.clone(), *potentials, r, c, pairs, metric)


def _backward(ctx: Any, weights: Tensor, *_: Any) -> tuple[Any, ...]:
    *solved, r, c, pairs, metric = ctx.saved_tensors
    found = _gradient(weights, solved, r, c, pairs, metric, ctx.smoothing)
    in_r, in_c, in_metric = (
        each if needed else None
        for each, needed in zip(found, _needed(ctx.needs_input_grad), strict=True)
    )
    return in_r, in_c, None, in_metric, None, None, None, None


def _needed(inputs: Any) -> tuple[bool, bool, bool]:
    return inputs[0], inputs[1], inputs[3]


_solve.register_autograd(_backward, setup_context=_keep)
_solve.register_vmap(refuse_vmap)
_gradient.register_autograd(refuse_second_gradient)
_gradient.register_vmap(refuse_vmap)
