"""More bins, more pairs, more machines.

gensim and Dask are optional here: without them, their rows are left out.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import ot
from measure import Row, microseconds, seconds, side_by_side
from scipy.sparse import csr_array, vstack
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

import groundmetric as gm

N_BINS = 20_000
N_WORDS = 80
N_COORDINATES = 300


def zipf() -> np.ndarray:
    """Frequencies of words, the most frequent first."""
    return 1 / (np.arange(N_BINS) + 2.7)


def bags(rng: np.random.Generator, n: int, frequency: np.ndarray | None) -> csr_array:
    """Make bags of 80 words: with these frequencies, or all different."""
    share = None if frequency is None else frequency / frequency.sum()
    again = frequency is not None
    words = [rng.choice(N_BINS, N_WORDS, replace=again, p=share) for _ in range(n)]
    where = np.repeat(np.arange(n), N_WORDS), np.concatenate(words)
    values = np.full(n * N_WORDS, 1 / N_WORDS)
    bag = csr_array((values, where), shape=(n, N_BINS))
    bag.sum_duplicates()
    return bag


def word_vectors(rng: np.random.Generator, s: int = N_COORDINATES) -> np.ndarray:
    vectors = rng.normal(size=(N_BINS, s))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def support(bag: csr_array, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Bins and masses of a row."""
    part = slice(bag.indptr[i], bag.indptr[i + 1])
    return bag.indices[part], bag.data[part]


def supports_row(s: int) -> Row:
    """POT, given the supports of a pair cut out by hand, with its own distances."""
    rng = np.random.default_rng(0)
    X, Y = (bags(rng, 100, None) for _ in range(2))
    points = word_vectors(rng, s)
    found: list[np.ndarray] = []

    def ours() -> float:
        return seconds(lambda: found.append(gm.pairwise_emd(X, Y, points=points))) / 1e4

    def peer() -> float:
        expected = np.empty((15, 15))

        def task() -> None:
            for i, j in np.ndindex(*expected.shape):
                (p, r), (q, c) = support(X, i), support(Y, j)
                cost = ot.dist(points[p], points[q], "euclidean")
                expected[i, j] = ot.emd2(r, c, cost, check_marginals=False)

        duration = seconds(task) / expected.size
        np.testing.assert_allclose(found[-1][:15, :15], expected, rtol=1e-6)
        return duration

    mine, theirs, ratio = side_by_side(ours, peer)
    return Row(
        f"20,000 bins, 80 non-zeros, {s} coordinates, 10,000 pairs",
        microseconds(mine), microseconds(theirs) + " (POT on the supports)", ratio, 3,
    )  # fmt: skip


def gensim_row() -> Row:
    """Word mover's distances of the same documents, word by word."""
    from gensim.models import KeyedVectors

    rng = np.random.default_rng(1)
    X, vectors = bags(rng, 1000, zipf()), word_vectors(rng)
    words = [str(k) for k in range(N_BINS)]
    model = KeyedVectors(N_COORDINATES, dtype=np.float64)
    model.add_vectors(words, vectors)
    counts = (N_WORDS * X.data).round().astype(int)
    texts = [
        np.repeat(support(X, i)[0], counts[X.indptr[i] : X.indptr[i + 1]]).astype(str)
        for i in range(20)
    ]
    texts = [text.tolist() for text in texts]
    found: list[np.ndarray] = []

    def ours() -> float:
        sets = X[:10], X
        task = lambda: found.append(gm.pairwise_emd(*sets, points=vectors))  # noqa: E731
        return seconds(task) / (10 * 1000)

    def peer() -> float:
        expected = np.empty((10, 20))

        def task() -> None:
            for i, j in np.ndindex(*expected.shape):
                expected[i, j] = model.wmdistance(texts[i], texts[j], norm=False)

        duration = seconds(task) / expected.size
        np.testing.assert_allclose(found[-1][:10, :20], expected, atol=1e-6)
        return duration

    mine, theirs, ratio = side_by_side(ours, peer)
    return Row(
        "word mover's distance to 1,000 documents, 300 coordinates",
        microseconds(mine), microseconds(theirs) + " (gensim)", ratio, 20,
        f"{np.diff(X.indptr).mean():.0f} different words a document",
    )  # fmt: skip


def search_row() -> Row:
    """Find the 5 nearest of 2,000 documents on 20 topics, and all distances."""
    rng = np.random.default_rng(2)
    topic = rng.integers(0, 20, N_BINS)
    vectors = word_vectors(rng, 50) + rng.normal(size=(20, 50))[topic] / 4
    texts = [
        bags(rng, 101, zipf() * np.where(topic == k, 1.0, 0.02)) for k in range(20)
    ]
    base = vstack([text[1:] for text in texts], format="csr")
    queries = vstack([text[:1] for text in texts[:5]], format="csr")
    search = gm.EMDNeighbors(points=vectors).fit(base)
    found: list[np.ndarray] = []

    def ours() -> float:
        return seconds(lambda: found.append(search.kneighbors(queries)[0])) / 5

    def peer() -> float:
        return (
            seconds(
                lambda: found.append(
                    np.sort(gm.pairwise_emd(queries, base, points=vectors))[:, :5]
                )
            )
            / 5
        )

    mine, theirs, ratio = side_by_side(ours, peer, rounds=3)
    same = all(np.array_equal(found[0], other) for other in found)
    return Row(
        "5 nearest of 2,000 documents on 20 topics", f"{mine * 1e3:,.1f} ms a query",
        f"{theirs * 1e3:,.0f} ms (all pairs)", ratio, 5,
        f"{'the same' if same else '**not the same**'}; simplex on "
        f"{search.n_solves_ / 1e4:.0%} of the pairs",
    )  # fmt: skip


def dense(n: int, d: int = 128) -> tuple[np.ndarray, np.ndarray]:
    """Make histograms and coordinates of their bins."""
    rng = np.random.default_rng(3)
    X = rng.gamma(1.0, size=(n, d))
    return X / X.sum(axis=1, keepdims=True), rng.normal(size=(d, 8))


def file_row(folder: str) -> Row:
    """Write 10^5 distances into a file, block by block."""
    X, points = dense(450)
    metric = cdist(points, points)

    def into(out: str | None) -> float:
        return seconds(lambda: gm.pairwise_emd(X, metric=metric, out=out))

    mine, theirs, ratio = side_by_side(
        lambda: into(f"{folder}/out.npy"), lambda: into(None), rounds=3
    )
    return Row(
        "10^5 pairs into a file that survives a kill", f"{mine:.2f} s",
        f"{theirs:.2f} s (in memory)", ratio, 0.9,
    )  # fmt: skip


def cluster_row() -> Row:
    """Solve 10^5 pairs on two workers of one thread, and on two threads."""
    from distributed import Client, LocalCluster

    X, points = dense(640)
    metric = cdist(points, points)
    sets = X[:160], X
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:

        def there() -> float:
            return seconds(lambda: gm.pairwise_emd(*sets, metric=metric, client=client))

        def here() -> float:
            return seconds(lambda: gm.pairwise_emd(*sets, metric=metric, n_jobs=2))

        mine, theirs, ratio = side_by_side(there, here, rounds=3)
    return Row(
        "10^5 pairs on a Dask cluster of two workers", f"{mine:.2f} s",
        f"{theirs:.2f} s (two threads)", ratio, 0.83,
    )  # fmt: skip


def memory_line() -> str:
    """Peak memory of a process of its own."""
    code = "import beyond; beyond.print_peak()"
    run = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    line = (
        f"The 10,000 pairs on 20,000 bins need {float(run.stdout):,.0f} MB at most, "
        f"packages and 300 coordinates of each bin included; a matrix of all costs "
        f"alone would need {8 * N_BINS**2 / 1e6:,.0f} MB."
    )
    for package in ("gensim", "distributed"):
        if not find_spec(package):
            line += f"\n\n{package} is not installed, so its row is missing."
    return line


def print_peak() -> None:
    """Solve 10,000 pairs, and print the peak in MB."""
    rng = np.random.default_rng(0)
    X, Y = (bags(rng, 100, None) for _ in range(2))
    gm.pairwise_emd(X, Y, points=word_vectors(rng))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)


def time_a_pair(kind: str) -> float:
    """Seconds of one thread, on a few hundred pairs or more."""
    if kind == "sparse":
        rng = np.random.default_rng(0)
        X, Y = (bags(rng, 60, None) for _ in range(2))
        given = {"points": word_vectors(rng)}
    else:
        X, points = dense(120 if kind == "128" else 24, int(kind))
        Y, given = X, {"metric": cdist(points, points)}
    start = time.process_time()
    gm.pairwise_emd(X, Y, **given)
    return (time.process_time() - start) / (X.shape[0] * Y.shape[0])


def in_words(duration: float) -> str:
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if duration >= 2 * size:
            return f"{duration / size:.0f} {unit}"
    return f"{duration:.0f} s" if duration >= 2 else f"{duration:.1f} s"  # noqa: PLR2004


def size_table() -> str:
    """Make the table of feasible sizes from the measured time of a pair."""
    lines = [
        "| | time a pair | 10^4 pairs | 10^6 | 10^7 | 10^9 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for kind, what in (
        ("128", "128 bins"),
        ("1000", "1,000 bins"),
        ("sparse", "20,000 bins, 80 non-zeros, 300 coordinates"),
    ):
        each = time_a_pair(kind)
        times = (in_words(each * 10**k) for k in (4, 6, 7, 9))
        lines.append(f"| {what} | {each * 1e6:,.0f} us | {' | '.join(times)} |")
    sizes = "0.1 MB | 8 MB | 80 MB | 8 GB"
    lines.append(f"| distances in float64 | | {sizes} |")
    return "\n".join(lines)


def synonyms(
    rng: np.random.Generator, profiles: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Make noisy histograms: classes differ in groups of four bins, not within them."""
    y = rng.integers(0, len(profiles), n)
    groups = rng.gamma(profiles[y])
    bins = groups[:, :, None] * rng.dirichlet(np.full(4, 0.3), groups.shape)
    X = bins.reshape(n, -1)
    noise = rng.dirichlet(np.full(X.shape[1], 0.1), n)
    return X / X.sum(axis=1, keepdims=True) + noise, y


def one_pass(n: int = 20_000, size: int = 2000) -> Iterator[str]:
    """Compare one pass of batches over all histograms with a fit on some of them."""
    rng = np.random.default_rng(4)
    profiles = rng.gamma(0.5, size=(10, 32))
    X, y = synonyms(rng, profiles, n)
    queries, truth = synonyms(rng, profiles, 2000)
    learners = {
        f"fit on {size:,}": gm.GroundMetricLearning(max_samples=size, random_state=0),
        f"one pass in batches of {size // 2:,}": gm.GroundMetricLearning(
            batch_size=size // 2, max_steps=2 * n // size, random_state=0
        ),
    }  # fmt: skip
    start = gm.GroundMetricLearning(step_size=0.0, max_samples=size, max_steps=1)
    yield f"| {n:,} histograms of 128 bins | processor time | error of 5-NN |"
    yield "|---|---:|---:|"
    for name, learner in {**learners, "uniform metric": start}.items():
        begin = time.process_time()
        learner.set_params(n_jobs=2).fit(X, y)
        duration = time.process_time() - begin
        search = gm.EMDNeighbors(learner, n_jobs=2).fit(X[:size])
        near = y[search.kneighbors(queries, return_distance=False)]
        found = [np.bincount(labels).argmax() for labels in near]
        error = np.mean(np.array(found) != truth)
        spent = "" if learner is start else in_words(duration)
        yield f"| {name} | {spent} | {error:.1%} |"


def rows() -> Iterator[Row]:
    """All rows."""
    with threadpool_limits(1):  # peers' products: one thread, as ours
        for s in (50, N_COORDINATES):
            yield supports_row(s)
        if find_spec("gensim"):
            yield gensim_row()
        yield search_row()
        with tempfile.TemporaryDirectory() as folder:
            yield file_row(folder)
        if find_spec("distributed"):
            yield cluster_row()


if __name__ == "__main__":  # minutes, so not among the rows
    for line in one_pass(*map(int, sys.argv[1:])):
        print(line, flush=True)
