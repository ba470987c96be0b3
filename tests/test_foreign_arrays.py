"""Arrays of PyTorch, here without PyTorch: nothing is lost silently."""

import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

import groundmetric as gm
from groundmetric.smoothed._batch import SinkhornBatch

X = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
METRIC = 1.0 - np.eye(3)


class Tensor:
    """What matters here of PyTorch's class."""

    def __init__(self, array, *, requires_grad=False):
        self._array, self.requires_grad = np.asarray(array), requires_grad

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self._array

    shape = property(lambda self: self._array.shape)
    cpu = lambda self: self  # noqa: E731 - PyTorch's
    numpy = __array__


Tensor.__module__ = "torch"


def forbid(monkeypatch, *names):
    """Make these modules impossible to import."""
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize("name", ["X", "Y", "metric", "points"])
@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_gradients_are_not_lost_without_a_word(name, smoothing):
    given = {"X": X, "Y": X, "metric": METRIC}
    if name == "points":
        given |= {"metric": None, "points": np.eye(3)}
    given[name] = Tensor(given[name], requires_grad=True)
    with pytest.raises(ValueError, match=rf"{name} requires a gradient.*detach\(\)"):
        gm.sinkhorn_divergence(**given, smoothing=smoothing)
    with pytest.raises(ValueError, match=rf"{name} requires a gradient"):
        gm.pairwise_emd(**given)


def test_gradients_of_batches():
    tensor = Tensor(X, requires_grad=True)
    with pytest.raises(ValueError, match="X requires a gradient"):
        SinkhornBatch(tensor, [(0, 1)])
    with pytest.raises(ValueError, match="metric requires a gradient"):
        SinkhornBatch(X, [(0, 1)]).solve(Tensor(METRIC, requires_grad=True))


@pytest.mark.parametrize("rows", [X, csr_array(X)])
def test_detached_tensors_are_arrays(rows):
    found = gm.sinkhorn_divergence(rows, metric=Tensor(METRIC), smoothing=0.0)
    np.testing.assert_array_equal(found, gm.pairwise_emd(X, metric=METRIC))


def test_what_tensors_need_is_named(monkeypatch):
    forbid(monkeypatch, "array_api_compat")
    message = (
        r"X is an array of PyTorch: it needs array-api-compat.*groundmetric\[gpu\]"
    )
    with pytest.raises(ValueError, match=message):
        gm.sinkhorn_divergence(Tensor(X), metric=METRIC)


def test_what_devices_need_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))  # is there
    forbid(monkeypatch, "array_api_compat")
    with pytest.raises(ValueError, match=r"device 'cpu' needs array-api-compat") as no:
        gm.sinkhorn_divergence(X, metric=METRIC, device="cpu")
    assert "PyTorch" not in str(no.value)
    forbid(monkeypatch, "torch")
    with pytest.raises(ValueError, match=r"device 'cpu' needs PyTorch.*\[gpu\]"):
        gm.sinkhorn_divergence(X, metric=METRIC, device="cpu")
