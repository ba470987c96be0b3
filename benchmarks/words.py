"""Neighbors of documents, learned from words and their vectors, beside the WMD.

Our neighbors are those of mean positions of weighted words, learned by a softmax with a
pull to the vectors. The peer is the word mover's distance (Kusner et al.), the EMD
between words at their vectors, without learning. Its neighbors are found twice: by POT,
which solves all pairs of a few documents (gensim's WMD calls it for each pair), and by
EMDNeighbors, which bounds most pairs. Their distances are compared; the error is
that of the latter, and the time of POT for all documents is estimated. Settings were
chosen on the training documents of Reuters R8.

A file has counts in CSR rows (``data``, ``indices``, ``indptr``, ``shape``), labels
``y``, ``vectors`` of the words, and ``train``: which rows to learn from. If none is
marked, 70 % are drawn.
"""

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import ot
from measure import Row
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from groundmetric import EMDNeighbors, SinkhornMetricLearning, Softmax
from groundmetric.base._votes import vote_errors

N_NEIGHBORS = 5
N_POT = 3  # documents whose neighbors POT finds, too
N_WMD = {"made": 100}  # documents whose neighbors by WMD are found; otherwise all
N_SPLITS = 3
# Of the synthetic set: as many as in a collection of medical abstracts.
MADE = {"n": 4800, "d": 22_000, "n_classes": 23, "n_words": 65, "n_components": 100}
LIMITS = {"seconds": 120, "megabytes": 1500}
# A single, negligible step, to measure the distances before learning.
STILL = {"max_steps": 1, "criterion": Softmax(step_size=1e-12)}


class Documents(NamedTuple):
    """Counts of words, labels, and vectors of the words."""

    counts: csr_array
    y: np.ndarray
    vectors: np.ndarray
    train: np.ndarray


def made(seed: int, n: int = MADE["n"]) -> Documents:
    """Documents of classes that prefer some words, and vectors that reflect this."""
    rng = np.random.default_rng(seed)
    d, n_words = MADE["d"], MADE["n_words"]
    y = rng.integers(0, MADE["n_classes"], size=n)
    chance = 1 / np.arange(10, d + 10)
    topics = rng.integers(0, 4 * MADE["n_classes"], size=d)  # one in four has a class
    centers = rng.normal(size=(4 * MADE["n_classes"], MADE["n_components"]))
    vectors = centers[topics] + 2 * rng.normal(size=(d, MADE["n_components"]))
    bins = np.empty((n, n_words), np.int32)
    for i, label in enumerate(y):
        p = np.where(topics == label, 5 * chance, chance)
        bins[i] = rng.choice(d, n_words, replace=False, p=p / p.sum())
    starts = np.arange(0, n * n_words + 1, n_words, dtype=np.int32)
    counts = csr_array((np.ones(n * n_words), bins.ravel(), starts), shape=(n, d))
    return Documents(counts, y, vectors, np.zeros(n, bool))


def read(path: Path) -> Documents:
    """Read a file."""
    with np.load(path, allow_pickle=False) as file:
        parts = file["data"].astype(float), file["indices"], file["indptr"]
        counts = csr_array(parts, shape=tuple(file["shape"]))
        y = np.unique(file["y"], return_inverse=True)[1]
        return Documents(counts, y, file["vectors"].astype(float), file["train"])


def split(documents: Documents, seed: int) -> np.ndarray:
    """Return which rows to learn from."""
    if documents.train.any():
        return documents.train
    n = len(documents.y)
    train = np.zeros(n, bool)
    train[np.random.default_rng(seed).permutation(n)[: round(0.7 * n)]] = True
    return train


def measure(name: str, seed: int) -> dict:
    """Fit and search, in a process of its own; seconds are those of the processor."""
    documents = made(seed) if name == "made" else read(Path(name))
    train = split(documents, seed)
    masses = np.asarray(documents.counts.sum(axis=1)).ravel()
    X = csr_array(documents.counts.multiply(1 / masses[:, None]))
    y, y_test = documents.y[train], documents.y[~train]
    rows, queries = X[train], X[~train]
    before = peak()
    start = time.process_time()
    learner = learner_of(documents.vectors, seed).fit(rows, y)
    nearest = neighbors(learner, rows, queries)
    seconds = time.process_time() - start
    megabytes = peak()
    first = learner_of(documents.vectors, seed, STILL).fit(rows, y)
    known = neighbors(first, rows, queries)
    return {
        "n": len(y),
        "n_test": len(y_test),
        "d": rows.shape[1],
        "seconds": seconds,
        "megabytes": megabytes,
        "before": before,
        "error": vote_errors(nearest, y, y_test)[-1],
        "start": vote_errors(known, y, y_test)[-1],
        "svm": svm_error(documents.counts, documents.y, train),
        **wmd(rows, queries, documents.vectors, (y, y_test), N_WMD.get(name)),
    }


def learner_of(
    vectors: np.ndarray, seed: int, changes: Mapping[str, object] = MappingProxyType({})
) -> SinkhornMetricLearning:
    """Make the learner that is measured."""
    settings = {
        "smoothing": math.inf,
        "points": vectors,
        "criterion": "softmax",
        "bin_weights": "idf",
        "power": 1.0,
        "max_steps": 400,
        "batch_size": 1024,
        "random_state": seed,
    }
    return SinkhornMetricLearning(**{**settings, **changes})


def neighbors(
    learner: SinkhornMetricLearning, rows: csr_array, queries: csr_array
) -> np.ndarray:
    """Find the nearest documents."""
    search = EMDNeighbors(learner, n_neighbors=N_NEIGHBORS).fit(rows)
    return search.kneighbors(queries, return_distance=False)


def peak() -> float:
    """Peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def svm_error(counts: csr_array, y: np.ndarray, train: np.ndarray) -> float:
    """Error of a linear support vector machine on tf-idf."""
    tfidf = TfidfTransformer(sublinear_tf=True).fit(counts[train])
    svm = LinearSVC().fit(tfidf.transform(counts[train]), y[train])
    return float((svm.predict(tfidf.transform(counts[~train])) != y[~train]).mean())


def wmd(
    rows: csr_array,
    queries: csr_array,
    vectors: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
    n_queries: int | None,
) -> dict:
    """Find neighbors by the word mover's distance, without learning.

    Seconds are those of a query; POT's are measured on a few of them.
    """
    order = np.random.default_rng(0).permutation(queries.shape[0])[:n_queries]
    some = queries[order]
    start = time.process_time()
    search = EMDNeighbors(points=vectors, n_neighbors=N_NEIGHBORS, n_jobs=1).fit(rows)
    distances, nearest = search.kneighbors(some)
    ours = (time.process_time() - start) / len(order)
    start = time.process_time()
    found = [pot_distances(rows, some[[i]], vectors) for i in range(N_POT)]
    theirs = (time.process_time() - start) / N_POT
    their_nearest = np.sort(found, axis=1)[:, :N_NEIGHBORS]
    np.testing.assert_allclose(distances[:N_POT], their_nearest, rtol=1e-6, atol=1e-9)
    y, y_test = labels
    return {
        "wmd": vote_errors(nearest, y, y_test[order])[-1],
        "n_wmd": len(order),
        "wmd_query": ours,
        "wmd_solves": search.n_solves_ / (len(order) * rows.shape[0]),
        "pot_query": theirs,
    }


def pot_distances(rows: csr_array, query: csr_array, vectors: np.ndarray) -> list:
    """EMDs by POT between a document and all others."""
    places = vectors[query.indices]
    return [
        ot.emd2(
            query.data,
            row.data,
            cdist(places, vectors[row.indices]),
            check_marginals=False,
        )
        for row in (rows[[j]] for j in range(rows.shape[0]))
    ]


def measured(name: str) -> list[dict]:
    """Measure in new processes: one if the split is given, otherwise some splits."""
    has_split = name != "made" and read(Path(name)).train.any()
    found = []
    for seed in range(1 if has_split or name == "made" else N_SPLITS):
        command = [sys.executable, __file__, name, str(seed)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this file
        found.append(json.loads(done.stdout))
    return found


def rows(path: Path | None) -> Iterator[Row]:
    """Measure fits and their neighbors: time, memory and errors."""
    for name in ["made"] + ([] if path is None else [str(path)]):
        found = measured(name)
        one = {key: np.mean([each[key] for each in found]) for key in found[0]}
        what = (
            f"{'made up' if name == 'made' else Path(name).stem}, {one['d']:.0f} words"
        )
        pot, ours = (one[each] * one["n_test"] for each in ("pot_query", "wmd_query"))
        limit = LIMITS["seconds"], LIMITS["megabytes"]
        yield Row(
            f"{what}: learn from {one['n']:.0f} documents, neighbors of "
            f"{one['n_test']:.0f}",
            f"{one['seconds']:.0f} s, {one['megabytes']:.0f} MB",
            f"{pot / 60:.0f} min (WMD, no learning, POT)",
            pot / one["seconds"],
            10.0,
            f"{one['before']:.0f} MB before; limits: {limit[0]} s, {limit[1]} MB; "
            f"WMD by EMDNeighbors: {ours:.0f} s",
        )
        yield Row(
            f"{what}: {N_NEIGHBORS} nearest of {one['n']:.0f} by WMD",
            f"{1e3 * one['wmd_query']:.1f} ms a query",
            f"{1e3 * one['pot_query']:,.0f} ms (POT, all pairs)",
            one["pot_query"] / one["wmd_query"],
            20.0,
            f"simplex on {one['wmd_solves']:.2%} of the pairs",
        )
        errors = ", ".join(f"{100 * each['error']:.1f}" for each in found)
        yield Row(
            f"{what}: error of {N_NEIGHBORS} neighbors",
            f"{100 * one['error']:.1f} %",
            f"{100 * one['wmd']:.1f} % (WMD, {one['n_wmd']:.0f} documents)",
            one["wmd"] / one["error"],
            1.1,
            f"splits: {errors}; before the first step {100 * one['start']:.1f} %; "
            f"linear SVM on tf-idf {100 * one['svm']:.1f} %",
        )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
