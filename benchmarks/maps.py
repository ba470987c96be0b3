"""Exact maps of words and their weights, learned from 1,000 documents, beside POT.

``make bench ONLY=maps``, with ``DATA`` as in words.py. The learner finds the targets
and impostors of each batch, solves their pairs, and sums up plans and potentials; the
peer is POT's time for the same pairs. Errors are those of 5 neighbors of up to 1,000
other documents, under the exact distance before the first step and after the last.
Settings were chosen on the training documents of Reuters R8.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measure import Row
from scipy.sparse import csr_array
from words import N_NEIGHBORS, Documents, made, peak, pot_distances, read, split

from groundmetric import EMDNeighbors, MappedMetricLearning
from groundmetric.base._votes import vote_errors

N_TRAIN, N_TEST = 1000, 1000
N_MADE = 1500
N_POT = 15
SECONDS = 60  # the limit, of the processor
# One step that leads nowhere, for the distances before the first.
STILL = {"max_steps": 1, "step_size": 1e-12, "batch_size": 16}


def some_of(documents: Documents, seed: int) -> tuple[csr_array, np.ndarray, int]:
    """Draw documents to learn from, and then others."""
    train = split(documents, seed)
    rng = np.random.default_rng(seed)
    kept = [
        rng.permutation(np.flatnonzero(some))[:size]
        for some, size in ((train, N_TRAIN), (~train, N_TEST))
    ]
    rows = np.concatenate(kept)
    return documents.counts[rows], documents.y[rows], len(kept[0])


def measure(name: str, seed: int) -> dict:
    """Fit and search, in a process of its own; seconds are those of the processor."""
    documents = made(seed, N_MADE) if name == "made" else read(Path(name))
    X, y, n = some_of(documents, seed)
    before, start = peak(), time.process_time()
    learner = learner_of(documents.vectors, seed).fit(X[:n], y[:n])
    seconds, megabytes = time.process_time() - start, peak()
    first = learner_of(documents.vectors, seed).set_params(**STILL).fit(X[:n], y[:n])
    masses = np.asarray(X.sum(axis=1)).ravel()
    shares = csr_array(X.multiply(1 / masses[:, None]))
    start = time.process_time()
    for k in range(N_POT):  # of others, each to as many to learn from
        base = shares[k * N_POT : (k + 1) * N_POT]
        pot_distances(base, shares[[n + k]], documents.vectors)
    pair = (time.process_time() - start) / N_POT**2
    return {
        "n": n,
        "n_test": X.shape[0] - n,
        "d": X.shape[1],
        "seconds": seconds,
        "before": before,
        "megabytes": megabytes,
        "pairs": float(learner.path_.column("n_solves").sum()),
        "pair": pair,
        "start": error(first, X, y, n),
        "error": error(learner, X, y, n),
    }


def learner_of(vectors: np.ndarray, seed: int) -> MappedMetricLearning:
    """Make the learner that is measured."""
    return MappedMetricLearning(
        vectors,
        bin_weights="idf",
        pull=0.3,
        power=1.0,
        random_state=seed,
        n_jobs=1,
    )


def error(learner: MappedMetricLearning, X: csr_array, y: np.ndarray, n: int) -> float:
    """Error of the others' neighbors among the first n documents."""
    search = EMDNeighbors(learner, n_neighbors=N_NEIGHBORS).fit(X[:n])
    nearest = search.kneighbors(X[n:], return_distance=False)
    return float(vote_errors(nearest, y[:n], y[n:])[-1])


def rows(path: Path | None) -> Iterator[Row]:
    """Measure a fit: time, memory, pairs and errors."""
    for name in ["made"] + ([] if path is None else [str(path)]):
        command = [sys.executable, __file__, name, "0"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this file
        one = json.loads(done.stdout)
        what = f"{'made up' if name == 'made' else Path(name).stem}, {one['d']} words"
        pot = one["pairs"] * one["pair"]
        yield Row(
            f"{what}: learn a map and weights from {one['n']} documents",
            f"{one['seconds']:.0f} s, {one['megabytes']:.0f} MB",
            f"{pot:.0f} s ({one['pairs']:,.0f} pairs, once each, POT)",
            pot / one["seconds"],
            1.0,
            f"{one['before']:.0f} MB before; limit: {SECONDS} s",
        )
        yield Row(
            f"{what}: error of {N_NEIGHBORS} neighbors, exact, {one['n_test']} others",
            f"{100 * one['error']:.1f} %",
            f"{100 * one['start']:.1f} % (before the first step)",
            one["start"] / one["error"],
            1.0,
        )


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
