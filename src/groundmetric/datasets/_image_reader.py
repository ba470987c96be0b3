"""Read image files as histograms, in threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray

from .. import validation
from ._pixels import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from .._progress import Report
    from ._cache import HistogramCache
    from ._feature import Feature

Floats = NDArray[np.float64]


class Skipped(NamedTuple):
    """An image that was left out, and why."""

    path: str
    reason: str


class Described(NamedTuple):
    """Result for one file: a histogram, or the reason why it was skipped."""

    label: str
    path: str
    histogram: Floats | None
    reason: str = ""
    computed: bool = False


@dataclass
class Reader:
    """Turns files into histograms, and records those it skipped."""

    root: Path
    feature: Feature
    cache: HistogramCache | None
    threads: int
    skipped: list[Skipped] = field(default_factory=list)
    n_done: int = 0

    def read(
        self, files: Sequence[Path], wanted: int, report: Report | None
    ) -> list[Described]:
        """Read files in order until enough are usable."""
        good: list[Described] = []
        waiting = list(files)
        while waiting and len(good) < wanted:
            n = wanted - len(good)  # the next round replaces files that fail
            batch, waiting = waiting[:n], waiting[n:]
            for image in self._images(batch):
                if image.histogram is None:
                    self.skipped.append(Skipped(image.path, image.reason))
                    continue
                good.append(image)
                self.n_done += 1
                if report is not None:
                    report(self.n_done)
        return good

    def _images(self, files: Sequence[Path]) -> Iterator[Described]:
        parallel = joblib.Parallel(
            n_jobs=self.threads, prefer="threads", return_as="generator"
        )
        yield from parallel(joblib.delayed(self._image)(file) for file in files)

    def _image(self, file: Path) -> Described:
        label, path = file.parent.name, file.relative_to(self.root).as_posix()
        try:
            data = file.read_bytes()
        except OSError as error:
            return Described(label, path, None, error.strerror or str(error))
        kept = None if self.cache is None else self.cache.get(data)
        if kept is not None:
            return Described(label, path, kept)
        try:
            pixels = decode(data)
        except Exception as error:  # noqa: BLE001 - decoders raise anything
            return Described(label, path, None, str(error) or type(error).__name__)
        try:
            rows = validation.as_distributions(
                self.feature.describe([pixels]), "feature"
            )
        except ValueError as error:
            reason = str(error).replace("images[0]", "the image")
            return Described(label, path, None, reason)
        if len(rows) != 1:
            raise ValueError(f"feature gives {len(rows)} rows for one image, {path}.")
        if self.cache is not None:
            self.cache.put(data, rows[0])
        return Described(label, path, rows[0], computed=True)
