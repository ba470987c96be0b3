"""What tests of the layer for PyTorch share; PyTorch is imported when they run."""

import numpy as np
import pytest

NO_TORCH = "PyTorch is not installed: pip install 'groundmetric[gpu]'"


def torch():
    """PyTorch, or the test is skipped."""
    pytest.importorskip("array_api_compat", reason=NO_TORCH)
    found = pytest.importorskip("torch", reason=NO_TORCH)
    found.set_num_threads(1)  # tests run side by side
    return found


def layer():
    """groundmetric.torch, or the test is skipped."""
    torch()
    import groundmetric.torch

    return groundmetric.torch


def logits(seed, *shape, requires_grad=True):
    """Numbers whose softmax is a histogram: any change of them keeps its mass."""
    values = np.random.default_rng(seed).normal(size=shape)
    return torch().tensor(values, requires_grad=requires_grad)


def coordinates(seed, d, s=2):
    """Points of bins, which may be learned."""
    return logits([seed, d, s], d, s)


def distances_between(points, power=1):
    """Compute distances between bins, or powers of them."""
    mode = "donot_use_mm_for_euclid_dist"
    return torch().cdist(points, points, compute_mode=mode) ** power


def gradients(values, *inputs, weights=None):
    """Gradients of a sum, weighted or not, as arrays."""
    total = values.sum() if weights is None else (weights * values).sum()
    return [g.numpy() for g in torch().autograd.grad(total, inputs)]
