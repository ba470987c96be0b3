"""Histograms from files in many formats, and from folders of images or texts."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ._histogram_table import HistogramTable, as_bins
from ._read import read
from ._reading import Reading


def read_table(
    path: str | os.PathLike[str],
    *,
    label: str | int | None = None,
    labels: str | os.PathLike[str] | None = None,
    id: str | int | None = None,  # noqa: A002 - as columns are called
    groups: str | int | None = None,
    ignore: str | int | Iterable[str | int] | None = (),
    keep: str | int | Iterable[str | int] | None = (),
    header: bool | None = None,
    transpose: bool = False,
    missing: str = "error",
    vectors: str | os.PathLike[str] | None = None,
    like: Any = None,
    labeled: bool | None = True,
    feature: str = "gist",
    empty: str = "error",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> HistogramTable:
    """Read labeled histograms from a file, or from a folder of images or texts.

    Each row is a histogram or counts, and is normalized to mass 1. Columns that cannot
    be bins are rejected: measurements and copies of the labels, by which a metric would
    learn to recognize the rows. Ids are kept apart, as the names of the histograms.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` or ``.txt`` with a header, also gzipped (``.csv.gz``), or "-"
        for CSV on standard input; cells are delimited by commas, semicolons or tabs,
        and numbers may have decimal commas. ``.xlsx``, the first sheet (needs
        openpyxl). ``.parquet`` (needs pyarrow). ``.npz`` with arrays X, y and
        optionally class_names and ids; ``.npy``. ``.h5ad`` of AnnData (needs h5py):
        X, with labels and ids from ``obs``. Or a folder with a subfolder for each
        class: of images (needs Pillow), or of texts.
    label : str or int, optional
        Column of the labels, by name or by number from 0. By default the only column of
        text; a column of numbers has to be named.
    labels : path, optional
        Labels in a file of their own. With one column, or as ``.npy``, one for each
        histogram, in order. With a column of ids as well, matched by id; ``label``
        names the column of labels if there are more than two.
    id : str or int, optional
        Column of the ids, which name the histograms. By default a column without a
        name, one of text that differs in each row, or one of numbers called id or the
        like; the notes say which.
    groups : str or int, optional
        Column of the groups, such as patients, which is not a bin.
    ignore : column or iterable of columns
        Columns to leave out.
    keep : column or iterable of columns
        Columns to use as bins although they look like ids or measurements.
    header : bool, optional
        Whether the first line of a table has names. Needed if it has only numbers.
    transpose : bool, default=False
        True if samples are in columns. Then all that is said here of columns is meant
        of rows, and the names of columns are the ids.
    missing : {"error", "zero", "drop"}, default="error"
        What to do with missing entries: empty cells, NA, NaN, and what is below a limit
        of detection, such as ``<0.01``. They are listed in the error message, read as
        zero, or their rows are left out.
    vectors : path, optional
        Vectors of words, in the text format of GloVe or word2vec, for a folder of
        texts. Words that have one become bins, and their vectors the points of these.
        With ``like``, its words are counted instead.
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
    ImportError
        If a format needs a package that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groundmetric.datasets import read_table
    >>> text = '''id,ball,goal,oil,topic
    ... p1,2,1,0,sport
    ... p2,0,1,3,art
    ... p3,0,0,4,art'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "words.csv")
    ...     count = file.write_text(text)
    ...     data = read_table(file, label="topic", id="id")
    >>> data.names, data.y.tolist(), data.ids.tolist()
    (('ball', 'goal', 'oil'), ['sport', 'art', 'art'], ['p1', 'p2', 'p3'])
    >>> data.X[1], data.where(1)
    (array([0.  , 0.25, 0.75]), 'p2, line 3')
    """
    reading = Reading(
        os.fspath(path),
        label=None if label is None else str(label),
        labels=None if labels is None else Path(labels),
        id=None if id is None else str(id),
        groups=None if groups is None else str(groups),
        ignore=_as_columns(ignore, "ignore"),
        keep=_as_columns(keep, "keep"),
        header=header,
        transpose=transpose,
        missing=missing,
        vectors=None if vectors is None else Path(vectors),
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
