"""Arrays of PyTorch whose gradient would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .places import Table


def require_no_gradient(x: object, name: str | Table) -> None:
    """Reject a tensor that requires a gradient, which results would not have."""
    if getattr(x, "requires_grad", False) is True:
        raise ValueError(
            f"{name} requires a gradient, but the result would have none; pass "
            f"{name}.detach() if you do not need it, or use groundmetric.torch."
        )
