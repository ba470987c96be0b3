"""Folders of images as labeled histograms."""

import builtins
import io
import sys

import numpy as np
import pytest
from PIL import Image

from groundmetric.datasets import _image_reader, load_image_folder
from groundmetric.datasets._pixels import decode
from groundmetric.features import color_histogram, gist
from groundmetric.features._color_names import color_names

SMALL = {"size": 16}


def pixels_of(seed, *shape):
    return np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)


def encoded(array, kind="PNG", **options):
    stream = io.BytesIO()
    image = array if isinstance(array, Image.Image) else Image.fromarray(array)
    image.save(stream, kind, **options)
    return stream.getvalue()


@pytest.fixture
def folder(tmp_path):
    """Two classes of three images, and things that are not images."""
    root = tmp_path / "images"
    for label, name in enumerate(["002.bear", "001.ant"]):
        (root / name / "deeper").mkdir(parents=True)
        for k in range(3):
            data = encoded(pixels_of(10 * label + k, 12, 10 + k, 3))
            (root / name / f"{name[:3]}_{k}.png").write_bytes(data)
        (root / name / "deeper" / "7.png").write_bytes(data)
        (root / name / "notes.txt").write_text("no image")
        (root / name / ".hidden.png").write_text("no image")
    (root / ".git").mkdir()
    (root / "README.png").write_text("not in a class")
    return root


@pytest.fixture
def opened(monkeypatch):
    """Sizes of the files that were decoded."""
    seen = []

    def counted(data):
        seen.append(len(data))
        return decode(data)

    monkeypatch.setattr(_image_reader, "decode", counted)
    return seen


def test_a_folder_in_order(folder):
    found = load_image_folder(folder, feature_options=SMALL)
    ants = tuple(f"001.ant/001_{k}.png" for k in range(3))
    bears = tuple(f"002.bear/002_{k}.png" for k in range(3))
    assert found.paths == ants + bears
    assert found.y.tolist() == ["001.ant"] * 3 + ["002.bear"] * 3
    assert found.feature_shape == (8, 4, 4)
    assert (found.skipped, found.too_small, found.n_computed) == ((), {}, 6)
    expected = gist([pixels_of(10 + k, 12, 10 + k, 3) for k in range(3)], size=16)
    assert found.X[:3] == pytest.approx(expected, rel=1e-12)
    in_threads = load_image_folder(folder, feature_options=SMALL, n_jobs=3)
    assert in_threads.paths == found.paths
    assert (in_threads.X == found.X).all()


def test_other_features(folder):
    colors = load_image_folder(folder, feature="color", feature_options={"n_bins": 2})
    assert colors.feature_shape == (2, 2, 2)
    expected = color_histogram([pixels_of(10, 12, 10, 3)], n_bins=2)
    assert (colors.X[:1] == expected).all()
    assert colors.feature_names == tuple(color_names(n_bins=2))
    assert "vivid leaf green" in colors.feature_names  # hue 90 degrees
    scales = load_image_folder(folder, feature_options={"scales": [0, 1], **SMALL})
    assert scales.feature_shape == (2, 8, 4, 4)
    last = "scale 1, 112.5\N{DEGREE SIGN} edges, row 3, column 3"
    assert scales.feature_names[-1] == last
    assert len(set(scales.feature_names)) == 256

    def brightness(images, at):
        return [[(images[0] < at).sum(), (images[0] >= at).sum()]]

    own = load_image_folder(folder, feature=brightness, feature_options={"at": 128})
    assert own.feature_names is None
    assert own.feature_shape == (2,)
    dark = (pixels_of(10, 12, 10, 3) < 128).mean()
    assert own.X[0] == pytest.approx([dark, 1 - dark])


def test_classes_and_limits(folder):
    found = load_image_folder(
        folder, classes=["002.bear"], max_per_class=2, feature_options=SMALL
    )
    assert found.paths == ("002.bear/002_0.png", "002.bear/002_1.png")


def test_unreadable_images_are_named_and_made_up_for(folder):
    ant = folder / "001.ant"
    (ant / "000_text.jpg").write_text("not a JPEG")
    jpeg = encoded(pixels_of(0, 40, 40, 3), "JPEG")
    (ant / "000_truncated.jpg").write_bytes(jpeg[: len(jpeg) // 2])
    (ant / "000_white.png").write_bytes(encoded(np.full((9, 9), 255, np.uint8)))
    (ant / "000_empty.PNG").write_bytes(b"")
    with pytest.warns(UserWarning, match="4 images skipped: 001.ant/000_empty.PNG"):
        found = load_image_folder(folder, max_per_class=3, feature_options=SMALL)
    assert found.y.tolist() == ["001.ant"] * 3 + ["002.bear"] * 3
    reasons = dict(found.skipped)
    assert list(reasons) == [
        f"001.ant/000_{name}"
        for name in ("empty.PNG", "text.jpg", "truncated.jpg", "white.png")
    ]
    assert reasons["001.ant/000_text.jpg"] == "it is not an image of a known kind"
    assert "truncated" in reasons["001.ant/000_truncated.jpg"]
    assert reasons["001.ant/000_white.png"].startswith("the image has one intensity")


def test_small_classes_are_reported(folder):
    (folder / "003.cat").mkdir()
    bear = folder / "002.bear"
    (bear / "002_1.png").write_text("damaged")
    with pytest.warns(UserWarning, match="dropped|skipped") as caught:
        found = load_image_folder(folder, min_per_class=3, feature_options=SMALL)
    assert found.too_small == {"002.bear": 2, "003.cat": 0}
    assert set(found.y) == {"001.ant"}
    assert [path for path, _ in found.skipped] == ["002.bear/002_1.png"]
    assert "002.bear (2), 003.cat (0)" in str(caught[1].message)
    with (
        pytest.raises(ValueError, match="no class has 4 usable"),
        pytest.warns(UserWarning, match="3 classes with fewer than 4"),
    ):
        load_image_folder(folder, min_per_class=4)


def test_kinds_of_images():
    gray = pixels_of(0, 6, 5)
    assert (decode(encoded(gray)) == gray).all()
    deep = gray.astype(np.uint16) * 257
    assert decode(encoded(deep)) == pytest.approx(gray / 255)
    color = pixels_of(1, 6, 5, 3)
    assert (decode(encoded(color)) == color).all()
    half = np.dstack([color, np.full((6, 5), 51, np.uint8)])  # 51 / 255 = 1/5
    on_white = 255 - (255 - color.astype(float)) / 5
    assert np.abs(decode(encoded(half)) - on_white).max() <= 1
    palette = Image.fromarray(gray // 128).convert("P")
    palette.putpalette([255, 0, 0, 0, 0, 255])
    red_or_blue = np.where((gray // 128)[..., None] == 0, [255, 0, 0], [0, 0, 255])
    assert (decode(encoded(palette)) == red_or_blue).all()
    clear = decode(encoded(palette, transparency=0))
    assert (clear[gray < 128] == 255).all()
    assert (decode(encoded(Image.fromarray(gray > 99))) == 255 * (gray > 99)).all()
    with pytest.raises(ValueError, match="real numbers"):
        decode(encoded(gray.astype(np.float32), "TIFF"))


def test_the_orientation_of_the_camera_is_applied():
    tags = Image.Exif()
    tags[0x0112] = 6  # turn by 90 degrees, clockwise
    color = pixels_of(0, 4, 6, 3)
    assert (decode(encoded(color, exif=tags)) == np.rot90(color, -1)).all()


def test_a_cache_saves_all_decoding(folder, tmp_path, opened):
    options = {"cache": tmp_path / "deep" / "cache", "feature_options": SMALL}
    first = load_image_folder(folder, **options)
    assert (len(opened), first.n_computed) == (6, 6)
    again = load_image_folder(folder, **options)
    assert (len(opened), again.n_computed) == (6, 0)
    assert (again.X == first.X).all()
    # Renamed files are the same content.
    (folder / "001.ant" / "001_0.png").rename(folder / "001.ant" / "009.png")
    assert load_image_folder(folder, **options).n_computed == 0
    (folder / "001.ant" / "009.png").write_bytes(encoded(pixels_of(99, 12, 12)))
    changed = load_image_folder(folder, **options)
    assert (len(opened), changed.n_computed) == (7, 1)


def test_a_cache_tells_parameters_apart(folder, tmp_path):
    def n_computed(**options):
        return load_image_folder(folder, cache=tmp_path / "cache", **options).n_computed

    assert n_computed(feature_options=SMALL) == 6
    assert n_computed(feature_options={"grid": 2, **SMALL}) == 6
    # Spelling out defaults, or using numpy numbers, changes nothing.
    assert n_computed(feature_options={"size": np.int64(16), "scales": [2]}) == 0
    assert n_computed(feature="color") == 6
    assert n_computed(feature="color", feature_options={"space": "hsv"}) == 0
    assert n_computed(feature=lambda _: [[1.0, 2.0]], feature_key="a") == 6
    assert n_computed(feature=lambda _: [[1.0, 2.0]], feature_key="a") == 0
    assert n_computed(feature=lambda _: [[2.0, 2.0]], feature_key="b") == 6
    with pytest.raises(ValueError, match="give a feature_key"):
        n_computed(feature=gist)
    with pytest.raises(
        ValueError, match=r"feature_options has <object.* cannot identify"
    ):
        n_computed(feature=gist, feature_key="c", feature_options={"x": object()})


def test_a_cache_among_the_classes_is_none(folder):
    options = {"cache": folder / "cache", "feature_options": SMALL}
    for _ in range(2):  # made by the first, found by the second
        found = load_image_folder(folder, **options)
        assert set(found.y) == {"001.ant", "002.bear"}
        assert found.too_small == {}
    # A class stays one, even if histograms are kept in its folder.
    (folder / "cache").rename(folder.parent / "elsewhere")
    options["cache"] = folder / "001.ant"
    assert set(load_image_folder(folder, **options).y) == {"001.ant", "002.bear"}


def test_damaged_entries_are_computed_again(folder, tmp_path):
    cache = tmp_path / "cache"
    options = {"cache": cache, "feature_options": SMALL}
    first = load_image_folder(folder, **options)
    entries = sorted(path for path in cache.rglob("*") if path.is_file())
    assert len(entries) == 6
    a, b, c, d, *_ = entries
    a.write_bytes(a.read_bytes()[:-8])
    b.write_bytes(b"")
    flipped = bytearray(c.read_bytes())
    flipped[100] ^= 1
    c.write_bytes(flipped)
    d.write_bytes(entries[4].read_bytes())  # sound, but of another image
    again = load_image_folder(folder, **options)
    assert again.n_computed == 4
    assert (again.X == first.X).all()
    assert load_image_folder(folder, **options).n_computed == 0


def test_a_failed_write_leaves_nothing(folder, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    monkeypatch.setattr("pathlib.Path.replace", _fail)
    with pytest.raises(OSError, match="disk is full"):
        load_image_folder(folder, cache=cache, feature_options=SMALL)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def _fail(*_):
    raise OSError("disk is full")


def test_progress_is_shown(folder, capsys):
    load_image_folder(folder, feature_options=SMALL, verbose=1)
    assert "6/6" in capsys.readouterr().err


def test_pillow_is_named_if_missing(folder, monkeypatch):
    real = builtins.__import__

    def without(name, *args):
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.delitem(sys.modules, "PIL")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'groundmetric\[images\]'"):
        load_image_folder(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature": "sift"}, "feature is 'sift'; it must be one of gist, color, or a"),
        ({"feature_options": {"bins": 2}}, "feature_options do not fit gist.*'bins'"),
        ({"feature_options": {"grid": 0}}, "grid is 0"),
        ({"feature_options": [2]}, r"feature_options is \[2\]; a dict"),
        ({"feature_key": "x"}, "feature_key is only for callables"),
        ({"feature": gist, "feature_key": 3}, "feature_key is 3; a string"),
        ({"classes": ["001.ant", "dog"]}, "classes has 'dog'"),
        ({"classes": "dog"}, "classes is 'dog'; a list"),
        ({"classes": []}, "no subfolder"),
        ({"min_per_class": 0}, "min_per_class is 0"),
        ({"min_per_class": 3, "max_per_class": 2}, "max_per_class is 2; .* least 3"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_bad_options_are_named(options, message, folder, opened):
    with pytest.raises(ValueError, match=message):
        load_image_folder(folder, **options)
    assert not opened


def test_bad_folders_are_named(folder, tmp_path):
    with pytest.raises(ValueError, match="nowhere, which is not a folder"):
        load_image_folder(tmp_path / "nowhere")
    with pytest.raises(
        ValueError, match=r"cache is .*, where no folder can be created"
    ):
        load_image_folder(folder, cache=folder / "README.png")


def test_a_feature_must_give_as_many_bins_everywhere(folder):
    def columns(images):
        return images[0].mean(axis=(0, 2))[None]

    with pytest.raises(ValueError, match=r"10 bins for 001.ant/001_0.*11 for .*_1.png"):
        load_image_folder(folder, feature=columns)


def test_a_feature_must_give_one_row(folder):
    with pytest.raises(ValueError, match=r"2 rows for one image, 001.ant/001_0.png"):
        load_image_folder(folder, feature=lambda _: [[1.0], [2.0]])
