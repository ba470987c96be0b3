"""Sinkhorn divergences on a device, in absolute times: ``python benchmarks/gpu.py``.

Needs the package with its extra ``gpu``. ``--device cpu --shrink 100`` tries it out.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from scipy.spatial.distance import cdist

from groundmetric import Margin, SinkhornMetricLearning
from groundmetric.base._arrays import find_arrays
from groundmetric.smoothed._batch import SinkhornBatch
from groundmetric.smoothed._scalings import Scalings
from groundmetric.smoothed._sinkhorn import alternate

# Pairs, bins, and the bar in seconds for one iteration.
ITERATIONS = ((100_000, 128, 0.4e-3), (20_000, 1024, 2e-3))
MOST_TIMES_BARE = 1.3
SUBGRADIENT = (2_000_000, 128, 2.0)
# Histograms, bins, and the bar in seconds for a fit of 40 steps, if there is one.
FITS = ((300, 128, None), (1500, 128, None), (1000, 1024, 60.0))
# Pairs at a time that may suit the device's cache better than all at once.
CHUNKS = (4_000, 8_000, 16_000, 32_000)


def device_name(device: str) -> str:
    """Name the device that the figures were measured on."""
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    return platform.processor() or platform.machine()


def wait(device: str) -> None:
    """Wait until the device has finished."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    elif device == "mps":
        torch.mps.synchronize()


def seconds(
    task: Callable[[], object], device: str, repeats: int, rounds: int
) -> float:
    """Median time of a call, over rounds of several calls each, after one more."""
    task()
    times = []
    for _ in range(rounds):
        wait(device)
        start = time.perf_counter()
        for _ in range(repeats):
            task()
        wait(device)
        times.append((time.perf_counter() - start) / repeats)
    return statistics.median(times)


def problem(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Histograms, and squared distances between random points."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(n, d))
    points = rng.normal(size=(d, 8))
    return X / X.sum(axis=1, keepdims=True), cdist(points, points, "sqeuclidean")


def iteration(n_pairs: int, d: int, bar: float, device: str, dtype: str) -> None:
    """Time one iteration beside its two products alone."""
    X, M = problem(2000, d)
    arrays = find_arrays(X, device, np.dtype(dtype))
    k = Scalings(M / M.mean(), 1.0, arrays)
    rows = arrays.put(X)
    i, j = torch.randint(len(X), (2, n_pairs), device=device)
    r, c = rows[i], rows[j]
    w, u, v = torch.ones_like(r), torch.empty_like(r), torch.empty_like(r)

    def products() -> None:
        torch.matmul(r, k.K, out=u)
        torch.matmul(c, k.K, out=v)

    def chunked(size: int) -> None:
        for start in range(0, n_pairs, size):
            part = slice(start, start + size)
            for _ in range(10):  # as between two looks at the marginals
                alternate(k, r[part], c[part], w[part], u=u[part], v=v[part])

    whole = seconds(lambda: alternate(k, r, c, w, u=u, v=v), device, 20, 5)
    bare = seconds(products, device, 20, 5)
    print(
        f"iteration, {n_pairs:,} pairs, d = {d}, {dtype}: {whole * 1e3:.3f} ms "
        f"(bar {bar * 1e3:g}); products alone {bare * 1e3:.3f} ms, ratio "
        f"{whole / bare:.2f} (bar {MOST_TIMES_BARE})"
    )
    for size in CHUNKS:
        if size < n_pairs:
            cut = seconds(lambda size=size: chunked(size), device, 2, 3) / 10
            print(f"  ... {size:,} pairs at a time: {cut * 1e3:.3f} ms")


def subgradient(n_pairs: int, d: int, bar: float, device: str, dtype: str) -> None:
    """Time a step of a descent: the metric has changed by a percent."""
    X, M = problem(4000, d)
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, len(X), (n_pairs, 2))
    batch = SinkhornBatch(X, pairs, tol=1e-3, device=device, dtype=dtype)
    weights = rng.normal(size=n_pairs)
    noise = 0.01 * rng.uniform(-1, 1, M.shape)
    nearby = M * (1 + (noise + noise.T) / 2)
    state = batch.solve(M).potentials
    found = []

    def step() -> None:
        found[:] = [batch.solve(nearby, 1.0, state)]
        found[0].plan_sum(weights)

    took = seconds(step, device, 1, 3)
    print(
        f"subgradient, {n_pairs:,} pairs, d = {d}, {dtype}, warm: {took:.2f} s (bar "
        f"{bar:g}), {found[0].n_iter.mean():.1f} iterations a pair, marginal error "
        f"{found[0].marginal_error.max():.1e}"
    )


def fit(n: int, d: int, bar: float | None, device: str, dtype: str) -> None:
    """Time a fit after a short one, on labels that mean nothing: it takes all steps."""
    X, y = problem(n, d)[0], np.arange(n) % 10
    options = {"device": device, "dtype": dtype}
    SinkhornMetricLearning(max_steps=1, **options).fit(X, y)
    learner = SinkhornMetricLearning(criterion=Margin(floor=0.0), **options)
    start = time.perf_counter()
    learner.fit(X, y)
    took = time.perf_counter() - start
    print(
        f"fit, {n:,} histograms, d = {d}, {dtype}: {took:.2f} s for "
        f"{learner.n_iter_} steps (bar {bar}), criterion "
        f"{learner.path_[0].criterion:.2e} to {learner.path_[-1].criterion:.2e}"
    )


def main() -> None:
    """Measure on one device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda", help="cuda, mps or cpu")
    parser.add_argument("--dtype", default="float64", help="or float32")
    parser.add_argument("--shrink", type=int, default=1, help="divide numbers of pairs")
    options = parser.parse_args()
    try:
        find_arrays(None, options.device, np.dtype(options.dtype))
    except ValueError as error:
        raise SystemExit(str(error)) from error
    print(f"{device_name(options.device)}, PyTorch {torch.__version__}")
    for n_pairs, d, bar in ITERATIONS:
        n = n_pairs // options.shrink
        iteration(n, d, bar, options.device, options.dtype)
    n_pairs, d, bar = SUBGRADIENT
    subgradient(n_pairs // options.shrink, d, bar, options.device, options.dtype)
    for n, d, bar in FITS:
        fit(max(20, n // options.shrink), d, bar, options.device, options.dtype)


if __name__ == "__main__":
    main()
