"""Histograms of colors."""

import colorsys

import numpy as np
import pytest

from groundmetric.features import color_histogram
from groundmetric.features._color_names import color_names
from groundmetric.features.color import SPACES

RED, GREEN, BLUE = [255, 0, 0], [0, 255, 0], [0, 0, 255]
WHITE, BLACK = [255, 255, 255], [0, 0, 0]


def cell_of(color, space, n_bins):
    histogram = color_histogram([[[color]]], space=space, n_bins=n_bins)
    assert histogram.max() == 1.0
    shape = (n_bins,) * 3 if isinstance(n_bins, int) else n_bins
    return tuple(int(k) for k in np.unravel_index(histogram.argmax(), shape))


@pytest.mark.parametrize(
    ("color", "cell"),
    [
        (RED, (0, 3, 3)),
        (GREEN, (2, 3, 3)),
        (BLUE, (4, 3, 3)),
        ([255, 255, 0], (1, 3, 3)),
        ([255, 0, 1], (5, 3, 3)),  # hue just below that of red
        (WHITE, (0, 0, 3)),
        (BLACK, (0, 0, 0)),
        ([0, 100, 50], (2, 3, 1)),  # hue 150 degrees, value 0.39
    ],
)
def test_hsv_by_hand(color, cell):
    assert cell_of(color, "hsv", (6, 4, 4)) == cell


def test_hsv_is_that_of_the_standard_library():
    rgb = np.random.default_rng(0).integers(0, 256, (200, 3)) / 255
    expected = [colorsys.rgb_to_hsv(*color) for color in rgb]
    assert SPACES["hsv"].coordinates(rgb) == pytest.approx(np.array(expected))


@pytest.mark.parametrize(
    ("color", "lab"),
    [
        # As tables of sRGB have them, to the digits of the matrix.
        ((1, 1, 1), (100, 0, 0)),
        ((0, 0, 0), (0, 0, 0)),
        ((1, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 1, 0), (87.73, -86.18, 83.18)),
        ((0, 0, 1), (32.30, 79.19, -107.86)),
    ],
)
def test_lab_of_known_colors(color, lab):
    found = SPACES["lab"].coordinates(np.array([color], float))
    assert found[0] == pytest.approx(lab, abs=0.03)


@pytest.mark.parametrize("space", SPACES)
def test_ranges_hold_all_colors(space):
    levels = np.linspace(0, 1, 18)
    rgb = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    found = SPACES[space].coordinates(rgb)
    assert (found.min(axis=0) >= np.array(SPACES[space].low) - 1e-9).all()
    assert (found.max(axis=0) <= np.array(SPACES[space].high) + 1e-9).all()


def test_shares_of_pixels():
    image = [[RED, RED, BLUE], [WHITE, BLACK, BLUE]]
    found = color_histogram([image], space="rgb", n_bins=2)[0]
    assert found == pytest.approx(np.array([1, 2, 0, 0, 2, 0, 0, 1]) / 6)
    assert color_histogram([image], space="rgb").shape == (1, 125)
    assert color_histogram([image], space="hsv").shape == (1, 128)
    assert color_histogram([image], n_bins=(3, 1, 2)).shape == (1, 6)


def test_bytes_fractions_and_gray_agree():
    gray = np.random.default_rng(0).integers(0, 256, (2, 5, 7)).astype(np.uint8)
    expected = color_histogram(gray, space="lab")
    colors = np.repeat(gray[..., None], 3, axis=3)
    assert (color_histogram(colors, space="lab") == expected).all()
    assert (color_histogram(colors / 255, space="lab") == expected).all()


@pytest.mark.parametrize(
    ("images", "options", "message"),
    [
        ([np.full((2, 2), 256)], {}, r"images\[0\]\[0, 0\] is 256.0.*0 to 255"),
        ([np.full((2, 2), 1.5)], {}, r"images\[0\]\[0, 0\] is 1.5.*0 to 1\."),
        ([np.full((2, 2), -1)], {}, r"images\[0\]\[0, 0\] is -1"),
        ([], {}, "images is empty"),
        (
            [[[0.0]]],
            {"space": "cmyk"},
            "space is 'cmyk'; it must be one of hsv, rgb, lab",
        ),
        ([[[0.0]]], {"n_bins": 0}, "n_bins is 0"),
        ([[[0.0]]], {"n_bins": (2, 2)}, r"n_bins is \(2, 2\)"),
        ([[[0.0]]], {"n_bins": (2, 2, 0.5)}, r"n_bins\[2\] is 0.5"),
    ],
)
def test_bad_input_is_named(images, options, message):
    with pytest.raises(ValueError, match=message):
        color_histogram(images, **options)


@pytest.mark.parametrize("space", SPACES)
def test_coordinates_lead_back_to_colors(space):
    rgb = np.random.default_rng(1).random((200, 3))
    found = SPACES[space].colors(SPACES[space].coordinates(rgb))
    assert found == pytest.approx(rgb, abs=1e-9)


@pytest.mark.parametrize(
    ("color", "name"),
    [
        (WHITE, "white"),
        (BLACK, "black"),
        ([170, 170, 170], "light gray"),
        (RED, "vivid red-orange"),  # hues from 0 to 45 degrees
        ([130, 140, 10], "strong yellow-green"),  # hue 65 degrees, value 0.55
        (GREEN, "vivid green"),
        ([60, 90, 85], "dark grayish blue-green"),  # saturation 0.33, value 0.35
        ([150, 200, 220], "pale azure"),
        ([200, 200, 230], "blue-tinted white"),  # saturation 0.13
        ([10, 0, 40], "very deep blue"),  # hue 255 degrees
    ],
)
def test_bins_are_named_after_their_colors(color, name):
    histogram = color_histogram([[[color]]])
    assert color_names()[int(histogram.argmax())] == name


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("n_bins", [None, 1, 2, 7, (40, 2, 9), (1, 1, 300)])
def test_names_of_bins_differ(space, n_bins):
    names = color_names(space, n_bins)
    assert len(set(names)) == len(names)
    assert len(names) == color_histogram([[[RED]]], space=space, n_bins=n_bins).size


def test_bins_of_the_same_name_show_their_colors():
    names = color_names("rgb")  # centers 0.1, 0.3, ...: 0.9 is 230, 0.7 is 178
    assert names[0] == "black"
    assert names[-1] == "white"
    assert names[4] == "vivid blue #1a1ae6"
    assert "vivid yellow" in names
