"""Sinkhorn divergences as a layer of PyTorch: values, gradients, what it refuses."""

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
import reference
from groundmetric.base import _arrays
from groundmetric.smoothed import _scalings
from layers import coordinates, distances_between, gradients, layer, logits, torch

SMOOTHINGS = [0.3, 3.0, 1e9, math.inf]


def softmax(x):
    return x.softmax(-1)


@pytest.mark.parametrize("smoothing", [0.5, 3.0, math.inf])
def test_literal_twin(smoothing):
    # Costs are squared distances there.
    points = coordinates(0, 5)
    r, c = softmax(logits(1, 3, 5)), softmax(logits(2, 3, 5))
    M = distances_between(points, 2).detach().requires_grad_()
    values = layer().sinkhorn_divergence(r, c, M, smoothing=smoothing, tol=1e-12)
    weights = torch().tensor([1.0, 2.0, -0.5])
    (gradient,) = gradients(values, M, weights=weights)
    total = np.zeros((5, 5))
    for k in range(3):
        pair = r[k].detach().numpy(), c[k].detach().numpy()
        value, G = reference.smoothed_pair(*pair, points.detach().numpy(), smoothing)
        assert values[k].item() == pytest.approx(value, abs=1e-9)
        total += weights[k].item() * G
    np.fill_diagonal(total, 0.0)  # as that of a metric stays
    np.testing.assert_allclose(gradient, (total + total.T) / 2, atol=1e-8)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_gradients_in_everything(smoothing):
    t, divergence = torch(), layer().sinkhorn_divergence

    def value(a, b, upper):
        M = t.triu(upper, 1)
        options = {"smoothing": smoothing, "tol": 1e-13, "max_iter": 100_000}
        return divergence(2.0 * softmax(a), 2.0 * softmax(b), M + M.T, **options)

    upper = distances_between(coordinates(3, 4)).detach().requires_grad_()
    assert t.autograd.gradcheck(value, (logits(4, 2, 4), logits(5, 2, 4), upper))


def test_gradients_by_way_of_logarithms(monkeypatch):
    exponents = dict.fromkeys(_scalings.LARGEST_EXPONENT, 0.0)
    monkeypatch.setattr(_scalings, "LARGEST_EXPONENT", exponents)
    test_gradients_in_everything(0.3)


@pytest.mark.parametrize("metric", [None, "sqeuclidean"])
def test_gradients_in_points(metric):
    t, divergence = torch(), layer().sinkhorn_divergence

    def value(a, b, points):
        given = {"points": points, "smoothing": 0.5, "tol": 1e-13}
        return divergence(softmax(a), softmax(b), metric, **given)

    inputs = logits(6, 4), logits(7, 4), coordinates(6, 4)
    assert t.autograd.gradcheck(value, inputs)


@pytest.mark.parametrize("smoothing", [0.0, *SMOOTHINGS])
def test_values_are_those_of_all_pairs(smoothing):
    r, c = (softmax(logits(k, n, 7, requires_grad=False)) for k, n in ((8, 4), (9, 3)))
    M = distances_between(coordinates(8, 7)).detach()
    options = {"smoothing": smoothing}
    values = layer().sinkhorn_divergence(3 * r[:, None], 3 * c, M, **options)
    expected = gm.sinkhorn_divergence(
        3 * r.numpy(), 3 * c.numpy(), metric=M.numpy(), **options
    )
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-9)


def test_batches_are_broadcast():
    r, c = softmax(logits(10, 4, 5)), softmax(logits(11, 3, 5))
    M = distances_between(coordinates(10, 5)).detach().requires_grad_()
    weights = logits(12, 4, 3, requires_grad=False)

    def divergence(x, y):
        return layer().sinkhorn_divergence(x, y, M, tol=1e-12)

    values = divergence(r[:, None], c)
    rows = [torch().stack([divergence(x, y) for y in c]) for x in r]
    for found, expected in zip(
        gradients(values, r, c, M, weights=weights),
        gradients(torch().stack(rows), r, c, M, weights=weights),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, atol=1e-10)
    assert divergence(r[0], c[0]).shape == ()


def test_many_pairs_are_solved_in_chunks(monkeypatch):
    r, c = softmax(logits(13, 30, 6)), softmax(logits(14, 30, 6))
    M = distances_between(coordinates(13, 6)).detach().requires_grad_()
    found = []
    for size in (2**24, 2**12):
        monkeypatch.setattr(_arrays, "PROCESSOR_CHUNK", size)
        values = layer().sinkhorn_divergence(r, c, M, tol=1e-12)
        found.append([values.detach(), *gradients(values, r, c, M)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_equal_histograms_are_at_the_minimum():
    r = softmax(logits(15, 3, 6))
    M = distances_between(coordinates(15, 6)).detach()
    value = layer().sinkhorn_divergence(r, r.detach(), M, tol=1e-10)
    np.testing.assert_allclose(value.detach(), 0.0, atol=1e-9)
    np.testing.assert_allclose(gradients(value, r)[0], 0.0, atol=1e-9)


def test_single_precision():
    t = torch()
    r, c = (softmax(logits(k, 2, 8)).detach().float() for k in (16, 17))
    M = distances_between(coordinates(16, 8)).detach()
    r.requires_grad_()
    values = layer().sinkhorn_divergence(r, c, M.float())
    values.sum().backward()
    assert values.dtype == r.grad.dtype == t.float32
    exact = softmax(logits(16, 2, 8)), softmax(logits(17, 2, 8))
    expected = layer().sinkhorn_divergence(*exact, M)
    np.testing.assert_allclose(values.detach(), expected.detach(), rtol=1e-3)
    in_r = gradients(expected, exact[0])[0]
    np.testing.assert_allclose(r.grad, in_r, atol=1e-3 * np.abs(in_r).max())


def test_no_iteration_is_recorded():
    r, c = softmax(logits(18, 2, 5)), softmax(logits(19, 2, 5))
    M = distances_between(coordinates(18, 5)).detach()
    node, names = layer().sinkhorn_divergence(r, c, M).grad_fn, []
    while node is not None:
        names.append(node.name())
        node = next((each for each, _ in node.next_functions if each), None)
    assert sum("groundmetric_sinkhorn" in name for name in names) == 1
    assert len(names) < 10


def test_compiled_without_a_look_inside():
    t, divergence = torch(), layer().sinkhorn_divergence

    def loss(a, b, points):
        values = divergence(a.softmax(-1), b.softmax(-1), points=points, smoothing=0.5)
        return (values**2).mean()

    compiled = t.compile(loss, fullgraph=True, backend="aot_eager")
    inputs = logits(20, 3, 5), logits(21, 3, 5), coordinates(20, 5)
    found, plain = compiled(*inputs), loss(*inputs)
    assert found.item() == pytest.approx(plain.item(), rel=1e-12)
    expected = gradients(plain, *inputs)
    for one, other in zip(gradients(found, *inputs), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_operators_keep_the_rules():
    t, M = torch(), distances_between(coordinates(22, 4)).detach()
    r, c = (softmax(logits(k, 2, 4, requires_grad=False)) for k in (22, 23))
    layer()
    pairs = t.tensor([[0, 0], [1, 1]])
    given = (r, c, pairs, M.requires_grad_(), None, 1.0, None, 1000)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    found = t.library.opcheck(t.ops.groundmetric.sinkhorn, given, test_utils=tests)
    assert set(found.values()) == {"SUCCESS"}


def test_iterations_that_end_too_early_warn_at_the_line_of_the_caller():
    r, c = softmax(logits(24, 2, 5)), softmax(logits(25, 2, 5))
    M = distances_between(coordinates(24, 5)).detach()
    with pytest.warns(ConvergenceWarning, match="2 pairs did not converge") as found:
        layer().sinkhorn_divergence(r, c, M, smoothing=0.01, max_iter=2)
    assert [each.filename for each in found] == [__file__]


def test_vmap_and_second_derivatives_are_refused():
    t, divergence = torch(), layer().sinkhorn_divergence
    r, c = softmax(logits(26, 2, 4)), softmax(logits(27, 2, 4))
    M = distances_between(coordinates(26, 4)).detach()
    with pytest.raises(NotImplementedError, match="under vmap"):
        t.vmap(lambda x: divergence(x, c[0], M))(r.detach())
    value = divergence(r, c, M).sum()
    (first,) = t.autograd.grad(value, r, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        first.sum().backward()


WRONG = {
    "an array": (lambda g: g | {"r": np.ones(2)}, "r is of type ndarray, but a tensor"),
    "negative": (lambda g: g | {"r": -g["r"]}, r"r\[0, 0\] is -0\.5"),
    "mass": (lambda g: g | {"c": 2 * g["c"]}, r"c\[0\] has mass 2\.0"),
    "bins": (
        lambda g: g | {"c": torch().ones(3) / 3},
        "r has 2 bins, but c has 3",
    ),
    "costs": (lambda g: g | {"metric": torch().eye(2)}, "the diagonal must be zero"),
    "smoothing": (lambda g: g | {"smoothing": -1}, "smoothing is -1"),
    "tol": (lambda g: g | {"tol": 0.0}, "tol is 0.0"),
    "max_iter": (lambda g: g | {"max_iter": 0}, "max_iter is 0"),
    "tol in words": (lambda g: g | {"tol": "a"}, "tol is 'a'; a number"),
    "half an iteration": (lambda g: g | {"max_iter": 1.5}, "max_iter is 1.5; a whole"),
    "iterations of the exact": (
        lambda g: g | {"smoothing": 0, "max_iter": 1.5},
        "max_iter is 1.5; a whole",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_a_sentence(name):
    t = torch()
    good = {
        "r": t.tensor([0.5, 0.5]),
        "c": t.tensor([1.0, 0.0]),
        "metric": 1 - t.eye(2),
    }
    change, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        layer().sinkhorn_divergence(**change(good))
