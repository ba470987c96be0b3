"""Sinkhorn divergences: the limits, other solvers, finite differences, devices."""

import math
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

import problems
import reference
from groundmetric import TransportBatch, pairwise_emd, sinkhorn_divergence
from groundmetric.base import _arrays
from groundmetric.smoothed import _scalings, _sinkhorn
from groundmetric.smoothed._batch import SinkhornBatch
from groundmetric.smoothed._problems import DenseProblems
from layers import torch
from strategies import histogram_pairs, metrics

SMOOTHINGS = [0.05, 0.5, 1.0, 3.0, 100.0]


def histograms(rng, n, d):
    """Histograms of mass 1, some with empty bins."""
    X = rng.gamma(0.7, size=(n, d))
    X[: n // 2] *= rng.random((n // 2, d)) < 0.5
    X[X.sum(axis=1) == 0, 0] = 1.0
    return X / X.sum(axis=1, keepdims=True)


def costs(rng, d, kind="euclidean"):
    points = rng.normal(size=(d, 3))
    return cdist(points, points, kind)


def example(seed=0, n=8, d=10, kind="euclidean"):
    rng = np.random.default_rng(seed)
    X, M = histograms(rng, n, d), costs(rng, d, kind)
    pairs = np.array([(0, 1), (2, 5), (5, 2), (3, 3), (6, 7), (0, 7)])
    return X, M, pairs, rng


def test_two_bins_by_hand():
    # A unit of mass in bin 0, and a half in each: the only plan is rc', at 3 / 2, so
    # that OT_eps(r, c) = 3/2 and OT_eps(r, r) = 0. For c with itself f = g is the same
    # in both bins, exp(-2 f / eps) = (1 + exp(-3 / eps)) / 2, and OT_eps(c, c) = 2 f.
    eps = 2.0 * 1.5
    own = -eps * math.log((1 + math.exp(-3 / eps)) / 2)
    found = sinkhorn_divergence(
        [[1, 0]], [[0.5, 0.5]], metric=[[0, 3], [3, 0]], smoothing=2.0
    )
    np.testing.assert_allclose(found, [[1.5 - own / 2]], rtol=1e-12)


@pytest.mark.parametrize("smoothing", [0.6, 1.0, 30.0])
def test_literal_twin(smoothing):
    rng = np.random.default_rng(1)
    X, M = histograms(rng, 4, 5), costs(rng, 5)
    found = sinkhorn_divergence(X, metric=M, smoothing=smoothing, tol=1e-11)
    eps = smoothing * M.mean()
    for i in range(4):
        for j in range(4):
            expected = reference.sinkhorn_divergence(X[i], X[j], M, eps)
            assert found[i, j] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("smoothing", [0.3, 1.0, 10.0])
def test_agrees_with_pot(smoothing):
    ot = pytest.importorskip("ot")
    X, M, pairs, _ = example()
    eps = smoothing * M.mean()

    def entropic(r, c):
        r, c = r + 1e-300, c + 1e-300  # POT divides by them
        plan = ot.sinkhorn(r, c, M, eps, stopThr=1e-11, numItermax=100_000)
        some = plan > 0
        ratio = np.log(plan[some] / np.outer(r, c)[some])
        return (plan * M).sum() + eps * (plan[some] * ratio).sum()

    found = SinkhornBatch(X, pairs, tol=1e-10).solve(M, smoothing).values
    for (i, j), value in zip(pairs, found, strict=True):
        r, c = X[i], X[j]
        expected = entropic(r, c) - entropic(r, r) / 2 - entropic(c, c) / 2
        assert value == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("kind", ["euclidean", "sqeuclidean", "cityblock"])
@pytest.mark.parametrize("smoothing", [*SMOOTHINGS, math.inf])
def test_gradient_by_finite_differences(kind, smoothing):
    X, M, pairs, rng = example(kind=kind)
    weights = rng.normal(size=len(pairs))
    batch = SinkhornBatch(3 * X, pairs, tol=1e-12, max_iter=100_000)
    direction = rng.normal(size=M.shape)
    direction += direction.T
    np.fill_diagonal(direction, 0.0)
    h = 1e-6 * M[M > 0].min()

    def slope(follow):
        ends = []
        for sign in (1, -1):
            moved = M + sign * h * direction
            rho = smoothing if follow else smoothing * M.mean() / moved.mean()
            ends.append(weights @ batch.solve(moved, rho).values)
        return (ends[0] - ends[1]) / (2 * h)

    solution = batch.solve(M, smoothing)
    scale = np.abs(direction).max() * 3
    G = solution.plan_sum(weights)
    assert (G * direction).sum() == pytest.approx(slope(follow=True), abs=1e-6 * scale)
    assert (G * M).sum() == pytest.approx(weights @ solution.values)  # homogeneous
    fixed = solution.plan_sum(weights, eps_fixed=True)
    assert (fixed * direction).sum() == pytest.approx(
        slope(follow=False), abs=1e-6 * scale
    )
    if math.isfinite(smoothing):
        assert np.ptp(G - fixed) < 1e-12
        assert abs((G - fixed)[0, 0]) > 1e-9


def test_tends_to_the_emd_without_smoothing():
    X, M, pairs, _ = example()
    exact = TransportBatch(X, pairs).solve(M)
    weights = np.arange(1.0, 1 + len(pairs))
    off = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    G = exact.plan_sum(np.where(pairs[:, 0] != pairs[:, 1], weights, 0.0))
    errors, slopes = [], []
    batch = SinkhornBatch(X, pairs[off], tol=1e-9, max_iter=200_000)
    for smoothing in (0.1, 0.03, 0.01, 0.003):
        solution = batch.solve(M, smoothing)
        errors.append(np.abs(solution.values - exact.values[off]).max())
        found = solution.plan_sum(weights[off])
        np.fill_diagonal(found, 0.0)  # mass that stays is free
        slopes.append(np.abs(found - G * (1 - np.eye(len(M)))).sum())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01 * exact.values.max()
    assert slopes == sorted(slopes, reverse=True)
    assert slopes[-1] < 0.03 * weights.sum()
    zero = sinkhorn_divergence(X, metric=M, smoothing=0)
    np.testing.assert_array_equal(zero, pairwise_emd(X, metric=M))


def test_tends_to_the_energy_distance():
    X, M, pairs, rng = example()
    weights = rng.normal(size=len(pairs))
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    expected = -np.einsum("kp,pq,kq->k", difference, M, difference) / 2
    batch = SinkhornBatch(X, pairs, tol=1e-12)
    limit = batch.solve(M, math.inf)
    np.testing.assert_allclose(limit.values, expected, atol=1e-15)
    assert limit.potentials is None
    assert limit.converged.all()
    for smoothing in (1e3, 1e5, 1e7, 1e9):
        near = batch.solve(M, smoothing)
        slack = 1 / smoothing + 1e-15 * smoothing * (smoothing < 3e7)
        np.testing.assert_allclose(near.values, expected, atol=slack * M.mean())
    G = batch.solve(M, 1e5).plan_sum(weights)
    np.testing.assert_allclose(G, limit.plan_sum(weights), atol=1e-5)


def test_cost_of_zeros():
    X, _, pairs, _ = example()
    zeros = np.zeros((10, 10))
    assert not sinkhorn_divergence(X, metric=zeros).any()
    assert not SinkhornBatch(X, pairs).solve(zeros).values.any()
    assert sinkhorn_divergence([[2.0]], metric=[[0.0]]) == [[0.0]]


@pytest.mark.parametrize("kind", ["euclidean", "sqeuclidean"])
@pytest.mark.parametrize("smoothing", [*SMOOTHINGS, math.inf])
def test_is_a_divergence(kind, smoothing):
    rng = np.random.default_rng(2)
    X, M = histograms(rng, 12, 9), costs(rng, 9, kind)
    S = sinkhorn_divergence(X, metric=M, smoothing=smoothing, tol=1e-8)
    rounding = 1e-13 * M.mean() * max(smoothing if smoothing < 3e7 else 0.0, 1.0)
    off = ~np.eye(12, dtype=bool)
    assert (S[off] > 0).all()
    assert not S[~off].any()
    np.testing.assert_array_equal(S, S.T)
    # Every pair on its own, in both orders, also of equal histograms.
    full = sinkhorn_divergence(X, X, metric=M, smoothing=smoothing, tol=1e-8)
    np.testing.assert_allclose(full, S, atol=1e-11 * M.mean() + rounding)
    scaled = sinkhorn_divergence(5 * X, metric=7 * M, smoothing=smoothing, tol=1e-8)
    np.testing.assert_allclose(scaled, 35 * S, rtol=1e-10, atol=35 * rounding)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), smoothing=st.sampled_from([0.3, 1.0, 10.0]))
def test_zeros_ties_and_duplicates(data, smoothing):
    r, c = data.draw(histogram_pairs(max_bins=6))
    M = data.draw(metrics(len(r)))  # city-block distances are of negative type
    value = sinkhorn_divergence(
        [r], [c], metric=M, smoothing=smoothing, tol=1e-5, max_iter=100_000
    )[0, 0]
    mass = r.sum()
    exact = pairwise_emd([r], [c], metric=M)[0, 0]
    assert -1e-8 * mass * M.max() <= value <= exact + 1e-8 * mass * M.max()


@pytest.mark.parametrize("kind", [kind for kind in problems.METRICS if kind != "zero"])
@pytest.mark.parametrize("histogram", problems.HISTOGRAMS)
def test_awkward_histograms_have_the_right_marginals(kind, histogram):
    rng = np.random.default_rng(3)
    X = np.array([problems.histogram(rng, histogram, 7) for _ in range(3)])
    M = problems.cost(rng, kind, 7)
    if M.max() == 0:
        pytest.skip("all points are one")
    batch = SinkhornBatch(X, [(0, 1)], tol=1e-8, max_iter=100_000)
    solution = batch.solve(M, 0.5)
    assert solution.converged.all()
    G = solution.plan_sum([1.0], eps_fixed=True)
    r, c = X[0], X[1]  # rows of P(r, c), P(r, r)/2 and P(c, c)/2; likewise columns
    np.testing.assert_allclose(G.sum(axis=1), (r - c) / 2, atol=3e-8 * r.sum())
    np.testing.assert_allclose(G.sum(axis=0), (c - r) / 2, atol=3e-8 * r.sum())


@pytest.mark.parametrize("smoothing", [0.1, 1.0, 20.0])
def test_logarithms_and_scalings_agree(smoothing, monkeypatch):
    X, M, pairs, rng = example()
    weights = rng.normal(size=len(pairs))
    batch = SinkhornBatch(X, pairs, tol=1e-9)
    plain = batch.solve(M, smoothing)
    assert type(plain._ground.k) is _scalings.Scalings
    monkeypatch.setitem(_scalings.LARGEST_EXPONENT, np.dtype(float), 0.0)
    logs = batch.solve(M, smoothing)
    assert type(logs._ground.k) is _scalings.Logarithms
    np.testing.assert_array_equal(logs.n_iter, plain.n_iter)
    np.testing.assert_allclose(logs.values, plain.values, atol=1e-12)
    np.testing.assert_allclose(
        logs.plan_sum(weights), plain.plan_sum(weights), atol=1e-12
    )


def test_tiny_smoothing_neither_overflows_nor_divides_by_zero():
    X, M, pairs, _ = example()
    solution = SinkhornBatch(X, pairs, tol=1e-2, max_iter=100_000).solve(M, 1e-4)
    assert solution.converged.all()
    exact = TransportBatch(X, pairs).solve(M).values
    np.testing.assert_allclose(solution.values, exact, atol=0.02 * M.max())


def test_too_few_iterations_are_told():
    X, M, pairs, _ = example()
    sentence = "6 pairs did not converge in max_iter=3 iterations: marginals are off"
    with pytest.warns(ConvergenceWarning, match=sentence) as caught:
        solution = SinkhornBatch(X, pairs, max_iter=3, tol=1e-7).solve(M, 0.3)
    assert caught[0].filename == __file__
    # Histograms with themselves are not done either, and count for their pairs.
    assert not solution.converged.any()
    assert (solution.marginal_error > 1e-7).all()
    assert (solution.n_iter == 3).all()
    with pytest.warns(ConvergenceWarning, match="pairs did not converge") as caught:
        sinkhorn_divergence(X, metric=M, smoothing=0.3, max_iter=3)
    assert caught[0].filename == __file__


def test_error_is_that_of_the_marginals():
    X, M, _, _ = example()
    for tol in (1e-2, 1e-4, 1e-6):
        solution = SinkhornBatch(X, [(0, 7)], tol=tol).solve(M, 0.3)
        G = solution.plan_sum([1.0], eps_fixed=True)
        columns = G.sum(axis=0) - (X[7] - X[0]) / 2
        assert np.abs(columns).sum() <= 2 * solution.marginal_error[0] <= 2 * tol


def test_potentials_save_iterations():
    X, M, pairs, rng = example()
    batch = SinkhornBatch(X, pairs, tol=1e-9)
    first = batch.solve(M, 0.2)
    again = batch.solve(M, 0.2, first.potentials)
    assert again.n_iter.sum() == 2 * len(pairs)
    np.testing.assert_allclose(again.values, first.values, atol=1e-12)
    # In units of the mean cost: a multiple is the same problem.
    assert batch.solve(9 * M, 0.2, first.potentials).n_iter.sum() == 2 * len(pairs)
    noise = 1e-4 * rng.random(M.shape) * (1 - np.eye(len(M)))
    nearby = M * (1 + noise + noise.T)
    warm, cold = batch.solve(nearby, 0.2, first.potentials), batch.solve(nearby, 0.2)
    assert warm.n_iter.sum() < 0.8 * cold.n_iter.sum()
    np.testing.assert_allclose(warm.values, cold.values, atol=1e-10)


def test_all_pairs_share_the_products(monkeypatch):
    X, M, pairs, _ = example()
    calls = []
    product = _scalings.Scalings.product

    def counted(self, v, out):
        calls.append(len(v))
        product(self, v, out)

    monkeypatch.setattr(_scalings.Scalings, "product", counted)
    solution = SinkhornBatch(X, pairs).solve(M)
    own = len(calls) - 2 * solution.n_iter.max() - 1  # and one for the values
    assert 0 < own <= 60
    n_alone = len(calls)
    calls.clear()
    SinkhornBatch(X, np.repeat(pairs, 50, axis=0)).solve(M)
    assert len(calls) == n_alone


def test_chunks_and_threads_do_not_change_results(monkeypatch):
    X, M, _, rng = example(n=30)
    pairs = rng.integers(0, 30, (200, 2))
    weights = rng.normal(size=200)
    whole = SinkhornBatch(X, pairs).solve(M, 0.5)
    monkeypatch.setattr(_arrays, "PROCESSOR_CHUNK", 7 * 12 * 10 * 8)
    one = SinkhornBatch(X, pairs).solve(M, 0.5)
    two = SinkhornBatch(X, pairs, n_jobs=2).solve(M, 0.5)
    np.testing.assert_array_equal(one.n_iter, whole.n_iter)
    np.testing.assert_allclose(one.values, whole.values, atol=1e-14)
    np.testing.assert_allclose(
        one.plan_sum(weights), whole.plan_sum(weights), atol=1e-13
    )
    np.testing.assert_array_equal(two.values, one.values)
    np.testing.assert_array_equal(two.plan_sum(weights), one.plan_sum(weights))
    for smoothing in (0.5, math.inf):
        expected = sinkhorn_divergence(X, metric=M, smoothing=smoothing)
        monkeypatch.setattr("groundmetric.smoothed._divergence.BLOCK", 70)
        found = sinkhorn_divergence(X, metric=M, smoothing=smoothing, n_jobs=2)
        np.testing.assert_allclose(found, expected, atol=1e-14)
        monkeypatch.undo()


def test_float32_is_as_good_as_documented():
    X, M, pairs, rng = example(n=8, d=40)
    weights = rng.normal(size=len(pairs))
    for smoothing in (0.1, 0.3, 1.0, 30.0, 999.0, 2000.0, math.inf):
        double = SinkhornBatch(X, pairs, tol=1e-9).solve(M, smoothing)
        single = SinkhornBatch(X, pairs, dtype="float32").solve(M, smoothing)
        assert single.values.dtype == np.float64
        slack = (1e-5 if smoothing <= 30 else 2e-4) * M.mean()
        np.testing.assert_allclose(single.values, double.values, atol=slack)
        np.testing.assert_allclose(
            single.plan_sum(weights), double.plan_sum(weights), atol=1e-4
        )


def test_lists_counts_and_sparse_rows():
    counts = [[3, 1, 0], [0, 2, 2], [4, 0, 0]]
    metric = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    expected = sinkhorn_divergence(np.array(counts, float), metric=np.array(metric))
    for given_ in (counts, np.float32(counts), csr_matrix(counts)):
        found = sinkhorn_divergence(given_, given_, metric=metric)
        np.testing.assert_allclose(found, expected, atol=1e-10)
    assert expected.shape == (3, 3)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"X": [[1, -1, 1]]}, r"X\[0, 1\] is -1.0: histograms must not have negative"),
        ({"X": [[1, 1, 2]]}, r"Y\[0\] has mass 1.0, but X\[0\] has mass 4.0"),
        ({"Y": [[1, 0]]}, "X has 3 bins, but Y has 2"),
        ({"metric": np.eye(3)}, r"metric\[0, 0\] is 1.0: the diagonal must be zero"),
        ({"metric": np.zeros((2, 2))}, r"metric has shape \(2, 2\), but"),
        ({"metric": np.triu(np.ones((3, 3)), 1)}, "the matrix must be symmetric"),
        ({"metric": np.eye(3) - 1}, r"metric\[0, 1\] is -1.0: entries must not be neg"),
        ({"metric": np.full((3, 3), np.nan)}, r"metric\[0, 0\] is nan"),
        ({"smoothing": -1}, "smoothing is -1; a number from 0 to inf is needed"),
        ({"smoothing": math.nan}, "smoothing is nan; a number from 0 to inf is needed"),
        ({"smoothing": "1"}, "smoothing is '1'; a number from 0 to inf is needed"),
        ({"tol": 0}, "tol is 0; a number at least 1e-13 is needed"),
        ({"tol": 1e-8, "dtype": "float32"}, "tol is 1e-08; a number at least 1e-05 is"),
        ({"max_iter": 0}, "max_iter is 0; it must be at least 1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"dtype": "int8"}, "dtype is 'int8'; 'float64' or 'float32' is needed"),
        ({"dtype": "number"}, "dtype is 'number'; 'float64' or 'float32' is needed"),
        ({"dtype": None}, "dtype is None; 'float64' or 'float32' is needed"),
        ({"device": "gpu"}, "device is 'gpu'; 'cpu', 'cuda' or 'mps' is needed"),
    ],
)
def test_bad_input(changed, sentence):
    good = {
        "X": [[1, 0, 0]],
        "Y": [[0, 1, 0]],
        "metric": 1 - np.eye(3),
    }
    arguments = good | changed
    X, Y = arguments.pop("X"), arguments.pop("Y")
    with pytest.raises(ValueError, match=sentence):
        sinkhorn_divergence(X, Y, **arguments)


def test_bad_input_to_a_batch():
    X, M, pairs, _ = example()
    batch = SinkhornBatch(X, pairs)
    with pytest.raises(ValueError, match="smoothing is 0; use TransportBatch"):
        batch.solve(M, 0.0)
    with pytest.raises(ValueError, match=r"pairs\[0, 1\] is 8, but it must be"):
        SinkhornBatch(X, [(0, 8)])
    potentials = SinkhornBatch(X, pairs[:2]).solve(M).potentials
    sentence = r"potentials.pairs has shape \(2, 10\), but \(6, 10\) is needed"
    with pytest.raises(ValueError, match=sentence):
        batch.solve(M, 1.0, potentials)
    with pytest.raises(ValueError, match="weights has 2 entries for 6 pairs"):
        batch.solve(M).plan_sum([1.0, 2.0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("smoothing", [1.0, math.inf])
def test_huge_and_tiny_costs(smoothing, dtype):
    X, M, pairs, _ = example()
    batch = SinkhornBatch(X, pairs, dtype=dtype)
    expected = batch.solve(M, smoothing).values
    for factor in (2.0**900, 2.0**-900):
        found = batch.solve(factor * M, smoothing).values
        np.testing.assert_allclose(found / factor, expected, rtol=1e-6, atol=1e-12)
    weights = np.ones(len(pairs))
    largest = 1e308 * (1 - np.eye(10))
    G = batch.solve(largest, smoothing).plan_sum(weights)
    np.testing.assert_allclose(
        G, batch.solve(1 - np.eye(10), smoothing).plan_sum(weights), atol=1e-6
    )
    with pytest.raises(ValueError, match="exceed the range of double precision"):
        SinkhornBatch(10 * X, pairs, dtype=dtype).solve(largest, smoothing)


def test_no_pairs():
    X, M, _, _ = example()
    solution = SinkhornBatch(X, []).solve(M)
    assert solution.values.shape == (0,)
    assert not solution.plan_sum([]).any()


def test_missing_torch_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for device in ("cpu", "cuda", "cuda:1", "mps"):
        with pytest.raises(
            ValueError, match=f"device '{device}' needs PyTorch, which is not"
        ):
            sinkhorn_divergence([[1.0]], metric=[[0.0]], device=device)


def test_broken_torch_is_a_sentence(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text(
        "raise ImportError('libcudart.so.12 is missing', name='torch')"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(
        ValueError, match=r"PyTorch, which is installed but .*libcudart"
    ):
        sinkhorn_divergence([[1.0]], metric=[[0.0]], device="cuda")


def test_missing_gpu_is_a_sentence():
    if torch().cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=r"device is 'cuda', but PyTorch .* finds no"):
        sinkhorn_divergence([[1.0]], metric=[[0.0]], device="cuda")


def test_full_gpu_is_a_sentence(monkeypatch):
    class OutOfMemoryError(RuntimeError):
        """What PyTorch raises."""

    def fail(*_, **__):
        raise OutOfMemoryError

    X, M, pairs, _ = example()
    batch = SinkhornBatch(X, pairs)
    monkeypatch.setattr(DenseProblems, "solve_own", fail)
    with pytest.raises(MemoryError, match=r"too small for 6 pairs .* 10 bins"):
        batch.solve(M)
    with pytest.raises(MemoryError, match="too small for"):
        sinkhorn_divergence(X, metric=M)


@pytest.mark.parametrize("smoothing", [0.01, 0.3, 1.0, math.inf])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_agrees_with_numpy(smoothing, dtype):
    torch()
    X, M, pairs, rng = example(n=12, d=20)
    weights = rng.normal(size=len(pairs))
    tol = 1e-4 if dtype == "float32" else 1e-8
    slack = 1e-4 if dtype == "float32" else 1e-11
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, theirs = (
            SinkhornBatch(X, pairs, tol=tol, device=device, dtype=dtype).solve(
                M, smoothing
            )
            for device in (None, "cpu")
        )
        np.testing.assert_allclose(theirs.values, ours.values, atol=slack)
        np.testing.assert_allclose(
            theirs.plan_sum(weights), ours.plan_sum(weights), atol=slack
        )
    if dtype == "float64":
        np.testing.assert_array_equal(theirs.n_iter, ours.n_iter)


def test_work_is_done_where_the_histograms_lie():
    tensor = torch().from_numpy
    X, M, pairs, _ = example()
    expected = SinkhornBatch(X, pairs).solve(M)
    found = SinkhornBatch(tensor(X), pairs).solve(M)
    assert type(found.potentials.pairs) is type(tensor(X))
    assert type(found.values) is np.ndarray
    np.testing.assert_allclose(found.values, expected.values, atol=1e-12)
    for smoothing in (0, 1.0):
        np.testing.assert_allclose(
            sinkhorn_divergence(
                tensor(X), tensor(X[:3]), metric=M, smoothing=smoothing
            ),
            sinkhorn_divergence(X, X[:3], metric=M, smoothing=smoothing),
            atol=1e-12,
        )


def test_bursts_end_at_the_limit():
    for limit in (1, 2, 7, 24, 100):
        done, each = zip(*_sinkhorn.bursts(limit), strict=True)
        assert done[-1] == sum(each) == limit
        assert max(each) <= _sinkhorn.CHECK_EVERY
