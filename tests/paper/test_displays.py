"""Panels: what is drawn, in which order, and how methods look."""

import matplotlib as mpl
import numpy as np
import pytest
from made_up import frame
from matplotlib.figure import Figure
from test_summary import CURVES

from paper import METHODS
from paper.curves import CurvesDisplay
from paper.differences import DifferenceDisplay
from paper.style import label_of, style_of

mpl.use("Agg")


@pytest.fixture
def ax():
    return Figure().subplots()


def test_curves_are_the_means(ax):
    svm_error = {"l1": 0.25, "l2": 0.1, "gml": 0.125}
    results = frame(CURVES, svm_error=svm_error)
    display = CurvesDisplay.from_results(results)
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    # Means as in test_summary, in percent.
    for method, expected in (("l1", [30, 25]), ("l2", [50, 15]), ("gml", [20, 17.5])):
        np.testing.assert_allclose(display.lines_[method].get_ydata(), expected)
        assert display.lines_[method].get_xdata().tolist() == [1, 2]
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    # By the mean over kappa: 18.75, 27.5, 32.5.
    assert named == ["GML-EMD (SVM 12.5 %)", "l1 (SVM 25.0 %)", "l2 (SVM 10.0 %)"]


def test_bands_are_the_intervals(ax):
    # The interval of chi2 reaches below 0 and is cut there.
    curves = {**CURVES, "chi2": [[0.0, 0.1], [0.1, 0.0], [0.0, 0.1], [0.0, 0.0]]}
    display = CurvesDisplay.from_results(frame(curves)).plot(ax)
    bands = [band.get_paths()[0].vertices for band in ax.collections]
    found = display.curves
    assert found.low[3, 0] < 0
    for band, low, high in zip(bands, found.low, found.high, strict=True):
        at_first = band[band[:, 0] == 1, 1]  # ends at kappa = 1
        if np.isnan(low[0]):  # l2 errs alike on all tasks: a band from kappa = 2 on
            assert at_first.size == 0
            continue
        assert at_first.min() == pytest.approx(100 * max(low[0], 0))
        assert at_first.max() == pytest.approx(100 * high[0])


def test_legend_of_recall_has_the_highest_first_and_no_svm_if_there_is_none(ax):
    CurvesDisplay.from_results(frame(CURVES), measure="recall").plot(ax)
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["GML-EMD", "l1", "l2"]


def test_one_task_has_no_band(ax):
    results = frame({"l1": [[0.2, 0.3]], "gml": [[0.1, 0.1]]})
    CurvesDisplay.from_results(results).plot(ax, legend=False)
    DifferenceDisplay.from_results(results, "gml").plot(ax, legend=False)
    assert not ax.collections
    assert ax.get_legend() is None


def test_differences_name_the_best_at_each_kappa(ax):
    display = DifferenceDisplay.from_results(frame(CURVES), "gml").plot(ax)
    np.testing.assert_allclose(display.line_.get_ydata(), [-10, 2.5])
    # l1 is best at kappa = 1, l2 at 2; each has its own marker there.
    assert list(display.markers_) == ["l1", "l2"]
    assert display.markers_["l1"].get_xdata().tolist() == [1]
    assert display.markers_["l2"].get_xdata().tolist() == [2]
    assert display.markers_["l2"].get_marker() == style_of("l2").marker
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["GML-EMD minus l1", "GML-EMD minus l2"]
    zero = ax.lines[0].get_ydata()
    assert list(zero) == [0, 0]


def test_displays_make_their_own_axes():
    import matplotlib.pyplot as plt

    results = frame(CURVES)
    one = CurvesDisplay.from_results(results).plot()
    two = DifferenceDisplay.from_results(results, "gml", against="l1").plot()
    assert one.figure_ is not two.figure_
    plt.close(one.figure_)
    plt.close(two.figure_)


def test_every_method_has_a_look_of_its_own():
    looks = {style_of(method) for method in METHODS}
    assert len(looks) == len(METHODS)
    assert style_of("my-own") == style_of("my-own")
    assert style_of("gml-k7-uniform").color.startswith("#")
    assert label_of("my-own") == "my-own"
