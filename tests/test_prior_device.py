"""Learning from a prior on a device: PyTorch gives what numpy gives."""

import math
from dataclasses import replace

import numpy as np
import pytest

from groundmetric import Checkpoint, EMDNeighbors
from groundmetric.base._arrays import numpy_arrays
from groundmetric.smoothed import _prior, _setup
from layers import torch
from test_prior_estimator import N, learner_of
from test_prior_learning import documents


@pytest.fixture(scope="module")
def task():
    return documents()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("batch_size", [None, 60])
def test_torch_learns_the_same(task, dtype, batch_size):
    torch()
    rows, y, points = task
    kinship = np.where(np.equal.outer(y[:N], y[:N]), 1.0, -2.0)
    np.fill_diagonal(kinship, 0.0)
    options = {"dtype": dtype, "batch_size": batch_size, "max_steps": 10}
    slack = 1e-10 if dtype == "float64" else 1e-4
    for known in ({"y": y[:N]}, {"similarity": kinship}):
        ours, theirs = (
            learner_of(points, device=device, **options).fit(rows[:N], **known)
            for device in (None, "cpu")
        )
        for name in ("embedding_", "bin_weights_"):
            found, expected = getattr(theirs, name), getattr(ours, name)
            assert isinstance(found, np.ndarray)
            np.testing.assert_allclose(found, expected, atol=slack)
        found, expected = (
            learner.path_.column("criterion") for learner in (theirs, ours)
        )
        np.testing.assert_allclose(found, expected, rtol=slack)
        found, expected = (learner.transform(rows) for learner in (theirs, ours))
        np.testing.assert_allclose(found, expected, atol=slack)
        found, expected = (
            EMDNeighbors(learner, n_neighbors=1).fit(rows[:N]).kneighbors(rows[N:])[0]
            for learner in (theirs, ours)
        )
        np.testing.assert_allclose(found, expected, atol=slack)


@pytest.mark.parametrize(
    ("criterion", "rho"), [("softmax", 1.0), ("margin", math.inf), ("margin", 1.0)]
)
def test_torch_learns_the_same_by_pairs(task, criterion, rho):
    torch()
    rows, y, points = task
    options = {"criterion": criterion, "smoothing": rho, "dtype": "float64"}
    ours, theirs = (
        learner_of(points, device=device, max_steps=2, **options).fit(rows[:20], y[:20])
        for device in (None, "cpu")
    )
    np.testing.assert_allclose(theirs.embedding_, ours.embedding_, atol=1e-9)
    np.testing.assert_allclose(theirs.bin_weights_, ours.bin_weights_, atol=1e-9)


def test_torch_goes_on_from_a_checkpoint(task, tmp_path):
    """States are arrays of numpy: one that a device wrote can be read without it."""
    torch()
    rows, y, points = task
    options = {"max_steps": 12, "batch_size": 60, "dtype": "float64"}
    whole = learner_of(points, device="cpu", **options).fit(rows[:N], y[:N])
    for device, slack in (("cpu", 0.0), (None, 1e-10)):
        saved = Checkpoint(tmp_path / "state", seconds=0.0)

        def stop(step):
            if step.outer == 5:
                raise KeyboardInterrupt

        learner = learner_of(points, device="cpu", callbacks=[saved, stop], **options)
        with pytest.raises(KeyboardInterrupt):
            learner.fit(rows[:N], y[:N])
        learner.set_params(device=device, callbacks=[saved]).fit(rows[:N], y[:N])
        np.testing.assert_allclose(learner.embedding_, whole.embedding_, atol=slack)


def test_devices_without_sparse_products(task, monkeypatch):
    rows, y, points = task
    arrays = replace(numpy_arrays(np.dtype("float32")), device="mps")
    monkeypatch.setattr(_prior, "find_arrays", lambda *_: arrays)
    monkeypatch.setattr(_setup, "find_arrays", lambda *_: arrays)
    with pytest.raises(ValueError, match="device is 'mps', which has no sparse"):
        learner_of(points, device="mps").fit(rows[:N], y[:N])
