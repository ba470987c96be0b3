"""DATA of a command: histograms, their labels, and what the bins are called."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import validation
from ._arrays import load_labels, load_npy, load_npz
from ._cells import read_csv, read_parquet
from ._columns import Bins, split_columns
from ._console import note, shows_progress
from ._text import Text

Floats = NDArray[np.float64]
Labels = NDArray[Any]

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
PICTURE = 3  # channels, rows and columns


@dataclass(frozen=True)
class Source:
    """Where data are, and how to read them."""

    path: str
    label: str | None = None
    labels: Path | None = None
    ignore: Sequence[str] = ()
    header: bool | None = None
    feature: str = "gist"
    jobs: int | None = None
    beside: str | None = None  # another file, to be read in the same way
    option: str = "--labels"  # which gives a file of labels

    def of(
        self, path: str, labels: Path | None = None, option: str = "--labels"
    ) -> "Source":
        """Read another file in the same way, with labels of its own."""
        return replace(self, path=path, labels=labels, beside=self.path, option=option)


@dataclass(frozen=True)
class Data:
    """Histograms of mass 1, in rows; labels, if they were wanted."""

    source: str
    X: Floats
    y: Labels
    names: list[str] | None = None
    shape: tuple[int, ...] | None = None
    where: Callable[[int], str] = "row {}".format  # says which row it was


def read_labeled(source: Source, wanted: Bins | None = None) -> Data:
    """Read histograms with labels of two classes or more, over these bins."""
    data = _read(source, wanted, labeled=True)
    if not len(data.y):
        raise ValueError(
            f"{data.source} has no labels; give them with {source.option} FILE."
        )
    if len(data.y) != len(data.X):
        where = data.source if source.labels is None else str(source.labels)
        raise ValueError(
            f"{where} has {len(data.y)} labels for {len(data.X)} histograms."
        )
    try:
        labels = validation.as_labels(data.y, "y")
    except ValueError as error:
        raise ValueError(f"{data.source}: {error}") from error
    if np.unique(labels).size == 1:
        raise ValueError(
            f"{data.source}: all labels are {labels[0]!s}; two classes are needed."
        )
    return data


def read_histograms(source: Source, wanted: Bins) -> Data:
    """Read histograms alone, over these bins."""
    return _read(source, wanted, labeled=False)


def bins_like(data: Data) -> Bins:
    """Ask for the bins of data in another file, by name where columns have names."""
    return Bins(data.X.shape[1], data.names or (), f"{data.source} has")


def limited(data: Data, limit: int, seed: int, what: str) -> Data:
    """Draw at most so many histograms, class by class; all of them if limit is 0."""
    limit = validation.as_count(limit, "--limit", low=0)
    n = len(data.X)
    if limit == 0 or n <= limit:
        return data
    codes = np.unique(data.y, return_inverse=True)[1]
    members = np.bincount(codes)
    if limit < members.size:
        raise ValueError(f"--limit is {limit}, but there are {members.size} classes.")
    # The r-th of a class comes after the share r / members of it: the first of each
    # class are first, and all classes are used up at the same pace.
    rng = np.random.default_rng(validation.as_count(seed, "--seed", low=0))
    share = np.empty(n)
    for code, size in enumerate(members):
        share[codes == code] = rng.permutation(size) / size
    kept = np.sort(np.argsort(share, kind="stable")[:limit])
    note(f"{what} {limit:,} of {n:,} histograms, drawn class by class; --limit 0: all")
    return replace(data, X=data.X[kept], y=data.y[kept])


def _read(source: Source, wanted: Bins | None, *, labeled: bool) -> Data:
    data = _load(source, wanted, labeled=labeled)
    pa.default_memory_pool().release_unused()  # what a table took, before X is copied
    data = _judged(data)
    if wanted is not None and data.X.shape[1] != wanted.number:
        hint = "; leave columns out with --ignore" if _is_table(source.path) else ""
        raise ValueError(
            f"{data.source} has {data.X.shape[1]} bins, but the metric has "
            f"{wanted.number}{hint}."
        )
    return data


def _load(source: Source, wanted: Bins | None, *, labeled: bool) -> Data:
    path = Path(source.path)
    suffix = path.suffix.lower()
    if source.path != "-" and not path.exists():
        raise ValueError(f"{path}: no such file or folder.")
    _require_use(source)
    if source.path != "-" and path.is_dir():
        return _folder(source)
    if _is_table(source.path):
        return _table(source, suffix, wanted, labeled=labeled)
    if suffix not in (".npy", ".npz"):
        raise ValueError(
            f"{path} is of no known kind: a folder of images, or a file that ends in "
            f"{', '.join((*CSV, *PARQUET, '.npy'))} or .npz, is needed."
        )
    X, y = (load_npy(str(path)), None) if suffix == ".npy" else load_npz(str(path))
    if source.labels is not None:
        y = load_labels(source.labels)
    return Data(str(path), X, np.array([]) if y is None else y)


def _is_table(path: str | None) -> bool:
    return path is not None and (
        path == "-" or Path(path).suffix.lower() in (*CSV, *PARQUET)
    )


def _require_use(source: Source) -> None:
    """Refuse options that would be ignored: about columns, where none has a name."""
    if source.labels is not None and source.path != "-" and Path(source.path).is_dir():
        raise ValueError(
            f"{source.option}: the sub-folders of {source.path} are the labels."
        )
    if _is_table(source.path) or _is_table(source.beside):
        return
    for option, given in (
        ("--label", source.label is not None),
        ("--ignore", bool(source.ignore)),
        ("--header", source.header is not None),
    ):
        if given:
            raise ValueError(f"{option} is for CSV and parquet, not {source.path}.")


def _table(source: Source, suffix: str, wanted: Bins | None, *, labeled: bool) -> Data:
    cells = (
        read_parquet(source.path)
        if suffix in PARQUET
        else read_csv(Text(source.path), header=source.header, label=source.label)
    )
    if wanted is not None and source.header is False:
        wanted = Bins(wanted.number)  # columns have no names
    apart = source.labels is not None and source.label is None
    labeled = labeled and not apart
    X, y, bins = split_columns(
        cells,
        label=source.label,
        ignore=source.ignore,
        labeled=labeled,
        wanted=wanted,
    )
    if labeled and y is None:
        raise ValueError(
            f"{cells.source} has no column of text to take for labels; name the column "
            f"of labels with --label, or give a file of them with {source.option}."
        )
    if source.labels is not None:
        y = load_labels(source.labels)
    return Data(
        cells.source,
        X,
        np.array([]) if y is None else y,
        names=[cells.names[j] for j in bins] if source.header is not False else None,
        where=cells.where,
    )


def _folder(source: Source) -> Data:
    from ..datasets import load_image_folder  # noqa: PLC0415 - scikit-learn and pillow

    try:
        found = load_image_folder(
            source.path,
            feature=source.feature,
            n_jobs=source.jobs,
            verbose=int(shows_progress()),
        )
    except ValueError as error:
        raise ValueError(
            f"{source.path} is a folder, and needs a sub-folder of images for each "
            f"class: {error}"
        ) from error
    shape = found.feature_shape
    picture = source.feature == "gist" and len(shape) == PICTURE
    return Data(source.path, found.X, found.y, shape=tuple(shape) if picture else None)


def _judged(data: Data) -> Data:
    """Say what is wrong with an entry in the words of its file; scale to mass 1."""
    table = validation.Table(data.source, data.where, data.names)
    return replace(data, X=validation.as_distributions(data.X, table))
