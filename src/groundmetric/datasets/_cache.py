"""A cache of histograms on disk, by the content of the image and the feature options.

Each file holds one histogram. Its name is a hash of the inputs. Its first bytes are a
hash of its name and the rest, so damaged files are detected and ignored. Files are
written under a temporary name first, so processes may share a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DIGEST_SIZE = hashlib.sha256().digest_size


class HistogramCache:
    """Histograms in a folder, all of the feature that the facts describe."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self._folder = folder
        text = json.dumps(facts, sort_keys=True, default=_plain)
        self._facts = hashlib.sha256(text.encode()).digest()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(
                f"cache is {os.fspath(folder)}, where no folder can be created: "
                f"{error}."
            ) from error

    def get(self, content: bytes) -> Floats | None:
        """Find the histogram of this content; None if it is missing or damaged."""
        path = self._path(content)
        try:
            found = path.read_bytes()
        except OSError:
            return None
        digest, values = found[:DIGEST_SIZE], found[DIGEST_SIZE:]
        if not values or digest != _digest(path, values):
            return None
        return np.frombuffer(values, "<f8").astype(np.float64)

    def put(self, content: bytes, histogram: Floats) -> None:
        """Store the histogram of this content."""
        path = self._path(content)
        path.parent.mkdir(exist_ok=True)
        values = histogram.astype("<f8").tobytes()
        handle, part = tempfile.mkstemp(suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(path, values) + values)
            Path(part).replace(path)
        finally:
            Path(part).unlink(missing_ok=True)

    def _path(self, content: bytes) -> Path:
        name = hashlib.sha256(self._facts + hashlib.sha256(content).digest())
        # One folder per first byte: file systems dislike 30,000 files in one.
        return self._folder / name.hexdigest()[:2] / name.hexdigest()[2:]


def _digest(path: Path, values: bytes) -> bytes:
    name = path.parent.name + path.name
    return hashlib.sha256(name.encode() + values).digest()


def _plain(value: Any) -> Any:
    """Convert numpy numbers and arrays for JSON."""
    if not isinstance(value, (np.generic, np.ndarray)):
        raise ValueError(
            f"feature_options has {value!r}, which a cache cannot identify; use "
            "numbers, strings or arrays."
        )
    return value.tolist()
