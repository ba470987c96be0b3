r"""GIST: the energy of edges in each direction and each cell of a grid.

After Oliva & Torralba, "Modeling the shape of the scene" (IJCV 42, 2001), the features
of the paper's section 7.2: 8 directions at a middle scale, in 4 x 4 cells, as one
histogram of 128 bins. The formulas are those in :func:`gist`.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from .. import validation
from ._resize import resize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Floats = NDArray[np.float64]

FINEST = 0.3  # cycles a pixel
STEP = 1.85  # between scales
LARGEST_SCALE = 9
LOW_CUT = 4.0  # cycles an image
SMALLEST_CONTRAST = 0.2
BRIGHTEST = 255.0
MARGIN = 4  # the mirrored border is 1/4 of the image
# Images transformed together; one and eight were both slower.
BATCH = 2


class Settings(NamedTuple):
    """Checked parameters."""

    n_orientations: int
    grid: int
    scales: tuple[int, ...]
    size: int
    prefilter: bool

    @property
    def margin(self) -> int:
        """Width of the mirrored border."""
        return self.size // MARGIN


def gist(
    images: Iterable[Any],
    *,
    n_orientations: int = 8,
    grid: int = 4,
    scales: Sequence[int] = (2,),
    size: int = 128,
    prefilter: bool = True,
) -> Floats:
    r"""Energy of edges by direction and place, as histograms of mass 1.

    An image is turned to gray (the mean of its colors), stretched to a square, scaled
    to intensities from 0 to 255, whitened (below), and mirrored at its border. Of its
    product with a transfer function for each scale s and direction j,

    .. math:: G_{sj}(f, \phi) = \exp\big(-3.5\,(f / f_s - 1)^2
              - 2\pi\,(n / 8)^2\, \delta(\phi, \theta_j)^2\big),
              \quad f_s = 0.3 / 1.85^s, \quad \theta_j = \pi j / n,

    with :math:`\delta` the difference of two angles, n directions, f in cycles a pixel
    and no response to a constant, the absolute value is averaged in each cell.

    Whitening takes the logarithm x = log(1 + v), subtracts what is slow, and divides by
    the local contrast,

    .. math:: y = x - g * x, \qquad z = y / (0.2 + \sqrt{g * y^2}),

    where g is a Gaussian that halves 4 cycles an image.

    Parameters
    ----------
    images : array of shape (n, h, w) or (n, h, w, 3), or iterable of 2-D or 3-D arrays
        Gray or color images of any size and scale. They are read one at a time, so a
        generator can save memory.
    n_orientations : int
        Number of directions. Direction j is that of the *change*: intensities that
        change along the x-axis, as at vertical edges, have direction 0, and those that
        change from top left to bottom right direction n / 4.
    grid : int
        Number of cells along each side.
    scales : sequence of int
        Scales to use, where 0 is the finest; usually within 0 to 3.
    size : int
        Images are stretched to this many pixels along each side.
    prefilter : bool
        Whether to whiten.

    Returns
    -------
    ndarray of shape (n, n_scales * n_orientations * grid * grid)
        Bin ((s * n_orientations + j) * grid + row) * grid + column.

    Raises
    ------
    ValueError
        If an image has the same intensity everywhere, and so no edges.

    Examples
    --------
    Vertical stripes are all direction 0:

    >>> import numpy as np
    >>> from groundmetric.features import gist
    >>> stripes = np.tile(np.sin(2 * np.pi * 0.09 * np.arange(128)), (128, 1))
    >>> X = gist([stripes])
    >>> X.shape
    (1, 128)
    >>> int(X.reshape(8, 16).sum(axis=1).argmax())
    0
    """
    settings = _valid_settings(n_orientations, grid, scales, size, prefilter)
    squares = (
        _square(image, name, settings) for name, image in validation.each_image(images)
    )
    rows = [_energies(batch, settings) for batch in _batches(squares)]
    if not rows:
        raise ValueError("images is empty: at least one image is needed.")
    energies = np.concatenate(rows)
    return np.asarray(energies / energies.sum(axis=1, keepdims=True))


def edge_names(n_orientations: int, grid: int, scales: Sequence[int]) -> list[str]:
    """Name bins by their edges and place, such as "vertical edges, row 0, column 3".

    Angles are those of the edges themselves, counterclockwise from the horizontal.
    """
    special = {0.0: "horizontal", 90.0: "vertical"}
    angles = [(90 - 180 * j / n_orientations) % 180 for j in range(n_orientations)]
    kinds = [special.get(angle, f"{angle:.4g}\N{DEGREE SIGN}") for angle in angles]
    return [
        f"{f'scale {s}, ' if len(scales) > 1 else ''}{kind} edges, row {i}, column {j}"
        for s in scales
        for kind in kinds
        for i in range(grid)
        for j in range(grid)
    ]


def _valid_settings(
    n_orientations: int, grid: int, scales: Sequence[int], size: int, prefilter: object
) -> Settings:
    if np.ndim(scales) != 1 or len(scales) == 0:
        raise ValueError(
            f"scales is {scales!r}; whole numbers such as (2,) are needed."
        )
    if not isinstance(prefilter, (bool, np.bool_)):
        raise ValueError(f"prefilter is {prefilter!r}; True or False is needed.")
    cells = validation.as_count(grid, "grid", low=1)
    return Settings(
        validation.as_count(n_orientations, "n_orientations", low=1),
        cells,
        tuple(
            validation.as_count(scale, f"scales[{i}]", low=0, high=LARGEST_SCALE)
            for i, scale in enumerate(scales)
        ),
        validation.as_count(size, "size", low=max(8, cells)),
        bool(prefilter),
    )


def _square(image: object, name: str, settings: Settings) -> Floats:
    """Convert to gray, one size and 0 to 255, and mirror the border."""
    array = validation.as_image(image, name)
    gray = array
    if array.ndim > 2:  # noqa: PLR2004 - a mean over so short an axis would be slow
        gray = (array[..., 0] + array[..., 1] + array[..., 2]) / 3
    square = resize(gray, settings.size)
    low, high = square.min(), square.max()
    # Resizing may change the last digits of a constant image.
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        raise ValueError(f"{name} has one intensity everywhere: it has no edges.")
    scaled = BRIGHTEST * ((square - low) / (high - low))
    return np.pad(scaled, settings.margin, mode="symmetric")


def _batches(squares: Iterator[Floats]) -> Iterator[Floats]:
    while batch := list(islice(squares, BATCH)):
        yield np.stack(batch)


def _energies(squares: Floats, settings: Settings) -> Floats:
    """Mean absolute responses, (n_images, n_bins)."""
    filtered = _whitened(squares, settings.size) if settings.prefilter else squares
    spectra = fft.fft2(filtered)  # (n, m, m)
    inner = slice(settings.margin, settings.margin + settings.size)
    cells = [
        _means(np.abs(fft.ifft2(spectra * transfer)[:, inner, inner]), settings.grid)
        for transfer in _transfers(settings)
    ]
    return np.stack(cells, axis=1).reshape(len(squares), -1)


def _means(responses: Floats, grid: int) -> Floats:
    """Average in grid x grid cells of nearly equal size, (n, grid * grid)."""
    edges = np.arange(grid + 1) * responses.shape[1] // grid
    sums = np.add.reduceat(responses, edges[:-1], axis=1)
    sums = np.add.reduceat(sums, edges[:-1], axis=2)
    areas = np.outer(np.diff(edges), np.diff(edges))
    return (sums / areas).reshape(len(responses), -1)


def _whitened(squares: Floats, size: int) -> Floats:
    """Subtract low frequencies, and divide by the local contrast."""
    m = squares.shape[1]
    low = _low_pass(m, size)  # (m, m // 2 + 1)
    x = np.log1p(squares)
    y = x - fft.irfft2(low * fft.rfft2(x), s=(m, m))
    # A Gaussian is positive, but its truncated transform may not be.
    power = np.maximum(fft.irfft2(low * fft.rfft2(y**2), s=(m, m)), 0.0)
    return np.asarray(y / (SMALLEST_CONTRAST + np.sqrt(power)))


@lru_cache(maxsize=8)
def _low_pass(m: int, size: int) -> Floats:
    """Gaussian in frequency on a half-plane, 1 at zero and 1/2 at the cutoff."""
    fy, fx = np.meshgrid(fft.fftfreq(m), fft.rfftfreq(m), indexing="ij")
    cut = LOW_CUT / size
    return np.asarray(np.exp(-np.log(2.0) * (fx**2 + fy**2) / cut**2))


@lru_cache(maxsize=8)
def _transfers(settings: Settings) -> Floats:
    """All transfer functions, (n_scales * n_orientations, m, m)."""
    n = settings.n_orientations
    m = settings.size + 2 * settings.margin
    fy, fx = np.meshgrid(fft.fftfreq(m), fft.fftfreq(m), indexing="ij")
    f, phi = np.hypot(fx, fy), np.arctan2(fy, fx)
    found = np.empty((len(settings.scales) * n, m, m))
    for k, (scale, j) in enumerate((s, j) for s in settings.scales for j in range(n)):
        turn = phi - np.pi * j / n
        delta = (turn + np.pi) % (2 * np.pi) - np.pi  # from -pi to pi
        radial = 3.5 * (f / (FINEST / STEP**scale) - 1) ** 2
        found[k] = np.exp(-radial - 2 * np.pi * (n / 8) ** 2 * delta**2)
        found[k, 0, 0] = 0.0
    return found
