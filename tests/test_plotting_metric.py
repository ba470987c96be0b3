"""Pictures of a metric: what was drawn, and where."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

from groundmetric import (
    DescentPath,
    GroundMetricLearning,
    Neighborhood,
    SinkhornMetricLearning,
)
from groundmetric.experiments import stability
from groundmetric.plotting import (
    FeatureMapDisplay,
    GridMetricDisplay,
    ImportanceDisplay,
    MetricDisplay,
    PathDisplay,
)
from groundmetric.plotting._layouts import PlanarMap

mpl.use("Agg")
import matplotlib.pyplot as plt

LINE = np.abs(np.subtract.outer(range(4), range(4))).astype(float)


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def learner():
    X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    return GroundMetricLearning().fit(X, [0, 0, 1, 1])


def test_heat_map_shows_the_metric_in_its_order(learner):
    display = MetricDisplay.from_estimator(learner, order=[2, 0, 3, 1]).plot()
    order = np.ix_([2, 0, 3, 1], [2, 0, 3, 1])
    assert np.array_equal(display.im_.get_array(), learner.metric_[order])
    assert display.colorbar_ is not None
    assert display.figure_ is display.ax_.figure


def test_heat_map_orders_by_leaves_and_names_few_features():
    shuffled = [2, 0, 3, 1]
    M = LINE[np.ix_(shuffled, shuffled)]
    display = MetricDisplay.from_metric(M, names=list("cadb")).plot(colorbar=False)
    drawn = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert drawn in (list("abcd"), list("dcba"))
    assert display.colorbar_ is None
    many = MetricDisplay.from_metric(
        1.0 - np.eye(50), names=[str(k) for k in range(50)]
    )
    assert not many.plot().ax_.get_yticklabels()


def test_displays_draw_where_they_are_told(learner):
    figure, axes = plt.subplots(2, 2)
    displays = (
        MetricDisplay.from_estimator(learner),
        FeatureMapDisplay.from_estimator(learner),
        GridMetricDisplay.from_estimator(learner, (2, 2)),
        PathDisplay.from_estimator(learner),
    )
    for display, ax in zip(displays, axes.ravel(), strict=True):
        assert display.plot(ax=ax) is display
        assert display.ax_ is ax
        assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_feature_map_says_its_stress_and_connects_the_nearest():
    display = FeatureMapDisplay.from_metric(LINE, names=list("abcd"), n_pairs=2)
    display.plot()
    assert np.array_equal(display.points_.get_offsets(), display.map.positions)
    assert [text.get_text() for text in display.texts_] == list("abcd")
    assert len(display.lines_.get_segments()) == 2
    assert display.ax_.get_xlabel() == "stress 0.00"  # a line fits into the plane


def test_names_in_the_map_cover_no_points():
    # Up and to the right of each of the first, its name would cover the next.
    places = np.array([[0.0, 0], [1, 0.2], [2, 0.4], [3, 0.6], [0, 8], [9, 0]])
    names = [f"feature {k}" for k in range(6)]
    display = FeatureMapDisplay(
        PlanarMap(places, 0.0, 0), nearest=np.empty((0, 2), int), names=names
    ).plot()
    display.figure_.canvas.draw()
    points = display.ax_.transData.transform(display.map.positions)
    boxes = [text.get_window_extent() for text in display.texts_]
    assert not any(box.contains(*point) for box in boxes for point in points)
    assert all(box.count_overlaps(boxes) == 1 for box in boxes)  # with itself


def test_names_that_the_estimator_saw_are_drawn(learner):
    learner.feature_names_in_ = np.array(["a", "b", "c", "<d>"], dtype=object)
    try:
        display = FeatureMapDisplay.from_estimator(learner).plot()
        assert display.texts_[3].get_text() == "<d>"
        assert MetricDisplay.from_estimator(learner).names[3] == "<d>"
    finally:
        del learner.feature_names_in_


def test_picture_of_a_grid_puts_channels_side_by_side():
    d = 2 * 2 * 3
    M = np.abs(np.subtract.outer(range(d), range(d))).astype(float)
    display = GridMetricDisplay.from_metric(M, (2, 2, 3), feature=0, n_pairs=1).plot()
    picture = display.im_.get_array().filled(-1)
    # Feature = channel * 6 + row * 3 + column, and the distance to 0 is its number.
    assert picture.tolist() == [[0, 1, 2, -1, 6, 7, 8], [3, 4, 5, -1, 9, 10, 11]]
    near, far = (lines.get_segments()[0].tolist() for lines in display.lines_)
    assert near == [[0, 0], [1, 0]]  # features 0 and 1, as (column, row)
    assert far == [[0, 0], [6, 1]]  # features 0 and 11
    wrapped = GridMetricDisplay.from_metric(M, (3, 2, 2), feature=0).plot()
    assert wrapped.im_.get_array().shape == (5, 5)  # two above one
    five = GridMetricDisplay.from_metric(M[:5, :5], (5, 1, 1), feature=0).plot()
    assert five.im_.get_array().filled(-1).tolist() == [
        [0, -1, 1, -1, 2],
        [-1, -1, -1, -1, -1],
        [3, -1, 4, -1, -1],
    ]
    without = GridMetricDisplay.from_metric(M, (3, 4)).plot(colorbar=False)
    assert without.im_.get_array().shape == (3, 4)
    assert without.colorbar_ is None


def test_path_shows_each_step_and_where_outer_steps_begin(learner):
    # Margins: each step is an outer one, follows a subgradient, and bounds nothing.
    display = PathDisplay.from_estimator(learner).plot()
    curve, ring = (line.get_ydata() for line in display.lines_)
    criterion = learner.path_.column("criterion")
    assert np.array_equal(curve, criterion)
    assert np.asarray(ring).item() == criterion.min()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["criterion", "minimum"]
    rows = np.random.default_rng(0).dirichlet(np.ones(4), 12)
    paper = GroundMetricLearning(Neighborhood(inner_steps=5), max_steps=10)
    path = paper.fit(rows, [0, 1] * 6).path_
    display = PathDisplay.from_path(path).plot()
    curve, dots, ring = (line.get_ydata() for line in display.lines_)
    assert np.array_equal(curve, path.column("criterion"))
    assert len(dots) == 1 + max(step.outer for step in path)
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[0] == "convex bound"


def test_importance_shows_most_first_and_marks_what_repeats():
    rng, masses = np.random.default_rng(0), np.ones((2, 8))
    masses[[0, 1], [2, 5]] = 9.0  # what differs between the classes
    y = np.repeat([0, 1], 20)
    X = [rng.dirichlet(2 * masses[label]) for label in y]
    found = stability(GroundMetricLearning(), X, y, n_draws=20, random_state=0)
    display = ImportanceDisplay.from_stability(
        found, names=list("abcdefgh"), n_bins=4
    ).plot()
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == pytest.approx(100 * max(one.mean for one in found.rises))
    assert {*display.names[:2]} == {"c", "f"}
    assert display.repeats.tolist() == [True, True, False, False]
    assert display.bars_[1].get_facecolor() != display.bars_[2].get_facecolor()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == display.names
    assert ImportanceDisplay.from_stability(found).names[0] in "25"
    for options, words in (
        ({"names": ["a"]}, "names has 1 names, but bin 7 needs one"),
        ({"n_bins": 0}, "n_bins is 0; it must be at least 1"),
    ):
        with pytest.raises(ValueError, match=words):
            ImportanceDisplay.from_stability(found, **options)
    with pytest.raises(ValueError, match="found is 3; a Stability is needed"):
        ImportanceDisplay.from_stability(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MetricDisplay.from_metric([[0, 9, 1], [9, 0, 1], [1, 1, 0]]),
         "metric breaks the triangle inequality"),
        (lambda: MetricDisplay.from_metric(LINE, order=[0, 1, 2, 2]),
         "order must have each number from 0 to 3 once, but 3 is missing"),
        (lambda: MetricDisplay.from_metric(LINE, order="rows"), "order is 'rows'"),
        (lambda: MetricDisplay.from_metric(LINE, names=["a"]),
         "names has 1 names for 4 features"),
        (lambda: MetricDisplay.from_metric(LINE, names="abcd"), "names is the string"),
        (lambda: MetricDisplay.from_metric(LINE, names=4), "names is 4; a list"),
        (lambda: MetricDisplay.from_estimator(GroundMetricLearning()),
         "which has no metric_; fit it first"),
        (lambda: FeatureMapDisplay.from_metric(LINE, n_pairs=-1),
         "n_pairs is -1; it must be at least 0"),
        (lambda: GridMetricDisplay.from_metric(LINE, (2, 3)),
         r"shape is \(2, 3\), that is 6 features, but there are 4"),
        (lambda: GridMetricDisplay.from_metric(LINE, (4,)), r"shape is \(4,\); \(rows"),
        (lambda: GridMetricDisplay.from_metric(LINE, 4), r"shape is 4; \(rows"),
        (lambda: GridMetricDisplay.from_estimator(
            GroundMetricLearning().fit(np.eye(4), [0, 0, 1, 1])),
         r"shape is None; \(rows, columns\)"),
        (lambda: GridMetricDisplay.from_metric(LINE, (2, 2.0)), r"shape is \(2, 2.0\)"),
        (lambda: GridMetricDisplay.from_metric(LINE, (2, 2), feature=4),
         "feature is 4, but it must be less than 4"),
        (lambda: PathDisplay.from_path(DescentPath()),
         "path is DescentPath of 0 steps; a sequence"),
        (lambda: PathDisplay.from_estimator(3), "estimator is 3, which has no path_"),
    ],
)  # fmt: skip
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_matplotlib_is_imported_when_something_is_drawn():
    code = (
        "import sys\n"
        "from groundmetric.plotting import MetricDisplay\n"
        "display = MetricDisplay.from_metric([[0, 1], [1, 0]])\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None  # as if it were not installed\n"
        "try:\n"
        "    display.plot()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    expected = "Figures need matplotlib: pip install 'groundmetric[plot]'.\n"
    assert ran.stdout == expected


@pytest.mark.parametrize("display", [FeatureMapDisplay, MetricDisplay])
def test_smoothed_learners_show_distances_between_positions(display):
    X = np.random.default_rng(0).dirichlet(np.ones(8), 20)
    learner = SinkhornMetricLearning(smoothing=np.inf, max_steps=10)
    learner.fit(X, np.arange(20) % 2)
    with pytest.raises(ValueError, match="breaks the triangle inequality"):
        display.from_metric(learner.metric_)
    assert isinstance(display.from_estimator(learner), display)
