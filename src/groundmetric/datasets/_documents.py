"""A folder of texts, one subfolder per class, as sparse histograms of words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._words import count, percent
from ._folder import NAMED, image_files
from ._histogram_table import HistogramTable
from ._reading import Reading, listed
from ._text import open_text
from ._vectors import load_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = (".txt", ".txt.gz")


def has_texts(path: str) -> bool:
    """Whether a folder has texts, and no images that they may describe."""
    folders = [Path(path), *_subfolders(Path(path))]
    return not any(map(image_files, folders)) and any(map(_files, folders))


def read_documents(reading: Reading) -> HistogramTable:
    """Count words that have vectors, or that are the bins of a model."""
    root = Path(reading.path)
    files, labels = _labeled_files(root, reading)
    names = np.array([file.relative_to(root).as_posix() for file in files])
    texts = _texts_of(files, reading)
    words = () if reading.bins is None else reading.bins.names
    if words:
        counts, total = _count(texts, words), None
    elif reading.vectors is None:
        raise ValueError(
            f"{reading.path} is a folder of texts, which needs vectors of words: "
            f"{reading.spell('vectors', 'FILE')}, in the format of GloVe or word2vec."
        )
    else:
        counts, words, total = _count_all(texts)
    found = HistogramTable(
        counts,
        labels,
        (len(words),),
        reading.path,
        tuple(words),
        rows=np.arange(len(files)),
        unit="file",
        ids=names,
    )
    if total is not None:
        found = _with_vectors(found, reading)
    return _without_empty(replace(found, feature_names=found.names), reading)


def _labeled_files(root: Path, reading: Reading) -> tuple[list[Path], Any]:
    """List the files, and the subfolders that are their labels."""
    folders = _subfolders(root)
    files = [file for folder in folders for file in _files(folder)]
    loose = _files(root)
    if reading.labeled is not False and files:
        return files, np.array([file.parent.name for file in files])
    if reading.labeled:
        raise ValueError(
            f"{reading.path} has texts, but no subfolders; a subfolder of texts is "
            "needed for each class."
        )
    return [*loose, *files], None


def _subfolders(root: Path) -> list[Path]:
    found = (one for one in root.iterdir() if one.is_dir())
    return sorted(one for one in found if not one.name.startswith("."))


def _files(folder: Path) -> list[Path]:
    found = (one for one in folder.iterdir() if one.name.lower().endswith(SUFFIXES))
    return sorted(one for one in found if one.is_file() and one.name[0] != ".")


def _texts_of(files: Sequence[Path], reading: Reading) -> list[str]:
    texts, notes = [], list[str]()
    for file in files:
        with open_text(str(file), notes) as lines:
            texts.append(lines.read())
    if notes:
        more = f" (and {count(len(notes) - 1, 'other text')})" if len(notes) > 1 else ""
        reading.notes.append(f"{notes[0]}{more}")
    return texts


def _vectorizer(words: Sequence[str] | None = None) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    if words is not None:
        return CountVectorizer(vocabulary=list(words))
    return CountVectorizer(stop_words="english")


def _count(texts: list[str], words: Sequence[str]) -> Any:
    return _vectorizer(words).transform(texts).astype(float)


def _count_all(texts: list[str]) -> tuple[Any, list[str], int]:
    vectorizer = _vectorizer()
    try:
        counts = vectorizer.fit_transform(texts).astype(float)
    except ValueError:  # no words at all
        return _count(texts, ["word"]), ["word"], 0
    return counts, vectorizer.get_feature_names_out().tolist(), int(counts.sum())


def _with_vectors(found: HistogramTable, reading: Reading) -> HistogramTable:
    """Keep the words that have vectors, and say how many have none."""
    path = reading.vectors
    assert path is not None and found.names is not None  # noqa: S101, PT018
    vectors = load_vectors(path, frozenset(found.names))
    kept = [j for j, word in enumerate(found.names) if word in vectors]
    lost = [j for j, word in enumerate(found.names) if word not in vectors]
    if not kept:
        raise ValueError(f"{path} has no vector of any word in {reading.path}.")
    totals = np.asarray(found.X.sum(axis=0)).ravel()
    reading.notes.append(
        f"bins: {count(len(kept), 'word')} with vectors of {path}, without English "
        "stop words"
    )
    if lost:
        often = sorted(lost, key=lambda j: -totals[j])
        reading.notes.append(
            f"left out: {count(len(lost), 'word')} without a vector "
            f"({percent(totals[lost].sum() / totals.sum())} of all words), such as "
            f"{listed([found.names[j] for j in often[:3]])}"
        )
    names = tuple(found.names[j] for j in kept)
    points = np.array([vectors[word] for word in names])
    return replace(
        found,
        X=found.X[:, kept],
        names=names,
        feature_shape=(len(kept),),
        points=points,
    )


def _without_empty(found: HistogramTable, reading: Reading) -> HistogramTable:
    """Leave out texts without any of the words, and name them."""
    sizes = np.asarray(found.X.sum(axis=1)).ravel()
    if sizes.all():
        return found
    empty = np.flatnonzero(sizes == 0)
    if len(empty) == len(sizes):
        raise ValueError(f"no text in {reading.path} has a word of the bins.")
    some = "; ".join(found.where(i) for i in empty[:NAMED])
    more = f"; and {len(empty) - NAMED} more" if len(empty) > NAMED else ""
    reading.warnings.append(
        f"{count(len(empty), 'text')} without any of these words skipped: {some}{more}"
    )
    return found.take(np.flatnonzero(sizes))
