"""Read a file or folder in any format, and check what is in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import validation
from ._annotated import read_annotated
from ._arrays import Arrays, load_npy, load_npz
from ._cells import Cells, Floats, Gap, as_column, find_column, require_distinct
from ._columns import known_of_rows, split_columns
from ._documents import has_texts, read_documents
from ._folder import load_image_folder
from ._formats import (
    ANNOTATED,
    CSV,
    NUMPY,
    PARQUET,
    SHEETS,
    STANDARD_INPUT,
    is_folder,
    is_table,
    read_written,
    suffix_of,
)
from ._histogram_table import HistogramTable
from ._label_file import LabelFile, labels_for, load_labels
from ._labels import labels_in
from ._missing import POLICIES, fill, nan_gaps
from ._parquet import read_parquet
from ._read_rows import read_rows
from ._reading import Bins, Reading, of_mass_1
from ._rows import transposed

if TYPE_CHECKING:
    from collections.abc import Callable

# Parameters that only tables have, and those that tables share with arrays.
OF_COLUMNS = ("label", "id", "groups", "ignore", "keep", "header")
OF_FILES = ("transpose", "missing")


def read(reading: Reading) -> HistogramTable:
    """Read histograms, and check them; warnings are kept in the reading."""
    if reading.path != STANDARD_INPUT and not Path(reading.path).exists():
        raise ValueError(f"{reading.path}: no such file or folder.")
    validation.require_one_of(reading.missing, reading.spell("missing"), POLICIES)
    _require_use(reading)
    given = None
    if reading.labels is not None:
        given = load_labels(reading.labels, reading.notes)
    found = _reader_of(reading)(reading, given)
    table = validation.Table(found.source, found.where, found.names)
    X = of_mass_1(found.X, table, reading)
    if reading.bins is not None and X.shape[1] != reading.bins.number:
        ways = f"; leave columns out with {reading.spell('ignore')}"
        raise ValueError(
            f"{found.source} has {X.shape[1]} bins, but the metric has "
            f"{reading.bins.number}{ways if is_table(reading.path) else ''}."
        )
    if found.paths is None:
        found = replace(found, y=labels_in(found, reading), feature_shape=X.shape[1:])
    return replace(found, X=X, notes=tuple(reading.notes))


def _reader_of(
    reading: Reading,
) -> Callable[[Reading, LabelFile | None], HistogramTable]:
    """Choose by the suffix; folders of texts and images by what is in them."""
    path = reading.path
    if is_folder(path):
        is_text = reading.vectors is not None or has_texts(path)
        return _read_texts if is_text else _read_images
    if is_table(path):
        return _read_cells
    if suffix_of(path) in ANNOTATED:
        return _read_annotated
    if suffix_of(path) in NUMPY:
        return _read_arrays
    known = ", ".join(
        (*CSV, f"{CSV[0]}.gz", SHEETS[0], PARQUET[0], *ANNOTATED, NUMPY[0])
    )
    raise ValueError(
        f"{path} has an unknown format; use a folder of images or texts, or a file "
        f"that ends in {known} or {NUMPY[1]}."
    )


def _require_use(reading: Reading) -> None:
    """Reject parameters that would be ignored, such as columns of a folder."""
    path, spell = reading.path, reading.spell
    is_annotated = suffix_of(path) in ANNOTATED and not is_folder(path)
    if reading.labels is not None and is_folder(path):
        raise ValueError(f"{spell('labels')}: the subfolders of {path} are the labels.")
    if reading.vectors is not None and not is_folder(path):
        raise ValueError(f"{spell('vectors')} is for a folder of texts, not {path}.")
    refused = [] if is_table(path) else [*OF_COLUMNS]
    if is_annotated:
        refused = ["keep", "header", *OF_FILES]
    elif is_folder(path):
        refused += OF_FILES
    for name in refused:
        if getattr(reading, name) not in (None, (), [], False, "error") or (
            name == "header" and reading.header is False
        ):
            which = (
                "CSV and other tables" if name in OF_COLUMNS else "tables and arrays"
            )
            raise ValueError(f"{spell(name)} is for {which}, not {path}.")


def _cells_of(reading: Reading) -> Cells:
    path = reading.path
    if suffix_of(path) in PARQUET and not reading.transpose:
        return read_parquet(path)
    rows = read_written(path, reading.notes)
    turned = reading.transpose
    if reading.is_second and reading.bins is not None and reading.bins.names:
        turned = turned and not set(reading.bins.names).issubset(rows.first)
    if turned:
        rows = transposed(rows)
    cells = read_rows(
        rows,
        header=reading.header,
        as_written=[
            x
            for x in (reading.label, reading.id, reading.groups, *reading.ignore)
            if x is not None
        ],
        spell=reading.spell,
        notes=reading.notes,
    )
    # The first line has names of samples, unless it has only numbers.
    has_names = not cells.names[0] or as_column(cells.columns[0]).dtype == object
    is_named = turned and reading.header is not False and has_names
    return replace(cells, index=(0,)) if is_named else cells


def _read_cells(reading: Reading, given: LabelFile | None) -> HistogramTable:
    cells = _cells_of(reading)
    wanted, has_names = reading.bins, reading.header is not False
    if wanted is not None and not has_names:
        wanted = Bins(wanted.number)
    split = split_columns(cells, reading, given, wanted=wanted)
    if reading.labeled and split.labels is None:
        raise ValueError(
            f"{cells.source} has no text column to use as labels; name the column of "
            f"labels with {reading.spell('label')}, or give a file of labels with "
            f"{reading.spell('labels')}."
        )
    names = tuple(cells.names[j] for j in split.bins) if has_names else None
    return HistogramTable(
        split.X,
        split.labels,
        split.X.shape[1:],
        cells.source,
        names,
        rows=split.rows,
        unit=cells.unit,
        ids=split.ids,
        feature_names=names,
        groups=split.groups,
    )


def _read_arrays(reading: Reading, given: LabelFile | None) -> HistogramTable:
    path = reading.path
    arrays = Arrays(load_npy(path)) if suffix_of(path) == NUMPY[0] else load_npz(path)
    X, y = arrays.X, arrays.y
    if reading.transpose:
        X = X.T
    n = len(np.atleast_1d(X))
    ids = _valid_ids(arrays.ids, n, path)
    if given is not None:
        y = labels_for(given, n, ids, reading, of=path)
    kept = np.ones(n, dtype=bool)
    if X.ndim == 2 and X.dtype.kind == "f":  # noqa: PLR2004 - others are rejected
        X, kept = _without_nan(X, reading)
    if y is not None and len(y) == n:
        y = y[kept]
    rows = np.flatnonzero(kept)
    unit = "column" if reading.transpose else "row"
    ids = None if ids is None else ids[kept]
    return HistogramTable(X, y, X.shape[1:], path, None, rows, unit, ids)


def _without_nan(X: Floats, reading: Reading) -> tuple[Floats, Any]:
    def place(gap: Gap) -> str:
        down, across = ("column", "row") if reading.transpose else ("row", "column")
        return f"{down} {gap.row}, {across} {gap.column}"

    return fill(X, nan_gaps(X), reading, reading.path, place)


def _valid_ids(ids: Any, n: int, path: str) -> Any:
    """Check ids in an array; return them as text."""
    if ids is None:
        return None
    found = validation.as_labels(ids, f"{path}: ids").astype(str)
    if len(found) != n:
        raise ValueError(f"{path} has {len(found)} ids for {n} histograms.")
    if len(np.unique(found)) < n:
        raise ValueError(f"{path}: two histograms have the same id.")
    return found


def _read_annotated(reading: Reading, given: LabelFile | None) -> HistogramTable:
    X, names, about = read_annotated(reading.path)
    spell = reading.spell
    left_out = [
        find_column(x, names, reading.path, spell("ignore")) for x in reading.ignore
    ]
    bins = np.delete(np.arange(len(names)), left_out)
    require_distinct([names[j] for j in bins], reading.path)
    if reading.bins is not None and reading.bins.names:
        places = {name: j for j, name in enumerate(names)}
        for name in reading.bins.names:
            if name not in places:
                raise ValueError(
                    f"{reading.path} has no bin {name!r}, which {reading.bins.of}."
                )
        bins = np.array([places[name] for name in reading.bins.names])
    known = known_of_rows(about, reading, given)
    called = tuple(names[j] for j in bins)
    return HistogramTable(
        X[:, bins],
        known.labels,
        (len(bins),),
        reading.path,
        called,
        rows=about.rows,
        ids=known.ids,
        feature_names=called,
        groups=known.groups,
    )


def _read_texts(reading: Reading, _given: LabelFile | None) -> HistogramTable:
    return read_documents(reading)


def _read_images(reading: Reading, _given: LabelFile | None) -> HistogramTable:
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
            f"class, or of texts: {error}"
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
