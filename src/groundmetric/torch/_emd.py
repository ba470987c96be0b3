"""The exact distance, as an operator that PyTorch does not look into.

It works on the processor and in double precision; copies and conversions around it are
PyTorch's own, and so are their gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import validation
from ..transport._gradients import (
    Gradients,
    in_costs,
    in_points,
    in_rows,
    solve_rows,
)
from ._tensors import (
    in_columns,
    in_pairs,
    precision_of,
    refuse_second_gradient,
    refuse_vmap,
    require_tensors,
    requires_grad,
)

KINDS = ("euclidean", "sqeuclidean")  # of distances between points


def emd(
    r: Tensor,
    c: Tensor,
    metric: Tensor | str | None = None,
    *,
    points: Tensor | None = None,
    n_jobs: int | None = None,
) -> Tensor:
    r"""Earth mover's distances between histograms in pairs, with gradients.

    Exact, and computed on the processor; tensors on other devices are copied there, and
    the distances back. Histograms are checked as those of :func:`groundmetric.emd` are.

    Parameters
    ----------
    r : Tensor of shape (..., d)
        Non-negative histograms, in float64 or float32.
    c : Tensor of shape (..., e)
        Others, each of the mass of its histogram of r (to 1e-6, which sums of ten
        thousand bins in float32 may miss), usually on the same bins. Row i is compared
        with row i: dimensions in front are batches, and are broadcast. For all pairs of
        two sets, write ``emd(r[:, None], c, metric)``.
    metric : Tensor of shape (d, e) or str, optional
        Costs between bins, the same for all pairs. With points, "euclidean" (None) or
        "sqeuclidean".
    points : Tensor of shape (d, s) or (d,), optional
        Coordinates of the bins, instead of a matrix; a vector is a line.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is 1, -1 is all processors. Results
        do not depend on it.

    Returns
    -------
    Tensor
        Distances, of the shape of the batches; a number for two vectors.

    Notes
    -----
    The gradient in the metric is the plan, that in the points follows by the chain
    rule, and those in the histograms are the potentials. Where several plans or
    potentials are optimal, as at ties, one of them is taken.

    Masses have to stay equal, so potentials are determined up to a number for all bins:
    gradients in r and c sum to zero over the bins. They hold for changes that keep the
    masses, as those of a softmax do, and say nothing of a change of the masses.

    It works under ``torch.compile``, which does not look inside. There are no second
    derivatives, no derivatives in forward mode, and no transforms of ``torch.func``.

    Examples
    --------
    >>> import torch
    >>> from groundmetric.torch import emd
    >>> M = torch.tensor([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]], requires_grad=True)
    >>> r = torch.tensor([[3.0, 1, 0], [0, 2, 2]], requires_grad=True)
    >>> distances = emd(r, torch.tensor([1.0, 1, 2]), M)
    >>> distances.detach()
    tensor([4., 1.])
    >>> distances.sum().backward()
    >>> M.grad
    tensor([[1., 0., 2.],
            [1., 2., 0.],
            [0., 0., 2.]])
    >>> r.grad
    tensor([[ 1.,  0., -1.],
            [-1.,  0.,  1.]])

    Bins with coordinates, which may be learned:

    >>> points = torch.tensor([[0.0], [1.0], [2.0]], requires_grad=True)
    >>> emd(r[0], torch.tensor([1.0, 1, 2]), points=points).backward()
    >>> points.grad
    tensor([[-2.],
            [ 0.],
            [ 2.]])
    """
    kind, ground = as_ground(r, c, metric, points)
    validation.n_threads(n_jobs)
    # One after the other: not all devices have double precision.
    given = in_pairs(*(each.cpu().double() for each in (r, c)))
    on_processor = ground.cpu().double()
    values, *_ = _solve(
        given.r,
        given.c,
        given.pairs,
        on_processor,
        kind,
        given.needs_potentials,
        requires_grad(on_processor),
        n_jobs,
    )
    return values.reshape(given.shape).to(precision_of(r, c, ground)).to(r.device)


def as_ground(r: Any, c: Any, metric: Any, points: Any) -> tuple[str, Tensor]:
    """Validate all tensors; return what costs are, and the tensor they come from."""
    if points is None:
        if metric is None or isinstance(metric, str):
            raise ValueError(
                f"metric is {metric!r}, but without points a tensor of costs is needed."
            )
        require_tensors(r=r, c=c, metric=metric)
        return "matrix", metric
    kind = "euclidean" if metric is None else metric
    if not isinstance(kind, str) or kind not in KINDS:
        shown = kind if isinstance(kind, str) else type(kind).__name__
        raise ValueError(
            f"metric is {shown!r}; with points, it must be one of {', '.join(KINDS)}."
        )
    require_tensors(r=r, c=c, points=points)
    return kind, in_columns(points)


def _in_words(kind: str, ground: Tensor) -> dict[str, Any]:
    """Name the costs as groundmetric.emd does."""
    array = ground.detach().numpy()
    return {"metric": array} if kind == "matrix" else {"points": array, "metric": kind}


@torch.library.custom_op(
    "groundmetric::emd",
    mutates_args=(),
    schema="(Tensor r, Tensor c, Tensor pairs, Tensor ground, str kind, "
    "bool potentials, bool plans, int? n_jobs) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def _solve(
    r: Tensor,
    c: Tensor,
    pairs: Tensor,
    ground: Tensor,
    kind: str,
    potentials: bool,
    plans: bool,
    n_jobs: int | None,
) -> tuple[Tensor, ...]:
    """Values, u and v, and the rows, columns and flow of the plans."""
    found = solve_rows(
        r.detach().numpy(),
        c.detach().numpy(),
        pairs.numpy(),
        _in_words(kind, ground),
        n_jobs=n_jobs,
        potentials=potentials,
        plans=plans,
    )
    return tuple(torch.from_numpy(each) for each in found)


@_solve.register_fake
def _shapes(
    r: Tensor,
    c: Tensor,
    pairs: Tensor,
    _ground: Tensor,
    _kind: str,
    potentials: bool,
    plans: bool,
    _n_jobs: int | None,
) -> tuple[Tensor, ...]:
    n, d, e = pairs.shape[0], r.shape[1], c.shape[1]
    width = d + e if plans else 0
    return (
        r.new_empty(n),
        r.new_empty(n, d if potentials else 0),
        r.new_empty(n, e if potentials else 0),
        r.new_empty(n, width, dtype=torch.int32),
        r.new_empty(n, width, dtype=torch.int32),
        r.new_empty(n, width),
    )


@torch.library.custom_op(
    "groundmetric::emd_gradient",
    mutates_args=(),
    schema="(Tensor weights, Tensor[] solved, Tensor r, Tensor c, Tensor pairs, "
    "Tensor ground, str kind, bool potentials, bool plans) -> (Tensor, Tensor, Tensor)",
)
def _gradient(
    weights: Tensor,
    solved: list[Tensor],
    r: Tensor,
    c: Tensor,
    pairs: Tensor,
    ground: Tensor,
    kind: str,
    potentials: bool,
    plans: bool,
) -> tuple[Tensor, ...]:
    """Gradients of the weighted sum of values in r, c and the costs or points."""
    found = Gradients(*(each.detach().numpy() for each in (weights, *solved)))
    w, which = found.values, pairs.numpy()
    out = torch.zeros_like(r), torch.zeros_like(c), torch.zeros_like(ground)
    with np.errstate(invalid="ignore"):  # weights may be inf or NaN, as in AMP
        if potentials:
            for side, each in enumerate((found.u, found.v)):
                total = in_rows(each, which[:, side], w, len(out[side]))
                out[side].copy_(torch.from_numpy(total))
        if plans:
            shape = r.shape[1], c.shape[1]
            if kind == "matrix":
                total = in_costs(found, w, shape)
            else:
                squared = kind == "sqeuclidean"
                total = in_points(found, w, ground.detach().numpy(), squared=squared)
            out[2].copy_(torch.from_numpy(total))
    return out


@_gradient.register_fake
def _gradient_shapes(
    _weights: Tensor,
    _solved: list[Tensor],
    r: Tensor,
    c: Tensor,
    _pairs: Tensor,
    ground: Tensor,
    *_: Any,
) -> tuple[Tensor, ...]:
    return torch.empty_like(r), torch.empty_like(c), torch.empty_like(ground)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    r, c, pairs, ground, ctx.kind, ctx.potentials, ctx.plans, _ = inputs
    ctx.save_for_backward(*output[1:], r, c, pairs, ground)


def _backward(ctx: Any, weights: Tensor, *_: Any) -> tuple[Any, ...]:
    *solved, r, c, pairs, ground = ctx.saved_tensors
    found = _gradient(
        weights, solved, r, c, pairs, ground, ctx.kind, ctx.potentials, ctx.plans
    )
    in_r, in_c, in_ground = (
        each if needed else None
        for each, needed in zip(
            found, (ctx.potentials, ctx.potentials, ctx.plans), strict=True
        )
    )
    return in_r, in_c, None, in_ground, None, None, None, None


_solve.register_autograd(_backward, setup_context=_keep)
_solve.register_vmap(refuse_vmap)
_gradient.register_autograd(refuse_second_gradient)
_gradient.register_vmap(refuse_vmap)
