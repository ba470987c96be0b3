"""The return type of ``read_table``, and its bins."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._words import printable
from ._labeled import LabeledHistograms
from ._pixels import thumbnail
from ._reading import Bins

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SIDE = 96  # of thumbnails, in pixels


@dataclass(frozen=True, eq=False)
class HistogramTable(LabeledHistograms):
    """Histograms read from a file or folder, and where each of them is from.

    Attributes
    ----------
    X, y, feature_shape
        As in :class:`LabeledHistograms`; y is None if there are no labels, and X is
        sparse (CSR) if it was in the file, or if it is of texts.
    source : str
        The file or folder.
    names : tuple of str or None
        Names of the columns that are the bins; None if they have no names.
    rows : ndarray of int, shape (n,)
        Where each histogram is: its line in CSV, otherwise its number from 0.
    unit : {"line", "row", "column", "file"}
        What ``rows`` counts.
    ids : ndarray of str or None
        Names of the histograms, as they are in the file.
    points : ndarray of shape (d, s) or None
        Coordinates of the bins, such as vectors of words.
    paths : tuple of str or None
        Files of images, relative to the folder; histogram i is of ``paths[rows[i]]``.
    feature_names : tuple of str or None
        Names of the bins to show: those of columns, or of the features of images.
    groups : ndarray of shape (n,) or None
        Group of each histogram, such as a patient, if a column has them.
    notes : tuple of str
        Sentences that say how columns were read, and which were left out.

    Examples
    --------
    See :func:`read_table`.
    """

    X: Any
    y: Any
    source: str
    names: tuple[str, ...] | None
    rows: NDArray[np.int64]
    unit: str = "row"
    ids: NDArray[Any] | None = None
    points: NDArray[np.float64] | None = None
    paths: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    groups: NDArray[Any] | None = None

    def where(self, i: int) -> str:
        """Name the place of histogram i: "line 7", "S12, line 7" or a file."""
        row = int(self.rows[i])
        if self.paths is not None:
            return printable(self.paths[row])
        place = f"{self.unit} {row}"
        if self.ids is None:
            return place
        name = printable(str(self.ids[i]))
        return name if self.unit == "file" else f"{name}, {place}"

    @property
    def has_names(self) -> bool:
        """Whether histograms have ids, or are files."""
        return self.ids is not None or self.paths is not None

    def row_names(self) -> list[int | str]:
        """Name the rows in results: by ids, files of images, or number from 0."""
        if self.ids is not None:
            return [printable(str(name)) for name in self.ids]
        return [i if self.paths is None else self.where(i) for i in range(len(self))]

    def __len__(self) -> int:
        """Count the histograms."""
        return int(self.X.shape[0])

    def thumbnail(self, i: int) -> str | None:
        """Return a small picture of histogram i as a data URI, if it is an image."""
        if self.paths is None:
            return None
        image = (Path(self.source) / self.paths[self.rows[i]]).read_bytes()
        small = base64.b64encode(thumbnail(image, SIDE)).decode()
        return f"data:image/jpeg;base64,{small}"

    def smallest_class(self) -> tuple[str, int]:
        """Return the name of the smallest class, and its number of histograms."""
        values, counts = np.unique(self.y, return_counts=True)
        return str(values[counts.argmin()]), int(counts.min())

    def take(self, indices: ArrayLike) -> HistogramTable:
        """Return some of the histograms."""
        kept = np.asarray(indices)
        parts: dict[str, Any] = {"y": self.y, "ids": self.ids, "groups": self.groups}
        taken: Any = {k: x if x is None else x[kept] for k, x in parts.items()}
        return replace(self, X=self.X[kept], rows=self.rows[kept], **taken)


def bins_like(table: HistogramTable) -> Bins:
    """Ask for the bins of a table in another one."""
    return Bins(table.X.shape[1], table.names or (), f"{table.source} has")


def bins_of(learner: Any) -> Bins:
    """Request the bins that a learner was fitted on."""
    names = getattr(learner, "feature_names_in_", ())
    return Bins(learner.n_features_in_, [str(name) for name in names])


def as_bins(like: Any) -> Bins | None:
    """Request the bins of a table or learner, if there is one."""
    if like is None:
        return None
    if isinstance(like, HistogramTable):
        return bins_like(like)
    if not hasattr(like, "n_features_in_"):
        raise ValueError(
            f"like is {like!r}; a HistogramTable or a fitted learner is needed."
        )
    return bins_of(like)
