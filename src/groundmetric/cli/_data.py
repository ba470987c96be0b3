"""DATA of a command: histograms, their labels, and the names of the bins."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import GroundMetricLearning, validation
from ..base._powers import raised
from ..base._rows import n_among
from ..base._sample import drawn_by_class
from ._arrays import load_labels, load_npy, load_npz
from ._cells import Floats, read_csv, read_parquet
from ._columns import Bins, split_columns
from ._console import note, printable, shows_progress
from ._options import Source
from ._text import Text

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
SIDE = 96  # of thumbnails, in pixels
PICTURE = 3  # channels, rows and columns


@dataclass(frozen=True)
class Data:
    """Histograms of mass 1, in rows, and their labels, if any."""

    source: str
    X: Floats
    y: Any = None
    names: list[str] | None = None
    shape: tuple[int, ...] | None = None
    where: Callable[[int], str] = "row {}".format  # describes a row
    picture: Callable[[int], str | None] = lambda _: None  # a thumbnail, as a URI
    titles: list[str] | None = None  # of the bins, if they are not columns
    has_files: bool = False  # each row is that of a file, which where names

    @property
    def rows(self) -> list[int | str]:
        """What to call the rows in a table: files, or numbers from 0."""
        return [self.where(i) if self.has_files else i for i in range(len(self.X))]


def read_labeled(source: Source, wanted: Bins | None = None) -> Data:
    """Read histograms with labels of two or more classes, over these bins."""
    data = read_histograms(source, wanted, labeled=True)
    if data.y is None:
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


def read_histograms(
    source: Source, wanted: Bins | None, *, labeled: bool | None = False
) -> Data:
    """Read histograms over these bins; with labels, or without, or if there are any."""
    data = _load(source, wanted, labeled=labeled)
    table = validation.Table(data.source, data.where, data.names)
    data = replace(data, X=validation.as_distributions(data.X, table))
    if wanted is not None and data.X.shape[1] != wanted.number:
        hint = "; leave columns out with --ignore" if _is_table(source.path) else ""
        raise ValueError(
            f"{data.source} has {data.X.shape[1]} bins, but the metric has "
            f"{wanted.number}{hint}."
        )
    return data


def bins_like(data: Data) -> Bins:
    """Ask for the bins of data in another file, by name where columns have names."""
    return Bins(data.X.shape[1], data.names or (), f"{data.source} has")


def bins_of(learner: GroundMetricLearning) -> Bins:
    """Ask for the bins that a learner was fitted on."""
    names = getattr(learner, "feature_names_in_", ())
    return Bins(learner.n_features_in_, [str(name) for name in names])


def warn_if_seen(histograms: Any, data: Data, power: float = 1.0) -> None:  # noqa: ANN401 - dense or sparse
    """Warn of histograms that the metric was learned from, raised to a power."""
    if n := n_among(raised(data.X, power), histograms):
        note(
            f"warning: the model was learned from {n} of these histograms, so its "
            "errors are too low; use others to test it."
        )


def limited(data: Data, limit: int, seed: int, what: str) -> Data:
    """Draw at most this many histograms, class by class; all of them if limit is 0."""
    limit = validation.as_count(limit, "--limit", low=0)
    n = len(data.X)
    if limit == 0 or n <= limit or data.y is None:
        return data
    n_classes = len(np.unique(data.y))
    if limit < n_classes:
        raise ValueError(f"--limit is {limit}, but there are {n_classes} classes.")
    rng = np.random.default_rng(validation.as_count(seed, "--seed", low=0))
    kept = drawn_by_class(data.y, limit, rng)
    note(
        f"{what} {limit:,} of {n:,} histograms, drawn class by class; --limit 0 uses "
        "all"
    )
    return replace(
        data,
        X=data.X[kept],
        y=data.y[kept],
        where=lambda row: data.where(int(kept[row])),
        picture=lambda row: data.picture(int(kept[row])),
    )


def smallest_class(data: Data) -> tuple[str, int]:
    """Return the name of the smallest class, and its number of histograms."""
    values, counts = np.unique(data.y, return_counts=True)
    return str(values[counts.argmin()]), int(counts.min())


def _load(source: Source, wanted: Bins | None, *, labeled: bool | None) -> Data:
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
            f"{path} has an unknown format; use a folder of images, or a file that "
            f"ends in {', '.join((*CSV, *PARQUET, '.npy'))} or .npz."
        )
    X, y = (load_npy(str(path)), None) if suffix == ".npy" else load_npz(str(path))
    return Data(str(path), X, load_labels(source.labels) if source.labels else y)


def _is_table(path: str | None) -> bool:
    return path is not None and (
        path == "-" or Path(path).suffix.lower() in (*CSV, *PARQUET)
    )


def _require_use(source: Source) -> None:
    """Reject options that would be ignored: about columns where there are no names."""
    if source.labels is not None and source.path != "-" and Path(source.path).is_dir():
        raise ValueError(
            f"{source.option}: the subfolders of {source.path} are the labels."
        )
    if _is_table(source.path) or _is_table(source.beside):
        return
    for name in ("label", "ignore", "keep", "header"):
        if getattr(source, name) not in (None, []):
            raise ValueError(f"--{name} is for CSV and parquet, not {source.path}.")


def _table(
    source: Source, suffix: str, wanted: Bins | None, *, labeled: bool | None
) -> Data:
    cells = (
        read_parquet(source.path)
        if suffix in PARQUET
        else read_csv(Text(source.path), header=source.header, label=source.label)
    )
    if wanted is not None and source.header is False:
        wanted = Bins(wanted.number)  # columns have no names
    apart = source.labels is not None and source.label is None
    labeled = False if apart else labeled
    X, y, bins = split_columns(cells, source, labeled=labeled, wanted=wanted)
    if labeled and y is None:
        raise ValueError(
            f"{cells.source} has no text column to use as labels; name the column of "
            f"labels with --label, or give a file of labels with {source.option}."
        )
    return Data(
        cells.source,
        X,
        load_labels(source.labels) if source.labels else y,
        names=[cells.names[j] for j in bins] if source.header is not False else None,
        where=cells.where,
    )


def _folder(source: Source) -> Data:
    from ..datasets import load_image_folder  # noqa: PLC0415 - scikit-learn and pillow
    from ..datasets._pixels import thumbnail  # noqa: PLC0415

    try:
        found = load_image_folder(
            source.path,
            feature=source.feature,
            n_jobs=source.jobs,
            verbose=int(shows_progress()),
        )
    except ValueError as error:
        raise ValueError(
            f"{source.path} is a folder, which needs a subfolder of images for each "
            f"class: {error}"
        ) from error
    shape = found.feature_shape
    picture = source.feature == "gist" and len(shape) == PICTURE

    def thumbnail_of(row: int) -> str:
        image = thumbnail((Path(source.path) / found.paths[row]).read_bytes(), SIDE)
        return f"data:image/jpeg;base64,{base64.b64encode(image).decode()}"

    return Data(
        source.path,
        found.X,
        found.y,
        shape=tuple(shape) if picture else None,
        where=lambda row: printable(found.paths[row]),
        picture=thumbnail_of,
        titles=list(found.feature_names or ()) or None,
        has_files=True,
    )
