"""The paper's figures, and the files they are kept in."""

import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from made_up import frame, plausible
from test_summary import CURVES

from paper import METHODS
from paper.figures import FIGURES, paper_figures
from paper.style import label_of, style_of

PNG = b"\x89PNG\r\n\x1a\n"


def texts(path):
    """Everything that is written in an SVG."""
    root = ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own file
    return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_methods_of_a_figure_look_different():
    for figure in FIGURES.values():
        looks = [
            (style.color, style.marker, style.line, style.hollow)
            for style in map(style_of, figure.methods)
        ]
        assert len(set(looks)) == len(looks)
        for method in figure.methods:
            assert label_of(method) == METHODS[method].label


def made_up(figure):
    return plausible(FIGURES[figure].methods, n_classes=3)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """All figures, once: that takes a second each."""
    folder = tmp_path_factory.mktemp("drawn") / "new"
    return {n: paper_figures(made_up(n), folder, figure=n) for n in FIGURES}


@pytest.mark.parametrize("figure", FIGURES)
def test_paper_figures(figure, drawn):
    png, svg = drawn[figure]
    assert png.read_bytes().startswith(PNG)
    assert svg.stat().st_size < 140_000
    written = texts(svg)
    for name in FIGURES[figure].methods:
        assert any(text.startswith(label_of(name)) for text in written)
    for one, other in FIGURES[figure].pairs:
        rival = "" if other is None else label_of(other)
        compared = f"{label_of(one)} minus {rival}"
        assert any(text.startswith(compared) for text in written)
    assert FIGURES[figure].title in written
    note = "made-up: means over 9 tasks, with 95 % bands (Student's t over tasks)"
    assert note in written


def test_same_results_make_the_same_files(drawn, tmp_path):
    with mpl.rc_context({"font.size": 20, "axes.grid": True}):  # a user's own taste
        again = paper_figures(made_up(2), tmp_path, figure=2)
    for one, other in zip(drawn[2], again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_figures_take_what_is_there(tmp_path):
    results = plausible(["l1", "gml", "my-own"], n_classes=2)
    results = results[(results["method"] != "l1") | (results["task"] != 3)]
    written = texts(paper_figures(results, tmp_path)[1])
    assert not [text for text in written if "my-own" in text]  # not of figure 1
    assert any("3 tasks (1 incomplete)" in text for text in written)


def test_figures_show_what_is_asked_for(tmp_path):
    results = plausible(["l1", "gml", "my-own"], n_classes=2)
    _, svg = paper_figures(
        results,
        tmp_path,
        methods=["l1", "my-own"],
        method="my-own",
        interval="classes",
        name="my.own",
    )
    assert svg.name == "my.own.svg"
    written = texts(svg)
    assert "my-own minus l1" in written
    bands = "95 % bands (bootstrap over the classes of both halves)"
    assert f"made-up: means over 4 tasks, with {bands}" in written


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"figure": 5}, "figure is 5; it must be one of 1, 2, 3, 4"),
        ({"figure": 2}, "results has fewer than two of the methods of figure 2, hel"),
        ({"experiment": "other"}, "experiment is 'other'; results has made-up"),
        ({"methods": ["l1", "l2"]}, "methods has no pair that figure 1 compares"),
        ({"methods": ["gml"]}, "methods has no pair that figure 1 compares"),
        ({"name": "a/b"}, "name is 'a/b'; it must be a file name, not a path"),
        ({"methods": ["l1", "gml", "x"]}, "results has no method 'x'"),
        ({"method": "x"}, "method is 'x'; methods has l1, l2, gml"),
        ({"interval": "x"}, "interval is 'x'"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_written(options, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        paper_figures(frame(CURVES), tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("figure", [3, 4])
def test_learned_metrics_are_compared_with_their_own_start(figure):
    chosen = FIGURES[figure].methods
    drawn = FIGURES[figure]
    starts = {other for _, other in drawn.pairs if not other.startswith("gml-")}
    assert starts
    assert starts <= set(chosen)
    for learned, start in drawn.pairs:
        if start in starts:
            init = METHODS[learned].settings["init"]
            assert start == ("emd-uniform" if init == "uniform" else f"start-{init}")
            assert METHODS[learned].settings["criterion__k"] == 3
