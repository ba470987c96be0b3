"""The data sets of ``where.py``: files of a folder, digits, and those of packages.

A file has histograms ``X`` and labels ``y``, or counts of words as CSR (``data``,
``indices``, ``indptr``, ``shape``) with ``y`` and ``vectors`` of the words. What is
known of the bins is in ``points_NAME`` or ``centroids``, coordinates, or in ``taxa``,
lineages such as "k__Bacteria|p__Firmicutes". Any other file of these formats will do.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from where_packages import packaged

from groundmetric.experiments import draw

OF_CLASS = 30  # histograms to learn from
MOST = 200  # in all
MANY_CLASSES = 10  # with more, draws have some of the classes each
N_PAIRS, N_TENS = 20, 5  # draws of two classes, and of ten
N_WORDS = 300  # documents to learn from
N_FOLDS, ROOM = 5, 8  # disjoint sets need eight times as many histograms
SLOW = 500  # bins, from which folds are drawn once
REPEATS = {100: 4, math.inf: 1}  # few histograms take little time
N_TEST = 250
N_AXES = 50  # of taxa
LARGE = 700  # bins, from which no d x d matrix is learned
LINEAGE = "|"


@dataclass(frozen=True)
class DataSet:
    """Histograms, labels, what is known of the bins, and draws of training sets.

    ``kind`` is that of a :class:`Design`, or "tasks" if each draw has its own classes.
    """

    name: str
    X: np.ndarray | csr_array = field(repr=False)
    y: np.ndarray = field(repr=False)
    points: dict[str, np.ndarray] = field(repr=False)  # by name
    kind: str
    draws: list[tuple[np.ndarray, np.ndarray]] = field(repr=False)  # train, test

    @property
    def are_words(self) -> bool:
        """Whether histograms are counts of words."""
        return not isinstance(self.X, np.ndarray)


def data_sets(folder: Path | None, seed: int = 0) -> Iterator[DataSet]:
    """Read all files of a folder, embedded digits, and what packages bring."""
    for path in [] if folder is None else sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        try:
            yield from of_file(path.stem, arrays, seed)
        except KeyError as error:
            raise SystemExit(f"{path} has no array {error}; see {__file__}.") from error
    yield from digits(seed)
    for name, arrays in packaged():
        yield from of_file(name, arrays, seed)


def of_file(
    name: str, arrays: dict[str, np.ndarray], seed: int = 0
) -> Iterator[DataSet]:
    """Make data sets of a file: two if there are many classes.

    Empty histograms are left out, and classes too small for a member in each fold.
    """
    y = np.unique(arrays["y"], return_inverse=True)[1]
    points = known(arrays)
    if "data" in arrays:
        parts = arrays["data"].astype(float), arrays["indices"], arrays["indptr"]
        X = csr_array(parts, shape=tuple(arrays["shape"]))
        kept = (np.diff(X.indptr) > 0) & (np.bincount(y) >= N_FOLDS)[y]
        yield drawn(name, X[kept], y[kept], points, N_WORDS, seed=seed)
        return
    X = arrays["X"].astype(float)
    kept = (X.sum(axis=1) > 0) & (np.bincount(y) >= N_FOLDS)[y]
    X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    n_classes = len(np.unique(y))
    if n_classes <= MANY_CLASSES:
        yield drawn(name, X, y, points, min(OF_CLASS * n_classes, MOST), seed=seed)
        return
    for size, n_draws in ((2, N_PAIRS), (MANY_CLASSES, N_TENS)):
        draws = [some_classes(y, size, (seed, k)) for k in range(n_draws)]
        yield DataSet(f"{name}, {size} classes", X, y, points, "tasks", draws)


def digits(seed: int = 0) -> Iterator[DataSet]:
    """Few and many images of digits, as histograms of ink."""
    X, y = load_digits(return_X_y=True)
    grid = np.indices((8, 8)).reshape(2, -1).T.astype(float)
    for name, each in (("digits, few", 100), ("digits, many", MOST)):
        yield drawn(name, X, y, {"pixels": grid}, each, seed=seed)


def drawn(
    name: str,
    X: np.ndarray | csr_array,
    y: np.ndarray,
    points: dict[str, np.ndarray],
    n_train: int,
    *,
    seed: int,
) -> DataSet:
    """Draw disjoint training sets if there is room, and folds otherwise."""
    if len(y) < ROOM * n_train:
        repeats = 2 if X.shape[1] < SLOW else 1
        design = draw(y, n_folds=N_FOLDS, n_repeats=repeats, seed=seed)
    else:
        repeats = next(k for limit, k in REPEATS.items() if n_train <= limit)
        size = {"n_train": n_train, "n_folds": N_FOLDS, "n_repeats": repeats}
        design = draw(y, **size, seed=seed)
    return DataSet(name, X, y, points, design.kind, list(design.splits))


def some_classes(
    y: np.ndarray, n_classes: int, seed: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes, and rows of each to learn from and to test."""
    rng = np.random.default_rng(seed)
    train, test = [], []
    for label in rng.choice(np.unique(y), n_classes, replace=False):
        rows = rng.permutation(np.flatnonzero(y == label))
        train.append(rows[:OF_CLASS])
        test.append(rows[OF_CLASS:][: N_TEST // min(n_classes, 6)])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(test))


def known(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Coordinates of the bins, by name; empty if nothing is known of them."""
    names = [x for x in arrays if x.startswith("points_")]
    names += [x for x in ("centroids", "vectors") if x in arrays]
    found = {x.removeprefix("points_"): arrays[x].astype(float) for x in names}
    if "taxa" in arrays:
        found["taxonomy"] = of_lineages(arrays["taxa"])
    return found


def of_lineages(taxa: np.ndarray) -> np.ndarray:
    """Coordinates whose squared distances are path lengths in the tree of lineages.

    One coordinate for each clade, 1 for the taxa in it; the principal axes of these.
    """
    prefixes = [
        {LINEAGE.join(parts[: k + 1]) for k in range(len(parts))}
        for parts in (str(taxon).split(LINEAGE) for taxon in taxa)
    ]
    clades = sorted(set().union(*prefixes))
    inside = np.array([[clade in mine for clade in clades] for mine in prefixes], float)
    inside -= inside.mean(axis=0)
    axes, sizes, _ = np.linalg.svd(inside, full_matrices=False)
    return axes[:, :N_AXES] * sizes[:N_AXES]
