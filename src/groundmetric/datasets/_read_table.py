"""Histograms from files: CSV, parquet, numpy, and folders of images."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import validation
from ._arrays import load_labels, load_npy, load_npz
from ._cells import read_csv
from ._columns import groups_of, split_columns
from ._folder import load_image_folder
from ._histogram_table import HistogramTable, as_bins
from ._parquet import read_parquet
from ._reading import Bins, Reading, of_mass_1
from ._text import Text

CSV = (".csv", ".tsv", ".txt")
COLUMNS = ("label", "groups", "ignore", "keep", "header")  # options about columns
PARQUET = (".parquet", ".pq")
STANDARD_INPUT = "-"


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = None,
    labels: str | os.PathLike[str] | None = None,
    groups: str | int | None = None,
    ignore: str | int | Iterable[str | int] | None = (),
    keep: str | int | Iterable[str | int] | None = (),
    header: bool | None = None,
    like: Any = None,
    labeled: bool | None = True,
    feature: str = "gist",
    empty: str = "error",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> HistogramTable:
    """Read labeled histograms from a file, or from a folder of images.

    Each row is a histogram or counts, and is normalized to mass 1. Columns that cannot
    be bins are rejected: ids, measurements and copies of the labels, by which a
    metric would learn to recognize the rows.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` or ``.txt`` with a header, delimited by commas, semicolons or
        tabs, or "-" for CSV on standard input; ``.parquet`` (needs pyarrow); ``.npz``
        with arrays X, y and optionally class_names; ``.npy``; or a folder with a
        subfolder of images for each class (needs Pillow).
    label : str or int, optional
        Column of the labels, by name or by number from 0. By default the only column of
        text; a column of numbers has to be named.
    labels : path, optional
        Labels in a file of their own, ``.npy`` or text with one label per line.
    groups : str or int, optional
        Column of the groups, such as patients, which is not a bin.
    ignore : column or iterable of columns
        Columns to leave out.
    keep : column or iterable of columns
        Columns to use as bins although they look like ids or measurements.
    header : bool, optional
        Whether the first line of CSV has names. Needed if it has only numbers.
    like : HistogramTable or fitted learner, optional
        Read the same bins in the same order, by name if both have names.
    labeled : bool, optional
        True requires labels, False does not read them, None reads them if there are
        any.
    feature : {"gist", "color"}
        How to describe images, see :func:`load_image_folder`.
    empty : {"error", "uniform", "nan"}, default="error"
        Reject rows of zero mass, make them uniform, or leave them as they are.
    n_jobs : int, optional
        Threads for images, as in scikit-learn.
    verbose : int, default=0
        1 shows a progress bar for images (needs tqdm).

    Returns
    -------
    HistogramTable

    Warns
    -----
    UserWarning
        If a column is read as a bin, but probably is not one; if labels that are
        written differently are the same number; if images were skipped.

    Raises
    ------
    ValueError
        Names the file, the line, the column and the value that is wrong.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groundmetric.datasets import read_table
    >>> text = '''id,ball,goal,oil,topic
    ... 1,2,1,0,sport
    ... 2,0,1,3,art
    ... 3,0,0,4,art'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "words.csv")
    ...     count = file.write_text(text)
    ...     data = read_table(file, label="topic", ignore="id")
    >>> data.names, data.y.tolist()
    (('ball', 'goal', 'oil'), ['sport', 'art', 'art'])
    >>> data.X[1], data.where(1)
    (array([0.  , 0.25, 0.75]), 'line 3')
    """
    reading = Reading(
        os.fspath(path),
        label=None if label is None else str(label),
        labels=None if labels is None else Path(labels),
        groups=None if groups is None else str(groups),
        ignore=_as_columns(ignore, "ignore"),
        keep=_as_columns(keep, "keep"),
        header=header,
        labeled=labeled,
        feature=feature,
        empty=empty,
        n_jobs=n_jobs,
        verbose=verbose,
        bins=as_bins(like),
    )
    found = read(reading)
    for text in reading.warnings:
        warnings.warn(f"{text}.", stacklevel=2)
    return found


def read(reading: Reading) -> HistogramTable:
    """Read histograms, and check them; warnings are kept in the reading."""
    if reading.path != STANDARD_INPUT and not Path(reading.path).exists():
        raise ValueError(f"{reading.path}: no such file or folder.")
    _require_use(reading)
    given = None
    if reading.labels is not None:
        given = load_labels(reading.labels, reading.warnings)
    if reading.path != STANDARD_INPUT and Path(reading.path).is_dir():
        found = _read_folder(reading)
    elif is_table(reading.path):
        found = _read_cells(reading, given)
    else:
        found = _read_arrays(reading)
    table = validation.Table(found.source, found.where, found.names)
    X = of_mass_1(found.X, table, reading)
    if reading.bins is not None and X.shape[1] != reading.bins.number:
        ways = f"; leave columns out with {reading.spell('ignore')}"
        raise ValueError(
            f"{found.source} has {X.shape[1]} bins, but the metric has "
            f"{reading.bins.number}{ways if is_table(reading.path) else ''}."
        )
    if found.paths is None:
        y = _labels_of(found, given, reading)
        found = replace(found, y=y, feature_shape=X.shape[1:])
    return replace(found, X=X, notes=tuple(reading.notes))


def is_table(path: str) -> bool:
    """Whether a file has columns that may have names."""
    return path == STANDARD_INPUT or Path(path).suffix.lower() in (*CSV, *PARQUET)


def _as_columns(given: str | int | Iterable[str | int] | None, name: str) -> list[str]:
    """List names of columns, or their numbers, as text."""
    if given is None:
        return []
    if isinstance(given, str | int | np.integer):
        return [str(given)]
    if not isinstance(given, Iterable):
        raise ValueError(
            f"{name} is {given!r}; names of columns, or their numbers, are needed."
        )
    return [str(one) for one in given]


def _require_use(reading: Reading) -> None:
    """Reject parameters that would be ignored, such as columns of a folder."""
    path, spell = reading.path, reading.spell
    is_folder = path != STANDARD_INPUT and Path(path).is_dir()
    if reading.labels is not None and is_folder:
        raise ValueError(f"{spell('labels')}: the subfolders of {path} are the labels.")
    for name in () if is_table(path) else COLUMNS:
        if getattr(reading, name) not in (None, (), []):
            raise ValueError(f"{spell(name)} is for CSV and parquet, not {path}.")


def _labels_of(found: HistogramTable, given: Any, reading: Reading) -> Any:
    """Return valid labels, one for each histogram, or None if none are needed."""
    y, where = found.y, found.source
    if given is not None:
        y, where = given, str(reading.labels)
    elif reading.labeled is False:
        return None
    if y is None:
        if reading.labeled is None:
            return None
        raise ValueError(
            f"{where} has no labels; give them with {reading.spell('labels', 'FILE')}."
        )
    try:
        if len(y) != len(found.X):
            raise ValueError(  # noqa: TRY301 - handled like other labels that are bad
                f"{where} has {len(y)} labels for {len(found.X)} histograms."
            )
        return validation.as_labels(y, f"{where}: y")
    except ValueError as error:
        if reading.labeled is not None:
            raise
        reading.notes.append(f"no labels: {error}")
        return None


def _read_cells(reading: Reading, given: Any) -> HistogramTable:
    if Path(reading.path).suffix.lower() in PARQUET:
        cells = read_parquet(reading.path, reading.notes)
    else:
        cells = read_csv(
            Text(reading.path),
            header=reading.header,
            as_written=[
                (name, getattr(reading, name))
                for name in ("label", "groups")
                if getattr(reading, name) is not None
            ],
            spell=reading.spell,
        )
    wanted, has_names = reading.bins, reading.header is not False
    if wanted is not None and not has_names:
        wanted = Bins(wanted.number)
    apart = given is not None and reading.label is None
    labeled = False if apart else reading.labeled
    X, y, bins = split_columns(cells, reading, given, labeled=labeled, wanted=wanted)
    groups = groups_of(cells, reading)
    if labeled and y is None and given is None:
        raise ValueError(
            f"{cells.source} has no text column to use as labels; name the column of "
            f"labels with {reading.spell('label')}, or give a file of labels with "
            f"{reading.spell('labels')}."
        )
    names = tuple(cells.names[j] for j in bins) if has_names else None
    return HistogramTable(
        X,
        y,
        X.shape[1:],
        cells.source,
        names,
        rows=cells.rows,
        unit=cells.unit,
        feature_names=names,
        groups=groups,
    )


def _read_arrays(reading: Reading) -> HistogramTable:
    path = reading.path
    suffix = Path(path).suffix.lower()
    if suffix not in (".npy", ".npz"):
        raise ValueError(
            f"{path} has an unknown format; use a folder of images, or a file that "
            f"ends in {', '.join((*CSV, *PARQUET, '.npy'))} or .npz."
        )
    X, y = (load_npy(path), None) if suffix == ".npy" else load_npz(path)
    return HistogramTable(
        X, y, X.shape[1:], path, None, np.arange(len(np.atleast_1d(X)))
    )


def _read_folder(reading: Reading) -> HistogramTable:
    try:
        found = load_image_folder(
            reading.path,
            feature=reading.feature,
            n_jobs=reading.n_jobs,
            verbose=reading.verbose,
        )
    except ValueError as error:
        raise ValueError(
            f"{reading.path} is a folder, which needs a subfolder of images for each "
            f"class: {error}"
        ) from error
    return HistogramTable(
        found.X,
        found.y,
        found.feature_shape,
        reading.path,
        None,
        rows=np.arange(len(found.X)),
        paths=found.paths,
        feature_names=found.feature_names,
    )
