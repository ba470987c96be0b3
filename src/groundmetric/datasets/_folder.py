"""A folder of images, one subfolder per class, as labeled histograms (section 7.2)."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import validation
from .._progress import progress_bar
from .._words import count
from ._cache import HistogramCache
from ._image_reader import Described, Reader, Skipped
from ._labeled import LabeledHistograms
from ._pixels import require_pillow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ._feature import Feature

StrPath = str | os.PathLike[str]

SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png"}) | {
    ".pnm",
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
}
NAMED = 10  # files in a warning


@dataclass(frozen=True, eq=False)
class ImageHistograms(LabeledHistograms):
    """Histograms of the images in a folder.

    Attributes
    ----------
    X, y, feature_shape
        As in :class:`LabeledHistograms`; labels are the names of subfolders.
    paths : tuple of str
        File of each histogram, relative to the folder, with slashes.
    skipped : tuple of Skipped
        Images that could not be read or have no histogram, with reasons.
    too_small : dict of str to int
        Classes that were dropped, and their numbers of usable images.
    n_computed : int
        Number of histograms computed; the others come from the cache.
    feature_names : tuple of str or None
        Names of the bins, such as "pale blue" (``"color"``) or "vertical edges, row 0,
        column 3" (``"gist"``); None if the feature is a callable.

    Examples
    --------
    See :func:`load_image_folder`.
    """

    paths: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    too_small: dict[str, int] = field(default_factory=dict)
    n_computed: int = 0
    feature_names: tuple[str, ...] | None = None


def load_image_folder(
    path: StrPath,
    *,
    feature: str | Callable[[list[NDArray[Any]]], Any] = "gist",
    feature_options: dict[str, Any] | None = None,
    feature_key: str | None = None,
    classes: Iterable[str] | None = None,
    min_per_class: int = 1,
    max_per_class: int | None = None,
    cache: StrPath | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ImageHistograms:
    """Read a folder of images with one subfolder per class, as histograms.

    Caltech-101, Caltech-256 and many collections of scenes are distributed this way.
    Classes and their images are sorted by name, so the result is the same on every
    system. Needs Pillow: ``pip install 'groundmetric[images]'``.

    Parameters
    ----------
    path : path
        The folder. Images are files directly in a subfolder, with a suffix such as
        ``.jpg`` or ``.png``; other files, hidden files and deeper folders are ignored.
    feature : {"gist", "color"} or callable
        ``gist`` or ``color_histogram`` of :mod:`groundmetric.features`, or a callable
        that takes a list of one image, (h, w) or (h, w, 3), and returns one row of
        non-negative numbers. Rows are normalized to mass 1.
    feature_options : dict, optional
        Keyword arguments of the feature.
    feature_key : str, optional
        Identifies a callable in the cache. Change it whenever the callable changes.
    classes : iterable of str, optional
        Names of the subfolders to read; by default all.
    min_per_class : int
        Classes with fewer usable images are dropped, with a warning.
    max_per_class : int, optional
        Read at most this many usable images of each class, in order.
    cache : path, optional
        Folder for histograms, identified by the content of the image and the options
        of the feature, so that they are computed only once. Created if it does not
        exist; never read as a class. Skipped images are tried again each time.
    n_jobs : int, optional
        Threads, as in scikit-learn.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    ImageHistograms

    Warns
    -----
    UserWarning
        If images were skipped or classes dropped; the result lists them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from PIL import Image
    >>> from groundmetric.datasets import load_image_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, image in [("steps", np.eye(9)), ("bars", np.tri(9, k=3))]:
    ...         Path(folder, name).mkdir()
    ...         pixels = (255 * image).astype(np.uint8)
    ...         Image.fromarray(pixels).save(Path(folder, name, "1.png"))
    ...     data = load_image_folder(folder)
    >>> data.X.shape, data.feature_shape, data.y.tolist(), data.paths
    ((2, 128), (8, 4, 4), ['bars', 'steps'], ('bars/1.png', 'steps/1.png'))
    """
    from ._feature import as_feature

    least = validation.as_count(min_per_class, "min_per_class", low=1)
    most = None
    if max_per_class is not None:
        most = validation.as_count(max_per_class, "max_per_class", low=least)
    threads = validation.n_threads(n_jobs)
    chosen = as_feature(feature, feature_options, feature_key)
    folders = _class_folders(Path(path), classes, cache)
    require_pillow()
    reader = Reader(Path(path), chosen, _as_cache(cache, chosen), threads)
    files = {folder.name: image_files(folder) for folder in folders}
    kept = {name: some for name, some in files.items() if len(some) >= least}
    total = sum(min(len(some), most or len(some)) for some in kept.values())
    with progress_bar(total, label="images", show=verbose > 0, unit="image") as report:
        found = {
            name: reader.read(some, most or len(some), report)
            for name, some in kept.items()
        }
    sizes = {name: len(found.get(name, some)) for name, some in files.items()}
    too_small = {name: size for name, size in sizes.items() if size < least}
    _warn(reader.skipped, too_small, least)
    good = [image for name in kept if name not in too_small for image in found[name]]
    if not good:
        raise ValueError(
            f"path is {os.fspath(path)}: no class has {count(least, 'usable image')}."
        )
    return _result(good, reader, too_small)


def _class_folders(
    root: Path, classes: Iterable[str] | None, cache: StrPath | None
) -> list[Path]:
    """Subfolders sorted by name: all but the cache, or those in ``classes``."""
    if not root.is_dir():
        raise ValueError(f"path is {os.fspath(root)}, which is not a folder.")
    found = {
        folder.name: folder
        for folder in root.iterdir()
        if folder.is_dir() and not folder.name.startswith(".")
    }
    if isinstance(classes, str):
        raise ValueError(f"classes is {classes!r}; a list of names is needed.")
    if classes is None:
        names = {name for name in found if not _is_cache(found[name], cache)}
    else:
        names = set(classes)
    for name in sorted(names - found.keys()):
        raise ValueError(f"classes has {name!r}, but {root} has no such subfolder.")
    if not names:
        raise ValueError(
            f"path is {os.fspath(root)}: no subfolder was found or selected."
        )
    return [found[name] for name in sorted(names)]


def _is_cache(folder: Path, cache: StrPath | None) -> bool:
    """Whether a folder is the cache, and not a class with images of its own."""
    if cache is None or not Path(cache).exists() or not folder.samefile(cache):
        return False
    return not image_files(folder)


def image_files(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in SUFFIXES
        and not file.name.startswith(".")
        and file.is_file()
    )


def _as_cache(cache: StrPath | None, feature: Feature) -> HistogramCache | None:
    if cache is None:
        return None
    if feature.facts is None:
        raise ValueError(
            "feature is a callable, which a cache cannot identify: give a feature_key, "
            "and change it whenever the callable changes."
        )
    return HistogramCache(Path(cache), feature.facts)


def _warn(skipped: list[Skipped], too_small: dict[str, int], least: int) -> None:
    """Warn once about all images, and once about all classes."""
    if skipped:
        some = "; ".join(f"{path}: {reason}" for path, reason in skipped[:NAMED])
        more = f"; and {len(skipped) - NAMED} more" if len(skipped) > NAMED else ""
        warnings.warn(
            f"{count(len(skipped), 'image')} skipped: {some}{more}.", stacklevel=3
        )
    if too_small:
        some = ", ".join(f"{name} ({size})" for name, size in too_small.items())
        warnings.warn(
            f"{count(len(too_small), 'class', 'classes')} with fewer than "
            f"{count(least, 'usable image')} dropped: {some}.",
            stacklevel=3,
        )


def _result(
    images: list[Described], reader: Reader, too_small: dict[str, int]
) -> ImageHistograms:
    rows = [image.histogram for image in images if image.histogram is not None]
    for row, image in zip(rows, images, strict=True):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"feature gives {len(rows[0])} bins for {images[0].path}, but "
                f"{len(row)} for {image.path}."
            )
    return ImageHistograms(
        X=np.stack(rows),
        y=np.array([image.label for image in images]),
        feature_shape=reader.feature.shape or rows[0].shape,
        paths=tuple(image.path for image in images),
        skipped=tuple(reader.skipped),
        too_small=too_small,
        n_computed=sum(image.computed for image in images),
        feature_names=reader.feature.names,
    )
