"""GIST features of images."""

import tracemalloc

import numpy as np
import pytest

import reference
from groundmetric.features import gist
from groundmetric.features._resize import resize
from groundmetric.features.gist import edge_names


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    smooth = rng.normal(size=(10, 32, 32)).cumsum(axis=1)
    return smooth + rng.normal(size=smooth.shape)


@pytest.mark.parametrize("prefilter", [True, False])
@pytest.mark.parametrize(
    ("n_orientations", "grid", "scales", "size"),
    [(8, 4, (2,), 32), (6, 3, (0, 3), 32), (1, 1, (1,), 17), (5, 5, (2, 1, 0), 23)],
)
def test_equals_its_formulas(  # noqa: PLR0917 - all by name
    images, n_orientations, grid, scales, size, prefilter
):
    options = {"n_orientations": n_orientations, "grid": grid, "scales": scales}
    options |= {"size": size, "prefilter": prefilter}
    image = images[0, :size, :size]
    found = gist([image], **options)
    assert found.shape == (1, len(scales) * n_orientations * grid**2)
    assert found[0] == pytest.approx(reference.gist(image, **options), rel=1e-10)


@pytest.mark.parametrize("j", range(8))
@pytest.mark.parametrize("prefilter", [True, False])
def test_a_grating_lights_its_direction(j, prefilter):
    angle, frequency = np.pi * j / 8, 0.3 / 1.85**2
    y, x = np.mgrid[:128, :128]
    wave = np.sin(2 * np.pi * frequency * (x * np.cos(angle) + y * np.sin(angle)))
    cells = gist([wave], prefilter=prefilter).reshape(8, 4, 4)
    energies = cells[:, 1:3, 1:3].sum(axis=(1, 2))  # the border has mirrored waves
    assert energies.argmax() == j
    # The next directions are pi / 8 away: exp(-2 pi (pi / 8)^2) as much.
    fall = np.exp(-2 * np.pi * (np.pi / 8) ** 2)
    for near in (j - 1, (j + 1) % 8):
        assert energies[near] / energies[j] == pytest.approx(fall, rel=0.02)


@pytest.mark.parametrize(
    ("slope", "name"),
    [
        ((1, 0), "vertical"),  # bright on the right
        ((0, 1), "horizontal"),
        ((1, 1), "45\N{DEGREE SIGN}"),  # from bottom left to top right
        ((1, -1), "135\N{DEGREE SIGN}"),
    ],
)
def test_bins_are_named_after_their_edges(slope, name):
    y, x = np.mgrid[:32, :32] - 15.5
    found = gist([(slope[0] * x + slope[1] * y > 0).astype(float)], grid=1)[0]
    names = edge_names(8, 1, (2,))
    assert names[int(found.argmax())] == f"{name} edges, row 0, column 0"


def test_a_grating_lights_its_scale():
    waves = [
        np.tile(np.sin(2 * np.pi * 0.3 / 1.85**s * np.arange(128)), (128, 1))
        for s in range(4)
    ]
    energies = gist(waves, scales=(0, 1, 2, 3), prefilter=False)
    assert energies.reshape(4, 4, -1).sum(axis=2).argmax(axis=1).tolist() == [
        0,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize("cell", [(0, 0), (0, 3), (2, 1), (3, 3)])
def test_a_patch_lights_its_cell(cell):
    image = np.zeros((64, 64))
    row, column = (16 * k + 4 for k in cell)
    image[row : row + 8, column : column + 8] = 1.0
    energies = gist([image], size=64).reshape(8, 4, 4).sum(axis=0)
    assert np.unravel_index(energies.argmax(), (4, 4)) == cell


def test_symmetries_permute_bins(images):
    image = images[0]
    bins = gist([image], size=32).reshape(8, 4, 4)
    # Transposing turns direction theta to pi/2 - theta: j to 4 - j, and cells with it.
    transposed = gist([image.T], size=32).reshape(8, 4, 4)
    swapped = bins[(4 - np.arange(8)) % 8].transpose(0, 2, 1)
    assert transposed == pytest.approx(swapped, rel=1e-9)
    # Mirroring left and right turns theta to pi - theta.
    mirrored = gist([image[:, ::-1]], size=32).reshape(8, 4, 4)
    assert mirrored == pytest.approx(bins[-np.arange(8) % 8][:, :, ::-1], rel=1e-9)


def test_brightness_and_contrast_do_not_matter(images):
    assert gist(40 * images + 7, size=32) == pytest.approx(gist(images, size=32))
    bytes_ = (images - images.min()).round().astype(np.uint8)
    assert (gist(bytes_, size=32) == gist(bytes_.astype(float), size=32)).all()
    colored = np.repeat(bytes_[..., None], 3, axis=3)
    assert gist(colored, size=32) == pytest.approx(gist(bytes_, size=32))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_batches_do_not_change_results(n, images):
    together = gist((image for image in images[:n]), size=32)
    alone = np.concatenate([gist([image], size=32) for image in images[:n]])
    assert together == pytest.approx(alone, rel=1e-12)
    assert together.sum(axis=1) == pytest.approx(np.ones(n), rel=1e-14)


def test_memory_does_not_grow_with_images(images):
    def peak(n):
        tracemalloc.start()
        try:
            assert len(gist((images[0] for _ in range(n)), size=64)) == n
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(2)  # transfer functions are made, and kept
    one = 128 * 8  # bytes of a histogram
    assert peak(40) < peak(4) + 3 * 36 * one + 50_000


def test_sizes_may_differ(images):
    wide = np.repeat(images[0], 3, axis=1)
    found = gist([images[0], wide, images[1, :20]], size=32)
    assert found.shape == (3, 128)
    assert (found[:1] == gist(images[:1], size=32)).all()
    assert (found[1:2] == gist([resize(wide, 32)], size=32)).all()


def test_resizing_by_hand():
    image = np.array([[0.0, 4.0, 8.0, 12.0]])
    # Two new pixels, two old ones wide: weights 3, 3, 1 (and 1 beyond the border).
    assert resize(image, 2)[0] == pytest.approx([(12 + 8) / 7, (4 + 24 + 36) / 7])
    # Twice as many: a quarter of the way to the neighbor; the border stays.
    assert resize(np.array([[0.0, 4.0]]), 4)[0] == pytest.approx([0, 1, 3, 4])
    assert (resize(image, 4) == image).all()
    assert resize(np.full((7, 5), 3.0), 16) == pytest.approx(np.full((16, 16), 3.0))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros((2, 9, 9)), r"images\[0\] has one intensity everywhere"),
        ([np.eye(9), np.full((30, 41), 0.1)], r"images\[1\] has one intensity"),
        (np.eye(9), r"images has shape \(9, 9\).*pass \[image\]"),
        (np.ones((9, 9, 3)), r"images has shape \(9, 9, 3\)"),
        ([np.ones((9, 9, 4))], r"images\[0\] has shape \(9, 9, 4\)"),
        ([np.eye(9), np.ones(3)], r"images\[1\] has shape \(3,\)"),
        ([np.array([[1.0, np.nan]])], r"images\[0\]\[0, 1\] is nan"),
        ([np.array([["a"]])], r"images\[0\] is not an array of real numbers"),
        ([[[1, 2], [3]]], r"images\[0\] is not an array of numbers"),
        ([np.ones((0, 4))], r"images\[0\] is empty"),
        ([], "images is empty"),
        (3, "images is not a series of images"),
    ],
)
def test_bad_images_are_named(bad, message):
    with pytest.raises(ValueError, match=message):
        gist(bad, size=16)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_orientations": 0}, "n_orientations is 0"),
        ({"grid": 2.5}, "grid is 2.5"),
        ({"scales": 2}, "scales is 2; whole numbers"),
        ({"scales": ()}, r"scales is \(\)"),
        ({"scales": (1, -1)}, r"scales\[1\] is -1"),
        ({"size": 7}, "size is 7; it must be at least 8"),
        ({"size": 16, "grid": 17}, "size is 16; it must be at least 17"),
        ({"prefilter": "yes"}, "prefilter is 'yes'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        gist([np.eye(16)], **options)
