"""Figures as wide as the columns of a paper: sizes, fonts, and names that fit."""

import io

import matplotlib as mpl
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from groundmetric.plotting import (
    FeatureMapDisplay,
    GridMetricDisplay,
    ImportanceDisplay,
    MetricDisplay,
    PathDisplay,
    column_style,
)
from groundmetric.plotting._layouts import placed

mpl.use("Agg")
import matplotlib.pyplot as plt

M = cdist(*[np.random.default_rng(0).normal(size=(30, 2))] * 2)
SHORT = [f"taxon {k}" for k in range(30)]
LONG = [f"a name of sixty characters as they come from data bases {k:04d}" for k in range(30)]  # fmt: skip # noqa: E501
RISES = np.linspace(0.2, 0.02, 20)[:, None] + [0.0, -0.04, 0.05]


def importance(names):
    return ImportanceDisplay(RISES, names=names[:20], repeats=np.arange(20) < 8)


DISPLAYS = {
    "metric": lambda names: MetricDisplay.from_metric(M, names=names),
    "few": lambda names: MetricDisplay.from_metric(M[:8, :8], names=names[:8]),
    "map": lambda names: FeatureMapDisplay.from_metric(M, names=names, n_pairs=4),
    "grid": lambda _: GridMetricDisplay.from_metric(M, (5, 6), n_pairs=3),
    "path": lambda _: PathDisplay(np.geomspace(1, 0.1, 30), starts=np.arange(30)),
    "importance": importance,
}
NAMELESS = ("grid", "path")


@pytest.fixture(params=[1, 2])
def width(request):
    with mpl.rc_context(column_style(request.param)):
        yield {1: 3.3, 2: 6.9}[request.param]
    plt.close("all")


def ticks_of(axes):
    """Return the names of ticks within the axes."""
    return [
        text
        for axis in (axes.xaxis, axes.yaxis)
        for at, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
        if min(axis.get_view_interval()) <= at <= max(axis.get_view_interval())
    ]


def n_overlaps(display, kind):
    """Count names that overlap others along the same axis, or on the same map."""
    groups = [display.ax_.get_yticklabels(), display.ax_.get_xticklabels()]
    if kind == "map":
        groups = [[text for text in display.texts_ if text.get_visible()]]
    found = 0
    for group in groups:
        boxes = [text.get_window_extent() for text in group if text.get_text()]
        for k, box in enumerate(boxes):
            inner = box.padded(-0.9)  # pixels of rounding
            found += inner.count_overlaps(boxes[:k] + boxes[k + 1 :])
    return found


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        pytest.param(kind, names, id=f"{kind}-{length}")
        for kind in DISPLAYS
        for length, names in (("short", SHORT), ("long", LONG))
        if kind not in NAMELESS or names is SHORT
    ],
)
def test_nothing_is_cut_or_tiny_and_names_do_not_overlap(width, kind, names):
    display = DISPLAYS[kind](names).plot()
    figure = display.figure_
    figure.draw_without_rendering()
    assert figure.get_figwidth() == width
    assert kind in NAMELESS or n_overlaps(display, kind) == 0
    page = figure.bbox
    for text in [*ticks_of(display.ax_), *getattr(display, "texts_", [])]:
        if text.get_visible() and text.get_text():
            box = text.get_window_extent()
            assert page.x0 - 1 <= box.x0, text
            assert box.x1 <= page.x1 + 1, text
            assert text.get_size() >= 4.5
    sizes = [text.get_size() for text in figure.findobj(mpl.text.Text)]
    assert max(sizes) <= 8


def test_long_names_of_columns_are_numbers_of_rows():
    with mpl.rc_context(column_style(2)):
        display = MetricDisplay.from_metric(M[:8, :8], names=LONG[:8]).plot()
    shown = [LONG[p] for p in display.order]
    rows = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert [" ".join(row.split()) for row in rows] == [
        f"{name} {k + 1}" for k, name in enumerate(shown)
    ]
    columns = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert columns == list("12345678")
    plt.close("all")


def test_names_at_the_edges_of_the_map_come_first():
    places = np.random.default_rng(1).normal(size=(200, 2))
    names = [f"feature {k}" for k in range(200)]
    display = FeatureMapDisplay.from_metric(cdist(places, places), names=names).plot()
    seen = [text.get_visible() for text in display.texts_]
    at = display.map.positions
    apart = np.linalg.norm(at - at.mean(axis=0), axis=1)
    assert 20 < sum(seen) < 200
    assert seen[int(apart.argmax())]
    assert apart[seen].mean() > apart[np.logical_not(seen)].mean()
    plt.close("all")


def test_files_are_vectors_with_real_fonts(width):
    figure = DISPLAYS["importance"](SHORT).plot().figure_
    for name, within in (("pdf", b"/FontFile2"), ("svg", b"<text")):
        file = io.BytesIO()
        figure.savefig(file, format=name)
        assert within in file.getvalue()
        assert b"/Subtype /Image" not in file.getvalue()
    assert f'width="{72 * width:g}'.encode() in file.getvalue()


def test_style_of_columns():
    assert column_style()["figure.figsize"] == (3.3, 2.6)
    assert column_style(2, height=5)["figure.figsize"] == (6.9, 5.0)
    for options, words in (
        ({"n_columns": 3}, "n_columns is 3; it must be 1 or 2"),
        ({"n_columns": 0}, "n_columns is 0; it must be at least 1"),
        ({"height": 0}, "height is 0"),
    ):
        with pytest.raises(ValueError, match=words):
            column_style(**options)


def test_features_added_to_a_map_are_where_their_distances_say():
    places = np.random.default_rng(0).normal(size=(60, 2))
    found = placed(places[:30], cdist(places[30:], places[:30]), n_iter=300)
    assert found == pytest.approx(places[30:], abs=1e-3)
