"""What both distances ask of tensors: types, devices, shapes, and which pairs."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor
from torch.autograd import forward_ad

PRECISIONS = (torch.float64, torch.float32)


class InPairs(NamedTuple):
    """Histograms in rows, the pairs of them, and the shape of the result."""

    r: Tensor  # (n, d)
    c: Tensor  # (m, e)
    pairs: Tensor  # (n_pairs, 2), on the processor
    shape: torch.Size

    @property
    def needs_potentials(self) -> bool:
        """Whether a gradient in the histograms may be asked for."""
        return requires_grad(self.r, self.c)


def requires_grad(*tensors: Tensor) -> bool:
    """Whether a gradient in one of these may be asked for."""
    return torch.is_grad_enabled() and any(each.requires_grad for each in tensors)


def require_tensors(**tensors: Any) -> None:
    """Reject all but dense tensors of such numbers, on one device, not transformed."""
    place = None
    for name, given in tensors.items():
        if not isinstance(given, Tensor):
            raise ValueError(
                f"{name} is of type {type(given).__name__}, but a tensor is needed; "
                "for arrays, there are the functions of groundmetric itself."
            )
        if given.dtype not in PRECISIONS:
            raise ValueError(
                f"{name} is of {given.dtype}; torch.float64 or torch.float32 is needed."
            )
        if given.layout != torch.strided:
            raise ValueError(
                f"{name} has the layout {given.layout}, but a dense tensor is needed: "
                f"{name}.to_dense() is one."
            )
        _refuse_transforms(name, given)
        if place is not None and given.device != place:
            raise ValueError(
                f"{name} is on {given.device}, but r is on {place}: all tensors must "
                "be on the same device."
            )
        place = given.device


def _refuse_transforms(name: str, given: Tensor) -> None:
    """Reject tensors whose derivatives would be lost without a word."""
    if _in_transform(given):
        raise NotImplementedError(
            f"{name} is differentiated in forward mode, or by a transform of "
            "torch.func, such as grad, vjp, jvp, jacrev and jacfwd. The distances of "
            "groundmetric.torch do not work there: use torch.autograd.grad or "
            "backward()."
        )


def _in_transform(given: Tensor) -> bool:
    """Whether derivatives are asked for by other means than backward."""
    if torch.compiler.is_compiling():
        # Tangents cannot be seen here, only that there may be some.
        return bool(forward_ad._current_level >= 0)
    inside = torch._C._functorch
    while inside.is_functorch_wrapped_tensor(given):
        if inside.is_gradtrackingtensor(given):
            return True
        given = inside.get_unwrapped(given)  # from vmap, which is refused elsewhere
    return forward_ad.unpack_dual(given).tangent is not None


def precision_of(*tensors: Tensor) -> torch.dtype:
    """float64 if one of these is, else float32."""
    single = all(each.dtype == torch.float32 for each in tensors)
    return torch.float32 if single else torch.float64


def in_pairs(r: Tensor, c: Tensor) -> InPairs:
    """Pair histograms, the last dimension of tensors; the others are broadcast."""
    for name, given in (("r", r), ("c", c)):
        if given.dim() == 0:
            raise ValueError(
                f"{name} is a number, but a tensor of shape (..., d) is needed."
            )
        if given.shape[-1] == 0:
            raise ValueError(
                f"{name} has shape {tuple(given.shape)}: histograms need at least one "
                "bin, the last dimension."
            )
    left, right = r.shape[:-1], c.shape[:-1]
    try:
        shape = torch.broadcast_shapes(left, right)
    except RuntimeError as error:
        raise ValueError(
            f"r has shape {tuple(r.shape)}, but c has {tuple(c.shape)}: histograms are "
            "compared in pairs, so all dimensions but the last must be equal, or 1."
        ) from error
    pairs = torch.stack([_positions(each, shape) for each in (left, right)], dim=1)
    return InPairs(_rows(r), _rows(c), pairs, shape)


def _rows(histograms: Tensor) -> Tensor:
    return histograms.reshape(-1, histograms.shape[-1])


def _positions(own: torch.Size, shape: torch.Size) -> Tensor:
    """Which histogram each pair has."""
    return torch.arange(own.numel()).reshape(own).expand(shape).reshape(-1)


def in_columns(points: Tensor) -> Tensor:
    """Coordinates in columns; a vector is a line."""
    if points.dim() not in {1, 2}:
        raise ValueError(
            f"points has shape {tuple(points.shape)}, but (d, s) or (d,) is needed."
        )
    return points if points.dim() == 2 else points[:, None]  # noqa: PLR2004


def refuse_vmap(*_: Any) -> NoReturn:
    """Say how batches are computed."""
    raise NotImplementedError(
        "The distances of groundmetric.torch do not work under vmap, nor under what "
        "uses it, such as jacrev: give r and c with further dimensions in front, which "
        "are batches."
    )


def refuse_second_gradient(*_: Any) -> NoReturn:
    """Say that there are no second derivatives."""
    raise NotImplementedError(
        "The distances of groundmetric.torch have gradients, but no second derivatives."
    )
