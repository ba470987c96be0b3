"""What both distances ask of tensors: types, devices, shapes, and which pairs."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

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
    """Reject what is no tensor, other types of numbers, and other devices."""
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
        if place is not None and given.device != place:
            raise ValueError(
                f"{name} is on {given.device}, but r is on {place}: all tensors must "
                "be on the same device."
            )
        place = given.device


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
