"""Pictures of classes, in the report and in figures."""

import base64
import json
import re

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_digits

from groundmetric import (
    DiscriminantMetricLearning,
    GroundMetricLearning,
    barycenter,
)
from groundmetric.plotting import BarycenterDisplay
from groundmetric.report import write_report
from groundmetric.report._classes import MOST_CLASSES

mpl.use("Agg")
import matplotlib.pyplot as plt

LEARNER = GroundMetricLearning(max_steps=2)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:40], y[:40]


def data_of(path):
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]
    return text, json.loads(found)


def masses(picture):
    return np.frombuffer(base64.b64decode(picture["levels"]), dtype=np.uint8)


def test_a_report_shows_the_barycenter_of_each_class(tmp_path, digits):
    X, y = digits
    learner = GroundMetricLearning(max_steps=2).fit(X, y)
    path = write_report(
        tmp_path / "r.html", X=X, y=y, X_test=X[:6], y_test=y[:6], learner=learner,
        learners=(), feature_shape=(8, 8),
    )  # fmt: skip
    text, found = data_of(path)
    assert "Each class: the barycenter of its training histograms" in text
    assert [each["label"] for each in found["pictures"]["shown"]] == [0, 1, 2]
    expected = barycenter(X, learner, np.arange(3)[:, None] == y)
    for picture, b in zip(found["pictures"]["shown"], expected, strict=True):
        np.testing.assert_allclose(masses(picture), 255 * b / b.max(), atol=8)


def test_classes_of_many_bins_have_means_of_the_bins_shown(tmp_path):
    rng = np.random.default_rng(0)
    n_classes = MOST_CLASSES + 2
    X = rng.gamma(0.3, size=(2 * n_classes, 1100))
    y = np.repeat([f"class {k:02d}" for k in range(n_classes)], 2)
    path = write_report(
        tmp_path / "r.html", X=X, y=y, X_test=X[:4], y_test=y[:4],
        learner=DiscriminantMetricLearning(), learners=(),
    )  # fmt: skip
    text, found = data_of(path)
    assert "The first 20 of 22 classes: the mean of its training" in text
    assert len(found["pictures"]["shown"]) == MOST_CLASSES
    assert {len(masses(each)) for each in found["pictures"]["shown"]} == {
        len(found["bins"])
    }


def test_classes_with_many_histograms_are_cut(tmp_path, digits, monkeypatch):
    X, y = digits
    monkeypatch.setattr("groundmetric.report._classes.MOST_WORK", 3 * 64**2 * 4)
    counts = []

    def note(kind, rows, owner, *_args, **_limits):
        counts.append((kind, np.bincount(owner).tolist()))
        return rows[:3]

    monkeypatch.setattr("groundmetric.report._classes.class_prototypes", note)
    write_report(
        tmp_path / "r.html", X=X, y=y, X_test=X[:6], y_test=y[:6], learner=LEARNER,
        learners=(),
    )  # fmt: skip
    assert counts == [("barycenter", [4, 4, 4])]


def test_images_by_hand():
    X, line = np.eye(4)[[0, 2, 3]], np.abs(np.subtract.outer(range(4), range(4)))
    display = BarycenterDisplay.from_histograms(
        X, ["a", "a", "b"], line**2, shape=(2, 2), smoothing=0
    )
    np.testing.assert_array_equal(display.values, [[0, 1, 0, 0], [0, 0, 0, 1]])
    assert display.plot() is display
    picture = display.im_.get_array()
    texts = [(text.get_text(), text.get_position()) for text in display.ax_.texts]
    assert [name for name, _ in texts] == ["a", "b"]
    # Below the name, the image of "a" has its mass at the top right.
    (middle, bottom) = texts[0][1]
    top, left = round(bottom + 0.7), round(middle - 0.5)
    np.testing.assert_array_equal(
        picture[top : top + 2, left : left + 2], [[0, 1], [0, 0]]
    )
    assert np.nansum(picture) == 2.0
    plt.close("all")


@pytest.mark.parametrize("shape", [(8, 8), (4, 4, 4), (1, 64)])
def test_all_masses_are_in_the_picture(digits, shape):
    X, y = digits
    learner = GroundMetricLearning(max_steps=1).fit(X, y)
    display = BarycenterDisplay.from_histograms(X, y, learner, shape=shape).plot()
    picture = display.im_.get_array()
    assert np.isfinite(picture).sum() == 3 * 64
    assert np.nansum(picture) == pytest.approx(3.0)
    plt.close("all")


def test_a_heat_map_has_the_bins_with_most_mass(digits):
    X, y = digits
    names = [f"bin {p}" for p in range(64)]
    _, axes = plt.subplots()
    display = BarycenterDisplay.from_histograms(
        X / X.sum(axis=1, keepdims=True), y, 1.0 - np.eye(64), names=names, n_bins=5
    ).plot(axes, cmap="Blues")
    assert display.ax_ is axes
    assert display.im_.get_array().shape == (3, 5)
    order = np.argsort(-display.values.sum(axis=0))[:5]
    assert display.names == [names[p] for p in order]
    assert [text.get_text() for text in axes.get_xticklabels()] == display.names
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0, 1]}, "y has 2"),
        ({"y": None}, r"y has shape \(\); one label per histogram is needed"),
        ({"X": [1, 2]}, "2 dimensions are needed"),
        ({"shape": (2, 2)}, "shape is"),
        ({"names": ["a"]}, "^names has 1 names for 3"),
        ({"n_bins": 0}, "n_bins"),
        ({"metric": [[0, 1]]}, "metric"),
    ],
)
def test_bad_input(options, message):
    X, y, metric = [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 1], 1.0 - np.eye(3)
    given = {"X": X, "y": y, "metric": metric, **options}
    with pytest.raises(ValueError, match=message):
        BarycenterDisplay.from_histograms(**given)
