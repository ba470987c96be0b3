"""The exact distance as a layer of PyTorch: values, gradients, and what it refuses."""

import doctest
import sys
from importlib import import_module

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import groundmetric as gm
import reference
from layers import coordinates, distances_between, gradients, layer, logits, torch


def softmax(x):
    return x.softmax(-1)


def lp(r, c, M):
    return reference.emd_lp(r.detach().numpy(), c.detach().numpy(), M.detach().numpy())


def test_literal_twin():
    a, b, M = logits(0, 3, 5), logits(1, 3, 5), distances_between(coordinates(0, 5))
    r, c = softmax(a), softmax(b)
    values = layer().emd(r, c, M)
    expected = [lp(r[k], c[k], M) for k in range(3)]
    np.testing.assert_allclose(values.detach(), expected, rtol=1e-9)
    # Of a linear program, by finite differences: masses move from bin 0 to others.
    in_r, in_M = gradients(values, r, M)
    step = 1e-6
    for q in range(1, 5):
        moved = r.detach().clone()
        moved[1, 0] -= step
        moved[1, q] += step
        slope = (lp(moved[1], c[1], M) - expected[1]) / step
        assert in_r[1, q] - in_r[1, 0] == pytest.approx(slope, abs=1e-5)
        dearer = M.detach().clone()
        dearer[0, q] += step
        slope = sum(lp(r[k], c[k], dearer) - expected[k] for k in range(3)) / step
        assert in_M[0, q] == pytest.approx(slope, abs=1e-5)
    np.testing.assert_allclose(in_r.sum(axis=1), 0.0, atol=1e-14)


@pytest.mark.parametrize("shape", [(), (2,)])
def test_gradients_in_everything(shape):
    emd = layer().emd

    def distance(a, b, M):
        return emd(2.0 * softmax(a), 2.0 * softmax(b), M)

    a, b = logits(2, *shape, 5), logits(3, *shape, 5)
    M = distances_between(coordinates(2, 5)).detach().requires_grad_()
    assert distance(a, b, M).shape == shape
    assert torch().autograd.gradcheck(distance, (a, b, M))


@pytest.mark.parametrize("metric", [None, "sqeuclidean"])
def test_gradients_in_points(metric):
    emd = layer().emd

    def distance(a, b, points):
        return emd(softmax(a), softmax(b), metric, points=points)

    a, b, points = logits(4, 2, 5), logits(5, 2, 5), coordinates(4, 5)
    assert torch().autograd.gradcheck(distance, (a, b, points))
    # The same by way of a matrix.
    power = 2 if metric else 1
    M = distances_between(points, power)
    inputs = (a, b, points)
    through = gradients(emd(softmax(a), softmax(b), M), *inputs)
    for found, expected in zip(
        gradients(distance(*inputs), *inputs), through, strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_costs_that_are_no_metric_between_other_numbers_of_bins():
    emd = layer().emd

    def distance(a, b, costs):
        return emd(softmax(a), softmax(b), costs)

    a, b, costs = logits(6, 2, 4), logits(7, 2, 3), logits(8, 4, 3)
    assert torch().autograd.gradcheck(distance, (a, b, costs))


def test_batches_are_broadcast():
    r, c = softmax(logits(9, 4, 5)), softmax(logits(10, 3, 5))
    M = distances_between(coordinates(9, 5)).detach()
    weights = logits(11, 4, 3, requires_grad=False)
    emd = layer().emd
    values = emd(r[:, None], c, M)
    plain = gm.pairwise_emd(r.detach().numpy(), c.detach().numpy(), metric=M.numpy())
    np.testing.assert_allclose(values.detach(), plain, rtol=1e-12)
    one_by_one = torch().stack([torch().stack([emd(x, y, M) for y in c]) for x in r])
    for found, expected in zip(
        gradients(values, r, c, weights=weights),
        gradients(one_by_one, r, c, weights=weights),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert emd(r, c[0], M).shape == (4,)
    assert emd(r[0], c, M).shape == (3,)


def test_empty_bins_have_gradients():
    # Mass that comes to bin 2, which is empty in both, would have to move on to bin 1.
    t = torch()
    M = t.tensor([[0.0, 1, 4], [1, 0, 3], [4, 3, 0]])
    r = t.tensor([1.0, 0, 0], requires_grad=True)
    (gradient,) = gradients(layer().emd(r, t.tensor([0.0, 1, 0]), M), r)
    np.testing.assert_allclose(gradient - gradient[1], [1.0, 0.0, 3.0], rtol=1e-6)


def test_single_precision():
    t = torch()
    r, c = (softmax(logits(k, 2, 8).detach().float()) for k in (12, 13))
    M = distances_between(coordinates(12, 8)).detach()
    r.requires_grad_()
    values = layer().emd(r, c, M.float())
    assert values.dtype == t.float32
    values.sum().backward()
    assert r.grad.dtype == t.float32
    expected = layer().emd(softmax(logits(12, 2, 8)), softmax(logits(13, 2, 8)), M)
    np.testing.assert_allclose(values.detach(), expected.detach(), rtol=1e-5)
    assert layer().emd(r, c, M).dtype == t.float64


def test_threads_change_nothing():
    r, c = softmax(logits(14, 40, 20)), softmax(logits(15, 40, 20))
    points = coordinates(14, 20)
    found = [
        gradients(layer().emd(r, c, points=points, n_jobs=n), r, c, points)
        for n in (None, 2)
    ]
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("ground", ["metric", "points"])
def test_compiled_without_a_look_inside(ground):
    t, emd = torch(), layer().emd
    a, b, points = logits(16, 3, 5), logits(17, 3, 5), coordinates(16, 5)

    def loss(a, b, points):
        given = {"points": points}
        if ground == "metric":
            given = {"metric": t.cdist(points, points)}
        return (emd(a.softmax(-1), b.softmax(-1), **given) ** 2).mean()

    compiled = t.compile(loss, fullgraph=True, backend="aot_eager")
    plain, inputs = loss(a, b, points), (a, b, points)
    found = compiled(*inputs)
    assert found.item() == pytest.approx(plain.item(), rel=1e-12)
    expected = gradients(plain, *inputs)
    for one, other in zip(gradients(found, *inputs), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_operators_keep_the_rules():
    t, M = torch(), distances_between(coordinates(18, 4)).detach()
    r, c = (softmax(logits(k, 2, 4, requires_grad=False)) for k in (18, 19))
    layer()
    pairs = t.tensor([[0, 0], [1, 1]])
    given = (r, c, pairs, M.requires_grad_(), "matrix", True, True, None)
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    found = t.library.opcheck(t.ops.groundmetric.emd, given, test_utils=tests)
    assert set(found.values()) == {"SUCCESS"}


def test_nothing_is_kept_for_gradients_that_nobody_asks_for():
    t, emd = torch(), layer().emd
    r, c = (softmax(logits(k, 2, 4)) for k in (20, 21))
    M = distances_between(coordinates(20, 4))
    with t.no_grad():
        assert not emd(r, c, M).requires_grad
    expected = gradients(emd(r, c, M), r)
    np.testing.assert_array_equal(gradients(emd(r, c, M.detach()), r), expected)


def test_vmap_is_refused():
    t, emd = torch(), layer().emd
    r, c = (softmax(logits(k, 3, 4, requires_grad=False)) for k in (22, 23))
    M = distances_between(coordinates(22, 4)).detach()
    with pytest.raises(
        NotImplementedError, match=r"do not work under vmap.*are batches"
    ):
        t.vmap(lambda x: emd(x, c[0], M))(r)


def test_second_derivatives_are_refused():
    t, a = torch(), logits(24, 4)
    M = distances_between(coordinates(24, 4))
    value = layer().emd(softmax(a), softmax(logits(25, 4)), M)
    (first,) = t.autograd.grad(value, a, create_graph=True)
    with pytest.raises(
        NotImplementedError, match="gradients, but no second derivatives"
    ):
        first.sum().backward()


WRONG = {
    "a list": (lambda g: g | {"r": [0.5, 0.5]}, "r is of type list, but a tensor"),
    "half": (
        lambda g: g | {"c": g["c"].half()},
        r"c is of torch\.float16; torch\.float64",
    ),
    "counts": (lambda g: g | {"r": g["r"].long()}, r"r is of torch\.int64"),
    "a number": (lambda g: g | {"c": g["c"].sum()}, r"c is a number, .* \(\.\.\., d\)"),
    "batches": (
        lambda g: g | {"r": g["r"].expand(3, 2), "c": g["c"].expand(2, 2)},
        r"r has shape \(3, 2\), but c has \(2, 2\): histograms are compared in pairs",
    ),
    "negative": (lambda g: g | {"r": -g["r"]}, r"r\[0, 0\] is -0\.5"),
    "mass": (
        lambda g: g | {"c": 2 * g["c"]},
        r"c\[0\] has mass 2.0, but r\[0\] has mass 1.0",
    ),
    "bins": (lambda g: g | {"metric": g["metric"][:1]}, r"metric has shape \(1, 2\)"),
    "no costs": (lambda g: g | {"metric": None}, "metric is None, but without points"),
    "a name": (lambda g: g | {"metric": "euclidean"}, "metric is 'euclidean', but"),
    "cosines": (
        lambda g: g | {"metric": "cosine", "points": g["metric"]},
        "metric is 'cosine'; with points, it must be one of euclidean, sqeuclidean",
    ),
    "both": (lambda g: g | {"points": g["metric"]}, "metric is 'Tensor'; with points"),
    "points": (
        lambda g: g | {"metric": None, "points": g["metric"][:1]},
        r"points has shape \(1, 2\), but the histograms have 2 bins",
    ),
    "threads": (lambda g: g | {"n_jobs": 0}, "n_jobs"),
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
        layer().emd(**change(good))


def test_forbidden_arcs_have_no_gradient():
    t = torch()
    M = t.tensor([[t.inf, 1.0], [1.0, 0.0]], requires_grad=True)
    r = t.tensor([0.5, 0.5])
    value = layer().emd(r, r, M)
    assert value.item() == 1.0
    np.testing.assert_array_equal(gradients(value, M)[0], [[0.0, 0.5], [0.5, 0.0]])


def test_points_may_be_many():
    # Costs between all of them would take 3 GB.
    t, rng = torch(), np.random.default_rng(26)
    points = t.tensor(rng.normal(size=(20_000, 3)), requires_grad=True)
    r, c = t.zeros(2, 2, 20_000, dtype=t.float64)
    for k in range(2):
        for x in (r, c):
            x[k, rng.choice(20_000, 10, replace=False)] = 0.1
    value = layer().emd(r, c, points=points)
    value.sum().backward()
    used = ((r > 0) | (c > 0)).any(dim=0)
    assert not points.grad[~used].any()
    k = t.nonzero(used)[:, 0]
    P = points.detach()[k].numpy()
    expected = [gm.emd(r[i, k].numpy(), c[i, k].numpy(), cdist(P, P)) for i in range(2)]
    np.testing.assert_allclose(value.detach(), expected, rtol=1e-12)


def test_examples():
    torch()
    for name in ("_emd", "_sinkhorn"):
        found = doctest.testmod(import_module(f"groundmetric.torch.{name}"))
        assert found.attempted > 5
        assert found.failed == 0


def test_it_is_an_attribute_of_the_package():
    assert layer() is gm.torch
    assert "torch" in dir(gm)


def test_missing_torch_is_a_sentence(monkeypatch):
    for name in [each for each in sys.modules if each.startswith("groundmetric.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    message = r"groundmetric\.torch needs PyTorch, which is not installed: pip install"
    with pytest.raises(ImportError, match=message):
        import_module("groundmetric.torch")
