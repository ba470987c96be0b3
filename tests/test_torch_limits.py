"""What both distances of the layer for PyTorch refuse, and what they pass on."""

import math

import numpy as np
import pytest

from layers import gradients, layer, torch

pytestmark = pytest.mark.parametrize("name", ["emd", "sinkhorn_divergence"])


def line():
    """Two histograms, and the costs between three bins on a line."""
    t = torch()
    r, c = (t.tensor(each, dtype=t.float64) for each in ([1, 2, 3], [3, 2, 1]))
    x = t.arange(3.0, dtype=t.float64)
    return r, c, (x[:, None] - x).abs()


def dual(f, r):
    """Evaluate f with a tangent."""
    forward = torch().autograd.forward_ad
    with forward.dual_level():
        return f(forward.make_dual(r, r))


def compiled(f):
    return torch().compile(f, backend="aot_eager")


FORWARD = {
    "jvp": lambda f, r: torch().func.jvp(f, (r,), (r,)),
    "jacfwd": lambda f, r: torch().func.jacfwd(f)(r),
    "dual numbers": dual,
    "around grad": lambda f, r: FORWARD["jvp"](
        lambda x: torch().func.grad(lambda y: f(x) * y.sum())(r), r
    ),
    "around jvp": lambda f, r: FORWARD["jvp"](
        lambda x: FORWARD["jvp"](lambda y: f(x) * y.sum(), r), r
    ),
    "around vmap": lambda f, r: FORWARD["jvp"](torch().vmap(f), r[None]),
    "compiled": lambda f, r: dual(compiled(f), r),
    "compiled inside": lambda f, r: FORWARD["jvp"](compiled(f), r),
}
REVERSE = {
    "grad": lambda f, r: torch().func.grad(f)(r),
    "vjp": lambda f, r: torch().func.vjp(f, r)[0],
    "jacrev": lambda f, r: torch().func.jacrev(f)(r),
}


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("way", FORWARD)
def test_forward_mode_is_refused(name, way):
    r, c, M = line()
    distance = getattr(layer(), name)
    with pytest.raises(NotImplementedError, match=r"^r is differentiated"):
        FORWARD[way](lambda r: distance(r, c, M), r)
    with pytest.raises(NotImplementedError, match="is differentiated in forward"):
        FORWARD[way](lambda M: distance(r, c, M), M)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_what_was_compiled_before_refuses_forward_mode_too(name):
    r, c, M = line()
    distance = compiled(lambda r: getattr(layer(), name)(r, c, M))
    assert distance(r) > 0.0
    with pytest.raises(NotImplementedError, match=r"^r is differentiated"):
        dual(distance, r)
    assert distance(r) > 0.0


@pytest.mark.parametrize("way", REVERSE)
def test_transforms_are_refused(name, way):
    r, c, M = line()
    distance = getattr(layer(), name)
    with pytest.raises(NotImplementedError, match=r"use torch\.autograd\.grad"):
        REVERSE[way](lambda r: distance(r, c, M), r)


def test_constants_may_be_used_within_transforms(name):
    t, distance = torch(), getattr(layer(), name)
    r, c, M = line()

    def scaled(x):
        return distance(r, c, M) * x.sum()

    value = distance(r, c, M)
    np.testing.assert_allclose(t.func.grad(scaled)(r), [value] * 3)
    np.testing.assert_allclose(t.func.jvp(scaled, (r,), (r,))[1], value * r.sum())


@pytest.mark.parametrize("metric", [None, "sqeuclidean"])
def test_a_vector_of_points_is_a_line(name, metric):
    t, distance = torch(), getattr(layer(), name)
    r, c, _ = line()
    points = t.tensor([0.0, 1.0, 3.0], dtype=t.float64, requires_grad=True)
    found = distance(r, c, metric, points=points)
    expected = distance(r, c, metric, points=points[:, None])
    assert found.item() == expected.item()
    (gradient,) = gradients(found, points)
    assert gradient.any()
    np.testing.assert_array_equal(gradient, gradients(expected, points)[0])


@pytest.mark.parametrize("weight", [math.inf, -math.inf, math.nan])
def test_gradients_from_above_that_are_not_finite_are_passed_on(name, weight):
    t, distance = torch(), getattr(layer(), name)
    r, c, M = line()
    both, M = t.stack([r, c.flip(0)]).requires_grad_(), M.requires_grad_()
    weights = t.tensor([1.0, weight])
    in_r, in_M = gradients(distance(both, c, M), both, M, weights=weights)
    (alone,) = gradients(distance(both, c, M), both, weights=t.tensor([1.0, 0.0]))
    np.testing.assert_array_equal(in_r[0], alone[0])
    assert not np.isfinite(in_r[1]).all()
    assert not np.isfinite(in_M).all()


def test_values_may_be_changed_in_place(name):
    r, c, M = line()
    r.requires_grad_()
    value = getattr(layer(), name)(r, c, M)
    (once,) = gradients(value, r)
    value = getattr(layer(), name)(r, c, M)
    value.mul_(2.0)
    np.testing.assert_allclose(gradients(value, r)[0], 2.0 * once)


WRONG = {
    "no bins": (
        lambda r, c, M: {"r": r[:0], "c": c[:0], "metric": M[:0, :0]},
        r"r has shape \(0,\): histograms need at least one bin",
    ),
    "a sparse histogram": (
        lambda r, c, M: {"r": r.to_sparse(), "c": c, "metric": M},
        r"r has the layout torch\.sparse_coo, but a dense tensor is needed",
    ),
    "sparse costs": (
        lambda r, c, M: {"r": r, "c": c, "metric": M.to_sparse()},
        "metric has the layout",
    ),
    "NaN points": (
        lambda r, c, M: {"r": r, "c": c, "points": M * math.nan},
        r"points\[0, 0\] is nan: entries must be finite",
    ),
    "no coordinates": (
        lambda r, c, M: {"r": r, "c": c, "points": M[:, :0]},
        r"points has shape \(3, 0\), but the histograms have 3 bins",
    ),
    "too few points": (
        lambda r, c, M: {"r": r, "c": c, "points": M[:2, 0]},
        r"points has shape \(2, 1\), but the histograms have 3 bins",
    ),
    "blocks of points": (
        lambda r, c, M: {"r": r, "c": c, "points": M[None]},
        r"points has shape \(1, 3, 3\), but \(d, s\) or \(d,\) is needed",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_a_sentence(name, what):
    change, message = WRONG[what]
    with pytest.raises(ValueError, match=message):
        getattr(layer(), name)(**change(*line()))
