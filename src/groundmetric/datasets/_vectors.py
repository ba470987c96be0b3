"""Vectors of words in text files, as GloVe and word2vec write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from ._text import open_text

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

Floats = NDArray[np.float64]

HEADER = 2  # numbers in the first line of word2vec: words and dimensions


def load_vectors(path: Path, words: Container[str]) -> dict[str, Floats]:
    """Read the vectors of these words; each line has a word and its numbers."""
    if path.suffix == ".bin":
        raise ValueError(
            f"{path} is binary; save vectors as text, a word and its numbers per line."
        )
    found: dict[str, Floats] = {}
    with open_text(str(path)) as file:
        size = 0
        for number, line in _lines(file):
            size = size or len(line.split()) - 1
            if size < 1:
                raise ValueError(
                    f"{path}, line {number}: a word and its vector are needed, "
                    "separated by blanks."
                )
            # Words may have blanks; numbers do not.
            word, *cells = line.rsplit(maxsplit=size)
            if word in words and word not in found:
                found[word] = _numbers(cells, size, f"{path}, line {number}")
    if not size:
        raise ValueError(f"{path} is empty.")
    return found


def _lines(file: TextIO) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, but not the first one of word2vec."""
    for number, line in enumerate(file, start=1):
        parts = line.split()
        is_header = number == 1 and len(parts) == HEADER
        if parts and not (is_header and all(map(str.isdecimal, parts))):
            yield number, line.strip("\r\n ")


def _numbers(cells: list[str], size: int, where: str) -> Floats:
    try:
        vector: Any = np.array(cells, dtype=float)
    except ValueError as error:
        raise ValueError(f"{where}: {error}.") from error
    if len(vector) != size:
        raise ValueError(f"{where}: {len(vector)} numbers, but others have {size}.")
    if not np.isfinite(vector).all():
        raise ValueError(f"{where}: numbers must be finite.")
    return vector  # type: ignore[no-any-return]
